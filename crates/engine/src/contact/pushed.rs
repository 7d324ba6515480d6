//! Bodies that contacts push, besides what pushes them already: forces at points, as pushes at the origins of bodies.

use std::collections::{HashMap, HashSet};

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, World};

use super::touchable::Pinned;
use crate::articulated::bodies::Moving;
use crate::articulated::kinematics::zero;
use crate::articulated::push::Pushes;

/// (force, torque at x) of a force at a point
#[kernel]
fn at_origin<R: Real>(force: Vec3<R>, point: Vec3<R>, x: Vec3<R>) -> (Vec3<R>, Vec3<R>) {
    (force, cross(point - x, force))
}

/// The bodies of one robot that are pushed.
struct Robot {
    bodies: Moving,
    /// What pushes them already, and at which places.
    before: Option<(Pushes, Vec<usize>)>,
    force: Buffer<Vec3>,
    torque: Buffer<Vec3>,
    len: usize,
}

/// A body that is pushed.
#[derive(Clone, Copy)]
pub(crate) struct On {
    /// Among those with bodies that are pushed.
    robot: usize,
    body: usize,
    /// Its place among the bodies of the robot that are pushed.
    place: usize,
}

/// A robot before contacts push it: of each body the node that it moves with, and what pushes it already.
pub(crate) struct Before {
    pub nodes: Vec<Option<usize>>,
    pub pushes: Option<Pushes>,
    /// Of each body: its frame in the frame of its node.
    pub in_node: Buffer<Pose>,
    pub bodies: Moving,
}

/// All bodies that are pushed.
pub(crate) struct Pushed {
    robots: Vec<Robot>,
    places: HashMap<(usize, usize), On>,
}

impl Pushed {
    /// Bodies that one of these shapes is fixed to, in a program; and for each robot, what pushes its bodies then. `by` says in
    /// names what pushes.
    pub fn new<'s>(
        p: &mut Builder,
        by: &dyn Fn(&str) -> String,
        shapes: impl Iterator<Item = &'s Pinned>,
        robots: Vec<Before>,
    ) -> (Pushed, Vec<Option<Pushes>>) {
        let touched: HashSet<(usize, usize)> = shapes.filter_map(body).collect();
        let mut pushed = Pushed { robots: Vec::new(), places: HashMap::new() };
        let mut out = Vec::new();
        for (r, Before { nodes, pushes: before, in_node, bodies }) in robots.into_iter().enumerate() {
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
                pushed.places.insert((r, body), On { robot: pushed.robots.len(), body, place });
            }
            let force = p.computed(&by(&format!("push on robot {r}")), on.len());
            let torque = p.computed(&by(&format!("push torque on robot {r}")), on.len());
            let before = before.map(|before| {
                let at = before.on.iter().map(|(b, _)| pushed.places[&(r, *b)].place).collect();
                (before, at)
            });
            pushed.robots.push(Robot { bodies, before, force, torque, len: on.len() });
            out.push(Some(Pushes { on, force, torque, in_node }));
        }
        (pushed, out)
    }

    /// The body that a shape is fixed to, unless it stands still.
    pub fn on(&self, shape: &Pinned) -> Option<On> {
        body(shape).and_then(|at| self.places.get(&at).copied())
    }

    pub fn reads(&self) -> Vec<BufferUse> {
        let mut reads = Vec::new();
        for robot in &self.robots {
            reads.push(robot.bodies.poses.into());
            if let Some((before, _)) = &robot.before {
                reads.extend([BufferUse::from(before.force), before.torque.into()]);
            }
        }
        reads
    }

    pub fn writes(&self) -> impl Iterator<Item = BufferUse> {
        self.robots.iter().flat_map(|robot| [BufferUse::from(robot.force), robot.torque.into()])
    }

    /// What pushes them already.
    #[inline(always)]
    pub fn start<L: Lane>(&self, world: &World<'_, L>) {
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
    }

    /// Forces that are no numbers.
    #[inline(always)]
    pub fn no_numbers<L: Lane>(&self, world: &World<'_, L>) {
        let none = L::from_f64(f64::NAN);
        for robot in &self.robots {
            world.values(robot.force).set(0, vec3(none, none, none));
        }
    }

    /// Adds a force at a point.
    #[inline(always)]
    pub fn push<L: Lane>(&self, world: &World<'_, L>, on: On, force: Vec3<L>, point: Vec3<L>) {
        let robot = &self.robots[on.robot];
        let x = world.values(robot.bodies.poses).get(on.body).position;
        let (force, torque) = at_origin(force, point, x);
        world.values(robot.force).add(on.place, force);
        world.values(robot.torque).add(on.place, torque);
    }

    /// The pullback of [`Pushed::start`].
    #[inline(always)]
    pub fn pull_start<L: Lane>(&self, world: &World<'_, L>) {
        for robot in &self.robots {
            let Some((before, places)) = &robot.before else { continue };
            for (k, &i) in places.iter().enumerate() {
                world.bars(before.force).add(k, world.bars(robot.force).get(i));
                world.bars(before.torque).add(k, world.bars(robot.torque).get(i));
            }
        }
    }

    /// The pullback of [`Pushed::push`]: the cotangents of the force and of the point.
    #[inline(always)]
    pub fn pull_push<L: Lane>(
        &self,
        world: &World<'_, L>,
        on: On,
        force: Vec3<L>,
        point: Vec3<L>,
    ) -> (Vec3<L>, Vec3<L>) {
        let robot = &self.robots[on.robot];
        let x = world.values(robot.bodies.poses).get(on.body).position;
        let bar = (world.bars(robot.force).get(on.place), world.bars(robot.torque).get(on.place));
        let (force_bar, point_bar, x_bar) = at_origin::pullback(force, point, x, bar);
        let mut pose_bar: Pose<L> = zero();
        pose_bar.position = x_bar;
        world.bars(robot.bodies.poses).add(on.body, pose_bar);
        (force_bar, point_bar)
    }
}

/// The robot and the body that a shape is fixed to.
fn body(shape: &Pinned) -> Option<(usize, usize)> {
    match shape {
        Pinned::World | Pinned::Ground(_) => None,
        Pinned::Body(robot, body) => Some((*robot, *body)),
    }
}
