//! What holds particles, where bodies are known: how they are led, pulled and felt.

use std::sync::Arc;

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;

use super::kernels::{
    felt, held_place, held_velocity, on_body, passed_on, pull, pull_energy, same_motion, same_pose,
    torque_on_body,
};
use super::{ANCHOR, Attached, DAMPING, Hold, Holds, STIFFNESS, Tables};
use crate::articulated::bodies::{Bodies, Moving};
use crate::articulated::push::Pushes;
use crate::contact::Part;
use crate::dynamics::plus;
use crate::error::Error;
use crate::force::Inputs;
use crate::model::Model;
use crate::moved::instead;
use crate::step::Bundle;

/// What particles are attached to, at one evaluation.
pub(crate) struct Holding {
    attached: Arc<Attached>,
    /// Where the bodies are of each robot that holds some.
    bodies: Vec<Moving>,
    /// Of each robot: the frames of its bodies, in those of their nodes.
    in_node: Vec<Buffer<Pose>>,
    anchor: Buffer<Vec3>,
    /// Stiffness and damping of springs, if there are some.
    springs: Option<[Buffer<f64>; 2]>,
}

/// Makes names that nothing else in a program has.
type Name<'a> = &'a dyn Fn(&str) -> String;

impl Holding {
    /// At positions and velocities.
    pub fn new(
        p: &mut Builder,
        name: Name<'_>,
        inputs: &Inputs,
        (model, attached): (&Model, &Arc<Attached>),
        [x, v]: [&Bundle; 2],
    ) -> Result<Holding, Error> {
        let mut body = |holds: &Holds| {
            let Some(r) = holds.robot else { return world(p, name) };
            let mut seen = vec![false; holds.nodes.len()];
            holds.springs.iter().chain(&holds.fast).for_each(|hold| seen[hold.body] = true);
            let (name, tree) = (name(&format!("robot {r}, which holds particles,")), &model.robots()[r].tree);
            let frames = (inputs.robots[r].placements, inputs.robots[r].bodies);
            Bodies::add(p, &name, tree, (x.robots[r], v.robots[r]), frames, |body| seen[body])
        };
        let bodies = attached.of.iter().map(&mut body).collect();
        Holding::of(inputs, attached, bodies)
    }

    /// Among robots whose bodies are where they are known to be.
    pub fn among(
        p: &mut Builder,
        inputs: &Inputs,
        attached: &Arc<Attached>,
        robots: &[Moving],
    ) -> Result<Holding, Error> {
        let mut body = |holds: &Holds| match holds.robot {
            Some(robot) => robots[robot],
            None => world(p, &str::to_owned),
        };
        let bodies = attached.of.iter().map(&mut body).collect();
        Holding::of(inputs, attached, bodies)
    }

    fn of(inputs: &Inputs, attached: &Arc<Attached>, bodies: Vec<Moving>) -> Result<Holding, Error> {
        let springs = match attached.springs {
            0 => None,
            _ => Some([inputs.param(STIFFNESS)?, inputs.param(DAMPING)?]),
        };
        let anchor = inputs.param(ANCHOR)?;
        let in_node = inputs.robots.iter().map(|robot| robot.bodies).collect();
        Ok(Holding { attached: attached.clone(), bodies, in_node, anchor, springs })
    }

    /// Robots with particles that are held so, by number.
    fn each(&self, how: fn(&Holds) -> &Vec<Hold>) -> impl Iterator<Item = (usize, &Holds, Moving)> {
        let all = self.attached.of.iter().zip(&self.bodies).enumerate();
        let some = all.filter(move |(_, (holds, _))| !how(holds).is_empty());
        some.map(|(i, (holds, moving))| (i, holds, *moving))
    }

    /// Do bodies that move hold some fast?
    pub fn is_felt(&self) -> bool {
        let felt = |holds: &Holds| holds.fast.iter().any(|hold| holds.nodes[hold.body].is_some());
        self.attached.of.iter().any(felt)
    }

    /// Positions and velocities of particles, those that are held fast where they are held.
    pub fn lead(
        &self,
        p: &mut Builder,
        name: Name<'_>,
        [mut x, mut v]: [Buffer<Vec3>; 2],
    ) -> [Buffer<Vec3>; 2] {
        for (i, holds, moving) in self.each(|holds| &holds.fast) {
            let name = |what: &str| name(&format!("{what} that are held fast, {i},"));
            let Tables { particles, bodies, anchors, parts, .. } =
                self.attached.tables(p, &name("points"), &holds.fast, holds.nodes.len());
            let (body, motion) = (moving.poses.at(bodies), moving.motions.at(bodies));
            let anchor = self.anchor.at(anchors);
            let ports = (body, parts.own(), anchor);
            let place = p.elements::<Once<held_place>, Vec3, 1>(&name("places"), particles, ports);
            let ports = (body, motion, parts.own(), anchor);
            let rate = p.elements::<Once<held_velocity>, Vec3, 1>(&name("velocities"), particles, ports);
            let led: Vec<usize> = holds.fast.iter().map(|hold| hold.particle).collect();
            [x, v] = instead(p, &name, [x, v], [place, rate], (&led, self.attached.particles));
        }
        [x, v]
    }

