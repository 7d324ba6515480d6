//! Contacts as numbers of a program.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, View, World};

/// What touches. In lanes, a place holds contacts of the same two shapes in all worlds; some worlds may have none there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contacts {
    /// The most that there can be.
    pub capacity: usize,
    /// The pair of shapes k, or a joint (`joints.rs`); -2 - k where only other worlds have a contact at this place, -1 after
    /// the last place.
    pub pair: Buffer<f64>,
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
    pub fn new(p: &mut Builder, name: &dyn Fn(&str) -> String, capacity: usize) -> Contacts {
        Contacts {
            capacity,
            pair: p.computed(&name("pairs of contacts"), capacity),
            point: p.computed(&name("points of contacts"), capacity),
            normal: p.computed(&name("normals of contacts"), capacity),
            gap: p.computed(&name("gaps of contacts"), capacity),
            velocity: p.computed(&name("velocities of contacts"), capacity),
            mu: p.computed(&name("friction of contacts"), capacity),
            restitution: p.computed(&name("restitution of contacts"), capacity),
        }
    }

    pub fn uses(&self) -> Vec<BufferUse> {
        vec![
            self.pair.into(),
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
        let pairs = world.values(self.pair);
        let mut count = 0;
        while count < self.capacity && pairs.get(count).value_in(0) != -1.0 {
            count += 1;
        }
        Pairs { pairs, count }
    }
}

/// What the places hold.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<'a, L: Lane> {
    pairs: View<'a, f64, L>,
    /// How many are used.
    pub count: usize,
}

impl<'a, L: Lane> Pairs<'a, L> {
    /// None yet.
    #[inline(always)]
    pub fn none(pairs: View<'a, f64, L>) -> Self {
        Pairs { pairs, count: 0 }
    }

    /// One more place with contacts of a pair in some worlds.
    #[inline(always)]
    pub fn push(&mut self, pair: usize, touches: L::Mask) {
        let (there, not) = (L::from_f64(pair as f64), L::from_f64(-2.0 - pair as f64));
        self.pairs.set(self.count, L::select(touches, there, not));
        self.count += 1;
    }

    /// Nothing more.
    #[inline(always)]
    pub fn end(&self, capacity: usize) {
        for c in self.count..capacity {
            self.pairs.set(c, L::from_f64(-1.0));
        }
    }

    /// The pair of a place.
    #[inline(always)]
    pub fn pair(&self, place: usize) -> usize {
        let number = self.pairs.get(place).value_in(0);
        (if number < 0.0 { -2.0 - number } else { number }) as usize
    }

    /// Has a world a contact there?
    pub fn touches_in(&self, place: usize, lane: usize) -> bool {
        self.pairs.get(place).value_in(lane) >= 0.0
    }

    /// The worlds that have a contact there.
    #[inline(always)]
    pub fn touches(&self, place: usize) -> L::Mask {
        L::from_f64(0.0).le(self.pairs.get(place))
    }
}
