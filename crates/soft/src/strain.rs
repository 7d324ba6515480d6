//! How a tetrahedron is deformed, how fast, and the forces of a stress on its corners.

use pullback_kernel::prelude::*;

/// The deformation gradient F = D_s D_m⁻¹ of a tetrahedron [1]: the columns of D_s are its edges from corner 0 [m], and `rest` is the
/// inverse of those at rest [1/m]. Of velocities [m/s] it is the rate of F [1/s].
#[kernel]
pub fn deformation<R: Real>(edges: [Vec3<R>; 3], rest: Mat3<R>) -> Mat3<R> {
    mat3(edges[0], edges[1], edges[2]) * rest
}

/// Minus the viscous first Piola stress [Pa]:  -F S,  S = 2 η Ė,  Ė = ½ (Fᵀ Ḟ + Ḟᵀ F), with the viscosity η [Pa·s].
///
/// It is minus the gradient of η Ė : Ė by Ḟ, and turns 2 η Ė : Ė into heat [W/m³]. The rate of Green's strain is zero for every
/// rigid motion, and the same in every frame: what flies or turns as a whole is not slowed.
#[kernel]
pub fn viscous_stress<R: Real>(f: Mat3<R>, f_dot: Mat3<R>, viscosity: R) -> Mat3<R> {
    let half = transpose(f) * f_dot;
    f * ((half + transpose(half)) * -viscosity)
}

/// Forces on corners 1 to 3 [N] by minus the first Piola stress [Pa]: the columns of V (-P) D_m⁻ᵀ. That on corner 0 holds against them
/// (Sifakis and Barbič 2012, eq. 4.7).
#[kernel]
pub fn corner_forces<R: Real>(minus_stress: Mat3<R>, rest: Mat3<R>, volume: R) -> [Vec3<R>; 3] {
    let h = minus_stress * transpose(rest * volume);
    [h.x, h.y, h.z]
}

#[cfg(test)]
mod tests {
    use pullback_kernel::gradcheck;

    use super::*;

    #[test]
    fn gradients_of_the_kernels() {
        let m = |a: f64| {
            let at = |k: f64| (1.7 * k + a).sin();
            mat3(
                vec3(1.0 + at(0.0), at(1.0), at(2.0)),
                vec3(at(3.0), 1.5 + at(4.0), at(5.0)),
                vec3(at(6.0), at(7.0), 2.0),
            )
        };
        let x = [m(0.1).x, m(0.5).y, m(0.9).z];
        gradcheck::kernel::<deformation>(&(x, m(0.2))).expect("deformation");
        gradcheck::kernel::<viscous_stress>(&(m(0.4), m(0.8), 0.7)).expect("viscous stress");
        gradcheck::kernel::<corner_forces>(&(m(0.3), m(0.6), 0.4)).expect("corner forces");
    }

    /// The power of the viscous stress is what is said to become heat.
    #[test]
    fn heat_of_the_viscous_stress() {
        let f = mat3(vec3(1.1, 0.2, 0.0), vec3(-0.3, 0.9, 0.1), vec3(0.0, 0.4, 1.2));
        let f_dot = mat3(vec3(0.5, -0.2, 0.3), vec3(0.1, 0.7, -0.6), vec3(0.2, 0.3, -0.4));
        let half = transpose(f) * f_dot;
        let rate = (half + transpose(half)) * 0.5;
        let power: f64 = -contract(viscous_stress(f, f_dot, 0.7), f_dot);
        let heat: f64 = 2.0 * 0.7 * contract(rate, rate);
        assert!(heat > 0.1 && (power - heat).abs() < 1e-14, "{power}, and not {heat}");
    }
}
