//! Files of real robots, broken in a thousand ways: an error or a model, never a panic or a hang, and nothing outside the
//! folder is read.

#[path = "../../scene/tests/common/mod.rs"]
mod broken;

use std::fs;
use std::path::{Path, PathBuf};

use broken::{CANARY, Format, Random, Tally, change};
use pullback_engine::Model;
use pullback_scene::Scene;
use pullback_scene::robot::Load;

const CASES: usize = 1000;

const ROBOTS: [&str; 8] = [
    "pybullet/laikago/laikago_toes_zup.urdf",
    "example-robot-data/robots/panda_description/urdf/panda.urdf",
    "example-robot-data/robots/solo_description/robots/solo12.urdf",
    "gymnasium/ant.xml",
    "gymnasium/humanoid.xml",
    "dm_control/suite/cheetah.xml",
    "dm_control/suite/quadruped.xml",
    "dm_control/suite/walker.xml",
];

const URDF: [(&str, &str); 4] =
    [("<link", "</link>"), ("<joint", "</joint>"), ("<inertial", "</inertial>"), ("<", ">")];
const MJCF: [(&str, &str); 5] =
    [("<body", "</body>"), ("<joint", "/>"), ("<geom", "/>"), ("<default", "</default>"), ("<", ">")];

/// A folder for broken files, with what the suite's include; and outside of it what nobody may read.
fn scratch(models: &Path) -> (PathBuf, Vec<String>) {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real-robots");
    let _ = fs::remove_dir_all(&root);
    let inside = root.join("robots");
    fs::create_dir_all(inside.join("common")).expect("there is room");
    for entry in fs::read_dir(models.join("dm_control/suite/common")).expect("included files").flatten() {
        if entry.path().extension().is_some_and(|end| end == "xml") {
            fs::copy(entry.path(), inside.join("common").join(entry.file_name())).expect("there is room");
        }
    }
    let part = format!("<mujoco><worldbody><body name='root:{CANARY}'/></worldbody></mujoco>");
    fs::write(root.join("canary.xml"), part).expect("there is room");
    let mesh = format!("v {CANARY} 0 0\nv {CANARY} 1 0\nv {CANARY} 0 1\nf 1 2 3\n");
    fs::write(root.join("canary.obj"), mesh).expect("there is room");
    let mut elsewhere = vec!["../../../etc/passwd".to_owned(), "/etc/passwd".to_owned()];
    for name in ["canary.xml", "canary.obj"] {
        elsewhere.push(format!("../{name}"));
        elsewhere.push(root.join(name).display().to_string());
    }
    (inside, elsewhere)
}

#[test]
fn broken_files_of_real_robots_are_errors_or_models() {
    let Some(models) = std::env::var_os("PULLBACK_MODELS_DIR").map(PathBuf::from) else {
        assert!(std::env::var_os("CI").is_none(), "`cargo xtask test` sets PULLBACK_MODELS_DIR");
        return;
    };
    let (inside, elsewhere) = scratch(&models);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut tally, mut modelled) = (Tally::default(), 0);
    for case in 0..CASES {
        let name = ROBOTS[case % ROBOTS.len()];
        let real = models.join(name);
        let mut text =
            fs::read_to_string(&real).unwrap_or_else(|error| panic!("{}: {error}", real.display()));
        let urdf = name.ends_with(".urdf");
        let (file, elements) = if urdf { ("filename", &URDF[..]) } else { ("file", &MJCF[..]) };
        let format = Format { file, elements, elsewhere: &elsewhere };
        for _ in 0..=random.below(3) {
            change(&mut text, &mut random, &format);
        }
        // Meshes are not in the folder, and lenient readers leave them out.
        let load = Load { lenient: case % 4 != 0, ..Load::default() };
        let file = inside.join(real.file_name().expect("a name"));
        let Some(mut robot) = tally.read(&format!("case {case}, {name}"), text, &file, &load) else {
            continue;
        };
        robot.name = "robot".into();
        modelled += usize::from(Model::new(&Scene { robots: vec![robot], ..Scene::default() }).is_ok());
    }
    println!("{tally:?}, {modelled} models");
    assert!(tally.errors > CASES / 4 && modelled > CASES / 10 && tally.refused > 20, "{tally:?} {modelled}");
}
