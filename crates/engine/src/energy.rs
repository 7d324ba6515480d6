//! The energy of a world: kinetic, and the potentials of its forces.

use pullback_kernel::prelude::*;
use pullback_kernel::program::BufferUse;

use crate::articulated::{RobotEnergy, conserves};
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
    /// Of particles, if there are any.
    kinetic: Option<Buffer<f64>>,
    potentials: Vec<Buffer<f64>>,
    robots: Option<RobotEnergy>,
    conserved: bool,
}

impl Energy {
    /// Of a model.
    pub fn new(model: &Model) -> Result<Energy, Error> {
        let mut p = Program::builder();
        let Declared { inputs, state, params, .. } = Declared::new(&mut p, model);
        let mut potentials = Vec::new();
        let mut kinetic = None;
        if model.particles() > 0 {
            let mut dynamics = Dynamics::new(&mut p, model, &inputs)?;
            let mut site = dynamics.site(&inputs.x, &inputs.v, 0.0);
            for force in model.forces() {
                potentials.extend(force.energy(&mut site)?);
            }
            let mass = inputs.param::<f64>("particles.mass")?;
            let v = inputs.v.of_particles(&mut p, "no velocity");
            kinetic = Some(p.reduce::<kinetic_energy>("kinetic energy", (v.own(), mass.own())));
        }
        kinetic.into_iter().for_each(|kinetic| p.output(kinetic));
        potentials.iter().for_each(|&energy| p.output(energy));
        let workspace = p.finish()?.workspace(RunOptions::default());
        let first = model.state();
        let conserved = model.forces().iter().all(|force| force.conservative())
            && model.constraints().iter().all(|constraint| constraint.conservative(first.values()));
        let conserved = conserved && model.robots().iter().all(conserves);
        let robots = if model.robots().is_empty() { None } else { Some(RobotEnergy::new(model)?) };
        Ok(Energy { workspace, state, params, kinetic, potentials, robots, conserved })
    }

    /// Does the world keep its energy? It does if every force is the gradient of its potential, if what is pinned along an
    /// axis does not move along it (pins that move do work), and if robots have neither dampers, dry friction nor motors.
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
        let number = |&energy: &Buffer<f64>| self.workspace.read(energy)[0];
        let potential: f64 = self.potentials.iter().map(number).sum();
        let kinetic = self.kinetic.as_ref().map_or(0.0, number);
        let (more_kinetic, more_potential) = match &mut self.robots {
            Some(robots) => robots.of(state, params)?,
            None => (0.0, 0.0),
        };
        Ok((kinetic + more_kinetic, potential + more_potential))
    }
}
