//! Solids of tetrahedra.

use std::ops::Range;
use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_scene::{LEAST_ACTUATION, SolidMaterial};
use pullback_soft::rest::{tetrahedra_at_rest, tetrahedra_masses};
use pullback_soft::{Corotated, Material, NeoHookean, StVenantKirchhoff, Tetrahedra};

use super::numbers::{Numbers, Rest, among_all, first_number};
use crate::error::Error;
use crate::force::{Force, Site, Workshop};
use crate::names::{Block, Group, Quantity};

/// A solid of tetrahedra with constant strain, whose corners are particles.
///
/// Its params are called `beam.mu`, `beam.lambda`, `beam.density`, `beam.actuation` and `beam.viscosity`, or `beam.elements[7].mu`
/// where each tetrahedron has its own, and `beam[3].rest` where positions at rest are params.
#[derive(Clone, Debug)]
pub struct Solid {
    name: String,
    /// Its points among all particles.
    points: Range<usize>,
    /// Of the elements, among its points.
    elements: Vec<[usize; 4]>,
    material: Arc<dyn Material>,
    rest: Rest,
    mu: Numbers,
    lambda: Numbers,
    density: Numbers,
    viscosity: Option<Numbers>,
    actuation: Numbers,
    /// Is the actuation a control?
    controlled: bool,
}

impl Solid {
    /// The solid that a scene describes, with its points among all particles.
    pub fn new(solid: &pullback_scene::Solid, points: Range<usize>) -> Self {
        let count = solid.elements.len();
        let numbers = |field: &str, values: &[f64], quantity: Quantity| {
            Numbers::new([&solid.name, "elements", field], count, values, quantity)
        };
        let modulus = |doc: &str| Quantity::new("Pa", doc).at_least(0.0);
        let grow = Quantity::new("1", "by how much the volume wants to grow");
        let group = Group { name: solid.name.clone(), count: Some(points.len()) };
        let viscous = Quantity::new("Pa·s", "stress per rate of strain, halved").at_least(0.0);
        Solid {
            name: solid.name.clone(),
            points,
            elements: solid.elements.iter().map(|corners| corners.map(|i| i as usize)).collect(),
            material: match solid.material {
                SolidMaterial::NeoHookean => Arc::new(NeoHookean),
                SolidMaterial::StVenantKirchhoff => Arc::new(StVenantKirchhoff),
                SolidMaterial::Corotated => Arc::new(Corotated),
            },
            rest: Rest::new(&group, &solid.rest, solid.rest_params),
            mu: numbers("mu", &solid.mu, modulus("shear modulus")),
            lambda: numbers("lambda", &solid.lambda, first_number("Lamé's first number", &solid.lambda)),
            density: numbers(
                "density",
                &solid.density,
                Quantity::new("kg/m³", "density at rest").at_least(0.0),
            ),
            viscosity: solid.viscosity.as_ref().map(|values| numbers("viscosity", values, viscous)),
            actuation: numbers(
                "actuation",
                &solid.actuation,
                match solid.material {
                    SolidMaterial::NeoHookean => grow,
                    SolidMaterial::StVenantKirchhoff | SolidMaterial::Corotated => {
                        grow.at_least(LEAST_ACTUATION)
                    }
                },
            ),
            controlled: solid.controlled,
        }
    }

    /// The same, made of a material of one's own.
    #[must_use]
    pub fn made_of(self, material: Arc<dyn Material>) -> Self {
        Solid { material, ..self }
    }

    /// Its elements, where forces are evaluated.
    fn tetrahedra(&self, site: &mut Site<'_>, name: &str) -> Result<Tetrahedra, Error> {
        let particles = among_all(&self.elements, self.points.start);
        Ok(Tetrahedra {
            corners: site.program.corners(name, &particles, site.particles),
            x: site.x,
            vertices: site.vertices(),
            rest: site.prepared(&self.key("edges"))?,
            volume: site.prepared(&self.key("volume"))?,
            mu: self.mu.at(site)?,
            lambda: self.lambda.at(site)?,
            actuation: self.actuation.of(site, self.controlled)?,
            viscosity: self.viscosity.as_ref().map(|viscosity| viscosity.at(site)).transpose()?,
        })
    }

    fn key(&self, what: &str) -> String {
        format!("{}.{what}", self.name)
    }
}

impl Force for Solid {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn params(&self) -> Vec<Block> {
        let mut blocks = vec![self.mu.block(), self.lambda.block(), self.density.block()];
        blocks.extend(self.viscosity.as_ref().map(Numbers::block));
        blocks.extend((!self.controlled).then(|| self.actuation.block()));
        blocks.extend(self.rest.block());
        blocks
    }

    fn controls(&self) -> Vec<Block> {
        self.controlled.then(|| self.actuation.block()).into_iter().collect()
    }

    fn prepare(&self, workshop: &mut Workshop<'_>) -> Result<(), Error> {
        let points = self.rest.points(workshop, "elements")?;
        let name = format!("{} at rest", self.name);
        let corners = workshop.program.corners(&name, &self.elements, self.points.len());
        let (edges, volume) = tetrahedra_at_rest(workshop.program, &name, corners, points);
        workshop.keep(&self.key("edges"), edges);
        workshop.keep(&self.key("volume"), volume);
        self.mu.prepare(workshop)?;
        self.lambda.prepare(workshop)?;
        if let Some(viscosity) = &self.viscosity {
            viscosity.prepare(workshop)?;
        }
        if !self.controlled {
            self.actuation.prepare(workshop)?;
        }
        let density = self.density.each(workshop)?;
        let particles = among_all(&self.elements, self.points.start);
        let name = format!("mass of {}", self.name);
        let corners = workshop.program.corners(&name, &particles, workshop.particles);
        let mass = tetrahedra_masses(workshop.program, &name, corners, (density, volume), None);
        workshop.add_mass(&self.name, mass)
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        // Its name alone may be that of something else in the program.
        let name = site.name(&format!("force of {}", self.name));
        let tetrahedra = self.tetrahedra(site, &name)?;
        Ok(self.material.force(site.program, &name, &tetrahedra))
    }

    fn energy(&self, site: &mut Site<'_>) -> Result<Option<Buffer<f64>>, Error> {
        let name = site.name(&format!("energy of {}", self.name));
        let tetrahedra = self.tetrahedra(site, &name)?;
        Ok(Some(self.material.energy(site.program, &name, &tetrahedra)))
    }

    fn conservative(&self) -> bool {
        self.viscosity.is_none() && !self.controlled
    }
}
