//! Numbers of elements: one for all of them, or one for each.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_soft::rest::spread;

use crate::error::Error;
use crate::force::{Site, Workshop};
use crate::names::{Block, Group, Quantity};

/// A number of each element of a soft thing, as a param or a control.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// What programs call it: `beam.mu`.
    key: String,
    /// How many elements there are.
    count: usize,
    block: Block,
}

impl Numbers {
    /// Called `beam.mu`, or `beam.elements[7].mu` where each element has its own: `[of, kind, field]` are `beam`, `elements` and `mu`.
    pub fn new([of, kind, field]: [&str; 3], count: usize, values: &[f64], quantity: Quantity) -> Self {
        let group = match values.len() {
            1 => Group::one(of),
            n => Group { name: format!("{of}.{kind}"), count: Some(n) },
        };
        let key = format!("{of}.{field}");
        let (field, values) = (field.to_owned(), values.to_vec());
        let block = Block { key: key.clone(), field, groups: vec![group], numbers: 1, quantity, values };
        Numbers { key, count, block }
    }

    /// As a param or a control.
    pub fn block(&self) -> Block {
        self.block.clone()
    }

    fn is_for_all(&self) -> bool {
        self.block.values.len() == 1
    }

    /// One for each element, where params alone are known.
    pub fn each(&self, workshop: &mut Workshop<'_>) -> Result<Buffer<f64>, Error> {
        let given = workshop.param::<f64>(&self.key)?;
        let name = format!("{} of each", self.key);
        Ok(if self.is_for_all() { spread(workshop.program, &name, given, self.count) } else { given })
    }

    /// Makes one for each element, for [`Numbers::at`].
    pub fn prepare(&self, workshop: &mut Workshop<'_>) -> Result<Buffer<f64>, Error> {
        let each = self.each(workshop)?;
        if self.is_for_all() {
            workshop.keep(&self.key, each);
        }
        Ok(each)
    }

    /// One for each element, in a step.
    pub fn at(&self, site: &Site<'_>) -> Result<Buffer<f64>, Error> {
        if self.is_for_all() { site.prepared(&self.key) } else { site.param(&self.key) }
    }

    /// The same, of a control or of a param.
    pub fn of(&self, site: &mut Site<'_>, control: bool) -> Result<Buffer<f64>, Error> {
        if !control {
            return self.at(site);
        }
        let given = site.control::<f64>(&self.key)?;
        if !self.is_for_all() {
            return Ok(given);
        }
        let name = site.name(&format!("{} of each", self.key));
        Ok(spread(site.program, &name, given, self.count))
    }
}

/// Lamé's first number λ [Pa]: at least 0, but for what starts with less, as matter may whose Poisson's ratio is negative.
pub fn first_number(doc: &str, values: &[f64]) -> Quantity {
    let quantity = Quantity::new("Pa", doc);
    if values.iter().any(|&value| value < 0.0) { quantity } else { quantity.at_least(0.0) }
}

/// Corners among the points of a group, whose first particle is `first`, as those among all particles.
pub fn among_all<const N: usize>(corners: &[[usize; N]], first: usize) -> Vec<[usize; N]> {
    corners.iter().map(|corners| corners.map(|i| first + i)).collect()
}

/// Positions at rest [m]: params, if they may change.
#[derive(Clone, Debug)]
pub struct Rest {
    key: String,
    group: Group,
    points: Vec<[f64; 3]>,
    /// Are they params?
    given: bool,
}

/// The same value.
#[kernel]
fn copied<R: Real>(x: Vec3<R>) -> Vec3<R> {
    x
}

impl Rest {
    /// Of the points of a group of particles.
    pub fn new(group: &Group, points: &[[f64; 3]], given: bool) -> Self {
        let key = format!("{}.rest", group.name);
        Rest { key, group: group.clone(), points: points.to_vec(), given }
    }

    /// As params, if they are.
    pub fn block(&self) -> Option<Block> {
        let quantity = Quantity::new("m", "where the point is when nothing is stressed");
        self.given.then(|| Block {
            key: self.key.clone(),
            field: "rest".into(),
            groups: vec![self.group.clone()],
            numbers: 3,
            quantity,
            values: self.points.concat(),
        })
    }

    /// Where params alone are known, for something.
    pub fn points(&self, workshop: &mut Workshop<'_>, what: &str) -> Result<Buffer<Vec3>, Error> {
        if self.given {
            return workshop.param(&self.key);
        }
        let points: Vec<Vec3> = self.points.iter().map(|&[x, y, z]| Vec3 { x, y, z }).collect();
        let points = workshop.program.constant::<Vec3>(&format!("{} of {what}, as built", self.key), &points);
        Ok(workshop.program.map::<Once<copied>>(&format!("{} of {what}", self.key), (points.own(),)))
    }
}
