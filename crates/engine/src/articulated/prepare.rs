//! What does not move: joint frames and inertias of nodes, from the params of bodies and joints.
//!
//! It depends on params alone, so that it runs once for a rollout, not once for a step. Bodies that are welded to each other
//! become one; each joint's frame is turned so that it acts along z.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Memory, Operation, View, World, carve};
use pullback_scene::robot::{JointKind, Robot};

use super::kinematics::zero;
use super::tree::{Tree, WORLD};

/// The params that are given for bodies and joints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    /// Of each body.
    pub mass: Buffer<f64>,
    pub center: Buffer<Vec3>,
    /// (xx, yy, zz) and (xy, xz, yz) about the centre.
    pub inertia: Buffer<Vec3>,
    pub products: Buffer<Vec3>,
    pub position: Buffer<Vec3>,
    pub orientation: Buffer<Quat>,
    /// Of each joint; those of free joints are not used.
    pub anchor: Buffer<Vec3>,
    pub axis: Buffer<Vec3>,
}

/// What is made of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prepared {
    /// Of each node: its joint's frame in the frame of the node above.
    pub placements: Buffer<Pose>,
    /// Of each node: the inertia of what moves with it, in its frame.
    pub inertias: Buffer<Inertia>,
    /// Of each body: its frame in the frame of its node, or of the world.
    pub bodies: Buffer<Pose>,
}

impl Prepared {
    /// The buffers, and how many numbers each holds.
    pub fn uses(&self, p: &Builder) -> Vec<(BufferUse, usize)> {
        vec![
            (self.placements.into(), Pose::<f64>::LEN * p.len(self.placements)),
            (self.inertias.into(), Inertia::<f64>::LEN * p.len(self.inertias)),
            (self.bodies.into(), Pose::<f64>::LEN * p.len(self.bodies)),
        ]
    }

    /// Says that the caller reads them.
    pub fn output(&self, p: &mut Builder) {
        p.output(self.placements);
        p.output(self.inertias);
        p.output(self.bodies);
    }
}

/// A joint, as it was built: its axis then, and a frame whose z is that axis.
#[derive(Clone, Copy, Debug)]
struct Built {
    kind: JointKind,
    axis: Vec3,
    frame: Mat3,
}

pub(crate) struct Prepare {
    parents: Vec<Option<usize>>,
    /// Of each body: its joints, in order.
    joints: Vec<Vec<usize>>,
    built: Vec<Built>,
    /// Of each joint: its node.
    nodes: Vec<usize>,
    node_of_body: Vec<u32>,
    node_count: usize,
    given: Given,
    prepared: Prepared,
    memory: Memory,
}

/// A frame with z along the axis: the shortest turn from the axis it was built with, a, to n = axis / |axis|,
/// 1 + [a × n]× + [a × n]×² / (1 + a·n), after the frame it was built with.
#[kernel]
fn joint_frame<R: Real>(anchor: Vec3<R>, axis: Vec3<R>, built: Vec3<R>, frame: Mat3<R>) -> Pose<R> {
    let n = normalize(axis);
    let t = cross(built, n);
    let c = 1.0 + dot(built, n);
    if c > 1e-6 {
        let k = 1.0 / c;
        let x = frame.x + cross(t, frame.x) + cross(t, cross(t, frame.x)) * k;
        let y = frame.y + cross(t, frame.y) + cross(t, cross(t, frame.y)) * k;
        Pose { rotation: mat3(x, y, n), position: anchor }
    } else {
        // The other way round: half a turn about x.
        Pose { rotation: mat3(frame.x, -frame.y, n), position: anchor }
    }
}

/// A body's placement in its parent.
#[kernel]
fn placement<R: Real>(position: Vec3<R>, orientation: Quat<R>) -> Pose<R> {
    pose_from_quat(normalize_quat(orientation), position)
}

/// A body's inertia in the frame of its node.
#[kernel]
fn body_inertia<R: Real>(
    node_from_body: Pose<R>,
    mass: R,
    center: Vec3<R>,
    inertia: Vec3<R>,
    products: Vec3<R>,
) -> Inertia<R> {
    let about_center =
        Sym3 { xx: inertia.x, yy: inertia.y, zz: inertia.z, xy: products.x, xz: products.y, yz: products.z };
    transform_inertia(node_from_body, inertia_from_center(mass, center, about_center))
}

/// A frame whose z is a unit vector.
fn frame_along(z: Vec3) -> Mat3 {
    let aside = if z.x.abs() < 0.6 { vec3(1.0, 0.0, 0.0) } else { vec3(0.0, 1.0, 0.0) };
    let x = normalize(aside - z * dot(aside, z));
    mat3(x, cross(z, x), z)
}

