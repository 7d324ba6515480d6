//! The forces between two parts of surfaces that are nearer than the thickness h.
//!
//! With the distance d = |r|, r = Σ wᵢ xᵢ (`distance.rs`), ξ = d/h, n = r/d and the velocity u = Σ wᵢ vᵢ of the nearest points:
//!
//! - Energy  b = -κ h² (1 - ξ)² ln ξ  [J], the barrier of IPC (Li et al. 2020, eq. 6) with the distance itself, and its force
//!   f = -db/dd = κ h ((1 - ξ)²/ξ - 2 (1 - ξ) ln ξ)  [N]. Force and stiffness are 0 at d = h, and both grow without bound as d → 0.
//!   κ = ke / (5 + 2 ln 2), so that the stiffness -df/dd is ke at d = h/2.
//! - Damping:  f is less by kd (1 - ξ)² n·u, which is 0 at d = h as well; surfaces never pull on each other.
//! - Friction: min(μ f, kf |s|) against the slip s, the part of `slip.rs` across n.
//!
//! A pair counts once, whatever its area: ke is that of a pair, as springs have a stiffness and not one for their length. So a finer mesh
//! is a stiffer one. A vertex over the border of two triangles has two pairs.
//!
//! Two edges that are nearly parallel have no one pair of nearest points. Their energy is less by a share m(sin²) of the angle
//! between them (IPC, section 5.3), so that it is 0, and smooth, where they are parallel. Then points and triangles bear the contact.
//!
//! Where there is no derivative: below [`FLOOR`] h the force goes on along its tangent, to about twice as much at d = 0, so that it is
//! finite there. At d = 0 the direction is that of the triangle's normal, or across both edges: surfaces that meet are pushed apart
//! to one of both sides. Surfaces that have crossed are pushed away from where they are nearest, like others: nothing knows that
//! they were on other sides. [`crate::crossings`] tells.

use pullback_kernel::prelude::*;

use crate::distance::{OnEdges, OnTriangle, apart, edge_weights, triangle_weights};
use crate::friction::friction_per_speed;
use crate::slip::{lever, slip, spread};

/// How surfaces push each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct Law<R = f64> {
    /// From which distance on h [m].
    pub thickness: R,
    /// Stiffness of a pair at half of the thickness [N/m].
    pub ke: R,
    /// Damping where they nearly touch [N·s/m].
    pub kd: R,
    /// Friction per speed while they stick [N·s/m].
    pub kf: R,
    /// Coefficient of friction.
    pub mu: R,
}

/// The least d/h at which the barrier is one.
pub const FLOOR: f64 = 1e-3;
/// -d²b/dd² at d = h/2, for κ = 1: 5 + 2 ln 2.
const AT_HALF: f64 = 5.0 + 2.0 * std::f64::consts::LN_2;
/// A vector that is shorter than this has no direction [m].
const NOWHERE: f64 = 1e-12;

/// Energy b [J] and force f = -db/dd [N] at a distance d. With g = (1 - ξ)²/ξ - 2 (1 - ξ) ln ξ,
/// g' = (ξ² - 1)/ξ² + 2 ln ξ - 2 (1 - ξ)/ξ:  f = κ h g, and below the floor ξ₀ f = κ h (g(ξ₀) + g'(ξ₀) (ξ - ξ₀)).
#[kernel]
pub fn barrier<R: Real>(d: R, thickness: R, ke: R) -> (R, R) {
    let mut energy = 0.0;
    let mut force = 0.0;
    if d < thickness {
        let at = max(d / thickness, FLOOR);
        let left = 1.0 - at;
        let log = ln(at);
        let g = left * left / at - 2.0 * left * log;
        let slope = (at * at - 1.0) / (at * at) + 2.0 * log - 2.0 * left / at;
        let below = at - d / thickness;
        let kappa = ke / AT_HALF;
        force = kappa * thickness * (g - slope * below);
        energy = kappa * thickness * thickness * (-(left * left * log) + below * (g - 0.5 * slope * below));
    }
    (energy, force)
}

