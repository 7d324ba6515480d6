//! Sheets in their plane: triangles in space with a neo-Hookean energy.
//!
//! A sheet has two columns of F, the images a and b of two directions at right angles in the triangle at rest. Its numbers are those of plane
//! stress (a thin sheet is free to get thinner): with Young's modulus E and Poisson's ratio ν of the stuff,
//! μ = E / (2 (1 + ν)) and λ = E ν / (1 - ν²), which is 2 μ λ₃ / (λ₃ + 2 μ) of the λ₃ of solids.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

use crate::air::{Air, sailing};
use crate::rest::{InverseEdges, zeros};
use crate::vertex::Vertex;

/// Triangles of a sheet in a program, where their forces are wanted. Numbers are one for each triangle.
#[derive(Clone, Copy, Debug)]
pub struct Triangles {
    /// Their corners.
    pub corners: Corners<3>,
    /// Positions of vertices [m].
    pub x: Buffer<Vec3>,
    /// The same with velocities [m/s]: [`vertex::vertices`](crate::vertex::vertices).
    pub vertices: Buffer<Vertex>,
    /// Inverse edges at rest [1/m]: [`rest::triangles_at_rest`](crate::rest::triangles_at_rest).
    pub rest: Buffer<InverseEdges>,
    /// Volume at rest [m³], area times thickness: [`rest::sheet_volumes`](crate::rest::sheet_volumes).
    pub volume: Buffer<f64>,
    /// Shear modulus μ [Pa].
    pub mu: Buffer<f64>,
    /// Lamé's first number of plane stress λ [Pa].
    pub lambda: Buffer<f64>,
    /// By how much the area wants to grow, relative to that at rest [1].
    pub actuation: Buffer<f64>,
    /// Viscosity [Pa·s]; `None`: nothing is damped.
    pub viscosity: Option<Buffer<f64>>,
    /// The air that lifts and drags them, if any does.
    pub air: Option<Air>,
}

/// The two columns of F of a triangle [1], by its edges from corner 0 [m]; of velocities [m/s], their rates [1/s].
#[kernel]
pub fn sheet_deformation<R: Real>(edges: [Vec3<R>; 2], rest: InverseEdges<R>) -> [Vec3<R>; 2] {
    [edges[0] * rest.xx, edges[0] * rest.xy + edges[1] * rest.yy]
}

/// Stable neo-Hookean as in [`neo_hookean`](crate::neo_hookean), in two dimensions [J/m³]:
/// ½ m (I - 2) - ½ m ln((I + 1)/3) + ½ l (J - α)² - μ²/(2 l),  I = |a|² + |b|²,  J = |a × b|,  α = 1 + μ/l + actuation.
///
/// In n dimensions the stress at rest is zero with l (α - 1) = m n/(n + 1), and its derivative is that of linear elasticity with
/// μ = m n/(n + 1), λ = l - μ + 2 m/(n + 1)²: here m = 3/2 μ, l = λ + 2/3 μ.
#[kernel]
pub fn sheet_density<R: Real>(f: [Vec3<R>; 2], mu: R, lambda: R, actuation: R) -> R {
    let m = 1.5 * mu;
    let l = lambda + 2.0 / 3.0 * mu;
    let i = dot(f[0], f[0]) + dot(f[1], f[1]);
    let normal = cross(f[0], f[1]);
    let offset = mu / l;
    let j = sqrt(dot(normal, normal)) - 1.0 - offset - actuation;
    0.5 * m * (i - 2.0 - ln((i + 1.0) / 3.0)) + 0.5 * l * (j * j - offset * offset)
}

/// Minus its derivative by a and b [Pa]:  -m (1 - 1/(I + 1)) a - (l (J - 1 - actuation) - μ) b × n,  and for b with n × a,
/// n = a × b/J. Where J is 0, n is too.
#[kernel]
pub fn minus_sheet_stress<R: Real>(f: [Vec3<R>; 2], mu: R, lambda: R, actuation: R) -> [Vec3<R>; 2] {
    let (a, b) = (f[0], f[1]);
    let m = 1.5 * mu;
    let l = lambda + 2.0 / 3.0 * mu;
    let normal = cross(a, b);
    let jj = dot(normal, normal);
    let shear = m / (dot(a, a) + dot(b, b) + 1.0) - m;
    // (l (α - J)) / J = (μ + l (1 + actuation)) / J - l
    let spread = if jj > LEAST { (mu + l * (1.0 + actuation)) / sqrt(jj) - l } else { 0.0 };
    [a * shear + cross(b, normal) * spread, b * shear + cross(normal, a) * spread]
}

