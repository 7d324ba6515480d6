//! Contacts as numbers of a program.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, View, World};

/// What the gaps are called.
pub(crate) const GAPS: &str = "gaps of contacts";

/// What touches. In lanes, a place holds contacts of the same two shapes in all worlds; some worlds may have none there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contacts {
    /// The most that there can be.
    pub capacity: usize,
    /// How many shapes there are. The next number is nothing, and those after it are joints (`joints.rs`): joint j is a contact
    /// of nothing with the number `shapes + 1 + j`.
    pub shapes: usize,
    /// The first shape a; -2 - a where only other worlds have a contact at this place, -1 after the last place.
    pub first: Buffer<f64>,
    /// The second shape.
    pub second: Buffer<f64>,
    /// Of a joint: how far it is from the ends of its range.
    pub point: Buffer<Vec3>,
    /// From the first shape to the second.
    pub normal: Buffer<Vec3>,
    pub gap: Buffer<f64>,
    /// Of the second shape at the point, seen from the first, before the step [m/s].
    pub velocity: Buffer<Vec3>,
    /// Coefficient of friction, of a joint the most that friction bears in a step [N·m·s or N·s]; and restitution.
    pub mu: Buffer<f64>,
    pub restitution: Buffer<f64>,
}

/// Values, or cotangents, of contacts.
#[derive(Clone, Copy)]
pub(crate) struct Views<'a, L: Lane> {
    pub point: View<'a, Vec3, L>,
    pub normal: View<'a, Vec3, L>,
    pub gap: View<'a, f64, L>,
    pub velocity: View<'a, Vec3, L>,
    pub mu: View<'a, f64, L>,
    pub restitution: View<'a, f64, L>,
}

impl Contacts {
    /// Of so many shapes, and at most so many at once, joints included.
    pub fn new(p: &mut Builder, name: &dyn Fn(&str) -> String, shapes: usize, capacity: usize) -> Contacts {
        Contacts {
            capacity,
            shapes,
            first: p.computed(&name("first shapes of contacts"), capacity),
            second: p.computed(&name("second shapes of contacts"), capacity),
            point: p.computed(&name("points of contacts"), capacity),
            normal: p.computed(&name("normals of contacts"), capacity),
            gap: p.computed(&name(GAPS), capacity),
            velocity: p.computed(&name("velocities of contacts"), capacity),
            mu: p.computed(&name("friction of contacts"), capacity),
            restitution: p.computed(&name("restitution of contacts"), capacity),
        }
    }

    pub fn uses(&self) -> Vec<BufferUse> {
        vec![
            self.first.into(),
            self.second.into(),
            self.point.into(),
            self.normal.into(),
            self.gap.into(),
            self.velocity.into(),
            self.mu.into(),
            self.restitution.into(),
        ]
    }

    #[inline(always)]
    pub fn values<'a, L: Lane>(&self, world: &World<'a, L>) -> Views<'a, L> {
        Views {
            point: world.values(self.point),
            normal: world.values(self.normal),
            gap: world.values(self.gap),
            velocity: world.values(self.velocity),
            mu: world.values(self.mu),
            restitution: world.values(self.restitution),
        }
    }

    #[inline(always)]
    pub fn bars<'a, L: Lane>(&self, world: &World<'a, L>) -> Views<'a, L> {
        Views {
            point: world.bars(self.point),
            normal: world.bars(self.normal),
            gap: world.bars(self.gap),
            velocity: world.bars(self.velocity),
            mu: world.bars(self.mu),
            restitution: world.bars(self.restitution),
        }
    }

    /// The pairs of all places that are used.
    #[inline(always)]
    pub fn pairs<'a, L: Lane>(&self, world: &World<'a, L>) -> Pairs<'a, L> {
        let mut pairs = self.no_pairs(world);
        while pairs.count < self.capacity && pairs.first.get(pairs.count).value_in(0) != -1.0 {
            pairs.count += 1;
        }
        pairs
    }

    /// Were there more than there is room for? Then the last gap is no number.
    #[inline(always)]
    pub fn are_too_many<L: Lane>(&self, world: &World<'_, L>, pairs: &Pairs<'_, L>) -> bool {
        let full = pairs.count > 0 && pairs.count == self.capacity;
        full && world.values(self.gap).get(pairs.count - 1).value_in(0).is_nan()
    }

    /// No pairs yet.
    #[inline(always)]
    pub fn no_pairs<'a, L: Lane>(&self, world: &World<'a, L>) -> Pairs<'a, L> {
        let (first, second) = (world.values(self.first), world.values(self.second));
        Pairs { first, second, nothing: self.shapes, count: 0 }
    }
}

/// What the places hold.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<'a, L: Lane> {
    first: View<'a, f64, L>,
    second: View<'a, f64, L>,
    /// How many shapes there are, which is the number of nothing: larger ones are joints.
    nothing: usize,
    /// How many are used.
    pub count: usize,
}

impl<L: Lane> Pairs<'_, L> {
    /// One more place with contacts of two shapes in some worlds.
    #[inline(always)]
    pub fn push(&mut self, [a, b]: [usize; 2], touches: L::Mask) {
        let (there, not) = (L::from_f64(a as f64), L::from_f64(-2.0 - a as f64));
        self.first.set(self.count, L::select(touches, there, not));
        self.second.set(self.count, L::from_f64(b as f64));
        self.count += 1;
    }

    /// One more place with a joint in some worlds.
    #[inline(always)]
    pub fn push_joint(&mut self, row: usize, there: L::Mask) {
        self.push([self.nothing, self.nothing + 1 + row], there);
    }

    /// Nothing more.
    #[inline(always)]
    pub fn end(&self, capacity: usize) {
        for c in self.count..capacity {
            self.first.set(c, L::from_f64(-1.0));
            self.second.set(c, L::from_f64(-1.0));
        }
    }

    /// The joint of a place, if it is one's.
    #[inline(always)]
    pub fn joint(&self, place: usize) -> Option<usize> {
        let [_, second] = self.shapes(place);
        if second > self.nothing { Some(second - self.nothing - 1) } else { None }
    }

    /// The number of nothing, after those of all shapes: larger ones are joints.
    #[inline(always)]
    pub fn nothing(&self) -> usize {
        self.nothing
    }

    /// The shapes of a place; of a joint, nothing and its number.
    #[inline(always)]
    pub fn shapes(&self, place: usize) -> [usize; 2] {
        let number = self.first.get(place).value_in(0);
        let first = if number < 0.0 { -2.0 - number } else { number };
        [first as usize, self.second.get(place).value_in(0) as usize]
    }

    /// Has a world a contact there?
    pub fn touches_in(&self, place: usize, lane: usize) -> bool {
        self.first.get(place).value_in(lane) >= 0.0
    }

    /// The worlds that have a contact there.
    #[inline(always)]
    pub fn touches(&self, place: usize) -> L::Mask {
        L::from_f64(0.0).le(self.first.get(place))
    }
}
