//! Sheets of triangles, in their plane and in the air.

use std::ops::Range;

use pullback_kernel::prelude::*;
use pullback_soft::membrane::{self, Triangles};
use pullback_soft::rest::{sheet_volumes, triangles_at_rest, triangles_masses};

use super::numbers::{Numbers, Rest, among_all, first_number};
use super::sail::Sail;
use crate::error::Error;
use crate::force::{Force, Site, Workshop};
use crate::names::{Block, Group, Quantity};

/// A sheet of triangles with constant strain, whose corners are particles: its stiffness and viscosity in the plane, and the air's lift and
/// drag.
///
/// Its params are called `flag.mu`, `flag.lambda`, `flag.thickness`, `flag.density`, `flag.actuation` and `flag.viscosity`, or
/// `flag.elements[7].mu` where each triangle has its own, and `flag[3].rest` where positions at rest are params; those of the air are
/// those of a [`Sail`].
#[derive(Clone, Debug)]
pub struct Sheet {
    name: String,
    /// Its points among all particles.
    points: Range<usize>,
    /// Of the elements, among its points.
    elements: Vec<[usize; 3]>,
    rest: Rest,
    thickness: Numbers,
    mu: Numbers,
    lambda: Numbers,
    density: Numbers,
    viscosity: Option<Numbers>,
    actuation: Numbers,
    /// Is the actuation a control?
    controlled: bool,
    /// What it has to do with the air.
    sail: Option<Sail>,
}

impl Sheet {
    /// The sheet that a scene describes, with its points among all particles, and with what it has to do with the air.
    pub fn new(sheet: &pullback_scene::Sheet, points: Range<usize>, sail: Option<Sail>) -> Self {
        let count = sheet.elements.len();
        let numbers = |field: &str, values: &[f64], quantity: Quantity| {
            Numbers::new([&sheet.name, "elements", field], count, values, quantity)
        };
        let modulus = |doc: &str| Quantity::new("Pa", doc).at_least(0.0);
        let group = Group { name: sheet.name.clone(), count: Some(points.len()) };
        let viscous = Quantity::new("Pa·s", "stress per rate of strain, halved").at_least(0.0);
        let grow = Quantity::new("1", "by how much the area wants to grow");
        Sheet {
            name: sheet.name.clone(),
            points,
            elements: sheet.elements.iter().map(|corners| corners.map(|i| i as usize)).collect(),
            rest: Rest::new(&group, &sheet.rest, sheet.rest_params),
            thickness: numbers("thickness", &sheet.thickness, Quantity::new("m", "thickness").positive()),
            mu: numbers("mu", &sheet.mu, modulus("shear modulus")),
            lambda: numbers(
                "lambda",
                &sheet.lambda,
                first_number("Lamé's first number, of plane stress", &sheet.lambda),
            ),
            density: numbers(
                "density",
                &sheet.density,
                Quantity::new("kg/m³", "density at rest").at_least(0.0),
            ),
            viscosity: sheet.viscosity.as_ref().map(|values| numbers("viscosity", values, viscous)),
            actuation: numbers("actuation", &sheet.actuation, grow),
            controlled: sheet.controlled,
            sail,
        }
    }

    /// Its elements, where forces are evaluated.
    fn triangles(&self, site: &mut Site<'_>, name: &str) -> Result<Triangles, Error> {
        let particles = among_all(&self.elements, self.points.start);
        Ok(Triangles {
            corners: site.program.corners(name, &particles, site.particles),
            x: site.x,
            vertices: site.vertices(),
            rest: site.prepared(&self.key("edges"))?,
            volume: site.prepared(&self.key("volume"))?,
            mu: self.mu.at(site)?,
            lambda: self.lambda.at(site)?,
            actuation: self.actuation.of(site, self.controlled)?,
            viscosity: self.viscosity.as_ref().map(|viscosity| viscosity.at(site)).transpose()?,
            air: self.sail.as_ref().map(|sail| sail.air(site)).transpose()?,
        })
    }

    fn key(&self, what: &str) -> String {
        format!("{}.{what}", self.name)
    }
}

impl Force for Sheet {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn params(&self) -> Vec<Block> {
        let always = [&self.thickness, &self.mu, &self.lambda, &self.density];
        let mut blocks: Vec<Block> = always.iter().map(|numbers| numbers.block()).collect();
        blocks.extend(self.viscosity.as_ref().map(Numbers::block));
        blocks.extend((!self.controlled).then(|| self.actuation.block()));
        blocks.extend(self.rest.block());
        blocks.extend(self.sail.iter().flat_map(Sail::params));
        blocks
    }

    fn controls(&self) -> Vec<Block> {
        self.controlled.then(|| self.actuation.block()).into_iter().collect()
    }

    fn prepare(&self, workshop: &mut Workshop<'_>) -> Result<(), Error> {
        let points = self.rest.points(workshop, "elements")?;
        let name = format!("{} at rest", self.name);
        let corners = workshop.program.corners(&name, &self.elements, self.points.len());
        let (edges, area) = triangles_at_rest(workshop.program, &name, corners, points);
        let thickness = self.thickness.each(workshop)?;
        let volume = sheet_volumes(workshop.program, &self.key("volume at rest"), area, thickness);
        workshop.keep(&self.key("edges"), edges);
        workshop.keep(&self.key("volume"), volume);
        for numbers in [Some(&self.mu), Some(&self.lambda), self.viscosity.as_ref()].into_iter().flatten() {
            numbers.prepare(workshop)?;
        }
        if !self.controlled {
            self.actuation.prepare(workshop)?;
        }
        if let Some(sail) = &self.sail {
            sail.prepare(workshop)?;
        }
        let density = self.density.each(workshop)?;
        let particles = among_all(&self.elements, self.points.start);
        let name = format!("mass of {}", self.name);
        let corners = workshop.program.corners(&name, &particles, workshop.particles);
        let mass = triangles_masses(workshop.program, &name, corners, (density, volume), None);
        workshop.add_mass(&self.name, mass)
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        // Its name alone may be that of something else in the program.
        let name = site.name(&format!("force of {}", self.name));
        let triangles = self.triangles(site, &name)?;
        Ok(membrane::force(site.program, &name, &triangles))
    }

    fn energy(&self, site: &mut Site<'_>) -> Result<Option<Buffer<f64>>, Error> {
        let name = site.name(&format!("energy of {}", self.name));
        let triangles = self.triangles(site, &name)?;
        Ok(Some(membrane::energy(site.program, &name, &triangles)))
    }

    fn conservative(&self) -> bool {
        self.viscosity.is_none() && !self.controlled && self.sail.is_none()
    }
}
