//! Every bad file in `tests/bad` gives the error in the text file beside it.

#[path = "common/bad.rs"]
mod bad;

use std::fs;
use std::path::{Path, PathBuf};

use bad::Bad;
use pullback_scene::{LARGEST_FILE, Position, Problem, Scene, Source};

const BAD: Bad = Bad {
    folder: "tests/bad",
    ending: "toml",
    without_line: &[
        "data-empty",
        "data-no-rows",
        "empty",
        "no-loss",
        "no-particles",
        "no-simulation",
        "no-variables",
        "only-comments",
    ],
    error: |file| Problem::load(file).err(),
};

#[test]
fn every_bad_file_gives_its_error() {
    BAD.gives_its_errors(200);
}

#[test]
fn every_error_names_file_line_and_fix() {
    BAD.names_place_and_fix(|stem, text| {
        let other = [".csv:", ".urdf:", ".obj:", ".msh:"].into_iter().find(|ending| text.contains(ending));
        let file = other.map_or(format!("{stem}.toml:"), str::to_owned);
        assert!(text.contains(&file), "{text}");
        // What is not supported in a robot's file is listed, each in a line of its own.
        let listed = if stem == "robot-unsupported" { 1 } else { 0 };
        assert_eq!(text.lines().count(), 2 + listed, "{text}");
    });
}

