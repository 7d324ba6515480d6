//! Contacts of round shapes with corners and edges of others, as they are. From the corner or the edge to the round shape.

use pullback_kernel::prelude::*;

use crate::cells::*;
use crate::contact::*;
use crate::plane::*;

/// The part of the least eigenvalue that t stays above.
const DEEP: f64 = 0.75;
/// Rounds of Newton's method.
const ROUNDS: usize = 24;

/// (M + t I)⁻¹ p, with M = ((m.x, m.y), (m.y, m.z)).
#[kernel]
fn shifted<R: Real>(m: Vec3<R>, t: R, p: [R; 2]) -> [R; 2] {
    let (a, b, c) = (m.x + t, m.y, m.z + t);
    let det = a * c - b * b;
    [(c * p[0] - b * p[1]) / det, (a * p[1] - b * p[0]) / det]
}

/// M p.
#[kernel]
fn times<R: Real>(m: Vec3<R>, p: [R; 2]) -> [R; 2] {
    [m.x * p[0] + m.y * p[1], m.y * p[0] + m.z * p[1]]
}

/// The t at which g = (M + t I)⁻¹ p has gᵀ M g = 1: then M g is the point of the ellipse xᵀ M⁻¹ x = 1 nearest to p, and t |g|
/// the distance. The function falls and is convex, so that Newton's method from the left never passes t. Deep inside, t
/// stays where it starts: detection gives no such edges.
#[kernel(pullback = shift_pullback)]
pub(crate) fn shift<R: Real>(m: Vec3<R>, p: [R; 2]) -> R {
    let half = 0.5 * (m.x - m.z);
    let spread = sqrt(half * half + m.y * m.y);
    let middle = 0.5 * (m.x + m.z);
    let least = max(middle - spread, 1e-6 * middle);
    let size = sqrt(p[0] * p[0] + p[1] * p[1]);
    let start = max(-(DEEP * least), size * sqrt(least) - (middle + spread));
    let mut t = start;
    for _ in 0..ROUNDS {
        let g = shifted(m, t, p);
        let y = times(m, g);
        let k = shifted(m, t, g);
        let over = g[0] * y[0] + g[1] * y[1] - 1.0;
        let slope = max(k[0] * y[0] + k[1] * y[1], 1e-30);
        t = max(t + over / (2.0 * slope), start);
    }
    t
}

/// With k = (M + t I)⁻¹ g, y = M k and σ = gᵀ y: t_p = y / σ, t_M dM = (gᵀ dM g - 2 yᵀ dM g) / 2σ
#[kernel]
pub(crate) fn shift_pullback<R: Real>(m: Vec3<R>, p: [R; 2], t_bar: R) -> (Vec3<R>, [R; 2]) {
    let t = shift(m, p);
    let g = shifted(m, t, p);
    let y = times(m, shifted(m, t, g));
    let s = t_bar / max(g[0] * y[0] + g[1] * y[1], 1e-30);
    let m_bar = vec3(
        0.5 * g[0] * g[0] - y[0] * g[0],
        g[0] * g[1] - y[0] * g[1] - y[1] * g[0],
        0.5 * g[1] * g[1] - y[1] * g[1],
    );
    (m_bar * s, [y[0] * s, y[1] * s])
}

/// An edge x with a radius a and an ellipsoid with the half axes S. Across the edge's direction the ellipsoid looks like the
/// ellipse xᵀ M⁻¹ x = 1 with M = (S u · S u, S u · S v, S v · S v) for two axes u and v across it.
#[kernel]
pub(crate) fn edge_ellipsoid<R: Real>(
    x: [Vec3<R>; 2],
    a: R,
    pose: Pose<R>,
    half_axes: Vec3<R>,
) -> Contact<R> {
    let e = direction(x[1] - x[0], vec3(0.0, 0.0, 1.0));
    let u = across(e);
    let v = cross(e, u);
    let d = x[0] - pose.position;
    let m = transpose_times(pose.rotation, u);
    let n = transpose_times(pose.rotation, v);
    let s = vec3(half_axes.x * m.x, half_axes.y * m.y, half_axes.z * m.z);
    let w = vec3(half_axes.x * n.x, half_axes.y * n.y, half_axes.z * n.z);
    let matrix = vec3(dot(s, s), dot(s, w), dot(w, w));
    let p = [dot(u, d), dot(v, d)];
    let t = shift(matrix, p);
    let g = shifted(matrix, t, p);
    let out = direction(u * g[0] + v * g[1], u);
    // The point of the ellipsoid that is farthest along the way out to the edge.
    let at = lowest_of_ellipsoid(-out, pose, half_axes);
    let gap = dot(out, x[0] - at) - a;
    Contact { point: at + out * (0.5 * gap), normal: -out, gap: gap }
}

/// An edge x with a radius a and the side of a cylinder: two edges that cross, the cylinder's axis with its radius. The
/// cylinder is on the side of its axis.
#[kernel]
pub(crate) fn edge_cylinder<R: Real>(
    x: [Vec3<R>; 2],
    a: R,
    pose: Pose<R>,
    radius: R,
    half_length: R,
) -> Contact<R> {
    let z = pose.rotation.z * half_length;
    let y = [pose.position - z, pose.position + z];
    let side = if dot(cross(x[1] - x[0], z), y[0] - x[0]) < 0.0 { -1.0 } else { 1.0 };
    edge_edge(x, y, a, radius, side)
}
