//! Corners of meshes and heights of ground that are params.
//!
//! They may be many. Detection sees them all in double precision, copied once a step ([`Seen`]); a contact reads those of its
//! feature alone, where they are among the params, and its pullback adds to these.

use pullback_geometry::{Bounds, Corners, Kind};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Lane, Spares, World};

use super::one::Numbers;
use super::touchable::{Given, Touchable};
use crate::error::Error;
use crate::force::Inputs;
use crate::names::Layout;
use crate::step::held;

/// Where the corners of a shape are among the params.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Which shape it is of those whose corners are params.
    pub index: usize,
    /// The key of their block.
    pub key: String,
    /// Which value of it is the first, and how many there are.
    pub first: usize,
    pub count: usize,
    /// Are they heights, one number each, rather than points?
    pub heights: bool,
}

/// The same in a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    Points(Buffer<Vec3>, usize),
    Heights(Buffer<f64>, usize),
}

impl Place {
    pub fn find(&self, inputs: &Inputs) -> Result<At, Error> {
        Ok(match self.heights {
            true => At::Heights(inputs.param(&self.key)?, self.first),
            false => At::Points(inputs.param(&self.key)?, self.first),
        })
    }

    /// Is this one of the params?
    pub fn has(&self, params: &Layout, number: usize) -> bool {
        let block = params.ranges().find(|(block, _)| block.key == self.key);
        let start = block.map(|(_, range)| range.start + self.numbers_of(self.first));
        start.is_some_and(|start| (start..start + self.numbers_of(self.count)).contains(&number))
    }

    /// How many numbers so many corners have.
    fn numbers_of(&self, corners: usize) -> usize {
        if self.heights { corners } else { 3 * corners }
    }
}

impl At {
    pub fn reads(&self) -> BufferUse {
        match *self {
            At::Points(buffer, _) => buffer.into(),
            At::Heights(buffer, _) => buffer.into(),
        }
    }

    /// The numbers of some corners in a lane.
    pub fn gather<L: Lane>(
        &self,
        world: &World<'_, L>,
        corners: &Corners,
        lane: usize,
    ) -> Numbers<L::Element> {
        let mut out = Numbers::none();
        match *self {
            At::Points(buffer, first) => {
                let values = world.values(buffer);
                for &corner in corners.list() {
                    let v = values.get(first + corner as usize);
                    [v.x, v.y, v.z].iter().for_each(|number| out.push(number.lane(lane)));
                }
            }
            At::Heights(buffer, first) => {
                let values = world.values(buffer);
                corners.list().iter().for_each(|&i| out.push(values.get(first + i as usize).lane(lane)));
            }
        }
        out
    }

    /// Its pullback.
    pub fn scatter<L: Lane>(
        &self,
        world: &World<'_, L>,
        corners: &Corners,
        lane: usize,
        bars: &Numbers<L::Element>,
    ) {
        let add = |to: &mut L, bar: L::Element| to.set_lane(lane, to.lane(lane) + bar);
        match *self {
            At::Points(buffer, first) => {
                let all = world.bars(buffer);
                for (&corner, bar) in corners.list().iter().zip(bars.list().chunks_exact(3)) {
                    let i = first + corner as usize;
                    let mut v = all.get(i);
                    add(&mut v.x, bar[0]);
                    add(&mut v.y, bar[1]);
                    add(&mut v.z, bar[2]);
                    all.set(i, v);
                }
            }
            At::Heights(buffer, first) => {
                let all = world.bars(buffer);
                for (&corner, &bar) in corners.list().iter().zip(bars.list()) {
                    let i = first + corner as usize;
                    let mut z = all.get(i);
                    add(&mut z, bar);
                    all.set(i, z);
                }
            }
        }
    }

