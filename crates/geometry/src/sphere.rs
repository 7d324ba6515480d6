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
