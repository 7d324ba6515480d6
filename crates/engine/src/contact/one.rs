//! Contacts of one world, for pairs that are not worth running in lanes: their code is long, or what touches is decided by
//! values.

use pullback_geometry::{Contact, Corners, Feature, Pair};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Lane, World, lane_of};
use pullback_kernel::scalar::lanes::{Dispatch, Driver, Isa};
use pullback_kernel::{numbers, numbers_mut};

use super::corners::{self, Seen};
use super::touch::Touch;
use super::touchable::{Given, Shape};
use crate::articulated::kinematics::zero;

/// The most contacts of a pair.
pub(crate) const MOST: usize = 8;

/// The most numbers of a shape that a contact reads: its sizes, or those of the corners of a feature.
const MOST_NUMBERS: usize = 3 * Corners::MOST;

/// A few numbers of a shape, or their cotangents.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<S> {
    numbers: [S; MOST_NUMBERS],
    len: usize,
}

impl<S: Dispatch> Numbers<S> {
    pub fn none() -> Self {
        Numbers { numbers: [S::from_f64(0.0); MOST_NUMBERS], len: 0 }
    }

    fn of<L: Lane<Element = S>>(all: &[L], lane: usize) -> Self {
        let mut out = Numbers::none();
        all.iter().for_each(|number| out.push(number.lane(lane)));
        out
    }

    pub fn push(&mut self, number: S) {
        self.numbers[self.len] = number;
        self.len += 1;
    }

    pub fn list(&self) -> &[S] {
        &self.numbers[..self.len]
    }
}

/// Two shapes in one world.
pub(crate) struct One<S> {
    pub poses: [Pose<S>; 2],
    /// Sizes, or numbers of these corners.
    sizes: [Numbers<S>; 2],
    corners: [Corners; 2],
}

/// The cotangents of two shapes.
pub(crate) struct OneBar<S> {
    poses: [Pose<S>; 2],
    sizes: [Numbers<S>; 2],
}

impl<S: Dispatch> OneBar<S> {
    /// Adds those of one shape, and of its sizes, to a lane.
    pub fn add<L: Lane<Element = S>>(&self, which: usize, lane: usize, pose: &mut Pose<L>, sizes: &mut [L]) {
        let to = numbers_mut::<Pose, L>(pose).iter_mut().zip(numbers::<Pose, S>(&self.poses[which]));
        for (to, from) in to.chain(sizes.iter_mut().zip(self.sizes[which].list())) {
            to.set_lane(lane, to.lane(lane) + *from);
        }
    }
}

/// The shapes of a pair, whose corners may be params; none for what is no shape of the model.
pub(crate) struct Cornered<'a> {
    pub shapes: [Option<&'a Shape>; 2],
    pub given: &'a Given,
}

impl Cornered<'_> {
    fn place(&self, which: usize) -> Option<&corners::Place> {
        self.shapes[which].and_then(|shape| shape.corners.as_ref())
    }

    fn at(&self, which: usize) -> Option<&corners::At> {
        self.place(which).map(|place| &self.given.corners[place.index])
    }

    /// With the numbers of the corners of a feature, where they are params.
    pub fn gather<L: Lane>(
        &self,
        world: &World<'_, L>,
        (pair, feature, lane): (&Pair, Feature, usize),
        one: &mut One<L::Element>,
    ) {
        for which in 0..2 {
            let Some(at) = self.at(which) else { continue };
            let corners = pair.corners(feature)[which];
            one.sizes[which] = at.gather(world, &corners, lane);
            one.corners[which] = corners;
        }
    }

    /// Its pullback: adds to the cotangents of these corners.
    pub fn scatter<L: Lane>(
        &self,
        world: &World<'_, L>,
        lane: usize,
        (one, bars): (&One<L::Element>, &OneBar<L::Element>),
    ) {
        for which in 0..2 {
            let Some(at) = self.at(which) else { continue };
            at.scatter(world, &one.corners[which], lane, &bars.sizes[which]);
        }
    }
}

