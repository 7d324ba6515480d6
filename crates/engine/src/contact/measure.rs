//! What contacts come to, summed over groups of them: forces and penetration, as numbers that losses can read.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Operation, World};

use super::contacts::{Contacts, Pairs};
use super::meetings::{Meetings, Near};
use super::springs::Springs;
use super::touchable::Touchable;
use crate::articulated::kinematics::zero;

/// Where the forces of contacts come from.
pub(super) enum Source {
    /// The impulses of a step, and one over its length [1/s].
    Impulses(Buffer<Vec3>, f64),
    /// Springs and dampers of surfaces.
    Springs(Springs),
}

/// The contacts of some pairs of shapes; joints count nowhere.
pub(super) enum Group {
    /// Of what is measured with something else: of each shape, whether it is of the one and of the other.
    Between { of: Vec<bool>, with: Vec<bool> },
    /// Of some surfaces, and of some shapes with any other. Forces act on neither side.
    Reading { surfaces: Vec<bool>, shapes: Vec<bool> },
}

impl Group {
    /// By which sign the force on the second shape acts on what is measured; none if the pair does not count. A pair of two
    /// shapes of it counts with 0.
    #[inline(always)]
    fn sign(&self, near: &Near<'_>) -> Option<f64> {
        let [a, b] = near.shapes;
        match self {
            Group::Between { of, with } => {
                let (on_first, on_second) = (of[a] && with[b], of[b] && with[a]);
                if on_first || on_second { Some(f64::from(on_second) - f64::from(on_first)) } else { None }
            }
            Group::Reading { surfaces, shapes } => {
                if surfaces[near.surface] || shapes[a] || shapes[b] {
                    Some(0.0)
                } else {
                    None
                }
            }
        }
    }

    /// Are there shapes that may touch and would count?
    pub fn is_any(&self, meetings: &Meetings) -> bool {
        let mut pairs = meetings.all().filter_map(|shapes| meetings.near(shapes));
        pairs.any(|near| self.sign(&near).is_some())
    }
}

/// The sums, one of each for every group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    /// Σ f [N].
    pub force: Buffer<Vec3>,
    /// Σ n·f [N].
    pub normal: Buffer<f64>,
    /// |Σ f - n (n·f)| [N].
    pub friction: Buffer<f64>,
    /// √Σ max(0, -gap)² [m].
    pub penetration: Buffer<f64>,
    /// How many contacts bear a force.
    pub count: Buffer<f64>,
    /// How many of them slide: their friction is all that it may be.
    pub sliding: Buffer<f64>,
}

/// Friction that is short of its limit by no more than this part of it slides.
const SLIDES: f64 = 1e-9;

/// A force across a surface, and along it.
#[kernel]
fn split<R: Real>(force: Vec3<R>, normal: Vec3<R>) -> (R, Vec3<R>) {
    let along = dot(force, normal);
    (along, force - normal * along)
}

/// max(0, -gap)²
#[kernel]
fn depth_squared<R: Real>(gap: R) -> R {
    let depth = max(-gap, 0.0);
    depth * depth
}

/// |v|
#[kernel]
fn size<R: Real>(v: Vec3<R>) -> R {
    length(v)
}

/// √x
#[kernel]
fn root<R: Real>(x: R) -> R {
    sqrt(x)
}

/// Sums of what is linear in forces and depths².
pub(super) struct Measure {
    model: Arc<Touchable>,
    contacts: Contacts,
    source: Source,
    groups: Vec<Group>,
    force: Buffer<Vec3>,
    normal: Buffer<f64>,
    /// Σ f - n (n·f) [N].
    along: Buffer<Vec3>,
    /// Σ depth² [m²].
    squares: Buffer<f64>,
    count: Buffer<f64>,
    sliding: Buffer<f64>,
}

impl Measure {
    /// Adds it to a program.
    pub fn add(
        p: &mut Builder,
        model: &Arc<Touchable>,
        contacts: Contacts,
        source: Source,
        groups: Vec<Group>,
    ) -> Sums {
        let n = groups.len();
        let measure = Measure {
            model: model.clone(),
            contacts,
            source,
            groups,
            force: p.computed("force of contacts", n),
            normal: p.computed("normal force of contacts", n),
            along: p.computed("friction of contacts, summed", n),
            squares: p.computed("squared depths of contacts", n),
            count: p.computed("count of contacts", n),
            sliding: p.computed("count of contacts that slide", n),
        };
        let Measure { force, normal, along, squares, count, sliding, .. } = measure;
        p.operation(measure);
        Sums {
            force,
            normal,
            friction: p.map::<size>("friction force of contacts", (along.own(),)),
            penetration: p.map::<root>("penetration of contacts", (squares.own(),)),
            count,
            sliding,
        }
    }

