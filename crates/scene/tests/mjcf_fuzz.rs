//! Broken copies of good MJCF files: an error or a robot, never a panic, never long, and never a file from elsewhere.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{CANARY, Format, Random, Tally, change};
use pullback_scene::robot::{Base, Load};
use pullback_scene::{Error, Robot};

const CASES: usize = 500;

const ELEMENTS: [(&str, &str); 8] = [
    ("<body", "</body>"),
    ("<joint", "/>"),
    ("<geom", "/>"),
    ("<default", "</default>"),
    ("<mesh", "/>"),
    ("<fixed", "</fixed>"),
    ("<key", "/>"),
    ("<", ">"),
];

/// A copy of the good files, with a part and a mesh outside that nobody may read.
fn scratch(name: &str) -> (PathBuf, Vec<String>) {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&root);
    let robots = root.join("robots");
    fs::create_dir_all(robots.join("parts")).expect("there is room");
    for folder in ["", "parts"] {
        for entry in fs::read_dir(Path::new("tests/mjcf/good").join(folder)).expect("it is there") {
            let path = entry.expect("it can be read").path();
            if path.is_file() {
                let to = robots.join(folder).join(path.file_name().expect("a name"));
                fs::copy(&path, to).expect("there is room");
            }
        }
    }
    let mesh = format!("v {CANARY} 0 0\nv {CANARY} 1 0\nv {CANARY} 0 1\nv 0 0 0\nf 1 2 3\nf 1 2 4\n");
    fs::write(root.join("canary.obj"), mesh).expect("there is room");
    let part = format!("<mujoco><worldbody><body name='root:{CANARY}'/></worldbody></mujoco>");
    fs::write(root.join("canary.xml"), part).expect("there is room");
    let loops = "<mujoco><include file=\"parts/loop.xml\"/></mujoco>";
    fs::write(robots.join("parts/loop.xml"), loops).expect("there is room");
    let mut elsewhere: Vec<String> = [
        "../../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "parts/loop.xml",
        "arm.xml",
        "parts",
        "parts/pole.xml",
        "parts/../../canary.xml",
        "http://localhost/canary.obj",
        "",
        "\u{1}",
    ]
    .map(str::to_owned)
    .to_vec();
    for depth in 1..5 {
        elsewhere.push(format!("{}canary.obj", "../".repeat(depth)));
        elsewhere.push(format!("{}canary.xml", "../".repeat(depth)));
    }
    elsewhere.push(root.join("canary.xml").display().to_string());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(root.join("canary.xml"), robots.join("link.xml"))
            .expect("links can be made");
        elsewhere.push("link.xml".to_owned());
    }
    (robots, elsewhere)
}

#[test]
fn broken_robots() {
    let (robots, elsewhere) = scratch("mjcf-fuzz");
    let format = Format { file: "file", elements: &ELEMENTS, elsewhere: &elsewhere };
    let files = ["arm.xml", "masses.xml", "included.xml", "arm.xml"];
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let mut tally = Tally::default();
    for case in 0..CASES {
        let file = robots.join(files[case % files.len()]);
        let mut text = fs::read_to_string(&file).expect("it is there");
        for _ in 0..=random.below(4) {
            change(&mut text, &mut random, &format);
        }
        let base = [Base::AsWritten, Base::Fixed, Base::Free][random.below(3)];
        let load = Load { lenient: random.below(2) == 0, base, ..Load::default() };
        let Some(robot) = tally.read(&format!("case {case}"), text, &file, &load) else { continue };
        for key in &robot.keyframes {
            let counts = [key.positions.len(), key.velocities.len(), key.controls.len()];
            let wanted = [robot.positions(), robot.velocities(), robot.motors.len()];
            let fits = |(count, wanted): (&usize, &usize)| *count == 0 || count == wanted;
            assert!(counts.iter().zip(&wanted).all(fits), "case {case}: {counts:?} {wanted:?}");
        }
    }
    assert!(tally.errors > CASES / 4 && tally.read > CASES / 20 && tally.refused > 20, "{tally:?}");
}

/// Without the fence, the part from elsewhere would be read: the test above can fail.
#[test]
fn what_is_elsewhere_is_a_part_like_others() {
    let (robots, _) = scratch("mjcf-fuzz-open");
    let allow = vec![robots.parent().expect("it has a folder").to_owned()];
    let text = "<mujoco><include file='../canary.xml'/></mujoco>";
    let load = Load { allow, ..Load::default() };
    let loaded = Robot::parse(text, robots.join("r.xml"), &load).expect("it is allowed");
    assert!(loaded.robot.bodies[0].name.starts_with("root:"));
}

fn wrong(text: String) -> Error {
    let before = Instant::now();
    let start: String = text.chars().take(40).collect();
    let error = Robot::parse(text, "hostile.xml", &Load::default()).expect_err(&start);
    assert!(before.elapsed() < Duration::from_secs(20), "{start}: {:?}", before.elapsed());
    assert!(error.to_string().chars().count() < 30_000, "{start}");
    error
}

/// What would take long, or much memory, is refused.
#[test]
fn hostile_files() {
    let body = |inside: &str| format!("<mujoco><worldbody>{inside}</worldbody></mujoco>");
    let nested = |count: usize| {
        let open = "<body><joint/><joint/><joint/><geom size='1'/>".repeat(count);
        body(&format!("{open}{}", "</body>".repeat(count)))
    };
    assert!(wrong(nested(250)).what.contains("deep"));
    let open = format!("<body>{}<geom size='1'/>", "<joint/>".repeat(20)).repeat(190);
    let chain = body(&format!("{open}{}", "</body>".repeat(190)));
    assert!(wrong(chain).what.contains("too many joints"));
    assert!(wrong(body(&"<body/>".repeat(60_000))).what.contains("50000 bodies"));
    assert!(wrong(body("<replicate count='1000000000'><body/></replicate>")).what.contains("not supported"));
    let classes: String = (0..12_000).map(|i| format!("<default class='c{i}'/>")).collect();
    assert!(wrong(format!("<mujoco><default>{classes}</default></mujoco>")).what.contains("classes"));
    let findings = "<equality>".to_owned() + &"<weld/>".repeat(100_000) + "</equality>";
    let error = wrong(format!("<mujoco>{findings}</mujoco>"));
    assert!(error.what.contains("and 99900 more"), "{error}");
}

/// As deep as is allowed, and as many bodies as are looked at in pairs.
#[test]
fn large_robots() {
    let depth = 190;
    let open =
        "<body pos='0.1 0 0'><joint/><joint axis='0 1 0' range='-1 1'/><geom size='0.1'/>".repeat(depth);
    let text = format!("<mujoco><worldbody>{open}{}</worldbody></mujoco>", "</body>".repeat(depth));
    let before = Instant::now();
    let robot = Robot::parse(text, "deep.xml", &Load::default()).expect("it is good").robot;
    assert_eq!((robot.bodies.len(), robot.joints.len()), (depth, 2 * depth));
    assert!(robot.joints[1].limit.stiffness > 0.0);
    let wide = "<body><freejoint/><geom size='0.1' conaffinity='0'/></body>".repeat(1000);
    let text = format!("<mujoco><worldbody>{wide}</worldbody></mujoco>");
    let robot = Robot::parse(text, "wide.xml", &Load::default()).expect("it is good").robot;
    assert_eq!(robot.contact_excludes.len(), 1000 * 999 / 2);
    assert!(before.elapsed() < Duration::from_secs(20), "{:?}", before.elapsed());
}
