//! Articulated bodies: M⁻¹ in a number of operations that grows with the number of joints, however deep the tree is (RBDA
//! 7.3).
//!
//! Up the tree, the inertia that a body seems to have with what hangs from it; for each degree of freedom U = A s and
//! D = s · U + armature are kept, and are to M⁻¹ what factors are.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Lane, View};

use super::joint::{along, along_force};
use super::kinematics::{no_motion, zero};
use super::tree::{Tree, WORLD};

/// A - U Uᵀ / D (RBDA 7.43)
#[kernel]
fn yielded<R: Real>(a: ArticulatedInertia<R>, u: Force<R>, inverse: R) -> ArticulatedInertia<R> {
    let scaled = u * inverse;
    ArticulatedInertia {
        rotational: a.rotational - symmetric_outer(u.torque, scaled.torque),
        coupling: a.coupling - outer(scaled.torque, u.force),
        linear: a.linear - symmetric_outer(u.force, scaled.force),
    }
}

/// U and D⁻¹ of every degree of freedom. `bodies` is working memory.
#[inline(always)]
pub(crate) fn factorise<L: Lane>(
    tree: &Tree,
    axes: &[Motion<L>],
    inertias: &[Inertia<L>],
    armature: &View<'_, f64, L>,
    bodies: &mut [ArticulatedInertia<L>],
    (u, inverse): (&mut [Force<L>], &mut [L]),
) {
    for (n, node) in tree.nodes.iter().enumerate() {
        bodies[n] = if node.heavy { articulated_from_inertia(inertias[n]) } else { zero() };
    }
    for (n, node) in tree.nodes.iter().enumerate().rev() {
        let d = node.dof as usize;
        let mut a = bodies[n];
        let own = armature.get(node.joint as usize);
        for i in (d..d + node.kind.velocities()).rev() {
            u[i] = a * axes[i];
            inverse[i] = L::from_f64(1.0) / (power(axes[i], u[i]) + own);
            a = yielded(a, u[i], inverse[i]);
        }
        if node.parent != WORLD {
            let p = node.parent as usize;
            bodies[p] = bodies[p] + a;
        }
    }
}

/// x becomes M⁻¹ x (RBDA 7.4 without velocities). `forces` and `motions` are working memory.
#[inline(always)]
pub(crate) fn solve<L: Lane>(
    tree: &Tree,
    axes: &[Motion<L>],
    (u, inverse): (&[Force<L>], &[L]),
    x: &mut [L],
    (forces, motions): (&mut [Force<L>], &mut [Motion<L>]),
) {
    for n in 0..tree.nodes.len() {
        forces[n] = as_force(no_motion());
    }
    for (n, node) in tree.nodes.iter().enumerate().rev() {
        let d = node.dof as usize;
        let mut force = forces[n];
        for i in (d..d + node.kind.velocities()).rev() {
            x[i] = (x[i] - power(axes[i], force)) * inverse[i];
            force = along_force(force, u[i], x[i]);
        }
        if node.parent != WORLD {
            let p = node.parent as usize;
            forces[p] = forces[p] + force;
        }
    }
    for (n, node) in tree.nodes.iter().enumerate() {
        let d = node.dof as usize;
        let mut m = match node.parent {
            WORLD => no_motion(),
            p => motions[p as usize],
        };
        for i in d..d + node.kind.velocities() {
            x[i] = x[i] - power(m, u[i]) * inverse[i];
            m = along(m, axes[i], x[i]);
        }
        motions[n] = m;
    }
}
