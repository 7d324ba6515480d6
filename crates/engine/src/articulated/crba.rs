//! The mass matrix by composite rigid bodies (RBDA table 6.2), and the forces that motion and gravity take, in one sweep.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Lane, View, carve};

use super::joint::newton_euler;
use super::kinematics::{Kinematics, zero};
use super::tree::{Tree, WORLD};

/// Sums over subtrees.
pub(crate) struct Sums<'a, L: Lane> {
    pub forces: &'a mut [Force<L>],
    pub inertias: &'a mut [Inertia<L>],
}

impl<'a, L: Lane> Sums<'a, L> {
    pub fn numbers(tree: &Tree) -> usize {
        tree.nodes.len() * (Force::<f64>::LEN + Inertia::<f64>::LEN)
    }

    #[inline(always)]
    pub fn carve(tree: &Tree, scratch: &mut &'a mut [L]) -> Self {
        let n = tree.nodes.len();
        Sums { forces: carve::<Force, L>(scratch, n), inertias: carve::<Inertia, L>(scratch, n) }
    }
}

/// Inertias in world axes, and the force that each body's motion takes.
#[inline(always)]
pub(crate) fn bodies<L: Lane>(
    tree: &Tree,
    own: &View<'_, Inertia, L>,
    k: &Kinematics<'_, L>,
    inertias: &mut [Inertia<L>],
    sums: &mut Sums<'_, L>,
) {
    for (n, node) in tree.nodes.iter().enumerate() {
        if node.heavy {
            let i = transform_inertia(k.poses[n], own.get(n));
            inertias[n] = i;
            sums.inertias[n] = i;
            sums.forces[n] = newton_euler(i, k.velocities[n], k.accelerations[n]);
        } else {
            let none: Inertia<L> = zero();
            (inertias[n], sums.inertias[n], sums.forces[n]) = (none, none, zero());
        }
    }
}

/// From the leaves to the roots: row i of M is s_j · I s_i for each j on the way, with I that of all that hangs from i;
/// the bias is s_i · F.
#[inline(always)]
pub(crate) fn up<L: Lane>(
    tree: &Tree,
    k: &Kinematics<'_, L>,
    armature: &View<'_, f64, L>,
    sums: &mut Sums<'_, L>,
    m: &mut [L],
    bias: &mut [L],
) {
    for (n, node) in tree.nodes.iter().enumerate().rev() {
        let (force, inertia) = (sums.forces[n], sums.inertias[n]);
        let d = node.dof as usize;
        for i in d..d + node.kind.velocities() {
            let s = k.axes[i];
            bias[i] = power(s, force);
            let u = inertia * s;
            let row = tree.row(i);
            let last = row.end - 1;
            for (entry, &j) in m[row.clone()].iter_mut().zip(&tree.ancestors[row]) {
                *entry = power(k.axes[j as usize], u);
            }
            m[last] = m[last] + armature.get(node.joint as usize);
        }
        if node.parent != WORLD {
            let p = node.parent as usize;
            sums.forces[p] = sums.forces[p] + force;
            sums.inertias[p] = sums.inertias[p] + inertia;
        }
    }
}

/// The bias alone: s_i · F, with F that of all that hangs from i.
#[inline(always)]
pub(crate) fn forces_up<L: Lane>(tree: &Tree, k: &Kinematics<'_, L>, sums: &mut Sums<'_, L>, bias: &mut [L]) {
    for (n, node) in tree.nodes.iter().enumerate().rev() {
        let force = sums.forces[n];
        let d = node.dof as usize;
        for i in d..d + node.kind.velocities() {
            bias[i] = power(k.axes[i], force);
        }
        if node.parent != WORLD {
            let p = node.parent as usize;
            sums.forces[p] = sums.forces[p] + force;
        }
    }
}
