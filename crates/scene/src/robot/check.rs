//! Is a robot one that can be simulated?

use std::collections::HashMap;

use super::{Inertial, Joint, JointKind, Placement, Robot, inertial};
use crate::error::Invalid;
use crate::words;

/// How small the inertia about an axis may be, compared with that about all axes: less is rounding.
const NO_INERTIA: f64 = 1e-12;

/// How far from 1 the length of a unit vector may be.
const UNIT: f64 = 1e-9;

impl Robot {
    /// Finds the first thing that is wrong: names that are used twice, parents after their children, axes that are no unit
    /// vectors, numbers that are not finite, joints that move no mass, ranges the wrong way round, joints that follow
    /// themselves. What motors, tendons, frames and states name is checked with the scene.
    ///
    /// # Errors
    ///
    /// Where it is (`joints[2].axis`), what is wrong, and how to put it right.
    pub fn check(&self) -> Result<(), Invalid> {
        self.check_bodies()?;
        self.check_joints()?;
        self.check_mimics()?;
        self.check_masses()?;
        self.check_motors()
    }

    fn check_bodies(&self) -> Result<(), Invalid> {
        unique("bodies", "body", self.bodies.iter().map(|body| body.name.as_str()))?;
        for (at, body) in self.bodies.iter().enumerate() {
            let path = |field: &str| format!("bodies[{at}].{field}");
            let name = words::quoted(&body.name);
            if body.parent.is_some_and(|parent| parent >= at) {
                let what = format!("the parent of {name} comes after it, or is not there");
                return Err(Invalid::new(path("parent"), what, "put bodies after their parents"));
            }
            body.placement.check(&name).map_err(|invalid| invalid.at(path("placement")))?;
            body.inertial.check_numbers().map_err(|invalid| {
                let what = format!("{name}: {}", invalid.what);
                Invalid::new(path("inertial"), what, invalid.fix)
            })?;
        }
        Ok(())
    }

    fn check_joints(&self) -> Result<(), Invalid> {
        unique("joints", "joint", self.joints.iter().map(|joint| joint.name.as_str()))?;
        for (at, joint) in self.joints.iter().enumerate() {
            joint.check(self.bodies.len()).map_err(|invalid| {
                let path = format!("joints[{at}].{}", invalid.path);
                let what = format!("{}: {}", words::quoted(&joint.name), invalid.what);
                Invalid::new(path, what, invalid.fix)
            })?;
        }
        Ok(())
    }

    /// Follows each joint to the one that it follows, until one that was looked at before.
    fn check_mimics(&self) -> Result<(), Invalid> {
        // For each joint, from which one it was reached.
        let mut reached: Vec<Option<usize>> = vec![None; self.joints.len()];
        for (start, joint) in self.joints.iter().enumerate() {
            let invalid = |what: &str, fix: &str| {
                let what = format!("{} {what}", words::quoted(&joint.name));
                Err(Invalid::new(format!("joints[{start}].mimic"), what, fix))
            };
            let mut at = start;
            while reached[at].is_none() {
                reached[at] = Some(start);
                let Some(mimic) = self.joints[at].mimic else { break };
                at = mimic.joint;
                if at >= self.joints.len() {
                    return invalid("follows a joint that is not there", "name a joint of this robot");
                }
                if reached[at] == Some(start) {
                    return invalid("follows itself", "let it follow a joint that follows no other");
                }
            }
        }
        Ok(())
    }

    /// What hangs on each joint must resist it: a joint that moves no mass has no finite acceleration.
    fn check_masses(&self) -> Result<(), Invalid> {
        let subtrees = self.subtrees();
        for (at, joint) in self.joints.iter().enumerate() {
            if joint.armature > 0.0 || joint.mimic.is_some() {
                continue;
            }
            let subtree = &subtrees[joint.body];
            let about = inertial::full(subtree.about(joint.anchor));
            let trace = about[0][0] + about[1][1] + about[2][2];
            let along: f64 =
                (0..3).flat_map(|i| (0..3).map(move |j| joint.axis[i] * about[i][j] * joint.axis[j])).sum();
            let turned = Inertial { inertia: inertial::six(&about), ..*subtree }.principal_moments();
            let solid = turned.iter().all(|&moment| moment > NO_INERTIA * trace);
            let moves = match joint.kind {
                JointKind::Slide => subtree.mass > 0.0,
                JointKind::Hinge => along > NO_INERTIA * trace,
                JointKind::Ball => solid,
                JointKind::Free => subtree.mass > 0.0 && subtree.principal_moments().iter().all(|&m| m > 0.0),
            };
            if !moves {
                let (body, name) = (words::quoted(&self.bodies[joint.body].name), words::quoted(&joint.name));
                let lacks = if subtree.mass > 0.0 { "no rotational inertia" } else { "no mass" };
                return Err(Invalid::new(
                    format!("joints[{at}].body"),
                    format!("{name} moves {body}, which has {lacks}, and neither has what hangs from it"),
                    format!("give {body} mass and inertia, or fix it to its parent"),
                ));
            }
        }
        Ok(())
    }

