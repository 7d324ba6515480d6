//! Files of real robots, broken in a thousand ways: an error or a model, never a panic or a hang, and nothing outside the
//! folder is read.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pullback_engine::Model;
use pullback_scene::Scene;
use pullback_scene::robot::{Load, Robot};

/// A small generator of numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n.max(1)
    }
}

/// One change, of a kind that happens to files or that somebody might try.
fn broken(text: &[u8], random: &mut Random, canary: &str) -> Vec<u8> {
    let mut text = text.to_vec();
    let (a, b) = (random.below(text.len()), random.below(text.len()));
    let (from, to) = (a.min(b), a.max(b));
    match random.below(9) {
        0 => text[a] = random.below(256) as u8,
        1 => text.truncate(a),
        2 => drop(text.drain(from..to.min(from + 200))),
        3 => {
            let piece = text[from..to.min(from + 400)].to_vec();
            text.splice(b..b, piece);
        }
        4 => {
            let lines: Vec<&[u8]> = text.split(|c| *c == b'\n').collect();
            let (i, j) = (random.below(lines.len()), random.below(lines.len()));
            let mut lines: Vec<Vec<u8>> = lines.into_iter().map(<[u8]>::to_vec).collect();
            lines.swap(i, j);
            text = lines.join(&b'\n');
        }
        kind => {
            // The next value in quotes becomes something else.
            let Some(open) = text[a..].iter().position(|c| *c == b'"').map(|at| a + at + 1) else {
                return text;
            };
            let Some(close) = text[open..].iter().position(|c| *c == b'"').map(|at| open + at) else {
                return text;
            };
            let value: &[u8] = match kind {
                5 => [&b"1e308"[..], b"-1e400", b"nan", b"0", b"-5", b"1e-300"][random.below(6)],
                6 => {
                    [&b"../../../../../../etc/passwd"[..], b"/etc/passwd", canary.as_bytes()][random.below(3)]
                }
                7 => b"",
                _ => [&b"base_link"[..], b"world", b"free", b"mesh", b"&lt;&amp;"][random.below(5)],
            };
            text.splice(open..close, value.iter().copied());
        }
    }
    text
}

fn real_robots(models: &Path) -> Vec<PathBuf> {
    [
        "pybullet/laikago/laikago_toes_zup.urdf",
        "example-robot-data/robots/panda_description/urdf/panda.urdf",
        "example-robot-data/robots/solo_description/robots/solo12.urdf",
        "gymnasium/ant.xml",
        "gymnasium/humanoid.xml",
        "dm_control/suite/cheetah.xml",
        "dm_control/suite/quadruped.xml",
        "dm_control/suite/walker.xml",
    ]
    .iter()
    .map(|name| models.join(name))
    .collect()
}

#[test]
fn broken_files_of_real_robots_are_errors_or_models() {
    let Some(models) = std::env::var_os("PULLBACK_MODELS_DIR").map(PathBuf::from) else {
        assert!(std::env::var_os("CI").is_none(), "`cargo xtask test` sets PULLBACK_MODELS_DIR");
        return;
    };
    let secret = "THE-CANARY-SINGS";
    let folder = std::env::temp_dir().join(format!("pullback-fuzz-{}", std::process::id()));
    let inside = folder.join("robot");
    std::fs::create_dir_all(&inside).expect("a folder");
    // What the suite's files include.
    let common = models.join("dm_control/suite/common");
    std::fs::create_dir_all(inside.join("common")).expect("a folder");
    for entry in std::fs::read_dir(&common).expect("included files").flatten() {
        if entry.path().extension().is_some_and(|end| end == "xml") {
            std::fs::copy(entry.path(), inside.join("common").join(entry.file_name())).expect("a copy");
        }
    }
    let canary = folder.join("canary.xml");
    std::fs::write(&canary, format!("<mujoco model=\"{secret}\"><worldbody/></mujoco>")).expect("a canary");
    let canary = canary.display().to_string();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut loaded, mut refused, mut modelled) = (0, 0, 0);
    for file in real_robots(&models) {
        let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for round in 0..125 {
            let mut changed = broken(&text, &mut random, &canary);
            for _ in 0..random.below(3) {
                if !changed.is_empty() {
                    changed = broken(&changed, &mut random, &canary);
                }
            }
            let place = inside.join(file.file_name().expect("a name"));
            std::fs::write(&place, &changed).expect("a file");
            let start = Instant::now();
            let load = Load { lenient: round % 4 != 0, meshes: round % 4 == 1, ..Load::default() };
            match Robot::load(&place, &load) {
                Err(error) => {
                    assert!(!error.to_string().contains(secret), "it read {canary}");
                    refused += 1;
                }
                Ok(found) => {
                    loaded += 1;
                    assert!(!format!("{:?}", found.robot).contains(secret), "it read {canary}");
                    let mut robot = found.robot;
                    robot.name = "robot".into();
                    modelled +=
                        usize::from(Model::new(&Scene { robots: vec![robot], ..Scene::default() }).is_ok());
                }
            }
            assert!(start.elapsed() < Duration::from_secs(10), "it takes too long: {}", place.display());
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder");
    println!("{refused} refused, {loaded} loaded, {modelled} models");
    assert!(refused > 300 && modelled > 30, "{refused} {loaded} {modelled}");
}
