//! Where the bodies of a robot are when contacts are looked for; and the end of the pullback of its dynamics.
//!
//! Kinematics are found once: contacts see bodies by them, and dynamics goes on with them (`dynamics.rs`), in one memory. In
//! the pullback, dynamics leaves the sums of its bodies; the cotangents of poses and motions join them, and one sweep
//! from the leaves to the roots pulls back both.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Memory, Operation, World, carve};
use pullback_scene::robot::JointKind;

use super::dynamics::Part;
use super::touching::Touching;
use crate::articulated::bodies::{Moving, as_forces, seen_at};
use crate::articulated::forward_dynamics::{Kept, place};
use crate::articulated::joint::against_gravity;
use crate::articulated::kinematics::{Configuration, no_motion, origin, vector};
use crate::articulated::rnea_pullback::{self, Carried};
use crate::articulated::tree::WORLD;
use crate::articulated::{Inputs, Tree};

/// Places the bodies of a robot.
pub(crate) struct TouchingBodies {
    tree: Arc<Tree>,
    inputs: Inputs,
    /// Of each body: its frame in the frame of its node, or of the world.
    in_node: Buffer<Pose>,
    /// The bodies that are asked for, and the roots that they hang from.
    seen: Vec<(usize, usize)>,
    out: Moving,
    memory: Memory,
    /// Where the memory of this robot begins.
    start: usize,
    alone: bool,
}

/// Where the bodies of a robot are to be placed.
pub(crate) struct Placed {
    /// Of each body: its frame in the frame of its node, or of the world.
    pub in_node: Buffer<Pose>,
    /// What dynamics shares, and where the memory of this robot begins there.
    pub memory: Memory,
    pub start: usize,
    /// Does every world run alone? So does dynamics then: in lanes, memory lies otherwise.
    pub alone: bool,
}

/// What dynamics leaves to the end of the pullback.
pub(crate) struct Pending<'a, L: Lane> {
    /// -λ, and the velocities at the end of the step, of degrees of freedom.
    pub w: &'a mut [L],
    pub rates: &'a mut [L],
    /// The motions that those velocities give nodes, and the forces of contacts' cotangents on nodes.
    pub motions: &'a mut [Motion<L>],
    pub forces: &'a mut [Force<L>],
    pub sums: rnea_pullback::Sums<'a, L>,
}

/// How many numbers of memory a robot takes.
pub(crate) fn numbers(tree: &Tree) -> usize {
    let pending = tree.nodes.len() * (Motion::<f64>::LEN + Force::<f64>::LEN) + 2 * tree.dofs.len();
    Kept::<f64>::numbers(tree, false) + pending + rnea_pullback::Sums::<f64>::numbers(tree)
}

/// The memory of a robot, which begins at `memory`.
#[inline(always)]
pub(crate) fn memory<'a, L: Lane>(tree: &Tree, memory: &'a mut [L]) -> (Kept<'a, L>, Pending<'a, L>) {
    let (kept, mut rest) = memory.split_at_mut(Kept::<f64>::numbers(tree, false));
    let rest = &mut rest;
    let pending = Pending {
        w: carve::<f64, L>(rest, tree.dofs.len()),
        rates: carve::<f64, L>(rest, tree.dofs.len()),
        motions: carve::<Motion, L>(rest, tree.nodes.len()),
        forces: carve::<Force, L>(rest, tree.nodes.len()),
        sums: rnea_pullback::Sums::carve(tree, rest),
    };
    (Kept::carve_branches(tree, kept), pending)
}

impl TouchingBodies {
    /// Adds it to a program, for the bodies that are asked for.
    pub fn add(
        p: &mut Builder,
        name: &str,
        part: &Part,
        Placed { in_node, memory, start, alone }: Placed,
        seen: impl Fn(usize) -> bool,
    ) -> Moving {
        let (tree, inputs) = (part.tree.clone(), part.inputs);
        let count = tree.node_of_body.len();
        let out = Moving {
            poses: p.computed(&format!("{name} poses"), count),
            motions: p.computed(&format!("{name} motions"), count),
        };
        let root = |body: usize| match tree.node_of_body[body] {
            WORLD => 0,
            node => tree.root(node as usize),
        };
        let seen = (0..count).filter(|body| seen(*body)).map(|body| (body, root(body))).collect();
        p.operation(TouchingBodies { tree, inputs, in_node, seen, out, memory, start, alone });
        out
    }

