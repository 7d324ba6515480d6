//! Which parts of a point and a triangle, and of two edges, are nearest: decided in double precision.

use pullback_kernel::prelude::*;

use crate::distance::{OnEdges, OnTriangle, along, apart, between_lines, edge_weights, triangle_weights};
use crate::law::PARALLEL;
use crate::surface::Surface;
use crate::tree::{Bounds, Tree};

/// A triangle has a face where sin² of the angle between two sides is above this; otherwise only its sides touch.
const FLAT: f64 = 1e-8;

/// Where the segment ab is nearest to a point, not outside [0, 1]; 0 for one without length.
#[inline(always)]
fn on_segment(p: Vec3, a: Vec3, b: Vec3) -> f64 {
    let t = along(p, a, b);
    // NaN, of a segment without length, becomes 0.
    if t > 0.0 { t.min(1.0) } else { 0.0 }
}

/// The point of the segment ab that is nearest to p: one of three parts, and the square of the distance.
#[inline(always)]
fn nearer<T>(p: Vec3, a: Vec3, b: Vec3, [start, inner, end]: [T; 3]) -> (T, f64) {
    let t = on_segment(p, a, b);
    let part = if t <= 0.0 {
        start
    } else if t >= 1.0 {
        end
    } else {
        inner
    };
    (part, length_squared(p - (a + (b - a) * t)))
}

/// The first of the nearest.
#[inline(always)]
fn nearest<T: Copy, const N: usize>(all: [(T, f64); N]) -> (T, f64) {
    let mut nearest = all[0];
    for one in all {
        if one.1 < nearest.1 {
            nearest = one;
        }
    }
    nearest
}

/// Which part of a triangle x₁ x₂ x₃ is nearest to the point x₀, and the square of the distance [m²].
#[inline(always)]
pub fn nearest_on_triangle(x: &[Vec3; 4]) -> (OnTriangle, f64) {
    use OnTriangle::*;
    let [p, a, b, c] = *x;
    let (u, v) = (b - a, c - a);
    if length_squared(cross(u, v)) > FLAT * length_squared(u) * length_squared(v) {
        let w = triangle_weights(Face, *x);
        if w[1] < 0.0 && w[2] < 0.0 && w[3] < 0.0 {
            return (Face, length_squared(apart(*x, w)));
        }
    }
    nearest([nearer(p, a, b, [A, AB, B]), nearer(p, b, c, [B, BC, C]), nearer(p, c, a, [C, CA, A])])
}

/// Which parts of the edges x₀ x₁ and x₂ x₃ are nearest to each other, and the square of the distance [m²]; none of edges that are
/// parallel, or without length, which no force acts on.
#[inline(always)]
pub fn nearest_of_edges(x: &[Vec3; 4]) -> Option<(OnEdges, f64)> {
    use OnEdges::*;
    let [a, b, c, d] = *x;
    let sine = length_squared(cross(normalize(b - a), normalize(d - c)));
    if sine <= PARALLEL || sine.is_nan() {
        return None;
    }
    let (s, t) = between_lines(*x);
    if 0.0 < s && s < 1.0 && 0.0 < t && t < 1.0 {
        return Some((Inner, length_squared(apart(*x, edge_weights(Inner, *x)))));
    }
    Some(nearest([
        nearer(a, c, d, [StartStart, StartInner, StartEnd]),
        nearer(b, c, d, [EndStart, EndInner, EndEnd]),
        nearer(c, a, b, [StartStart, InnerStart, EndStart]),
        nearer(d, a, b, [StartEnd, InnerEnd, EndEnd]),
    ]))
}

/// The distance of the nearest vertex and triangle, or two edges, that share no vertex [m]; `within` if none are nearer.
///
/// A thickness above that of a surface at rest would push it apart wherever it is.
///
/// # Panics
/// When there are fewer positions than the surface has particles.
pub fn clearance(surface: &Surface, positions: &[[f64; 3]], within: f64) -> f64 {
    let at = |i: u32| point(&positions[i as usize]);
    let mut least = within;
    let mut tree = Tree::new(surface.triangles().len());
    tree.fit(surface.triangles().iter().map(|corners| Bounds::of(corners.map(at))));
    for (k, &vertex) in surface.vertices().iter().enumerate() {
        for triangle in tree.meeting(Bounds::of([at(vertex)]).grown(least), 0) {
            let Some(four) = surface.vertex_and_triangle(k as u32, triangle) else { continue };
            least = least.min(nearest_on_triangle(&four.map(at)).1.sqrt());
        }
    }
    let edges = surface.edges();
    let mut tree = Tree::new(edges.len());
    tree.fit(edges.iter().map(|ends| Bounds::of(ends.map(at))));
    for (k, ends) in edges.iter().enumerate() {
        for other in tree.meeting(Bounds::of(ends.map(at)).grown(least), 0) {
            let Some(four) = surface.two_edges(k as u32, other) else { continue };
            let Some((_, squared)) = nearest_of_edges(&four.map(at)) else { continue };
            least = least.min(squared.sqrt());
        }
    }
    least
}

/// As a vector.
pub(crate) fn point(&[x, y, z]: &[f64; 3]) -> Vec3 {
    Vec3 { x, y, z }
}
