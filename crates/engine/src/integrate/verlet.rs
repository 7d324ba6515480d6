//! Verlet's rule: of order 2, symplectic; and on a lattice, where it can be run backwards to the last bit.

use pullback_kernel::prelude::*;

use super::Next;
use crate::dynamics::Dynamics;
use crate::error::Error;
use crate::step::Bundle;

/// `y + d h + e k`
#[kernel]
fn shift_twice<R: Real>(y: Vec3<R>, d: Vec3<R>, h: R, e: Vec3<R>, k: R) -> Vec3<R> {
    d * h + (e * k + y)
}

/// a0 = a(x, v, t),  x' = x + h v + ½ h² a0,  a1 = a(x', v + h a0, t + h),  v' = v + ½ h (a0 + a1)
///
/// With forces that depend on velocities it is of order 2 as well, because a1 sees the predicted velocity.
pub fn velocity(d: &mut Dynamics<'_>, h: f64) -> Result<Next, Error> {
    let (x, v) = (&d.inputs.x, &d.inputs.v);
    let a0 = d.acceleration(x, v, 0.0)?;
    let tangents = d.combine("h v + ½ h² a", &[(v, h), (&a0, 0.5 * h * h)]);
    let x_next = Bundle {
        particles: d.shift_twice("next position", [x, v, &a0], [h, 0.5 * h * h]),
        robots: d.retract("next position", x, &tangents, 1.0),
    };
    let v_predicted = d.speed_up("predicted velocity", v, &a0, h);
    let a1 = d.acceleration(&x_next, &v_predicted, h)?;
    let v_next = Bundle {
        particles: d.shift_twice("next velocity", [v, &a0, &a1], [0.5 * h; 2]),
        robots: d.combine("next velocity", &[(v, 1.0), (&a0, 0.5 * h), (&a1, 0.5 * h)]),
    };
    Ok(Next { x: x_next, v: v_next, implicit: None })
}

/// Positions and velocities lie on multiples of 2^-40 (about 1e-12 [m] or [m/s]): sums of them are exact below 2^12, and what
/// was added can be taken away again.
const LATTICE: f64 = 1.0 / (1u64 << 40) as f64;
/// The nearest number on the lattice.
pub(crate) fn on_lattice(x: f64) -> f64 {
    (x / LATTICE).round() * LATTICE
}

/// Beyond this, numbers leave the lattice.
pub(crate) const LATTICE_LIMIT: f64 = 4096.0;
/// Beyond this, a change is not rounded to the lattice, or not the same forwards and backwards.
const MOST_CHANGE: f64 = 2047.0;
/// Beyond this, sums have fewer bits than the lattice.
const MOST: f64 = 8191.0;
/// Adding and subtracting 1.5 · 2^(52 - 40) rounds to the lattice.
const ROUNDING: f64 = 6144.0;

/// `y + h d`, the change rounded to the lattice. Its pullback is that of `y + h d`: rounding has no useful derivative.
#[kernel(pullback = lattice_shift_pullback)]
fn lattice_shift<R: Real>(y: Vec3<R>, d: Vec3<R>, h: R) -> Vec3<R> {
    let change = d * h;
    vec3(lattice_sum(y.x, change.x), lattice_sum(y.y, change.y), lattice_sum(y.z, change.z))
}

/// `y + change`, the change rounded to the lattice; not a number where bits would be lost.
#[kernel]
fn lattice_sum<R: Real>(y: R, change: R) -> R {
    let mut sum = y + ((change + ROUNDING) - ROUNDING);
    if abs(change) > MOST_CHANGE {
        sum = sum / 0.0;
    }
    if abs(sum) > MOST {
        sum = sum / 0.0;
    }
    sum
}

/// That of `y + h d`.
#[kernel]
fn lattice_shift_pullback<R: Real>(y: Vec3<R>, d: Vec3<R>, h: R, out_bar: Vec3<R>) -> (Vec3<R>, Vec3<R>, R) {
    (out_bar, out_bar * h, dot(out_bar, d))
}

impl Dynamics<'_> {
    /// y + h d + k e of particles.
    fn shift_twice(&mut self, name: &str, [y, d, e]: [&Bundle; 3], [h, k]: [f64; 2]) -> Option<Buffer<Vec3>> {
        let (y, d, e) = (y.particles?, d.particles?, e.particles?);
        let h = self.program.constant::<f64>(&format!("first factor of {name}"), &[h]).shared();
        let k = self.program.constant::<f64>(&format!("second factor of {name}"), &[k]).shared();
        Some(self.program.map::<shift_twice>(name, (y.own(), d.own(), h, e.own(), k)))
    }

    /// y + h d of particles: there are no robots on the lattice.
    fn lattice_shift(&mut self, name: &str, y: &Bundle, d: &Bundle, h: f64) -> Bundle {
        let mut particles = None;
        if let (Some(y), Some(d)) = (y.particles, d.particles) {
            let h = self.program.constant::<f64>(&format!("h of {name}"), &[h]);
            particles = Some(self.program.map::<lattice_shift>(name, (y.own(), d.own(), h.shared())));
        }
        Bundle { particles, robots: Vec::new() }
    }
}

/// Kick, drift, kick: v½ = v + [½ h a(x)],  x' = x + [h v½],  v' = v½ + [½ h a(x')],  [.] rounded to the lattice.
pub fn reversible(d: &mut Dynamics<'_>, h: f64) -> Result<Next, Error> {
    let (x, v) = (&d.inputs.x, &d.inputs.v);
    let a0 = d.acceleration(x, v, 0.0)?;
    let v_half = d.lattice_shift("velocity after half a step", v, &a0, 0.5 * h);
    let x_next = d.lattice_shift("next position", x, &v_half, h);
    let a1 = d.acceleration(&x_next, &v_half, h)?;
    let v_next = d.lattice_shift("next velocity", &v_half, &a1, 0.5 * h);
    Ok(Next { x: x_next, v: v_next, implicit: None })
}

/// The same in reverse order, with the signs of all changes turned: from the end of a step, which begins at `time`.
pub fn reversible_back(d: &mut Dynamics<'_>, h: f64) -> Result<Next, Error> {
    let (x, v) = (&d.inputs.x, &d.inputs.v);
    let a1 = d.acceleration(x, v, h)?;
    let v_half = d.lattice_shift("velocity after half a step", v, &a1, -0.5 * h);
    let x_before = d.lattice_shift("position before", x, &v_half, -h);
    let a0 = d.acceleration(&x_before, &v_half, 0.0)?;
    let v_before = d.lattice_shift("velocity before", &v_half, &a0, -0.5 * h);
    Ok(Next { x: x_before, v: v_before, implicit: None })
}
