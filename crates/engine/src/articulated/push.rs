//! Forces and torques on bodies from outside, in world axes, at the origins of the bodies.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, View, World};

use super::kinematics::zero;
use super::rnea_pullback::Outside;
use crate::dynamics::plus;

/// Which bodies are pushed, and by what.
#[derive(Clone, Debug)]
pub(crate) struct Pushes {
    /// (body, node).
    pub on: Vec<(usize, usize)>,
    pub force: Buffer<Vec3>,
    pub torque: Buffer<Vec3>,
    /// Of each body: its frame in the frame of its node.
    pub in_node: Buffer<Pose>,
}

/// The same in a world.
#[derive(Clone, Copy)]
pub(crate) struct Pushing<'a, L: Lane> {
    pub on: &'a [(usize, usize)],
    force: View<'a, Vec3, L>,
    torque: View<'a, Vec3, L>,
    in_node: View<'a, Pose, L>,
}

/// The force about the tree's origin, of a force and a torque at a body's origin.
#[kernel]
fn about_origin<R: Real>(node: Pose<R>, in_node: Vec3<R>, force: Vec3<R>, torque: Vec3<R>) -> Force<R> {
    let point = node.rotation * in_node + node.position;
    Force { torque: torque + cross(point, force), force }
}

/// With W the motion of the body in the direction of the pullback, seen at the point: the cotangents of force, torque and
/// the point in the node's frame; and the torque by which world axes do not turn with the body.
#[kernel]
fn push_bars<R: Real>(
    node: Pose<R>,
    in_node: Vec3<R>,
    force: Vec3<R>,
    torque: Vec3<R>,
    w: Motion<R>,
) -> (Vec3<R>, Vec3<R>, Vec3<R>, Vec3<R>) {
    let point = node.rotation * in_node + node.position;
    let seen = w.linear + cross(w.angular, point);
    let point_bar = transpose_times(node.rotation, cross(w.angular, force));
    (-seen, -w.angular, point_bar, cross(torque, w.angular) + cross(force, seen))
}

/// A vector, for the body that it acts on.
#[kernel]
fn on_body<R: Real>(x: Vec3<R>) -> [Vec3<R>; 1] {
    [x]
}

impl Pushes {
    /// What both push with, on all bodies that either pushes. `name` makes names that nothing else in the program has.
    pub fn with(self, p: &mut Builder, name: &dyn Fn(&str) -> String, more: Pushes) -> Pushes {
        let mut on = self.on.clone();
        on.extend(more.on.iter().filter(|push| !self.on.contains(push)));
        let mut places = |what: &str, pushes: &Pushes| {
            let place = |push| [on.iter().position(|other| other == push).unwrap_or(0)];
            let table: Vec<[usize; 1]> = pushes.on.iter().map(place).collect();
            p.corners(&name(&format!("places of {what} pushes")), &table, on.len())
        };
        let (before, after) = (places("first", &self), places("further", &more));
        let mut sum = |what: &str, first: Buffer<Vec3>, further: Buffer<Vec3>| {
            let name = |which: &str| name(&format!("{which} {what}"));
            let first = p.elements::<Once<on_body>, Vec3, 1>(&name("first"), before, (first.own(),));
            let further = p.elements::<Once<on_body>, Vec3, 1>(&name("further"), after, (further.own(),));
            p.map::<plus>(&name("sum of"), (first.own(), further.own()))
        };
        let force = sum("push", self.force, more.force);
        let torque = sum("push torque", self.torque, more.torque);
        Pushes { on, force, torque, in_node: self.in_node }
    }

    pub fn reads(&self) -> Vec<BufferUse> {
        vec![self.force.into(), self.torque.into(), self.in_node.into()]
    }

    #[inline(always)]
    pub fn values<'a, L: Lane>(&'a self, world: &World<'a, L>) -> Pushing<'a, L> {
        Pushing {
            on: &self.on,
            force: world.values(self.force),
            torque: world.values(self.torque),
            in_node: world.values(self.in_node),
        }
    }

    #[inline(always)]
    pub fn bars<'a, L: Lane>(&'a self, world: &World<'a, L>) -> Pushing<'a, L> {
        Pushing {
            on: &self.on,
            force: world.bars(self.force),
            torque: world.bars(self.torque),
            in_node: world.bars(self.in_node),
        }
    }
}

impl<L: Lane> Pushing<'_, L> {
    /// Takes the pushes off the forces that the bodies' motions take.
    #[inline(always)]
    pub fn apply(&self, poses: &[Pose<L>], forces: &mut [Force<L>]) {
        for (k, &(b, n)) in self.on.iter().enumerate() {
            let at = self.in_node.get(b).position;
            forces[n] = forces[n] - about_origin(poses[n], at, self.force.get(k), self.torque.get(k));
        }
    }
}

/// The values and the cotangents of pushes.
pub(crate) struct Pushed<'a, L: Lane> {
    pub values: Pushing<'a, L>,
    pub bars: Pushing<'a, L>,
}

impl<L: Lane> Outside<L> for Option<Pushed<'_, L>> {
    /// Their points move with the bodies; their directions stay.
    #[inline(always)]
    fn act(&mut self, poses: &[Pose<L>], w: &[Motion<L>], force: &mut [Force<L>], stays: &mut [Force<L>]) {
        let Some(Pushed { values, bars }) = self else { return };
        values.apply(poses, force);
        for (k, &(b, n)) in values.on.iter().enumerate() {
            let at = values.in_node.get(b).position;
            let (force, torque) = (values.force.get(k), values.torque.get(k));
            let (force_bar, torque_bar, point_bar, turn) = push_bars(poses[n], at, force, torque, w[n]);
            bars.force.add(k, force_bar);
            bars.torque.add(k, torque_bar);
            let mut pose_bar: Pose<L> = zero();
            pose_bar.position = point_bar;
            bars.in_node.add(b, pose_bar);
            stays[n].torque = stays[n].torque + turn;
        }
    }
}
