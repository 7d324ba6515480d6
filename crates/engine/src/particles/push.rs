//! Forces that are given: the same all the time, or swinging.

use pullback_kernel::prelude::*;

use crate::error::Error;
use crate::force::{Force, Site};
use crate::names::{Block, Group, Quantity};

/// A given force on one particle [N].
#[kernel]
fn push<R: Real>(force: [Vec3<R>; 1]) -> [Vec3<R>; 1] {
    force
}

/// Energy of a given force [J]:  E = -f·x
#[kernel]
fn push_energy<R: Real>(x: [Vec3<R>; 1], force: [Vec3<R>; 1]) -> R {
    -dot(force[0], x[0])
}

/// A force that swings [N]:  f = F cos(2π frequency t + phase)
#[kernel]
fn swing<R: Real>(force: Vec3<R>, frequency: R, phase: R, time: R) -> Vec3<R> {
    force * cos(TAU * frequency * time + phase)
}
const TAU: f64 = std::f64::consts::TAU;

/// Which force each push is of, and on which particle.
type Pushes = Vec<(usize, usize)>;

fn tables(on: &[(usize, usize)]) -> (Vec<[usize; 1]>, Vec<[usize; 1]>) {
    on.iter().map(|&(force, particle)| ([force], [particle])).unzip()
}

fn block(
    key: &str,
    field: &str,
    names: &[String],
    numbers: usize,
    values: Vec<f64>,
    quantity: Quantity,
) -> Block {
    let groups = names.iter().map(|name| Group::one(name)).collect();
    Block { key: format!("{key}.{field}"), field: field.into(), groups, numbers, quantity, values }
}

/// Forces that stay the same.
#[derive(Clone, Debug, Default)]
pub struct Push {
    /// What they are called.
    pub names: Vec<String>,
    /// [N]
    pub forces: Vec<[f64; 3]>,
    /// (force, particle): a force may push several particles.
    pub on: Pushes,
}

impl Force for Push {
    fn params(&self) -> Vec<Block> {
        let quantity = Quantity::new("N", "a force that stays the same");
        vec![block("pushes", "force", &self.names, 3, self.forces.concat(), quantity)]
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (force, name) = (site.param::<Vec3>("pushes.force")?, site.name("push"));
        apply(site, &name, force, self.forces.len(), &self.on)
    }

    fn energy(&self, site: &mut Site<'_>) -> Result<Option<Buffer<f64>>, Error> {
        let (force, name) = (site.param::<Vec3>("pushes.force")?, site.name("energy of pushes"));
        let (of, on) = tables(&self.on);
        let of = site.program.corners(&format!("{name}, force"), &of, self.forces.len());
        let on = site.program.corners(&name, &on, site.particles);
        let ports = (site.x.at(on), force.at(of));
        Ok(Some(site.program.reduce::<push_energy>(&name, ports)))
    }

    fn conservative(&self) -> bool {
        true
    }
}

pub(super) fn apply(
    site: &mut Site<'_>,
    name: &str,
    force: Buffer<Vec3>,
    forces: usize,
    on: &[(usize, usize)],
) -> Result<Buffer<Vec3>, Error> {
    let (of, on) = tables(on);
    let of = site.program.corners(&format!("{name}, force"), &of, forces);
    let on = site.program.corners(name, &on, site.particles);
    Ok(site.program.elements::<push, Vec3, 1>(name, on, (force.at(of),)))
}

/// Forces that swing.
#[derive(Clone, Debug, Default)]
pub struct Oscillating {
    /// What they are called.
    pub names: Vec<String>,
    /// [N]
    pub forces: Vec<[f64; 3]>,
    /// [Hz]
    pub frequencies: Vec<f64>,
    /// [rad]
    pub phases: Vec<f64>,
    /// (force, particle): a force may push several particles.
    pub on: Pushes,
}

impl Force for Oscillating {
    fn params(&self) -> Vec<Block> {
        let force = Quantity::new("N", "the greatest value of a swinging force");
        let frequency = Quantity::new("Hz", "swings per second").at_least(0.0);
        let phase = Quantity::new("rad", "angle of the swing at time 0");
        vec![
            block("swings", "force", &self.names, 3, self.forces.concat(), force),
            block("swings", "frequency", &self.names, 1, self.frequencies.clone(), frequency),
            block("swings", "phase", &self.names, 1, self.phases.clone(), phase),
        ]
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (name, time) = (site.name("swing"), site.time());
        let force = site.param::<Vec3>("swings.force")?;
        let (frequency, phase) = (site.param::<f64>("swings.frequency")?, site.param::<f64>("swings.phase")?);
        let ports = (force.own(), frequency.own(), phase.own(), time.shared());
        let now = site.program.map::<swing>(&format!("{name} now"), ports);
        apply(site, &name, now, self.forces.len(), &self.on)
    }
}
