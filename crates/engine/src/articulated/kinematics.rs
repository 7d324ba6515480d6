//! Forward kinematics: poses, axes, velocities and accelerations, from the roots to the leaves (RBDA table 5.1).
//!
//! Everything is in world axes. Where `ABSOLUTE` is false, it is about the root of its tree, and seen by an observer who
//! moves along with a free root (dynamics is the same for him), so that it is as accurate for what is far away or fast; where it is
//! true, about the world's origin, at rest.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Lane, View, carve};
use pullback_kernel::scalar::Local;
use pullback_scene::robot::JointKind;

use super::joint::{along, ball, carried, free, hinge, moving, slide, turning};
use super::tree::{Dof, Node, Tree, WORLD};

/// What moves a robot.
#[derive(Clone, Copy)]
pub(crate) struct Configuration<'a, L: Lane> {
    pub q: View<'a, f64, L>,
    pub v: View<'a, f64, L>,
    pub placements: View<'a, Pose, L>,
}

/// Where everything is and how it moves.
pub(crate) struct Kinematics<'a, L: Lane> {
    /// Of each node.
    pub poses: &'a mut [Pose<L>],
    pub velocities: &'a mut [Motion<L>],
    pub accelerations: &'a mut [Motion<L>],
    /// Of each degree of freedom.
    pub axes: &'a mut [Motion<L>],
}

impl<'a, L: Lane> Kinematics<'a, L> {
    /// How many numbers it takes.
    pub fn numbers(tree: &Tree) -> usize {
        tree.nodes.len() * (Pose::<f64>::LEN + 2 * Motion::<f64>::LEN) + tree.dofs.len() * Motion::<f64>::LEN
    }

    #[inline(always)]
    pub fn carve(tree: &Tree, memory: &mut &'a mut [L]) -> Self {
        let n = tree.nodes.len();
        Kinematics {
            poses: carve::<Pose, L>(memory, n),
            velocities: carve::<Motion, L>(memory, n),
            accelerations: carve::<Motion, L>(memory, n),
            axes: carve::<Motion, L>(memory, tree.dofs.len()),
        }
    }
}

/// Three numbers.
#[inline(always)]
pub(crate) fn vector<L: Lane>(view: &View<'_, f64, L>, at: u32) -> Vec3<L> {
    let at = at as usize;
    vec3(view.get(at), view.get(at + 1), view.get(at + 2))
}

/// Four numbers.
#[inline(always)]
pub(crate) fn quaternion<L: Lane>(view: &View<'_, f64, L>, at: u32) -> Quat<L> {
    let at = at as usize;
    quat(view.get(at), vec3(view.get(at + 1), view.get(at + 2), view.get(at + 3)))
}

#[inline(always)]
pub(crate) fn no_motion<L: Lane>() -> Motion<L> {
    let zero = L::from_f64(0.0);
    Motion { angular: vec3(zero, zero, zero), linear: vec3(zero, zero, zero) }
}

/// The angle or distance of a hinge or slide.
#[inline(always)]
fn coordinate<L: Lane>(node: &Node, q: &View<'_, f64, L>) -> L {
    q.get(node.q as usize).mul_add(L::from_f64(node.scale), L::from_f64(node.shift))
}

/// The rate of a degree of freedom.
#[inline(always)]
pub(crate) fn rate<L: Lane>(dof: &Dof, v: &View<'_, f64, L>) -> L {
    v.get(dof.v as usize) * L::from_f64(dof.scale)
}

/// The pose of a node.
#[inline(always)]
fn place<L: Lane, const ABSOLUTE: bool>(
    node: &Node,
    above: Pose<L>,
    placement: Pose<L>,
    q: &View<'_, f64, L>,
) -> Pose<L> {
    let mut pose = match node.kind {
        JointKind::Hinge => hinge(above, placement, coordinate(node, q)),
        JointKind::Slide => slide(above, placement, coordinate(node, q)),
        JointKind::Ball => ball(above, placement, quaternion(q, node.turn)),
        JointKind::Free => free(above, placement, vector(q, node.q), quaternion(q, node.turn)),
    };
    if !ABSOLUTE && node.parent == WORLD {
        pose.position = no_motion().linear;
    }
    pose
}

