//! Sheets that bend at their hinges.

use std::ops::Range;

use pullback_kernel::prelude::*;
use pullback_scene::soft::Hinge;
use pullback_soft::hinge::{self, Hinges};
use pullback_soft::plate::{self, Neighbours};
use pullback_soft::rest::hinges_at_rest;

use super::numbers::{Numbers, Rest, among_all};
use crate::error::Error;
use crate::force::{Force, Site, Workshop};
use crate::names::{Block, Group, Quantity};

/// The hinges of a sheet, at which it bends.
///
/// Its params are called `flag.bending`, `flag.bending_damping`, `flag.rest_angle` and `flag.fold`, or `flag.hinges[7].bending` where each
/// hinge has its own.
#[derive(Clone, Debug)]
pub struct Bending {
    name: String,
    points: Range<usize>,
    /// Of its triangles, among its points.
    elements: Vec<[usize; 3]>,
    /// Of its hinges, among its points.
    hinges: Vec<[usize; 4]>,
    neighbours: Neighbours,
    rest: Rest,
    stiffness: Numbers,
    damping: Numbers,
    /// None: those of the shape at rest.
    angles: Option<Numbers>,
    fold: Numbers,
    controlled: bool,
    damped: bool,
}

impl Bending {
    /// Those of the sheet that a scene describes; none if it has none.
    pub fn new(sheet: &pullback_scene::Sheet, points: Range<usize>) -> Option<Self> {
        let count = sheet.hinges.len();
        let numbers = |field: &str, values: &[f64], quantity: Quantity| {
            Numbers::new([&sheet.name, "hinges", field], count, values, quantity)
        };
        let group = Group { name: sheet.name.clone(), count: Some(points.len()) };
        let damping = Quantity::new("N·m·s", "torque per rate of bending, per length").at_least(0.0);
        let stiff = Quantity::new("N·m", "flexural rigidity").at_least(0.0);
        let angle = Quantity::new("rad", "angle at which the hinge pushes nothing");
        let elements: Vec<_> = sheet.elements.iter().map(|corners| corners.map(|i| i as usize)).collect();
        let corners = |h: &Hinge| [h.edge[0], h.edge[1], h.opposite[0], h.opposite[1]].map(|i| i as usize);
        let hinges: Vec<_> = sheet.hinges.iter().map(corners).collect();
        let triangles: Vec<_> = sheet.hinges.iter().map(|h| h.triangles.map(|i| i as usize)).collect();
        (count > 0).then(|| Bending {
            name: sheet.name.clone(),
            points,
            neighbours: Neighbours::new(&elements, &hinges, &triangles),
            elements,
            hinges,
            rest: Rest::new(&group, &sheet.rest, sheet.rest_params),
            stiffness: numbers("bending", &sheet.bending, stiff),
            damping: numbers("bending_damping", sheet.bending_damping.as_deref().unwrap_or(&[0.0]), damping),
            angles: sheet.rest_angles.as_ref().map(|values| numbers("rest_angle", values, angle)),
            fold: numbers("fold", &sheet.fold, Quantity::new("rad", "what is added to the angle at rest")),
            controlled: sheet.fold_controlled,
            damped: sheet.bending_damping.is_some(),
        })
    }

    fn hinges(&self, site: &mut Site<'_>, name: &str) -> Result<Hinges, Error> {
        let particles = among_all(&self.hinges, self.points.start);
        Ok(Hinges {
            corners: site.program.corners(name, &particles, site.particles),
            beside: site.program.corners(
                &format!("{name}, beside each other"),
                &self.neighbours.beside(),
                self.hinges.len(),
            ),
            x: site.x,
            vertices: site.vertices(),
            angle: match &self.angles {
                Some(angles) => angles.at(site)?,
                None => site.prepared(&self.key("angle"))?,
            },
            actuation: self.fold.of(site, self.controlled)?,
            couplings: [
                site.prepared(&self.key("first coupling"))?,
                site.prepared(&self.key("second coupling"))?,
            ],
            damping: site.prepared(&self.key("damping"))?,
        })
    }

    fn key(&self, what: &str) -> String {
        format!("{}.hinge {what}", self.name)
    }
}

impl Force for Bending {
    fn name(&self) -> String {
        format!("bending of {}", self.name)
    }

    fn params(&self) -> Vec<Block> {
        let mut blocks = vec![self.stiffness.block(), self.damping.block()];
        blocks.extend(self.angles.as_ref().map(Numbers::block));
        blocks.extend((!self.controlled).then(|| self.fold.block()));
        blocks
    }

    fn controls(&self) -> Vec<Block> {
        self.controlled.then(|| self.fold.block()).into_iter().collect()
    }

    fn prepare(&self, workshop: &mut Workshop<'_>) -> Result<(), Error> {
        let points = self.rest.points(workshop, "hinges")?;
        let name = format!("hinges of {} at rest", self.name);
        let corners = workshop.program.corners(&name, &self.hinges, self.points.len());
        let (angle, weight) = hinges_at_rest(workshop.program, &name, corners, points);
        let (stiffness, damping) = (self.stiffness.each(workshop)?, self.damping.each(workshop)?);
        let triangles = format!("triangles of {} that bend", self.name);
        let triangles = workshop.program.corners(&triangles, &self.elements, self.points.len());
        let [first, second] = plate::couplings(
            workshop.program,
            &format!("hinges of {}", self.name),
            &self.neighbours,
            (triangles, points),
            (weight, stiffness),
        );
        let damping = plate::damping(workshop.program, &format!("damped {name}"), damping, weight);
        workshop.keep(&self.key("first coupling"), first);
        workshop.keep(&self.key("second coupling"), second);
        workshop.keep(&self.key("damping"), damping);
        match &self.angles {
            Some(angles) => {
                angles.prepare(workshop)?;
            }
            None => workshop.keep(&self.key("angle"), angle),
        }
        if !self.controlled {
            self.fold.prepare(workshop)?;
        }
        Ok(())
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let name = site.name(&Force::name(self));
        let hinges = self.hinges(site, &name)?;
        Ok(hinge::force(site.program, &name, &hinges))
    }

    fn energy(&self, site: &mut Site<'_>) -> Result<Option<Buffer<f64>>, Error> {
        let name = site.name(&format!("energy of {}", Force::name(self)));
        let hinges = self.hinges(site, &name)?;
        Ok(Some(hinge::energy(site.program, &name, &hinges)))
    }

    fn conservative(&self) -> bool {
        !self.damped && !self.controlled
    }
}
