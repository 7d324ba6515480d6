//! The energy of a world: kinetic, and the potentials of its forces.

use std::sync::Arc;

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::BufferUse;

use crate::articulated::bodies::Moving;
use crate::articulated::{RobotEnergy, Slots};
use crate::attached::Holding;
use crate::dynamics::Dynamics;
use crate::error::Error;
use crate::model::Model;
use crate::names::Layout;
use crate::particles::Gravity;
use crate::step::{Declared, ranges};

/// Kinetic energy [J]:  E = ½ m v²
#[kernel]
fn kinetic_energy<R: Real>(v: Vec3<R>, m: R) -> R {
    0.5 * m * dot(v, v)
}

/// Computes the energy of states.
pub struct Energy {
    workspace: Workspace<f64>,
    layout: Arc<Layout>,
    state: Vec<(BufferUse, usize)>,
    params: Vec<(BufferUse, usize)>,
    kinetic: Option<Buffer<f64>>,
    potentials: Vec<Buffer<f64>>,
    robots: Vec<RobotEnergy>,
    conserved: bool,
}

impl Energy {
    /// Of a model.
    pub fn new(model: &Model) -> Result<Energy, Error> {
        let mut p = Program::builder();
        let Declared { inputs, state, params, .. } = Declared::whole(&mut p, model)?;
        let (mut potentials, mut kinetic) = (Vec::new(), None);
        if let Some(v) = inputs.v.particles {
            let mut dynamics = Dynamics::new(&mut p, model, &inputs, 1.0)?;
            let mut site = dynamics.site(&inputs.x, &inputs.v, 0.0);
            potentials.push(Gravity::energy(&mut site)?);
            for force in model.forces() {
                potentials.extend(force.energy(&mut site)?);
            }
            let mass = inputs.mass()?;
            let energy = p.reduce::<Once<kinetic_energy>>("kinetic energy", (v.own(), mass.own()));
            p.output(energy);
            kinetic = Some(energy);
        }
        let mut robots: Vec<RobotEnergy> = Vec::new();
        let (mut q, mut v) = (3 * model.particles(), model.positions() + 3 * model.particles());
        for (r, robot) in model.robots().iter().enumerate() {
            let slots = Slots { what: "param", slots: &inputs.params };
            let at = (inputs.x.robots[r], inputs.v.robots[r]);
            let energy = RobotEnergy::add(&mut p, robot, &slots, at, (q, v))?;
            p.output(energy.whole);
            robots.push(energy);
            q += robot.tree().positions();
            v += robot.tree().velocities();
        }
        if let (Some(attached), Some(x)) = (model.attached(), inputs.x.particles) {
            let bodies: Vec<Moving> = robots.iter().map(|robot| robot.moving).collect();
            potentials.extend(Holding::among(&mut p, &inputs, attached, &bodies)?.energy(&mut p, x));
        }
        potentials.iter().for_each(|&energy| p.output(energy));
        let workspace = p.finish()?.workspace(RunOptions::default());
        let (layout, first) = (model.params_layout().clone(), model.state());
        let n = 3 * model.particles();
        let of_particles =
            [&first.values()[..n], &first.values()[model.positions()..model.positions() + n]].concat();
        let given = model.params();
        let conserved = model.contact().is_none()
            && model.moved().is_none()
            && model.attached().is_none_or(|attached| attached.is_conservative(&layout, given.values()))
            && (n == 0 || model.forces().iter().all(|force| force.conservative()))
            && model.pins_rest(&of_particles[n..])
            && model.constraints().iter().all(|constraint| constraint.conservative(&of_particles))
            && robots.iter().all(|robot| robot.is_conserved(&layout, given.values()));
        Ok(Energy { workspace, layout, state, params, kinetic, potentials, robots, conserved })
    }

    /// Does the world keep its energy? It does if every force is the gradient of its potential, and if what is pinned along an
    /// axis does not move along it: pins that move do work, and so do motions that are given. Robots keep theirs without dampers, dry friction, motors and contact.
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
        let mut potential = self.potentials.iter().map(|&energy| self.workspace.read(energy)[0]).sum();
        let mut kinetic = self.kinetic.map_or(0.0, |energy| self.workspace.read(energy)[0]);
        for robot in &self.robots {
            let whole = self.workspace.read(robot.whole)[0];
            let (moving, resting) = robot.of(&whole, state, params, &self.layout);
            kinetic += moving;
            potential += resting;
        }
        Ok((kinetic, potential))
    }
}