/// Below this, the square of a triangle's growth in area counts as nothing.
const LEAST: f64 = 1e-24;

/// Minus the viscous stress [Pa] in the plane: -F S,  S = 2 η Ė,  Ė = ½ (Fᵀ Ḟ + Ḟᵀ F), as that of solids.
#[kernel]
pub fn viscous_sheet_stress<R: Real>(f: [Vec3<R>; 2], f_dot: [Vec3<R>; 2], viscosity: R) -> [Vec3<R>; 2] {
    let xx = -2.0 * viscosity * dot(f[0], f_dot[0]);
    let yy = -2.0 * viscosity * dot(f[1], f_dot[1]);
    let xy = -viscosity * (dot(f[0], f_dot[1]) + dot(f[1], f_dot[0]));
    [f[0] * xx + f[1] * xy, f[0] * xy + f[1] * yy]
}

/// Forces on corners 1 and 2 [N] by minus the stress [Pa]: the columns of V (-P) D_m⁻ᵀ.
#[kernel]
fn corner_forces<R: Real>(minus_stress: [Vec3<R>; 2], rest: InverseEdges<R>, volume: R) -> [Vec3<R>; 2] {
    [
        minus_stress[0] * (volume * rest.xx) + minus_stress[1] * (volume * rest.xy),
        minus_stress[1] * (volume * rest.yy),
    ]
}

/// V Ψ(F)
#[kernel]
fn sheet_energy<R: Real>(
    edges: [Vec3<R>; 2],
    rest: InverseEdges<R>,
    volume: R,
    mu: R,
    lambda: R,
    actuation: R,
) -> R {
    volume * sheet_density(sheet_deformation(edges, rest), mu, lambda, actuation)
}

/// Elastic and viscous forces on corners 1 and 2 [N].
#[kernel(pullback = sheet_forces_pullback)]
pub(crate) fn sheet_forces<R: Real>(
    edges: [Vertex<R>; 2],
    rest: InverseEdges<R>,
    volume: R,
    mu: R,
    lambda: R,
    actuation: R,
    viscosity: R,
) -> [Vec3<R>; 2] {
    let f = sheet_deformation([edges[0].x, edges[1].x], rest);
    let elastic = minus_sheet_stress(f, mu, lambda, actuation);
    let viscous = viscous_sheet_stress(f, sheet_deformation([edges[0].v, edges[1].v], rest), viscosity);
    corner_forces([elastic[0] + viscous[0], elastic[1] + viscous[1]], rest, volume)
}

