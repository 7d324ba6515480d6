//! How contacts move with the velocities of robots, J, and how they feel each other, A = J M⁻¹ Jᵀ.
//!
//! With M = Lᵀ D L along branches, Y = L⁻ᵀ Jᵀ has entries only on the way from the root to the node that is touched, and
//! A = Yᵀ D⁻¹ Y sums over what two such ways share: where they begin.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;

use crate::articulated::Tree;

/// The node of a robot that a contact touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub robot: usize,
    pub node: usize,
}

/// Of a shape, or of a joint that impulses hold: what it moves with, and what it adds to the compliance of its contacts [1/kg].
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnSide {
    pub side: Option<Side>,
    pub softness: f64,
}

/// The two sides of a contact, `None` for the world; the second is pushed along the normal, the first against it.
pub(crate) type Sides = [Option<Side>; 2];

/// By which sign an impulse or a force acts on the sides.
pub(crate) const SIGNS: [f64; 2] = [-1.0, 1.0];

/// The velocity that a motion gives a point.
#[kernel]
pub(crate) fn velocity_at<R: Real>(motion: Motion<R>, arm: Vec3<R>) -> Vec3<R> {
    motion.linear + cross(motion.angular, arm)
}

/// The force at a point, about the origin.
#[kernel]
pub(crate) fn force_at<R: Real>(force: Vec3<R>, arm: Vec3<R>) -> Force<R> {
    Force { torque: cross(arm, force), force }
}

/// Rows of one side: Jᵀ in the contact's frame becomes Y, an entry for each degree of freedom on the way. Returns J x, with
/// rates x of degrees of freedom.
#[inline(always)]
pub(crate) fn fill<L: Lane>(
    tree: &Tree,
    axes: &[Motion<L>],
    l: &[L],
    way: &[u32],
    (frame, arm, sign): (Mat3<L>, Vec3<L>, f64),
    rates: &[L],
    y: &mut [Vec3<L>],
) -> Vec3<L> {
    let (zero, sign) = (L::from_f64(0.0), L::from_f64(sign));
    let mut w = vec3(zero, zero, zero);
    for (y, &i) in y.iter_mut().zip(way) {
        let row = transpose_times(frame, velocity_at(axes[i as usize], arm)) * sign;
        w = w + row * rates[i as usize];
        *y = row;
    }
    climb(tree, l, way, y);
    w
}

/// The row of a degree of freedom on the way: its velocity, and nothing along the two other directions.
#[inline(always)]
pub(crate) fn fill_held<L: Lane>(tree: &Tree, l: &[L], way: &[u32], dof: usize, y: &mut [Vec3<L>]) {
    let (zero, one) = (L::from_f64(0.0), L::from_f64(1.0));
    for (y, &i) in y.iter_mut().zip(way) {
        *y = vec3(if i as usize == dof { one } else { zero }, zero, zero);
    }
    climb(tree, l, way, y);
}

/// Jᵀ becomes Y = L⁻ᵀ Jᵀ.
#[inline(always)]
fn climb<L: Lane>(tree: &Tree, l: &[L], way: &[u32], y: &mut [Vec3<L>]) {
    for t in (0..way.len()).rev() {
        let start = tree.row(way[t] as usize).start;
        let this = y[t];
        for (y, entry) in y[..t].iter_mut().zip(&l[start..start + t]) {
            *y = *y - this * *entry;
        }
    }
}

/// A block of A: Σ y D⁻¹ zᵀ over what two ways share.
#[inline(always)]
pub(crate) fn meet<L: Lane>(
    (a, y): (&[u32], &[Vec3<L>]),
    (b, z): (&[u32], &[Vec3<L>]),
    inverse: &[L],
    mut sum: Mat3<L>,
) -> Mat3<L> {
    for t in 0..a.len().min(b.len()) {
        if a[t] != b[t] {
            break;
        }
        sum = sum + outer(y[t] * inverse[a[t] as usize], z[t]);
    }
    sum
}