    /// The shapes of contact `c`; none of a joint.
    #[inline(always)]
    fn near<L: Lane>(&self, pairs: &Pairs<'_, L>, c: usize) -> Option<Near<'_>> {
        if pairs.joint(c).is_some() { None } else { self.model.meetings.near(pairs.shapes(c)) }
    }

    /// The force on the second shape of contact `c`.
    #[inline(always)]
    fn force<L: Lane>(&self, world: &World<'_, L>, c: usize, near: &Near<'_>) -> Vec3<L> {
        match &self.source {
            Source::Impulses(impulses, per_step) => world.values(*impulses).get(c) * L::from_f64(*per_step),
            Source::Springs(springs) => springs.force(world, c, near),
        }
    }

    /// The pullback of [`Measure::force`].
    #[inline(always)]
    fn pull_force<L: Lane>(&self, world: &World<'_, L>, c: usize, near: &Near<'_>, bar: Vec3<L>) {
        match &self.source {
            Source::Impulses(impulses, per_step) => {
                world.bars(*impulses).add(c, bar * L::from_f64(*per_step));
            }
            Source::Springs(springs) => springs.pull(world, c, near, bar),
        }
    }
}

impl Operation for Measure {
    // It looks at one world.
    const LANES: bool = false;

    fn name(&self) -> String {
        "forces of contacts".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        match &self.source {
            Source::Impulses(impulses, _) => {
                super::once(self.contacts.uses().into_iter().chain([(*impulses).into()]))
            }
            Source::Springs(springs) => super::once(springs.reads()),
        }
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![
            self.force.into(),
            self.normal.into(),
            self.along.into(),
            self.squares.into(),
            self.count.into(),
            self.sliding.into(),
        ]
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let (pairs, at) = (self.contacts.pairs(world), self.contacts.values(world));
        let (nothing, mut start) = (L::from_f64(0.0), L::from_f64(0.0));
        if self.contacts.are_too_many(world, &pairs) {
            // Not all of them are there.
            start = L::from_f64(f64::NAN);
        }
        let (force, along) = (world.values(self.force), world.values(self.along));
        let (normal, squares) = (world.values(self.normal), world.values(self.squares));
        let (count, sliding) = (world.values(self.count), world.values(self.sliding));
        for g in 0..self.groups.len() {
            force.set(g, vec3(start, start, start));
            along.set(g, vec3(start, start, start));
            normal.set(g, start);
            squares.set(g, start);
            count.set(g, start);
            sliding.set(g, start);
        }
        for c in 0..pairs.count {
            let Some(near) = &self.near(&pairs, c) else { continue };
            let (touches, on_second) = (pairs.touches(c), self.force(world, c, near));
            let (across, beside) = split(on_second, at.normal.get(c));
            let square = L::select(touches, depth_squared(at.gap.get(c)), nothing);
            let (bears, one) = (touches & nothing.lt(across), L::from_f64(1.0));
            let limit = at.mu.get(c) * across * L::from_f64(1.0 - SLIDES);
            let slides = bears & (limit * limit).le(dot(beside, beside));
            for (g, group) in self.groups.iter().enumerate() {
                let Some(sign) = group.sign(near) else { continue };
                let sign = L::from_f64(sign);
                force.add(g, on_second * sign);
                along.add(g, beside * sign);
                normal.add(g, across);
                squares.add(g, square);
                count.add(g, L::select(bears, one, nothing));
                sliding.add(g, L::select(slides, one, nothing));
            }
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let nothing = L::from_f64(0.0);
        let (force, along) = (world.bars(self.force), world.bars(self.along));
        let (normal, squares) = (world.bars(self.normal), world.bars(self.squares));
        let pairs = self.contacts.pairs(world);
        let (at, bars) = (self.contacts.values(world), self.contacts.bars(world));
        for c in 0..pairs.count {
            let Some(near) = &self.near(&pairs, c) else { continue };
            let touches = pairs.touches(c);
            let (mut force_bar, mut beside_bar): (Vec3<L>, Vec3<L>) = (zero(), zero());
            let (mut across_bar, mut square_bar) = (nothing, nothing);
            for (g, group) in self.groups.iter().enumerate() {
                let Some(sign) = group.sign(near) else { continue };
                let sign = L::from_f64(sign);
                force_bar = force_bar + force.get(g) * sign;
                beside_bar = beside_bar + along.get(g) * sign;
                across_bar = across_bar + normal.get(g);
                square_bar = square_bar + squares.get(g);
            }
            let on_second = self.force(world, c, near);
            let (of_split, normal_bar) =
                split::pullback(on_second, at.normal.get(c), (across_bar, beside_bar));
            bars.normal.add(c, normal_bar);
            let (gap_bar,) = depth_squared::pullback(at.gap.get(c), square_bar);
            bars.gap.add(c, L::select(touches, gap_bar, nothing));
            self.pull_force(world, c, near, force_bar + of_split);
        }
    }
}
