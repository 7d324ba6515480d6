//! What a robot starts from: a keyframe, then positions, velocities and controls by name.

use crate::error::Invalid;
use crate::read::node::{Node, Table};
use crate::robot::orientation::unit;
use crate::robot::{Joint, JointKind, Robot};
use crate::words;

/// Reads the start of a robot.
pub(super) fn read(table: &Table<'_>, robot: &mut Robot) -> Result<(), Invalid> {
    if let Some(node) = table.get("keyframe") {
        let names: Vec<(&str, usize)> =
            robot.keyframes.iter().enumerate().map(|(i, it)| (it.name.as_str(), i)).collect();
        robot.start = robot.keyframes[node.choose("keyframe", &names)?].clone();
    }
    if let Some(node) = table.get("positions") {
        positions(&node, robot)?;
    }
    if let Some(node) = table.get("velocities") {
        velocities(&node, robot)?;
    }
    if let Some(node) = table.get("controls") {
        controls(&node, robot)?;
    }
    Ok(())
}

/// States of a file know nothing of motors that the scene adds: these have the control 0.
pub(super) fn more_motors(robot: &mut Robot) {
    let motors = robot.motors.len();
    let states = robot.keyframes.iter_mut().chain([&mut robot.start]);
    states.filter(|state| !state.controls.is_empty()).for_each(|state| state.controls.resize(motors, 0.0));
}

/// Where the numbers of each joint begin.
fn firsts(joints: &[Joint], width: fn(JointKind) -> usize) -> Vec<usize> {
    let next = |at: &mut usize, joint: &Joint| Some(std::mem::replace(at, *at + width(joint.kind)));
    joints.iter().scan(0, next).collect()
}

fn positions(node: &Node<'_>, robot: &mut Robot) -> Result<(), Invalid> {
    let mut all = match robot.start.positions.as_slice() {
        [] => robot.home(),
        given => given.to_vec(),
    };
    let at = firsts(&robot.joints, JointKind::positions);
    for (i, key, value) in named(node, "joint", &joint_names(robot))? {
        let joint = &robot.joints[i];
        own(joint, key, &value)?;
        match joint.kind {
            JointKind::Hinge | JointKind::Slide => all[at[i]] = value.number()?,
            JointKind::Ball => {
                let value = value.like("positions = { ball = [1, 0, 0, 0] }");
                all[at[i]..][..4].copy_from_slice(&value.orientation()?);
            }
            JointKind::Free => {
                let value = value.like("positions = { root = [0, 0, 1, 1, 0, 0, 0] }");
                let wanted = "a list of seven numbers, a position and a quaternion (w, x, y, z),";
                let [x, y, z, quaternion @ ..]: [f64; 7] = value.array(wanted)?;
                let orientation = unit(quaternion).ok_or_else(|| {
                    let fix = "write the quaternion [1, 0, 0, 0] behind the position";
                    value.invalid("this orientation is zero", fix)
                })?;
                all[at[i]..][..3].copy_from_slice(&[x, y, z]);
                all[at[i] + 3..][..4].copy_from_slice(&orientation);
            }
        }
    }
    follow(&robot.joints, &at, &mut all);
    robot.start.positions = all;
    Ok(())
}

/// A joint that follows another starts as that one does.
fn own(joint: &Joint, key: &str, value: &Node<'_>) -> Result<(), Invalid> {
    if joint.mimic.is_none() || key != joint.name {
        return Ok(());
    }
    let what = format!("the joint {} follows another", words::quoted(key));
    Err(value.invalid(what, "leave it out: it moves as the other does"))
}

/// Puts joints that follow others where these want them. A joint that follows a follower waits for it.
fn follow(joints: &[Joint], at: &[usize], positions: &mut [f64]) {
    for _ in joints.iter().filter(|joint| joint.mimic.is_some()) {
        for (joint, &own) in joints.iter().zip(at) {
            if let Some(mimic) = joint.mimic {
                positions[own] = mimic.multiplier * positions[at[mimic.joint]] + mimic.offset;
            }
        }
    }
}

fn velocities(node: &Node<'_>, robot: &mut Robot) -> Result<(), Invalid> {
    let mut all = match robot.start.velocities.as_slice() {
        [] => vec![0.0; robot.velocities()],
        given => given.to_vec(),
    };
    let at = firsts(&robot.joints, JointKind::velocities);
    for (i, key, value) in named(node, "joint", &joint_names(robot))? {
        own(&robot.joints[i], key, &value)?;
        match robot.joints[i].kind {
            JointKind::Hinge | JointKind::Slide => all[at[i]] = value.number()?,
            JointKind::Ball => {
                let value = value.like("velocities = { ball = [0, 0, 1] }");
                all[at[i]..][..3].copy_from_slice(&value.vector()?);
            }
            JointKind::Free => {
                let value = value.like("velocities = { root = [1, 0, 0, 0, 0, 0] }");
                let wanted = "a list of six numbers, a linear and an angular velocity,";
                all[at[i]..][..6].copy_from_slice(&value.array::<6>(wanted)?);
            }
        }
    }
    robot.start.velocities = all;
    Ok(())
}

/// One number for all steps, or a list with one for each.
fn controls(node: &Node<'_>, robot: &mut Robot) -> Result<(), Invalid> {
    let names: Vec<String> = robot.motors.iter().map(|motor| motor.name.clone()).collect();
    robot.start.controls.resize(names.len(), 0.0);
    for (i, _, value) in named(node, "motor", &names)? {
        match value.len() {
            Ok(_) => robot.motors[i].controls = value.numbers()?,
            Err(_) => robot.start.controls[i] = value.number()?,
        }
    }
    Ok(())
}

fn joint_names(robot: &Robot) -> Vec<String> {
    robot.joints.iter().map(|joint| joint.name.clone()).collect()
}

/// What each key of a table is for: the thing of that name, or those that it covers as a glob. A name of its own goes
/// before globs; two globs for one thing contradict each other.
fn named<'n>(
    node: &'n Node<'_>,
    word: &str,
    names: &[String],
) -> Result<Vec<(usize, &'n str, Node<'n>)>, Invalid> {
    let mut of: Vec<Option<usize>> = vec![None; names.len()];
    let entries = node.entries()?;
    let exact = |key: &str| names.iter().position(|name| name == key);
    for (at, (key, _)) in entries.iter().enumerate() {
        if let Some(i) = exact(key) {
            of[i] = Some(at);
        }
    }
    for (at, (key, value)) in entries.iter().enumerate().filter(|(_, (key, _))| exact(key).is_none()) {
        let covered: Vec<usize> = (0..names.len()).filter(|&i| words::glob(key, &names[i])).collect();
        if covered.is_empty() {
            let what = format!("there is no {word} {}", words::quoted(key));
            let all = format!("the {} are {}", words::plural(word), words::list(names));
            return Err(value.invalid(what, words::suggest(key, names, all)));
        }
        for i in covered {
            match of[i] {
                None => of[i] = Some(at),
                Some(other) if exact(entries[other].0).is_some() => {}
                Some(other) => {
                    let (first, name) = (words::quoted(entries[other].0), words::quoted(&names[i]));
                    let what = format!("{first} and {} both stand for {name}", words::quoted(key));
                    return Err(value.invalid(what, "keep one of the two, or name it itself"));
                }
            }
        }
    }
    let chosen = of.iter().enumerate().filter_map(|(i, at)| Some((i, (*at)?)));
    Ok(chosen.map(|(i, at)| (i, entries[at].0, entries[at].1)).collect())
}
