//! Unit quaternions: orientations that are stored, and rotations.
//!
//! (w, x, y, z) = w + u with u = x i + y j + z k. Functions of a rotation take unit quaternions; off the unit sphere
//! they are the formula that is written, whose derivative across the sphere [`normalize_quat`] takes out.

use crate::cuda::Source;
use crate::{Argument, Kernel, Value, kernel, math::*, scalar::Real};

/// A quaternion. (There is no `Default`: the zero quaternion is not a rotation.)
#[derive(Clone, Copy, Debug, PartialEq, Value)]
#[repr(C)]
pub struct Quat<R = f64> {
    /// Its real part: the cosine of half the angle.
    pub w: R,
    /// Its part along i.
    pub x: R,
    /// Its part along j.
    pub y: R,
    /// Its part along k.
    pub z: R,
}
scaled_from_left!(Quat);
product!(Quat * Quat -> Quat = quat_times_quat);

pub(super) fn quaternion_products(source: &mut Source) {
    let quat = Quat::<f64>::c_type(source);
    source.add_product(&quat, &quat, quat_times_quat::definition());
}

/// w + u
#[kernel]
pub fn quat<R: Real>(w: R, u: Vec3<R>) -> Quat<R> {
    Quat { w, x: u.x, y: u.y, z: u.z }
}

/// The rotation that does nothing.
#[kernel]
pub fn identity_quat<R: Real>() -> Quat<R> {
    Quat { w: 1.0, x: 0.0, y: 0.0, z: 0.0 }
}

/// u of q = w + u
#[kernel]
pub fn vector_part<R: Real>(q: Quat<R>) -> Vec3<R> {
    vec3(q.x, q.y, q.z)
}

/// a b: the rotation b, then the rotation a
#[kernel(pullback = quat_times_quat_pullback)]
pub fn quat_times_quat<R: Real>(a: Quat<R>, b: Quat<R>) -> Quat<R> {
    Quat {
        w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    }
}

/// a_bar = c_bar b*,  b_bar = a* c_bar
#[kernel]
pub fn quat_times_quat_pullback<R: Real>(a: Quat<R>, b: Quat<R>, c_bar: Quat<R>) -> (Quat<R>, Quat<R>) {
    (quat_times_quat(c_bar, conjugate(b)), quat_times_quat(conjugate(a), c_bar))
}

/// q* = w - u: of a unit quaternion, the rotation back
#[kernel]
pub fn conjugate<R: Real>(q: Quat<R>) -> Quat<R> {
    Quat { w: q.w, x: -q.x, y: -q.y, z: -q.z }
}

/// Σ aᵢ bᵢ
#[kernel(pullback = dot_quat_pullback)]
pub fn dot_quat<R: Real>(a: Quat<R>, b: Quat<R>) -> R {
    a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z
}

/// a_bar = s_bar b,  b_bar = s_bar a
#[kernel]
pub fn dot_quat_pullback<R: Real>(a: Quat<R>, b: Quat<R>, s_bar: R) -> (Quat<R>, Quat<R>) {
    (b * s_bar, a * s_bar)
}

/// q / |q|, and the identity at q = 0
#[kernel(pullback = normalize_quat_pullback)]
pub fn normalize_quat<R: Real>(q: Quat<R>) -> Quat<R> {
    let s = dot_quat(q, q);
    if s > SMALL && s < LARGE {
        q / sqrt(s)
    } else {
        let m = size_quat(q);
        if 64.0 / m < f64::INFINITY {
            let p = q / m;
            p / sqrt(dot_quat(p, p))
        } else {
            // 1, unless a part is NaN.
            quat(1.0 + 0.0 * m, vec3(0.0, 0.0, 0.0))
        }
    }
}