/// Edges are parallel where sin² of the angle between them is not above this; it is enough for single precision.
pub const PARALLEL: f64 = 1e-8;
/// Edges cross where sin² of the angle between them is above this. IPC has 1e-3; with 1e-2 the energy turns edges ten times more
/// softly, and explicit steps may be longer.
const CROSSING: f64 = 1e-2;

/// m = z² (3 - 2 z) with z from 0 for parallel edges to 1 for those that cross.
///
/// IPC has 2 z - z², whose slope would jump here, where `PARALLEL` is not 0.
#[kernel(force = parting)]
pub fn crossing_share<R: Real>(x: [Vec3<R>; 4]) -> R {
    let c = cross(normalize(x[1] - x[0]), normalize(x[3] - x[2]));
    let z = clamp((length_squared(c) - PARALLEL) / (CROSSING - PARALLEL), 0.0, 1.0);
    z * z * (3.0 - 2.0 * z)
}

/// a/|a|; where a has no direction, b/|b|, and up if neither has.
#[kernel]
fn direction<R: Real>(a: Vec3<R>, b: Vec3<R>) -> Vec3<R> {
    if length_squared(a) > NOWHERE * NOWHERE {
        normalize(a)
    } else if length_squared(b) > NOWHERE * NOWHERE * NOWHERE * NOWHERE {
        normalize(b)
    } else {
        vec3(0.0, 0.0, 1.0)
    }
}

/// Forces on four vertices [N] with the weights w, for a share of the energy; `otherwise` is across, where they touch.
#[kernel]
fn forces<R: Real>(
    x: [Vec3<R>; 4],
    v: [Vec3<R>; 4],
    w: [R; 4],
    share: R,
    otherwise: Vec3<R>,
    law: Law<R>,
) -> [Vec3<R>; 4] {
    let r = apart(x, w);
    let u = apart(v, w);
    let d = length(r);
    let n = direction(r, otherwise);
    let (_, elastic) = barrier(d, law.thickness, law.ke);
    let near = max(1.0 - d / law.thickness, 0.0);
    let load = share * max(elastic - law.kd * near * near * dot(n, u), 0.0);
    let four = lever(x);
    let sliding = slip(four, v, u, r);
    let s = sliding - n * dot(n, sliding);
    let per_speed = four.share * friction_per_speed(load, length(s), law.kf, law.mu);
    let push = n * load;
    let rub = spread(four, w, s * (-per_speed), r);
    [push * w[0] + rub[0], push * w[1] + rub[1], push * w[2] + rub[2], push * w[3] + rub[3]]
}

/// Forces on a vertex x₀ and the corners x₁ x₂ x₃ of a triangle [N].
#[kernel]
pub fn triangle_forces<R: Real>(
    on: OnTriangle,
    x: [Vec3<R>; 4],
    v: [Vec3<R>; 4],
    law: Law<R>,
) -> [Vec3<R>; 4] {
    forces(x, v, triangle_weights(on, x), 1.0, cross(x[2] - x[1], x[3] - x[1]), law)
}

/// Forces on the ends of two edges x₀ x₁ and x₂ x₃ [N]: those of the energy m b, -∇(m b) = -m ∇b - b ∇m, with damping and friction
/// for the load m f.
#[kernel]
pub fn edge_forces<R: Real>(on: OnEdges, x: [Vec3<R>; 4], v: [Vec3<R>; 4], law: Law<R>) -> [Vec3<R>; 4] {
    let w = edge_weights(on, x);
    let share = crossing_share(x);
    let mut push = forces(x, v, w, share, cross(x[1] - x[0], x[3] - x[2]), law);
    if share < 1.0 {
        let (energy, _) = barrier(length(apart(x, w)), law.thickness, law.ke);
        let turn = parting(x);
        push = [
            push[0] + turn[0] * energy,
            push[1] + turn[1] * energy,
            push[2] + turn[2] * energy,
            push[3] + turn[3] * energy,
        ];
    }
    push
}
