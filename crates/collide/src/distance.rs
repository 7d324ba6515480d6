//! Distances of a point and a triangle, and of two edges, as continuous functions once the nearest parts are known.
//!
//! A pair has four vertices x₀ … x₃. Its nearest points differ by r = Σ wᵢ xᵢ, and its distance is d = |r|. The weights w add up to
//! 0: 1 and minus the barycentric coordinates for a point and a triangle, (1 - s, s, t - 1, -t) for two edges. They are continuous
//! where the nearest part changes, and so d has a continuous derivative there: of a minimum over a convex set, the derivative is that
//! at the minimiser (Danskin).

use pullback_kernel::prelude::*;

/// Which part of a triangle abc is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Kind)]
pub enum OnTriangle {
    /// The corner a.
    A,
    /// The corner b.
    B,
    /// The corner c.
    C,
    /// The side ab, between its ends.
    AB,
    /// The side bc, between its ends.
    BC,
    /// The side ca, between its ends.
    CA,
    /// Inside.
    Face,
}

/// Which parts of two edges are nearest to each other: of the first, then of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Kind)]
pub enum OnEdges {
    /// The starts of both.
    StartStart,
    /// The start of the first, the end of the second.
    StartEnd,
    /// The end of the first, the start of the second.
    EndStart,
    /// The ends of both.
    EndEnd,
    /// The start of the first, a point between the ends of the second.
    StartInner,
    /// The end of the first, a point between the ends of the second.
    EndInner,
    /// A point between the ends of the first, the start of the second.
    InnerStart,
    /// A point between the ends of the first, the end of the second.
    InnerEnd,
    /// Points between the ends of both.
    Inner,
}

/// Where a line is nearest to a point p: at a + (b - a) t, t = (p - a)·e / |e|² with e = b - a
#[kernel]
pub(crate) fn along<R: Real>(p: Vec3<R>, a: Vec3<R>, b: Vec3<R>) -> R {
    let e = b - a;
    dot(p - a, e) / length_squared(e)
}

/// The weights of a point x₀ and a triangle x₁ x₂ x₃. On the face, with n = u × v, u = x₂ - x₁, v = x₃ - x₁, q = x₀ - x₁,
/// the coordinates of x₂ and x₃ are (q × v)·n / |n|² and (u × q)·n / |n|² (Ericson, Real-Time Collision Detection, 3.4).
#[kernel]
pub fn triangle_weights<R: Real>(on: OnTriangle, x: [Vec3<R>; 4]) -> [R; 4] {
    match on {
        OnTriangle::A => [1.0, -1.0, 0.0, 0.0],
        OnTriangle::B => [1.0, 0.0, -1.0, 0.0],
        OnTriangle::C => [1.0, 0.0, 0.0, -1.0],
        OnTriangle::AB => {
            let t = along(x[0], x[1], x[2]);
            [1.0, t - 1.0, -t, 0.0]
        }
        OnTriangle::BC => {
            let t = along(x[0], x[2], x[3]);
            [1.0, 0.0, t - 1.0, -t]
        }
        OnTriangle::CA => {
            let t = along(x[0], x[3], x[1]);
            [1.0, -t, 0.0, t - 1.0]
        }
        OnTriangle::Face => {
            let u = x[2] - x[1];
            let v = x[3] - x[1];
            let q = x[0] - x[1];
            let n = cross(u, v);
            let s = length_squared(n);
            let b = dot(cross(q, v), n) / s;
            let c = dot(cross(u, q), n) / s;
            [1.0, b + c - 1.0, -b, -c]
        }
    }
}

/// Where two lines are nearest to each other: at x₀ + (x₁ - x₀) s and x₂ + (x₃ - x₂) t. With the unit vectors e and f along them,
/// c = e × f and q = x₂ - x₀:  s = (q × f)·c / |c|² / |x₁ - x₀|,  t = (q × e)·c / |c|² / |x₃ - x₂|  (Ericson 5.1.8).
#[kernel]
fn between_lines<R: Real>(x: [Vec3<R>; 4]) -> (R, R) {
    let (e, f) = (normalize(x[1] - x[0]), normalize(x[3] - x[2]));
    let c = cross(e, f);
    let k = c / length_squared(c);
    let q = x[2] - x[0];
    (dot(cross(q, f), k) / length(x[1] - x[0]), dot(cross(q, e), k) / length(x[3] - x[2]))
}

/// The weights of two edges x₀ x₁ and x₂ x₃.
#[kernel]
pub fn edge_weights<R: Real>(on: OnEdges, x: [Vec3<R>; 4]) -> [R; 4] {
    match on {
        OnEdges::StartStart => [1.0, 0.0, -1.0, 0.0],
        OnEdges::StartEnd => [1.0, 0.0, 0.0, -1.0],
        OnEdges::EndStart => [0.0, 1.0, -1.0, 0.0],
        OnEdges::EndEnd => [0.0, 1.0, 0.0, -1.0],
        OnEdges::StartInner => {
            let t = along(x[0], x[2], x[3]);
            [1.0, 0.0, t - 1.0, -t]
        }
        OnEdges::EndInner => {
            let t = along(x[1], x[2], x[3]);
            [0.0, 1.0, t - 1.0, -t]
        }
        OnEdges::InnerStart => {
            let s = along(x[2], x[0], x[1]);
            [1.0 - s, s, -1.0, 0.0]
        }
        OnEdges::InnerEnd => {
            let s = along(x[3], x[0], x[1]);
            [1.0 - s, s, 0.0, -1.0]
        }
        OnEdges::Inner => {
            let (s, t) = between_lines(x);
            [1.0 - s, s, t - 1.0, -t]
        }
    }
}

/// Σ wᵢ aᵢ of weights that add up to 0, as Σ wᵢ (aᵢ - a₀): what is far from the origin loses no digits.
#[kernel]
pub fn apart<R: Real>(a: [Vec3<R>; 4], w: [R; 4]) -> Vec3<R> {
    (a[1] - a[0]) * w[1] + (a[2] - a[0]) * w[2] + (a[3] - a[0]) * w[3]
}