/// With the deformation (g, h) of the forces' cotangents, they are V S : (g, h) of minus the stress S. Of the elastic part that is
/// V (shear t + spread n·q),  t = a·g + b·h,  n = a × b,  q = g × b + a × h,  and of the viscous part -½ V η E : K, with E and K the rates of
/// twice Green's strain by Ḟ and by (g, h). The derivatives by F and Ḟ are stresses of the cotangents of positions and velocities.
#[kernel]
pub(crate) fn sheet_forces_pullback<R: Real>(
    edges: [Vertex<R>; 2],
    rest: InverseEdges<R>,
    volume: R,
    mu: R,
    lambda: R,
    actuation: R,
    viscosity: R,
    bar: [Vec3<R>; 2],
) -> ([Vertex<R>; 2], InverseEdges<R>, R, R, R, R, R) {
    let f = sheet_deformation([edges[0].x, edges[1].x], rest);
    let f_dot = sheet_deformation([edges[0].v, edges[1].v], rest);
    let along = sheet_deformation(bar, rest);
    let (a, b, g, h) = (f[0], f[1], along[0], along[1]);
    let (k_xx, k_yy, k_xy) = (2.0 * dot(a, g), 2.0 * dot(b, h), dot(a, h) + dot(b, g));
    let e_xx = 2.0 * dot(a, f_dot[0]);
    let e_yy = 2.0 * dot(b, f_dot[1]);
    let e_xy = dot(a, f_dot[1]) + dot(b, f_dot[0]);
    let ek = -0.5 * (e_xx * k_xx + e_yy * k_yy) - e_xy * k_xy;

    let m = 1.5 * mu;
    let l = lambda + 2.0 / 3.0 * mu;
    let n = cross(a, b);
    let jj = dot(n, n);
    let open = if jj > LEAST { 1.0 } else { 0.0 };
    let per_j = if jj > LEAST { 1.0 / sqrt(jj) } else { 0.0 };
    let full = mu + l * (1.0 + actuation);
    let spread = full * per_j - l * open;
    let per_i = 1.0 / (dot(a, a) + dot(b, b) + 1.0);
    let grow = per_i - 1.0;
    let shear = m * grow;
    let t = 0.5 * (k_xx + k_yy);
    let q = cross(g, b) + cross(a, h);
    let nq = dot(n, q);
    let n_bar = q * spread + n * (-(full * per_j) * (per_j * (per_j * nq)));
    let q_bar = n * spread;
    let drop = -2.0 * t * m * per_i * per_i;

    let (v_xx, v_yy, v_xy) = (-viscosity * k_xx, -viscosity * k_yy, -viscosity * k_xy);
    let w_xy = -viscosity * e_xy;
    let by_a = f_dot[0] * v_xx
        + (f_dot[1] * v_xy
            + (g * (shear - viscosity * e_xx)
                + (h * w_xy + (a * drop + (cross(b, n_bar) + cross(h, q_bar))))));
    let by_b = f_dot[0] * v_xy
        + (f_dot[1] * v_yy
            + (h * (shear - viscosity * e_yy)
                + (g * w_xy + (b * drop + (cross(n_bar, a) + cross(q_bar, g))))));
    let (by_a_dot, by_b_dot) = (a * v_xx + b * v_xy, a * v_xy + b * v_yy);
    let x_bar = corner_forces([by_a, by_b], rest, volume);
    let v_bar = corner_forces([by_a_dot, by_b_dot], rest, volume);

    let (s_xx, s_yy) = (shear - viscosity * e_xx, shear - viscosity * e_yy);
    let s_a = a * s_xx + (b * w_xy + cross(b, n) * spread);
    let s_b = b * s_yy + (a * w_xy + cross(n, a) * spread);
    let rest_bar = InverseEdges {
        xx: volume * (dot(edges[0].x, by_a) + dot(edges[0].v, by_a_dot) + dot(bar[0], s_a)),
        xy: volume * (dot(edges[0].x, by_b) + dot(edges[0].v, by_b_dot) + dot(bar[0], s_b)),
        yy: volume * (dot(edges[1].x, by_b) + dot(edges[1].v, by_b_dot) + dot(bar[1], s_b)),
    };
    (
        [Vertex { x: x_bar[0], v: v_bar[0] }, Vertex { x: x_bar[1], v: v_bar[1] }],
        rest_bar,
        shear * t + spread * nq + viscosity * ek,
        volume * (1.5 * grow * t + ((1.0 + 2.0 / 3.0 * (1.0 + actuation)) * per_j - 2.0 / 3.0 * open) * nq),
        volume * ((1.0 + actuation) * per_j - open) * nq,
        volume * l * per_j * nq,
        volume * ek,
    )
}

/// Adds the forces on the vertices [N], those of the air among them, as an operation of this name.
pub fn force(p: &mut Builder, name: &str, t: &Triangles) -> Buffer<Vec3> {
    let viscosity = t.viscosity.unwrap_or_else(|| zeros(p, &format!("{name} viscosity"), p.len(t.mu)));
    let (rest, volume, mu, lambda) = (t.rest.own(), t.volume.own(), t.mu.own(), t.lambda.own());
    let (actuation, viscosity) = (t.actuation.own(), viscosity.own());
    match t.air {
        None => {
            let edges = t.vertices.edges(t.corners);
            let ports = (edges, rest, volume, mu, lambda, actuation, viscosity);
            p.balanced::<sheet_forces, Vec3, 3, 2>(name, t.corners, ports)
        }
        Some(Air { wind, drag, lift }) => {
            let (at, wind, drag, lift) = (t.vertices.at(t.corners), wind.shared(), drag.own(), lift.own());
            let ports = (at, rest, volume, mu, lambda, actuation, viscosity, wind, drag, lift);
            p.elements::<sailing, Vec3, 3>(name, t.corners, ports)
        }
    }
}

/// Adds the energy of all triangles [J], as an operation of this name.
pub fn energy(p: &mut Builder, name: &str, t: &Triangles) -> Buffer<f64> {
    let (mu, lambda, actuation) = (t.mu.own(), t.lambda.own(), t.actuation.own());
    let ports = (t.x.edges(t.corners), t.rest.own(), t.volume.own(), mu, lambda, actuation);
    p.reduce::<Once<sheet_energy>>(name, ports)
}

