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

/// What the positions of three corners are off that of the first.
#[kernel]
pub(crate) fn positions<R: Real>(edges: [Vertex<R>; 3]) -> [Vec3<R>; 3] {
    [edges[0].x, edges[1].x, edges[2].x]
}

/// The same of velocities.
#[kernel]
pub(crate) fn velocities<R: Real>(edges: [Vertex<R>; 3]) -> [Vec3<R>; 3] {
    [edges[0].v, edges[1].v, edges[2].v]
}
