//! Integrators, by name, one file each: how positions and velocities go on, given accelerations.

mod bordered;
mod cholesky;
mod coupling;
mod dense;
mod derivative;
mod euler;
mod factors;
mod gmres;
mod implicit;
pub(crate) mod jacobians;
mod rk4;
pub mod sparsity;
mod verlet;

use pullback_kernel::prelude::*;
use pullback_scene::Integrator;
pub(crate) use verlet::{LATTICE_LIMIT, on_lattice};

use crate::dynamics::{Dynamics, Led};
use crate::error::Error;
use crate::step::{Bundle, Scheme};

/// What a step ends with.
pub(crate) struct Next {
    pub x: Bundle,
    pub v: Bundle,
    /// Of an implicit step: the unknowns, the residuals, and how much the next position moves with the velocity and with the
    /// unknown [s].
    pub implicit: Option<(Bundle, Bundle, Option<[f64; 2]>)>,
}

impl Next {
    /// The same with particles that are held fast or moved, `led`, where they are then. Of an implicit step, their unknowns are those
    /// velocities.
    pub fn led(self, d: &mut Dynamics<'_>, led: &[usize]) -> Result<Next, Error> {
        let Led { x, v, .. } = d.led_to(&self.x, &self.v)?;
        let implicit = match self.implicit {
            None => None,
            Some((z, mut residual, _)) => {
                residual.particles = d.residual_of_led(&z, &residual, &v, led);
                Some((z, residual, None))
            }
        };
        Ok(Next { x, v, implicit })
    }
}

/// Adds the operations of one part of a step; or of a step back, for an integrator that can.
pub(crate) fn advance(d: &mut Dynamics<'_>, scheme: &Scheme, back: bool) -> Result<Next, Error> {
    let h = scheme.part();
    match scheme.integrator {
        Integrator::ExplicitEuler => euler::explicit(d, h),
        Integrator::SemiImplicitEuler => euler::semi_implicit(d, h),
        Integrator::RungeKutta4 => rk4::rk4(d, h),
        Integrator::VelocityVerlet => verlet::velocity(d, h),
        Integrator::ReversibleVerlet if back => verlet::reversible_back(d, h),
        Integrator::ReversibleVerlet => verlet::reversible(d, h),
        Integrator::ImplicitMidpoint => implicit::midpoint(d, h),
        Integrator::BackwardEuler => implicit::backward_euler(d, h),
    }
}

/// `x + h d`
#[kernel]
fn shift<R: Real>(x: Vec3<R>, d: Vec3<R>, h: R) -> Vec3<R> {
    d * h + x
}

impl Dynamics<'_> {
    /// x + h d of particles, as a buffer called `name`.
    fn shift_particles(
        &mut self,
        name: &str,
        x: Option<Buffer<Vec3>>,
        d: Option<Buffer<Vec3>>,
        h: f64,
    ) -> Option<Buffer<Vec3>> {
        let (x, d) = (x?, d?);
        let h = self.program.constant::<f64>(&format!("h of {name}"), &[h]);
        Some(self.program.map::<shift>(name, (x.own(), d.own(), h.shared())))
    }

    /// Velocities: v + h a
    fn speed_up(&mut self, name: &str, v: &Bundle, a: &Bundle, h: f64) -> Bundle {
        Bundle {
            particles: self.shift_particles(name, v.particles, a.particles, h),
            robots: self.combine(name, &[(v, 1.0), (a, h)]),
        }
    }

    /// Positions: x ⊕ h v
    fn move_on(&mut self, name: &str, x: &Bundle, v: &Bundle, h: f64) -> Bundle {
        Bundle {
            particles: self.shift_particles(name, x.particles, v.particles, h),
            robots: self.retract(name, x, &v.robots, h),
        }
    }
}
