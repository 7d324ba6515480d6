//! Contacts of one world, for pairs that are not worth running in lanes: their code is long, or what touches is decided by
//! values.

use pullback_geometry::{Contact, Feature, Pair};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Lane, lane_of};
use pullback_kernel::scalar::lanes::{Dispatch, Driver, Isa};
use pullback_kernel::{numbers, numbers_mut};

use super::touch::Touch;
use super::touchable::MOST_SIZES;
use crate::articulated::kinematics::zero;

/// The most contacts of a pair.
pub(crate) const MOST: usize = 8;

/// Two shapes in one world.
pub(crate) struct One<S> {
    pub poses: [Pose<S>; 2],
    sizes: [[S; MOST_SIZES]; 2],
    counts: [usize; 2],
}

/// The cotangents of two shapes.
pub(crate) struct OneBar<S> {
    poses: [Pose<S>; 2],
    sizes: [[S; MOST_SIZES]; 2],
}

impl<S: Dispatch> OneBar<S> {
    /// Adds those of one shape to a lane.
    pub fn add<L: Lane<Element = S>>(&self, which: usize, lane: usize, pose: &mut Pose<L>, sizes: &mut [L]) {
        let to = numbers_mut::<Pose, L>(pose).iter_mut().zip(numbers::<Pose, S>(&self.poses[which]));
        for (to, from) in to.chain(sizes.iter_mut().zip(&self.sizes[which])) {
            to.set_lane(lane, to.lane(lane) + *from);
        }
    }
}

impl<S: Dispatch> One<S> {
    /// What lane `i` holds.
    pub fn new<L: Lane<Element = S>>(poses: [&Pose<L>; 2], sizes: [&[L]; 2], i: usize) -> Self {
        let mut one = One {
            poses: poses.map(|pose| lane_of::<Pose, L>(pose, i)),
            sizes: [[S::from_f64(0.0); MOST_SIZES]; 2],
            counts: sizes.map(<[L]>::len),
        };
        for (to, from) in one.sizes.iter_mut().zip(sizes) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from.lane(i));
        }
        one
    }

    fn placed(&self, which: usize) -> (&Pose<S>, &[S]) {
        (&self.poses[which], &self.sizes[which][..self.counts[which]])
    }

    /// Features that are near.
    pub fn detect(&self, pair: &Pair, margin: f64, features: &mut [Feature; MOST]) -> usize {
        if pair.fixed() {
            let slots = pair.slots().min(MOST);
            for (slot, feature) in features[..slots].iter_mut().enumerate() {
                *feature = Feature(slot as u32, 0);
            }
            return slots;
        }
        let (poses, mut sizes) = (self.poses.map(|pose| plain(&pose)), [[0.0; MOST_SIZES]; 2]);
        for (to, from) in sizes.iter_mut().flatten().zip(self.sizes.iter().flatten()) {
            *to = from.value_in(0);
        }
        let [a, b] = [0, 1].map(|which| (&poses[which], &sizes[which][..self.counts[which]]));
        pair.detect(a, b, margin, features)
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
        self.pair.contact(self.feature, self.one.placed(0), self.one.placed(1))
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
        let one = self.one;
        let mut bars = OneBar { poses: [zero(), zero()], sizes: [[S::from_f64(0.0); MOST_SIZES]; 2] };
        let ([a, b], [of_a, of_b]) = (&mut bars.poses, &mut bars.sizes);
        let (of_a, of_b) = (&mut of_a[..one.counts[0]], &mut of_b[..one.counts[1]]);
        self.pair.pullback(self.feature, one.placed(0), one.placed(1), self.bar, (a, of_a), (b, of_b));
        bars
    }
}
