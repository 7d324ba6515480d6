//! Gravity: f = m g.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;

use crate::error::Error;
use crate::force::{Force, Site};
use crate::names::{Block, Quantity};

/// Weight [N]:  f = m g
#[kernel]
fn weight<R: Real>(m: R, g: Vec3<R>) -> Vec3<R> {
    g * m
}

/// Potential energy of a weight [J]:  E = -m g·x
#[kernel]
fn weight_energy<R: Real>(x: Vec3<R>, m: R, g: Vec3<R>) -> R {
    -(m * dot(g, x))
}

/// The same gravity everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Gravity {
    /// Its acceleration [m/s²].
    pub acceleration: [f64; 3],
}

impl Force for Gravity {
    fn params(&self) -> Vec<Block> {
        vec![Block::vector("gravity", self.acceleration, Quantity::new("m/s²", "acceleration of gravity"))]
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (m, g) = (site.mass()?, site.param::<Vec3>("gravity")?);
        let name = site.name("weight");
        Ok(site.program.map::<weight>(&name, (m.own(), g.shared())))
    }

    fn energy(&self, site: &mut Site<'_>) -> Result<Option<Buffer<f64>>, Error> {
        let (m, g) = (site.mass()?, site.param::<Vec3>("gravity")?);
        let (name, x) = (site.name("energy of gravity"), site.x);
        Ok(Some(site.program.reduce::<Once<weight_energy>>(&name, (x.own(), m.own(), g.shared()))))
    }

    fn conservative(&self) -> bool {
        true
    }
}
