//! Penalty contact: surfaces that are in each other push like springs and dampers, and slide against friction.
//!
//! With depth d = -gap, the velocity v of the second shape seen from the first and the normal n, the second shape feels
//!
//! - f = max(0, ke d - kd n·v) along n: it never pulls, and there is nothing above the surface,
//! - -min(μ f, kf |s|) s/|s| with s = v - (n·v) n: sticking like a damper up to Coulomb's limit.

use std::collections::{HashMap, HashSet};

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Operation, World};

use super::contacts::Contacts;
use super::place::At;
use super::touchable::{Given, Mixed, Pinned, Surface, Touchable};
use crate::articulated::bodies::Moving;
use crate::articulated::kinematics::zero;
use crate::articulated::push::Pushes;

/// The force on the second shape [N].
#[kernel]
fn penalty<R: Real>(gap: R, normal: Vec3<R>, velocity: Vec3<R>, ke: R, kd: R, kf: R, mu: R) -> Vec3<R> {
    let mut force = vec3(0.0, 0.0, 0.0);
    if gap < 0.0 {
        let along = dot(normal, velocity);
        let f = max(-(ke * gap) - kd * along, 0.0);
        let slide = velocity - normal * along;
        let speed = length(slide);
        let mut per_speed = kf;
        // Without a load or without friction nothing sticks, also at rest.
        if mu * f <= 0.0 {
            per_speed = 0.0;
        }
        // At rest it sticks: |s| = 0 is no point where the derivative is missing.
        if mu * f < kf * speed {
            per_speed = mu * f / speed;
        }
        force = normal * f - slide * per_speed;
    }
    force
}

/// (force, torque at x) of a force at a point
#[kernel]
fn at_origin<R: Real>(force: Vec3<R>, point: Vec3<R>, x: Vec3<R>) -> (Vec3<R>, Vec3<R>) {
    (force, cross(point - x, force))
}

/// What contacts do to the bodies of one robot, besides what pushes them already.
struct Pushed {
    bodies: Moving,
    /// What pushes them already, and at which places.
    before: Option<(Pushes, Vec<usize>)>,
    force: Buffer<Vec3>,
    torque: Buffer<Vec3>,
    len: usize,
}

/// A body that a shape is fixed to.
#[derive(Clone, Copy)]
struct On {
    /// Among those with bodies that are pushed.
    robot: usize,
    body: usize,
    /// Its place among the bodies of the robot that are pushed.
    place: usize,
}

/// Forces of all contacts, as pushes on bodies.
pub(crate) struct Penalty {
    contacts: Contacts,
    /// Of pairs: both sides, unless they stand still, and the surface.
    pairs: Vec<([Option<On>; 2], usize)>,
    surfaces: Vec<Surface<At>>,
    robots: Vec<Pushed>,
}

/// By which sign the force on the second shape acts on the shapes.
const SIGNS: [f64; 2] = [-1.0, 1.0];

impl Penalty {
    /// Adds it to a program; for each robot, what pushes its bodies now. `robots` says of each body whose node it moves with,
    /// and what pushes it already.
    pub fn add(
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        (model, given, contacts): (&Touchable, Given, Contacts),
        in_node: &[Buffer<Pose>],
        robots: Vec<(Vec<Option<usize>>, Option<Pushes>)>,
    ) -> Vec<Option<Pushes>> {
        let body = |shape: usize| match model.shapes[shape].on {
            Pinned::World | Pinned::Ground(_) => None,
            Pinned::Body(robot, body) => Some((robot, body)),
        };
        let touched: HashSet<(usize, usize)> =
            model.pairs.iter().flat_map(|near| near.shapes).filter_map(body).collect();
        let mut places = HashMap::new();
        let (mut pushed, mut out) = (Vec::new(), Vec::new());
        for (r, (nodes, before)) in robots.into_iter().enumerate() {
            let known: HashSet<usize> =
                before.iter().flat_map(|before| &before.on).map(|(b, _)| *b).collect();
            let moves = |(b, node): (usize, &Option<usize>)| {
                node.filter(|_| touched.contains(&(r, b)) || known.contains(&b)).map(|node| (b, node))
            };
            let on: Vec<(usize, usize)> = nodes.iter().enumerate().filter_map(moves).collect();
            if on.is_empty() {
                out.push(None);
                continue;
            }
            for (place, &(body, _)) in on.iter().enumerate() {
                places.insert((r, body), On { robot: pushed.len(), body, place });
            }
            let force = p.computed(&name(&format!("push on robot {r}")), on.len());
            let torque = p.computed(&name(&format!("push torque on robot {r}")), on.len());
            let before = before.map(|before| {
                let at = before.on.iter().map(|(b, _)| places[&(r, *b)].place).collect();
                (before, at)
            });
            pushed.push(Pushed { bodies: given.bodies[r], before, force, torque, len: on.len() });
            out.push(Some(Pushes { on, force, torque, in_node: in_node[r] }));
        }
        let side = |shape: usize| body(shape).and_then(|at| places.get(&at).copied());
        let pairs = model.pairs.iter().map(|near| (near.shapes.map(side), near.surface)).collect();
        p.operation(Penalty { contacts, pairs, surfaces: given.surfaces, robots: pushed });
        out
    }