    fn check_motors(&self) -> Result<(), Invalid> {
        unique("motors", "motor", self.motors.iter().map(|motor| motor.name.as_str()))?;
        for (at, motor) in self.motors.iter().enumerate() {
            for (field, range) in [("control_range", motor.control_range), ("force_range", motor.force_range)]
            {
                ordered(range).map_err(|(what, fix)| {
                    let what = format!("{}: {what}", words::quoted(&motor.name));
                    Invalid::new(format!("motors[{at}].{field}"), what, fix)
                })?;
            }
        }
        Ok(())
    }

    /// For each body, its mass and that of all that hangs from it, in its frame, with all joints at their references.
    pub(crate) fn subtrees(&self) -> Vec<Inertial> {
        let mut sums: Vec<Inertial> = self.bodies.iter().map(|body| body.inertial).collect();
        for (at, body) in self.bodies.iter().enumerate().rev() {
            if let Some(parent) = body.parent {
                sums[parent] = sums[parent].plus(&sums[at].moved(&body.placement));
            }
        }
        sums
    }
}

impl Joint {
    /// Errors have the field of the joint.
    fn check(&self, bodies: usize) -> Result<(), Invalid> {
        if self.body >= bodies {
            return Err(Invalid::new(
                "body",
                "it moves a body that is not there",
                "name a body of this robot",
            ));
        }
        if let JointKind::Hinge | JointKind::Slide = self.kind {
            let length = self.axis.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (length - 1.0).abs() > UNIT || length.is_nan() {
                return Err(Invalid::new("axis", "the axis is no unit vector", "divide it by its length"));
            }
        }
        let numbers = [
            ("armature", self.armature),
            ("damping", self.damping),
            ("friction", self.friction),
            ("stiffness", self.stiffness),
            ("limit.stiffness", self.limit.stiffness),
            ("limit.damping", self.limit.damping),
            ("effort", self.effort.unwrap_or(0.0)),
            ("speed", self.speed.unwrap_or(0.0)),
        ];
        for (field, number) in numbers {
            if !number.is_finite() || number < 0.0 {
                let what = format!("{field} is {number}");
                return Err(Invalid::new(field, what, "write a number that is not negative"));
            }
        }
        let (multiplier, offset) = self.mimic.map_or((0.0, 0.0), |mimic| (mimic.multiplier, mimic.offset));
        let others = [self.reference, self.spring_reference, multiplier, offset];
        if !self.anchor.iter().chain(&others).all(|x| x.is_finite()) {
            return Err(Invalid::new(
                "anchor",
                "a number of the joint is not finite",
                "write finite numbers",
            ));
        }
        ordered(self.range).map_err(|(what, fix)| Invalid::new("range", what, fix))
    }
}

fn ordered(range: Option<[f64; 2]>) -> Result<(), (String, &'static str)> {
    match range {
        Some([least, greatest]) if least.is_nan() || greatest.is_nan() || least > greatest => {
            Err((format!("the range goes from {least} to {greatest}"), "write the smaller number first"))
        }
        Some(_) | None => Ok(()),
    }
}

impl Placement {
    /// Whether it is finite, with a unit quaternion; `name` is what has it.
    pub(crate) fn check(&self, name: &str) -> Result<(), Invalid> {
        let length = self.orientation.iter().map(|x| x * x).sum::<f64>().sqrt();
        let finite = self.position.iter().all(|x| x.is_finite());
        if !finite || length.is_nan() || (length - 1.0).abs() > UNIT {
            return Err(Invalid::new(
                "",
                format!("the frame of {name} is not finite, or its orientation no unit quaternion"),
                "write finite numbers, and divide the quaternion by its length",
            ));
        }
        Ok(())
    }
}

/// Names are there, and no two are equal.
fn unique<'n>(list: &str, one: &str, names: impl Iterator<Item = &'n str>) -> Result<(), Invalid> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (at, name) in names.enumerate() {
        let path = format!("{list}[{at}].name");
        if name.is_empty() {
            return Err(Invalid::new(path, format!("a {one} has no name"), "give it a name"));
        }
        if let Some(before) = seen.insert(name, at) {
            let what = format!("{list} {before} and {at} are both called {}", words::quoted(name));
            return Err(Invalid::new(path, what, "give each a name of its own"));
        }
    }
    Ok(())
}
