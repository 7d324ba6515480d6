//! Materials: energies of a deformation [J/m³]. Forces and their derivatives are made of them.

use std::fmt::Debug;

use pullback_kernel::prelude::*;

use super::elements::Elements;

/// What a solid is made of: which kernels give the energy of a tetrahedron [J] and the forces on its corners [N].
///
/// [`material!`](crate::material) makes one of a kernel, the energy of a deformation.
pub trait Material: Debug + Send + Sync + 'static {
    /// What it is called.
    fn name(&self) -> &'static str;
    /// Adds the forces on the corners.
    fn force(&self, elements: &mut Elements<'_>) -> Buffer<Vec3>;
    /// Adds the energy of all elements.
    fn energy(&self, elements: &mut Elements<'_>) -> Buffer<f64>;
}

/// Makes a [`Material`](crate::soft::Material) of a kernel: from F, Lamé's μ and λ [Pa], and an actuation [1], to the energy of a
/// deformation [J/m³].
///
/// ```
/// use pullback_kernel::prelude::*;
///
/// /// ½ μ (|F|² - 3) - μ ln J + ½ λ ln² J: compressible neo-Hookean, for what is never inverted.
/// #[kernel]
/// pub fn rubber<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
///     let ln_j = ln(determinant(f));
///     0.5 * mu * (contract(f, f) - 3.0) - mu * ln_j + 0.5 * lambda * ln_j * ln_j + 0.0 * actuation
/// }
///
/// pullback_engine::material!(pub Rubber = rubber, "rubber");
/// ```
#[macro_export]
macro_rules! material {
    ($(#[$doc:meta])* $vis:vis $name:ident = $density:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name;

        const _: () = {
            use $crate::soft::{deformation, viscous_force};
            use ::pullback_kernel::prelude::*;

            /// V Ψ(F)
            #[kernel(force = force)]
            pub fn energy<R: Real>(x: [Vec3<R>; 4], rest: Mat3<R>, volume: R, mu: R, lambda: R, actuation: R) -> R {
                volume * $density(deformation(x, rest), mu, lambda, actuation)
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
                let f = force(x, rest, volume, mu, lambda, actuation);
                let g = viscous_force(v, x, rest, volume, viscosity);
                [f[0] + g[0], f[1] + g[1], f[2] + g[2], f[3] + g[3]]
            }

            // Here, so that kernels are compiled once, where the material is made.
            impl $crate::soft::Material for $name {
                fn name(&self) -> &'static str {
                    $text
                }
                fn force(&self, elements: &mut $crate::soft::Elements<'_>) -> Buffer<Vec3> {
                    elements.force::<force, damped>()
                }
                fn energy(&self, elements: &mut $crate::soft::Elements<'_>) -> Buffer<f64> {
                    elements.energy::<energy>()
                }
            }
        };
    };
}

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

/// What is left of a deformation if the body at rest has grown to 1 + actuation of its volume.
#[kernel]
fn grown<R: Real>(f: Mat3<R>, actuation: R) -> Mat3<R> {
    f * powf(1.0 + actuation, -1.0 / 3.0)
}

/// St. Venant-Kirchhoff:  μ E : E + ½ λ (tr E)²,  E = ½ (Fᵀ F - 1). For large turns and small strains; it gives way where it is
/// pressed to less than 58 % of its length.
#[kernel]
pub fn st_venant_kirchhoff<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
    let g = grown(f, actuation);
    let strain = (transpose(g) * g - identity()) * 0.5;
    let volume = trace(strain);
    mu * contract(strain, strain) + 0.5 * lambda * volume * volume
}

/// How often the sum of stretches is made better.
const ROUNDS: usize = 10;

/// tr S of F = R S: the sum of stretches, the largest root of f⁴ - 2 I f² - 8 J f + 2 I₂ - I² = 0, I = |F|², I₂ = |Fᵀ F|²,
/// J = det F. Newton's method comes down to it from √(3 I).
#[kernel]
fn stretches<R: Real>(f: Mat3<R>) -> R {
    let c = transpose(f) * f;
    let i = trace(c);
    let i2 = contract(c, c);
    let j = determinant(f);
    let mut sum = sqrt(3.0 * i);
    for _ in 0..ROUNDS {
        let value = ((sum * sum - 2.0 * i) * sum - 8.0 * j) * sum + 2.0 * i2 - i * i;
        let slope = 4.0 * ((sum * sum - i) * sum - 2.0 * j);
        sum = sum - (if slope > 1e-12 * sum * i { value / slope } else { 0.0 });
    }
    sum
}

/// Fixed corotated (Stomakhin, Howes, Schroeder and Teran 2012):  μ |F - R|² + ½ λ (J - 1)²,  with the turn R of F = R S,
/// |F - R|² = |F|² - 2 tr S + 3.
#[kernel]
pub fn corotated<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
    let g = grown(f, actuation);
    let j = determinant(g) - 1.0;
    mu * (contract(g, g) - 2.0 * stretches(g) + 3.0) + 0.5 * lambda * j * j
}

crate::material!(
    /// Of [`neo_hookean`].
    pub NeoHookean = neo_hookean, "neo-hookean"
);
crate::material!(
    /// Of [`st_venant_kirchhoff`].
    pub StVenantKirchhoff = st_venant_kirchhoff, "st-venant-kirchhoff"
);
crate::material!(
    /// Of [`corotated`].
    pub Corotated = corotated, "corotated"
);
