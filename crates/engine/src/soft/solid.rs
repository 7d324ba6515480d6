//! Solids of tetrahedra.

use std::sync::Arc;

use pullback_kernel::prelude::*;

use super::elements::Elements;
use super::material::Material;
use crate::error::Error;
use crate::force::{Force, Site};
use crate::names::{Block, Group, Quantity};

/// Lamé's numbers, viscosity and actuation of a solid, for all of it or for each of its tetrahedra.
#[derive(Clone, Debug, PartialEq)]
pub struct Elasticity {
    /// Shear modulus μ [Pa].
    pub mu: Vec<f64>,
    /// Lamé's first number λ [Pa].
    pub lambda: Vec<f64>,
    /// By how much the volume wants to grow, relative to that at rest [1].
    pub actuation: Vec<f64>,
    /// Viscosity [Pa·s]; `None`: nothing is damped.
    pub viscosity: Option<Vec<f64>>,
}

impl Elasticity {
    /// One Young's modulus [Pa] and Poisson's ratio [1] for all:  μ = E / (2 (1 + ν)),  λ = E ν / ((1 + ν) (1 - 2 ν)).
    pub fn of_young(young: f64, poisson: f64) -> Self {
        let mu = young / (2.0 * (1.0 + poisson));
        let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
        Elasticity { mu: vec![mu], lambda: vec![lambda], actuation: vec![0.0], viscosity: None }
    }

    /// The same, with a viscosity [Pa·s].
    #[must_use]
    pub fn viscous(mut self, viscosity: f64) -> Self {
        self.viscosity = Some(vec![viscosity; self.mu.len()]);
        self
    }

    /// The same numbers for each of `count` tetrahedra, which are params of their own then.
    #[must_use]
    pub fn for_each(self, count: usize) -> Self {
        let each = |values: Vec<f64>| if values.len() == 1 { vec![values[0]; count] } else { values };
        Elasticity {
            mu: each(self.mu),
            lambda: each(self.lambda),
            actuation: each(self.actuation),
            viscosity: self.viscosity.map(each),
        }
    }
}

/// A solid of tetrahedra with constant strain, whose corners are particles: a force for [`Model::with_force`].
///
/// Its params are called `beam.mu`, `beam.lambda`, `beam.actuation` and `beam.viscosity`, or `beam.elements[7].mu` where each
/// tetrahedron has its own.
///
/// [`Model::with_force`]: crate::Model::with_force
#[derive(Clone, Debug)]
pub struct Solid {
    name: String,
    corners: Vec<[usize; 4]>,
    /// Inverse edges at rest, and volumes.
    rest: Vec<Mat3>,
    volumes: Vec<f64>,
    elasticity: Elasticity,
    material: Arc<dyn Material>,
}

impl Solid {
    /// A solid that is at rest where its corners are at these points [m]: `corners` are numbers of particles, and of points.
    ///
    /// # Errors
    ///
    /// When a tetrahedron is flat or inside out, a corner is not there, or the numbers are neither one for all nor one for each.
    pub fn new(
        name: &str,
        (points, corners): (&[[f64; 3]], Vec<[usize; 4]>),
        material: impl Material,
        elasticity: Elasticity,
    ) -> Result<Self, Error> {
        let (mut rest, mut volumes) = (Vec::with_capacity(corners.len()), Vec::with_capacity(corners.len()));
        for (i, element) in corners.iter().enumerate() {
            let Some(edges) = edges(points, element) else {
                let found = format!("{element:?} of tetrahedron {i}, with {} points", points.len());
                return Err(Error::Scheme {
                    what: "the corners of a solid",
                    found,
                    wanted: "numbers of its points",
                });
            };
            let volume = determinant(edges) / 6.0;
            let longest = length(edges.x).max(length(edges.y)).max(length(edges.z));
            if !(volume > FLAT * longest * longest * longest) {
                let found = format!("{volume:e} m³ of tetrahedron {i} {element:?}");
                let wanted =
                    "more than nothing: swap two corners of one that is inside out, and leave out flat ones";
                return Err(Error::Scheme { what: "the volume of a solid's element", found, wanted });
            }
            rest.push(inverse(edges));
            volumes.push(volume);
        }
        let solid =
            Solid { name: name.to_owned(), corners, rest, volumes, elasticity, material: Arc::new(material) };
        solid.check()?;
        Ok(solid)
    }

