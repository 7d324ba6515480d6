//! Sheets that bend at their hinges.

use std::ops::Range;

use pullback_kernel::prelude::*;
use pullback_scene::soft::Hinge;
use pullback_soft::plate::{self, Neighbours};
use pullback_soft::rest::hinges_at_rest;
use pullback_soft::{Plates, bending, hinge};

use super::numbers::{Numbers, Rest, among_all};
use crate::dynamics::plus;
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
    damping: Option<Numbers>,
    /// None: those of the shape at rest.
    angles: Option<Numbers>,
    fold: Numbers,
    controlled: bool,
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
            damping: sheet.bending_damping.as_ref().map(|values| numbers("bending_damping", values, damping)),
            angles: sheet.rest_angles.as_ref().map(|values| numbers("rest_angle", values, angle)),
            fold: numbers("fold", &sheet.fold, Quantity::new("rad", "what is added to the angle at rest")),
            controlled: sheet.fold_controlled,
        })
    }

    /// Its triangles, where forces are evaluated.
    fn plates(&self, site: &mut Site<'_>, name: &str) -> Result<Plates, Error> {
        let particles = among_all(self.neighbours.corners(), self.points.start);
        let corners = site.program.corners(name, &particles, site.particles);
        let rest = if self.controlled {
            let angle = match &self.angles {
                Some(angles) => angles.at(site)?,
                None => site.prepared(&self.key("angle"))?,
            };
            let fold = self.fold.of(site, true)?;
            let edges = self.neighbours.edges(site.program, &format!("hinges of {name}"));
            plate::rest_angles(site.program, &format!("rest of {name}"), edges, (angle, fold))
        } else {
            site.prepared(&self.key("rest"))?
        };
        let couplings =
            [site.prepared(&self.key("couplings to themselves"))?, site.prepared(&self.key("couplings"))?];
        Ok(Plates { corners, x: site.x, rest, couplings })
    }

    /// Adds what damps the hinges to a force.
    fn damped(&self, site: &mut Site<'_>, name: &str, force: Buffer<Vec3>) -> Result<Buffer<Vec3>, Error> {
        if self.damping.is_none() {
            return Ok(force);
        }
        let name = format!("damped {name}");
        let particles = among_all(&self.hinges, self.points.start);
        let corners = site.program.corners(&name, &particles, site.particles);
        let (vertices, damping) = (site.vertices(), site.prepared(&self.key("damping"))?);
        let damping = hinge::damping(site.program, &name, (corners, vertices), damping);
        Ok(site.program.map::<plus>(&format!("{name}, both"), (force.own(), damping.own())))
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
        let mut blocks = vec![self.stiffness.block()];
        blocks.extend(self.damping.as_ref().map(Numbers::block));
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
        if let Some(damping) = &self.damping {
            let damping = damping.each(workshop)?;
            let damping =
                hinge::weighted_damping(workshop.program, &format!("damped {name}"), damping, weight);
            workshop.keep(&self.key("damping"), damping);
        }
        let stiffness = self.stiffness.each(workshop)?;
        let triangles = format!("triangles of {} that bend", self.name);
        let triangles = workshop.program.corners(&triangles, &self.elements, self.points.len());
        let edges = self.neighbours.edges(workshop.program, &format!("hinges of triangles of {}", self.name));
        let [own, mixed] = plate::couplings(
            workshop.program,
            &format!("hinges of {}", self.name),
            (&self.neighbours, edges),
            (triangles, points),
            (weight, stiffness),
        );
        workshop.keep(&self.key("couplings to themselves"), own);
        workshop.keep(&self.key("couplings"), mixed);
        if self.controlled {
            match &self.angles {
                Some(angles) => drop(angles.prepare(workshop)?),
                None => workshop.keep(&self.key("angle"), angle),
            }
        } else {
            let angle = self.angles.as_ref().map_or(Ok(angle), |angles| angles.each(workshop))?;
            let fold = self.fold.each(workshop)?;
            let name = format!("rest of triangles of {}", self.name);
            let rest = plate::rest_angles(workshop.program, &name, edges, (angle, fold));
            workshop.keep(&self.key("rest"), rest);
        }
        Ok(())
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let name = site.name(&Force::name(self));
        let plates = self.plates(site, &name)?;
        let force = bending::force(site.program, &name, &plates);
        self.damped(site, &name, force)
    }

    fn energy(&self, site: &mut Site<'_>) -> Result<Option<Buffer<f64>>, Error> {
        let name = site.name(&format!("energy of {}", Force::name(self)));
        let plates = self.plates(site, &name)?;
        Ok(Some(bending::energy(site.program, &name, &plates)))
    }

    fn conservative(&self) -> bool {
        self.damping.is_none() && !self.controlled
    }
}
