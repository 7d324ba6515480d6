//! Materials beside the neo-Hookean one: energies of a deformation gradient F [J/m³], with Lamé's μ and λ [Pa].
//!
//! All are linear elasticity for small strains, the same in every frame, and without stress at rest.

use pullback_kernel::prelude::*;

/// Halley's method for ∛c:  y ← y (y³ + 2 c)/(2 y³ + c)
#[kernel]
fn better_root<R: Real>(y: R, c: R) -> R {
    let cube = y * y * y;
    y * ((cube + 2.0 * c) / (2.0 * cube + c))
}

/// How often a third root is made better.
const ROOT_ROUNDS: usize = 8;

/// 1/∛c, to the last digit from a thousandth to the thousandfold: some rounds from the tangent at 1. Lanes do it side by side, `powf` one
/// by one. No number where c is not above 0: there is no such volume.
#[kernel(pullback = inverse_cube_root_pullback)]
fn inverse_cube_root<R: Real>(c: R) -> R {
    let root = sqrt(c);
    let mut y = (c + 2.0) / 3.0;
    for _ in 0..ROOT_ROUNDS {
        y = better_root(y, c);
    }
    root / (root * y)
}

/// c_bar = -⅓ c^(-4/3) r_bar
#[kernel]
fn inverse_cube_root_pullback<R: Real>(c: R, r_bar: R) -> R {
    let r = inverse_cube_root(c);
    r * r * r * r * (r_bar / -3.0)
}

/// St. Venant-Kirchhoff:  μ E : E + ½ λ (tr E)²,  E = ½ (Gᵀ G - 1),  G = F / ∛(1 + actuation). For large turns and small strains; it
/// gives way where it is pressed to less than 58 % of its length.
#[kernel]
pub fn st_venant_kirchhoff<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
    let g = f * inverse_cube_root(1.0 + actuation);
    let strain = (transpose(g) * g - identity()) * 0.5;
    let volume = trace(strain);
    mu * contract(strain, strain) + 0.5 * lambda * volume * volume
}

/// Minus its derivative by F [Pa]:  -r G (2 μ E + λ tr E),  r = 1/∛(1 + actuation),  G = r F
#[kernel]
fn minus_st_venant_kirchhoff_stress<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> Mat3<R> {
    let r = inverse_cube_root(1.0 + actuation);
    let g = f * r;
    let c = transpose(g) * g;
    let spherical = r * (mu - 0.5 * lambda * (trace(c) - 3.0));
    g * spherical + (g * c) * (-r * mu)
}

/// How often the sum of stretches is made better.
const STRETCH_ROUNDS: usize = 8;

/// tr S of F = R S: the sum of stretches, the largest root of p = s⁴ - 2 I s² - 8 J s + 2 I₂ - I² = 0, I = |F|², I₂ = |Fᵀ F|²,
/// J = det F. All four roots are real, ±a ± b ± c, so that Laguerre's method, s ← s - 4 p/(p' + √(9 p'² - 12 p p'')), comes down to it from
/// √(3 I), and fast also where another root is near: where two stretches nearly cancel.
#[kernel(pullback = stretches_pullback)]
fn stretches<R: Real>(f: Mat3<R>) -> R {
    let c = transpose(f) * f;
    let i = trace(c);
    let rest = 2.0 * contract(c, c) - i * i;
    let j = determinant(f);
    let mut s = sqrt(3.0 * i);
    for _ in 0..STRETCH_ROUNDS {
        let value = ((s * s - 2.0 * i) * s - 8.0 * j) * s + rest;
        let slope = 4.0 * ((s * s - i) * s - 2.0 * j);
        let bend = 12.0 * s * s - 4.0 * i;
        let spread = sqrt(max(9.0 * slope * slope - 12.0 * value * bend, 0.0));
        s = s - 4.0 * value / max(slope + spread, 1e-12 * s * i + 1e-30);
    }
    s
}

/// F_bar = s_bar R
#[kernel]
fn stretches_pullback<R: Real>(f: Mat3<R>, s_bar: R) -> Mat3<R> {
    turn(f, stretches(f)) * s_bar
}

/// The turn R of F = R S, of the sum s of stretches: the derivative of the root by F,
/// R = ((s² + I) F + 2 s cof F - 2 F Fᵀ F) / (s³ - I s - 2 J). What is below is 2 (a + b) (b + c) (c + a) of the stretches: where two
/// cancel, there are many turns, and what is returned is finite.
#[kernel]
fn turn<R: Real>(f: Mat3<R>, s: R) -> Mat3<R> {
    let c = transpose(f) * f;
    let i = trace(c);
    let cof = cofactors(f);
    let below = (s * s - i) * s - 2.0 * dot(f.x, cof.x);
    let scale = 1.0 / max(below, 1e-12 * s * i + 1e-30);
    f * ((s * s + i) * scale) + cof * (2.0 * s * scale) + (f * c) * (-2.0 * scale)
}

/// Fixed corotated (Stomakhin, Howes, Schroeder and Teran 2012):  μ |G - R|² + ½ λ (det G - 1)²,  with the turn R of G = R S,
/// |G - R|² = |G|² - 2 tr S + 3,  G = F / ∛(1 + actuation).
#[kernel]
pub fn corotated<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
    let g = f * inverse_cube_root(1.0 + actuation);
    let j = determinant(g) - 1.0;
    mu * (contract(g, g) - 2.0 * stretches(g) + 3.0) + 0.5 * lambda * j * j
}