    /// The mass of each of `count` particles that is a corner, a quarter of that of its tetrahedra [kg], with a density [kg/m³].
    pub fn masses(&self, density: f64, count: usize) -> Vec<f64> {
        let mut masses = vec![0.0; count];
        for (element, volume) in self.corners.iter().zip(&self.volumes) {
            element
                .iter()
                .filter(|&&corner| corner < count)
                .for_each(|&c| masses[c] += 0.25 * density * volume);
        }
        masses
    }

    /// The volume at rest [m³].
    pub fn volume(&self) -> f64 {
        self.volumes.iter().sum()
    }

    fn check(&self) -> Result<(), Error> {
        let Elasticity { mu, lambda, actuation, viscosity } = &self.elasticity;
        let one_for_all = mu.len() == 1;
        for values in [Some(mu), Some(lambda), Some(actuation), viscosity.as_ref()].into_iter().flatten() {
            let wanted = if one_for_all { 1 } else { self.corners.len() };
            if values.len() != wanted {
                let (what, found) = ("the numbers of a solid's material", values.len());
                return Err(Error::Length { what, wanted, found });
            }
        }
        Ok(())
    }

    /// Its elements in a program.
    fn elements<'a>(&self, site: &'a mut Site<'_>, name: String) -> Result<Elements<'a>, Error> {
        let [mu, lambda, actuation] = ["mu", "lambda", "actuation"].map(|f| site.param::<f64>(&self.key(f)));
        let numbers = [mu?, lambda?, actuation?];
        let viscosity = match self.elasticity.viscosity {
            Some(_) => Some(site.param::<f64>(&self.key("viscosity"))?),
            None => None,
        };
        let (x, v, particles) = (site.x, site.v, site.particles);
        let program = &mut *site.program;
        Ok(Elements {
            corners: program.corners(&name, &self.corners, particles),
            rest: program.constant::<Mat3>(&format!("{name} at rest"), &self.rest),
            volumes: program.constant::<f64>(&format!("{name} volumes"), &self.volumes),
            one_for_all: self.one_for_all(),
            program,
            name,
            x,
            v,
            numbers,
            viscosity,
        })
    }

    fn one_for_all(&self) -> bool {
        self.elasticity.mu.len() == 1
    }

    fn key(&self, field: &str) -> String {
        format!("{}.{field}", self.name)
    }

    fn block(&self, field: &str, values: &[f64], quantity: Quantity) -> Block {
        let group = match self.one_for_all() {
            true => Group::one(&self.name),
            false => Group { name: format!("{}.elements", self.name), count: Some(values.len()) },
        };
        let (key, field) = (self.key(field), field.to_owned());
        Block { key, field, groups: vec![group], numbers: 1, quantity, values: values.to_vec() }
    }
}

/// Below this part of the cube of its longest edge, the volume of a tetrahedron is rounding.
const FLAT: f64 = 1e-12;

/// The edges from corner 0, as columns.
fn edges(points: &[[f64; 3]], element: &[usize; 4]) -> Option<Mat3> {
    let at = |i: usize| points.get(element[i]).map(|&[x, y, z]| vec3(x, y, z));
    let origin = at(0)?;
    Some(mat3(at(1)? - origin, at(2)? - origin, at(3)? - origin))
}

impl Force for Solid {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn params(&self) -> Vec<Block> {
        let Elasticity { mu, lambda, actuation, viscosity } = &self.elasticity;
        let modulus = |doc: &str| Quantity::new("Pa", doc).at_least(0.0);
        let mut blocks = vec![
            self.block("mu", mu, modulus("shear modulus")),
            self.block("lambda", lambda, modulus("Lamé's first number")),
            self.block("actuation", actuation, Quantity::new("1", "by how much the volume wants to grow")),
        ];
        let viscous = Quantity::new("Pa·s", "stress per rate of strain, halved").at_least(0.0);
        blocks.extend(viscosity.iter().map(|values| self.block("viscosity", values, viscous.clone())));
        blocks
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        Ok(self.material.force(&mut self.elements(site, site.name(&self.name))?))
    }

    fn energy(&self, site: &mut Site<'_>) -> Result<Option<Buffer<f64>>, Error> {
        let name = site.name(&format!("energy of {}", self.name));
        Ok(Some(self.material.energy(&mut self.elements(site, name)?)))
    }

    fn conservative(&self) -> bool {
        self.elasticity.viscosity.is_none()
    }
}
