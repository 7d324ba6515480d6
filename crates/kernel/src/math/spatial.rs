//! Spatial algebra: motions, forces and inertias in six dimensions.
//!
//! The conventions and numbers of equations are those of R. Featherstone, Rigid Body Dynamics Algorithms, Springer
//! 2008 (RBDA): angular part first, everything about the origin of the frame that it is expressed in.
//!
//! A cotangent has the type of its value: that of a motion is a force by its nature, stored as a [`Motion`].
//! [`as_force`] and [`as_motion`] say where the adjoint of an operation is an operation on the dual vectors.

use crate::cuda::Source;
use crate::{Argument, Kernel, Value, kernel, math::*, scalar::Real};

/// A motion: a velocity or an acceleration (RBDA 2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct Motion<R = f64> {
    /// The angular velocity ω [rad/s].
    pub angular: Vec3<R>,
    /// The velocity v [m/s] of the body's point at the frame's origin.
    pub linear: Vec3<R>,
}

/// A force: or a momentum, an impulse (RBDA 2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct Force<R = f64> {
    /// The moment n [N·m] about the frame's origin.
    pub torque: Vec3<R>,
    /// The force f [N].
    pub force: Vec3<R>,
}

/// The inertia of a rigid body (RBDA 2.63): symmetric, ten numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct Inertia<R = f64> {
    /// The mass m [kg].
    pub mass: R,
    /// The first moment h = m c [kg·m], with c the centre of mass.
    pub moment: Vec3<R>,
    /// The rotational inertia J [kg·m²] about the frame's origin.
    pub rotational: Sym3<R>,
}
scaled_from_left!(Motion, Force, Inertia);
product!(Inertia * Motion -> Force = inertia_times_motion);

pub(super) fn spatial_products(source: &mut Source) {
    let (inertia, motion) = (Inertia::<f64>::c_type(source), Motion::<f64>::c_type(source));
    source.add_product(&inertia, &motion, inertia_times_motion::definition());
}

/// The numbers of a motion as a force.
#[kernel]
pub fn as_force<R: Real>(m: Motion<R>) -> Force<R> {
    Force { torque: m.angular, force: m.linear }
}

/// The numbers of a force as a motion.
#[kernel]
pub fn as_motion<R: Real>(f: Force<R>) -> Motion<R> {
    Motion { angular: f.torque, linear: f.force }
}

/// m·f = ω·n + v·f [W] (RBDA 2.1)
#[kernel(pullback = power_pullback)]
pub fn power<R: Real>(m: Motion<R>, f: Force<R>) -> R {
    dot(m.angular, f.torque) + dot(m.linear, f.force)
}

/// m_bar = s_bar f,  f_bar = s_bar m
#[kernel]
pub fn power_pullback<R: Real>(m: Motion<R>, f: Force<R>, s_bar: R) -> (Motion<R>, Force<R>) {
    (as_motion(f) * s_bar, as_force(m) * s_bar)
}

/// a × b = (ωa × ωb, ωa × vb + va × ωb) (RBDA 2.31)
#[kernel(pullback = cross_motion_pullback)]
pub fn cross_motion<R: Real>(a: Motion<R>, b: Motion<R>) -> Motion<R> {
    Motion {
        angular: cross(a.angular, b.angular),
        linear: cross(a.angular, b.linear) + cross(a.linear, b.angular),
    }
}

/// a_bar = b ×* c_bar,  b_bar = -a ×* c_bar,  with c_bar as a force
#[kernel]
pub fn cross_motion_pullback<R: Real>(
    a: Motion<R>,
    b: Motion<R>,
    c_bar: Motion<R>,
) -> (Motion<R>, Motion<R>) {
    let f = as_force(c_bar);
    (as_motion(cross_force(b, f)), -as_motion(cross_force(a, f)))
}

/// m ×* f = (ω × n + v × f, ω × f) (RBDA 2.32); Qiao et al. 2021, eq. 6, is this and an external force
#[kernel(pullback = cross_force_pullback)]
pub fn cross_force<R: Real>(m: Motion<R>, f: Force<R>) -> Force<R> {
    Force { torque: cross(m.angular, f.torque) + cross(m.linear, f.force), force: cross(m.angular, f.force) }
}

/// ω_bar = n × n_bar + f × f_bar,  v_bar = f × n_bar;  n_bar and f_bar as -m × (n_bar, f_bar)
///
/// Qiao, Liang, Koltun, Lin, Efficient Differentiable Simulation of Articulated Bodies, ICML 2021, eq. 7.
#[kernel]
pub fn cross_force_pullback<R: Real>(m: Motion<R>, f: Force<R>, c_bar: Force<R>) -> (Motion<R>, Force<R>) {
    let m_bar = Motion {
        angular: cross(f.torque, c_bar.torque) + cross(f.force, c_bar.force),
        linear: cross(f.force, c_bar.torque),
    };
    (m_bar, -as_force(cross_motion(m, as_motion(c_bar))))
}

