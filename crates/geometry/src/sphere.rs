//! Contacts with a sphere at x, in closed form. From the sphere to the other shape.

use pullback_kernel::prelude::*;

use crate::contact::*;

/// A contact found in the frame of the other shape: its outward normal m at the point nearest to the centre, h from it.
#[kernel]
fn outwards<R: Real>(x: Vec3<R>, radius: R, pose: Pose<R>, m: Vec3<R>, h: R) -> Contact<R> {
    let found = above(x, pose.rotation * m, h, radius);
    Contact { point: found.point, normal: -found.normal, gap: found.gap }
}

/// 1 where x is not negative, -1 where it is.
#[kernel]
fn sign<R: Real>(x: R) -> R {
    if x < 0.0 { -1.0 } else { 1.0 }
}

/// A box: outside, the nearest point is the centre clamped to the half sides; inside, on the nearest face.
#[kernel]
pub(crate) fn sphere_box<R: Real>(x: Vec3<R>, radius: R, pose: Pose<R>, half: Vec3<R>) -> Contact<R> {
    let p = transpose_times(pose.rotation, x - pose.position);
    let d = vec3(
        p.x - clamp(p.x, -half.x, half.x),
        p.y - clamp(p.y, -half.y, half.y),
        p.z - clamp(p.z, -half.z, half.z),
    );
    if length_squared(d) > NOWHERE * NOWHERE {
        outwards(x, radius, pose, normalize(d), length(d))
    } else {
        let s = vec3(sign(p.x), sign(p.y), sign(p.z));
        let out = vec3(s.x * p.x - half.x, s.y * p.y - half.y, s.z * p.z - half.z);
        if out.x >= out.y && out.x >= out.z {
            outwards(x, radius, pose, vec3(s.x, 0.0, 0.0), out.x)
        } else if out.y >= out.z {
            outwards(x, radius, pose, vec3(0.0, s.y, 0.0), out.y)
        } else {
            outwards(x, radius, pose, vec3(0.0, 0.0, s.z), out.z)
        }
    }
}

/// A cylinder along z: with u = |(x, y)| - r and v = |z| - l, the nearest point is on the rim where u, v > 0, else on the
/// side or an end, whichever is less deep. On its axis, the side is met along x.
#[kernel]
pub(crate) fn sphere_cylinder<R: Real>(
    x: Vec3<R>,
    radius: R,
    pose: Pose<R>,
    size: R,
    half_length: R,
) -> Contact<R> {
    let p = transpose_times(pose.rotation, x - pose.position);
    let flat = vec3(p.x, p.y, 0.0);
    let w = direction(flat, vec3(1.0, 0.0, 0.0));
    let u = dot(w, flat) - size;
    let s = sign(p.z);
    let v = s * p.z - half_length;
    let up = vec3(0.0, 0.0, s);
    if u > 0.0 && v > 0.0 {
        let d = w * u + up * v;
        outwards(x, radius, pose, direction(d, up), length(d))
    } else if v > u {
        outwards(x, radius, pose, up, v)
    } else {
        outwards(x, radius, pose, w, u)
    }
}

/// Rounds of Newton's method. It starts where no term is above 1 and one is 1; a few rounds do outside and in most places
/// inside. Near the centres of curvature inside, the root is far to the right, and each round comes nearer by half of u.
const ROUNDS: usize = 32;

/// The root u > 0 of G(u) = Σ (wᵢ / (u + dᵢ))² - 1, with w > 0, d ≥ 0. G falls and is convex, so that Newton's method from
/// the left, where one term alone is 1, never passes it.
#[kernel(pullback = root_pullback)]
pub(crate) fn root<R: Real>(w: Vec3<R>, d: Vec3<R>) -> R {
    let mut u = max(max(w.x - d.x, w.y - d.y), w.z - d.z);
    for _ in 0..ROUNDS {
        let e = vec3(u + d.x, u + d.y, u + d.z);
        let q = vec3(w.x / e.x, w.y / e.y, w.z / e.z);
        let slope = q.x * q.x / e.x + q.y * q.y / e.y + q.z * q.z / e.z;
        u = u + (dot(q, q) - 1.0) / (2.0 * slope);
    }
    u
}

/// By G(u, w, d) = 0: u_w = q / e / σ, u_d = -q² / e / σ with e = u + d, q = w / e, σ = Σ q² / e
#[kernel]
pub(crate) fn root_pullback<R: Real>(w: Vec3<R>, d: Vec3<R>, u_bar: R) -> (Vec3<R>, Vec3<R>) {
    let u = root(w, d);
    let e = vec3(u + d.x, u + d.y, u + d.z);
    let q = vec3(w.x / e.x, w.y / e.y, w.z / e.z);
    let s = u_bar / (q.x * q.x / e.x + q.y * q.y / e.y + q.z * q.z / e.z);
    let w_bar = vec3(q.x / e.x, q.y / e.y, q.z / e.z) * s;
    (w_bar, -vec3(q.x * w_bar.x, q.y * w_bar.y, q.z * w_bar.z))
}

/// Nearer to a plane of symmetry than this, relative to the half axis across it, a point counts as beside it.
const BESIDE: f64 = 1e-10;

/// x, moved off 0.
#[kernel]
fn off_zero<R: Real>(x: R, half_axis: R) -> R {
    if abs(x) < BESIDE * half_axis { x + sign(x) * BESIDE * half_axis } else { x }
}

/// An ellipsoid with the half axes S: the point nearest to p is Sᵢ² gᵢ with gᵢ = pᵢ / (t + Sᵢ²), where Σ (Sᵢ gᵢ)² = 1; its
/// outward normal is along g, and the distance is t |g| (Eberly, Distance from a Point to an Ellipsoid). With t = u - m²,
/// m the least of S, u > 0 is [`root`]'s, and no digits are lost inside, where t comes near -m².
///
/// From a plane of symmetry inside, two points are as near: the one on the positive side is taken.
#[kernel]
pub(crate) fn sphere_ellipsoid<R: Real>(
    x: Vec3<R>,
    radius: R,
    pose: Pose<R>,
    half_axes: Vec3<R>,
) -> Contact<R> {
    let at = transpose_times(pose.rotation, x - pose.position);
    let (a, b, c) = (half_axes.x, half_axes.y, half_axes.z);
    let p = vec3(off_zero(at.x, a), off_zero(at.y, b), off_zero(at.z, c));
    let m = min(min(a, b), c);
    let d = vec3((a - m) * (a + m), (b - m) * (b + m), (c - m) * (c + m));
    let u = root(vec3(a * abs(p.x), b * abs(p.y), c * abs(p.z)), d);
    let g = vec3(p.x / (u + d.x), p.y / (u + d.y), p.z / (u + d.z));
    outwards(x, radius, pose, normalize(g), (u - m * m) * length(g))
}
