//! The neo-Hookean material, for everything. Where the shape at rest stays, its forces are one sweep, for speed.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;

use crate::material::{Material, Tetrahedra};
use crate::strain::{corner_forces, deformation};
use crate::vertex::{Vertex, positions, velocities};

/// Stable neo-Hookean (Smith, De Goes and Kim 2018, eq. 14):  ½ m (I - 3) - ½ m ln((I + 1)/4) + ½ l (J - α)² - μ²/(2 l),
/// I = |F|²,  J = det F.
///
/// With m = 4/3 μ and l = λ + 5/6 μ, small deformations are those of linear elasticity with Lamé's μ and λ; with
/// α = 1 + μ/l + actuation the body is at rest where it was made if nothing actuates it, and what does asks for another volume. It
/// is defined, and pushes back, also where an element is flat or inside out.
#[kernel]
pub fn neo_hookean<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
    let m = 4.0 / 3.0 * mu;
    let l = lambda + 5.0 / 6.0 * mu;
    let i = contract(f, f);
    let offset = mu / l;
    let j = determinant(f) - 1.0 - offset - actuation;
    0.5 * m * (i - 3.0 - ln(0.25 * (i + 1.0))) + 0.5 * l * (j * j - offset * offset)
}

/// Minus its derivative by F [Pa]:  -m (1 - 1/(I + 1)) F - (l (J - 1 - actuation) - μ) cof F
#[kernel]
fn minus_neo_hookean_stress<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> Mat3<R> {
    let m = 4.0 / 3.0 * mu;
    let l = lambda + 5.0 / 6.0 * mu;
    let cof = cofactors(f);
    let j = dot(f.x, cof.x) - 1.0 - actuation;
    f * (m / (contract(f, f) + 1.0) - m) + cof * (mu - l * j)
}

/// V Ψ(F)
#[kernel]
fn energy<R: Real>(f: Mat3<R>, volume: R, mu: R, lambda: R, actuation: R) -> R {
    volume * neo_hookean(f, mu, lambda, actuation)
}

/// Elastic and viscous forces on corners 1 to 3, by minus the stress S = F M + c cof F, with the symmetric
/// M = a - η (Fᵀ Ḟ + Ḟᵀ F): those of [`minus_neo_hookean_stress`] and [`viscous_stress`](crate::strain::viscous_stress) in one.
#[kernel(pullback = forces_pullback)]
fn forces<R: Real>(
    edges: [Vertex<R>; 3],
    rest: Mat3<R>,
    volume: R,
    mu: R,
    lambda: R,
    actuation: R,
    viscosity: R,
) -> [Vec3<R>; 3] {
    let f = deformation(positions(edges), rest);
    let e = strain(f, deformation(velocities(edges), rest)) * -viscosity;
    let m = 4.0 / 3.0 * mu;
    let cof = cofactors(f);
    let c = mu - (lambda + 5.0 / 6.0 * mu) * (dot(f.x, cof.x) - 1.0 - actuation);
    let s = plus_product(cof * c, f, plus_diagonal(e, m / (contract(f, f) + 1.0) - m));
    corner_forces(s, rest, volume)
}

/// With the deformation G of the forces' cotangents, these are a function V S : G of F, Ḟ and numbers. Its derivatives by F and Ḟ
/// are the stresses of the cotangents of positions and velocities: with E = Fᵀ Ḟ + Ḟᵀ F and K = Fᵀ G + Gᵀ F,
///
/// G M - η Ḟ K - 2 m (F : G)/(I + 1)² F + c cof'(F) G - l (cof F : G) cof F   and   -η F K.
#[kernel]
fn forces_pullback<R: Real>(
    edges: [Vertex<R>; 3],
    rest: Mat3<R>,
    volume: R,
    mu: R,
    lambda: R,
    actuation: R,
    viscosity: R,
    bar: [Vec3<R>; 3],
) -> ([Vertex<R>; 3], Mat3<R>, R, R, R, R, R) {
    let f = deformation(positions(edges), rest);
    let f_dot = deformation(velocities(edges), rest);
    let g = deformation(bar, rest);
    let weighted = transpose(rest * volume);

    let (e, k) = (strain(f, f_dot), strain(f, g));
    let ek = -0.5 * contract(e, k);
    let (e, k) = (e * -viscosity, k * -viscosity);
    let by_f_dot = f * k;
    let v_bar = by_f_dot * weighted;

    let m = 4.0 / 3.0 * mu;
    let l = lambda + 5.0 / 6.0 * mu;
    let per_i = 1.0 / (contract(f, f) + 1.0);
    let grow = per_i - 1.0;
    let spread = plus_diagonal(e, m * grow);
    let fg = contract(f, g);
    let pulled = plus_product(plus_product(f * (-2.0 * m * fg * per_i * per_i), g, spread), f_dot, k);
    let cof = cofactors(f);
    let cg = contract(cof, g);
    let j = dot(f.x, cof.x) - 1.0 - actuation;
    let c = mu - l * j;
    let by_f = cofactors_along(f, g) * c + (cof * (-l * cg) + pulled);
    let x_bar = by_f * weighted;

    let rest_bar = transpose(columns(positions(edges))) * by_f
        + transpose(columns(velocities(edges))) * by_f_dot
        + transpose(columns(bar)) * plus_product(cof * c, f, spread);
    (
        [
            Vertex { x: x_bar.x, v: v_bar.x },
            Vertex { x: x_bar.y, v: v_bar.y },
            Vertex { x: x_bar.z, v: v_bar.z },
        ],
        rest_bar * volume,
        m * grow * fg + c * cg + viscosity * ek,
        volume * (4.0 / 3.0 * grow * fg + (1.0 - 5.0 / 6.0 * j) * cg),
        volume * (-j * cg),
        volume * (l * cg),
        volume * ek,
    )
}

