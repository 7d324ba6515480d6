//! A robot in a model: its names, and the buffers behind them.

use std::sync::Arc;

use pullback_scene::robot::{self, JointKind};

use super::held::HardJoints;
use super::log_cholesky::{LogCholesky, is_nothing};
use super::manifold::Manifold;
use super::tree::Tree;
use crate::error::Error;
use crate::names::{Block, Group, Quantity, Space};

/// A robot of a model.
#[derive(Clone, Debug)]
pub struct Robot {
    pub(crate) description: Arc<robot::Robot>,
    pub(crate) tree: Arc<Tree>,
    pub(crate) manifold: Arc<Manifold>,
    pub(crate) hard: HardJoints,
}

/// What a robot's params are called in programs: apart from whatever else has its name.
pub(super) fn key(robot: &robot::Robot, field: &str) -> String {
    format!("robot {}.{field}", robot.name)
}

impl Robot {
    /// From its description.
    pub fn new(description: &robot::Robot) -> Result<Robot, Error> {
        description.check()?;
        let tree = Arc::new(Tree::new(description)?);
        if description.consistent {
            let heavy = description.bodies.iter().filter(|body| !is_nothing(&body.inertial));
            for body in heavy {
                LogCholesky::of(&body.inertial).ok_or_else(|| Error::Inconsistent {
                    robot: description.name.clone(),
                    body: body.name.clone(),
                })?;
            }
        }
        let manifold = Arc::new(Manifold::new(&tree));
        let hard = HardJoints::default();
        Ok(Robot { description: Arc::new(description.clone()), tree, manifold, hard })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// What was described.
    pub fn description(&self) -> &robot::Robot {
        &self.description
    }

    /// Which joint hangs from which, and where their numbers lie.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Names of things of this robot. Loose bodies have their whole names already.
    fn groups<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<Group> {
        let d = &self.description;
        if d.loose {
            let count = names.count();
            let numbered = d.bodies.first().is_some_and(|body| body.name != d.name);
            return vec![Group { name: d.name.clone(), count: numbered.then_some(count) }];
        }
        names.map(|name| Group::one(&format!("{}.{name}", d.name))).collect()
    }

    pub(super) fn block(
        &self,
        key_field: &str,
        field: &str,
        names: Vec<&str>,
        values: Vec<f64>,
        quantity: Quantity,
    ) -> Option<Block> {
        if names.is_empty() {
            return None;
        }
        let numbers = values.len() / names.len();
        let groups = self.groups(names.into_iter());
        let key = key(&self.description, key_field);
        Some(Block { key, field: field.to_owned(), groups, numbers, quantity, values })
    }

    pub(super) fn joints(&self, kinds: &[JointKind]) -> Vec<(usize, &robot::Joint)> {
        self.description.joints.iter().enumerate().filter(|(_, j)| kinds.contains(&j.kind)).collect()
    }

    /// The positions or velocities of joints of some kinds, from the state that the robot starts from.
    fn state_block(
        &self,
        kinds: &[JointKind],
        (key, field): (&str, &str),
        start: &[f64],
        (of, numbers): (fn(&super::JointPlace) -> usize, usize),
        quantity: Quantity,
    ) -> Option<Block> {
        let mut joints = self.joints(kinds);
        joints.retain(|(_, joint)| joint.mimic.is_none());
        let place = |j: usize| of(&self.tree.places()[j]);
        let values = joints.iter().flat_map(|(j, _)| start[place(*j)..place(*j) + numbers].to_vec());
        let names = joints.iter().map(|(_, joint)| joint.name.as_str()).collect();
        self.block(key, field, names, values.collect(), quantity)
    }

    /// Names of its positions, in the order of [`Tree`].
    pub(crate) fn positions(&self) -> Vec<Block> {
        use JointKind::{Ball, Free, Hinge, Slide};
        let start = self.start_positions();
        let place = Quantity::new("m", "where the body is");
        let turn = |doc: &str| Quantity { space: Space::Rotation, ..Quantity::new("1", doc) };
        let joint = Quantity::new("rad or m", "how far the joint has turned or moved");
        [
            self.state_block(&[Free], ("free position", "position"), &start, (|p| p.position, 3), place),
            self.state_block(
                &[Free],
                ("free orientation", "orientation"),
                &start,
                (|p| p.orientation, 4),
                turn("how the body is turned: a unit quaternion (w, x, y, z)"),
            ),
            self.state_block(
                &[Ball],
                ("ball orientation", "orientation"),
                &start,
                (|p| p.orientation, 4),
                turn("how the joint is turned: a unit quaternion (w, x, y, z)"),
            ),
            self.state_block(&[Hinge, Slide], ("position", "position"), &start, (|p| p.position, 1), joint),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Names of its velocities, in the order of [`Tree`].
    pub(crate) fn velocities(&self) -> Vec<Block> {
        use JointKind::{Ball, Free, Hinge, Slide};
        let start = self.start_velocities();
        let linear = Quantity::new(
            "m/s",
            "velocity of the body's origin, in the axes of what it hangs from: of the world, for most",
        );
        let angular = |doc: &str| Quantity::new("rad/s", doc);
        let rate = Quantity::new("rad/s or m/s", "how fast the joint turns or moves");
        let spin = ("free angular velocity", "angular_velocity");
        let turn = ("ball angular velocity", "angular_velocity");
        [
            self.state_block(&[Free], ("free velocity", "velocity"), &start, (|p| p.velocity, 3), linear),
            self.state_block(
                &[Free],
                spin,
                &start,
                (|p| p.angular_velocity, 3),
                angular("angular velocity of the body, in its own axes"),
            ),
            self.state_block(
                &[Ball],
                turn,
                &start,
                (|p| p.angular_velocity, 3),
                angular("angular velocity of the joint, in the axes of its body"),
            ),
            self.state_block(&[Hinge, Slide], ("velocity", "velocity"), &start, (|p| p.velocity, 1), rate),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Positions in the order of [`Tree`], from those of a keyframe, which are in the order of joints; empty: as bodies are
    /// placed.
    pub fn positions_of(&self, keyframe: &[f64]) -> Vec<f64> {
        let d = &self.description;
        let mut q = vec![0.0; self.tree.positions()];
        let mut at = 0;
        for (joint, place) in d.joints.iter().zip(self.tree.places()) {
            let given = keyframe.get(at..at + joint.kind.positions());
            at += joint.kind.positions();
            if joint.mimic.is_some() {
                continue;
            }
            match joint.kind {
                JointKind::Hinge | JointKind::Slide => {
                    q[place.position] = given.map_or(joint.reference, |g| g[0]);
                }
                JointKind::Ball => {
                    let turn = given.unwrap_or(&[1.0, 0.0, 0.0, 0.0]);
                    q[place.orientation..place.orientation + 4].copy_from_slice(turn);
                }
                JointKind::Free => {
                    let robot::Placement { position, orientation } = d.bodies[joint.body].placement;
                    let (p, r) = given.map_or((&position[..], &orientation[..]), |g| g.split_at(3));
                    q[place.position..place.position + 3].copy_from_slice(p);
                    q[place.orientation..place.orientation + 4].copy_from_slice(r);
                }
            }
        }
        q
    }

    /// Velocities in the order of [`Tree`], from those of a keyframe; empty: zero.
    pub fn velocities_of(&self, keyframe: &[f64]) -> Vec<f64> {
        let mut v = vec![0.0; self.tree.velocities()];
        let mut at = 0;
        for (joint, place) in self.description.joints.iter().zip(self.tree.places()) {
            let n = joint.kind.velocities();
            let given = keyframe.get(at..at + n);
            at += n;
            let Some(given) = given.filter(|_| joint.mimic.is_none()) else { continue };
            let linear = n.min(3);
            v[place.velocity..place.velocity + linear].copy_from_slice(&given[..linear]);
            if n == 6 {
                v[place.angular_velocity..place.angular_velocity + 3].copy_from_slice(&given[3..]);
            }
        }
        v
    }

    fn start_positions(&self) -> Vec<f64> {
        self.positions_of(&self.description.start.positions)
    }

    fn start_velocities(&self) -> Vec<f64> {
        self.velocities_of(&self.description.start.velocities)
    }

    /// Its controls.
    pub(crate) fn controls(&self) -> Vec<Block> {
        let d = &self.description;
        let names = d.motors.iter().map(|m| m.name.as_str()).collect();
        let start = |i: usize| d.start.controls.get(i).copied().unwrap_or(0.0);
        let values = (0..d.motors.len()).map(start).collect();
        let quantity = Quantity::new("-", "control of the motor");
        let pushed: Vec<&str> = d.pushed.iter().map(|b| d.bodies[*b].name.as_str()).collect();
        let still = vec![0.0; 3 * pushed.len()];
        let force = Quantity::new("N", "force on the body, at its origin, in world axes");
        let torque = Quantity::new("N·m", "torque on the body, in world axes");
        let blocks = [
            self.block("control", "control", names, values, quantity),
            self.block("push", "force", pushed.clone(), still.clone(), force),
            self.block("push torque", "torque", pushed, still, torque),
        ];
        blocks.into_iter().flatten().collect()
    }
}
