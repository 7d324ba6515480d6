//! Hinges: edges between two triangles, their angles, and what damps them.
//!
//! A hinge is an edge with its two triangles: corners 0 and 1 are the edge, 2 is the third corner of the triangle (0, 1, 2), and 3 that of
//! (1, 0, 3). Its angle θ is zero where both lie in one plane, and positive where they fold towards the side that their
//! normals (by the right hand, in this order) point to. What angles have to do with each other is in [`plate`](crate::plate).

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

use crate::rest::product;
use crate::vertex::{Vertex, positions, velocities};

/// The angle θ of a hinge [rad], from -π to π:  atan2(|e| n·b, n·m),  with twice the area as the normal n of the first triangle, the edge e
/// and the corner b of the second triangle, from where the edge starts, and the normal m = b × e of the second. (m × n)·e = |e|² n·b,
/// so that it is as exact for flat hinges as for folded ones.
#[kernel]
pub(crate) fn angle_over<R: Real>(n: Vec3<R>, e: Vec3<R>, b: Vec3<R>) -> R {
    atan2(sqrt(dot(e, e)) * dot(n, b), dot(n, cross(b, e)))
}

/// 1/x, and 0 where a triangle has no area: it has no normal then, and no torque acts on it.
#[kernel]
pub(crate) fn inverse<R: Real>(x: R) -> R {
    if x > LEAST { 1.0 / x } else { 0.0 }
}

/// The smallest square that counts as more than zero: of lengths [m²] and of areas [m⁴].
const LEAST: f64 = 1e-36;

/// Forces on the corners by a torque that opens the hinge: the gradient of θ [1/m] (Bridson, Marino and Fedkiw 2003), times the torque. With
/// n and m twice the areas, g₂ = |e| n/|n|², g₃ = |e| m/|m|², and what holds against them at the ends of the edge, by where the
/// corners a and b lie along it, t = a·e/|e|².
#[kernel]
pub(crate) fn torque_over<R: Real>(
    n: Vec3<R>,
    per_nn: R,
    e: Vec3<R>,
    a: Vec3<R>,
    b: Vec3<R>,
    torque: R,
) -> [Vec3<R>; 4] {
    let m = cross(b, e);
    let ee = dot(e, e);
    let pull = torque * sqrt(ee);
    let per_ee = inverse(ee);
    let g2 = n * (pull * per_nn);
    let g3 = m * (pull * inverse(dot(m, m)));
    let g1 = g2 * (-dot(a, e) * per_ee) + g3 * (-dot(b, e) * per_ee);
    [-(g1 + g2 + g3), g1, g2, g3]
}

/// The angle θ of a hinge [rad], from -π to π.
#[kernel(pullback = hinge_torque)]
pub fn dihedral<R: Real>(x: [Vec3<R>; 4]) -> R {
    let e = x[1] - x[0];
    angle_over(cross(e, x[2] - x[0]), e, x[3] - x[0])
}

/// Forces on the corners by a torque that opens the hinge:  ∂θ/∂x torque
#[kernel]
pub fn hinge_torque<R: Real>(x: [Vec3<R>; 4], torque: R) -> [Vec3<R>; 4] {
    let e = x[1] - x[0];
    let a = x[2] - x[0];
    let n = cross(e, a);
    torque_over(n, inverse(dot(n, n)), e, a, x[3] - x[0], torque)
}

/// -c ∂θ/∂x θ̇
#[kernel]
fn damping_force<R: Real>(edges: [Vertex<R>; 3], damping: R) -> [Vec3<R>; 3] {
    let (x, v) = (positions(edges), velocities(edges));
    let n = cross(x[0], x[1]);
    let g = torque_over(n, inverse(dot(n, n)), x[0], x[1], x[2], 1.0);
    let torque = -damping * (dot(g[1], v[0]) + dot(g[2], v[1]) + dot(g[3], v[2]));
    [g[1] * torque, g[2] * torque, g[3] * torque]
}

/// Adds the torque of each hinge by the rate of its angle [N·m·s]: damping times weight ([`rest::hinges_at_rest`]).
///
/// [`rest::hinges_at_rest`]: crate::rest::hinges_at_rest
pub fn weighted_damping(
    p: &mut Builder,
    name: &str,
    damping: Buffer<f64>,
    weight: Buffer<f64>,
) -> Buffer<f64> {
    p.map::<Once<product>>(name, (damping.own(), weight.own()))
}

/// Adds the forces on the vertices [N] by which hinges with these corners are damped.
pub fn damping(
    p: &mut Builder,
    name: &str,
    (corners, vertices): (Corners<4>, Buffer<Vertex>),
    damping: Buffer<f64>,
) -> Buffer<Vec3> {
    p.balanced::<damping_force, Vec3, 4, 3>(name, corners, (vertices.edges(corners), damping.own()))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use pullback_kernel::gradcheck;

    use super::*;

    /// An edge along x, one wing along -y, the other turned up from y by an angle.
    fn folded(angle: f64) -> [Vec3; 4] {
        let (sin, cos) = angle.sin_cos();
        [vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), vec3(0.3, 0.8 * cos, 0.8 * sin), vec3(0.6, -1.1, 0.0)]
    }

    #[test]
    fn gradients_of_the_kernels() {
        let at = |k: f64| vec3((1.3 * k).sin(), (2.1 * k + 0.4).cos(), (0.7 * k).sin());
        for x in [folded(0.7), folded(-2.0), folded(0.0), [at(0.0), at(1.0), at(2.0), at(3.0)]] {
            gradcheck::kernel::<dihedral>(&(x,)).expect("the angle");
            gradcheck::kernel::<hinge_torque>(&(x, 0.7)).expect("its gradient");
        }
        let vertices = [1.0, 2.0, 3.0].map(|k| Vertex { x: at(k), v: at(k + 5.0) });
        gradcheck::kernel::<damping_force>(&(vertices, 0.4)).expect("the damping");
    }

    /// Flat, folded to both sides, and nearly closed: the angle, and its gradient by formula as by the pullback of the angle.
    /// Triangles without area, and an edge without length: no force, and finite derivatives.
    #[test]
    fn without_area() {
        let [a, b, c, d] = folded(0.7);
        for x in [[a, b, a, d], [a, b, (a + b) * 0.5, d], [a, b, c, b], [a, a, c, d], [a, a, a, a]] {
            let (torque, bars): ([Vec3; 4], _) =
                (hinge_torque(x, 0.7), hinge_torque::pullback(x, 0.7, folded(0.2)));
            assert!(
                torque.iter().chain(&bars.0).all(|v| length(*v).is_finite()),
                "{x:?}: {torque:?}, {bars:?}"
            );
            let (angle, bars): (f64, _) = (dihedral(x), dihedral::pullback(x, 1.0));
            assert!(
                angle.is_finite() && bars.0.iter().all(|v| length(*v).is_finite()),
                "{x:?}: {angle}, {bars:?}"
            );
        }
    }

    #[test]
    fn angles() {
        for angle in [0.0, 1e-9, -1e-9, 0.5, -0.5, 2.0, -2.0, 3.1, -3.1, PI - 1e-5] {
            let x = folded(angle);
            let found: f64 = dihedral(x);
            assert!((found - angle).abs() < 1e-14, "{found}, and not {angle}");
            let (by_angle,) = dihedral::derived_pullback(x, 1.0);
            for (a, b) in by_angle.into_iter().zip(hinge_torque(x, 1.0)) {
                assert!(length(b) > 0.1 && length(a - b) < 1e-11, "{angle}: {a:?}, and not {b:?}");
            }
        }
    }
}
