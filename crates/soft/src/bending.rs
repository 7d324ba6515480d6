//! Sheets that bend at the hinges between their triangles.
//!
//! An element is a triangle with the corners across from its edges: six vertices. Its energy is ½ off·K off with what the angles over its
//! three edges are off their rest, off = θ - rest, and the torque that opens hinge i is -Σ_j K_ij off_j. The couplings K are those of a
//! [`plate`](crate::plate). An angle is evaluated in both of its triangles: that is less than to keep it, and to find it again.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

use crate::hinge::{angle_over, angle_rate, inverse, torque_over, torque_rate};

/// Triangles in a program, where the forces by which they bend are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Plates {
    /// Of [`Neighbours::corners`](crate::plate::Neighbours::corners).
    pub corners: Corners<6>,
    /// Positions of vertices [m].
    pub x: Buffer<Vec3>,
    /// Angles at rest [rad]: [`plate::rest_angles`](crate::plate::rest_angles).
    pub rest: Buffer<Vec3>,
    /// Couplings [N·m]: [`plate::couplings`](crate::plate::couplings).
    pub couplings: [Buffer<Vec3>; 2],
}

/// The angles over the edges of a triangle [rad].
#[kernel(pullback = torques)]
fn angles<R: Real>(x: [Vec3<R>; 6]) -> Vec3<R> {
    let (e0, e1, e2) = (x[2] - x[1], x[0] - x[2], x[1] - x[0]);
    let n = cross(e1, e2);
    vec3(angle_over(n, e0, x[3] - x[1]), angle_over(n, e1, x[4] - x[2]), angle_over(n, e2, x[5] - x[0]))
}

/// Forces on the vertices [N] by torques that open these angles [N·m].
#[kernel]
fn torques<R: Real>(x: [Vec3<R>; 6], torque: Vec3<R>) -> [Vec3<R>; 6] {
    let (e0, e1, e2) = (x[2] - x[1], x[0] - x[2], x[1] - x[0]);
    let n = cross(e1, e2);
    let per_nn = inverse(dot(n, n));
    on_corners(
        torque_over(n, per_nn, e0, -e2, x[3] - x[1], torque.x),
        torque_over(n, per_nn, e1, -e0, x[4] - x[2], torque.y),
        torque_over(n, per_nn, e2, -e1, x[5] - x[0], torque.z),
    )
}

/// What hinges give the corners of their triangle, and those across: hinge i ends at the corners after i, in turn.
#[kernel]
fn on_corners<R: Real>(over0: [Vec3<R>; 4], over1: [Vec3<R>; 4], over2: [Vec3<R>; 4]) -> [Vec3<R>; 6] {
    [
        over0[2] + over1[1] + over2[0],
        over0[0] + over1[2] + over2[1],
        over0[1] + over1[0] + over2[2],
        over0[3],
        over1[3],
        over2[3],
    ]
}

/// K off
#[kernel]
fn coupled<R: Real>(own: Vec3<R>, mixed: Vec3<R>, off: Vec3<R>) -> Vec3<R> {
    vec3(
        own.x * off.x + mixed.z * off.y + mixed.y * off.z,
        mixed.z * off.x + own.y * off.y + mixed.x * off.z,
        mixed.y * off.x + mixed.x * off.y + own.z * off.z,
    )
}

/// ½ off·K off
#[kernel]
fn plate_energy<R: Real>(x: [Vec3<R>; 6], rest: Vec3<R>, own: Vec3<R>, mixed: Vec3<R>) -> R {
    let off = angles(x) - rest;
    0.5 * dot(off, coupled(own, mixed, off))
}

/// Minus its gradient by x.
#[kernel(pullback = plate_force_pullback)]
fn plate_force<R: Real>(x: [Vec3<R>; 6], rest: Vec3<R>, own: Vec3<R>, mixed: Vec3<R>) -> [Vec3<R>; 6] {
    torques(x, -coupled(own, mixed, angles(x) - rest))
}

