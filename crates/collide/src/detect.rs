//! Which parts of a point and a triangle, and of two edges, are nearest: decided in double precision.

use pullback_kernel::prelude::*;

use crate::distance::{OnEdges, OnTriangle, along, apart, triangle_weights};
use crate::law::PARALLEL;
use crate::surface::Surface;
use crate::tree::{Bounds, Tree, number};

/// A triangle has a face where sin² of the angle between two sides is above this; otherwise only its sides touch.
const FLAT: f64 = 1e-8;

/// And where it is to be gone through, it has one above this: what is thinner is so thin that its sides are as near as its face, but for what
/// rounding leaves apart anyway.
const THIN: f64 = 1e-20;

/// Where the segment ab is nearest to a point, not outside [0, 1]; 0 for one without length.
#[inline(always)]
fn on_segment(p: Vec3, a: Vec3, b: Vec3) -> f64 {
    let t = along(p, a, b);
    // NaN, of a segment without length, becomes 0.
    if t > 0.0 { t.min(1.0) } else { 0.0 }
}

/// The point of the segment ab that is nearest to p: one of three parts, and the square of the distance.
#[inline(always)]
fn nearer<T: Copy>(p: Vec3, a: Vec3, b: Vec3, parts: [T; 3]) -> (T, f64) {
    let t = on_segment(p, a, b);
    (parts[part(t)], length_squared(p - (a + (b - a) * t)))
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

/// The square of the distance of a point x₀ and a triangle x₁ x₂ x₃ [m²], however thin that is, and whatever corner comes first: that of the
/// nearest side, or of the face.
///
/// The face's normal is that of its two shorter sides: of what is thin, others would be rounded by more.
pub(crate) fn squared_of_triangle(x: &[Vec3; 4]) -> f64 {
    let [p, a, b, c] = *x;
    let (_, of_sides) = nearest([(a, b), (b, c), (c, a)].map(|(a, b)| nearer(p, a, b, [(); 3])));
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let [over_a, over_b, over_c] = [bc, ca, ab].map(length_squared);
    let (corner, u, v) = if over_a >= over_b && over_a >= over_c {
        (a, ab, -ca)
    } else if over_b >= over_c {
        (b, bc, -ab)
    } else {
        (c, ca, -bc)
    };
    let (n, q) = (cross(u, v), p - corner);
    let s = length_squared(n);
    if s > THIN * length_squared(u) * length_squared(v) {
        let (by_u, by_v) = (dot(cross(q, v), n), dot(cross(u, q), n));
        if by_u > 0.0 && by_v > 0.0 && by_u + by_v < s {
            let height = dot(q, n);
            return of_sides.min(height * height / s);
        }
    }
    of_sides
}

/// Which parts of the edges x₀ x₁ and x₂ x₃ are nearest to each other, and the square of the distance [m²]; none of edges that are
/// parallel, or without length, which no force acts on.
///
/// With e and f along them and q = x₀ - x₂: the nearest point s of the first line, not outside the edge; the nearest point t of the
/// second line to that; and if t is outside, the end there and the nearest point of the first edge to it (Ericson 5.1.9).
#[inline(always)]
pub fn nearest_of_edges(x: &[Vec3; 4]) -> Option<(OnEdges, f64)> {
    use OnEdges::*;
    let (e, f, q) = (x[1] - x[0], x[3] - x[2], x[0] - x[2]);
    let (ee, ff, ef) = (dot(e, e), dot(f, f), dot(e, f));
    let (eq, fq) = (dot(e, q), dot(f, q));
    // |e × f|², in a form that keeps its digits where it is small.
    let crossed = length_squared(cross(e, f));
    if crossed <= PARALLEL * ee * ff || crossed.is_nan() {
        return None;
    }
    let mut s = ((ef * fq - ff * eq) / crossed).clamp(0.0, 1.0);
    let mut t = (ef * s + fq) / ff;
    if t <= 0.0 {
        (s, t) = ((-eq / ee).clamp(0.0, 1.0), 0.0);
    } else if t >= 1.0 {
        (s, t) = (((ef - eq) / ee).clamp(0.0, 1.0), 1.0);
    }
    let parts =
        [[StartStart, StartInner, StartEnd], [InnerStart, Inner, InnerEnd], [EndStart, EndInner, EndEnd]];
    Some((parts[part(s)][part(t)], length_squared(q + e * s - f * t)))
}

/// The square of the distance of the edges x₀ x₁ and x₂ x₃ [m²], parallel or not: those that are have an end that is as near as any point,
/// and those that nearly are an end or where they cross.
pub(crate) fn squared_of_edges(x: &[Vec3; 4]) -> f64 {
    if let Some((_, squared)) = nearest_of_edges(x) {
        return squared;
    }
    let [a, b, c, d] = *x;
    let ends = [(a, c, d), (b, c, d), (c, a, b), (d, a, b)].map(|(p, a, b)| nearer(p, a, b, [(); 3]));
    nearest(ends).1.min(squared_where_they_cross(x))
}

/// The square of the distance of the points where the lines of two edges that are nearly parallel are nearest, or of where the edges end before
/// that; no number where they are parallel.
fn squared_where_they_cross(x: &[Vec3; 4]) -> f64 {
    let (e, f, q) = (x[1] - x[0], x[3] - x[2], x[0] - x[2]);
    let (ff, ef) = (dot(f, f), dot(e, f));
    let s = ((ef * dot(f, q) - ff * dot(e, q)) / length_squared(cross(e, f))).clamp(0.0, 1.0);
    let t = ((ef * s + dot(f, q)) / ff).clamp(0.0, 1.0);
    length_squared(q + e * s - f * t)
}

/// The start, a point between, or the end.
#[inline(always)]
fn part(t: f64) -> usize {
    if t <= 0.0 {
        0
    } else if t >= 1.0 {
        2
    } else {
        1
    }
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
        for leaf in tree.meeting(Bounds::of([at(vertex)]).grown(least), 0) {
            for &key in tree.leaf(leaf).1 {
                let Some(four) = surface.vertex_and_triangle(k as u32, number(key)) else { continue };
                least = least.min(nearest_on_triangle(&four.map(at)).1.sqrt());
            }
        }
    }
    let edges = surface.edges();
    let mut tree = Tree::new(edges.len());
    tree.fit(edges.iter().map(|ends| Bounds::of(ends.map(at))));
    for (k, ends) in edges.iter().enumerate() {
        for leaf in tree.meeting(Bounds::of(ends.map(at)).grown(least), 0) {
            for &key in tree.leaf(leaf).1 {
                let Some(four) = surface.two_edges(k as u32, number(key)) else { continue };
                let Some((_, squared)) = nearest_of_edges(&four.map(at)) else { continue };
                least = least.min(squared.sqrt());
            }
        }
    }
    least
}