    /// All numbers of `count` corners in a lane, in double precision.
    fn all<L: Lane>(&self, world: &World<'_, L>, count: usize, lane: usize, out: &mut Vec<f64>) {
        match *self {
            At::Points(buffer, first) => {
                let values = world.values(buffer);
                for i in first..first + count {
                    let v = values.get(i);
                    out.extend([v.x, v.y, v.z].iter().map(|number| number.value_in(lane)));
                }
            }
            At::Heights(buffer, first) => {
                let values = world.values(buffer);
                out.extend((first..first + count).map(|i| values.get(i).value_in(lane)));
            }
        }
    }
}

/// What detection sees of corners that are params, in every lane of worlds.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    numbers: Vec<f64>,
    /// Of each shape with such corners, lane by lane.
    shapes: Vec<Look>,
    lanes: usize,
}

/// A shape in a lane.
#[derive(Clone, Debug)]
struct Look {
    /// Its numbers.
    from: usize,
    past: usize,
    /// How far its corners have moved, at most, along each axis.
    moved: [f64; 3],
}

impl Seen {
    /// With room for the corners of a model.
    pub fn new(model: &Touchable, lanes: usize) -> Seen {
        let places = model.shapes.iter().filter_map(|shape| shape.corners.as_ref());
        let numbers: usize = places.clone().map(|place| place.numbers_of(place.count)).sum();
        Seen {
            numbers: Vec::with_capacity(lanes * numbers),
            shapes: Vec::with_capacity(lanes * places.count()),
            lanes,
        }
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        size_of::<Seen>() + held(&self.numbers) + held(&self.shapes)
    }

    /// The corners of the shape with this place, in a lane; nothing where they are no params.
    #[inline]
    pub fn sizes(&self, place: Option<&Place>, lane: usize) -> Option<&[f64]> {
        let look = &self.shapes[place?.index * self.lanes + lane];
        Some(&self.numbers[look.from..look.past])
    }

    /// How far corners have moved since the shape was made.
    #[inline]
    pub fn moved(&self, place: Option<&Place>, lane: usize) -> [f64; 3] {
        place.map_or([0.0; 3], |place| self.shapes[place.index * self.lanes + lane].moved)
    }

    /// A radius around a shape that holds it in all lanes [m].
    pub fn reach(&self, kind: &Kind, place: &Place) -> f64 {
        let of = |lane: usize| kind.bounding_radius(self.sizes(Some(place), lane).unwrap_or_default());
        (0..self.lanes).map(of).fold(0.0, f64::max)
    }

    /// A box in a shape's frame that holds it in all lanes.
    pub fn bounds(&self, kind: &Kind, place: &Place) -> Bounds {
        let mut all = Bounds::NONE;
        for lane in 0..self.lanes {
            let sizes = self.sizes(Some(place), lane).unwrap_or_default();
            let bounds = kind.bounds(sizes, &identity_pose(), 0.0);
            for k in 0..3 {
                all.low[k] = all.low[k].min(bounds.low[k]);
                all.high[k] = all.high[k].max(bounds.high[k]);
            }
        }
        all
    }
}

/// What is seen in all that run at once.
#[derive(Debug, Default)]
pub(crate) struct Sight(Spares<Seen>);

impl Sight {
    /// Looks at all corners that are params. Where there are none, it does nothing.
    #[inline(never)]
    pub fn look<L: Lane>(&self, world: &World<'_, L>, model: &Touchable, given: &Given) -> Seen {
        if given.corners.is_empty() {
            return Seen::default();
        }
        let mut seen = self.0.take(|| Seen::new(model, L::WIDTH));
        seen.numbers.clear();
        seen.shapes.clear();
        seen.lanes = L::WIDTH;
        for shape in &model.shapes {
            let Some(place) = &shape.corners else { continue };
            for lane in 0..L::WIDTH {
                let from = seen.numbers.len();
                given.corners[place.index].all(world, place.count, lane, &mut seen.numbers);
                let moved = shape.kind.moved(&seen.numbers[from..]);
                seen.shapes.push(Look { from, past: seen.numbers.len(), moved });
            }
        }
        seen
    }

    /// For the next step.
    pub fn give_back(&self, seen: Seen) {
        if seen.lanes > 0 {
            self.0.give_back(seen);
        }
    }
}