/// q_bar = (n_bar - n (n·n_bar)) / |q| with n = q / |q|, and 0 at q = 0
#[kernel]
pub fn normalize_quat_pullback<R: Real>(q: Quat<R>, n_bar: Quat<R>) -> Quat<R> {
    let n = normalize_quat(q);
    let across = n_bar - n * dot_quat(n, n_bar);
    let s = dot_quat(q, q);
    if s > SMALL && s < LARGE {
        across / sqrt(s)
    } else {
        let m = size_quat(q);
        if 64.0 / m < f64::INFINITY {
            let p = q / m;
            across / sqrt(dot_quat(p, p)) / m
        } else {
            n_bar * (0.0 * m)
        }
    }
}

/// About |q|, for scaling where |q|² may leave the scalar's range.
#[kernel]
fn size_quat<R: Real>(q: Quat<R>) -> R {
    0.25 * abs(q.w) + 0.25 * abs(q.x) + 0.25 * abs(q.y) + 0.25 * abs(q.z)
}

/// q v q* = v + w t + u × t with t = 2 u × v
#[kernel]
pub fn rotate<R: Real>(q: Quat<R>, v: Vec3<R>) -> Vec3<R> {
    let u = vector_part(q);
    let t = 2.0 * cross(u, v);
    v + t * q.w + cross(u, t)
}

/// q* v q
#[kernel]
pub fn rotate_back<R: Real>(q: Quat<R>, v: Vec3<R>) -> Vec3<R> {
    rotate(conjugate(q), v)
}

/// R with R v = q v q*:  R = 1 + 2 w [u]× + 2 (u uᵀ - |u|² 1)
#[kernel(pullback = rotation_matrix_pullback)]
pub fn rotation_matrix<R: Real>(q: Quat<R>) -> Mat3<R> {
    let a = 2.0 * vector_part(q);
    let (xx, yy, zz) = (a.x * q.x, a.y * q.y, a.z * q.z);
    let (xy, xz, yz) = (a.x * q.y, a.x * q.z, a.y * q.z);
    let (wx, wy, wz) = (a.x * q.w, a.y * q.w, a.z * q.w);
    mat3(
        vec3(1.0 - (yy + zz), xy + wz, xz - wy),
        vec3(xy - wz, 1.0 - (xx + zz), yz + wx),
        vec3(xz + wy, yz - wx, 1.0 - (xx + yy)),
    )
}

/// w_bar = 2 u·a,  u_bar = 2 (w a + (R_bar + R_barᵀ) u) - 4 tr(R_bar) u,  with R_bar - R_barᵀ = [a]×
#[kernel]
pub fn rotation_matrix_pullback<R: Real>(q: Quat<R>, r_bar: Mat3<R>) -> Quat<R> {
    let u = vector_part(q);
    let a = vec3(r_bar.y.z - r_bar.z.y, r_bar.z.x - r_bar.x.z, r_bar.x.y - r_bar.y.x);
    let both = mat3_times_vec3(r_bar, u) + transpose_times(r_bar, u);
    quat(2.0 * dot(u, a), 2.0 * (a * q.w + both) - u * (4.0 * trace(r_bar)))
}

/// The rotation about a unit axis by an angle in radians.
#[kernel]
pub fn quat_from_axis_angle<R: Real>(axis: Vec3<R>, angle: R) -> Quat<R> {
    let half = 0.5 * angle;
    quat(cos(half), axis * sin(half))
}

/// exp(v/2): the rotation about v by |v| radians; v is a rotation vector
///
/// Smooth everywhere, because cos |v|/2 and sin(|v|/2) / |v| are functions of |v|².
#[kernel]
pub fn quat_exp<R: Real>(v: Vec3<R>) -> Quat<R> {
    let (c, k) = cos_and_sinc(0.25 * dot(v, v));
    quat(c, v * (0.5 * k))
}