/// What both passes walk over: the params and the frames that lie between.
struct Walk<'a, L: Lane> {
    mass: View<'a, f64, L>,
    center: View<'a, Vec3, L>,
    inertia: View<'a, Vec3, L>,
    products: View<'a, Vec3, L>,
    position: View<'a, Vec3, L>,
    orientation: View<'a, Quat, L>,
    anchor: View<'a, Vec3, L>,
    axis: View<'a, Vec3, L>,
    placements: View<'a, Pose, L>,
    inertias: View<'a, Inertia, L>,
    bodies: View<'a, Pose, L>,
}

impl Prepare {
    /// Adds it to a program.
    pub fn add(p: &mut Builder, name: &str, robot: &Robot, tree: &Tree, given: Given) -> Prepared {
        let prepared = Prepared {
            placements: p.computed(&format!("{name} placements"), tree.nodes.len()),
            inertias: p.computed(&format!("{name} inertias"), tree.nodes.len()),
            bodies: p.computed(&format!("{name} bodies"), robot.bodies.len()),
        };
        let built = robot.joints.iter().map(|joint| {
            let [x, y, z] = joint.axis;
            let axis = match joint.kind {
                JointKind::Hinge | JointKind::Slide => normalize(vec3(x, y, z)),
                JointKind::Ball | JointKind::Free => vec3(0.0, 0.0, 1.0),
            };
            // Balls turn about the axes of their body.
            let frame = match joint.kind {
                JointKind::Hinge | JointKind::Slide => frame_along(axis),
                JointKind::Ball | JointKind::Free => identity(),
            };
            Built { kind: joint.kind, axis, frame }
        });
        let nodes = tree.node_of_joint.iter().map(|n| *n as usize).collect();
        let mut joints = vec![Vec::new(); robot.bodies.len()];
        robot.joints.iter().enumerate().for_each(|(j, joint)| joints[joint.body].push(j));
        let numbers = Pose::<f64>::LEN * (robot.bodies.len() + 2 * robot.joints.len());
        let memory = p.memory(&format!("{name} frames"), numbers);
        p.operation(Prepare {
            parents: robot.bodies.iter().map(|body| body.parent).collect(),
            joints,
            built: built.collect(),
            nodes,
            node_of_body: tree.node_of_body.clone(),
            node_count: tree.nodes.len(),
            given,
            prepared,
            memory,
        });
        prepared
    }

    #[inline(always)]
    fn walk<'a, L: Lane>(&self, world: &World<'a, L>, bars: bool) -> Walk<'a, L> {
        macro_rules! view {
            ($buffer:expr) => {
                if bars { world.bars($buffer) } else { world.values($buffer) }
            };
        }
        let (given, prepared) = (&self.given, &self.prepared);
        Walk {
            mass: view!(given.mass),
            center: view!(given.center),
            inertia: view!(given.inertia),
            products: view!(given.products),
            position: view!(given.position),
            orientation: view!(given.orientation),
            anchor: view!(given.anchor),
            axis: view!(given.axis),
            placements: view!(prepared.placements),
            inertias: view!(prepared.inertias),
            bodies: view!(prepared.bodies),
        }
    }

    /// A joint's axis and frame as they were built.
    #[inline(always)]
    fn built<L: Lane>(&self, j: usize) -> (Vec3<L>, Mat3<L>) {
        let of = |v: Vec3| vec3(L::from_f64(v.x), L::from_f64(v.y), L::from_f64(v.z));
        let Built { axis, frame, .. } = self.built[j];
        (of(axis), mat3(of(frame.x), of(frame.y), of(frame.z)))
    }

    /// The axis of a joint; one without has that which it was built with, and no cotangent.
    #[inline(always)]
    fn axis<L: Lane>(&self, w: &Walk<'_, L>, j: usize) -> Vec3<L> {
        match self.built[j].kind {
            JointKind::Hinge | JointKind::Slide => w.axis.get(j),
            JointKind::Ball | JointKind::Free => self.built(j).0,
        }
    }
}

impl Operation for Prepare {
    const LANES: bool = false;