/// I m = (J ω + h × v, m v - h × ω) (RBDA 2.61 and 2.63): the momentum of a velocity
#[kernel(pullback = inertia_times_motion_pullback)]
pub fn inertia_times_motion<R: Real>(i: Inertia<R>, m: Motion<R>) -> Force<R> {
    Force {
        torque: i.rotational * m.angular + cross(i.moment, m.linear),
        force: m.linear * i.mass - cross(i.moment, m.angular),
    }
}

/// mass_bar = v·f_bar,  h_bar = v × n_bar - ω × f_bar,  J_bar = fold(n_bar ωᵀ);  (ω_bar, v_bar) = I (n_bar, f_bar)
#[kernel]
pub fn inertia_times_motion_pullback<R: Real>(
    i: Inertia<R>,
    m: Motion<R>,
    f_bar: Force<R>,
) -> (Inertia<R>, Motion<R>) {
    let i_bar = Inertia {
        mass: dot(m.linear, f_bar.force),
        moment: cross(m.linear, f_bar.torque) - cross(m.angular, f_bar.force),
        rotational: fold_outer(f_bar.torque, m.angular),
    };
    (i_bar, as_motion(inertia_times_motion(i, as_motion(f_bar))))
}

/// m·I m / 2 [J] (RBDA 2.67)
#[kernel(pullback = kinetic_energy_pullback)]
pub fn kinetic_energy<R: Real>(i: Inertia<R>, m: Motion<R>) -> R {
    0.5 * power(m, i * m)
}

/// mass_bar = |v|²/2 s_bar,  h_bar = v × ω s_bar,  J_bar = fold(ω ωᵀ)/2 s_bar,  m_bar = I m s_bar
#[kernel]
pub fn kinetic_energy_pullback<R: Real>(i: Inertia<R>, m: Motion<R>, s_bar: R) -> (Inertia<R>, Motion<R>) {
    let half = 0.5 * s_bar;
    let i_bar = Inertia {
        mass: dot(m.linear, m.linear) * half,
        moment: cross(m.linear, m.angular) * s_bar,
        rotational: fold_outer(m.angular, m.angular) * half,
    };
    (i_bar, as_motion(i * m) * s_bar)
}

/// The inertia of a body with its mass [kg], centre of mass c [m] and rotational inertia [kg·m²] about c (RBDA 2.63).
#[kernel]
pub fn inertia_from_center<R: Real>(mass: R, center: Vec3<R>, about_center: Sym3<R>) -> Inertia<R> {
    let moment = center * mass;
    Inertia { mass, moment, rotational: about_center + steiner(moment, center) }
}

/// (a·b) 1 - (a bᵀ + b aᵀ) / 2: Steiner's theorem, J = J_c + m steiner(c, c)
#[kernel]
pub fn steiner<R: Real>(a: Vec3<R>, b: Vec3<R>) -> Sym3<R> {
    let s = symmetric_outer(a, b);
    Sym3 { xx: s.yy + s.zz, yy: s.xx + s.zz, zz: s.xx + s.yy, xy: -s.xy, xz: -s.xz, yz: -s.yz }
}

/// A motion of b in a, X m = (R ω, R v + p × R ω) (RBDA 2.24, with E = Rᵀ, r = p, inverted)
#[kernel(pullback = transform_motion_pullback)]
pub fn transform_motion<R: Real>(a_from_b: Pose<R>, m: Motion<R>) -> Motion<R> {
    let angular = a_from_b.rotation * m.angular;
    Motion { angular, linear: a_from_b.rotation * m.linear + cross(a_from_b.position, angular) }
}

/// m_bar = Xᵀ c_bar: the force c_bar, back;  R_bar = (ω_bar - p × v_bar) ωᵀ + v_bar vᵀ,  p_bar = R ω × v_bar
#[kernel]
pub fn transform_motion_pullback<R: Real>(
    a_from_b: Pose<R>,
    m: Motion<R>,
    c_bar: Motion<R>,
) -> (Pose<R>, Motion<R>) {
    let turned = c_bar.angular - cross(a_from_b.position, c_bar.linear);
    let pose_bar = Pose {
        rotation: outer(turned, m.angular) + outer(c_bar.linear, m.linear),
        position: cross(a_from_b.rotation * m.angular, c_bar.linear),
    };
    (pose_bar, as_motion(transform_force_back(a_from_b, as_force(c_bar))))
}

/// A motion of a in b, X⁻¹ m = (Rᵀ ω, Rᵀ (v - p × ω)) (RBDA 2.24, with E = Rᵀ, r = p)
#[kernel(pullback = transform_motion_back_pullback)]
pub fn transform_motion_back<R: Real>(a_from_b: Pose<R>, m: Motion<R>) -> Motion<R> {
    Motion {
        angular: transpose_times(a_from_b.rotation, m.angular),
        linear: transpose_times(a_from_b.rotation, m.linear - cross(a_from_b.position, m.angular)),
    }
}