    /// Where the tree of a root has its origin, and how fast that moves for who rests in the world.
    #[inline(always)]
    fn origin<L: Lane>(&self, x: &Configuration<'_, L>, root: usize) -> (Vec3<L>, Vec3<L>) {
        let (node, placement) = (&self.tree.nodes[root], x.placements.get(root));
        let moves = match node.kind {
            JointKind::Free => placement.rotation * vector(&x.v, node.v),
            JointKind::Hinge | JointKind::Slide | JointKind::Ball => no_motion().linear,
        };
        (origin(node, placement, &x.q), moves)
    }
}

impl Operation for TouchingBodies {
    fn name(&self) -> String {
        "bodies that touch".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let mut reads = self.inputs.reads();
        reads.push(self.in_node.into());
        reads
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.out.poses.into(), self.out.motions.into()]
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.memory)
    }
    fn alone(&self) -> bool {
        self.alone
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let robot = std::mem::take(&mut world.memory);
        let (mut kept, _) = memory(&self.tree, &mut robot[self.start..]);
        place(&self.tree, world, &self.inputs, &mut kept);
        let (x, k) = (self.inputs.configuration(world), &kept.kinematics);
        let (in_node, poses, motions) =
            (world.values(self.in_node), world.values(self.out.poses), world.values(self.out.motions));
        for &(b, root) in &self.seen {
            let node = self.tree.node_of_body[b];
            if node == WORLD {
                poses.set(b, in_node.get(b));
                motions.set(b, no_motion());
                continue;
            }
            let (from, moves) = self.origin(&x, root);
            let mut pose = k.poses[node as usize] * in_node.get(b);
            let mut motion = seen_at(k.velocities[node as usize], pose.position);
            pose.position = pose.position + from;
            motion.linear = motion.linear + moves;
            poses.set(b, pose);
            motions.set(b, motion);
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (tree, robot) = (&*self.tree, std::mem::take(&mut world.memory));
        let (kept, Pending { w, rates, motions, forces, mut sums }) = memory(tree, &mut robot[self.start..]);
        let (x, bars, k) = (self.inputs.configuration(world), self.inputs.bars(world), &kept.kinematics);
        let (in_node, in_node_bars) = (world.values(self.in_node), world.bars(self.in_node));
        let (pose_bars, motion_bars) = (world.bars(self.out.poses), world.bars(self.out.motions));
        for &(b, root) in &self.seen {
            let (node, mut pose_bar) = (tree.node_of_body[b], pose_bars.get(b));
            if node == WORLD {
                in_node_bars.add(b, pose_bar);
                continue;
            }
            let n = node as usize;
            let (v, motion_bar, at) = (k.velocities[n], motion_bars.get(b), in_node.get(b));
            let (force, v_bar) = as_forces(k.poses[n] * at, v, pose_bar, motion_bar);
            sums.stays[n] = sums.stays[n] + force;
            sums.v_bar[n] = sums.v_bar[n] + v_bar;
            pose_bar.position = pose_bar.position + cross(motion_bar.linear, v.angular);
            let (_, bar) = compose::pullback(k.poses[n], at, pose_bar);
            in_node_bars.add(b, bar);
            let root = &tree.nodes[root];
            if root.kind == JointKind::Free {
                for i in 0..3 {
                    let axis = k.axes[root.dof as usize + i].linear;
                    bars.v.add(root.v as usize + i, dot(axis, motion_bar.linear));
                }
            }
        }
        let start = against_gravity(world.values(self.inputs.gravity).get(0));
        let carried = Carried { rates: &*rates, motions: &*motions, forces: &mut *forces };
        let along = (&*w, &*kept.acceleration);
        rnea_pullback::finish::<L, Touching<'_, L>>(tree, &x, k, start, along, carried, &mut sums, &bars);
        for (node, force) in tree.nodes.iter().zip(&*forces) {
            let d = node.dof as usize;
            for i in d..d + node.kind.velocities() {
                let scale = L::from_f64(tree.dofs[i].scale);
                bars.v.add(tree.dofs[i].v as usize, power(k.axes[i], *force) * scale);
            }
        }
    }
}
