//! Where the bodies are and how they move, in the world: for losses, pictures, energy and momentum.
//!
//! Moving everything behind joint j by a rigid motion moves poses along, and turns what the joints behind it add to
//! velocities: δV = δ × (V - V_before). With the cotangents of poses as forces P, that of the motion is
//! Ξ = Σ (P + V ×* V_bar) - V_before ×* Σ V_bar, over what hangs from j.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Memory, Operation, World, carve};
use pullback_scene::robot::JointKind;

use super::joint::{along, placement_bar, quat_bar};
use super::kinematics::{Configuration, Kinematics, down, no_motion, quaternion};
use super::manifold::add_quaternion;
use super::tree::{Node, Tree, WORLD};

/// Poses and motions of bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moving {
    /// world_from_body.
    pub poses: Buffer<Pose>,
    /// Angular velocity, and velocity of the body's origin, in world axes.
    pub motions: Buffer<Motion>,
}

pub(crate) struct Bodies {
    tree: Arc<Tree>,
    q: Buffer<f64>,
    v: Buffer<f64>,
    placements: Buffer<Pose>,
    /// Of each body: its frame in the frame of its node, or of the world.
    in_node: Buffer<Pose>,
    /// The bodies that are asked for.
    seen: Vec<usize>,
    out: Moving,
    memory: Memory,
}

/// The motion of a body, as it is seen at a point.
#[kernel]
pub(crate) fn seen_at<R: Real>(v: Motion<R>, point: Vec3<R>) -> Motion<R> {
    Motion { angular: v.angular, linear: v.linear + cross(v.angular, point) }
}

/// The cotangents of a pose and of a motion seen at it, as forces: P + V ×* V_bar, and V_bar.
#[kernel]
pub(crate) fn as_forces<R: Real>(
    pose: Pose<R>,
    v: Motion<R>,
    pose_bar: Pose<R>,
    motion_bar: Motion<R>,
) -> (Force<R>, Force<R>) {
    let p = pose.position;
    let (r, r_bar) = (pose.rotation, pose_bar.rotation);
    let v_bar = Force { torque: motion_bar.angular + cross(p, motion_bar.linear), force: motion_bar.linear };
    // The point at which the motion is seen moves too.
    let f = pose_bar.position + cross(motion_bar.linear, v.angular);
    let n = cross(p, f) + cross(r.x, r_bar.x) + cross(r.y, r_bar.y) + cross(r.z, r_bar.z);
    (Force { torque: n, force: f } + cross_force(v, v_bar), v_bar)
}

impl Bodies {
    /// Adds it to a program, for the bodies that are asked for.
    pub fn add(
        p: &mut Builder,
        name: &str,
        tree: &Arc<Tree>,
        (q, v): (Buffer<f64>, Buffer<f64>),
        (placements, in_node): (Buffer<Pose>, Buffer<Pose>),
        seen: impl Fn(usize) -> bool,
    ) -> Moving {
        let count = tree.node_of_body.len();
        let out = Moving {
            poses: p.computed(&format!("{name} poses"), count),
            motions: p.computed(&format!("{name} motions"), count),
        };
        let memory = p.memory(&format!("{name} kinematics"), Kinematics::<f64>::numbers(tree));
        let seen = (0..count).filter(|body| seen(*body)).collect();
        p.operation(Bodies { tree: tree.clone(), q, v, placements, in_node, seen, out, memory });
        out
    }

    #[inline(always)]
    fn configuration<'a, L: Lane>(&self, world: &World<'a, L>) -> Configuration<'a, L> {
        Configuration {
            q: world.values(self.q),
            v: world.values(self.v),
            placements: world.values(self.placements),
        }
    }
}

