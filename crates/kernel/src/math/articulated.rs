//! Articulated-body inertias: how the force on a body follows its acceleration when others hang from it.
//!
//! Numbers of equations are those of R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008 (RBDA).

use crate::cuda::Source;
use crate::{Argument, Kernel, Value, kernel, math::*, scalar::Real};

/// A symmetric matrix of 6 by 6 numbers from motions to forces: (J, H; Hᵀ, M), 21 numbers (RBDA 7.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct ArticulatedInertia<R = f64> {
    /// J: from angular acceleration to torque [kg·m²].
    pub rotational: Sym3<R>,
    /// H: from linear acceleration to torque, and its transpose from angular acceleration to force [kg·m].
    pub coupling: Mat3<R>,
    /// M: from linear acceleration to force [kg].
    pub linear: Sym3<R>,
}
scaled_from_left!(ArticulatedInertia);
product!(ArticulatedInertia * Motion -> Force = articulated_times_motion);

pub(super) fn articulated_products(source: &mut Source) {
    let (inertia, motion) = (ArticulatedInertia::<f64>::c_type(source), Motion::<f64>::c_type(source));
    source.add_product(&inertia, &motion, articulated_times_motion::definition());
}

/// A rigid body's inertia with all its blocks:  H = [h]×,  M = m 1
#[kernel]
pub fn articulated_from_inertia<R: Real>(i: Inertia<R>) -> ArticulatedInertia<R> {
    ArticulatedInertia {
        rotational: i.rotational,
        coupling: skew(i.moment),
        linear: sym3_diagonal(vec3(i.mass, i.mass, i.mass)),
    }
}

/// A m = (J ω + H v, Hᵀ ω + M v)
#[kernel(pullback = articulated_times_motion_pullback)]
pub fn articulated_times_motion<R: Real>(a: ArticulatedInertia<R>, m: Motion<R>) -> Force<R> {
    Force {
        torque: a.rotational * m.angular + a.coupling * m.linear,
        force: transpose_times(a.coupling, m.angular) + a.linear * m.linear,
    }
}

/// J_bar = fold(n_bar ωᵀ),  H_bar = n_bar vᵀ + ω f_barᵀ,  M_bar = fold(f_bar vᵀ);  m_bar = A (n_bar, f_bar)
#[kernel]
pub fn articulated_times_motion_pullback<R: Real>(
    a: ArticulatedInertia<R>,
    m: Motion<R>,
    f_bar: Force<R>,
) -> (ArticulatedInertia<R>, Motion<R>) {
    let bar = as_motion(f_bar);
    (articulated_outer(bar, m), as_motion(articulated_times_motion(a, bar)))
}

/// fold(a bᵀ) of six by six: the cotangent of A in a·A b
#[kernel]
pub fn articulated_outer<R: Real>(a: Motion<R>, b: Motion<R>) -> ArticulatedInertia<R> {
    ArticulatedInertia {
        rotational: fold_outer(a.angular, b.angular),
        coupling: outer(a.angular, b.linear) + outer(b.angular, a.linear),
        linear: fold_outer(a.linear, b.linear),
    }
}

/// A⁻¹ f: the acceleration that a force gives a free body. With S = J - H M⁻¹ Hᵀ,
/// ω = S⁻¹ (n - H M⁻¹ f),  v = M⁻¹ (f - Hᵀ ω)
#[kernel(pullback = solve_articulated_pullback)]
pub fn solve_articulated<R: Real>(a: ArticulatedInertia<R>, f: Force<R>) -> Motion<R> {
    let inverse_linear = inverse_sym3(a.linear);
    let schur = a.rotational - congruence(a.coupling, inverse_linear);
    let angular = inverse_sym3(schur) * (f.torque - a.coupling * (inverse_linear * f.force));
    Motion { angular, linear: inverse_linear * (f.force - transpose_times(a.coupling, angular)) }
}

/// f_bar = A⁻¹ m_bar,  A_bar = -fold(f_bar mᵀ): of the equation A m = f, not of its solution
#[kernel]
pub fn solve_articulated_pullback<R: Real>(
    a: ArticulatedInertia<R>,
    f: Force<R>,
    m_bar: Motion<R>,
) -> (ArticulatedInertia<R>, Force<R>) {
    let m = solve_articulated(a, f);
    let f_bar = solve_articulated(a, as_force(m_bar));
    (-articulated_outer(f_bar, m), as_force(f_bar))
}

/// A - U Uᵀ / d: what is left of A across a joint that gives way along S, with U = A S, d = S·U (RBDA 7.43 to 7.47)
#[kernel(pullback = rank_one_update_pullback)]
pub fn rank_one_update<R: Real>(a: ArticulatedInertia<R>, u: Force<R>, d: R) -> ArticulatedInertia<R> {
    ArticulatedInertia {
        rotational: a.rotational - outer_self(u.torque) / d,
        coupling: a.coupling - outer(u.torque, u.force / d),
        linear: a.linear - outer_self(u.force) / d,
    }
}

/// A_bar = C_bar,  u_bar = -2 G u / d,  d_bar = u·G u / d²;  with G = (halve J_bar, H_bar/2; H_barᵀ/2, halve M_bar)
#[kernel]
pub fn rank_one_update_pullback<R: Real>(
    a: ArticulatedInertia<R>,
    u: Force<R>,
    d: R,
    c_bar: ArticulatedInertia<R>,
) -> (ArticulatedInertia<R>, Force<R>, R) {
    let g = ArticulatedInertia {
        rotational: halve_off_diagonal(c_bar.rotational),
        coupling: c_bar.coupling * 0.5,
        linear: halve_off_diagonal(c_bar.linear),
    };
    let g_u = articulated_times_motion(g, as_motion(u)) / d;
    (c_bar, -2.0 * g_u, power(as_motion(u), g_u) / d)
}

/// An articulated inertia of b in a, X* A X⁻¹: turned, then, with P = [p]× and K = H + P M / 2,
/// J' = J + P Kᵀ + K Pᵀ,  H' = H + P M,  M' = M
#[kernel]
pub fn transform_articulated<R: Real>(a_from_b: Pose<R>, a: ArticulatedInertia<R>) -> ArticulatedInertia<R> {
    let r = a_from_b.rotation;
    let p = a_from_b.position;
    let linear = congruence(r, a.linear);
    let coupling = r * a.coupling * transpose(r);
    let moved = cross_columns(p, mat3_from_sym3(linear));
    let k = transpose(coupling + 0.5 * moved);
    ArticulatedInertia {
        rotational: congruence(r, a.rotational) + 2.0 * symmetric_part(cross_columns(p, k)),
        coupling: coupling + moved,
        linear,
    }
}
