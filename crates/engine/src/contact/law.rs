//! The law of a contact: it pushes and never pulls, and friction stays in its cone.
//!
//! With the impulse p = (n, t₁, t₂) and the relative velocity w = (n, t₁, t₂) at the end of the step, whose first number
//! counts from the least that it may be, F(p, w) = 0 says (Alart and Curnier 1991), for any ρ > 0:
//!
//! - p = 0, where s = p_n - ρ w_n ≤ 0: the contact is open;
//! - w_n = 0 otherwise, and then, with q = p_t - ρ w_t:
//!   - w_t = 0, where |q| ≤ μ s: it sticks,
//!   - p_t = μ s q/|q| otherwise: it slides, against the velocity.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;
use pullback_kernel::scalar::Mask;

/// Which impulses friction allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cone {
    /// |p_t| ≤ μ p_n.
    #[default]
    Circular,
    /// |p₁| ≤ μ p_n and |p₂| ≤ μ p_n.
    Box,
}

/// F at (p, w), and its derivatives: F_p, F_w and F_μ.
#[derive(Clone, Copy)]
pub(crate) struct Law<L> {
    pub residual: Vec3<L>,
    pub by_p: Mat3<L>,
    pub by_w: Mat3<L>,
    pub by_mu: Vec3<L>,
}

/// `mask ? a : b`, lane by lane.
#[inline(always)]
pub(crate) fn choose<L: Lane>(mask: L::Mask, a: Vec3<L>, b: Vec3<L>) -> Vec3<L> {
    vec3(L::select(mask, a.x, b.x), L::select(mask, a.y, b.y), L::select(mask, a.z, b.z))
}

#[inline(always)]
pub(crate) fn choose_matrix<L: Lane>(mask: L::Mask, a: Mat3<L>, b: Mat3<L>) -> Mat3<L> {
    mat3(choose::<L>(mask, a.x, b.x), choose::<L>(mask, a.y, b.y), choose::<L>(mask, a.z, b.z))
}

#[inline(always)]
fn choose_law<L: Lane>(mask: L::Mask, a: Law<L>, b: Law<L>) -> Law<L> {
    Law {
        residual: choose::<L>(mask, a.residual, b.residual),
        by_p: choose_matrix::<L>(mask, a.by_p, b.by_p),
        by_w: choose_matrix::<L>(mask, a.by_w, b.by_w),
        by_mu: choose::<L>(mask, a.by_mu, b.by_mu),
    }
}

impl Cone {
    /// F and its derivatives.
    #[inline(always)]
    pub fn law<L: Lane>(self, p: Vec3<L>, w: Vec3<L>, mu: L, rho: L) -> Law<L> {
        let zero = L::from_f64(0.0);
        let none = vec3(zero, zero, zero);
        let open = Law { residual: p, by_p: identity(), by_w: diagonal(none), by_mu: none };
        let s = p.x - rho * w.x;
        let closed = zero.lt(s);
        if !closed.any() {
            return open;
        }
        let sticks =
            Law { residual: w * rho, by_p: diagonal(none), by_w: diagonal(vec3(rho, rho, rho)), by_mu: none };
        let q = [p.y - rho * w.y, p.z - rho * w.z];
        let law = match self {
            Cone::Circular => {
                let length = (q[0] * q[0] + q[1] * q[1]).sqrt();
                // Without friction nothing sticks, also where nothing moves.
                let slides = (mu * s).lt(length) | (mu * s).le(zero);
                if slides.any() {
                    choose_law::<L>(slides, sliding(p, w, (mu, s, rho), q, length), sticks)
                } else {
                    sticks
                }
            }
            Cone::Box => {
                let (first, second) =
                    (bounded(p.y, w.y, q[0], (mu, s, rho)), bounded(p.z, w.z, q[1], (mu, s, rho)));
                Law {
                    residual: vec3(sticks.residual.x, first.residual, second.residual),
                    by_p: mat3(
                        vec3(zero, first.by_normal, second.by_normal),
                        vec3(zero, first.by_p, zero),
                        vec3(zero, zero, second.by_p),
                    ),
                    by_w: mat3(
                        vec3(rho, -(first.by_normal * rho), -(second.by_normal * rho)),
                        vec3(zero, first.by_w, zero),
                        vec3(zero, zero, second.by_w),
                    ),
                    by_mu: vec3(zero, first.by_mu, second.by_mu),
                }
            }
        };
        choose_law::<L>(closed, law, open)
    }
}

/// What rounding leaves of a velocity along the surface where there is none, beside the load s.
#[inline(always)]
fn noise<L: Lane>(s: L) -> L {
    s * L::from_f64(64.0 * L::Float::EPSILON)
}

/// A contact that slides: p_t = μ s u with u = q/|q|. With T = μ s (1 - u uᵀ)/|q|, F_t has the derivatives 1 - T and -μ u
/// by p, ρ T and μ ρ u by w.
#[inline(always)]
fn sliding<L: Lane>(p: Vec3<L>, w: Vec3<L>, (mu, s, rho): (L, L, L), q: [L; 2], length: L) -> Law<L> {
    let (zero, one) = (L::from_f64(0.0), L::from_f64(1.0));
    // Where there is nothing but rounding, nothing slides, and friction has no direction.
    let moves = noise(s).lt(length);
    let length = L::select(moves, length, one);
    let u = [L::select(moves, q[0] / length, zero), L::select(moves, q[1] / length, zero)];
    let limit = mu * s;
    let k = L::select(moves, limit / length, zero);
    let t = [k * (one - u[0] * u[0]), -(k * (u[0] * u[1])), k * (one - u[1] * u[1])];
    let v = [mu * u[0], mu * u[1]];
    Law {
        residual: vec3(rho * w.x, p.y - limit * u[0], p.z - limit * u[1]),
        by_p: mat3(vec3(zero, -v[0], -v[1]), vec3(zero, one - t[0], -t[1]), vec3(zero, -t[1], one - t[2])),
        by_w: mat3(
            vec3(rho, rho * v[0], rho * v[1]),
            vec3(zero, rho * t[0], rho * t[1]),
            vec3(zero, rho * t[1], rho * t[2]),
        ),
        by_mu: vec3(zero, -(s * u[0]), -(s * u[1])),
    }
}

/// One direction of a box.
struct Bounded<L> {
    residual: L,
    by_normal: L,
    by_p: L,
    by_w: L,
    by_mu: L,
}

/// One direction of a box: p = ±μ s where |q| > μ s, w = 0 otherwise.
#[inline(always)]
fn bounded<L: Lane>(p: L, w: L, q: L, (mu, s, rho): (L, L, L)) -> Bounded<L> {
    let (zero, one) = (L::from_f64(0.0), L::from_f64(1.0));
    let limit = mu * s;
    // Without friction nothing sticks, also where nothing moves.
    let slides = limit.lt(q.abs()) | limit.le(zero);
    let least = noise(s);
    let sign = L::select(least.lt(q), one, L::select(q.lt(-least), -one, zero));
    Bounded {
        residual: L::select(slides, p - limit * sign, rho * w),
        by_normal: L::select(slides, -(mu * sign), zero),
        by_p: L::select(slides, one, zero),
        by_w: L::select(slides, zero, rho),
        by_mu: L::select(slides, -(s * sign), zero),
    }
}
