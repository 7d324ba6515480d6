//! Poses: where a frame is in another.

use crate::cuda::Source;
use crate::{Argument, Kernel, Value, kernel, math::*, scalar::Real};

/// Where a frame is in another, named `world_from_body`: x_world = R x_body + p.
///
/// The rotation is a matrix, not a quaternion: a pose is composed once and then used many times (points, motions,
/// forces, inertias), where a matrix costs 9 multiplications a vector and a quaternion 15 to 18; a composition
/// costs 36 and 34. Quaternions are what states store; [`pose_from_quat`] is where they become poses.
///
/// R is taken to be a rotation, so that its inverse is its transpose. (There is no `Default`: zeros are no pose.)
#[derive(Clone, Copy, Debug, PartialEq, Value)]
#[repr(C)]
pub struct Pose<R = f64> {
    /// The rotation R: its columns are the axes of the inner frame.
    pub rotation: Mat3<R>,
    /// The position p of the inner frame's origin [m].
    pub position: Vec3<R>,
}
product!(Pose * Pose -> Pose = compose);

pub(super) fn pose_products(source: &mut Source) {
    let pose = Pose::<f64>::c_type(source);
    source.add_product(&pose, &pose, compose::definition());
}

/// The pose with this orientation, a unit quaternion, and position.
#[kernel]
pub fn pose_from_quat<R: Real>(rotation: Quat<R>, position: Vec3<R>) -> Pose<R> {
    Pose { rotation: rotation_matrix(rotation), position }
}

/// A frame in itself.
#[kernel]
pub fn identity_pose<R: Real>() -> Pose<R> {
    Pose { rotation: identity(), position: vec3(0.0, 0.0, 0.0) }
}

/// a_from_c = a_from_b b_from_c:  R = Ra Rb,  p = Ra pb + pa
///
/// Its pullback, by the macro: Ra_bar = R_bar Rbᵀ + p_bar pbᵀ,  pa_bar = p_bar,  Rb_bar = Raᵀ R_bar,
/// pb_bar = Raᵀ p_bar.
#[kernel]
pub fn compose<R: Real>(a_from_b: Pose<R>, b_from_c: Pose<R>) -> Pose<R> {
    Pose {
        rotation: a_from_b.rotation * b_from_c.rotation,
        position: a_from_b.rotation * b_from_c.position + a_from_b.position,
    }
}

/// b_from_a:  Rᵀ and -Rᵀ p
#[kernel(pullback = inverse_pose_pullback)]
pub fn inverse_pose<R: Real>(a_from_b: Pose<R>) -> Pose<R> {
    Pose {
        rotation: transpose(a_from_b.rotation),
        position: -transpose_times(a_from_b.rotation, a_from_b.position),
    }
}

/// R_bar = Q_barᵀ - p s_barᵀ,  p_bar = -R s_bar,  with (Q, s) the inverse
#[kernel]
pub fn inverse_pose_pullback<R: Real>(a_from_b: Pose<R>, out_bar: Pose<R>) -> Pose<R> {
    Pose {
        rotation: transpose(out_bar.rotation) - outer(a_from_b.position, out_bar.position),
        position: -(a_from_b.rotation * out_bar.position),
    }
}

/// b_from_c = (a_from_b)⁻¹ a_from_c
#[kernel]
pub fn relative<R: Real>(a_from_b: Pose<R>, a_from_c: Pose<R>) -> Pose<R> {
    Pose {
        rotation: transpose(a_from_b.rotation) * a_from_c.rotation,
        position: transpose_times(a_from_b.rotation, a_from_c.position - a_from_b.position),
    }
}

/// A point of b in a:  R x + p
#[kernel]
pub fn transform_point<R: Real>(a_from_b: Pose<R>, x: Vec3<R>) -> Vec3<R> {
    a_from_b.rotation * x + a_from_b.position
}

/// A point of a in b:  Rᵀ (x - p)
#[kernel]
pub fn transform_point_back<R: Real>(a_from_b: Pose<R>, x: Vec3<R>) -> Vec3<R> {
    transpose_times(a_from_b.rotation, x - a_from_b.position)
}

/// A direction of b in a:  R v
#[kernel]
pub fn transform_vector<R: Real>(a_from_b: Pose<R>, v: Vec3<R>) -> Vec3<R> {
    a_from_b.rotation * v
}

/// A direction of a in b:  Rᵀ v
#[kernel]
pub fn transform_vector_back<R: Real>(a_from_b: Pose<R>, v: Vec3<R>) -> Vec3<R> {
    transpose_times(a_from_b.rotation, v)
}
