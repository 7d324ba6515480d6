//! Actuators: forces that the control gives, step by step.

use pullback_kernel::prelude::*;

use super::push::apply;
use crate::error::Error;
use crate::force::{Force, Site};
use crate::names::{Block, Group, Quantity};

/// Actuators, each on one particle.
#[derive(Clone, Debug, Default)]
pub struct Actuators {
    /// What they are called.
    pub names: Vec<String>,
    /// Which particle each pushes.
    pub on: Vec<usize>,
}

impl Force for Actuators {
    fn controls(&self) -> Vec<Block> {
        vec![Block {
            key: "actuators.force".into(),
            field: "force".into(),
            groups: self.names.iter().map(|name| Group::one(name)).collect(),
            numbers: 3,
            quantity: Quantity::new("N", "force of an actuator in one step"),
            values: vec![0.0; 3 * self.names.len()],
        }]
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (force, name) = (site.control::<Vec3>("actuators.force")?, site.name("actuate"));
        let on: Vec<(usize, usize)> = self.on.iter().copied().enumerate().collect();
        apply(site, &name, force, self.names.len(), &on)
    }
}
