//! Checks of robots and loose bodies: what [`Robot::check`] leaves to a scene.

use std::collections::HashSet;

use super::{MOST, Number, too_many};
use crate::error::Invalid;
use crate::problem::Part;
use crate::robot::{
    Body, Geometry, Heights, Joint, JointKind, Keyframe, Motor, Robot, Shape, Tendon, Transmission,
};
use crate::scene::Scene;
use crate::{path, words};

type Checked = Result<(), Invalid>;

/// Checks all robots; errors are in the sections that files have for them.
pub(super) fn robots(scene: &Scene) -> Checked {
    for (i, robot) in scene.robots.iter().enumerate() {
        self::robot(robot, scene.simulation.steps).map_err(|invalid| {
            let section = scene.robot_section(i);
            // Loose bodies have no sections of bodies and joints within theirs.
            let inner = match invalid.path.split_once("].") {
                Some((_, inner)) if robot.loose => inner,
                Some(_) | None => &invalid.path,
            };
            let path = format!("{section}.{inner}");
            invalid.at(path)
        })?;
    }
    Ok(())
}

/// Checks a robot of a scene with so many steps; errors have the field of the robot.
pub(crate) fn robot(robot: &Robot, steps: usize) -> Checked {
    if robot.bodies.is_empty() && robot.loose {
        let fix = "give at least one position, or leave it out";
        return Err(Invalid::new("positions", "the group is empty", fix));
    }
    if robot.bodies.is_empty() {
        let fix = "give it at least one body, or leave it out";
        return Err(Invalid::new("bodies", "the robot has no bodies", fix));
    }
    if robot.loose {
        loose(robot)?;
    }
    robot.check()?;
    each("joints", &robot.joints, |it| mimic(it, robot))?;
    each("tendons", &robot.tendons, |it| tendon(it, robot))?;
    each("motors", &robot.motors, |it| motor(it, robot))?;
    robot.motors.iter().try_for_each(|motor| controls(motor, steps))?;
    each("frames", &robot.frames, |it| body("body", it.body, robot))?;
    each("shapes", &robot.shapes, |it| shape(it, robot))?;
    unique("tendons", robot.tendons.iter().map(|tendon| &tendon.name))?;
    unique("frames", robot.frames.iter().map(|frame| &frame.name))?;
    contacts(robot)?;
    pushed(robot)?;
    state(&robot.start, robot)?;
    each("keyframes", &robot.keyframes, |it| state(it, robot))
}

/// Checks each of a list; errors have the field of one.
fn each<T>(list: &str, things: &[T], check: impl Fn(&T) -> Checked) -> Checked {
    things.iter().enumerate().try_for_each(|(i, thing)| {
        check(thing).map_err(|invalid| {
            let path = format!("{list}[{i}].{}", invalid.path);
            invalid.at(path)
        })
    })
}

/// Each body is by itself, has a free joint of the same index, and resists turning about every axis.
fn loose(robot: &Robot) -> Checked {
    let indexed = robot.indexed();
    let name = |i: usize| if indexed { format!("{}[{i}]", robot.name) } else { robot.name.clone() };
    let free = |(i, joint): (usize, &Joint)| {
        joint.kind == JointKind::Free && joint.body == i && joint.name == name(i)
    };
    let alone = |(i, body): (usize, &Body)| body.parent.is_none() && body.name == name(i);
    let well_made = robot.joints.len() == robot.bodies.len()
        && robot.bodies.iter().enumerate().all(alone)
        && robot.joints.iter().enumerate().all(free);
    if !well_made {
        let what = "loose bodies are not each alone, with a free joint and the robot's name";
        return Err(Invalid::new(
            "bodies",
            what,
            "make them by `Robot::loose_body` or `Robot::loose_bodies`",
        ));
    }
    for (i, body) in robot.bodies.iter().enumerate() {
        let moments = body.inertial.principal_moments();
        if moments.iter().all(|&moment| moment > 0.0) || body.inertial.check_numbers().is_err() {
            continue;
        }
        let what = format!("the body {} turns about an axis without inertia", words::quoted(&body.name));
        let fix = "give it moments of inertia of more than 0, or make it a particle";
        return Err(Invalid::new(format!("bodies[{i}].inertia"), what, fix));
    }
    Ok(())
}

/// Pushed bodies are there, once each; of loose bodies, all of them.
fn pushed(robot: &Robot) -> Checked {
    for (i, &body) in robot.pushed.iter().enumerate() {
        let path = format!("pushed[{i}]");
        let Some(found) = robot.bodies.get(body) else {
            return Err(nothing(&path, "body", body, robot.bodies.len()));
        };
        if robot.pushed[..i].contains(&body) {
            let what = format!("{} is pushed twice", words::quoted(&found.name));
            return Err(Invalid::new(path, what, "name it once"));
        }
    }
    if robot.loose && !robot.pushed.is_empty() && robot.pushed.len() != robot.bodies.len() {
        let what = "some of these loose bodies are pushed, and some are not";
        return Err(Invalid::new("pushed", what, "push all of them, or make two groups"));
    }
    Ok(())
}

