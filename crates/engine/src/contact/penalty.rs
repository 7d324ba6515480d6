//! Penalty contact: surfaces that are in each other push like springs and dampers, and slide against friction.
//!
//! With depth d = -gap, the velocity v of the second shape seen from the first and the normal n, the second shape feels
//!
//! - f = max(0, ke d - kd n·v) along n: it never pulls, and there is nothing above the surface,
//! - -min(μ f, kf |s|) s/|s| with s = v - (n·v) n: sticking like a damper up to Coulomb's limit.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Operation, World};

use super::place::{At, Place};
use super::touch::{Contacts, Mixed, Pinned, Touchable, mean};
use crate::articulated::bodies::Moving;
use crate::articulated::kinematics::zero;
use crate::articulated::push::Pushes;
use crate::error::Error;
use crate::force::Inputs;

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

/// Stiffness, damping and friction slope of a pair.
pub(crate) type Springs<P = Place> = [Mixed<P>; 3];

/// What contacts do to the bodies of one robot, besides what pushes them already.
struct Pushed {
    robot: usize,
    /// Of each body: its place among those that are pushed.
    place: Vec<Option<usize>>,
    bodies: Moving,
    /// What pushes them already, at the same places.
    before: Option<(Pushes, Vec<usize>)>,
    force: Buffer<Vec3>,
    torque: Buffer<Vec3>,
    len: usize,
}

/// Forces of all contacts, as pushes on bodies.
pub(crate) struct Penalty {
    contacts: Contacts,
    /// Of pairs: the bodies of both sides, and the springs between them.
    pairs: Vec<([Option<(usize, usize)>; 2], Springs<At>)>,
    robots: Vec<Pushed>,
}

impl Penalty {
    /// Adds it to a program; for each robot, what pushes its bodies now. `moves` says which bodies do.
    pub fn add(
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        (model, inputs, contacts): (&Touchable, &Inputs, Contacts),
        bodies: &[Moving],
        robots: Vec<(Vec<Option<usize>>, Option<Pushes>)>,
    ) -> Result<Vec<Option<Pushes>>, Error> {
        let find = |mixed: &Mixed| mixed.find(inputs);
        let mut pairs = Vec::new();
        for near in &model.pairs {
            let body = |shape: usize| match model.shapes[shape].on {
                Pinned::World | Pinned::Ground(_) => None,
                Pinned::Body(robot, body) => robots[robot].0[body].map(|_| (robot, body)),
            };
            let [ke, kd, kf] = &near.springs;
            pairs.push((near.shapes.map(body), [find(ke)?, find(kd)?, find(kf)?]));
        }
        let mut pushed = Vec::new();
        let mut out = Vec::new();
        for (r, (nodes, before)) in robots.into_iter().enumerate() {
            let touched = |b: usize| pairs.iter().any(|(sides, _)| sides.contains(&Some((r, b))));
            let known =
                |b: usize| before.as_ref().is_some_and(|before| before.on.iter().any(|(on, _)| *on == b));
            let on: Vec<(usize, usize)> = nodes
                .iter()
                .enumerate()
                .filter_map(|(b, node)| node.filter(|_| touched(b) || known(b)).map(|node| (b, node)))
                .collect();
            if on.is_empty() {
                out.push(None);
                continue;
            }
            let mut place = vec![None; nodes.len()];
            on.iter().enumerate().for_each(|(i, (b, _))| place[*b] = Some(i));
            let force = p.computed(&name(&format!("push on robot {r}")), on.len());
            let torque = p.computed(&name(&format!("push torque on robot {r}")), on.len());
            let before = before.map(|before| {
                let places = before.on.iter().filter_map(|(b, _)| place[*b]).collect();
                (before, places)
            });
            pushed.push(Pushed { robot: r, place, bodies: bodies[r], before, force, torque, len: on.len() });
            out.push(Some((on, force, torque)));
        }
        p.operation(Penalty { contacts, pairs, robots: pushed });
        let with = |(r, pushes): (usize, Option<_>)| {
            pushes.map(|(on, force, torque)| Pushes { on, force, torque, in_node: inputs.robots[r].bodies })
        };
        Ok(out.into_iter().enumerate().map(with).collect())
    }

    /// The springs of a pair.
    #[inline(always)]
    fn springs<L: Lane>(&self, world: &World<'_, L>, pair: usize) -> [L; 3] {
        let [ke, kd, kf] = &self.pairs[pair].1;
        [ke.mean(world), kd.mean(world), kf.mean(world)]
    }
}

impl<P> Mixed<P> {
    /// What it is made of.
    pub fn parts(&self) -> impl Iterator<Item = &P> {
        let (first, second) = match self {
            Mixed::One(a) => (a, None),
            Mixed::Two(a, b) => (a, Some(b)),
        };
        std::iter::once(first).chain(second)
    }
}

impl Mixed {
    /// In a program.
    pub fn find(&self, inputs: &Inputs) -> Result<Mixed<At>, Error> {
        Ok(match self {
            Mixed::One(place) => Mixed::One(place.find(inputs)?),
            Mixed::Two(a, b) => Mixed::Two(a.find(inputs)?, b.find(inputs)?),
        })
    }
}