impl<S: Dispatch> One<S> {
    /// What lane `i` holds.
    pub fn new<L: Lane<Element = S>>(poses: [&Pose<L>; 2], sizes: [&[L]; 2], i: usize) -> Self {
        One {
            poses: poses.map(|pose| lane_of::<Pose, L>(pose, i)),
            sizes: sizes.map(|sizes| Numbers::of(sizes, i)),
            corners: [Corners::ALL; 2],
        }
    }

    fn placed(&self, which: usize) -> (&Pose<S>, &[S]) {
        (&self.poses[which], self.sizes[which].list())
    }

    /// Features that are near.
    pub fn detect(
        &self,
        pair: &Pair,
        margin: f64,
        (cornered, seen, lane): (&Cornered<'_>, &Seen, usize),
        features: &mut [Feature; MOST],
    ) -> usize {
        if pair.fixed() {
            let slots = pair.slots().min(MOST);
            for (slot, feature) in features[..slots].iter_mut().enumerate() {
                *feature = Feature(slot as u32, 0);
            }
            return slots;
        }
        let (poses, mut sizes) = (self.poses.map(|pose| plain(&pose)), [[0.0; MOST_NUMBERS]; 2]);
        for (to, from) in sizes.iter_mut().zip(&self.sizes) {
            to.iter_mut().zip(from.list()).for_each(|(to, from)| *to = from.value_in(0));
        }
        let mut moved = [0.0_f64; 3];
        let [a, b] = [0, 1].map(|which| {
            let own = &sizes[which][..self.sizes[which].len];
            (&poses[which], seen.sizes(cornered.place(which), lane).unwrap_or(own))
        });
        for which in 0..2 {
            let of = seen.moved(cornered.place(which), lane);
            (0..3).for_each(|k| moved[k] = moved[k].max(of[k]));
        }
        pair.detect_moved(a, b, margin, moved, features)
    }

    pub fn contact(&self, pair: &Pair, feature: Feature) -> Contact<S> {
        S::dispatch_one(Forward { pair, feature, one: self }, Isa::detect())
    }

    pub fn pullback(&self, pair: &Pair, feature: Feature, bar: &Contact<S>) -> OneBar<S> {
        S::dispatch_one(Pullback { pair, feature, one: self, bar }, Isa::detect())
    }
}

/// The pose in double precision.
fn plain<S: Dispatch>(pose: &Pose<S>) -> Pose {
    let mut out: Pose = zero();
    for (to, from) in numbers_mut::<Pose, f64>(&mut out).iter_mut().zip(numbers::<Pose, S>(pose)) {
        *to = from.value_in(0);
    }
    out
}

struct Forward<'a, S> {
    pair: &'a Pair,
    feature: Feature,
    one: &'a One<S>,
}

impl<S: Dispatch> Driver<S> for Forward<'_, S> {
    type Output = Contact<S>;
    type Home = Touch;

    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) -> Contact<S> {
        let one = self.one;
        self.pair.contact_of(self.feature, one.placed(0), one.placed(1), &one.corners)
    }
}

struct Pullback<'a, S> {
    pair: &'a Pair,
    feature: Feature,
    one: &'a One<S>,
    bar: &'a Contact<S>,
}

impl<S: Dispatch> Driver<S> for Pullback<'_, S> {
    type Output = OneBar<S>;
    type Home = One<f64>;

    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) -> OneBar<S> {
        let (one, mut bars) = (self.one, OneBar { poses: [zero(), zero()], sizes: [Numbers::none(); 2] });
        let ([a, b], [of_a, of_b]) = (&mut bars.poses, &mut bars.sizes);
        (of_a.len, of_b.len) = (one.sizes[0].len, one.sizes[1].len);
        let (of_a, of_b) = (&mut of_a.numbers[..of_a.len], &mut of_b.numbers[..of_b.len]);
        let placed = [one.placed(0), one.placed(1)];
        self.pair.pullback_of(self.feature, placed, &one.corners, self.bar, (a, of_a), (b, of_b));
        bars
    }
}
