//! Robots of files, and the states in which an oracle was asked about them.
//!
//! `crates/engine/tests/oracle/README.md` says what the files hold. `cargo xtask bench` names their folders.

use std::error::Error;
use std::path::PathBuf;

use pullback_engine::articulated;
use pullback_scene::robot::{
    Base, Body, Geometry, Inertial, Joint, JointKind, Keyframe, Load, Motor, Placement, Robot, Transmission,
};
use pullback_scene::{Contact, Ground, Scene, Simulation};
use serde_json::Value;

/// A robot in the first state of its oracle. Vectors are in the order of the robot's `Tree`.
pub struct Case {
    /// The robot; it starts in this state.
    pub robot: Robot,
    /// Positions.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Forces on the degrees of freedom.
    pub tau: Vec<f64>,
    /// What the oracle says that these forces do.
    pub acceleration: Vec<f64>,
}

fn folder(variable: &str) -> Result<PathBuf, String> {
    let dir = std::env::var_os(variable);
    dir.map(PathBuf::from)
        .ok_or(format!("{variable} is not set; `cargo xtask oracle` says what it should be"))
}

/// A robot below the folder of models.
///
/// # Errors
/// When the folder is not named, or the file cannot be read.
pub fn load(file: &str, base: Base) -> Result<Robot, Box<dyn Error>> {
    let load = Load { base, lenient: true, meshes: false, ..Load::default() };
    Ok(Robot::load(folder("PULLBACK_MODELS_DIR")?.join(file), &load)?.robot)
}

/// The robot of an oracle's file, in the first state of it.
///
/// # Errors
/// When a folder is not named, or a file cannot be read.
pub fn asked(name: &str) -> Result<Case, Box<dyn Error>> {
    let text = std::fs::read_to_string(folder("PULLBACK_ORACLE_DIR")?.join(format!("{name}.json")))?;
    let answers: Value = serde_json::from_str(&text)?;
    let base = if answers["floating"] == true { Base::Free } else { Base::Fixed };
    let mut robot = load(answers["file"].as_str().ok_or("no file")?, base)?;
    // Joints that follow others move on their own there.
    robot.joints.iter_mut().for_each(|joint| joint.mimic = None);
    let state = &answers["states"][0];
    let of = |key: &str, index: &str, len: fn(JointKind) -> usize| -> Result<Vec<f64>, String> {
        let mut all = Vec::new();
        for joint in &robot.joints {
            all.extend(numbers_of(&answers, joint, (&state[key], index), len(joint.kind))?);
        }
        Ok(all)
    };
    let by_v = |key: &str| of(key, "v_index", JointKind::velocities);
    let (q, v) = (of("q", "q_index", JointKind::positions)?, by_v("v")?);
    let (tau, acceleration) = (by_v("tau")?, by_v("acceleration")?);
    robot.start = Keyframe { positions: q.clone(), velocities: v.clone(), ..Keyframe::default() };
    let placed = articulated::Robot::new(&robot)?;
    let [v, tau, acceleration] = [v, tau, acceleration].map(|numbers| placed.velocities_of(&numbers));
    Ok(Case { q: placed.positions_of(&q), v, tau, acceleration, robot })
}

/// The numbers of one joint in a vector of the oracle; joints are found by name, and there is one free base at most.
fn numbers_of(
    answers: &Value,
    joint: &Joint,
    (vector, index): (&Value, &str),
    len: usize,
) -> Result<Vec<f64>, String> {
    let is_it = |other: &&Value| match joint.kind {
        JointKind::Free => other["kind"] == "free",
        JointKind::Hinge | JointKind::Slide | JointKind::Ball => other["name"] == joint.name.as_str(),
    };
    let found = answers["joints"].as_array().and_then(|all| all.iter().find(is_it));
    let missing = || format!("the oracle has nothing for the joint `{}`", joint.name);
    let at = found.and_then(|found| found[index].as_u64()).ok_or_else(missing)? as usize;
    (at..at + len).map(|i| vector[i].as_f64().ok_or_else(missing)).collect()
}

