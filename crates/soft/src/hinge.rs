//! Sheets that bend: hinges between triangles.
//!
//! A hinge is an edge with its two triangles: corners 0 and 1 are the edge, 2 is the third corner of the triangle (0, 1, 2), and 3 that of
//! (1, 0, 3). Its angle θ is zero where both lie in one plane, and positive where they fold towards the side that their
//! normals (by the right hand, in this order) point to.
//!
//! With what each hinge is off its rest, off = θ - rest - actuation, the energy is ½ Σ K_ij off_i off_j, and the torque at a hinge
//! -Σ_j K_ij off_j: the sum is over the hinge itself and the two others of each of its triangles. The couplings K are those of a plate, and
//! [`plate`](crate::plate) makes them once.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

use crate::vertex::{Vertex, positions, velocities};

/// Hinges in a program, where their forces are wanted. Numbers are one for each hinge.
#[derive(Clone, Copy, Debug)]
pub struct Hinges {
    /// The edge, and the corners across from it.
    pub corners: Corners<4>,
    /// The other hinges of both triangles: [`Neighbours::beside`](crate::plate::Neighbours::beside).
    pub beside: Corners<4>,
    /// Positions of vertices [m].
    pub x: Buffer<Vec3>,
    /// The same with velocities [m/s]: [`vertex::vertices`](crate::vertex::vertices).
    pub vertices: Buffer<Vertex>,
    /// Angle at rest [rad].
    pub angle: Buffer<f64>,
    /// What is added to the angle at rest [rad].
    pub actuation: Buffer<f64>,
    /// Couplings in each of the two triangles [N·m]: [`plate::couplings`](crate::plate::couplings).
    pub couplings: [Buffer<Vec3>; 2],
    /// Torque by the rate of the angle [N·m·s]: [`plate::damping`](crate::plate::damping).
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

/// off = θ - rest - actuation
#[kernel]
fn hinge_off<R: Real>(x: [Vec3<R>; 4], angle: R, actuation: R) -> R {
    dihedral(x) - angle - actuation
}

/// Σ_j K_ij off_j: the hinge itself in both triangles, and the others of the first and the second.
#[kernel]
fn moment<R: Real>(off: R, beside: [R; 4], first: Vec3<R>, second: Vec3<R>) -> R {
    dot(first, vec3(off, beside[0], beside[1])) + dot(second, vec3(off, beside[2], beside[3]))
}

/// ½ off_i Σ_j K_ij off_j
#[kernel]
fn hinge_energy<R: Real>(off: R, beside: [R; 4], first: Vec3<R>, second: Vec3<R>) -> R {
    0.5 * off * moment(off, beside, first, second)
}

/// -(Σ_j K_ij off_j + c dθ/dt) ∂θ/∂x
#[kernel]
fn hinge_force<R: Real>(
    off: R,
    beside: [R; 4],
    first: Vec3<R>,
    second: Vec3<R>,
    at: [Vertex<R>; 4],
    damping: R,
) -> [Vec3<R>; 4] {
    let g = dihedral_gradient(positions(at));
    let v = velocities(at);
    let rate = dot(g[1], v[1] - v[0]) + dot(g[2], v[2] - v[0]) + dot(g[3], v[3] - v[0]);
    let torque = -(moment(off, beside, first, second) + damping * rate);
    [g[0] * torque, g[1] * torque, g[2] * torque, g[3] * torque]
}

/// What each hinge is off its rest [rad].
fn offs(p: &mut Builder, name: &str, h: &Hinges) -> Buffer<f64> {
    p.map::<hinge_off>(&format!("{name} off rest"), (h.x.at(h.corners), h.angle.own(), h.actuation.own()))
}

/// Adds the forces on the vertices [N], as an operation of this name.
pub fn force(p: &mut Builder, name: &str, h: &Hinges) -> Buffer<Vec3> {
    let off = offs(p, name, h);
    let [first, second] = h.couplings;
    let ports =
        (off.own(), off.at(h.beside), first.own(), second.own(), h.vertices.at(h.corners), h.damping.own());
    p.elements::<hinge_force, Vec3, 4>(name, h.corners, ports)
}

/// Adds the energy of all hinges [J], as an operation of this name.
pub fn energy(p: &mut Builder, name: &str, h: &Hinges) -> Buffer<f64> {
    let off = offs(p, name, h);
    let [first, second] = h.couplings;
    p.reduce::<Once<hinge_energy>>(name, (off.own(), off.at(h.beside), first.own(), second.own()))
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
            gradcheck::kernel::<dihedral_gradient>(&(x,)).expect("its gradient");
            gradcheck::kernel::<hinge_off>(&(x, 0.3, 0.1)).expect("what it is off rest");
        }
        let (off, beside) = (0.3, [0.2, -0.4, 0.1, 0.5]);
        let vertices = [0.0, 1.0, 2.0, 3.0].map(|k| Vertex { x: at(k), v: at(k + 5.0) });
        let (first, second) = (vec3(1.2, 0.3, -0.2), vec3(0.8, -0.1, 0.4));
        gradcheck::kernel::<hinge_force>(&(off, beside, first, second, vertices, 0.4)).expect("the force");
        gradcheck::kernel::<hinge_energy>(&(off, beside, first, second)).expect("the energy");
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
