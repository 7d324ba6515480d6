//! Gravity: an acceleration g of everything, no force, so that it takes no operation of its own.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;

use crate::error::Error;
use crate::force::Site;
use crate::names::{Block, Quantity};

/// Potential energy of a weight [J]:  E = -m g·x
#[kernel]
fn weight_energy<R: Real>(x: Vec3<R>, m: R, g: Vec3<R>) -> R {
    -(m * dot(g, x))
}

/// The same gravity everywhere.
pub(crate) struct Gravity;

impl Gravity {
    /// Its acceleration [m/s²], a param of every world.
    pub fn param(acceleration: [f64; 3]) -> Block {
        Block::vector("gravity", acceleration, Quantity::new("m/s²", "acceleration of gravity"))
    }

    /// The potential energy of all particles [J].
    pub fn energy(site: &mut Site<'_>) -> Result<Buffer<f64>, Error> {
        let (m, g) = (site.mass()?, site.param::<Vec3>("gravity")?);
        let (name, x) = (site.name("energy of gravity"), site.x);
        Ok(site.program.reduce::<Once<weight_energy>>(&name, (x.own(), m.own(), g.shared())))
    }
}
