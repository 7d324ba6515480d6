//! Do surfaces cross? For tests, and for checks of health.

use pullback_kernel::prelude::*;

use crate::detect::point;
use crate::surface::Surface;
use crate::tree::{Bounds, Tree};

/// How many edges go through triangles that they share no vertex with. An edge that goes through two counts twice; one that only
/// lies in the plane of a triangle does not count.
///
/// # Panics
/// When there are fewer positions than the surface has particles.
pub fn crossings(surface: &Surface, positions: &[[f64; 3]]) -> usize {
    let at = |i: u32| point(&positions[i as usize]);
    let mut tree = Tree::new(surface.triangles().len());
    tree.fit(surface.triangles().iter().map(|corners| Bounds::of(corners.map(at))));
    let mut count = 0;
    for &[a, b] in surface.edges() {
        for triangle in tree.meeting(Bounds::of([at(a), at(b)]), 0) {
            let corners = surface.triangles()[triangle as usize];
            let shares = corners.contains(&a) || corners.contains(&b);
            count += usize::from(!shares && goes_through(at(a), at(b), corners.map(at)));
        }
    }
    count
}

/// Six times the volume of a tetrahedron with its sign: (b - a) × (c - a)·(d - a)
fn volume(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
    dot(cross(b - a, c - a), d - a)
}

/// Are the ends of an edge on both sides of a triangle's plane, and do all sides pass its line on the same side?
fn goes_through(a: Vec3, b: Vec3, [p, q, r]: [Vec3; 3]) -> bool {
    let ends = [volume(p, q, r, a), volume(p, q, r, b)];
    if ends[0] * ends[1] > 0.0 || (ends[0] == 0.0 && ends[1] == 0.0) {
        return false;
    }
    let sides = [volume(a, b, p, q), volume(a, b, q, r), volume(a, b, r, p)];
    sides.iter().all(|side| *side >= 0.0) || sides.iter().all(|side| *side <= 0.0)
}
