//! What the numbers of joints and motors mean, where that differs within a block: units of hinges and of slides, ranges of
//! controls.

use std::collections::HashMap;

use pullback_scene::robot::{self, JointKind, Motor, Transmission};

use super::Robot;
use crate::names::{Block, Group, Layout, Quantity};

impl Robot {
    /// Gives its joints and motors quantities of their own, where they are not those of their blocks.
    pub(crate) fn refine<'l>(&self, layouts: impl IntoIterator<Item = &'l mut Layout>) {
        let robot = &*self.description;
        let joints = robot.joints.iter().map(|joint| (joint.name.as_str(), joint.kind)).collect();
        let motors = robot.motors.iter().map(|motor| (motor.name.as_str(), motor)).collect();
        for layout in layouts {
            layout.refine(|block, group| own(robot, &joints, &motors, block, group));
        }
    }
}

fn own(
    robot: &robot::Robot,
    joints: &HashMap<&str, JointKind>,
    motors: &HashMap<&str, &Motor>,
    block: &Block,
    group: &Group,
) -> Option<Quantity> {
    let name = group.name.strip_prefix(robot.name.as_str())?.strip_prefix('.')?;
    if block.field == "control" {
        return motors.get(name).map(|motor| control(robot, motor, block));
    }
    // Blocks of joints give the unit of hinges, then that of slides.
    let (turning, sliding) = block.quantity.unit.split_once(" or ")?;
    let unit = match joints.get(name)? {
        JointKind::Hinge | JointKind::Ball => turning,
        JointKind::Slide => sliding,
        JointKind::Free => return None,
    };
    Some(Quantity { unit: unit.to_owned(), ..block.quantity.clone() })
}

/// The control of a motor: its range, and what it is where its gains tell.
fn control(robot: &robot::Robot, motor: &Motor, block: &Block) -> Quantity {
    let [lower, upper] = motor.control_range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    let unit = control_unit(robot, motor).unwrap_or(&block.quantity.unit).to_owned();
    Quantity { unit, lower, upper, ..block.quantity.clone() }
}

/// With force = g0 u + b0 + b1 l + b2 l_dot the control u is a force (g0 = 1, no bias), a length (b1 = -g0) or a rate
/// (b2 = -g0, b1 = 0); anything else has no unit that its gains tell.
fn control_unit(robot: &robot::Robot, motor: &Motor) -> Option<&'static str> {
    let Transmission::Joint { joint, gear } = &motor.transmission else { return None };
    let [force, length, rate] = match robot.joints.get(*joint)?.kind {
        JointKind::Hinge => ["N·m", "rad", "rad/s"],
        JointKind::Slide => ["N", "m", "m/s"],
        JointKind::Ball | JointKind::Free => return None,
    };
    let ([g0, g1, g2], [b0, b1, b2]) = (motor.gain, motor.bias);
    match gear[..] {
        _ if g0 == 0.0 || g1 != 0.0 || g2 != 0.0 || b0 != 0.0 => None,
        [_] if g0 == 1.0 && b1 == 0.0 && b2 == 0.0 => Some(force),
        [1.0] if b1 == -g0 => Some(length),
        [1.0] if b1 == 0.0 && b2 == -g0 => Some(rate),
        _ => None,
    }
}
