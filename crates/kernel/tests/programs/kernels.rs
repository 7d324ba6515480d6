//! The kernels of the test programs: few and small, because a pattern is compiled for every scalar and lane.

use pullback_kernel::prelude::*;

/// Spring forces on its two ends.
#[kernel]
pub fn spring<R: Real>(x: [Vec3<R>; 2], v: [Vec3<R>; 2], k: R, c: R, rest: R) -> [Vec3<R>; 2] {
    let d = x[1] - x[0];
    let n = normalize(d);
    let f = n * (k * (length(d) - rest) + c * dot(v[1] - v[0], n));
    [f, -f]
}

/// A semi-implicit step of a point.
#[kernel]
pub fn advance<R: Real>(x: Vec3<R>, v: Vec3<R>, f: Vec3<R>, m: R, dt: R) -> (Vec3<R>, Vec3<R>) {
    let v1 = v + f * (dt / m);
    (x + v1 * dt, v1)
}

/// How a number follows from another.
#[derive(Clone, Copy, Debug, Kind)]
pub enum Law {
    Linear,
    Cubic,
    Wave,
}

/// One of several laws, with one of several weights.
#[kernel]
pub fn law<R: Real>(kind: Law, i: usize, x: R, w: [R; 3]) -> R {
    match kind {
        Law::Linear => x * w[i],
        Law::Cubic => x * x * x + w[i],
        Law::Wave => sin(x * w[i]),
    }
}

/// What three corners, and their rates, are off a first one: forces on these.
#[kernel]
pub fn tie<R: Real>(edges: [Motion<R>; 3], at: [Vec3<R>; 3], k: R) -> [Vec3<R>; 3] {
    let n = cross(edges[0].linear, edges[1].linear + at[2]);
    [n * k, edges[2].angular * dot(n, at[0]), cross(edges[0].angular, at[1])]
}

/// Heat from one end to the other.
#[kernel]
pub fn flow<R: Real>(t: [R; 2], w: R) -> [R; 2] {
    let q = w * (t[1] - t[0]) * t[0];
    [q, -q]
}

/// Matrices at two vertices of one mesh, from numbers at three of another.
#[kernel]
pub fn mix<R: Real>(t: [R; 3], d: [Mat3<R>; 2], w: R) -> [Mat3<R>; 2] {
    [d[1] * (t[0] * t[1]), (d[0] * w + d[1]) * t[2]]
}

/// Energy of a spring without length.
#[kernel]
pub fn stretch<R: Real>(x: [Vec3<R>; 2], k: R) -> R {
    let d = x[1] - x[0];
    0.5 * k * dot(d, d)
}

/// Energy of a point.
#[kernel]
pub fn energy<R: Real>(x: Vec3<R>, m: R, g: Vec3<R>) -> R {
    m * dot(g, x) + 0.5 * m * m * dot(x, x)
}

/// Where a node is, from where its parent is.
#[kernel]
pub fn link<R: Real>(parent: Vec3<R>, q: R, axis: Vec3<R>, s: R) -> Vec3<R> {
    parent * 0.5 + axis * (q * s) + cross(parent, axis) * 0.2
}

/// What a node passes on, from what its children did.
#[kernel]
pub fn load<R: Real>(children: Vec3<R>, x: Vec3<R>, w: R) -> Vec3<R> {
    children * 0.5 + x * w + cross(x, children) * 0.1
}

/// The value itself.
#[kernel]
pub fn identity<R: Real>(x: Vec3<R>) -> Vec3<R> {
    x
}
