//! Robots of `tests/mjcf/good` have the numbers that MuJoCo itself compiled them to: `oracle.py` stored those beside them.

use pullback_scene::Robot;
use pullback_scene::robot::{Geometry, Load, Shape, Transmission, orientation};
use toml::{Table, Value};

/// Of most numbers, relative to the largest of those compared at once.
const CLOSE: f64 = 1e-11;

/// Of inertias in the body's axes: MuJoCo turns them into principal axes, and stops a little before it is there. What
/// they are in the axes that it has found is exact.
const INERTIA: f64 = 1e-9;

fn load(name: &str) -> Robot {
    let path = format!("tests/mjcf/good/{name}.xml");
    let loaded = Robot::load(path, &Load::default()).expect("the file is good");
    assert_eq!(loaded.warnings, []);
    loaded.robot
}

/// What MuJoCo says.
struct Oracle {
    table: Table,
}

impl Oracle {
    fn new(name: &str) -> Self {
        let path = format!("tests/mjcf/good/{name}.toml");
        let text = std::fs::read_to_string(path).expect("oracle.py wrote it");
        Self { table: text.parse().expect("it is TOML") }
    }

    fn rows(&self, kind: &str) -> Vec<&Table> {
        let list = self.table.get(kind).and_then(Value::as_array);
        list.map_or(&[][..], Vec::as_slice).iter().map(|row| row.as_table().expect("a row")).collect()
    }
}

fn numbers(row: &Table, key: &str) -> Vec<f64> {
    let values = row[key].as_array().expect("a list");
    values.iter().map(|value| value.as_float().expect("a number")).collect()
}

fn number(row: &Table, key: &str) -> f64 {
    row[key].as_float().expect("a number")
}

fn word<'t>(row: &'t Table, key: &str) -> &'t str {
    row[key].as_str().expect("a word")
}

/// -1 is the world.
fn body(row: &Table, key: &str) -> Option<usize> {
    usize::try_from(row[key].as_integer().expect("a number")).ok()
}

#[track_caller]
fn close(what: &str, found: &[f64], wanted: &[f64], tolerance: f64) {
    let scale = wanted.iter().fold(1e-12, |most: f64, x| most.max(x.abs()));
    let equal = found.len() == wanted.len()
        && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= tolerance * scale);
    assert!(equal, "{what}: found {found:?}, wanted {wanted:?}");
}

/// q and -q are the same orientation.
#[track_caller]
fn same_turn(what: &str, found: [f64; 4], wanted: &[f64]) {
    let sign = found.iter().zip(wanted).map(|(a, b)| a * b).sum::<f64>().signum();
    close(what, &found.map(|x| sign * x), wanted, CLOSE);
}

/// The moments of inertia about the columns of a matrix: aᵀ I a.
fn moments_about([xx, yy, zz, xy, xz, yz]: [f64; 6], axes: &[f64]) -> [f64; 3] {
    std::array::from_fn(|column| {
        let [x, y, z] = [axes[column], axes[3 + column], axes[6 + column]];
        xx * x * x + yy * y * y + zz * z * z + 2.0 * (xy * x * y + xz * x * z + yz * y * z)
    })
}

fn compare_bodies(robot: &Robot, oracle: &Oracle) {
    let rows = oracle.rows("bodies");
    assert_eq!(robot.bodies.len(), rows.len());
    for (found, row) in robot.bodies.iter().zip(rows) {
        let name = &found.name;
        assert_eq!(name, word(row, "name"));
        assert_eq!(found.parent, body(row, "parent"), "{name}");
        // Lengths are of about 1 m.
        let place = |key: &str| [numbers(row, key), vec![1.0]].concat();
        close(name, &[&found.placement.position[..], &[1.0]].concat(), &place("position"), CLOSE);
        same_turn(name, found.placement.orientation, &numbers(row, "orientation"));
        close(name, &[found.inertial.mass], &[number(row, "mass")], CLOSE);
        close(name, &[&found.inertial.center[..], &[1.0]].concat(), &place("center"), CLOSE);
        // MuJoCo has the shell of an ellipsoid by a difference.
        let (full, principal) = if name == "egg" { (1e-5, 1e-5) } else { (INERTIA, CLOSE) };
        close(name, &found.inertial.inertia, &numbers(row, "inertia"), full);
        let moments = moments_about(found.inertial.inertia, &numbers(row, "axes"));
        close(name, &moments, &numbers(row, "moments"), principal);
    }
}