impl Operation for Bodies {
    fn name(&self) -> String {
        "bodies".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        vec![self.q.into(), self.v.into(), self.placements.into(), self.in_node.into()]
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.out.poses.into(), self.out.motions.into()]
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.memory)
    }
    fn scratch(&self) -> usize {
        self.tree.nodes.len() * 2 * Force::<f64>::LEN
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let tree = &*self.tree;
        let x = self.configuration(world);
        let in_node = world.values(self.in_node);
        let (poses, motions) = (world.values(self.out.poses), world.values(self.out.motions));
        let mut memory = &mut *world.memory;
        let mut k = Kinematics::carve(tree, &mut memory);
        down::<L, true>(tree, &x, no_motion(), &mut k);
        for &b in &self.seen {
            let (pose, motion) = match tree.node_of_body[b] {
                WORLD => (in_node.get(b), no_motion()),
                n => (k.poses[n as usize] * in_node.get(b), k.velocities[n as usize]),
            };
            poses.set(b, pose);
            motions.set(b, seen_at(motion, pose.position));
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let tree = &*self.tree;
        let x = self.configuration(world);
        let in_node = world.values(self.in_node);
        let poses = world.values(self.out.poses);
        let (pose_bars, motion_bars) = (world.bars(self.out.poses), world.bars(self.out.motions));
        let (q_bar, rate_bar) = (world.bars(self.q), world.bars(self.v));
        let (placement_bars, in_node_bars) = (world.bars(self.placements), world.bars(self.in_node));
        let (mut memory, mut scratch) = (&mut *world.memory, &mut *world.scratch);
        let k = Kinematics::carve(tree, &mut memory);
        let moved = carve::<Force, L>(&mut scratch, tree.nodes.len());
        let v_bars = carve::<Force, L>(&mut scratch, tree.nodes.len());
        for n in 0..tree.nodes.len() {
            (moved[n], v_bars[n]) = (as_force(no_motion()), as_force(no_motion()));
        }
        for &b in &self.seen {
            let (n, mut pose_bar) = (tree.node_of_body[b], pose_bars.get(b));
            if n == WORLD {
                in_node_bars.add(b, pose_bar);
                continue;
            }
            let n = n as usize;
            let (v, motion_bar) = (k.velocities[n], motion_bars.get(b));
            let (force, v_bar) = as_forces(poses.get(b), v, pose_bar, motion_bar);
            moved[n] = moved[n] + force;
            v_bars[n] = v_bars[n] + v_bar;
            pose_bar.position = pose_bar.position + cross(motion_bar.linear, v.angular);
            let (_, bar) = compose::pullback(k.poses[n], in_node.get(b), pose_bar);
            in_node_bars.add(b, bar);
        }
        for (n, node) in tree.nodes.iter().enumerate().rev() {
            let (above, before) = match node.parent {
                WORLD => (identity_pose(), no_motion()),
                p => (k.poses[p as usize], k.velocities[p as usize]),
            };
            let (sum, v_bar) = (moved[n], v_bars[n]);
            let d = node.dof as usize;
            for i in d..d + node.kind.velocities() {
                let scale = L::from_f64(tree.dofs[i].scale);
                rate_bar.add(tree.dofs[i].v as usize, power(k.axes[i], v_bar) * scale);
            }
            let xi = sum - cross_force(before, v_bar);
            pull_position(tree, node, &x, &k, before, (sum, v_bar, xi), &q_bar);
            let placement = x.placements.get(n);
            let origin = above.rotation * placement.position + above.position;
            placement_bars.add(n, placement_bar(above, placement, origin, xi));
            if node.parent != WORLD {
                let p = node.parent as usize;
                moved[p] = moved[p] + sum;
                v_bars[p] = v_bars[p] + v_bar;
            }
        }
    }
}

/// The cotangent of a joint's position.
#[inline(always)]
fn pull_position<L: Lane>(
    tree: &Tree,
    node: &Node,
    x: &Configuration<'_, L>,
    k: &Kinematics<'_, L>,
    before: Motion<L>,
    (sum, v_bar, xi): (Force<L>, Force<L>, Force<L>),
    q_bar: &pullback_kernel::program::View<'_, f64, L>,
) {
    let d = node.dof as usize;
    let mut turn = (d, xi);
    match node.kind {
        JointKind::Hinge | JointKind::Slide => {
            q_bar.add(node.q as usize, power(k.axes[d], xi) * L::from_f64(node.scale));
            return;
        }
        JointKind::Ball => {}
        JointKind::Free => {
            let mut middle = before;
            for i in d..d + 3 {
                q_bar.add(node.q as usize + i - d, power(k.axes[i], xi));
                middle = along(middle, k.axes[i], x.v.get(tree.dofs[i].v as usize));
            }
            turn = (d + 3, sum - cross_force(middle, v_bar));
        }
    }
    let (d, xi) = turn;
    let turn_bar = vec3(power(k.axes[d], xi), power(k.axes[d + 1], xi), power(k.axes[d + 2], xi));
    add_quaternion(q_bar, node.turn as usize, quat_bar(quaternion(&x.q, node.turn), turn_bar));
}