impl Mixed<At> {
    /// The number, or the geometric mean of both.
    #[inline(always)]
    pub fn mean<L: Lane>(&self, world: &World<'_, L>) -> L {
        match self {
            Mixed::One(at) => at.get(world),
            Mixed::Two(a, b) => mean(a.get(world), b.get(world)),
        }
    }

    /// Its pullback.
    #[inline(always)]
    pub fn pull_mean<L: Lane>(&self, world: &World<'_, L>, bar: L) {
        match self {
            Mixed::One(at) => at.add(world, bar),
            Mixed::Two(a, b) => {
                let (a_bar, b_bar) = mean::pullback(a.get(world), b.get(world), bar);
                a.add(world, a_bar);
                b.add(world, b_bar);
            }
        }
    }
}

impl Operation for Penalty {
    const LANES: bool = false;

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
        let springs = self.pairs.iter().flat_map(|(_, springs)| springs).flat_map(Mixed::parts);
        super::once(reads.into_iter().chain(springs.filter_map(At::reads)))
    }
    fn writes(&self) -> Vec<BufferUse> {
        let out = |robot: &Pushed| [BufferUse::from(robot.force), robot.torque.into()];
        self.robots.iter().flat_map(out).collect()
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        for robot in &self.robots {
            let (force, torque) = (world.values(robot.force), world.values(robot.torque));
            for i in 0..robot.len {
                force.set(i, zero());
                torque.set(i, zero());
            }
            if let Some((before, places)) = &robot.before {
                for (k, &i) in places.iter().enumerate() {
                    force.set(i, world.values(before.force).get(k));
                    torque.set(i, world.values(before.torque).get(k));
                }
            }
        }
        for c in 0..self.contacts.count(world) {
            let contacts = &self.contacts;
            let pair = contacts.pair(world, c);
            let [ke, kd, kf] = self.springs(world, pair);
            let (gap, mu) = (world.values(contacts.gap).get(c), world.values(contacts.mu).get(c));
            let (normal, velocity) =
                (world.values(contacts.normal).get(c), world.values(contacts.velocity).get(c));
            let on_second = penalty(gap, normal, velocity, ke, kd, kf, mu);
            let point = world.values(contacts.point).get(c);
            for (side, force) in [(0, -on_second), (1, on_second)] {
                let Some((r, b)) = self.pairs[pair].0[side] else { continue };
                for robot in self.robots.iter().filter(|robot| robot.robot == r) {
                    let Some(i) = robot.place[b] else { continue };
                    let x = world.values(robot.bodies.poses).get(b).position;
                    let (force, torque) = at_origin(force, point, x);
                    world.values(robot.force).add(i, force);
                    world.values(robot.torque).add(i, torque);
                }
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
        for c in 0..self.contacts.count(world) {
            let contacts = &self.contacts;
            let pair = contacts.pair(world, c);
            let [ke, kd, kf] = self.springs(world, pair);
            let (gap, mu) = (world.values(contacts.gap).get(c), world.values(contacts.mu).get(c));
            let (normal, velocity) =
                (world.values(contacts.normal).get(c), world.values(contacts.velocity).get(c));
            let on_second = penalty(gap, normal, velocity, ke, kd, kf, mu);
            let point = world.values(contacts.point).get(c);
            let mut on_second_bar: Vec3<L> = zero();
            for (side, force, sign) in [(0, -on_second, -1.0), (1, on_second, 1.0)] {
                let Some((r, b)) = self.pairs[pair].0[side] else { continue };
                for robot in self.robots.iter().filter(|robot| robot.robot == r) {
                    let Some(i) = robot.place[b] else { continue };
                    let x = world.values(robot.bodies.poses).get(b).position;
                    let bar = (world.bars(robot.force).get(i), world.bars(robot.torque).get(i));
                    let (force_bar, point_bar, x_bar) = at_origin::pullback(force, point, x, bar);
                    on_second_bar = on_second_bar + force_bar * L::from_f64(sign);
                    world.bars(contacts.point).add(c, point_bar);
                    let mut pose_bar: Pose<L> = zero();
                    pose_bar.position = x_bar;
                    world.bars(robot.bodies.poses).add(b, pose_bar);
                }
            }
            let (gap_bar, normal_bar, velocity_bar, ke_bar, kd_bar, kf_bar, mu_bar) =
                penalty::pullback(gap, normal, velocity, ke, kd, kf, mu, on_second_bar);
            world.bars(contacts.gap).add(c, gap_bar);
            world.bars(contacts.normal).add(c, normal_bar);
            world.bars(contacts.velocity).add(c, velocity_bar);
            world.bars(contacts.mu).add(c, mu_bar);
            let [springs_e, springs_d, springs_f] = &self.pairs[pair].1;
            springs_e.pull_mean(world, ke_bar);
            springs_d.pull_mean(world, kd_bar);
            springs_f.pull_mean(world, kf_bar);
        }
    }
}
