//! Springs with and without dampers.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;

use crate::error::Error;
use crate::force::{Force, Site};
use crate::names::{Block, Group, Quantity};

/// Forces of a spring on its ends [N]:  f = k (|d| - rest) d/|d|,  d = x1 - x0
#[kernel]
fn spring<R: Real>(x: [Vec3<R>; 2], k: R, rest: R) -> [Vec3<R>; 2] {
    let d = x[1] - x[0];
    let f = normalize(d) * (k * (length(d) - rest));
    [f, -f]
}

/// Forces of a spring with a damper on its ends [N]:  f = (k (|d| - rest) + c n·(v1 - v0)) n,  n = d/|d|
#[kernel]
fn damped_spring<R: Real>(x: [Vec3<R>; 2], v: [Vec3<R>; 2], k: R, c: R, rest: R) -> [Vec3<R>; 2] {
    let d = x[1] - x[0];
    let n = normalize(d);
    let f = n * (k * (length(d) - rest) + c * dot(v[1] - v[0], n));
    [f, -f]
}

/// Energy of a spring [J]:  E = ½ k (|d| - rest)²
#[kernel]
fn spring_energy<R: Real>(x: [Vec3<R>; 2], k: R, rest: R) -> R {
    let stretch = length(x[1] - x[0]) - rest;
    0.5 * k * stretch * stretch
}

/// Springs, all with dampers or all without.
#[derive(Clone, Debug)]
pub struct Springs {
    /// What programs call them: their params are `key.stiffness`, `key.rest_length` and `key.damping`.
    pub key: String,
    /// What they are called.
    pub groups: Vec<Group>,
    /// The particles at their ends.
    pub ends: Vec<[usize; 2]>,
    /// [N/m]
    pub stiffness: Vec<f64>,
    /// [m]
    pub rest_lengths: Vec<f64>,
    /// [N·s/m]
    pub damping: Option<Vec<f64>>,
}

impl Springs {
    fn block(&self, field: &str, values: &[f64], quantity: Quantity) -> Block {
        Block {
            key: format!("{}.{field}", self.key),
            field: field.to_owned(),
            groups: self.groups.clone(),
            numbers: 1,
            quantity,
            values: values.to_vec(),
        }
    }
}

impl Force for Springs {
    fn name(&self) -> String {
        self.key.clone()
    }

    fn params(&self) -> Vec<Block> {
        let stiffness = Quantity::new("N/m", "force per stretch").at_least(0.0);
        let rest = Quantity::new("m", "length at which it pulls and pushes nothing").at_least(0.0);
        let damping = Quantity::new("N·s/m", "force per speed of stretching").at_least(0.0);
        let mut blocks = vec![
            self.block("stiffness", &self.stiffness, stiffness),
            self.block("rest_length", &self.rest_lengths, rest),
        ];
        blocks.extend(self.damping.iter().map(|values| self.block("damping", values, damping.clone())));
        blocks
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (x, v, name) = (site.x, site.v, site.name(&self.key));
        let k = site.param::<f64>(&format!("{}.stiffness", self.key))?;
        let rest = site.param::<f64>(&format!("{}.rest_length", self.key))?;
        let ends = site.program.corners(&name, &self.ends, site.particles);
        if self.damping.is_none() {
            let ports = (x.at(ends), k.own(), rest.own());
            return Ok(site.program.elements::<spring, Vec3, 2>(&name, ends, ports));
        }
        let c = site.param::<f64>(&format!("{}.damping", self.key))?;
        let ports = (x.at(ends), v.at(ends), k.own(), c.own(), rest.own());
        Ok(site.program.elements::<damped_spring, Vec3, 2>(&name, ends, ports))
    }

    fn energy(&self, site: &mut Site<'_>) -> Result<Option<Buffer<f64>>, Error> {
        let (x, name) = (site.x, site.name(&format!("energy of {}", self.key)));
        let k = site.param::<f64>(&format!("{}.stiffness", self.key))?;
        let rest = site.param::<f64>(&format!("{}.rest_length", self.key))?;
        let ends = site.program.corners(&name, &self.ends, site.particles);
        let ports = (x.at(ends), k.own(), rest.own());
        Ok(Some(site.program.reduce::<Once<spring_energy>>(&name, ports)))
    }

    fn conservative(&self) -> bool {
        self.damping.is_none()
    }
}
