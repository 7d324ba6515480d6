//! Robots read the files of their folder, and no others.

use std::fs;
use std::path::{Path, PathBuf};

use pullback_scene::Robot;
use pullback_scene::robot::{Geometry, Load, Loaded};

const MESH: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

/// `ws/x_description/urdf`, with meshes everywhere around it.
struct Workspace {
    root: PathBuf,
}

impl Workspace {
    fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&root);
        let places = [
            "ws/x_description/urdf/own.obj",
            "ws/x_description/urdf/parts/own.obj",
            "ws/x_description/meshes/a.obj",
            "ws/x_description/notes.txt",
            "ws/y_description/meshes/a.obj",
            "ws/outside.obj",
        ];
        for place in places {
            let file = root.join(place);
            fs::create_dir_all(file.parent().expect("it has a folder")).expect("there is room");
            fs::write(file, MESH).expect("there is room");
        }
        Self { root }
    }

    fn read(&self, filename: &str, load: &Load) -> Result<Loaded, pullback_scene::Error> {
        let text = format!(
            "<robot name='x'><link name='a'><visual><geometry><mesh filename='{filename}'/></geometry></visual></link></robot>"
        );
        let file = self.root.join("ws/x_description/urdf/x.urdf");
        fs::write(&file, text).expect("there is room");
        Robot::load(&file, load)
    }

    fn reads(&self, filename: &str, load: &Load) -> PathBuf {
        let Loaded { robot, warnings } = self.read(filename, load).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(warnings, []);
        match &robot.shapes[0].geometry {
            Geometry::Mesh(mesh) if mesh.triangles.is_some() => mesh.file.clone(),
            other => panic!("{filename}: {other:?}"),
        }
    }

    fn refuses(&self, filename: &str, load: &Load, what: &str) {
        let error = self.read(filename, load).err().unwrap_or_else(|| panic!("{filename} is read"));
        assert!(error.what.contains(what), "{filename}: {error}");
    }
}

#[test]
fn the_folder_and_the_package_are_read() {
    let ws = Workspace::new("sandbox");
    let strict = Load::default();
    let inside = |place: &str| ws.root.join("ws").join(place).canonicalize().expect("it is there");
    assert_eq!(ws.reads("own.obj", &strict), inside("x_description/urdf/own.obj"));
    assert_eq!(ws.reads("parts/../parts/own.obj", &strict), inside("x_description/urdf/parts/own.obj"));
    let absolute = inside("x_description/urdf/own.obj");
    assert_eq!(ws.reads(&format!("file://{}", absolute.display()), &strict), absolute);
    let package = "package://x_description/meshes/a.obj";
    assert_eq!(ws.reads(package, &strict), inside("x_description/meshes/a.obj"));
    assert_eq!(
        ws.reads("package:///x_description/meshes/a.obj", &strict),
        inside("x_description/meshes/a.obj")
    );
    assert_eq!(ws.reads("package://parts/own.obj", &strict), inside("x_description/urdf/parts/own.obj"));
    assert_eq!(
        ws.reads("package://renamed/parts/own.obj", &strict),
        inside("x_description/urdf/parts/own.obj")
    );
}

#[test]
fn nothing_else_is_read() {
    let ws = Workspace::new("sandbox-outside");
    let strict = Load::default();
    let outside = "is outside the folder of the robot";
    ws.refuses("../../outside.obj", &strict, outside);
    ws.refuses("../meshes/a.obj", &strict, outside);
    ws.refuses("parts/../../../outside.obj", &strict, outside);
    ws.refuses(&ws.root.join("ws/outside.obj").display().to_string(), &strict, outside);
    ws.refuses("package://x_description/../outside.obj", &strict, outside);
    ws.refuses("package://x_description/notes.txt", &strict, "packages are read for meshes only");
    ws.refuses("package://y_description/meshes/a.obj", &strict, "the package `y_description` of");
    ws.refuses("package://y_description", &strict, "is no mesh");
    ws.refuses("package://", &strict, "is no mesh");
    ws.refuses("package://../outside.obj", &strict, "is not found");
    ws.refuses("model://x/own.obj", &strict, "`model` is not read");

    // Lenient readers go on without it.
    let lenient = Load { lenient: true, ..Load::default() };
    let Loaded { robot, warnings } = ws.read("../../outside.obj", &lenient).expect("lenient");
    assert!(warnings[0].what.contains(outside), "{warnings:?}");
    assert!(matches!(&robot.shapes[0].geometry, Geometry::Mesh(mesh) if mesh.triangles.is_none()));
}

#[test]
fn more_can_be_allowed() {
    let ws = Workspace::new("sandbox-allowed");
    let inside = |place: &str| ws.root.join("ws").join(place).canonicalize().expect("it is there");
    let allow = Load { allow: vec![ws.root.join("ws/x_description/meshes")], ..Load::default() };
    assert_eq!(ws.reads("../meshes/a.obj", &allow), inside("x_description/meshes/a.obj"));
    ws.refuses("../../outside.obj", &allow, "is outside the folder of the robot");
    let packages = vec![("y_description".to_owned(), ws.root.join("ws/y_description"))];
    let packages = Load { packages, ..Load::default() };
    assert_eq!(
        ws.reads("package://y_description/meshes/a.obj", &packages),
        inside("y_description/meshes/a.obj")
    );
    ws.refuses("package://y_description/../outside.obj", &packages, "is outside the folder of the robot");
    let nowhere = Load { allow: vec!["nowhere".into()], ..Load::default() };
    ws.refuses("own.obj", &nowhere, "there is no such file");
}

#[cfg(unix)]
#[test]
fn links_and_pipes_lead_nowhere() {
    let ws = Workspace::new("sandbox-links");
    let strict = Load::default();
    let urdf = ws.root.join("ws/x_description/urdf");
    std::os::unix::fs::symlink("../../outside.obj", urdf.join("link.obj")).expect("links can be made");
    std::os::unix::fs::symlink("../../..", urdf.join("up")).expect("links can be made");
    std::os::unix::fs::symlink("loop.obj", urdf.join("loop.obj")).expect("links can be made");
    std::os::unix::fs::symlink("own.obj", urdf.join("fine.obj")).expect("links can be made");
    std::os::unix::fs::symlink("/dev/zero", urdf.join("zero.obj")).expect("links can be made");
    ws.refuses("link.obj", &strict, "is outside the folder of the robot");
    ws.refuses("up/ws/outside.obj", &strict, "is outside the folder of the robot");
    ws.refuses("loop.obj", &strict, "cannot be read");
    ws.refuses("zero.obj", &strict, "is outside the folder of the robot");
    assert!(ws.reads("fine.obj", &strict).ends_with("own.obj"));
    let pipe = urdf.join("pipe.obj");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|status| status.success()) {
        ws.refuses("pipe.obj", &strict, "`pipe.obj` is no file");
    }
}
