//! The tetrahedra of a solid in a program that is being made.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

/// Corners [m], inverse edges at rest [1/m], volume at rest [m³], μ [Pa], λ [Pa], actuation [1].
pub type Elastic = ([Vec3; 4], Mat3, f64, f64, f64, f64);

/// The same with velocities of the corners [m/s] after their positions, and a viscosity [Pa·s] at the end.
pub type Viscous = ([Vec3; 4], [Vec3; 4], Mat3, f64, f64, f64, f64, f64);

/// The tetrahedra of a solid, where forces are evaluated.
pub struct Elements<'a> {
    pub(super) program: &'a mut Builder,
    pub(super) name: String,
    pub(super) corners: Corners<4>,
    pub(super) x: Buffer<Vec3>,
    pub(super) v: Buffer<Vec3>,
    pub(super) rest: Constant<Mat3>,
    pub(super) volumes: Constant<f64>,
    /// μ, λ and actuation.
    pub(super) numbers: [Buffer<f64>; 3],
    pub(super) viscosity: Option<Buffer<f64>>,
    /// Are these numbers for all of them, rather than for each?
    pub(super) one_for_all: bool,
}

impl Elements<'_> {
    /// The forces on the corners, by the kernel without viscosity or by the one with it.
    pub fn force<F, D>(&mut self) -> Buffer<Vec3>
    where
        F: Kernel<Arguments = Elastic, Output = [Vec3; 4]>,
        D: Kernel<Arguments = Viscous, Output = [Vec3; 4]>,
    {
        let (name, corners, [mu, lambda, actuation]) = (&self.name, self.corners, self.numbers);
        let (x, v, rest, volume) =
            (self.x.at(corners), self.v.at(corners), self.rest.own(), self.volumes.own());
        let p = &mut *self.program;
        match (self.viscosity, self.one_for_all) {
            (None, true) => {
                let ports = (x, rest, volume, mu.shared(), lambda.shared(), actuation.shared());
                p.elements::<F, Vec3, 4>(name, corners, ports)
            }
            (None, false) => {
                let ports = (x, rest, volume, mu.own(), lambda.own(), actuation.own());
                p.elements::<F, Vec3, 4>(name, corners, ports)
            }
            (Some(eta), true) => {
                let ports =
                    (x, v, rest, volume, mu.shared(), lambda.shared(), actuation.shared(), eta.shared());
                p.elements::<D, Vec3, 4>(name, corners, ports)
            }
            (Some(eta), false) => {
                let ports = (x, v, rest, volume, mu.own(), lambda.own(), actuation.own(), eta.own());
                p.elements::<D, Vec3, 4>(name, corners, ports)
            }
        }
    }

    /// The sum of energies.
    pub fn energy<E: Kernel<Arguments = Elastic, Output = f64>>(&mut self) -> Buffer<f64> {
        let (name, [mu, lambda, actuation]) = (&self.name, self.numbers);
        let (x, rest, volume) = (self.x.at(self.corners), self.rest.own(), self.volumes.own());
        match self.one_for_all {
            true => {
                let ports = (x, rest, volume, mu.shared(), lambda.shared(), actuation.shared());
                self.program.reduce::<E>(name, ports)
            }
            false => {
                let ports = (x, rest, volume, mu.own(), lambda.own(), actuation.own());
                self.program.reduce::<E>(name, ports)
            }
        }
    }
}