    /// The forces of springs on particles [N], if there are some; bodies feel the opposite.
    pub fn pull(
        &self,
        p: &mut Builder,
        name: Name<'_>,
        [x, v]: [Buffer<Vec3>; 2],
        parts: &mut [Part],
    ) -> Option<Buffer<Vec3>> {
        let [k, c] = self.springs?;
        let mut total: Option<Buffer<Vec3>> = None;
        for (i, holds, moving) in self.each(|holds| &holds.springs) {
            let name = |what: &str| name(&format!("{what} of attachments {i}"));
            let Tables { particles, bodies, anchors, springs, parts: frames } =
                self.attached.tables(p, &name("points"), &holds.springs, holds.nodes.len());
            let (body, motion) = (moving.poses.at(bodies), moving.motions.at(bodies));
            let (x_at, v_at, anchor) = (x.at(particles), v.at(particles), self.anchor.at(anchors));
            let ports = (x_at, v_at, body, motion, frames.own(), anchor, k.at(springs), c.at(springs));
            let names = format!("{}, {}", name("pulls"), name("counterpulls"));
            let (pulls, counterpulls) = p.map::<Once<pull>>(&names, ports);
            let forces = p.elements::<Once<felt>, Vec3, 1>(&name("forces"), particles, (pulls.own(),));
            total = Some(match total {
                None => forces,
                Some(others) => p.map::<plus>(&name("sum"), (others.own(), forces.own())),
            });
            self.push(p, &name, (holds, &holds.springs, moving), (counterpulls, x), parts);
        }
        total
    }

    /// The energy of springs [J].
    pub fn energy(&self, p: &mut Builder, x: Buffer<Vec3>) -> Vec<Buffer<f64>> {
        let Some([k, _]) = self.springs else { return Vec::new() };
        let of = |(i, holds, moving): (usize, &Holds, Moving)| {
            let name = |what: &str| format!("{what} of attachments {i}");
            let Tables { particles, bodies, anchors, springs, parts } =
                self.attached.tables(p, &name("points"), &holds.springs, holds.nodes.len());
            let (body, anchor) = (moving.poses.at(bodies), self.anchor.at(anchors));
            let ports = (x.at(particles), body, parts.own(), anchor, k.at(springs));
            p.reduce::<Once<pull_energy>>(&name("energy"), ports)
        };
        self.each(|holds| &holds.springs).map(of).collect()
    }

    /// Lets bodies feel forces `by` something on particles that they hold fast, at positions `x`. Weights are no such forces: these
    /// particles' masses are among the body's.
    pub fn pass_on(
        &self,
        p: &mut Builder,
        name: Name<'_>,
        (force, by): (Buffer<Vec3>, &str),
        x: Buffer<Vec3>,
        parts: &mut [Part],
    ) {
        for (i, holds, moving) in self.each(|holds| &holds.fast) {
            let name = |what: &str| name(&format!("{what} by {by} on what is held fast, {i},"));
            let particles: Vec<[usize; 1]> = holds.fast.iter().map(|hold| [hold.particle]).collect();
            let particles = p.corners(&name("points"), &particles, self.attached.particles);
            let passed = p.map::<Once<passed_on>>(&name("pushes"), (force.at(particles),));
            self.push(p, &name, (holds, &holds.fast, moving), (passed, x), parts);
        }
    }

    /// Pushes bodies by a force for each particle that they hold, where the particle is.
    fn push(
        &self,
        p: &mut Builder,
        name: Name<'_>,
        (holds, list, moving): (&Holds, &[Hold], Moving),
        (force, x): (Buffer<Vec3>, Buffer<Vec3>),
        parts: &mut [Part],
    ) {
        let Some(robot) = holds.robot else { return };
        let felt = || list.iter().enumerate().filter(|(_, hold)| holds.nodes[hold.body].is_some());
        let mut on: Vec<(usize, usize)> =
            felt().filter_map(|(_, hold)| Some((hold.body, holds.nodes[hold.body]?))).collect();
        on.sort_unstable();
        on.dedup();
        if on.is_empty() {
            return;
        }
        let mut corners = |what: &str, of: &dyn Fn(usize, &Hold) -> usize, count: usize| {
            let table: Vec<[usize; 1]> = felt().map(|(i, hold)| [of(i, hold)]).collect();
            p.corners(&name(what), &table, count)
        };
        let place = |_: usize, hold: &Hold| on.partition_point(|(body, _)| *body < hold.body);
        let places = corners("pushed bodies", &place, on.len());
        let force = force.at(corners("pushing points", &|i, _| i, list.len()));
        let particles = corners("pushing particles", &|_, hold| hold.particle, self.attached.particles);
        let bodies = corners("bodies that are pushed", &|_, hold| hold.body, holds.nodes.len());
        let total = p.elements::<Once<on_body>, Vec3, 1>(&name("push"), places, (force,));
        let ports = (force, x.at(particles), moving.poses.at(bodies));
        let torque = p.elements::<Once<torque_on_body>, Vec3, 1>(&name("push torque"), places, ports);
        let more = Pushes { on, force: total, torque, in_node: self.in_node[robot] };
        let part = &mut parts[robot];
        part.pushes = Some(match part.pushes.take() {
            Some(before) => before.with(p, name, more),
            None => more,
        });
    }
}

/// The world as a body that stands still.
fn world(p: &mut Builder, name: Name<'_>) -> Moving {
    let pose = p.constant::<Pose>(&name("frame of the world"), &[identity_pose()]);
    let motion = p.constant::<Motion>(&name("rest"), &[Motion::default()]);
    Moving {
        poses: p.map::<Once<same_pose>>(&name("pose of the world"), (pose.own(),)),
        motions: p.map::<Once<same_motion>>(&name("motion of the world"), (motion.own(),)),
    }
}
