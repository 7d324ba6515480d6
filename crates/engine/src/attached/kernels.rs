//! What is computed of one attached particle.

use pullback_kernel::prelude::*;

/// Where a particle is held: an anchor of a part that lies on a body.
#[kernel]
pub(super) fn place<R: Real>(body: Pose<R>, part: Pose<R>, anchor: Vec3<R>) -> Vec3<R> {
    transform_point(body, transform_point(part, anchor))
}

/// The velocity of a body at a point:  v + ω × (x - x_b)
#[kernel]
pub(super) fn velocity_at<R: Real>(body: Pose<R>, motion: Motion<R>, x: Vec3<R>) -> Vec3<R> {
    motion.linear + cross(motion.angular, x - body.position)
}

/// The place of a particle that is held fast.
#[kernel]
pub(super) fn held_place<R: Real>(body: [Pose<R>; 1], part: Pose<R>, anchor: [Vec3<R>; 1]) -> [Vec3<R>; 1] {
    [place(body[0], part, anchor[0])]
}

/// Its velocity.
#[kernel]
pub(super) fn held_velocity<R: Real>(
    body: [Pose<R>; 1],
    motion: [Motion<R>; 1],
    part: Pose<R>,
    anchor: [Vec3<R>; 1],
) -> [Vec3<R>; 1] {
    [velocity_at(body[0], motion[0], place(body[0], part, anchor[0]))]
}

/// The force of a spring on a particle [N]:  f = -k (x - p) - c (v - u),  with the velocity u of the body at x; and -f, on the body.
#[kernel]
pub(super) fn pull<R: Real>(
    x: [Vec3<R>; 1],
    v: [Vec3<R>; 1],
    body: [Pose<R>; 1],
    motion: [Motion<R>; 1],
    part: Pose<R>,
    anchor: [Vec3<R>; 1],
    k: [R; 1],
    c: [R; 1],
) -> (Vec3<R>, Vec3<R>) {
    let stretch = x[0] - place(body[0], part, anchor[0]);
    let slip = v[0] - velocity_at(body[0], motion[0], x[0]);
    let f = stretch * k[0] + slip * c[0];
    (-f, f)
}

/// Energy of such a spring [J]:  E = ½ k |x - p|²
#[kernel]
pub(super) fn pull_energy<R: Real>(
    x: [Vec3<R>; 1],
    body: [Pose<R>; 1],
    part: Pose<R>,
    anchor: [Vec3<R>; 1],
    k: [R; 1],
) -> R {
    let stretch = x[0] - place(body[0], part, anchor[0]);
    0.5 * k[0] * dot(stretch, stretch)
}

/// A force, on what feels it.
#[kernel]
pub(super) fn felt<R: Real>(force: Vec3<R>) -> [Vec3<R>; 1] {
    [force]
}

/// A force at a particle, on a body.
#[kernel]
pub(super) fn on_body<R: Real>(force: [Vec3<R>; 1]) -> [Vec3<R>; 1] {
    force
}

/// Its torque about the origin of the body.
#[kernel]
pub(super) fn torque_on_body<R: Real>(
    force: [Vec3<R>; 1],
    x: [Vec3<R>; 1],
    body: [Pose<R>; 1],
) -> [Vec3<R>; 1] {
    [cross(x[0] - body[0].position, force[0])]
}

/// What a body feels of forces on a particle that is held to it fast.
#[kernel]
pub(super) fn passed_on<R: Real>(force: [Vec3<R>; 1]) -> Vec3<R> {
    force[0]
}

/// The inertia of a particle that is held fast, in the frame of the node.
#[kernel]
pub(super) fn point_mass<R: Real>(
    in_node: [Pose<R>; 1],
    part: Pose<R>,
    anchor: [Vec3<R>; 1],
    m: [R; 1],
) -> [Inertia<R>; 1] {
    let at = place(in_node[0], part, anchor[0]);
    let moment = at * m[0];
    [Inertia { mass: m[0], moment, rotational: steiner(moment, at) }]
}

/// `a + b`
#[kernel]
pub(super) fn with_more<R: Real>(a: Inertia<R>, b: Inertia<R>) -> Inertia<R> {
    a + b
}

/// The same pose.
#[kernel]
pub(super) fn same_pose<R: Real>(pose: Pose<R>) -> Pose<R> {
    pose
}

/// The same motion.
#[kernel]
pub(super) fn same_motion<R: Real>(motion: Motion<R>) -> Motion<R> {
    motion
}
