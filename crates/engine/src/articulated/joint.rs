//! Joints: how their positions place what hangs from them, and along which motions they let it move.
//!
//! A joint acts in its own frame, which `placement` puts into the frame of the node above: hinges turn about its z axis,
//! slides move along it. Motions are in world axes, about the origin of the tree.

use pullback_kernel::prelude::*;

/// Turned about z by an angle [rad]: (x, y, z) becomes (x cos + y sin, y cos - x sin, z).
#[kernel]
pub fn hinge<R: Real>(above: Pose<R>, placement: Pose<R>, angle: R) -> Pose<R> {
    let at = above * placement;
    let (s, c) = sin_cos(angle);
    let (x, y) = (at.rotation.x, at.rotation.y);
    Pose { rotation: mat3(x * c + y * s, y * c - x * s, at.rotation.z), position: at.position }
}

/// Moved along z by a distance [m].
#[kernel]
pub fn slide<R: Real>(above: Pose<R>, placement: Pose<R>, distance: R) -> Pose<R> {
    let at = above * placement;
    Pose { rotation: at.rotation, position: at.rotation.z * distance + at.position }
}

/// Turned about its origin by a quaternion, which need not be of unit length.
#[kernel]
pub fn ball<R: Real>(above: Pose<R>, placement: Pose<R>, turn: Quat<R>) -> Pose<R> {
    let at = above * placement;
    Pose { rotation: at.rotation * rotation_matrix(normalize_quat(turn)), position: at.position }
}

/// Moved, and turned there.
#[kernel]
pub fn free<R: Real>(above: Pose<R>, placement: Pose<R>, position: Vec3<R>, turn: Quat<R>) -> Pose<R> {
    let at = above * placement;
    Pose {
        rotation: at.rotation * rotation_matrix(normalize_quat(turn)),
        position: at.rotation * position + at.position,
    }
}

/// The motion of turning about an axis through a point.
#[kernel]
pub fn turning<R: Real>(axis: Vec3<R>, point: Vec3<R>) -> Motion<R> {
    Motion { angular: axis, linear: cross(point, axis) }
}

/// The motion of moving along an axis.
#[kernel]
pub fn moving<R: Real>(axis: Vec3<R>) -> Motion<R> {
    Motion { angular: vec3(0.0, 0.0, 0.0), linear: axis }
}

/// m + s r
#[kernel]
pub fn along<R: Real>(m: Motion<R>, s: Motion<R>, r: R) -> Motion<R> {
    s * r + m
}

/// f + g r
#[kernel]
pub fn along_force<R: Real>(f: Force<R>, g: Force<R>, r: R) -> Force<R> {
    g * r + f
}

/// a + (v × s) r: the acceleration of an axis that moves with v
#[kernel]
pub fn carried<R: Real>(a: Motion<R>, v: Motion<R>, s: Motion<R>, r: R) -> Motion<R> {
    cross_motion(v, s) * r + a
}

/// I a + v ×* I v: the force that a body's acceleration takes (RBDA 5.9)
#[kernel]
pub fn newton_euler<R: Real>(i: Inertia<R>, v: Motion<R>, a: Motion<R>) -> Force<R> {
    i * a + cross_force(v, i * v)
}

/// The force of gravity as an acceleration of the world: (0, -g)
#[kernel]
pub fn against_gravity<R: Real>(gravity: Vec3<R>) -> Motion<R> {
    Motion { angular: vec3(0.0, 0.0, 0.0), linear: -gravity }
}

/// The cotangent of a stored quaternion q, from that of its tangent (RBDA has none; q exp(θ/2) = q + q (0, θ/2) + ...):
/// 2 n (0, θ_bar) / |q| with n = q / |q|
#[kernel]
pub fn quat_bar<R: Real>(q: Quat<R>, turn_bar: Vec3<R>) -> Quat<R> {
    let s = dot_quat(q, q);
    q * quat(0.0, turn_bar) * (2.0 / s)
}

/// The cotangent of a placement, from that of moving everything behind it, in world axes.
///
/// With the torque n about the joint's origin and the force f, both turned into the frame above:
/// p_bar = f,  R_bar = [n]× R / 2, so that ⟨R_bar, [δ]× R⟩ = n·δ.
#[kernel]
pub fn placement_bar<R: Real>(
    above: Pose<R>,
    placement: Pose<R>,
    origin: Vec3<R>,
    moved_bar: Force<R>,
) -> Pose<R> {
    let n = transpose_times(above.rotation, moved_bar.torque - cross(origin, moved_bar.force)) * 0.5;
    Pose {
        rotation: cross_columns(n, placement.rotation),
        position: transpose_times(above.rotation, moved_bar.force),
    }
}