/// As a vector.
pub(crate) fn point(&[x, y, z]: &[f64; 3]) -> Vec3 {
    Vec3 { x, y, z }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64, y: f64, z: f64) -> Vec3 {
        Vec3 { x, y, z }
    }

    /// The least of the distances of many points of one to many of the other.
    fn least(a: impl Fn(f64, f64) -> Vec3, b: impl Fn(f64, f64) -> Vec3, n: usize) -> f64 {
        let part = |k: usize| k as f64 / n as f64;
        let all = (0..=n).flat_map(|i| (0..=n).map(move |j| (part(i), part(j))));
        all.map(|(s, t)| length_squared(a(s, t) - b(s, t))).fold(f64::INFINITY, f64::min)
    }

    /// Edges that are parallel, or all but that: an end is nearest, whichever it is, or where they cross.
    #[test]
    fn edges_that_are_parallel() {
        let along = at(0.3, -0.2, 0.1);
        for angle in [0.0, 1e-9, 1e-6, 3e-5] {
            let other = along + cross(along, at(0.0, 0.0, 1.0)) * angle;
            for (from, gap) in [(0.0, 0.2), (0.7, 0.2), (-0.7, 0.2), (1.4, 0.0), (-1.4, 0.05), (0.2, 1e-3)] {
                let start = along * from + at(0.0, 0.0, gap);
                for x in [
                    [at(0.0, 0.0, 0.0), along, start, start + other],
                    [start + other, start, along, at(0.0, 0.0, 0.0)],
                ] {
                    let on = |a: Vec3, b: Vec3, s: f64| a + (b - a) * s;
                    let wanted = least(|s, _| on(x[0], x[1], s), |_, t| on(x[2], x[3], t), 400);
                    let found = squared_of_edges(&x);
                    assert!(
                        (found.sqrt() - wanted.sqrt()).abs() < 2e-3 && found <= wanted + 1e-15,
                        "{found}, {wanted}"
                    );
                }
            }
        }
    }

    /// Triangles of any shape, in all orders of their corners: the distance is that of the nearest point.
    #[test]
    fn triangles_that_are_thin() {
        for thin in [0.5, 1e-3, 1e-5, 1e-7] {
            // A needle, and one whose third corner is near the middle of the longest side.
            for third in [at(0.0, thin, 0.0), at(0.45, thin, 0.0)] {
                let corners = [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), third];
                let inside = (corners[0] + corners[1] + corners[2]) * (1.0 / 3.0);
                for [i, j, k] in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
                    let of = |p: Vec3| squared_of_triangle(&[p, corners[i], corners[j], corners[k]]).sqrt();
                    for height in [0.3, 1e-3, 1e-2 * thin, -1e-2 * thin, 1e-4 * thin] {
                        let found = of(inside + at(0.0, 0.0, height));
                        assert!((found / height.abs() - 1.0).abs() < 1e-6, "{thin}, {height}: {found}");
                    }
                    let beside = of(at(0.5, -0.2, 0.0));
                    assert!((beside / 0.2 - 1.0).abs() < 1e-12, "{thin}: {beside}");
                }
            }
        }
        let flat = [at(0.2, 0.0, 0.1), at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.5, 0.0, 0.0)];
        assert!((squared_of_triangle(&flat).sqrt() - 0.1).abs() < 1e-15, "one without a face");
        let point = [at(0.2, 0.0, 0.1), at(0.0, 0.0, 0.1), at(0.0, 0.0, 0.1), at(0.0, 0.0, 0.1)];
        assert!((squared_of_triangle(&point).sqrt() - 0.2).abs() < 1e-15, "one without sides");
    }
}