/// Only hinges and slides follow, and are followed.
fn mimic(joint: &Joint, robot: &Robot) -> Checked {
    let Some(mimic) = joint.mimic else {
        return Ok(());
    };
    if let JointKind::Ball | JointKind::Free = joint.kind {
        let what = format!("{} has more than one number to follow with", words::quoted(&joint.name));
        return Err(Invalid::new("mimic", what, "leave it out, or make it a hinge or a slide"));
    }
    one_number("mimic", mimic.joint, robot)
}

fn tendon(tendon: &Tendon, robot: &Robot) -> Checked {
    if tendon.joints.is_empty() {
        return Err(Invalid::new("joints", "the tendon pulls at no joint", "name at least one"));
    }
    for &(joint, coefficient) in &tendon.joints {
        one_number("joints", joint, robot)?;
        Number::any("coefficient", "").check("joints", coefficient)?;
    }
    Number::not_negative("stiffness", "").check("stiffness", tendon.stiffness)?;
    Number::not_negative("damping", "").check("damping", tendon.damping)?;
    let [least, greatest] = tendon.spring_range;
    if least <= greatest {
        return Ok(());
    }
    let what = format!("the range goes from {least} to {greatest}");
    Err(Invalid::new("spring_range", what, "write the smaller number first"))
}

/// A joint that is there, and whose position is one number.
fn one_number(path: &str, joint: usize, robot: &Robot) -> Checked {
    let Some(found) = robot.joints.get(joint) else {
        return Err(nothing(path, "joint", joint, robot.joints.len()));
    };
    let name = words::quoted(&found.name);
    let kind = match found.kind {
        JointKind::Hinge | JointKind::Slide => return Ok(()),
        JointKind::Ball => "a ball joint",
        JointKind::Free => "free",
    };
    Err(Invalid::new(
        path,
        format!("{name} is {kind}: its position is not one number"),
        "name a hinge or a slide",
    ))
}

fn motor(motor: &Motor, robot: &Robot) -> Checked {
    match &motor.transmission {
        Transmission::Joint { joint, gear } => {
            let Some(found) = robot.joints.get(*joint) else {
                return Err(nothing("joint", "joint", *joint, robot.joints.len()));
            };
            let freedoms = found.kind.velocities();
            if gear.len() != freedoms {
                let what = format!(
                    "the joint {} moves in {}, and the gear has {}",
                    words::quoted(&found.name),
                    words::counted(freedoms, "way"),
                    words::counted(gear.len(), "number"),
                );
                return Err(Invalid::new("gear", what, format!("write a list of {freedoms}, one for each")));
            }
            Number::any("gear", "").check_all("gear", gear)?;
            if freedoms > 1 && (motor.gain[1] != 0.0 || motor.bias[1] != 0.0) {
                let name = words::quoted(&found.name);
                let what = format!("the motor follows the position of {name}, which is not one number");
                return Err(Invalid::new("joint", what, "make it a torque, or name a hinge or a slide"));
            }
        }
        Transmission::Tendon { tendon, gear } => {
            if *tendon >= robot.tendons.len() {
                return Err(nothing("tendon", "tendon", *tendon, robot.tendons.len()));
            }
            Number::any("gear", "").check("gear", *gear)?;
        }
    }
    Number::any("gain", "").check_vector("gain", &motor.gain)?;
    Number::any("bias", "").check_vector("bias", &motor.bias)
}

/// A motor with controls of its own has one for each step.
fn controls(motor: &Motor, steps: usize) -> Checked {
    let path = format!("controls.{}", path::written(&motor.name));
    let found = motor.controls.len();
    if found != 0 && found != steps {
        let what = format!(
            "there are {}, and the simulation has {}",
            words::counted(found, "control"),
            words::counted(steps, "step")
        );
        return Err(Invalid::new(path, what, "give one control for all steps, or one for each step"));
    }
    Number::any("control", "").check_all(&path, &motor.controls)
}

fn body(path: &str, body: Option<usize>, robot: &Robot) -> Checked {
    match body {
        Some(body) if body >= robot.bodies.len() => Err(nothing(path, "body", body, robot.bodies.len())),
        Some(_) | None => Ok(()),
    }
}

fn shape(shape: &Shape, robot: &Robot) -> Checked {
    body("body", shape.body, robot)?;
    geometry(shape)
}

