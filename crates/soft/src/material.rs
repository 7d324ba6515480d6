//! Materials: what turns the energy of a deformation into forces and energies of tetrahedra.

use std::fmt::Debug;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

use crate::rest::zeros;
use crate::strain::{corner_forces, deformation, viscous_stress};
use crate::vertex::{Vertex, velocities};

/// Tetrahedra in a program, where their forces are wanted. Numbers are one for each tetrahedron ([`rest::spread`] makes them of one
/// for all).
///
/// [`rest::spread`]: crate::rest::spread
#[derive(Clone, Copy, Debug)]
pub struct Tetrahedra {
    /// Their corners.
    pub corners: Corners<4>,
    /// Positions of vertices [m].
    pub x: Buffer<Vec3>,
    /// The same with velocities [m/s]: [`vertex::vertices`](crate::vertex::vertices).
    pub vertices: Buffer<Vertex>,
    /// Inverse edges at rest [1/m]: [`rest::tetrahedra_at_rest`](crate::rest::tetrahedra_at_rest).
    pub rest: Buffer<Mat3>,
    /// Volume at rest [m³].
    pub volume: Buffer<f64>,
    /// Shear modulus μ [Pa].
    pub mu: Buffer<f64>,
    /// Lamé's first number λ [Pa].
    pub lambda: Buffer<f64>,
    /// By how much the volume wants to grow, relative to that at rest [1].
    pub actuation: Buffer<f64>,
    /// Viscosity [Pa·s]; `None`: nothing is damped.
    pub viscosity: Option<Buffer<f64>>,
}

impl Tetrahedra {
    /// Adds the deformation gradients.
    pub fn deformations(&self, p: &mut Builder, name: &str) -> Buffer<Mat3> {
        p.map::<deformation>(&format!("{name} deformation"), (self.x.edges(self.corners), self.rest.own()))
    }

    /// Adds the forces on the vertices [N], elastic by minus the first Piola stress [Pa] and viscous.
    pub fn forces(
        &self,
        p: &mut Builder,
        name: &str,
        deformation: Buffer<Mat3>,
        minus_stress: Buffer<Mat3>,
    ) -> Buffer<Vec3> {
        let viscosity = self.viscosity_or_zeros(p, name);
        let (edges, rest, volume) = (self.vertices.edges(self.corners), self.rest.own(), self.volume.own());
        let ports = (minus_stress.own(), deformation.own(), edges, rest, volume, viscosity.own());
        p.balanced::<stressed, Vec3, 4, 3>(name, self.corners, ports)
    }

    /// One sweep serves both, because another without velocities would take as long to compile.
    pub(crate) fn viscosity_or_zeros(&self, p: &mut Builder, name: &str) -> Buffer<f64> {
        self.viscosity.unwrap_or_else(|| zeros(p, &format!("{name} viscosity"), p.len(self.mu)))
    }
}

/// Elastic and viscous forces of a stress.
#[kernel]
fn stressed<R: Real>(
    minus_stress: Mat3<R>,
    f: Mat3<R>,
    edges: [Vertex<R>; 3],
    rest: Mat3<R>,
    volume: R,
    viscosity: R,
) -> [Vec3<R>; 3] {
    corner_forces(
        minus_stress + viscous_stress(f, deformation(velocities(edges), rest), viscosity),
        rest,
        volume,
    )
}

/// What a solid is made of. [`material!`](crate::material!) makes one of a kernel, the energy of a deformation.
pub trait Material: Debug + Send + Sync + 'static {
    /// What it is called.
    fn name(&self) -> &'static str;
    /// Adds the forces on the vertices [N], as an operation of this name.
    fn force(&self, p: &mut Builder, name: &str, t: &Tetrahedra) -> Buffer<Vec3>;
    /// Adds the energy of all tetrahedra [J], as an operation of this name.
    fn energy(&self, p: &mut Builder, name: &str, t: &Tetrahedra) -> Buffer<f64>;
}

/// Makes a [`Material`] of a kernel: from F, Lamé's μ and λ [Pa], and an actuation [1], to the energy of a deformation [J/m³].
///
/// ```
/// use pullback_kernel::prelude::*;
///
/// /// ½ μ (|F|² - 3) - μ ln J + ½ λ ln² J: compressible neo-Hookean, for what is never inverted.
/// #[kernel]
/// pub fn rubber<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
///     let ln_j = ln(determinant(f)) - actuation;
///     0.5 * mu * (contract(f, f) - 3.0) - mu * ln_j + 0.5 * lambda * ln_j * ln_j
/// }
///
/// pullback_soft::material!(
///     /// Of [`rubber`].
///     pub Rubber = rubber, "rubber"
/// );
/// ```
///
/// The stress is then minus the gradient of the density by F, and its derivatives are duals of that; it takes less time to compile, and
/// to run, to name a kernel with minus the stress after the density: `pub Rubber = rubber, minus_rubber_stress, "rubber"`.
///
/// F and stress are buffers of their own, so that the sweeps over corners are those of this crate, and what is compiled for a
/// material is small.
#[macro_export]
macro_rules! material {
    ($(#[$doc:meta])* $vis:vis $name:ident = $density:ident, $text:literal) => {
        const _: () = {
            use ::pullback_kernel::prelude::*;

            /// Ψ(F); its force is minus the first Piola stress.
            #[kernel(force = minus_stress)]
            pub fn density<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
                $density(f, mu, lambda, actuation)
            }

            $crate::material!(@parts $name, $density, minus_stress, $text);
        };

        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name;
    };
    ($(#[$doc:meta])* $vis:vis $name:ident = $density:ident, $minus_stress:ident, $text:literal) => {
        const _: () = {
            use ::pullback_kernel::prelude::*;

            $crate::material!(@parts $name, $density, $minus_stress, $text);
        };

        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name;
    };
    (@parts $name:ident, $density:ident, $minus_stress:ident, $text:literal) => {
        use ::pullback_kernel::program::Builder;
        use $crate::Tetrahedra;

        /// V Ψ(F)
        #[kernel]
        pub fn energy<R: Real>(f: Mat3<R>, volume: R, mu: R, lambda: R, actuation: R) -> R {
            volume * $density(f, mu, lambda, actuation)
        }

        // Here, so that sweeps are compiled once, where the material is made.
        impl $crate::Material for $name {
            fn name(&self) -> &'static str {
                $text
            }
            fn force(&self, p: &mut Builder, name: &str, t: &Tetrahedra) -> Buffer<Vec3> {
                let f = t.deformations(p, name);
                let ports = (f.own(), t.mu.own(), t.lambda.own(), t.actuation.own());
                let minus_stress = p.map::<$minus_stress>(&::std::format!("{name} stress"), ports);
                t.forces(p, name, f, minus_stress)
            }
            fn energy(&self, p: &mut Builder, name: &str, t: &Tetrahedra) -> Buffer<f64> {
                let f = t.deformations(p, name);
                let ports = (f.own(), t.volume.own(), t.mu.own(), t.lambda.own(), t.actuation.own());
                p.reduce::<::pullback_kernel::Once<energy>>(name, ports)
            }
        }
    };
}
