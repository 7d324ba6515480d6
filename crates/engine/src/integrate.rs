//! Integrators, by name, one file each: how positions and velocities go on, given accelerations.

mod euler;
mod implicit;
pub(crate) mod jacobians;
mod rk4;
pub mod sparsity;
mod verlet;

use pullback_kernel::prelude::*;
use pullback_scene::Integrator;
pub(crate) use verlet::{LATTICE_LIMIT, on_lattice};

use crate::error::Error;
use crate::step::{Dynamics, Scheme, Unknown};

/// What a step ends with.
pub(crate) struct Next {
    pub x: Buffer<Vec3>,
    pub v: Buffer<Vec3>,
    pub implicit: Option<Unknown>,
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
    /// x + h d, as a buffer called `name`.
    fn shift(&mut self, name: &str, x: Buffer<Vec3>, d: Buffer<Vec3>, h: f64) -> Buffer<Vec3> {
        let h = self.program.constant::<f64>(&format!("h of {name}"), &[h]);
        self.program.map::<shift>(name, (x.own(), d.own(), h.shared()))
    }
}