fn compare_joints(robot: &Robot, oracle: &Oracle) {
    let rows = oracle.rows("joints");
    assert_eq!(robot.joints.len(), rows.len());
    for (at, (found, row)) in robot.joints.iter().zip(rows).enumerate() {
        let name = &found.name;
        match word(row, "name") {
            "" => assert_eq!(name, &format!("joint{at}")),
            wanted => assert_eq!(name, wanted),
        }
        assert_eq!(Some(found.body), body(row, "body"), "{name}");
        assert_eq!(format!("{:?}", found.kind), word(row, "kind"), "{name}");
        close(name, &found.anchor, &numbers(row, "anchor"), CLOSE);
        close(name, &found.axis, &numbers(row, "axis"), CLOSE);
        close(name, found.range.as_ref().map_or(&[], <[f64; 2]>::as_slice), &numbers(row, "range"), CLOSE);
        let scalars = [
            ("reference", found.reference),
            ("spring_reference", found.spring_reference),
            ("armature", found.armature),
            ("damping", found.damping),
            ("friction", found.friction),
            ("stiffness", found.stiffness),
        ];
        for (key, value) in scalars {
            close(&format!("{name} {key}"), &[value], &[number(row, key)], INERTIA);
        }
        if found.range.is_some() {
            let weights = numbers(row, "inverse_weights");
            let inertia = weights.len() as f64 / weights.iter().sum::<f64>();
            let [time, ratio] = numbers(row, "solref").try_into().expect("two numbers");
            let wanted: [f64; 2] = [inertia / (time * ratio).powi(2), 2.0 * inertia / time];
            close(name, &[found.limit.stiffness], &wanted[..1], 1e-9);
            close(name, &[found.limit.damping], &wanted[1..], 1e-9);
        }
    }
}

fn compare_motors(robot: &Robot, oracle: &Oracle) {
    let rows = oracle.rows("motors");
    assert_eq!(robot.motors.len(), rows.len());
    for (found, row) in robot.motors.iter().zip(rows) {
        let name = &found.name;
        let (tendon, target, gear) = match &found.transmission {
            Transmission::Joint { joint, gear } => (false, *joint, gear.clone()),
            Transmission::Tendon { tendon, gear } => (true, *tendon, vec![*gear]),
        };
        match word(row, "name") {
            "" => assert_eq!(name, &robot.joints[target].name),
            wanted => assert_eq!(name, wanted),
        }
        assert_eq!(
            (tendon, Some(target)),
            (row["tendon"].as_bool().expect("a flag"), body(row, "target")),
            "{name}"
        );
        let ends = |range: Option<[f64; 2]>| range.map_or(Vec::new(), |ends| ends.to_vec());
        let lists = [
            ("gear", gear),
            ("gain", found.gain.to_vec()),
            ("bias", found.bias.to_vec()),
            ("control_range", ends(found.control_range)),
            ("force_range", ends(found.force_range)),
        ];
        for (key, list) in lists {
            close(&format!("{name} {key}"), &list, &numbers(row, key), INERTIA);
        }
    }
}

fn size(shape: &Shape) -> (&'static str, Vec<f64>) {
    match &shape.geometry {
        Geometry::Plane => ("Plane", vec![]),
        Geometry::Sphere { radius } => ("Sphere", vec![*radius]),
        Geometry::Capsule { radius, half_length } => ("Capsule", vec![*radius, *half_length]),
        Geometry::Cylinder { radius, half_length } => ("Cylinder", vec![*radius, *half_length]),
        Geometry::Box { half_sides } => ("Box", half_sides.to_vec()),
        Geometry::Ellipsoid { half_axes } => ("Ellipsoid", half_axes.to_vec()),
        Geometry::Mesh(_) => ("Mesh", vec![]),
        Geometry::Heights(_) => ("Heights", vec![]),
    }
}

