//! Vectors in space.

use crate::{Value, kernel, math::*, scalar::Real};

/// A vector in space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct Vec3<R = f64> {
    /// Its component along x.
    pub x: R,
    /// Its component along y.
    pub y: R,
    /// Its component along z.
    pub z: R,
}
scaled_from_left!(Vec3);

/// (x, y, z)
#[kernel]
pub fn vec3<R: Real>(x: R, y: R, z: R) -> Vec3<R> {
    Vec3 { x, y, z }
}

/// a·b
#[kernel(pullback = dot_pullback)]
pub fn dot<R: Real>(a: Vec3<R>, b: Vec3<R>) -> R {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// a_bar = s_bar b,  b_bar = s_bar a
#[kernel]
pub fn dot_pullback<R: Real>(a: Vec3<R>, b: Vec3<R>, s_bar: R) -> (Vec3<R>, Vec3<R>) {
    (b * s_bar, a * s_bar)
}

/// a × b
#[kernel(pullback = cross_pullback)]
pub fn cross<R: Real>(a: Vec3<R>, b: Vec3<R>) -> Vec3<R> {
    vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

/// a_bar = b × c_bar,  b_bar = c_bar × a
#[kernel]
pub fn cross_pullback<R: Real>(a: Vec3<R>, b: Vec3<R>, c_bar: Vec3<R>) -> (Vec3<R>, Vec3<R>) {
    (cross(b, c_bar), cross(c_bar, a))
}

/// |a|²
#[kernel]
pub fn length_squared<R: Real>(a: Vec3<R>) -> R {
    dot(a, a)
}

/// |a|
#[kernel(pullback = length_pullback)]
pub fn length<R: Real>(a: Vec3<R>) -> R {
    let s = dot(a, a);
    if s > SMALL && s < LARGE { sqrt(s) } else { length_scaled(a) }
}

/// a_bar = s_bar a / |a|, and 0 at a = 0
#[kernel]
pub fn length_pullback<R: Real>(a: Vec3<R>, s_bar: R) -> Vec3<R> {
    let s = dot(a, a);
    if s > SMALL && s < LARGE { a * (s_bar / sqrt(s)) } else { normalize_scaled(a) * s_bar }
}

/// a / |a|, and 0 at a = 0
#[kernel(pullback = normalize_pullback)]
pub fn normalize<R: Real>(a: Vec3<R>) -> Vec3<R> {
    let s = dot(a, a);
    if s > SMALL && s < LARGE { a / sqrt(s) } else { normalize_scaled(a) }
}

/// a_bar = (n_bar - n (n·n_bar)) / |a| with n = a / |a|, and 0 at a = 0
#[kernel]
pub fn normalize_pullback<R: Real>(a: Vec3<R>, n_bar: Vec3<R>) -> Vec3<R> {
    let s = dot(a, a);
    if s > SMALL && s < LARGE {
        let l = sqrt(s);
        let n = a / l;
        (n_bar - n * dot(n, n_bar)) / l
    } else {
        let n = normalize_scaled(a);
        let across = n_bar - n * dot(n, n_bar);
        let l = length_scaled(a);
        if l == 0.0 { vec3(0.0, 0.0, 0.0) } else { across / l }
    }
}

/// Between these a sum of squares is exact in every precision: no square has left the range of the scalar.
pub(super) const SMALL: f64 = 1e-30;
pub(super) const LARGE: f64 = 1e30;
/// A product above this has all its digits in every precision.
pub(super) const LEAST: f64 = 1e-37;

/// About |a|, for scaling where |a|² may leave the scalar's range. NaN stays NaN, as it would not in a `max`.
#[kernel]
pub(super) fn size<R: Real>(a: Vec3<R>) -> R {
    0.25 * abs(a.x) + 0.25 * abs(a.y) + 0.25 * abs(a.z)
}

/// |a| where |a|² may leave the scalar's range: m |a / m|, with m about |a|.
///
/// 0 where 1 / |a| is not finite, so that no derivative of a / |a| is either: shorter vectors count as 0.
#[kernel]
pub(super) fn length_scaled<R: Real>(a: Vec3<R>) -> R {
    let m = size(a);
    if 64.0 / m < f64::INFINITY {
        let b = a / m;
        m * sqrt(dot(b, b))
    } else {
        0.0 * m
    }
}

/// a / |a| where |a|² may leave the scalar's range, and 0 where [`length_scaled`] is 0.
#[kernel]
pub(super) fn normalize_scaled<R: Real>(a: Vec3<R>) -> Vec3<R> {
    let m = size(a);
    if 64.0 / m < f64::INFINITY {
        let b = a / m;
        b / sqrt(dot(b, b))
    } else {
        a * 0.0
    }
}
