//! Implicit rules: the next velocity z solves an equation, residual(z) = 0.

use pullback_kernel::prelude::*;
use pullback_scene::Integrator;

use super::Next;
use crate::dynamics::{Dynamics, same};
use crate::error::Error;
use crate::moved::free_of;
use crate::step::Bundle;

/// The equation [m/s]:  z - v - h a
#[kernel]
fn residual<R: Real>(z: Vec3<R>, v: Vec3<R>, a: Vec3<R>, h: R) -> Vec3<R> {
    z - v - a * h
}

/// The residual of what is free, z - v of what is led.
#[kernel]
fn residual_or_led<R: Real>(z: Vec3<R>, residual: Vec3<R>, v: Vec3<R>, free: R) -> Vec3<R> {
    residual * free + (z - v) * (1.0 - free)
}

/// `(a + b) / 2`
#[kernel]
fn middle<R: Real>(a: Vec3<R>, b: Vec3<R>) -> Vec3<R> {
    (a + b) * 0.5
}

/// Where an implicit rule asks for forces, x + a v + b z of what is free [s]; none of the others.
pub fn asks_at(integrator: Integrator, h: f64) -> Option<[f64; 2]> {
    match integrator {
        Integrator::BackwardEuler => Some([0.0, h]),
        Integrator::ImplicitMidpoint => Some([0.25 * h; 2]),
        Integrator::ExplicitEuler
        | Integrator::SemiImplicitEuler
        | Integrator::RungeKutta4
        | Integrator::VelocityVerlet
        | Integrator::ReversibleVerlet => None,
    }
}

impl Dynamics<'_> {
    /// residual(z) = z - v - h a, at the next velocity z.
    fn equation(&mut self, z: Bundle, a: &Bundle, x: Bundle, h: f64, moved: [f64; 2]) -> Next {
        let v = &self.inputs.v;
        let (mut residual, mut v_next) = (None, None);
        if let (Some(z), Some(v), Some(a)) = (z.particles, v.particles, a.particles) {
            let h = self.program.constant::<f64>("h", &[h]).shared();
            residual = Some(self.program.map::<residual>("residual", (z.own(), v.own(), a.own(), h)));
            v_next = Some(self.program.map::<same>("next velocity", (z.own(),)));
        }
        let robots = self.combine("residual", &[(&z, 1.0), (v, -1.0), (a, -h)]);
        let residual = Bundle { particles: residual, robots };
        let v = Bundle { particles: v_next, robots: self.combine("next velocity", &[(&z, 1.0)]) };
        Next { x, v, implicit: Some((z, residual, Some(moved))) }
    }

    /// The residual of particles, with z - v' for those that are led, whose velocity is v' in the end.
    pub fn residual_of_led(
        &mut self,
        z: &Bundle,
        residual: &Bundle,
        v: &Bundle,
        led: &[usize],
    ) -> Option<Buffer<Vec3>> {
        let (z, residual, v) = (z.particles?, residual.particles?, v.particles?);
        let free =
            self.program.constant::<f64>("free, of the residual", &free_of(led, self.model.particles()));
        let ports = (z.own(), residual.own(), v.own(), free.own());
        Some(self.program.map::<residual_or_led>("residual with what is led", ports))
    }
}

/// z = v + h a(x', z, t + h),  x' = x ⊕ h z: order 1, stable for any stiffness.
pub fn backward_euler(d: &mut Dynamics<'_>, h: f64) -> Result<Next, Error> {
    let z = Bundle::velocities(d.program, "unknown velocity", d.model);
    let x_next = d.move_on("next position", &d.inputs.x, &z, h);
    let a = d.acceleration(&x_next, &z, h)?;
    Ok(d.equation(z, &a, x_next, h, [0.0, h]))
}

/// z = v + h a(x½, v½, t + h/2),  v½ = (v + z)/2,  x½ = x ⊕ ½ h v½,  x' = x ⊕ h v½: order 2, symplectic for particles.
pub fn midpoint(d: &mut Dynamics<'_>, h: f64) -> Result<Next, Error> {
    let z = Bundle::velocities(d.program, "unknown velocity", d.model);
    let (x, v) = (&d.inputs.x, &d.inputs.v);
    let mut particles = None;
    if let (Some(v), Some(z)) = (v.particles, z.particles) {
        particles = Some(d.program.map::<middle>("velocity in the middle", (v.own(), z.own())));
    }
    let robots = d.combine("velocity in the middle", &[(v, 0.5), (&z, 0.5)]);
    let v_middle = Bundle { particles, robots };
    let x_middle = d.move_on("position in the middle", x, &v_middle, 0.5 * h);
    let x_next = d.move_on("next position", x, &v_middle, h);
    let a = d.acceleration(&x_middle, &v_middle, 0.5 * h)?;
    Ok(d.equation(z, &a, x_next, h, [0.5 * h; 2]))
}
