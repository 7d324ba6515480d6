//! The law of a joint that impulses hold: it stays within its range, and dry friction holds it or slows it down.
//!
//! With the impulse p and the velocity w of a degree of freedom at the end of the step, -p is in the sum of f h ∂|w| and of the
//! cone of what is at an end of lo ≤ w ≤ hi, where f is the friction and lo and hi are the velocities with which a step comes to
//! the ends of the range. For any ρ > 0 that is w = clamp(u - clamp(u, -f h/ρ, f h/ρ), lo, hi) with u = w - p/ρ: with
//! s = p - ρ w,
//!
//! - w = lo or w = hi, where what friction leaves of -s/ρ is beyond it: the joint is at its limit;
//! - w = 0 otherwise, where |s| ≤ f h: it sticks;
//! - p = ± f h otherwise: it slides, or moves freely if f = 0.
//!
//! One number bears limit and friction together, so that they never compete for a load. It is the first of a contact's three;
//! the others have no impulse, and their velocities are lo and hi: those have no rows, and are the same for all impulses.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;

use super::law::Law;

/// F and its derivatives; `most` is f h.
#[inline(always)]
pub(crate) fn law<L: Lane>(p: Vec3<L>, w: Vec3<L>, most: L, rho: L) -> Law<L> {
    let (zero, one) = (L::from_f64(0.0), L::from_f64(1.0));
    let s = p.x - rho * w.x;
    let left = s.max(-most).min(most) - s;
    let (low, high) = (left.lt(rho * w.y), (rho * w.z).lt(left));
    let sticks = s.abs().le(most) & zero.lt(most);
    let at = L::select(low, w.y, L::select(high, w.z, zero));
    let holds = low | high | sticks;
    let sign = L::select(zero.lt(s), one, L::select(s.lt(zero), -one, zero));
    Law {
        residual: vec3(L::select(holds, rho * (w.x - at), p.x - most * sign), p.y, p.z),
        by_p: diagonal(vec3(L::select(holds, zero, one), one, one)),
        by_w: mat3(
            vec3(L::select(holds, rho, zero), zero, zero),
            vec3(L::select(low, -rho, zero), zero, zero),
            vec3(L::select(high & !low, -rho, zero), zero, zero),
        ),
        by_mu: vec3(L::select(holds, zero, -sign), zero, zero),
    }
}

/// The impulse that makes the law true, all others left as they are; `own` is how the velocity changes with it.
#[kernel]
pub(crate) fn visited<R: Real>(p: Vec3<R>, w: Vec3<R>, own: Mat3<R>, most: R) -> Vec3<R> {
    let free = w.x - own.x.x * p.x;
    let bears = own.x.x * most;
    let v = clamp(free - clamp(free, -bears, bears), w.y, w.z);
    vec3((v - free) / own.x.x, 0.0, 0.0)
}
