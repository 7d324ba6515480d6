//! Do surfaces cross? For checks, at the start and in tests.

use pullback_kernel::prelude::*;

use crate::detect::point;
use crate::distance::{OnTriangle, triangle_weights};
use crate::surface::Surface;
use crate::tree::{Bounds, Tree, number};

/// How many edges go through triangles that they share no vertex with. An edge that goes through two counts twice; one that
/// only touches a triangle does not count.
///
/// # Panics
/// When there are fewer positions than the surface has particles.
pub fn crossings(surface: &Surface, positions: &[[f64; 3]]) -> usize {
    let mut count = 0;
    each_crossing(surface, positions, |_| count += 1);
    count
}

/// Where surfaces go through each other, if they do: an end of an edge, and a corner of the triangle that it goes through.
///
/// # Panics
/// When there are fewer positions than the surface has particles.
pub fn first_crossing(surface: &Surface, positions: &[[f64; 3]]) -> Option<[u32; 2]> {
    let mut found = None;
    each_crossing(surface, positions, |ends| found = found.or(Some(ends)));
    found
}

fn each_crossing(surface: &Surface, positions: &[[f64; 3]], mut visit: impl FnMut([u32; 2])) {
    let at = |i: u32| point(&positions[i as usize]);
    let mut tree = Tree::new(surface.triangles().len());
    tree.fit(surface.triangles().iter().map(|corners| Bounds::of(corners.map(at))));
    for &[a, b] in surface.edges() {
        let around = Bounds::of([at(a), at(b)]);
        for leaf in tree.meeting(around, 0) {
            let (boxes, keys) = tree.leaf(leaf);
            for (_, &key) in boxes.iter().zip(keys).filter(|(one, _)| one.meets(&around)) {
                let corners = surface.triangles()[number(key) as usize];
                let shares = corners.contains(&a) || corners.contains(&b);
                if !shares && goes_through(at(a), at(b), corners.map(at)) {
                    visit([a, corners[0]]);
                }
            }
        }
    }
}

/// Are the ends of an edge on both sides of a triangle's plane, and is the point between them that is in the plane in the triangle?
///
/// An end that may be in the plane but for rounding is on neither side.
fn goes_through(a: Vec3, b: Vec3, [p, q, r]: [Vec3; 3]) -> bool {
    let (u, v) = (q - p, r - p);
    let n = cross(u, v);
    let above = |x: Vec3| {
        let height = dot(n, x - p);
        if height.abs() > 1e-13 * length(u) * length(v) * length(x - p) { height } else { 0.0 }
    };
    let (from, to) = (above(a), above(b));
    if from * to >= 0.0 {
        return false;
    }
    let at = a + (b - a) * (from / (from - to));
    let [_, weights @ ..] = triangle_weights(OnTriangle::Face, [at, p, q, r]);
    weights.iter().all(|weight| *weight <= 0.0)
}
