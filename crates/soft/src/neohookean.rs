//! The neo-Hookean material, for everything. Its forces are one sweep, for speed.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;

use crate::material::{Material, Tetrahedra};
use crate::strain::{corner_forces, deformation, viscous_stress};
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

/// Elastic and viscous forces.
#[kernel]
fn forces<R: Real>(
    at: [Vertex<R>; 4],
    rest: Mat3<R>,
    volume: R,
    mu: R,
    lambda: R,
    actuation: R,
    viscosity: R,
) -> [Vec3<R>; 4] {
    let f = deformation(positions(at), rest);
    let viscous = viscous_stress(f, deformation(velocities(at), rest), viscosity);
    corner_forces(minus_neo_hookean_stress(f, mu, lambda, actuation) + viscous, rest, volume)
}

/// Of [`neo_hookean`].
#[derive(Clone, Copy, Debug)]
pub struct NeoHookean;

impl Material for NeoHookean {
    fn name(&self) -> &'static str {
        "neo-hookean"
    }

    fn force(&self, p: &mut Builder, name: &str, t: &Tetrahedra) -> Buffer<Vec3> {
        let viscosity = t.viscosity_or_zeros(p, name);
        let (at, rest, volume) = (t.vertices.at(t.corners), t.rest.own(), t.volume.own());
        let ports = (at, rest, volume, t.mu.own(), t.lambda.own(), t.actuation.own(), viscosity.own());
        p.elements::<forces, Vec3, 4>(name, t.corners, ports)
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
        let at = [vertex(f.x, f.y), vertex(f.y, f.z), vertex(f.z, -f.x), vertex(f.x + f.y, f.z * 0.3)];
        gradcheck::kernel::<forces>(&(at, f, 0.3, 0.4, 0.6, 0.1, 0.7)).expect("the forces");
    }
}
