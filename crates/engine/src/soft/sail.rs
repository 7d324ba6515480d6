//! Sheets in the wind.

use pullback_soft::air::Air;

use super::numbers::Numbers;
use crate::error::Error;
use crate::force::{Site, Workshop};
use crate::names::{Block, Quantity};
use crate::particles::wind;

/// Lift and drag of a sheet: params `flag.drag` and `flag.lift`, or `flag.elements[7].drag`, and `wind`, which all share.
#[derive(Clone, Debug)]
pub struct Sail {
    drag: Numbers,
    lift: Numbers,
    /// Velocity of the air [m/s], if no force before has it as a param.
    wind: Option<[f64; 3]>,
}

impl Sail {
    /// Of the sheet that a scene describes; none if it does not feel the air. `wind` is the air's velocity [m/s], if no force before has
    /// it as a param.
    pub fn new(sheet: &pullback_scene::Sheet, wind: Option<[f64; 3]>) -> Option<Self> {
        if sheet.drag.is_none() && sheet.lift.is_none() {
            return None;
        }
        let numbers = |field: &str, values: &Option<Vec<f64>>, doc: &str| {
            let quantity = Quantity::new("kg/m³", doc).at_least(0.0);
            let values = values.as_deref().unwrap_or(&[0.0]);
            Numbers::new([&sheet.name, "elements", field], sheet.elements.len(), values, quantity)
        };
        Some(Sail {
            drag: numbers("drag", &sheet.drag, "drag per area and squared speed"),
            lift: numbers("lift", &sheet.lift, "lift per area and squared speed"),
            wind,
        })
    }
}

impl Sail {
    /// Its params.
    pub fn params(&self) -> Vec<Block> {
        let mut blocks = vec![self.drag.block(), self.lift.block()];
        blocks.extend(self.wind.map(wind));
        blocks
    }

    /// Makes what depends on params alone.
    pub fn prepare(&self, workshop: &mut Workshop<'_>) -> Result<(), Error> {
        self.drag.prepare(workshop)?;
        self.lift.prepare(workshop)?;
        Ok(())
    }

    /// The air, where forces are evaluated.
    pub fn air(&self, site: &Site<'_>) -> Result<Air, Error> {
        Ok(Air { wind: site.param("wind")?, drag: self.drag.at(site)?, lift: self.lift.at(site)? })
    }
}
