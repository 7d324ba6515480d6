//! Sheets that bend: hinges between triangles.
//!
//! A hinge is an edge with its two triangles: corners 0 and 1 are the edge, 2 is the third corner of the triangle (0, 1, 2), and 3 that of
//! (1, 0, 3). Its angle θ is zero where both lie in one plane, and positive where they fold towards the side that their
//! normals (by the right hand, in this order) point to.
//!
//! Its energy is ½ k w (θ - rest - actuation)² with the weight w = |e|²/(A₀ + A₁) of edge and areas at rest (Grinspun, Hirani, Desbrun and
//! Schröder 2003, with their factor in k). A sheet whose mesh has an edge in the direction of its folds, of rectangles with a diagonal or of
//! equilateral triangles, has the energy of a plate, ½ k κ² per area, for k = E t³/(12 (1 - ν²)) when it is bent to a cylinder there; in
//! other directions, and in twist, that depends on the mesh.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

use crate::rest::hinges_at_rest;

/// Hinges in a program, where their forces are wanted. Numbers are one for each hinge.
#[derive(Clone, Copy, Debug)]
pub struct Hinges {
    /// The edge, and the corners across from it.
    pub corners: Corners<4>,
    /// Positions of vertices [m].
    pub x: Buffer<Vec3>,
    /// Velocities of vertices [m/s].
    pub v: Buffer<Vec3>,
    /// Weight [1]: [`rest::hinges_at_rest`](crate::rest::hinges_at_rest).
    pub weight: Buffer<f64>,
    /// Angle at rest [rad].
    pub angle: Buffer<f64>,
    /// Stiffness [N·m]: E t³/(12 (1 - ν²)) of a plate.
    pub stiffness: Buffer<f64>,
    /// What is added to the angle at rest [rad].
    pub actuation: Buffer<f64>,
    /// Damping of the angle's rate [N·m·s], with the same weight.
    pub damping: Buffer<f64>,
}

/// The angle θ of a hinge [rad], from -π to π:  atan2(|e| n₀·(x₃ - x₀), n₀·n₁) with the normals n₀ and n₁ of both triangles, because
/// (n₁ × n₀)·e = |e|² n₀·(x₃ - x₀). It is as exact for flat hinges as for folded ones.
#[kernel(pullback = dihedral_pullback)]
pub fn dihedral<R: Real>(x: [Vec3<R>; 4]) -> R {
    let e = x[1] - x[0];
    let n0 = cross(e, x[2] - x[0]);
    let n1 = cross(x[3] - x[0], e);
    atan2(sqrt(dot(e, e)) * dot(n0, x[3] - x[0]), dot(n0, n1))
}

/// x_bar = ∂θ/∂x θ_bar
#[kernel]
fn dihedral_pullback<R: Real>(x: [Vec3<R>; 4], angle_bar: R) -> [Vec3<R>; 4] {
    let g = dihedral_gradient(x);
    [g[0] * angle_bar, g[1] * angle_bar, g[2] * angle_bar, g[3] * angle_bar]
}

/// The gradient of θ [1/m] (Bridson, Marino and Fedkiw 2003): with n₀ and n₁ twice the areas, g₂ = |e| n₀/|n₀|², g₃ = |e| n₁/|n₁|², and
/// what holds against them at the ends of the edge, by where the corners lie along it, t = (x - x₀)·e/|e|².
#[kernel]
pub fn dihedral_gradient<R: Real>(x: [Vec3<R>; 4]) -> [Vec3<R>; 4] {
    let e = x[1] - x[0];
    let (a, b) = (x[2] - x[0], x[3] - x[0]);
    let n0 = cross(e, a);
    let n1 = cross(b, e);
    let ee = dot(e, e);
    let l = sqrt(ee);
    let g2 = n0 * (l / dot(n0, n0));
    let g3 = n1 * (l / dot(n1, n1));
    let g1 = g2 * (-dot(a, e) / ee) + g3 * (-dot(b, e) / ee);
    [-(g1 + g2 + g3), g1, g2, g3]
}

/// ½ k w (θ - rest - actuation)²
#[kernel]
fn hinge_energy<R: Real>(theta: R, weight: R, angle: R, stiffness: R, actuation: R) -> R {
    let off = theta - angle - actuation;
    0.5 * stiffness * weight * off * off
}

/// -w (k (θ - rest - actuation) + c dθ/dt) ∂θ/∂x
#[kernel]
fn hinge_force<R: Real>(
    x: [Vec3<R>; 4],
    v: [Vec3<R>; 4],
    weight: R,
    angle: R,
    stiffness: R,
    actuation: R,
    damping: R,
) -> [Vec3<R>; 4] {
    let g = dihedral_gradient(x);
    let off = dihedral(x) - angle - actuation;
    let rate = dot(g[1], v[1] - v[0]) + dot(g[2], v[2] - v[0]) + dot(g[3], v[3] - v[0]);
    let torque = -weight * (stiffness * off + damping * rate);
    [g[0] * torque, g[1] * torque, g[2] * torque, g[3] * torque]
}

/// Adds the forces on the vertices [N], as an operation of this name.
pub fn force(p: &mut Builder, name: &str, h: &Hinges) -> Buffer<Vec3> {
    let ports = (
        h.x.at(h.corners),
        h.v.at(h.corners),
        h.weight.own(),
        h.angle.own(),
        h.stiffness.own(),
        h.actuation.own(),
        h.damping.own(),
    );
    p.elements::<hinge_force, Vec3, 4>(name, h.corners, ports)
}

/// Adds the energy of all hinges [J], as an operation of this name.
pub fn energy(p: &mut Builder, name: &str, h: &Hinges) -> Buffer<f64> {
    let (theta, _) = hinges_at_rest(p, &format!("{name} now"), h.corners, h.x);
    let (weight, angle, stiffness) = (h.weight.own(), h.angle.own(), h.stiffness.own());
    p.reduce::<Once<hinge_energy>>(name, (theta.own(), weight, angle, stiffness, h.actuation.own()))
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
        let v = [at(5.0), at(6.0), at(7.0), at(8.0)];
        for x in [folded(0.7), folded(-2.0), folded(0.0), [at(0.0), at(1.0), at(2.0), at(3.0)]] {
            gradcheck::kernel::<dihedral>(&(x,)).expect("the angle");
            gradcheck::kernel::<dihedral_gradient>(&(x,)).expect("its gradient");
            gradcheck::kernel::<hinge_force>(&(x, v, 1.2, 0.3, 0.7, 0.1, 0.4)).expect("the force");
        }
    }

    /// Flat, folded to both sides, and nearly closed: the angle, and its gradient by formula as by the pullback of the angle.
    #[test]
    fn angles() {
        for angle in [0.0, 1e-9, -1e-9, 0.5, -0.5, 2.0, -2.0, 3.1, -3.1, PI - 1e-5] {
            let x = folded(angle);
            let found: f64 = dihedral(x);
            assert!((found - angle).abs() < 1e-14, "{found}, and not {angle}");
            let (by_angle,) = dihedral::derived_pullback(x, 1.0);
            for (a, b) in by_angle.into_iter().zip(dihedral_gradient(x)) {
                assert!(length(b) > 0.1 && length(a - b) < 1e-11, "{angle}: {a:?}, and not {b:?}");
            }
        }
    }
}
