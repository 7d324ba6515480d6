//! Contacts of corners, edges and faces: the continuous functions that are left once detection has said which of them
//! touch.
//!
//! A shape with flat parts is a core (a point, a segment, a polyhedron) with a radius around it. All kernels take points
//! of cores in the world, and radii where corners and edges can have one.

use pullback_kernel::prelude::*;

use crate::contact::*;

/// Corner x and corner y: n = (y - x) / |y - x|. Where they coincide, n is up.
#[kernel]
pub(crate) fn corner_corner<R: Real>(x: Vec3<R>, y: Vec3<R>, a: R, b: R) -> Contact<R> {
    between(x, y, direction(y - x, vec3(0.0, 0.0, 1.0)), a, b)
}

/// Where a segment is nearest to a point: t = (x - y₀)·e / |e|², not outside [0, 1]; the middle of one without length.
#[kernel]
pub(crate) fn nearest_on_segment<R: Real>(x: Vec3<R>, y: [Vec3<R>; 2]) -> Vec3<R> {
    let e = y[1] - y[0];
    let s = length_squared(e);
    let t = if s > NOWHERE * NOWHERE { clamp(dot(x - y[0], e) / s, 0.0, 1.0) } else { 0.5 };
    y[0] + e * t
}

/// Corner x and the segment y. Where x is on it, n is a vector across it.
#[kernel]
pub(crate) fn corner_edge<R: Real>(x: Vec3<R>, y: [Vec3<R>; 2], a: R, b: R) -> Contact<R> {
    let c = nearest_on_segment(x, y);
    between(x, c, direction(c - x, across(y[1] - y[0])), a, b)
}

/// The outward normal of a face with the corners y, counter-clockwise from outside.
#[kernel]
pub(crate) fn outward<R: Real>(y: [Vec3<R>; 3]) -> Vec3<R> {
    direction(cross(y[1] - y[0], y[2] - y[0]), vec3(0.0, 0.0, 1.0))
}

/// The face y and the corner x, from the face to the corner: gap = n·(x - y₀) - a.
#[kernel]
pub(crate) fn face_corner<R: Real>(y: [Vec3<R>; 3], x: Vec3<R>, a: R) -> Contact<R> {
    let n = outward(y);
    above(x, n, dot(n, x - y[0]), a)
}

/// Two edges that cross: n = ± e × f / |e × f|, and the nearest points of the lines are x₀ + e s and y₀ + f t, with
/// d = y₀ - x₀, c = e × f, s = (d × f)·c / |c|², t = (d × e)·c / |c|² (Ericson, Real-Time Collision Detection, 5.1.8).
///
/// Detection gives no edges that are nearly parallel; if they are, their middles stand for them.
#[kernel]
pub(crate) fn edge_edge<R: Real>(x: [Vec3<R>; 2], y: [Vec3<R>; 2], a: R, b: R, side: R) -> Contact<R> {
    let e = x[1] - x[0];
    let f = y[1] - y[0];
    let d = y[0] - x[0];
    let c = cross(e, f);
    let s = length_squared(c);
    if s > PARALLEL * PARALLEL * length_squared(e) * length_squared(f) {
        let p = x[0] + e * (dot(cross(d, f), c) / s);
        let q = y[0] + f * (dot(cross(d, e), c) / s);
        between(p, q, normalize(c) * side, a, b)
    } else {
        let p = 0.5 * (x[0] + x[1]);
        let q = 0.5 * (y[0] + y[1]);
        between(p, q, direction(q - p, vec3(0.0, 0.0, 1.0)), a, b)
    }
}

/// The sine of an angle below which edges count as parallel.
pub(crate) const PARALLEL: f64 = 1e-6;

/// The face y and the edge x, at the place where x passes over the side s of the face: where w·(x₀ + (x₁ - x₀) t - s₀) = 0
/// with w = (s₁ - s₀) × n, the outward normal of the plane through the side. Then as a corner.
#[kernel]
pub(crate) fn face_edge<R: Real>(y: [Vec3<R>; 3], s: [Vec3<R>; 2], x: [Vec3<R>; 2], a: R) -> Contact<R> {
    let n = outward(y);
    let w = cross(s[1] - s[0], n);
    let e = x[1] - x[0];
    let along = dot(w, e);
    let t = if along * along > NOWHERE * NOWHERE * length_squared(w) {
        clamp(dot(w, s[0] - x[0]) / along, 0.0, 1.0)
    } else {
        0.5
    };
    let at = x[0] + e * t;
    above(at, n, dot(n, at - y[0]), a)
}

/// The face y and a face x that faces it, at the corner c of y: gap h along n, where c + n h is in the plane of x:
/// h = k·(x₀ - c) / k·n with the normal k of x.
#[kernel]
pub(crate) fn face_face<R: Real>(y: [Vec3<R>; 3], c: Vec3<R>, x: [Vec3<R>; 3]) -> Contact<R> {
    let n = outward(y);
    let k = outward(x);
    let facing = dot(k, n);
    let h = if abs(facing) > NOWHERE { dot(k, x[0] - c) / facing } else { dot(n, x[0] - c) };
    above(c + n * h, n, h, 0.0)
}