/// Second derivatives are symmetric: the cotangent of x is the rate of the force where x moves as the force's cotangent says. Angles
/// change at the rates ω then, and torques at -K ω.
#[kernel]
fn plate_force_pullback<R: Real>(
    x: [Vec3<R>; 6],
    rest: Vec3<R>,
    own: Vec3<R>,
    mixed: Vec3<R>,
    bar: [Vec3<R>; 6],
) -> ([Vec3<R>; 6], Vec3<R>, Vec3<R>, Vec3<R>) {
    let off = angles(x) - rest;
    let torque = -coupled(own, mixed, off);
    let (e0, e1, e2) = (x[2] - x[1], x[0] - x[2], x[1] - x[0]);
    let (b0, b1, b2) = (x[3] - x[1], x[4] - x[2], x[5] - x[0]);
    let n = cross(e1, e2);
    let per_nn = inverse(dot(n, n));
    let (e0_dot, e1_dot, e2_dot) = (bar[2] - bar[1], bar[0] - bar[2], bar[1] - bar[0]);
    let (b0_dot, b1_dot, b2_dot) = (bar[3] - bar[1], bar[4] - bar[2], bar[5] - bar[0]);
    let n_dot = cross(e1_dot, e2) + cross(e1, e2_dot);
    let growth = -2.0 * dot(n, n_dot) * per_nn;

    let rate = vec3(
        angle_rate(n, per_nn, e0, -e2, b0, [e0_dot, -e2_dot, b0_dot]),
        angle_rate(n, per_nn, e1, -e0, b1, [e1_dot, -e0_dot, b1_dot]),
        angle_rate(n, per_nn, e2, -e1, b2, [e2_dot, -e1_dot, b2_dot]),
    );
    let against = coupled(own, mixed, rate);
    let x_bar = on_corners(
        torque_rate(n, per_nn, e0, -e2, b0, [e0_dot, -e2_dot, b0_dot], n_dot, growth, torque.x, -against.x),
        torque_rate(n, per_nn, e1, -e0, b1, [e1_dot, -e0_dot, b1_dot], n_dot, growth, torque.y, -against.y),
        torque_rate(n, per_nn, e2, -e1, b2, [e2_dot, -e1_dot, b2_dot], n_dot, growth, torque.z, -against.z),
    );
    (
        x_bar,
        against,
        vec3(-off.x * rate.x, -off.y * rate.y, -off.z * rate.z),
        vec3(
            -(off.y * rate.z + off.z * rate.y),
            -(off.x * rate.z + off.z * rate.x),
            -(off.x * rate.y + off.y * rate.x),
        ),
    )
}

/// Adds the forces on the vertices [N], as an operation of this name.
pub fn force(p: &mut Builder, name: &str, plates: &Plates) -> Buffer<Vec3> {
    let Plates { corners, x, rest, couplings: [own, mixed] } = *plates;
    p.elements::<plate_force, Vec3, 6>(name, corners, (x.at(corners), rest.own(), own.own(), mixed.own()))
}

/// Adds the energy of all triangles [J], as an operation of this name.
pub fn energy(p: &mut Builder, name: &str, plates: &Plates) -> Buffer<f64> {
    let Plates { corners, x, rest, couplings: [own, mixed] } = *plates;
    p.reduce::<Once<plate_energy>>(name, (x.at(corners), rest.own(), own.own(), mixed.own()))
}

#[cfg(test)]
mod tests {
    use pullback_kernel::gradcheck;

    use super::*;
    use crate::hinge::dihedral;

    const X: [Vec3; 6] = [
        Vec3 { x: 0.1, y: 0.2, z: -0.1 },
        Vec3 { x: 1.2, y: 0.1, z: 0.3 },
        Vec3 { x: 0.4, y: 0.9, z: 0.2 },
        Vec3 { x: 1.5, y: 1.2, z: 0.1 },
        Vec3 { x: -0.8, y: 0.9, z: 0.5 },
        Vec3 { x: 0.7, y: -1.0, z: -0.2 },
    ];
    const REST: Vec3 = Vec3 { x: 0.3, y: -0.2, z: 0.1 };
    const OWN: Vec3 = Vec3 { x: 1.1, y: 0.7, z: 0.9 };
    const MIXED: Vec3 = Vec3 { x: -0.2, y: 0.1, z: 0.3 };

    #[test]
    fn gradients_of_the_kernels() {
        gradcheck::kernel::<angles>(&(X,)).expect("angles");
        gradcheck::kernel::<torques>(&(X, REST)).expect("torques");
        gradcheck::kernel::<plate_energy>(&(X, REST, OWN, MIXED)).expect("the energy");
        gradcheck::kernel::<plate_force>(&(X, REST, OWN, MIXED)).expect("the force");
    }

    /// The angles of a triangle are those of its hinges, and the force is minus the gradient of the energy.
    #[test]
    fn angles_and_forces_of_a_triangle() {
        let found: Vec3 = angles(X);
        for (angle, hinge) in [(found.x, [1, 2, 0, 3]), (found.y, [2, 0, 1, 4]), (found.z, [0, 1, 2, 5])] {
            let wanted: f64 = dihedral(hinge.map(|i: usize| X[i]));
            assert!(wanted.abs() > 0.01 && (angle - wanted).abs() < 1e-14, "{angle}, and not {wanted}");
        }
        let (gradient, ..) = plate_energy::pullback(X, REST, OWN, MIXED, 1.0);
        for (g, f) in gradient.into_iter().zip(plate_force(X, REST, OWN, MIXED)) {
            assert!(length(f) > 0.01 && length(g + f) < 1e-14, "{f:?}, and not minus {g:?}");
        }
    }

    /// A border without a triangle beyond it is a hinge that is folded up, with no couplings: finite derivatives, and no force.
    #[test]
    fn borders() {
        let zero = vec3(0.0, 0.0, 0.0);
        let (x, own) = ([X[0], X[1], X[2], X[0], X[4], X[2]], vec3(0.0, 0.7, 0.0));
        let force: [Vec3; 6] = plate_force(x, REST, own, zero);
        assert!(length(force[4]) > 0.01 && length(force[3]) + length(force[5]) == 0.0, "{force:?}");
        let (bars, ..) = plate_force::pullback(x, REST, own, zero, X);
        assert!(bars.iter().all(|bar| length(*bar).is_finite()), "{bars:?}");
    }
}