fn compare_shapes(robot: &Robot, oracle: &Oracle) {
    let rows = oracle.rows("shapes");
    assert_eq!(robot.shapes.len(), rows.len());
    for (found, row) in robot.shapes.iter().zip(rows) {
        let name = &found.name;
        assert_eq!(name, word(row, "name"));
        assert_eq!(found.body, body(row, "body"), "{name}");
        let (kind, size) = size(found);
        assert_eq!(kind, word(row, "kind"), "{name}");
        close(name, &size, &numbers(row, "size"), CLOSE);
        assert_eq!(found.collides, row["collides"].as_bool().expect("a flag"), "{name}");
        close(name, &found.friction.expect("MJCF gives it"), &numbers(row, "friction"), CLOSE);
        // Where a mesh is follows from its principal axes, which MuJoCo has to about 1e-6.
        let tolerance = if kind == "Mesh" { 1e-5 } else { CLOSE };
        let position = [&found.placement.position[..], &[1.0]].concat();
        close(name, &position, &[numbers(row, "position"), vec![1.0]].concat(), tolerance);
        close(
            name,
            &orientation::matrix(found.placement.orientation).concat(),
            &numbers(row, "turn"),
            tolerance,
        );
    }
}

fn compare_others(robot: &Robot, oracle: &Oracle) {
    assert_eq!(robot.tendons.len(), oracle.rows("tendons").len());
    for (found, row) in robot.tendons.iter().zip(oracle.rows("tendons")) {
        assert_eq!(found.name, word(row, "name"));
        let (joints, factors): (Vec<f64>, Vec<f64>) =
            found.joints.iter().map(|&(at, by)| (at as f64, by)).unzip();
        assert_eq!((joints, factors), (numbers(row, "joints"), numbers(row, "factors")));
        close(
            &found.name,
            &[found.stiffness, found.damping],
            &["stiffness", "damping"].map(|key| number(row, key)),
            CLOSE,
        );
        close(&found.name, &found.spring_range, &numbers(row, "spring_range"), CLOSE);
    }
    assert_eq!(robot.frames.len(), oracle.rows("frames").len());
    for (found, row) in robot.frames.iter().zip(oracle.rows("frames")) {
        assert_eq!((found.name.as_str(), found.body), (word(row, "name"), body(row, "body")));
        close(&found.name, &found.placement.position, &numbers(row, "position"), CLOSE);
        close(
            &found.name,
            &orientation::matrix(found.placement.orientation).concat(),
            &numbers(row, "turn"),
            CLOSE,
        );
    }
    assert_eq!(robot.keyframes.len(), oracle.rows("keyframes").len());
    for (found, row) in robot.keyframes.iter().zip(oracle.rows("keyframes")) {
        assert_eq!(found.name, word(row, "name"));
        // MuJoCo writes down what is not said: joints at their references, everything else zero.
        for (key, list) in [
            ("positions", &found.positions),
            ("velocities", &found.velocities),
            ("controls", &found.controls),
        ] {
            if !list.is_empty() {
                close(key, list, &numbers(row, key), CLOSE);
            } else if key != "positions" {
                assert!(numbers(row, key).iter().all(|&x| x == 0.0), "{key}");
            }
        }
    }
    let gravity = robot.options.gravity.unwrap_or([0.0, 0.0, -9.81]);
    close("gravity", &gravity, &numbers(&oracle.table, "gravity"), CLOSE);
    close("dt", &[robot.options.dt.unwrap_or(0.002)], &[number(&oracle.table, "dt")], CLOSE);
}

fn compare(name: &str) {
    let (robot, oracle) = (load(name), Oracle::new(name));
    compare_bodies(&robot, &oracle);
    compare_joints(&robot, &oracle);
    compare_motors(&robot, &oracle);
    compare_shapes(&robot, &oracle);
    compare_others(&robot, &oracle);
}

/// Classes, orientations, joints, every kind of motor, tendons, keyframes.
#[test]
fn an_arm() {
    compare("arm");
}

/// Meshes, hollow shapes, bounds, a total mass.
#[test]
fn masses() {
    compare("masses");
}

/// Files in files, radians, flags.
#[test]
fn included_files() {
    compare("included");
}