/// Numbers of a shape.
pub(super) fn geometry(shape: &Shape) -> Checked {
    if shape.corner_params && !matches!(shape.geometry, Geometry::Mesh(_) | Geometry::Heights(_)) {
        let what = "the shape has no corners that could be params";
        let fix =
            "leave `corner_params` out: only meshes and heights have it, other sizes are params in any case";
        return Err(Invalid::new("corner_params", what, fix));
    }
    if let Some(friction) = &shape.friction {
        Number::not_negative("friction", "").check_vector("friction", friction)?;
    }
    let lengths =
        |values: &[f64]| values.iter().try_for_each(|&it| Number::positive("length", "m").check("shape", it));
    match &shape.geometry {
        Geometry::Plane | Geometry::Mesh(_) => Ok(()),
        Geometry::Sphere { radius } => lengths(&[*radius]),
        Geometry::Capsule { radius, half_length } | Geometry::Cylinder { radius, half_length } => {
            lengths(&[*radius, *half_length])
        }
        Geometry::Box { half_sides: all } | Geometry::Ellipsoid { half_axes: all } => lengths(all),
        Geometry::Heights(it) => heights(it),
    }
}

/// Heights over a grid of two or more points each way.
fn heights(heights: &Heights) -> Checked {
    Number::positive("step", "m").check_all("shape.heights.step", &heights.step)?;
    let [columns, rows] = heights.count;
    let found = heights.values.len();
    if columns < 2 || rows < 2 || columns.checked_mul(rows) != Some(found) {
        let what = format!("there are {columns} x {rows} points and {}", words::counted(found, "height"));
        return Err(Invalid::new("shape.heights.values", what, "make them by `Heights::new`"));
    }
    if found > MOST {
        return Err(too_many("shape.heights.values", found, "heights"));
    }
    Number::any("height", "m").check_all("shape.heights.values", &heights.values)
}

fn contacts(robot: &Robot) -> Checked {
    let pairs = |path: &str, pairs: &[[usize; 2]], word: &str, count: usize| match pairs
        .iter()
        .flatten()
        .find(|&&index| index >= count)
    {
        Some(&index) => Err(nothing(path, word, index, count)),
        None => Ok(()),
    };
    pairs("contact_pairs", &robot.contact_pairs, "shape", robot.shapes.len())?;
    pairs("contact_excludes", &robot.contact_excludes, "body", robot.bodies.len())
}

/// Lists of a state are empty, or have a number for everything.
fn state(state: &Keyframe, robot: &Robot) -> Checked {
    let lists = [
        ("positions", &state.positions, robot.positions()),
        ("velocities", &state.velocities, robot.velocities()),
        ("controls", &state.controls, robot.motors.len()),
    ];
    for (field, list, wanted) in lists {
        if !list.is_empty() && list.len() != wanted {
            let what = format!(
                "the list has length {}, and the robot has {}",
                list.len(),
                words::counted(wanted, "number")
            );
            return Err(Invalid::new(field, what, "give all of them, or none"));
        }
        Number::any("number", "").check_all(field, list)?;
    }
    if state.positions.is_empty() { Ok(()) } else { quaternions(&state.positions, robot) }
}

/// Orientations of ball and free joints are unit quaternions.
fn quaternions(positions: &[f64], robot: &Robot) -> Checked {
    const UNIT: f64 = 1e-9;
    let mut end = 0;
    for joint in &robot.joints {
        end += joint.kind.positions();
        let quaternion = match joint.kind {
            JointKind::Hinge | JointKind::Slide => continue,
            JointKind::Ball | JointKind::Free => &positions[end - 4..end],
        };
        let length = quaternion.iter().map(|part| part * part).sum::<f64>().sqrt();
        if (length - 1.0).abs() > UNIT {
            let name = words::quoted(&joint.name);
            let what = format!("the orientation of {name} has the length {length}");
            return Err(Invalid::new(format!("positions[{}]", end - 4), what, "divide it by its length"));
        }
    }
    Ok(())
}

fn unique<'n>(list: &str, names: impl Iterator<Item = &'n String>) -> Checked {
    let mut seen = HashSet::new();
    for (i, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
        if !seen.insert(name) {
            let what = format!("two {list} are called {}", words::quoted(name));
            return Err(Invalid::new(format!("{list}[{i}].name"), what, "give each a name of its own"));
        }
    }
    Ok(())
}

/// An index that nothing has; can only happen in code.
fn nothing(path: &str, word: &str, index: usize, count: usize) -> Invalid {
    let fix = format!("there are {count}, counted from 0",);
    Invalid::new(path, format!("there is no {word} {index}"), fix)
}

/// A body or frame that is there.
pub(super) fn part(path: &str, scene: &Scene, part: Part) -> Checked {
    let (robot, word, index) = match part {
        Part::Body { robot, body } => (robot, "body", body),
        Part::Frame { robot, frame } => (robot, "frame", frame),
    };
    let Some(found) = scene.robots.get(robot) else {
        return Err(nothing(path, "robot", robot, scene.robots.len()));
    };
    let count = if word == "body" { found.bodies.len() } else { found.frames.len() };
    if index >= count { Err(nothing(path, word, index, count)) } else { Ok(()) }
}

/// A joint that is there, and whose position is one number.
pub(super) fn joint(path: &str, scene: &Scene, robot: usize, joint: usize) -> Checked {
    match scene.robots.get(robot) {
        Some(robot) => one_number(path, joint, robot),
        None => Err(nothing(path, "robot", robot, scene.robots.len())),
    }
}
