//! The shapes of a model, and which of them may touch: all that is fixed when a step is built.

use pullback_geometry::Kind;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Lane, World};
use pullback_scene::Toucher;

use super::corners;
use super::meetings::Meetings;
use super::place::{At, Place};
use crate::articulated::bodies::Moving;
use crate::error::Error;
use crate::force::Inputs;

/// What a shape is fixed to.
#[derive(Clone, Debug)]
pub(crate) enum Pinned {
    World,
    /// The world, at a height.
    Ground(Place),
    /// A robot and its body.
    Body(usize, usize),
}

impl Pinned {
    /// Is it this body?
    pub fn is(&self, robot: usize, body: usize) -> bool {
        matches!(self, Pinned::Body(r, b) if (*r, *b) == (robot, body))
    }
}

/// A shape of the model.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub on: Pinned,
    /// The robot that it is written down with, if any, and its place among the shapes there.
    pub written: (Option<usize>, usize),
    /// In the frame of what it is fixed to.
    pub placement: Pose,
    pub kind: Kind,
    /// Where its sizes come from; nowhere, if it stays as it was made.
    pub sizes: Vec<Place>,
    /// Where its corners, or its heights, come from, if they are params.
    pub corners: Option<corners::Place>,
}

impl Shape {
    /// Is it a shape of this?
    pub fn belongs_to(&self, who: Toucher) -> bool {
        match (who, &self.on) {
            (Toucher::Ground, on) => matches!(on, Pinned::Ground(_)),
            (Toucher::Fixed(_), Pinned::Ground(_)) => false,
            (Toucher::Fixed(shape), Pinned::World | Pinned::Body(..)) => self.written == (None, shape),
            (Toucher::Robot(robot), _) => self.written.0 == Some(robot),
            (Toucher::Body { robot, body }, on) => on.is(robot, body),
            (Toucher::Shape { robot, shape }, _) => self.written == (Some(robot), shape),
        }
    }
}

/// The most sizes of a shape, without its corners.
pub(crate) const MOST_SIZES: usize = 3;

/// A number of a pair of surfaces: its own, or from both.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mixed<P = Place> {
    One(P),
    Two(P, P),
}

/// What two surfaces do to each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Surface<P = Place> {
    pub mu: Mixed<P>,
    pub restitution: Mixed<P>,
    /// Stiffness, damping and friction slope, for a penalty.
    pub springs: [Mixed<P>; 3],
}

/// All shapes.
#[derive(Clone, Debug)]
pub(crate) struct Touchable {
    pub shapes: Vec<Shape>,
    pub meetings: Meetings,
    /// Are there any that may touch each other? Particles may touch them otherwise.
    pub meet: bool,
    /// All pairs that may touch, by the second shape, then by the first; none where they are too many to be looked at one by
    /// one.
    pub pairs: Option<Vec<[usize; 2]>>,
    /// Each once.
    pub surfaces: Vec<Surface>,
    /// How near shapes are looked at [m].
    pub margin: f64,
    /// The most contacts of shapes at once.
    pub capacity: usize,
    /// Does every world run alone, rather than in lanes?
    pub alone: bool,
}

impl Touchable {
    /// Where the sizes of each shape begin among those of all, and where the last ends.
    pub fn starts(&self) -> Vec<usize> {
        let mut starts = vec![0];
        for shape in &self.shapes {
            starts.push(starts[starts.len() - 1] + shape.sizes.len());
        }
        starts
    }
}

/// The numbers of a program that they are made of.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// Of each robot.
    pub bodies: Vec<Moving>,
    /// The sizes of all shapes, one after the other.
    pub sizes: Vec<At>,
    /// Of each shape with corners that are params.
    pub corners: Vec<corners::At>,
    /// Of the ground, if there is one.
    pub height: Option<At>,
    pub surfaces: Vec<Surface<At>>,
}

