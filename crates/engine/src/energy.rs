//! The energy of a world: kinetic, and the potentials of its forces.

use pullback_kernel::prelude::*;
use pullback_kernel::program::BufferUse;

use crate::error::Error;
use crate::model::Model;
use crate::step::{Declared, Dynamics, ranges};

/// Kinetic energy [J]:  E = ½ m v²
#[kernel]
fn kinetic_energy<R: Real>(v: Vec3<R>, m: R) -> R {
    0.5 * m * dot(v, v)
}

/// Computes the energy of states.
pub struct Energy {
    workspace: Workspace<f64>,
    state: Vec<(BufferUse, usize)>,
    params: Vec<(BufferUse, usize)>,
    kinetic: Buffer<f64>,
    potentials: Vec<Buffer<f64>>,
    conserved: bool,
}

impl Energy {
    /// Of a model.
    pub fn new(model: &Model) -> Result<Energy, Error> {
        let mut p = Program::builder();
        let Declared { inputs, state, params, .. } = Declared::new(&mut p, model);
        let mut potentials = Vec::new();
        let mut dynamics = Dynamics::new(&mut p, model, &inputs)?;
        let mut site = dynamics.site(&inputs.x, &inputs.v, 0.0);
        for force in model.forces() {
            potentials.extend(force.energy(&mut site)?);
        }
        let mass = inputs.param::<f64>("particles.mass")?;
        let v = inputs.v.of_particles(&mut p, "no velocity");
        let kinetic = p.reduce::<kinetic_energy>("kinetic energy", (v.own(), mass.own()));
        p.output(kinetic);
        potentials.iter().for_each(|&energy| p.output(energy));
        let workspace = p.finish()?.workspace(RunOptions::default());
        let first = model.state();
        let conserved = model.forces().iter().all(|force| force.conservative())
            && model.constraints().iter().all(|constraint| constraint.conservative(first.values()));
        Ok(Energy { workspace, state, params, kinetic, potentials, conserved })
    }

    /// Does the world keep its energy? It does if every force is the gradient of its potential, and if what is pinned along an
    /// axis does not move along it: pins that move do work.
    pub fn is_conserved(&self) -> bool {
        self.conserved
    }

    /// Kinetic and potential energy [J] of a state.
    pub fn of(&mut self, state: &[f64], params: &[f64]) -> Result<(f64, f64), Error> {
        for (what, buffers, numbers) in [("a state", &self.state, state), ("params", &self.params, params)] {
            let (wanted, found) = (buffers.iter().map(|(_, len)| len).sum(), numbers.len());
            if wanted != found {
                return Err(Error::Length { what, wanted, found });
            }
            for (buffer, range) in ranges(buffers) {
                self.workspace.write_numbers(0, buffer, &numbers[range])?;
            }
        }
        self.workspace.forward();
        let potential = self.potentials.iter().map(|&energy| self.workspace.read(energy)[0]).sum();
        Ok((self.workspace.read(self.kinetic)[0], potential))
    }
}
