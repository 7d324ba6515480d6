//! Broken copies of good files: an error or a robot, never a panic, never long, and never a file from elsewhere.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use common::{CANARY, Format, LONGEST, Random, Tally, change, holds_canary};
use pullback_scene::Robot;
use pullback_scene::robot::{Load, Triangles};

const CASES: usize = 500;

/// A copy of the good files, with a mesh outside that nobody may read.
fn scratch() -> (PathBuf, Vec<String>) {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("robot-fuzz");
    let _ = fs::remove_dir_all(&root);
    let robots = root.join("robots");
    let good = Path::new("tests/urdf/good");
    for place in [
        "cart.urdf",
        "drone.urdf",
        "arm_description/urdf/arm.urdf",
        "arm_description/meshes/cube.obj",
        "arm_description/meshes/tetrahedron.stl",
        "arm_description/meshes/cover.dae",
    ] {
        let to = robots.join(place);
        fs::create_dir_all(to.parent().expect("it has a folder")).expect("there is room");
        fs::copy(good.join(place), to).expect("there is room");
    }
    let canary = root.join("canary.obj");
    let mesh = format!("v {CANARY} 0 0\nv {CANARY} 1 0\nv {CANARY} 0 1\nf 1 2 3\n");
    fs::write(&canary, &mesh).expect("there is room");
    fs::write(root.join("canary.txt"), format!("secret {CANARY}\n")).expect("there is room");
    let mut elsewhere: Vec<String> = [
        "../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "package://arm_description/../../canary.obj",
        "package://../canary.obj",
        "package://meshes/cube.obj",
        "package://arm_description/meshes/cube.obj",
        "http://localhost/canary.obj",
        "meshes/../../../../canary.obj",
        "cube.obj",
        "\u{0}",
        "CON",
        "",
        ".",
    ]
    .map(str::to_owned)
    .to_vec();
    for depth in 1..6 {
        elsewhere.push(format!("{}canary.obj", "../".repeat(depth)));
        elsewhere.push(format!("{}canary.txt", "../".repeat(depth)));
    }
    elsewhere.push(canary.display().to_string());
    elsewhere.push(format!("file://{}", canary.display()));
    #[cfg(unix)]
    for folder in ["arm_description/urdf", "."] {
        let link = robots.join(folder).join("link.obj");
        std::os::unix::fs::symlink(&canary, link).expect("links can be made");
        elsewhere.push("link.obj".to_owned());
    }
    (robots, elsewhere)
}

#[test]
fn broken_robots() {
    let (robots, elsewhere) = scratch();
    let elements = [
        ("<link", "</link>"),
        ("<joint", "</joint>"),
        ("<inertial", "</inertial>"),
        ("<", ">"),
        ("<origin", "/>"),
    ];
    let format = Format { file: "filename", elements: &elements, elsewhere: &elsewhere };
    let files = ["cart.urdf", "drone.urdf", "arm_description/urdf/arm.urdf", "arm_description/urdf/arm.urdf"];
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut tally = Tally::default();
    for case in 0..CASES {
        let file = robots.join(files[case % files.len()]);
        let mut text = fs::read_to_string(&file).expect("it is there");
        for _ in 0..=random.below(4) {
            change(&mut text, &mut random, &format);
        }
        let load = Load { lenient: random.below(2) == 0, ..Load::default() };
        tally.read(&format!("case {case}"), text, &file, &load);
    }
    assert!(tally.errors > CASES / 4 && tally.read > CASES / 10 && tally.refused > 20, "{tally:?}");
}

/// Without the fence, the canary would be found: the test above can fail.
#[test]
fn the_canary_is_a_mesh_like_others() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("robot-fuzz-open");
    fs::create_dir_all(&root).expect("there is room");
    fs::write(root.join("canary.obj"), format!("v {CANARY} 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n"))
        .expect("there is room");
    let text = "<robot name='r'><link name='a'><visual><geometry><mesh filename='canary.obj'/></geometry></visual></link></robot>";
    let loaded = Robot::parse(text, root.join("r.urdf"), &Load::default()).expect("it is good");
    assert!(holds_canary(&loaded));
}

#[test]
fn broken_meshes() {
    let read =
        |file: &str| fs::read(format!("tests/urdf/good/arm_description/meshes/{file}")).expect("it is there");
    let msh2 = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n\
                $Elements\n2\n1 2 2 0 1 1 2 3\n2 4 2 0 1 1 2 3 4\n$EndElements\n";
    let msh4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n\
                $EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n";
    let mut binary_stl = vec![b' '; 80];
    binary_stl.extend(2u32.to_le_bytes());
    binary_stl.extend((0..24).flat_map(|i| (i as f32).to_le_bytes()).chain([0, 0, 0, 0]));
    let mut mujoco: Vec<u8> = [3i32, 0, 0, 1].iter().flat_map(|count| count.to_le_bytes()).collect();
    mujoco.extend((0..9).flat_map(|i| (i as f32).to_le_bytes()));
    mujoco.extend([0i32, 1, 2].iter().flat_map(|at| at.to_le_bytes()));
    let samples = [
        ("a.obj", read("cube.obj")),
        ("a.stl", read("tetrahedron.stl")),
        ("b.stl", binary_stl),
        ("a.msh", msh2.as_bytes().to_vec()),
        ("b.msh", msh4.as_bytes().to_vec()),
        ("c.msh", mujoco),
    ];
    for (file, bytes) in &samples {
        assert!(Triangles::parse(bytes, file).is_ok(), "{file}");
    }
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let words: [&[u8]; 10] = [
        b"-1",
        b"99999999999999999999",
        b"1e999",
        b"nan",
        b"f",
        b"$Elements",
        b"\n",
        b"/",
        b"\\\n",
        b"4294967295",
    ];
    let mut errors = 0;
    for case in 0..CASES {
        let (file, good) = &samples[case % samples.len()];
        let mut bytes = good.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(6) {
                0 => bytes.truncate(at),
                1 => drop(bytes.splice(at..at, random.of(&words).iter().copied())),
                2 => drop(bytes.splice(at..(at + 2).min(bytes.len()), random.of(&words).iter().copied())),
                3 => bytes.extend_from_within(at..),
                4 if at < bytes.len() => bytes[at] = 0xFF,
                _ if at < bytes.len() => bytes[at] = random.next() as u8,
                _ => {}
            }
        }
        let before = Instant::now();
        match Triangles::parse(&bytes, file) {
            Ok(mesh) => {
                let count = mesh.vertices.len();
                assert!(mesh.faces.iter().flatten().all(|&at| (at as usize) < count), "case {case}");
                assert!(mesh.vertices.iter().flatten().all(|x| x.is_finite()), "case {case}");
                if let Ok(solid) = mesh.inertial(1.0) {
                    assert!(
                        solid.mass > 0.0 && solid.inertia.iter().all(|x| x.is_finite()),
                        "case {case}: {solid:?}"
                    );
                }
            }
            Err(error) => {
                errors += 1;
                assert!(!error.fix.is_empty() && error.file == *file, "case {case}: {error}");
            }
        }
        assert!(before.elapsed() < LONGEST, "case {case}: {:?}", before.elapsed());
    }
    assert!(errors > CASES / 4, "{errors} errors");
}