/// Minus its derivative by F [Pa]:  -r (2 μ (G - R) + λ (det G - 1) cof G),  r = 1/∛(1 + actuation),  G = r F
#[kernel]
fn minus_corotated_stress<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> Mat3<R> {
    let r = inverse_cube_root(1.0 + actuation);
    let g = f * r;
    let cof = cofactors(g);
    let j = dot(g.x, cof.x) - 1.0;
    (turn(g, stretches(g)) - g) * (2.0 * r * mu) + cof * (-r * lambda * j)
}

crate::material!(
    /// Of [`st_venant_kirchhoff`].
    pub StVenantKirchhoff = st_venant_kirchhoff, minus_st_venant_kirchhoff_stress, "st-venant-kirchhoff"
);
crate::material!(
    /// Of [`corotated`].
    pub Corotated = corotated, minus_corotated_stress, "corotated"
);

#[cfg(test)]
mod tests {
    use pullback_kernel::gradcheck;

    use super::*;

    #[test]
    fn gradients_of_the_kernels() {
        let f = mat3(vec3(1.2, 0.3, -0.1), vec3(-0.2, 0.8, 0.25), vec3(0.15, -0.05, 1.1));
        gradcheck::kernel::<st_venant_kirchhoff>(&(f, 0.4, 0.6, 0.1)).expect("St. Venant-Kirchhoff");
        gradcheck::kernel::<corotated>(&(f, 0.4, 0.6, 0.1)).expect("corotated");
        gradcheck::kernel::<stretches>(&(f,)).expect("stretches");
        gradcheck::kernel::<inverse_cube_root>(&(1.3,)).expect("1/∛c");
    }

    /// The stresses by hand are the derivatives of the energies, and have derivatives themselves.
    #[test]
    fn stresses_of_the_energies() {
        let f = mat3(vec3(1.2, 0.3, -0.1), vec3(-0.2, 0.8, 0.25), vec3(0.15, -0.05, 1.1));
        let size = |a: Mat3| contract(a, a).sqrt();
        let (p, ..) = st_venant_kirchhoff::pullback(f, 0.4, 0.6, 0.1, 1.0);
        assert!(
            size(p) > 0.01 && size(p + minus_st_venant_kirchhoff_stress(f, 0.4, 0.6, 0.1)) < 1e-14,
            "{p:?}"
        );
        let (p, ..) = corotated::pullback(f, 0.4, 0.6, 0.1, 1.0);
        assert!(size(p) > 0.01 && size(p + minus_corotated_stress(f, 0.4, 0.6, 0.1)) < 1e-14, "{p:?}");
        let at = (f, 0.4, 0.6, 0.1);
        gradcheck::kernel::<minus_st_venant_kirchhoff_stress>(&at).expect("St. Venant-Kirchhoff");
        gradcheck::kernel::<minus_corotated_stress>(&at).expect("corotated");
    }

    #[test]
    fn third_roots() {
        for c in [1e-3, 0.1, 0.5, 1.0, 1.1, 2.0, 10.0, 100.0, 1000.0f64] {
            let found = inverse_cube_root(c);
            assert!((found * c.cbrt() - 1.0).abs() < 1e-14, "{c}: {found}");
        }
        for c in [0.0, -0.1, -2.0] {
            assert!(inverse_cube_root::<f64>(c).is_nan() && inverse_cube_root::pullback(c, 1.0).0.is_nan());
        }
    }

    /// Stretches that nearly cancel, in a frame that is turned: their sum, and R.
    #[test]
    fn sums_of_stretches() {
        let (r, q) = (turned(0.7, -0.4), turned(-1.1, 0.3));
        for [a, b, c] in [
            [1.0, 1.0, 1.0],
            [1.2, 0.9, 1.1],
            [1.0, 1.0, -0.9],
            [1.0, 1.0, -0.99],
            [10.0, 0.1, -0.05],
            [1.0, 1e-3, 1e-3],
            [5.0, 1.0, -0.99],
            [100.0, 1.0, 1.0],
        ] {
            let s = q * mat3(vec3(a, 0.0, 0.0), vec3(0.0, b, 0.0), vec3(0.0, 0.0, c)) * transpose(q);
            let f: Mat3 = r * s;
            let (sum, off): (f64, Mat3) = (stretches(f), turn(f, a + b + c) - r);
            assert!((sum / (a + b + c) - 1.0).abs() < 1e-11, "{a}, {b}, {c}: {sum}");
            assert!(contract(off, off).sqrt() < 1e-7, "{a}, {b}, {c}: {off:?}");
        }
    }

    /// A turn about z, then one about x.
    fn turned(z: f64, x: f64) -> Mat3 {
        let about_z = mat3(vec3(z.cos(), z.sin(), 0.0), vec3(-z.sin(), z.cos(), 0.0), vec3(0.0, 0.0, 1.0));
        let about_x = mat3(vec3(1.0, 0.0, 0.0), vec3(0.0, x.cos(), x.sin()), vec3(0.0, -x.sin(), x.cos()));
        about_x * about_z
    }
}
