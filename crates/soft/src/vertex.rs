//! What elements reach at their corners: where a vertex is and how fast, side by side.
//!
//! In one buffer instead of two, an element finds both by one index, and in one line of the cache.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;

/// Position and velocity of a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct Vertex<R = f64> {
    /// Position [m].
    pub x: Vec3<R>,
    /// Velocity [m/s].
    pub v: Vec3<R>,
}

/// Both, side by side.
#[kernel]
fn vertex<R: Real>(x: Vec3<R>, v: Vec3<R>) -> Vertex<R> {
    Vertex { x, v }
}

/// Adds the vertices with these positions [m] and velocities [m/s], as an operation of this name.
pub fn vertices(p: &mut Builder, name: &str, x: Buffer<Vec3>, v: Buffer<Vec3>) -> Buffer<Vertex> {
    p.map::<vertex>(name, (x.own(), v.own()))
}

/// Positions of the corners of a tetrahedron, or of a hinge.
#[kernel]
pub(crate) fn positions<R: Real>(at: [Vertex<R>; 4]) -> [Vec3<R>; 4] {
    [at[0].x, at[1].x, at[2].x, at[3].x]
}

/// Their velocities.
#[kernel]
pub(crate) fn velocities<R: Real>(at: [Vertex<R>; 4]) -> [Vec3<R>; 4] {
    [at[0].v, at[1].v, at[2].v, at[3].v]
}
