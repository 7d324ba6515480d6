//! Every bad file in `tests/urdf/bad` gives the error in the text file beside it.

#[path = "common/bad.rs"]
mod bad;

use std::fs;

use bad::Bad;
use pullback_scene::robot::{Base, Load};
use pullback_scene::{LARGEST_FILE, Robot};

const BAD: Bad = Bad {
    folder: "tests/urdf/bad",
    ending: "urdf",
    without_line: &[
        "mesh-dae",
        "mesh-folder",
        "mesh-folder-called-mesh",
        "mesh-scale-huge",
        "mesh-without-faces",
        "no-links-but-models",
        "shape-unknown",
    ],
    error: |file| Robot::load(file, &Load::default()).err(),
};

#[test]
fn every_bad_file_gives_its_error() {
    BAD.gives_its_errors(75);
}

#[test]
fn every_error_names_file_line_and_fix() {
    BAD.names_place_and_fix(|_, text| {
        assert!(text.starts_with(&format!("{}/", BAD.folder)), "{text}");
    });
}

#[test]
fn files_that_cannot_be_read() {
    let text = |path: &str| Robot::load(path, &Load::default()).expect_err("it cannot be read").to_string();
    assert_eq!(text(BAD.folder), "tests/urdf/bad: this is a folder\n  fix: name a file in it");
    assert_eq!(
        text("tests/urdf/bad/lop.urdf"),
        "tests/urdf/bad/lop.urdf: there is no such file\n  fix: did you mean `loop.urdf`? Check the path"
    );
    let large = " ".repeat(LARGEST_FILE + 1);
    let file = format!("{}/large.urdf", env!("CARGO_TARGET_TMPDIR"));
    fs::write(&file, large).expect("there is room");
    assert!(text(&file).contains("larger than 64 MB"));
    fs::remove_file(&file).expect("it is there");
}

/// The name of the free joint may be taken.
#[test]
fn a_free_root_needs_its_name() {
    let text = fs::read_to_string("tests/urdf/good/drone.urdf")
        .expect("it is there")
        .replace("floating", "spherical")
        .replace("flight", "root");
    let free = Load { base: Base::Free, ..Load::default() };
    let error = Robot::parse(text, "drone.urdf", &free).expect_err("the name is taken");
    let wanted = "drone.urdf:15:3: <joint name=\"root\">: joints 0 and 1 are both called `root`\n  \
                  fix: give each a name of its own";
    assert_eq!(error.to_string(), wanted);
}

/// What would take a parser long, or much memory, is refused at once.
#[test]
fn hostile_files_are_refused() {
    let attributes: String = (0..100_000).map(|i| format!(" a{i}='1'")).collect();
    let namespaces: String = (0..1000).map(|i| format!("<a xmlns:n{i}='u{i}'>")).collect();
    let entities =
        "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;'>]><robot>&b;</robot>";
    let texts = [
        "<a>".repeat(1_000_000),
        format!("<robot{attributes}/>"),
        namespaces,
        entities.to_owned(),
        format!("<robot>{}</robot>", "<link/>".repeat(2_000_000)),
        format!("<robot name='{}", "x".repeat(1 << 20)),
        format!("<robot><link name='{}'/></robot>", "&#x1b;".repeat(1000)),
        "<!--".repeat(1 << 18),
        "<![CDATA[".repeat(1 << 18),
        "<?".repeat(1 << 18),
        "\u{0}".repeat(100),
        "\u{feff}".repeat(3),
    ];
    for text in texts {
        let start: String = text.chars().take(30).collect();
        let before = std::time::Instant::now();
        let message = Robot::parse(text, "hostile.urdf", &Load::default()).expect_err(&start).to_string();
        assert!(message.chars().count() < 1000, "{start}: {} characters", message.chars().count());
        assert!(!message.contains('\u{1b}'), "{start}");
        assert!(before.elapsed().as_secs() < 20, "{start}");
    }
}