/// Where the tree of a root has its origin, in the world.
#[inline(always)]
pub(crate) fn origin<L: Lane>(root: &Node, placement: Pose<L>, q: &View<'_, f64, L>) -> Vec3<L> {
    place::<L, true>(root, identity_pose(), placement, q).position
}

/// Moves along three axes at once, none of which carries the others.
#[inline(always)]
fn three<L: Lane>(
    axes: &mut [Motion<L>],
    s: [Motion<L>; 3],
    rates: Vec3<L>,
    (v, a): (Motion<L>, Motion<L>),
) -> (Motion<L>, Motion<L>) {
    (axes[0], axes[1], axes[2]) = (s[0], s[1], s[2]);
    let velocity = along(along(along(v, s[0], rates.x), s[1], rates.y), s[2], rates.z);
    let a = carried(a, v, s[0], rates.x);
    (velocity, carried(carried(a, v, s[1], rates.y), v, s[2], rates.z))
}

/// The three axes of a frame as motions of turning about its origin.
#[inline(always)]
pub(crate) fn turnings<L: Lane>(pose: &Pose<L>) -> [Motion<L>; 3] {
    let (r, p) = (&pose.rotation, pose.position);
    [turning(r.x, p), turning(r.y, p), turning(r.z, p)]
}

/// All poses, axes and velocities; and accelerations for joints that do not accelerate: `start` is that of the world.
#[inline(always)]
pub(crate) fn down<L: Lane, const ABSOLUTE: bool>(
    tree: &Tree,
    x: &Configuration<'_, L>,
    start: Motion<L>,
    k: &mut Kinematics<'_, L>,
) {
    for (n, node) in tree.nodes.iter().enumerate() {
        let (above, from) = match node.parent {
            WORLD => (identity_pose(), (no_motion(), start)),
            p => {
                let p = p as usize;
                (k.poses[p], (k.velocities[p], k.accelerations[p]))
            }
        };
        let placement = x.placements.get(n);
        let pose = place::<L, ABSOLUTE>(node, above, placement, &x.q);
        let axes = &mut k.axes[node.dof as usize..];
        let (v, a) = match node.kind {
            JointKind::Hinge | JointKind::Slide => {
                let s = if node.kind == JointKind::Hinge {
                    turning(pose.rotation.z, pose.position)
                } else {
                    moving(pose.rotation.z)
                };
                axes[0] = s;
                let rate = rate(&tree.dofs[node.dof as usize], &x.v);
                (along(from.0, s, rate), carried(from.1, from.0, s, rate))
            }
            JointKind::Ball => three(axes, turnings(&pose), vector(&x.v, node.v), from),
            JointKind::Free => {
                let frame = above.rotation * placement.rotation;
                let slides = [moving(frame.x), moving(frame.y), moving(frame.z)];
                let along =
                    if !ABSOLUTE && node.is_root() { no_motion().linear } else { vector(&x.v, node.v) };
                let moved = three(axes, slides, along, from);
                three(&mut axes[3..], turnings(&pose), vector(&x.v, node.spin), moved)
            }
        };
        k.poses[n] = pose;
        (k.velocities[n], k.accelerations[n]) = (v, a);
    }
}

/// Adds what degrees of freedom contribute to a motion of every node: Σ s x along the way from the root.
#[inline(always)]
pub(crate) fn spread<L: Lane>(tree: &Tree, axes: &[Motion<L>], x: &[L], motions: &mut [Motion<L>]) {
    for (n, node) in tree.nodes.iter().enumerate() {
        let mut m = match node.parent {
            WORLD => no_motion(),
            p => motions[p as usize],
        };
        let d = node.dof as usize;
        for i in d..d + node.kind.velocities() {
            m = along(m, axes[i], x[i]);
        }
        motions[n] = m;
    }
}

/// Zero of any kind of value.
#[inline(always)]
pub(crate) fn zero<L: Real, T: Local<L>>() -> T {
    T::zero()
}