#[cfg(test)]
mod tests {
    use pullback_kernel::gradcheck;

    use super::*;

    #[test]
    fn gradients_of_the_kernels() {
        let at = |k: f64| vec3((1.3 * k).sin(), (2.1 * k + 0.4).cos(), (0.7 * k).sin());
        let x = [at(1.0), at(2.0)];
        let vertices = [0, 1].map(|k| Vertex { x: x[k], v: at(k as f64 + 3.0) });
        let rest = InverseEdges { xx: 0.8, xy: -0.3, yy: 1.1 };
        gradcheck::kernel::<sheet_forces>(&(vertices, rest, 0.4, 0.7, 0.5, 0.1, 0.2)).expect("damped");
        gradcheck::kernel::<sheet_energy>(&(x, rest, 0.4, 0.7, 0.5, 0.1)).expect("energy");
    }

    /// The stress by hand is the derivative of the energy.
    #[test]
    fn stress_of_the_energy() {
        let f = [vec3(1.1, 0.3, -0.2), vec3(0.2, 0.7, 0.6)];
        let (p, ..) = sheet_density::pullback(f, 0.4, 0.6, 0.1, 1.0);
        let minus = minus_sheet_stress(f, 0.4, 0.6, 0.1);
        assert!(length(p[0]) > 0.01 && length(p[0] + minus[0]) + length(p[1] + minus[1]) < 1e-14, "{p:?}");
    }

    /// A triangle that has become a line, or a point, has forces and derivatives that are numbers.
    #[test]
    fn without_area() {
        let a = vec3(1.0, 0.5, 0.2);
        for f in [[a, a * 2.0], [a * 0.0, a], [a * 0.0, a * 0.0]] {
            let stress: [Vec3; 2] = minus_sheet_stress(f, 1.0, 1.0, 0.0);
            let (bars, ..) = minus_sheet_stress::pullback(f, 1.0, 1.0, 0.0, [a, a]);
            for v in [stress[0], stress[1], bars[0], bars[1]] {
                assert!(length(v).is_finite(), "{f:?}: {v:?}");
            }
        }
    }

    /// The pullback by hand is the macro's also where a triangle has become a line or a point, and nearly so.
    #[test]
    fn the_pullback_without_area() {
        let (a, rest) = (vec3(1.0, 0.5, 0.2), InverseEdges { xx: 1.0, xy: 0.0, yy: 1.0 });
        let nearly = a * 2.0 + vec3(0.0, 0.0, 1e-6);
        for x in [[a, a * 2.0], [a * 0.0, a], [a * 0.0, a * 0.0], [a, nearly]] {
            let edges = x.map(|x| Vertex { x, v: vec3(0.3, -0.2, 0.7) });
            let bar = [vec3(0.2, -1.0, 0.4), vec3(1.0, 0.3, -0.6)];
            let hand = sheet_forces::pullback(edges, rest, 0.4, 0.7, 0.5, 0.1, 0.2, bar);
            let derived = sheet_forces::derived_pullback(edges, rest, 0.4, 0.7, 0.5, 0.1, 0.2, bar);
            let size = 1.0 + length(derived.0[0].x) + length(derived.0[1].x);
            for (h, d) in hand.0.into_iter().zip(derived.0) {
                assert!(length(h.x - d.x) + length(h.v - d.v) < 1e-9 * size, "{x:?}: {h:?}, and not {d:?}");
            }
            let near = |h: f64, d: f64| assert!((h - d).abs() < 1e-9 * size, "{x:?}: {h}, and not {d}");
            near(hand.1.xx, derived.1.xx);
            near(hand.2, derived.2);
            near(hand.3, derived.3);
            near(hand.4, derived.4);
            near(hand.5, derived.5);
            near(hand.6, derived.6);
        }
        // In single precision nothing overflows on the way.
        let thin: [Vec3<f32>; 2] = [vec3(1.0, 0.0, 0.0), vec3(1.0, 2e-12, 0.0)];
        let edges = thin.map(|x| Vertex { x, v: x });
        let rest = InverseEdges { xx: 1.0, xy: 0.0, yy: 1.0 };
        let (bars, ..) = sheet_forces::pullback(edges, rest, 1.0, 1e5, 1e5, 0.0, 0.0, thin);
        assert!(length(bars[0].x).is_finite() && length(bars[1].x).is_finite(), "{bars:?}");
    }
}
