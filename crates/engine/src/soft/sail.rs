//! Sheets in the wind.

use std::ops::Range;

use pullback_kernel::prelude::*;
use pullback_soft::air::{self, Air};

use super::numbers::{Numbers, among_all};
use crate::error::Error;
use crate::force::{Force, Site, Workshop};
use crate::names::{Block, Quantity};
use crate::particles::wind;

/// Lift and drag of a sheet: params `flag.drag` and `flag.lift`, or `flag.elements[7].drag`, and `wind`, which all share.
#[derive(Clone, Debug)]
pub struct Sail {
    name: String,
    /// Of the elements, among all particles.
    elements: Vec<[usize; 3]>,
    drag: Numbers,
    lift: Numbers,
    /// Velocity of the air [m/s], if no force before has it as a param.
    wind: Option<[f64; 3]>,
}

impl Sail {
    /// Of the sheet that a scene describes, with its points among all particles; none if it does not feel the air. `wind` is the air's
    /// velocity [m/s], if no force before has it as a param.
    pub fn new(sheet: &pullback_scene::Sheet, points: Range<usize>, wind: Option<[f64; 3]>) -> Option<Self> {
        if sheet.drag.is_none() && sheet.lift.is_none() {
            return None;
        }
        let numbers = |field: &str, values: &Option<Vec<f64>>, doc: &str| {
            let quantity = Quantity::new("kg/m³", doc).at_least(0.0);
            let values = values.as_deref().unwrap_or(&[0.0]);
            Numbers::new([&sheet.name, "elements", field], sheet.elements.len(), values, quantity)
        };
        let elements: Vec<[usize; 3]> =
            sheet.elements.iter().map(|corners| corners.map(|i| i as usize)).collect();
        Some(Sail {
            name: sheet.name.clone(),
            elements: among_all(&elements, points.start),
            drag: numbers("drag", &sheet.drag, "drag per area and squared speed"),
            lift: numbers("lift", &sheet.lift, "lift per area and squared speed"),
            wind,
        })
    }
}

impl Force for Sail {
    fn name(&self) -> String {
        format!("air on {}", self.name)
    }

    fn params(&self) -> Vec<Block> {
        let mut blocks = vec![self.drag.block(), self.lift.block()];
        blocks.extend(self.wind.map(wind));
        blocks
    }

    fn prepare(&self, workshop: &mut Workshop<'_>) -> Result<(), Error> {
        self.drag.prepare(workshop)?;
        self.lift.prepare(workshop)?;
        Ok(())
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let name = site.name(&Force::name(self));
        let air = Air {
            corners: site.program.corners(&name, &self.elements, site.particles),
            vertices: site.vertices(),
            wind: site.param("wind")?,
            drag: self.drag.at(site)?,
            lift: self.lift.at(site)?,
        };
        Ok(air::force(site.program, &name, &air))
    }
}
