//! Contacts with a plane: the half-space below z = 0 of its frame; and of round shapes with a face. From the plane or the face to
//! the other shape.

use pullback_kernel::prelude::*;

use crate::cells::*;
use crate::contact::*;

/// A point x with a radius a: gap = n·(x - p) - a with the plane's z axis n.
#[kernel]
pub(crate) fn plane_corner<R: Real>(plane: Pose<R>, x: Vec3<R>, a: R) -> Contact<R> {
    let n = plane.rotation.z;
    above(x, n, dot(n, x - plane.position), a)
}

/// The lowest point along n of an ellipsoid with the half axes S: -S² m / |S m| in its frame, with n there as m.
#[kernel]
pub(crate) fn lowest_of_ellipsoid<R: Real>(n: Vec3<R>, pose: Pose<R>, half_axes: Vec3<R>) -> Vec3<R> {
    let m = transpose_times(pose.rotation, n);
    let s = vec3(half_axes.x * m.x, half_axes.y * m.y, half_axes.z * m.z);
    let lowest = -vec3(half_axes.x * s.x, half_axes.y * s.y, half_axes.z * s.z) / length(s);
    pose.rotation * lowest + pose.position
}

/// An ellipsoid at its lowest point.
#[kernel]
pub(crate) fn plane_ellipsoid<R: Real>(plane: Pose<R>, pose: Pose<R>, half_axes: Vec3<R>) -> Contact<R> {
    let n = plane.rotation.z;
    let x = lowest_of_ellipsoid(n, pose, half_axes);
    above(x, n, dot(n, x - plane.position), 0.0)
}

/// The sine of the tilt below which a cylinder counts as upright.
pub(crate) const UPRIGHT: f64 = 1e-3;

/// A point of the rim of a cylinder's end at z = `end` half_length. Its direction from the axis is turned about the axis by
/// an angle with this cosine and sine from the lowest one along n: (cos, sin) w, with w = -(m - m_z z) / |m - m_z z| in the
/// cylinder's frame, and its x axis where the cylinder is upright: there is no lowest one then.
#[kernel]
pub(crate) fn point_of_rim<R: Real>(
    n: Vec3<R>,
    pose: Pose<R>,
    radius: R,
    half_length: R,
    end: R,
    turn: [R; 2],
) -> Vec3<R> {
    let m = transpose_times(pose.rotation, n);
    let tilt = m.x * m.x + m.y * m.y;
    let (x, y) = if tilt > UPRIGHT * UPRIGHT {
        let s = sqrt(tilt);
        (-(m.x / s), -(m.y / s))
    } else {
        (1.0, 0.0)
    };
    let rim =
        vec3(radius * (x * turn[0] - y * turn[1]), radius * (y * turn[0] + x * turn[1]), end * half_length);
    pose.rotation * rim + pose.position
}

/// A cylinder at a point of a rim.
#[kernel]
pub(crate) fn plane_rim<R: Real>(
    plane: Pose<R>,
    pose: Pose<R>,
    radius: R,
    half_length: R,
    end: R,
    turn: [R; 2],
) -> Contact<R> {
    let n = plane.rotation.z;
    let at = point_of_rim(n, pose, radius, half_length, end, turn);
    above(at, n, dot(n, at - plane.position), 0.0)
}

/// As [`plane_rim`], at the end that is lower.
#[kernel]
pub(crate) fn plane_lower_rim<R: Real>(
    plane: Pose<R>,
    pose: Pose<R>,
    radius: R,
    half_length: R,
    turn: [R; 2],
) -> Contact<R> {
    let end = if dot(plane.rotation.z, pose.rotation.z) > 0.0 { -1.0 } else { 1.0 };
    plane_rim(plane, pose, radius, half_length, end, turn)
}

/// The face y and an ellipsoid at the point that is lowest over it.
#[kernel]
pub(crate) fn face_ellipsoid<R: Real>(y: [Vec3<R>; 3], pose: Pose<R>, half_axes: Vec3<R>) -> Contact<R> {
    let n = outward(y);
    let x = lowest_of_ellipsoid(n, pose, half_axes);
    above(x, n, dot(n, x - y[0]), 0.0)
}

/// The face y and the end of a cylinder at the point of its rim that is lowest over it.
#[kernel]
pub(crate) fn face_rim<R: Real>(
    y: [Vec3<R>; 3],
    pose: Pose<R>,
    radius: R,
    half_length: R,
    end: R,
) -> Contact<R> {
    let n = outward(y);
    let x = point_of_rim(n, pose, radius, half_length, end, [1.0, 0.0]);
    above(x, n, dot(n, x - y[0]), 0.0)
}