/// m_bar = X⁻ᵀ c_bar: the force c_bar, forth;  R_bar = ω ω_barᵀ + (v - p × ω) v_barᵀ,  p_bar = R v_bar × ω
#[kernel]
pub fn transform_motion_back_pullback<R: Real>(
    a_from_b: Pose<R>,
    m: Motion<R>,
    c_bar: Motion<R>,
) -> (Pose<R>, Motion<R>) {
    let moved = m.linear - cross(a_from_b.position, m.angular);
    let m_bar = transform_force(a_from_b, as_force(c_bar));
    let pose_bar = Pose {
        rotation: outer(m.angular, c_bar.angular) + outer(moved, c_bar.linear),
        position: cross(m_bar.force, m.angular),
    };
    (pose_bar, as_motion(m_bar))
}

/// A force of b in a, X* f = (R n + p × R f, R f) (RBDA 2.25, with E = Rᵀ, r = p, inverted)
#[kernel(pullback = transform_force_pullback)]
pub fn transform_force<R: Real>(a_from_b: Pose<R>, f: Force<R>) -> Force<R> {
    let force = a_from_b.rotation * f.force;
    Force { torque: a_from_b.rotation * f.torque + cross(a_from_b.position, force), force }
}

/// f_bar = X*ᵀ c_bar: the motion c_bar, back;  R_bar = n_bar nᵀ + (f_bar - p × n_bar) fᵀ,  p_bar = R f × n_bar
#[kernel]
pub fn transform_force_pullback<R: Real>(
    a_from_b: Pose<R>,
    f: Force<R>,
    c_bar: Force<R>,
) -> (Pose<R>, Force<R>) {
    let turned = c_bar.force - cross(a_from_b.position, c_bar.torque);
    let pose_bar = Pose {
        rotation: outer(c_bar.torque, f.torque) + outer(turned, f.force),
        position: cross(a_from_b.rotation * f.force, c_bar.torque),
    };
    (pose_bar, as_force(transform_motion_back(a_from_b, as_motion(c_bar))))
}

/// A force of a in b, Xᵀ f = (Rᵀ (n - p × f), Rᵀ f) (RBDA 2.25, with E = Rᵀ, r = p)
#[kernel(pullback = transform_force_back_pullback)]
pub fn transform_force_back<R: Real>(a_from_b: Pose<R>, f: Force<R>) -> Force<R> {
    Force {
        torque: transpose_times(a_from_b.rotation, f.torque - cross(a_from_b.position, f.force)),
        force: transpose_times(a_from_b.rotation, f.force),
    }
}

/// f_bar = X c_bar: the motion c_bar, forth;  R_bar = (n - p × f) n_barᵀ + f f_barᵀ,  p_bar = R n_bar × f
#[kernel]
pub fn transform_force_back_pullback<R: Real>(
    a_from_b: Pose<R>,
    f: Force<R>,
    c_bar: Force<R>,
) -> (Pose<R>, Force<R>) {
    let moved = f.torque - cross(a_from_b.position, f.force);
    let f_bar = transform_motion(a_from_b, as_motion(c_bar));
    let pose_bar = Pose {
        rotation: outer(moved, c_bar.torque) + outer(f.force, c_bar.force),
        position: cross(f_bar.angular, f.force),
    };
    (pose_bar, as_force(f_bar))
}

/// An inertia of b in a, X* I X⁻¹ (RBDA 2.66):  h' = R h + m p,  J' = R J Rᵀ + steiner(2 R h + m p, p)
#[kernel]
pub fn transform_inertia<R: Real>(a_from_b: Pose<R>, i: Inertia<R>) -> Inertia<R> {
    let turned = a_from_b.rotation * i.moment;
    let moment = turned + a_from_b.position * i.mass;
    Inertia {
        mass: i.mass,
        moment,
        rotational: congruence(a_from_b.rotation, i.rotational) + steiner(turned + moment, a_from_b.position),
    }
}

/// An inertia of a in b, Xᵀ I X:  h' = Rᵀ (h - m p),  J' = Rᵀ (J - steiner(2 h - m p, p)) R
#[kernel]
pub fn transform_inertia_back<R: Real>(a_from_b: Pose<R>, i: Inertia<R>) -> Inertia<R> {
    let moved = i.moment - a_from_b.position * i.mass;
    let about = i.rotational - steiner(i.moment + moved, a_from_b.position);
    Inertia {
        mass: i.mass,
        moment: transpose_times(a_from_b.rotation, moved),
        rotational: congruence(transpose(a_from_b.rotation), about),
    }
}