/// Laikago on its toes, held by servos, `count` of them side by side on a plane; steps of 1 ms. Nothing of it touches but
/// the toes, which are spheres.
///
/// # Errors
/// When the folder of models is not named, or the file cannot be read.
pub fn standing(count: usize) -> Result<Scene, Box<dyn Error>> {
    let mut robot = load("pybullet/laikago/laikago_toes_zup.urdf", Base::Free)?;
    robot.shapes.retain(|shape| matches!(shape.geometry, Geometry::Sphere { .. }));
    robot.motors.clear();
    let pose = |joint: &Joint| if joint.name.contains("hip_motor_2") { 0.2 } else { KNEE };
    let angle = |joint: &Joint| if joint.name.contains("upper_leg_2") { 0.0 } else { pose(joint) };
    for (j, joint) in robot.joints.iter().enumerate().filter(|(_, joint)| joint.kind == JointKind::Hinge) {
        robot.motors.push(Motor {
            name: joint.name.clone(),
            transmission: Transmission::Joint { joint: j, gear: vec![1.0] },
            gain: [KP, 0.0, 0.0],
            bias: [0.0, -KP, -KD],
            control_range: None,
            force_range: None,
            controls: Vec::new(),
        });
    }
    let hinges: Vec<f64> =
        robot.joints.iter().filter(|joint| joint.kind == JointKind::Hinge).map(angle).collect();
    let robots = (0..count).map(|i| {
        let mut robot = robot.clone();
        robot.name = format!("laikago{i}");
        let base = [2.0 * i as f64, 0.0, HEIGHT, 1.0, 0.0, 0.0, 0.0];
        robot.start.positions = [&base[..], &hinges].concat();
        robot.start.controls = hinges.clone();
        robot
    });
    let simulation = Simulation { dt: 1e-3, ..Simulation::default() };
    let contact = Contact { mu: 1.0, ..Contact::default() };
    let ground = Ground { mu: Some(1.0), ..Ground::default() };
    let (contact, ground) = (Some(contact), Some(ground));
    Ok(Scene { simulation, robots: robots.collect(), contact, ground, ..Scene::default() })
}

/// Of [`standing`]: gains of servos [N·m/rad, N·m·s/rad], the angle of knees [rad] and the height of the base [m].
const KP: f64 = 50.0;
const KD: f64 = 3.0;
const KNEE: f64 = -0.5;
const HEIGHT: f64 = 0.46;

/// A chain of rods of 1 m and 1 kg that hangs from the world, with hinges about y and x in turn, bent and moving.
#[must_use]
pub fn chain(links: usize) -> Robot {
    let inertia = [1.0 / 12.0, 1.0 / 12.0, 1e-4, 0.0, 0.0, 0.0];
    let inertial = Inertial { mass: 1.0, center: [0.0, 0.0, -0.5], inertia };
    let below = |i: usize| [0.0, 0.0, if i == 0 { 0.0 } else { -1.0 }];
    let rod = |i: usize| Body {
        name: format!("rod{i}"),
        parent: i.checked_sub(1),
        placement: Placement { position: below(i), ..Placement::default() },
        inertial,
    };
    let axis = |i: usize| if i.is_multiple_of(2) { [0.0, 1.0, 0.0] } else { [1.0, 0.0, 0.0] };
    let hinge = |i: usize| Joint::new(format!("hinge{i}"), i, JointKind::Hinge, axis(i));
    let wave = |scale: f64| (0..links).map(|i| scale * (i as f64).sin()).collect();
    Robot {
        name: "chain".into(),
        bodies: (0..links).map(rod).collect(),
        joints: (0..links).map(hinge).collect(),
        start: Keyframe { positions: wave(0.3), velocities: wave(0.5), ..Keyframe::default() },
        ..Robot::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_a_robot() -> Result<(), Box<dyn Error>> {
        let chain = chain(3);
        chain.check()?;
        let positions = articulated::Robot::new(&chain)?.positions_of(&chain.start.positions);
        assert_eq!(positions, chain.start.positions);
        Ok(())
    }

    #[test]
    fn numbers_of_joints_are_found_by_name() -> Result<(), Box<dyn Error>> {
        let answers = serde_json::json!({"joints": [
            {"name": "root_joint", "kind": "free", "v_index": 0},
            {"name": "knee", "kind": "hinge", "v_index": 7},
            {"name": "hip", "kind": "hinge", "v_index": 6},
        ]});
        let vector = serde_json::json!([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 60.0, 70.0]);
        let of = |name: &str, kind: JointKind| {
            let joint = Joint::new(name, 0, kind, [0.0, 0.0, 1.0]);
            numbers_of(&answers, &joint, (&vector, "v_index"), kind.velocities())
        };
        assert_eq!(of("knee", JointKind::Hinge)?, [70.0]);
        assert_eq!(of("root", JointKind::Free)?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(of("toe", JointKind::Hinge).is_err());
        Ok(())
    }
}