    /// Stiffness, damping and friction slope of a pair.
    #[inline(always)]
    fn springs<L: Lane>(&self, world: &World<'_, L>, pair: usize) -> [L; 3] {
        let [ke, kd, kf] = &self.surfaces[self.pairs[pair].1].springs;
        [ke.mean(world), kd.mean(world), kf.mean(world)]
    }
}

impl Operation for Penalty {
    fn name(&self) -> String {
        "penalty contact".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let mut reads = self.contacts.uses();
        for robot in &self.robots {
            reads.push(robot.bodies.poses.into());
            if let Some((before, _)) = &robot.before {
                reads.extend([BufferUse::from(before.force), before.torque.into()]);
            }
        }
        let springs = self.surfaces.iter().flat_map(|surface| &surface.springs).flat_map(Mixed::parts);
        super::once(reads.into_iter().chain(springs.filter_map(At::reads)))
    }
    fn writes(&self) -> Vec<BufferUse> {
        self.robots.iter().flat_map(|robot| [BufferUse::from(robot.force), robot.torque.into()]).collect()
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        for robot in &self.robots {
            let (forces, torques) = (world.values(robot.force), world.values(robot.torque));
            for i in 0..robot.len {
                forces.set(i, zero());
                torques.set(i, zero());
            }
            let Some((before, places)) = &robot.before else { continue };
            for (k, &i) in places.iter().enumerate() {
                forces.set(i, world.values(before.force).get(k));
                torques.set(i, world.values(before.torque).get(k));
            }
        }
        let (pairs, at) = (self.contacts.pairs(world), self.contacts.values(world));
        for c in 0..pairs.count {
            let pair = pairs.pair(c);
            let [ke, kd, kf] = self.springs(world, pair);
            let on_second =
                penalty(at.gap.get(c), at.normal.get(c), at.velocity.get(c), ke, kd, kf, at.mu.get(c));
            for (side, sign) in self.pairs[pair].0.iter().zip(SIGNS) {
                let Some(On { robot, body, place }) = *side else { continue };
                let robot = &self.robots[robot];
                let x = world.values(robot.bodies.poses).get(body).position;
                let (force, torque) = at_origin(on_second * L::from_f64(sign), at.point.get(c), x);
                world.values(robot.force).add(place, force);
                world.values(robot.torque).add(place, torque);
            }
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        for robot in &self.robots {
            let Some((before, places)) = &robot.before else { continue };
            for (k, &i) in places.iter().enumerate() {
                world.bars(before.force).add(k, world.bars(robot.force).get(i));
                world.bars(before.torque).add(k, world.bars(robot.torque).get(i));
            }
        }
        let pairs = self.contacts.pairs(world);
        let (at, bars) = (self.contacts.values(world), self.contacts.bars(world));
        for c in 0..pairs.count {
            let pair = pairs.pair(c);
            let [ke, kd, kf] = self.springs(world, pair);
            let (gap, normal, velocity, mu) =
                (at.gap.get(c), at.normal.get(c), at.velocity.get(c), at.mu.get(c));
            let on_second = penalty(gap, normal, velocity, ke, kd, kf, mu);
            let mut on_second_bar: Vec3<L> = zero();
            for (side, sign) in self.pairs[pair].0.iter().zip(SIGNS) {
                let Some(On { robot, body, place }) = *side else { continue };
                let (robot, sign) = (&self.robots[robot], L::from_f64(sign));
                let x = world.values(robot.bodies.poses).get(body).position;
                let bar = (world.bars(robot.force).get(place), world.bars(robot.torque).get(place));
                let (force_bar, point_bar, x_bar) =
                    at_origin::pullback(on_second * sign, at.point.get(c), x, bar);
                on_second_bar = on_second_bar + force_bar * sign;
                bars.point.add(c, point_bar);
                let mut pose_bar: Pose<L> = zero();
                pose_bar.position = x_bar;
                world.bars(robot.bodies.poses).add(body, pose_bar);
            }
            let (gap_bar, normal_bar, velocity_bar, ke_bar, kd_bar, kf_bar, mu_bar) =
                penalty::pullback(gap, normal, velocity, ke, kd, kf, mu, on_second_bar);
            bars.gap.add(c, gap_bar);
            bars.normal.add(c, normal_bar);
            bars.velocity.add(c, velocity_bar);
            bars.mu.add(c, mu_bar);
            let springs = &self.surfaces[self.pairs[pair].1].springs;
            for (spring, bar) in springs.iter().zip([ke_bar, kd_bar, kf_bar]) {
                spring.pull_mean(world, bar);
            }
        }
    }
}