    fn name(&self) -> String {
        "joint frames and inertias".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let g = &self.given;
        vec![
            g.mass.into(),
            g.center.into(),
            g.inertia.into(),
            g.products.into(),
            g.position.into(),
            g.orientation.into(),
            g.anchor.into(),
            g.axis.into(),
        ]
    }
    fn writes(&self) -> Vec<BufferUse> {
        let p = &self.prepared;
        vec![p.placements.into(), p.inertias.into(), p.bodies.into()]
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.memory)
    }
    fn scratch(&self) -> usize {
        Pose::<f64>::LEN * (self.parents.len() + self.built.len())
    }

    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let w = self.walk(world, false);
        let mut memory = &mut *world.memory;
        // Of each body: its frame in the node above, before its joints move. Of each joint: its frame in the body.
        let here = carve::<Pose, L>(&mut memory, self.parents.len());
        let frames = carve::<Pose, L>(&mut memory, self.built.len());
        (0..self.node_count).for_each(|n| w.inertias.set(n, zero()));
        for b in 0..self.parents.len() {
            let above = self.parents[b].map_or(identity_pose(), |p| w.bodies.get(p));
            here[b] = above * placement(w.position.get(b), w.orientation.get(b));
            let mut in_node = here[b];
            for (k, &j) in self.joints[b].iter().enumerate() {
                let (axis, frame) = self.built(j);
                frames[j] = joint_frame(w.anchor.get(j), self.axis(&w, j), axis, frame);
                let at = match (self.built[j].kind, k) {
                    (JointKind::Free, _) => {
                        frames[j] = identity_pose();
                        above
                    }
                    (_, 0) => here[b] * frames[j],
                    (_, k) => inverse_pose(frames[self.joints[b][k - 1]]) * frames[j],
                };
                w.placements.set(self.nodes[j], at);
                in_node = inverse_pose(frames[j]);
            }
            w.bodies.set(b, in_node);
            let n = self.node_of_body[b];
            if n != WORLD {
                let i = body_inertia(
                    in_node,
                    w.mass.get(b),
                    w.center.get(b),
                    w.inertia.get(b),
                    w.products.get(b),
                );
                w.inertias.add(n as usize, i);
            }
        }
    }

    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (w, bars) = (self.walk(world, false), self.walk(world, true));
        let (mut memory, mut scratch) = (&mut *world.memory, &mut *world.scratch);
        let here = carve::<Pose, L>(&mut memory, self.parents.len());
        let frames = carve::<Pose, L>(&mut memory, self.built.len());
        // Of each body's frame in its node, from its children; of each joint's frame.
        let body_bars = carve::<Pose, L>(&mut scratch, self.parents.len());
        let frame_bars = carve::<Pose, L>(&mut scratch, self.built.len());
        (0..self.parents.len()).for_each(|b| body_bars[b] = bars.bodies.get(b));
        frame_bars.fill(zero());
        for b in (0..self.parents.len()).rev() {
            let n = self.node_of_body[b];
            let mut in_node_bar = body_bars[b];
            if n != WORLD {
                let (pose, mass, center, inertia, products) = body_inertia::pullback(
                    w.bodies.get(b),
                    w.mass.get(b),
                    w.center.get(b),
                    w.inertia.get(b),
                    w.products.get(b),
                    bars.inertias.get(n as usize),
                );
                in_node_bar = add_pose(in_node_bar, pose);
                bars.mass.add(b, mass);
                bars.center.add(b, center);
                bars.inertia.add(b, inertia);
                bars.products.add(b, products);
            }
            let mut above_bar: Pose<L> = zero();
            let mut here_bar: Pose<L> = zero();
            match self.joints[b].last() {
                None => here_bar = in_node_bar,
                Some(&j) => {
                    let (bar,) = inverse_pose::pullback(frames[j], in_node_bar);
                    frame_bars[j] = add_pose(frame_bars[j], bar);
                }
            }
            for (k, &j) in self.joints[b].iter().enumerate().rev() {
                let at_bar = bars.placements.get(self.nodes[j]);
                match (self.built[j].kind, k) {
                    (JointKind::Free, _) => {
                        above_bar = add_pose(above_bar, at_bar);
                        continue;
                    }
                    (_, 0) => {
                        let (here_part, frame) = compose::pullback(here[b], frames[j], at_bar);
                        here_bar = add_pose(here_bar, here_part);
                        frame_bars[j] = add_pose(frame_bars[j], frame);
                    }
                    (_, k) => {
                        let before = self.joints[b][k - 1];
                        let inverse = inverse_pose(frames[before]);
                        let (inverse_bar, frame) = compose::pullback(inverse, frames[j], at_bar);
                        let (bar,) = inverse_pose::pullback(frames[before], inverse_bar);
                        frame_bars[before] = add_pose(frame_bars[before], bar);
                        frame_bars[j] = add_pose(frame_bars[j], frame);
                    }
                }
                let (axis, frame) = self.built(j);
                let (anchor_bar, axis_bar, ..) =
                    joint_frame::pullback(w.anchor.get(j), self.axis(&w, j), axis, frame, frame_bars[j]);
                bars.anchor.add(j, anchor_bar);
                if matches!(self.built[j].kind, JointKind::Hinge | JointKind::Slide) {
                    bars.axis.add(j, axis_bar);
                }
            }
            let above = self.parents[b].map_or(identity_pose(), |p| w.bodies.get(p));
            let (position, orientation) = (w.position.get(b), w.orientation.get(b));
            let (above_part, placed_bar) =
                compose::pullback(above, placement(position, orientation), here_bar);
            let (position_bar, orientation_bar) = placement::pullback(position, orientation, placed_bar);
            bars.position.add(b, position_bar);
            bars.orientation.add(b, orientation_bar);
            if let Some(p) = self.parents[b] {
                body_bars[p] = add_pose(body_bars[p], add_pose(above_bar, above_part));
            }
        }
    }
}

/// The sum of two cotangents.
fn add_pose<L: Lane>(a: Pose<L>, b: Pose<L>) -> Pose<L> {
    pullback_kernel::scalar::Local::plus(a, b)
}