/// A bad scene is refused with the same words when nobody wants its variables and losses.
#[test]
fn scenes_are_refused_like_problems() {
    let complete = ["no-variables", "no-loss"];
    for stem in BAD.all().into_iter().filter(|stem| !complete.contains(&stem.as_str())) {
        let file = format!("{}/{stem}.toml", BAD.folder);
        assert_eq!(Scene::load(&file).err(), Some(BAD.error_of(&stem)), "{stem}");
    }
    for stem in complete {
        assert!(Scene::load(format!("{}/{stem}.toml", BAD.folder)).is_ok(), "{stem}");
    }
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn files_that_cannot_be_read() {
    let text = |path: &str| Problem::load(path).expect_err("it cannot be read").to_string();
    assert_eq!(text("tests/bad"), "tests/bad: this is a folder\n  fix: name a file in it");
    assert_eq!(
        text("tests/bad/emty.toml"),
        "tests/bad/emty.toml: there is no such file\n  fix: did you mean `empty.toml`? Check the path"
    );
    assert_eq!(
        text("nowhere/scene.toml"),
        "nowhere/scene.toml: there is no such file\n  fix: there is no folder `nowhere` either: check the path"
    );
}

#[test]
fn files_that_are_too_large() {
    let file = scratch("large.toml");
    fs::write(&file, vec![b'#'; LARGEST_FILE + 1]).expect("there is room");
    let error = Problem::load(&file).expect_err("it is too large");
    assert_eq!(error.what, "the file is larger than 64 MB");
    fs::remove_file(&file).expect("it is there");
}

#[test]
fn hostile_files_are_refused_and_not_run_into() {
    let nested = |open: &str, close: &str| format!("a = {}{}", open.repeat(200_000), close.repeat(200_000));
    let tables: String = (0..2000).map(|depth| format!("[{}]\n", vec!["a"; depth + 1].join("."))).collect();
    let texts = [
        nested("[", "]"),
        nested("{a=", "}"),
        nested("[", ""),
        tables,
        format!("[{}]", vec!["a"; 100_000].join(".")),
        format!("{}= 1", "a.".repeat(100_000)),
        format!("name = \"{}", "x".repeat(1 << 20)),
        format!("{} = 1", "k".repeat(1 << 20)),
        format!("\"{}\" = 1", "\\u001b".repeat(1000)),
        "[[particles]]\n".repeat(100_000),
        "\u{0}".repeat(100),
        "\u{feff}".repeat(3),
        format!("[simulation]\ndt = {}1\nsteps = 1", "0.".to_owned() + &"0".repeat(1 << 20)),
        format!("[simulation]\ndt = 1\nsteps = {}", "9".repeat(1 << 20)),
    ];
    for text in texts {
        let start: String = text.chars().take(30).collect();
        let message = Problem::parse(&text, "hostile.toml").expect_err(&start).to_string();
        assert!(message.chars().count() < 1000, "{start}: {} characters", message.chars().count());
        assert!(!message.contains('\u{1b}'), "{start}");
    }
}

/// Every start of a good file, and the file with any one byte replaced: an error or a problem, and never a panic.
#[test]
fn broken_copies_of_good_files() {
    for file in ["everything", "robots", "contact", "soft"] {
        broken_copies(&format!("tests/good/{file}.toml"));
    }
}

fn broken_copies(file: &str) {
    let good = fs::read_to_string(file).expect("it is there");
    let mut errors = 0;
    let mut read = |text: &str| {
        if let Err(error) = Problem::parse(text, file) {
            assert!(!error.fix.is_empty() && error.file.starts_with("tests/good/"), "{error}");
            errors += 1;
        }
    };
    for end in (0..good.len()).filter(|&end| good.is_char_boundary(end)) {
        read(&good[..end]);
    }
    for (i, replacement) in (0..good.len()).zip("\"[]{}=.,-9e\n#x".chars().cycle()) {
        if good.is_char_boundary(i) && good.is_char_boundary(i + 1) {
            read(&format!("{}{replacement}{}", &good[..i], &good[i + 1..]));
        }
    }
    assert!(errors > good.len() / 2, "{errors} errors");
}

/// Counts of later sections are refused before memory is taken for them.
#[test]
fn sizes_add_up_over_sections() {
    let line = |name: &str| {
        format!(
            "[[particles]]\nname = \"{name}\"\nmass = 1\nline = {{ from = [0, 0, 0], to = [1, 0, 0], count = 6_000_000 }}\n"
        )
    };
    let simulation = "[simulation]\ndt = 0.1\nsteps = 1\n";
    let error =
        Scene::parse(&format!("{simulation}{}{}", line("a"), line("b")), "large.toml").expect_err("too many");
    assert_eq!(error.path, "particles[1].line.count");
    let springs = |name: &str| format!("[[springs]]\nname = \"{name}\"\nchain = \"a\"\nstiffness = 1\n");
    let text = format!("{simulation}{}{}{}", line("a"), springs("s"), springs("t"));
    assert_eq!(Scene::parse(&text, "large.toml").expect_err("too many").path, "springs[1].chain");
    let force =
        |name: &str| format!("[[forces]]\nname = \"{name}\"\non = [\"a*\", \"*\"]\nforce = [1, 0, 0]\n");
    let text = format!("{simulation}{}{}", line("a"), force("f"));
    assert_eq!(Scene::parse(&text, "large.toml").expect_err("too many").path, "forces[0].on[1]");
    let bodies = |name: &str, count: usize| {
        let grid = format!("grid = {{ from = [0, 0, 0], step = [1, 0, 0], count = [{count}, 1, 1] }}");
        format!("[[bodies]]\nname = \"{name}\"\n{grid}\nshape = {{ sphere = 1 }}\nmass = 1\n")
    };
    let text = format!("{simulation}{}{}", bodies("a", 1000), bodies("b", 999_001));
    assert_eq!(Scene::parse(&text, "large.toml").expect_err("too many").path, "bodies[1].grid.count");
    let text = format!("{simulation}{}", bodies("a", usize::MAX / 2));
    assert!(Scene::parse(&text, "large.toml").is_err());
    let soft = |name: &str, cells: &str| {
        let mesh = format!("mesh = {{ block = [1, 1, 1], cells = {cells} }}");
        format!("[[solids]]\nname = \"{name}\"\n{mesh}\nmu = 1\nlambda = 1\ndensity = 1\n")
    };
    let text = format!("{simulation}{}{}", soft("a", "[1000, 1000, 1]"), soft("b", "[1000, 100, 10]"));
    let error = Scene::parse(&text, "large.toml").expect_err("too many");
    assert_eq!(
        (error.path.as_str(), error.what.as_str()),
        ("solids[1].mesh", "12000000 elements are too many")
    );
    let text = format!("{simulation}{}", soft("a", &format!("[{0}, {0}, {0}]", usize::MAX / 2)));
    assert_eq!(Scene::parse(&text, "large.toml").expect_err("too many").path, "solids[0].mesh.cells");
    let text = format!(
        "{simulation}{}{}{}",
        line("a"),
        line("b").replace("6_000_000", "3_999_999"),
        soft("c", "[1, 1, 1]")
    );
    let error = Scene::parse(&text, "large.toml").expect_err("too many");
    assert_eq!(
        (error.path.as_str(), error.what.as_str()),
        ("solids[0].mesh", "10000007 particles are too many")
    );
}

#[test]
fn sources_place_later_errors() {
    let source =
        Source::new("[[particles]]\nname = \"é\"\n  mass = 1 # kg\nvelocity = [0, 0, 0]\n", "a/b.toml");
    assert_eq!(source.locate("particles[0].mass"), Some(Position { line: 3, column: 3 }));
    assert_eq!(source.locate("particles[0].masses[7]"), Some(Position { line: 3, column: 3 }));
    assert_eq!(source.locate("particles[0].velocities[7][2]"), Some(Position { line: 4, column: 19 }));
    assert_eq!(source.locate("particles[0].drag"), Some(Position { line: 1, column: 1 }));
    assert_eq!(source.locate("springs"), None);
    assert_eq!(
        source.error("particles[0].masses[7]", "too light", "add some").to_string(),
        "a/b.toml:3:3: particles[0].mass: too light\n  fix: add some"
    );
    let nowhere = Source::default().error("particles[0].masses[7]", "too light", "add some");
    assert_eq!(nowhere.to_string(), "particles[0].masses[7]: too light\n  fix: add some");
}