/// C + A B
#[kernel]
fn plus_product<R: Real>(c: Mat3<R>, a: Mat3<R>, b: Mat3<R>) -> Mat3<R> {
    mat3(
        a.z * b.x.z + (a.y * b.x.y + (a.x * b.x.x + c.x)),
        a.z * b.y.z + (a.y * b.y.y + (a.x * b.y.x + c.y)),
        a.z * b.z.z + (a.y * b.z.y + (a.x * b.z.x + c.z)),
    )
}

/// A + s
#[kernel]
fn plus_diagonal<R: Real>(a: Mat3<R>, s: R) -> Mat3<R> {
    mat3(vec3(a.x.x + s, a.x.y, a.x.z), vec3(a.y.x, a.y.y + s, a.y.z), vec3(a.z.x, a.z.y, a.z.z + s))
}

/// The matrix with these columns.
#[kernel]
fn columns<R: Real>(a: [Vec3<R>; 3]) -> Mat3<R> {
    mat3(a[0], a[1], a[2])
}

/// Aᵀ B + Bᵀ A
#[kernel]
fn strain<R: Real>(a: Mat3<R>, b: Mat3<R>) -> Mat3<R> {
    let half = transpose(a) * b;
    half + transpose(half)
}

/// The derivative of the cofactors of A along B.
#[kernel]
fn cofactors_along<R: Real>(a: Mat3<R>, b: Mat3<R>) -> Mat3<R> {
    mat3(
        cross(a.y, b.z) + cross(b.y, a.z),
        cross(a.z, b.x) + cross(b.z, a.x),
        cross(a.x, b.y) + cross(b.x, a.y),
    )
}

/// Of [`neo_hookean`].
#[derive(Clone, Copy, Debug)]
pub struct NeoHookean;

impl Material for NeoHookean {
    fn name(&self) -> &'static str {
        "neo-hookean"
    }

    fn force(&self, p: &mut Builder, name: &str, t: &Tetrahedra) -> Buffer<Vec3> {
        let (mu, lambda, actuation) = (t.mu.own(), t.lambda.own(), t.actuation.own());
        if p.varies(t.rest) || p.varies(t.volume) {
            let f = t.deformations(p, name);
            let ports = (f.own(), mu, lambda, actuation);
            let minus_stress = p.map::<minus_neo_hookean_stress>(&format!("{name} stress"), ports);
            return t.forces(p, name, f, minus_stress);
        }
        // The shape at rest stays: one sweep for all, which holds no registers for cotangents that nobody asks for.
        let viscosity = t.viscosity_or_zeros(p, name).own();
        let (rest, volume) = (t.rest.fixed().own(), t.volume.fixed().own());
        let ports = (t.vertices.edges(t.corners), rest, volume, mu, lambda, actuation, viscosity);
        p.balanced::<forces, Vec3, 4, 3>(name, t.corners, ports)
    }

    fn energy(&self, p: &mut Builder, name: &str, t: &Tetrahedra) -> Buffer<f64> {
        let f = t.deformations(p, name);
        let ports = (f.own(), t.volume.own(), t.mu.own(), t.lambda.own(), t.actuation.own());
        p.reduce::<Once<energy>>(name, ports)
    }
}

#[cfg(test)]
mod tests {
    use pullback_kernel::gradcheck;

    use super::*;

    /// The stress by hand is the derivative of the energy, and all have derivatives.
    #[test]
    fn gradients_of_the_kernels() {
        let f = mat3(vec3(1.2, 0.3, -0.1), vec3(-0.2, 0.8, 0.25), vec3(0.15, -0.05, 1.1));
        let at = (f, 0.4, 0.6, 0.1);
        gradcheck::kernel::<neo_hookean>(&at).expect("the energy");
        gradcheck::kernel::<minus_neo_hookean_stress>(&at).expect("the stress");
        let (p, ..) = neo_hookean::pullback(f, 0.4, 0.6, 0.1, 1.0);
        let off = p + minus_neo_hookean_stress(f, 0.4, 0.6, 0.1);
        assert!(contract(p, p) > 1e-4 && contract(off, off) < 1e-28, "{p:?}");
        let vertex = |x: Vec3, v: Vec3| Vertex { x, v };
        let at = [vertex(f.x, f.y), vertex(f.y, f.z), vertex(f.x + f.z, f.z * 0.3)];
        gradcheck::kernel::<forces>(&(at, f, 0.3, 0.4, 0.6, 0.1, 0.7)).expect("the forces");
        // Inside out, and flat.
        let mirrored = [vertex(-f.x, f.y), vertex(f.y, f.z), vertex(f.x + f.z, f.z * 0.3)];
        gradcheck::kernel::<forces>(&(mirrored, f, 0.3, 0.4, 0.6, 0.1, 0.7)).expect("inside out");
        let flat = [vertex(f.x, f.y), vertex(f.y, f.z), vertex(f.x + f.y, f.z * 0.3)];
        gradcheck::kernel::<forces>(&(flat, f, 0.3, 0.4, 0.6, 0.1, 0.7)).expect("flat");
    }
}