impl Given {
    pub fn new(model: &Touchable, inputs: &Inputs, bodies: Vec<Moving>) -> Result<Given, Error> {
        let places = model.shapes.iter().flat_map(|shape| &shape.sizes);
        let sizes = places.map(|place| place.find(inputs)).collect::<Result<_, _>>()?;
        let corners = model.shapes.iter().filter_map(|shape| shape.corners.as_ref());
        let corners = corners.map(|place| place.find(inputs)).collect::<Result<_, _>>()?;
        let mut height = None;
        for shape in &model.shapes {
            if let Pinned::Ground(place) = &shape.on {
                height = Some(place.find(inputs)?);
            }
        }
        let surfaces = model.surfaces.iter().map(|surface| surface.find(inputs)).collect::<Result<_, _>>()?;
        Ok(Given { bodies, sizes, corners, height, surfaces })
    }

    /// The buffers of bodies, sizes, friction and restitution, each once.
    pub fn reads(&self) -> Vec<BufferUse> {
        let of = |surface: &Surface<At>| [surface.mu.clone(), surface.restitution.clone()];
        let surfaces: Vec<Mixed<At>> = self.surfaces.iter().flat_map(of).collect();
        let parts = surfaces.iter().flat_map(Mixed::parts);
        let params = self.sizes.iter().chain(&self.height).chain(parts).filter_map(At::reads);
        let bodies = self.bodies.iter().flat_map(|b| [BufferUse::from(b.poses), BufferUse::from(b.motions)]);
        super::once(bodies.chain(params).chain(self.corners.iter().map(corners::At::reads)))
    }
}

/// Friction between two materials: √(μ_a μ_b); and likewise stiffness and damping.
#[kernel]
fn mean<R: Real>(a: R, b: R) -> R {
    sqrt(a * b)
}

/// Restitution between two materials: the larger one.
#[kernel]
fn larger<R: Real>(a: R, b: R) -> R {
    max(a, b)
}

impl Surface {
    fn find(&self, inputs: &Inputs) -> Result<Surface<At>, Error> {
        let [ke, kd, kf] = &self.springs;
        Ok(Surface {
            mu: self.mu.find(inputs)?,
            restitution: self.restitution.find(inputs)?,
            springs: [ke.find(inputs)?, kd.find(inputs)?, kf.find(inputs)?],
        })
    }
}

impl<P> Mixed<P> {
    /// What it is made of.
    pub fn parts(&self) -> impl Iterator<Item = &P> {
        let (first, second) = match self {
            Mixed::One(a) => (a, None),
            Mixed::Two(a, b) => (a, Some(b)),
        };
        std::iter::once(first).chain(second)
    }
}

impl Mixed {
    /// In a program.
    fn find(&self, inputs: &Inputs) -> Result<Mixed<At>, Error> {
        Ok(match self {
            Mixed::One(place) => Mixed::One(place.find(inputs)?),
            Mixed::Two(a, b) => Mixed::Two(a.find(inputs)?, b.find(inputs)?),
        })
    }
}

impl Mixed<At> {
    /// The number, or the geometric mean of both.
    #[inline(always)]
    pub fn mean<L: Lane>(&self, world: &World<'_, L>) -> L {
        match self {
            Mixed::One(at) => at.get(world),
            Mixed::Two(a, b) => mean(a.get(world), b.get(world)),
        }
    }

    /// Its pullback.
    #[inline(always)]
    pub fn pull_mean<L: Lane>(&self, world: &World<'_, L>, bar: L) {
        match self {
            Mixed::One(at) => at.add(world, bar),
            Mixed::Two(a, b) => {
                let (a_bar, b_bar) = mean::pullback(a.get(world), b.get(world), bar);
                a.add(world, a_bar);
                b.add(world, b_bar);
            }
        }
    }

    /// The number, or the larger one of both.
    #[inline(always)]
    pub fn larger<L: Lane>(&self, world: &World<'_, L>) -> L {
        match self {
            Mixed::One(at) => at.get(world),
            Mixed::Two(a, b) => larger(a.get(world), b.get(world)),
        }
    }

    /// Its pullback.
    #[inline(always)]
    pub fn pull_larger<L: Lane>(&self, world: &World<'_, L>, bar: L) {
        match self {
            Mixed::One(at) => at.add(world, bar),
            Mixed::Two(a, b) => {
                let (a_bar, b_bar) = larger::pullback(a.get(world), b.get(world), bar);
                a.add(world, a_bar);
                b.add(world, b_bar);
            }
        }
    }
}
