//! The energy of a robot: of its bodies, its rotors, its springs, and of gravity.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;
use pullback_scene::robot::JointKind;

use super::bodies::{Bodies, Moving};
use super::centroid::Whole;
use super::joint_forces::{angle, limit_energy};
use super::model::key;
use super::tree::WORLD;
use super::{Robot, Slots};
use crate::error::Error;
use crate::names::Layout;

/// The sums over a robot's bodies, in a program; the rest follows from numbers.
pub(crate) struct RobotEnergy {
    robot: Robot,
    pub whole: Buffer<Whole>,
    /// Where its bodies are.
    pub moving: Moving,
    /// Where its positions and velocities start in a state.
    positions: usize,
    velocities: usize,
}

impl RobotEnergy {
    /// Adds the sums to a program.
    pub fn add(
        p: &mut Builder,
        robot: &Robot,
        params: &Slots<'_>,
        (q, v): (Buffer<f64>, Buffer<f64>),
        (positions, velocities): (usize, usize),
    ) -> Result<RobotEnergy, Error> {
        let (prepared, masses) = robot.prepare(p, params)?;
        let name = robot.name();
        let frames = (prepared.placements, prepared.bodies);
        let moving = Bodies::add(p, &format!("{name} body"), &robot.tree, (q, v), frames, |_| true);
        let moves: Vec<f64> =
            robot.tree.node_of_body.iter().map(|n| if *n == WORLD { 0.0 } else { 1.0 }).collect();
        let whole = Whole::add(p, &format!("{name} whole"), moving, &masses, &moves);
        Ok(RobotEnergy { robot: robot.clone(), whole, moving, positions, velocities })
    }

    /// Does nothing take energy out of it or put some in?
    pub fn is_conserved(&self, layout: &Layout, params: &[f64]) -> bool {
        let d = self.robot.description();
        let none = |field: &str| self.param(layout, params, field).iter().all(|x| *x == 0.0);
        d.motors.is_empty()
            && d.pushed.is_empty()
            && ["damping", "friction", "limit damping", "tendon damping"].into_iter().all(none)
    }

    fn param<'a>(&self, layout: &Layout, params: &'a [f64], field: &str) -> &'a [f64] {
        let key = key(self.robot.description(), field);
        let range = layout.ranges().find(|(block, _)| block.key == key).map(|(_, range)| range);
        &params[range.unwrap_or(0..0)]
    }

    /// Kinetic and potential energy [J].
    pub fn of(&self, whole: &Whole, state: &[f64], params: &[f64], layout: &Layout) -> (f64, f64) {
        let (tree, d) = (&self.robot.tree, self.robot.description());
        let param = |field: &str| self.param(layout, params, field);
        let q = &state[self.positions..self.positions + tree.positions()];
        let v = &state[self.velocities..self.velocities + tree.velocities()];
        let (mut kinetic, mut potential) = (whole.kinetic, 0.0);
        let armature = param("armature");
        for node in &tree.nodes {
            let first = node.dof as usize;
            for dof in &tree.dofs[first..first + node.kind.velocities()] {
                let rate = dof.scale * v[dof.v as usize];
                kinetic += 0.5 * armature[node.joint as usize] * rate * rate;
            }
        }
        let gravity = layout.find("gravity").map_or(&params[..0], |range| &params[range]);
        let c = [whole.moment.x, whole.moment.y, whole.moment.z];
        potential -= gravity.iter().zip(c).map(|(g, c)| g * c).sum::<f64>();
        // Positions of hinges and slides, what follows others included; the angle of a ball joint.
        let position = |j: usize| {
            let node = &tree.nodes[tree.node_of_joint[j] as usize];
            match node.kind {
                JointKind::Hinge | JointKind::Slide => {
                    node.scale * q[node.q as usize] + node.shift + d.joints[j].reference
                }
                JointKind::Ball | JointKind::Free => {
                    let turn = node.turn as usize;
                    angle([q[turn], q[turn + 1], q[turn + 2], q[turn + 3]])
                }
            }
        };
        let is_ball = |j: usize| d.joints[j].kind == JointKind::Ball;
        let (stiffness, rest) = (param("stiffness"), param("spring reference"));
        for (k, (j, _)) in self.robot.sprung().into_iter().enumerate().take(stiffness.len()) {
            let rest = if is_ball(j) { 0.0 } else { rest[k] };
            potential += 0.5 * stiffness[k] * (position(j) - rest).powi(2);
        }
        let [lower, upper, stiffness] = ["lower", "upper", "limit stiffness"].map(param);
        for (k, (j, _)) in self.robot.limited().into_iter().enumerate() {
            if self.robot.hard.limits && !is_ball(j) {
                continue;
            }
            let (depth, range) = match is_ball(j) {
                true => (position(j) - upper[k], upper[k]),
                false => ((lower[k] - position(j)).max(position(j) - upper[k]), upper[k] - lower[k]),
            };
            potential += stiffness[k] * limit_energy(depth, range);
        }
        for (tendon, stiffness) in d.tendons.iter().zip(param("tendon stiffness")) {
            let length: f64 = tendon.joints.iter().map(|(j, c)| c * position(*j)).sum();
            let stretch = length - length.clamp(tendon.spring_range[0], tendon.spring_range[1]);
            potential += 0.5 * stiffness * stretch * stretch;
        }
        (kinetic, potential)
    }
}
