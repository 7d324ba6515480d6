//! Materials: what turns the energy of a deformation into forces and energies of tetrahedra.

use std::fmt::Debug;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

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
    /// Velocities of vertices [m/s].
    pub v: Buffer<Vec3>,
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
    /// Viscosity [Pa·s]; `None`: nothing is damped, and velocities are not read.
    pub viscosity: Option<Buffer<f64>>,
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
/// The stress is minus the force of the density by F alone, so that second derivatives are duals of a small kernel; edges, volume and
/// viscosity are written around it.
#[macro_export]
macro_rules! material {
    ($(#[$doc:meta])* $vis:vis $name:ident = $density:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name;

        const _: () = {
            use ::pullback_kernel::prelude::*;
            use ::pullback_kernel::program::Builder;
            use $crate::{Tetrahedra, corner_forces, deformation, viscous_stress};

            /// Ψ(F); its force is minus the first Piola stress.
            #[kernel(force = minus_stress)]
            pub fn density<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
                $density(f, mu, lambda, actuation)
            }

            /// V Ψ(F)
            #[kernel]
            pub fn energy<R: Real>(x: [Vec3<R>; 4], rest: Mat3<R>, volume: R, mu: R, lambda: R, actuation: R) -> R {
                volume * $density(deformation(x, rest), mu, lambda, actuation)
            }

            /// Elastic forces.
            #[kernel]
            pub fn elastic<R: Real>(
                x: [Vec3<R>; 4],
                rest: Mat3<R>,
                volume: R,
                mu: R,
                lambda: R,
                actuation: R,
            ) -> [Vec3<R>; 4] {
                corner_forces(minus_stress(deformation(x, rest), mu, lambda, actuation), rest, volume)
            }

            /// Elastic and viscous forces.
            #[kernel]
            pub fn damped<R: Real>(
                x: [Vec3<R>; 4],
                v: [Vec3<R>; 4],
                rest: Mat3<R>,
                volume: R,
                mu: R,
                lambda: R,
                actuation: R,
                viscosity: R,
            ) -> [Vec3<R>; 4] {
                let f = deformation(x, rest);
                let viscous = viscous_stress(f, deformation(v, rest), viscosity);
                corner_forces(minus_stress(f, mu, lambda, actuation) + viscous, rest, volume)
            }

            // Here, so that sweeps are compiled once, where the material is made.
            impl $crate::Material for $name {
                fn name(&self) -> &'static str {
                    $text
                }
                fn force(&self, p: &mut Builder, name: &str, t: &Tetrahedra) -> Buffer<Vec3> {
                    let (x, v, rest, volume) = (t.x.at(t.corners), t.v.at(t.corners), t.rest.own(), t.volume.own());
                    let (mu, lambda, actuation) = (t.mu.own(), t.lambda.own(), t.actuation.own());
                    match t.viscosity {
                        None => {
                            let ports = (x, rest, volume, mu, lambda, actuation);
                            p.elements::<elastic, Vec3, 4>(name, t.corners, ports)
                        }
                        Some(viscosity) => {
                            let ports = (x, v, rest, volume, mu, lambda, actuation, viscosity.own());
                            p.elements::<damped, Vec3, 4>(name, t.corners, ports)
                        }
                    }
                }
                fn energy(&self, p: &mut Builder, name: &str, t: &Tetrahedra) -> Buffer<f64> {
                    let (mu, lambda, actuation) = (t.mu.own(), t.lambda.own(), t.actuation.own());
                    let ports = (t.x.at(t.corners), t.rest.own(), t.volume.own(), mu, lambda, actuation);
                    p.reduce::<energy>(name, ports)
                }
            }
        };
    };
}
