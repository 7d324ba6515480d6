//! How a tetrahedron is deformed, and how fast.

use pullback_kernel::prelude::*;

/// The deformation gradient F = D_s D_m⁻¹ of a tetrahedron: the columns of D_s are its edges from corner 0, and `rest` is the
/// inverse of those at rest.
#[kernel]
pub fn deformation<R: Real>(x: [Vec3<R>; 4], rest: Mat3<R>) -> Mat3<R> {
    mat3(x[1] - x[0], x[2] - x[0], x[3] - x[0]) * rest
}

/// Half the power that a viscous tetrahedron turns into heat [W]:  V η Ė : Ė,  Ė = ½ (Fᵀ Ḟ + Ḟᵀ F)
///
/// The rate of Green's strain is zero for every rigid motion, and the same in every frame: dampers neither stop what flies nor
/// what turns.
#[kernel(force = viscous_force)]
pub fn dissipation<R: Real>(v: [Vec3<R>; 4], x: [Vec3<R>; 4], rest: Mat3<R>, volume: R, viscosity: R) -> R {
    let half = transpose(deformation(x, rest)) * deformation(v, rest);
    let rate = (half + transpose(half)) * 0.5;
    volume * viscosity * contract(rate, rate)
}
