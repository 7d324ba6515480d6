//! Sheets that bend at the hinges between their triangles.
//!
//! An element is a triangle with the corners across from its edges: six vertices. Its energy is ½ off·K off with what the angles over its
//! three edges are off their rest, off = θ - rest, and the torque that opens hinge i is -Σ_j K_ij off_j. The couplings K are those of a
//! [`plate`](crate::plate). An angle is evaluated in both of its triangles: that is less than to keep it, and to find it again.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

use crate::hinge::{angle_over, inverse};

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

/// What one hinge of a triangle has to do with the corner b beyond it: twice the area there, m = b × e, the length of the edge, where b
/// lies along it, t = -b·e/|e|², and 1/|e|², 1/|m|².
#[kernel]
fn beyond<R: Real>(e: Vec3<R>, b: Vec3<R>) -> (Vec3<R>, R, R, R, R) {
    let m = cross(b, e);
    let ee = dot(e, e);
    let per_ee = inverse(ee);
    (m, sqrt(ee), -dot(b, e) * per_ee, per_ee, inverse(dot(m, m)))
}

/// Forces on the vertices [N] by torques that open these angles [N·m]: those of [`torque_over`](crate::hinge::torque_over), of all three
/// hinges at once. With p = torque |e|/|n|² and q = torque |e|/|m|², hinge i pushes its corner by p n and the one beyond by q m, and the
/// ends of its edge, which are the corners before and after i, by s p n + t q m and by minus the sum of all.
#[kernel]
fn torques<R: Real>(x: [Vec3<R>; 6], torque: Vec3<R>) -> [Vec3<R>; 6] {
    let (e0, e1, e2) = (x[2] - x[1], x[0] - x[2], x[1] - x[0]);
    let n = cross(e1, e2);
    let per_nn = inverse(dot(n, n));
    let (m0, l0, t0, per_ee0, per_mm0) = beyond(e0, x[3] - x[1]);
    let (m1, l1, t1, per_ee1, per_mm1) = beyond(e1, x[4] - x[2]);
    let (m2, l2, t2, per_ee2, per_mm2) = beyond(e2, x[5] - x[0]);
    let (s0, s1, s2) = (dot(e2, e0) * per_ee0, dot(e0, e1) * per_ee1, dot(e1, e2) * per_ee2);
    let (pull0, pull1, pull2) = (torque.x * l0, torque.y * l1, torque.z * l2);
    let (p0, p1, p2) = (pull0 * per_nn, pull1 * per_nn, pull2 * per_nn);
    let (g0, g1, g2) = (m0 * (pull0 * per_mm0), m1 * (pull1 * per_mm1), m2 * (pull2 * per_mm2));
    [
        n * (p0 + s1 * p1 - (p2 + s2 * p2)) + g1 * t1 - g2 * (1.0 + t2),
        n * (p1 + s2 * p2 - (p0 + s0 * p0)) + g2 * t2 - g0 * (1.0 + t0),
        n * (p2 + s0 * p0 - (p1 + s1 * p1)) + g0 * t0 - g1 * (1.0 + t1),
        g0,
        g1,
        g2,
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

/// The rates of q m and t q m, with q = pull/|m|², of the [`beyond`] of a hinge: e, b and the pull change at these, |e| at the relative one
/// that comes last of four numbers.
#[kernel]
fn beyond_rate<R: Real>(
    e: Vec3<R>,
    b: Vec3<R>,
    m: Vec3<R>,
    known: [R; 4],
    rates: [Vec3<R>; 2],
    pull: R,
    pull_dot: R,
) -> [Vec3<R>; 2] {
    let (t, per_ee, per_mm, stretch) = (known[0], known[1], known[2], known[3]);
    let m_dot = cross(rates[1], e) + cross(b, rates[0]);
    let q = pull * per_mm;
    let q_dot = pull_dot * per_mm - 2.0 * q * dot(m, m_dot) * per_mm;
    let t_dot = -(dot(rates[1], e) + dot(b, rates[0])) * per_ee - 2.0 * t * stretch;
    [m * q_dot + m_dot * q, m * (t * q_dot + t_dot * q) + m_dot * (t * q)]
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
    let (m0, l0, t0, per_ee0, per_mm0) = beyond(e0, b0);
    let (m1, l1, t1, per_ee1, per_mm1) = beyond(e1, b1);
    let (m2, l2, t2, per_ee2, per_mm2) = beyond(e2, b2);
    let (s0, s1, s2) = (dot(e2, e0) * per_ee0, dot(e0, e1) * per_ee1, dot(e1, e2) * per_ee2);

    let (e0_dot, e1_dot, e2_dot) = (bar[2] - bar[1], bar[0] - bar[2], bar[1] - bar[0]);
    let (b0_dot, b1_dot, b2_dot) = (bar[3] - bar[1], bar[4] - bar[2], bar[5] - bar[0]);
    let (up0, up1, up2) = (dot(n, e0_dot) * per_nn, dot(n, e1_dot) * per_nn, dot(n, e2_dot) * per_nn);
    let rate = vec3(
        l0 * (s0 * up0 - up2 + dot(m0, b0_dot + e0_dot * t0) * per_mm0),
        l1 * (s1 * up1 - up0 + dot(m1, b1_dot + e1_dot * t1) * per_mm1),
        l2 * (s2 * up2 - up1 + dot(m2, b2_dot + e2_dot * t2) * per_mm2),
    );
    let against = coupled(own, mixed, rate);

    let n_dot = cross(e1_dot, e2) + cross(e1, e2_dot);
    let growth = -2.0 * dot(n, n_dot) * per_nn;
    let (w0, w1, w2) = (dot(e0, e0_dot) * per_ee0, dot(e1, e1_dot) * per_ee1, dot(e2, e2_dot) * per_ee2);
    let s0_dot = (dot(e2_dot, e0) + dot(e2, e0_dot)) * per_ee0 - 2.0 * s0 * w0;
    let s1_dot = (dot(e0_dot, e1) + dot(e0, e1_dot)) * per_ee1 - 2.0 * s1 * w1;
    let s2_dot = (dot(e1_dot, e2) + dot(e1, e2_dot)) * per_ee2 - 2.0 * s2 * w2;
    let (pull0, pull1, pull2) = (torque.x * l0, torque.y * l1, torque.z * l2);
    let pull0_dot = pull0 * w0 - against.x * l0;
    let pull1_dot = pull1 * w1 - against.y * l1;
    let pull2_dot = pull2 * w2 - against.z * l2;
    let (p0, p1, p2) = (pull0 * per_nn, pull1 * per_nn, pull2 * per_nn);
    let (p0_dot, p1_dot, p2_dot) = (
        pull0_dot * per_nn + p0 * growth,
        pull1_dot * per_nn + p1 * growth,
        pull2_dot * per_nn + p2 * growth,
    );
    let (along0, along1, along2) =
        (s0_dot * p0 + s0 * p0_dot, s1_dot * p1 + s1 * p1_dot, s2_dot * p2 + s2 * p2_dot);
    let over0 = beyond_rate(e0, b0, m0, [t0, per_ee0, per_mm0, w0], [e0_dot, b0_dot], pull0, pull0_dot);
    let over1 = beyond_rate(e1, b1, m1, [t1, per_ee1, per_mm1, w1], [e1_dot, b1_dot], pull1, pull1_dot);
    let over2 = beyond_rate(e2, b2, m2, [t2, per_ee2, per_mm2, w2], [e2_dot, b2_dot], pull2, pull2_dot);
    let x_bar = [
        n * (p0_dot + along1 - (p2_dot + along2)) + n_dot * (p0 + s1 * p1 - (p2 + s2 * p2)) + over1[1]
            - (over2[0] + over2[1]),
        n * (p1_dot + along2 - (p0_dot + along0)) + n_dot * (p1 + s2 * p2 - (p0 + s0 * p0)) + over2[1]
            - (over0[0] + over0[1]),
        n * (p2_dot + along0 - (p1_dot + along1)) + n_dot * (p2 + s0 * p0 - (p1 + s1 * p1)) + over0[1]
            - (over1[0] + over1[1]),
        over0[0],
        over1[0],
        over2[0],
    ];
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