/// (cos √s, sin √s / √s), where both are smooth: at s = 0 too
#[kernel(pullback = cos_and_sinc_pullback)]
pub fn cos_and_sinc<R: Real>(s: R) -> (R, R) {
    if s < 0.25 {
        // Taylor: the first term left out is below 2⁻⁵³ for the values, the first and the second derivatives.
        let c = 1.0 / 479001600.0 - s * (1.0 / 87178291200.0 - s * (1.0 / 20922789888000.0));
        let c = 1.0 / 720.0 - s * (1.0 / 40320.0 - s * (1.0 / 3628800.0 - s * c));
        let c = 1.0 - s * (0.5 - s * (1.0 / 24.0 - s * c));
        let k = 1.0 / 6227020800.0 - s * (1.0 / 1307674368000.0 - s * (1.0 / 355687428096000.0));
        let k = 1.0 / 5040.0 - s * (1.0 / 362880.0 - s * (1.0 / 39916800.0 - s * k));
        let k = 1.0 - s * (1.0 / 6.0 - s * (1.0 / 120.0 - s * k));
        (c, k)
    } else {
        let x = sqrt(s);
        (cos(x), sin(x) / x)
    }
}

/// s_bar = -k c_bar / 2 + k' k_bar,  k' = (c - k) / (2 s)
#[kernel]
pub fn cos_and_sinc_pullback<R: Real>(s: R, out_bar: (R, R)) -> R {
    let (c, k) = cos_and_sinc(s);
    let slope = if s < 0.25 {
        let k = 7.0 / 1307674368000.0 - s * (8.0 / 355687428096000.0 - s * (9.0 / 121645100408832000.0));
        let k = 4.0 / 362880.0 - s * (5.0 / 39916800.0 - s * (6.0 / 6227020800.0 - s * k));
        let k = 1.0 / 6.0 - s * (2.0 / 120.0 - s * (3.0 / 5040.0 - s * k));
        -k
    } else {
        0.5 * (c - k) / s
    };
    slope * out_bar.1 - 0.5 * k * out_bar.0
}

/// The rotation vector of q, of length at most π: the inverse of [`quat_exp`]; 0 at q = 0
///
/// v = 2 atan(|u| / |w|) / |u| u, with the sign of w, because q and -q are the same rotation.
#[kernel]
pub fn quat_log<R: Real>(q: Quat<R>) -> Vec3<R> {
    let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
    let w = sign * q.w;
    let u = sign * vector_part(q);
    let s = dot(u, u);
    if s < 0.04 * w * w {
        let t = u / w;
        t * (2.0 * atan_over(dot(t, t)))
    } else {
        normalize(u) * (2.0 * atan2(length(u), w))
    }
}

/// atan √y / √y for y < 0.04, where the terms left out are below 2⁻⁵³
#[kernel]
fn atan_over<R: Real>(y: R) -> R {
    let a = 1.0 / 25.0 - y * (1.0 / 27.0);
    let a = 1.0 / 19.0 - y * (1.0 / 21.0 - y * (1.0 / 23.0 - y * a));
    let a = 1.0 / 13.0 - y * (1.0 / 15.0 - y * (1.0 / 17.0 - y * a));
    let a = 1.0 / 7.0 - y * (1.0 / 9.0 - y * (1.0 / 11.0 - y * a));
    let a = 1.0 - y * (1.0 / 3.0 - y * (1.0 / 5.0 - y * a));
    a
}

/// q ⊕ w dt = q exp(w dt / 2): q after turning for dt [s] at the rate w [rad/s], in the axes of the body
#[kernel]
pub fn integrate_quat<R: Real>(world_from_body: Quat<R>, w: Vec3<R>, dt: R) -> Quat<R> {
    world_from_body * quat_exp(w * dt)
}

/// exp(w dt / 2) q: q after turning for dt [s] at the rate w [rad/s], in the axes of the world
#[kernel]
pub fn integrate_quat_world<R: Real>(world_from_body: Quat<R>, w: Vec3<R>, dt: R) -> Quat<R> {
    quat_exp(w * dt) * world_from_body
}

/// b ⊖ a: the rotation vector, in the axes of the body, that takes the orientation a to b
#[kernel]
pub fn quat_difference<R: Real>(b: Quat<R>, a: Quat<R>) -> Vec3<R> {
    quat_log(conjugate(a) * b)
}
