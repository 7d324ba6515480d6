//! Where shapes touch: which pairs are near is decided by values; points, normals, gaps and relative velocities of those are
//! continuous functions of the poses of bodies and of the sizes of shapes, and are pulled back to them.

use std::sync::Arc;

use pullback_geometry::{Contact, Feature, Kind};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{
    BufferUse, Builder, Lane, Memory, Operation, World, carve, lane_of, set_lane_of,
};
use pullback_kernel::scalar::Mask;

use super::contacts::{Contacts, Pairs, Views};
use super::corners::{Seen, Sight};
use super::finder::{Finder, Finders};
use super::joints::JointRows;
use super::meetings::Near;
use super::one::{Cornered, MOST, One};
use super::touchable::{Given, MOST_SIZES, Pinned, Touchable};
use crate::articulated::kinematics::zero;

/// Finds contacts.
pub(crate) struct Touch {
    model: Arc<Touchable>,
    given: Given,
    /// Where the sizes of each shape begin, and where the last ends.
    starts: Vec<usize>,
    contacts: Contacts,
    joints: Arc<JointRows>,
    /// How far ahead velocities are followed [s].
    ahead: f64,
    memory: Memory,
    /// What finds pairs, where there are too many to be looked at one by one.
    finders: Finders,
    /// What sees corners that are params.
    sight: Sight,
}

/// As many contacts of a pair of shapes as leave room for no more, with some of them.
const CROWD: usize = 4;

/// How many numbers a feature is kept as.
const FEATURE: usize = 4;

/// The velocity of a point of b, seen from a: (v_b + ω_b × (c - x_b)) - (v_a + ω_a × (c - x_a))
#[kernel]
pub(super) fn relative_velocity<R: Real>(
    a: (Vec3<R>, Motion<R>),
    b: (Vec3<R>, Motion<R>),
    c: Vec3<R>,
) -> Vec3<R> {
    let of_a = a.1.linear + cross(a.1.angular, c - a.0);
    let of_b = b.1.linear + cross(b.1.angular, c - b.0);
    of_b - of_a
}

/// What the forward pass leaves.
struct Kept<'a, L: Lane> {
    poses: &'a mut [Pose<L>],
    sizes: &'a mut [L],
    features: &'a mut [L],
}

/// What the forward pass works with: of each shape a radius that holds it and how far its points may come, of each pair of
/// surfaces friction and restitution.
struct Working<'a, L: Lane> {
    reach: &'a mut [L],
    ahead: &'a mut [L],
    surfaces: &'a mut [L],
}

impl Touch {
    /// Adds it to a program: contacts nearer than the margin, and those that velocities close within so many seconds.
    pub fn add(
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        model: &Arc<Touchable>,
        given: Given,
        joints: &Arc<JointRows>,
        ahead: f64,
    ) -> Contacts {
        let capacity = model.capacity + joints.len();
        let contacts = Contacts::new(p, name, model.shapes.len(), capacity);
        let starts = model.starts();
        let shapes = model.shapes.len();
        let numbers = shapes * Pose::<f64>::LEN + starts[shapes] + capacity * FEATURE;
        let memory = p.memory(&name("contacts, kept"), numbers);
        let (model, joints) = (model.clone(), joints.clone());
        let (finders, sight) = (Finders::default(), Sight::default());
        p.operation(Touch { model, given, starts, contacts, joints, ahead, memory, finders, sight });
        contacts
    }

    #[inline(always)]
    fn kept<'a, L: Lane>(&self, mut memory: &'a mut [L]) -> Kept<'a, L> {
        let (memory, shapes) = (&mut memory, self.model.shapes.len());
        Kept {
            poses: carve::<Pose, L>(memory, shapes),
            sizes: carve::<f64, L>(memory, self.starts[shapes]),
            features: carve::<f64, L>(memory, self.contacts.capacity * FEATURE),
        }
    }

    #[inline(always)]
    fn sizes<'a, L: Lane>(&self, shape: usize, sizes: &'a [L]) -> &'a [L] {
        &sizes[self.starts[shape]..self.starts[shape + 1]]
    }

    #[inline(always)]
    fn working<'a, L: Lane>(
        &self,
        world: &World<'_, L>,
        (kept, seen): (&Kept<'_, L>, &Seen),
        mut scratch: &'a mut [L],
    ) -> Working<'a, L> {
        let working = Working {
            reach: carve::<f64, L>(&mut scratch, self.model.shapes.len()),
            ahead: carve::<f64, L>(&mut scratch, self.model.shapes.len()),
            surfaces: carve::<f64, L>(&mut scratch, 2 * self.given.surfaces.len()),
        };
        for (s, (reach, shape)) in working.reach.iter_mut().zip(&self.model.shapes).enumerate() {
            *reach = L::from_f64(match &shape.corners {
                Some(place) => seen.reach(&shape.kind, place),
                None => farthest(&shape.kind, self.sizes(s, kept.sizes)),
            });
            working.ahead[s] = self.covers(world, s, &kept.poses[s], *reach);
        }
        for (numbers, surface) in working.surfaces.chunks_exact_mut(2).zip(&self.given.surfaces) {
            numbers[0] = surface.mu.mean(world);
            numbers[1] = surface.restitution.larger(world);
        }
        working
    }

    /// How far a point of a shape may come, at most [m]: h (|v| + |ω| r), with sums instead of lengths.
    #[inline(always)]
    fn covers<L: Lane>(&self, world: &World<'_, L>, shape: usize, pose: &Pose<L>, reach: L) -> L {
        if self.ahead == 0.0 || !matches!(self.model.shapes[shape].on, Pinned::Body(..)) {
            return L::from_f64(0.0);
        }
        let (from, motion) = self.body(world, shape);
        let radius = taxi(pose.position - from) + reach;
        taxi(motion.angular).mul_add(radius, taxi(motion.linear)) * L::from_f64(self.ahead)
    }

    /// Are two shapes near each other in any world, as far as balls around them say?
    #[inline(always)]
    fn near<L: Lane>(&self, [a, b]: [usize; 2], poses: &[Pose<L>], (reach, ahead): (&[L], &[L])) -> bool {
        let (at, bt, margin) = (&poses[a], &poses[b], self.margin([a, b], ahead));
        let between = bt.position - at.position;
        match (&self.model.shapes[a].kind, &self.model.shapes[b].kind) {
            (Kind::Plane, _) => dot(at.rotation.z, between).lt(reach[b] + margin).any(),
            (_, Kind::Plane) => (-dot(bt.rotation.z, between)).lt(reach[a] + margin).any(),
            _ => {
                let within = reach[a] + reach[b] + margin;
                dot(between, between).lt(within * within).any()
            }
        }
    }

    /// How near two shapes are looked at [m].
    #[inline(always)]
    fn margin<L: Lane>(&self, [a, b]: [usize; 2], ahead: &[L]) -> L {
        ahead[a] + ahead[b] + L::from_f64(self.model.margin)
    }

    /// Is a contact nearer than the margin, or would it be closed by a step at this velocity?
    #[inline(always)]
    fn touches<L: Lane>(&self, contact: &Contact<L>, velocity: Vec3<L>) -> L::Mask {
        let approach = (-dot(contact.normal, velocity)).max(L::from_f64(0.0));
        contact.gap.lt(approach.mul_add(L::from_f64(self.ahead), L::from_f64(self.model.margin)))
    }

    /// Where the body of a shape is and how it moves.
    #[inline(always)]
    fn body<L: Lane>(&self, world: &World<'_, L>, shape: usize) -> (Vec3<L>, Motion<L>) {
        self.given.body(world, &self.model.shapes[shape].on)
    }
}

/// |x| + |y| + |z|, which is no less than the length.
#[inline(always)]
fn taxi<L: Lane>(v: Vec3<L>) -> L {
    v.x.abs() + v.y.abs() + v.z.abs()
}

/// The largest radius of a shape in any world [m].
#[inline(always)]
fn farthest<L: Lane>(kind: &Kind, sizes: &[L]) -> f64 {
    let mut most: f64 = 0.0;
    for lane in 0..L::WIDTH {
        let mut plain = [0.0; MOST_SIZES];
        for (to, from) in plain.iter_mut().zip(sizes) {
            *to = from.value_in(lane);
        }
        most = most.max(kind.bounding_radius(&plain[..sizes.len()]));
        if sizes.is_empty() {
            break;
        }
    }
    most
}

/// Contacts on their way out.
struct Writer<'a, 'w, L: Lane> {
    touch: &'a Touch,
    world: &'a World<'w, L>,
    surfaces: &'a [L],
    out: Views<'w, L>,
    pairs: Pairs<'w, L>,
}

impl<L: Lane> Writer<'_, '_, L> {
    /// One more place, with contacts of a pair in the worlds where they touch; false if that is nowhere.
    #[inline(always)]
    fn push(&mut self, near: &Near<'_>, contact: Contact<L>) -> bool {
        let Near { shapes: [a, b], surface, .. } = *near;
        let (of_a, of_b) = (self.touch.body(self.world, a), self.touch.body(self.world, b));
        let velocity = relative_velocity(of_a, of_b, contact.point);
        let touches = self.touch.touches(&contact, velocity);
        if !touches.any() {
            return false;
        }
        let (c, capacity) = (self.pairs.count, self.touch.contacts.capacity);
        if c == capacity {
            // More than there is room for: no number, which the step reports.
            self.out.gap.set(c - 1, L::from_f64(f64::NAN));
            return false;
        }
        self.pairs.push([a, b], touches);
        self.out.point.set(c, contact.point);
        self.out.normal.set(c, contact.normal);
        self.out.gap.set(c, contact.gap);
        self.out.velocity.set(c, velocity);
        self.out.mu.set(c, self.surfaces[2 * surface]);
        self.out.restitution.set(c, self.surfaces[2 * surface + 1]);
        true
    }
}

impl Operation for Touch {
    fn name(&self) -> String {
        "contacts".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        super::once(self.given.reads().into_iter().chain(self.joints.reads()))
    }
    fn writes(&self) -> Vec<BufferUse> {
        self.contacts.uses()
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.memory)
    }
    fn alone(&self) -> bool {
        self.model.alone
    }
    fn own_bytes(&self, lanes: usize) -> usize {
        let finder = if self.model.pairs.is_none() { Finder::new(&self.model).bytes() } else { 0 };
        finder + Seen::new(&self.model, lanes).bytes()
    }
    fn scratch(&self) -> usize {
        let shapes = self.model.shapes.len();
        let forward = 2 * shapes + 2 * self.given.surfaces.len();
        forward.max(shapes * Pose::<f64>::LEN + self.starts[shapes])
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let (memory, scratch) = (std::mem::take(&mut world.memory), std::mem::take(&mut world.scratch));
        let mut kept = self.kept(memory);
        self.given.place(world, &self.model.shapes, (kept.poses, kept.sizes));
        let seen = self.sight.look(world, &self.model, &self.given);
        let Working { reach, ahead, surfaces } = self.working(world, (&kept, &seen), scratch);
        let balls = (&*reach, &*ahead);
        let (out, mut pairs) = (self.contacts.values(world), self.contacts.no_pairs(world));
        self.joints.find(world, &out, &mut pairs);
        let mut writer = Writer { touch: self, world: &*world, surfaces: &*surfaces, out, pairs };
        match &self.model.pairs {
            Some(pairs) => {
                for &shapes in pairs {
                    self.look(shapes, (&mut kept, &seen), balls, &mut writer);
                }
            }
            None => {
                let sizes = (&self.starts[..], &*kept.sizes);
                let finder = self.finders.find(&self.model, sizes, (kept.poses, balls.1), &seen);
                for &shapes in finder.pairs() {
                    self.look(shapes, (&mut kept, &seen), balls, &mut writer);
                }
                self.finders.give_back(finder);
            }
        }
        writer.pairs.end(self.contacts.capacity);
        for c in writer.pairs.count..self.contacts.capacity {
            // What a run without room has left there says nothing of this one.
            writer.out.gap.set(c, L::from_f64(0.0));
        }
        self.sight.give_back(seen);
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (memory, scratch) = (std::mem::take(&mut world.memory), std::mem::take(&mut world.scratch));
        let (kept, pairs) = (self.kept(memory), self.contacts.pairs(world));
        let (values, bars) = (self.contacts.values(world), self.contacts.bars(world));
        let mut rest = scratch;
        let pose_bars = carve::<Pose, L>(&mut rest, self.model.shapes.len());
        let size_bars = carve::<f64, L>(&mut rest, kept.sizes.len());
        pose_bars.fill(zero());
        size_bars.fill(L::from_f64(0.0));
        for c in 0..pairs.count {
            if let Some(row) = pairs.joint(c) {
                self.joints.pull(world, row, (c, &bars));
                continue;
            }
            let Some(near) = &self.model.meetings.near(pairs.shapes(c)) else { continue };
            let bar = self.pull_contact(world, c, near, (&values, &bars));
            let feature = &kept.features[c * FEATURE..(c + 1) * FEATURE];
            if near.pair.is_simple() {
                self.pull_simple(near, feature[0].value_in(0) as usize, &kept, &bar, (pose_bars, size_bars));
            } else {
                self.pull_found(world, near, feature, (&pairs, c), &kept, &bar, (pose_bars, size_bars));
            }
        }
        self.given.pull_place(world, &self.model.shapes, (pose_bars, size_bars));
    }
}

/// Contacts of a pair in all worlds: those of each world from the first place on.
struct Places<L: Lane> {
    contacts: [Contact<L>; MOST],
    features: [[L; FEATURE]; MOST],
    count: usize,
}

impl<L: Lane> Places<L> {
    /// None: the gap is no smaller than the margin.
    #[inline(always)]
    fn new(margin: L) -> Self {
        let mut none: Contact<L> = zero();
        none.gap = margin;
        Places { contacts: [none; MOST], features: [[L::from_f64(0.0); FEATURE]; MOST], count: 0 }
    }
}

impl Touch {
    /// Contacts of two shapes, if they have any.
    #[inline(always)]
    fn look<L: Lane>(
        &self,
        shapes: [usize; 2],
        (kept, seen): (&mut Kept<'_, L>, &Seen),
        balls: (&[L], &[L]),
        writer: &mut Writer<'_, '_, L>,
    ) {
        if !self.near(shapes, kept.poses, balls) {
            return;
        }
        let Some(near) = &self.model.meetings.near(shapes) else { return };
        let [a, b] = shapes;
        if !near.pair.is_simple() {
            let margin = self.margin(shapes, balls.1);
            let mut places = Places::new(margin);
            self.find(writer.world, near, (kept, seen), margin, &mut places);
            for i in 0..places.count {
                let (c, contact) = (writer.pairs.count, places.contacts[i]);
                if writer.push(near, contact) {
                    kept.features[c * FEATURE..(c + 1) * FEATURE].copy_from_slice(&places.features[i]);
                }
            }
            return;
        }
        let (of_a, of_b) = (self.sizes(a, kept.sizes), self.sizes(b, kept.sizes));
        for slot in 0..near.pair.slots() {
            let contact = near.pair.simple_contact(slot, (&kept.poses[a], of_a), (&kept.poses[b], of_b));
            let c = writer.pairs.count;
            if writer.push(near, contact) {
                kept.features[c * FEATURE] = L::from_f64(slot as f64);
            }
        }
    }

    /// Contacts of a pair, world by world. It is not inlined: what it runs has instructions of its own.
    #[inline(never)]
    fn find<L: Lane>(
        &self,
        world: &World<'_, L>,
        near: &Near<'_>,
        (kept, seen): (&Kept<'_, L>, &Seen),
        margin: L,
        places: &mut Places<L>,
    ) {
        let cornered = self.cornered(near);
        for lane in 0..L::WIDTH {
            let margin = margin.value_in(lane);
            let mut one = self.one(near, kept, lane);
            let mut features = [Feature::default(); MOST];
            let mut detected = one.detect(near.pair, margin, (&cornered, seen, lane), &mut features);
            // Where there may be more than there is room for, those that are near already go first.
            if detected >= CROWD && margin > self.model.margin {
                let mut nearest = [Feature::default(); MOST];
                let found = one.detect(near.pair, self.model.margin, (&cornered, seen, lane), &mut nearest);
                if found > 0 {
                    (features, detected) = (nearest, found);
                }
            }
            let mut count = 0;
            for &feature in &features[..detected] {
                cornered.gather(world, (near.pair, feature, lane), &mut one);
                let contact = one.contact(near.pair, feature);
                let touches = contact.gap.value_in(0) < margin;
                if touches {
                    set_lane_of::<Contact, L>(&mut places.contacts[count], lane, &contact);
                    keep(&mut places.features[count], lane, feature);
                    count += 1;
                }
            }
            places.count = places.count.max(count);
        }
    }

    fn one<L: Lane>(&self, near: &Near<'_>, kept: &Kept<'_, L>, lane: usize) -> One<L::Element> {
        let poses = near.shapes.map(|shape| &kept.poses[shape]);
        One::new(poses, near.shapes.map(|shape| self.sizes(shape, kept.sizes)), lane)
    }

    fn cornered(&self, near: &Near<'_>) -> Cornered<'_> {
        Cornered { shapes: near.shapes.map(|shape| Some(&self.model.shapes[shape])), given: &self.given }
    }

    /// The cotangents of a contact's geometry; those of velocities and surfaces go where they belong.
    #[inline(always)]
    fn pull_contact<L: Lane>(
        &self,
        world: &World<'_, L>,
        c: usize,
        near: &Near<'_>,
        (values, bars): (&Views<'_, L>, &Views<'_, L>),
    ) -> Contact<L> {
        let [a, b] = near.shapes;
        let mut bar = Contact { point: bars.point.get(c), normal: bars.normal.get(c), gap: bars.gap.get(c) };
        let (of_a, of_b, point) = (self.body(world, a), self.body(world, b), values.point.get(c));
        let (bar_a, bar_b, point_bar) = relative_velocity::pullback(of_a, of_b, point, bars.velocity.get(c));
        bar.point = bar.point + point_bar;
        for (shape, bar) in [(a, bar_a), (b, bar_b)] {
            self.given.pull_body(world, &self.model.shapes[shape].on, bar);
        }
        let surface = &self.given.surfaces[near.surface];
        surface.mu.pull_mean(world, bars.mu.get(c));
        surface.restitution.pull_larger(world, bars.restitution.get(c));
        bar
    }

    /// From the cotangents of a contact's geometry to those of its two shapes.
    #[inline(always)]
    fn pull_simple<L: Lane>(
        &self,
        near: &Near<'_>,
        slot: usize,
        kept: &Kept<'_, L>,
        bar: &Contact<L>,
        (pose_bars, size_bars): (&mut [Pose<L>], &mut [L]),
    ) {
        let [a, b] = near.shapes;
        let (mut a_bar, mut b_bar) = (pose_bars[a], pose_bars[b]);
        let ends = [self.starts[a], self.starts[a + 1], self.starts[b], self.starts[b + 1]];
        let (of_a, of_b) = two(size_bars, ends);
        let at = (&kept.poses[a], self.sizes(a, kept.sizes));
        let bt = (&kept.poses[b], self.sizes(b, kept.sizes));
        near.pair.simple_pullback(slot, at, bt, bar, (&mut a_bar, of_a), (&mut b_bar, of_b));
        (pose_bars[a], pose_bars[b]) = (a_bar, b_bar);
    }

    /// The same, world by world.
    #[inline(never)]
    fn pull_found<L: Lane>(
        &self,
        world: &World<'_, L>,
        near: &Near<'_>,
        features: &[L],
        (pairs, c): (&Pairs<'_, L>, usize),
        kept: &Kept<'_, L>,
        bar: &Contact<L>,
        (pose_bars, size_bars): (&mut [Pose<L>], &mut [L]),
    ) {
        let cornered = self.cornered(near);
        for lane in (0..L::WIDTH).filter(|&lane| pairs.touches_in(c, lane)) {
            let (mut one, bar) = (self.one(near, kept, lane), lane_of::<Contact, L>(bar, lane));
            let feature = feature(features, lane);
            cornered.gather(world, (near.pair, feature, lane), &mut one);
            let bars = one.pullback(near.pair, feature, &bar);
            cornered.scatter(world, lane, (&one, &bars));
            for (i, &shape) in near.shapes.iter().enumerate() {
                let sizes = &mut size_bars[self.starts[shape]..self.starts[shape + 1]];
                bars.add(i, lane, &mut pose_bars[shape], sizes);
            }
        }
    }
}

/// Keeps a feature as numbers that single precision holds.
fn keep<L: Lane>(numbers: &mut [L; FEATURE], lane: usize, feature: Feature) {
    let parts = [feature.0 & 0xffff, feature.0 >> 16, feature.1 & 0xffff, feature.1 >> 16];
    for (number, part) in numbers.iter_mut().zip(parts) {
        number.set_lane(lane, L::Element::from_f64(f64::from(part)));
    }
}

fn feature<L: Lane>(numbers: &[L], lane: usize) -> Feature {
    let part = |i: usize| numbers[i].value_in(lane) as u32;
    Feature(part(0) | part(1) << 16, part(2) | part(3) << 16)
}

/// Two stretches, which may be the same shape's only if both are empty or apart.
fn two<L>(numbers: &mut [L], [a, a_end, b, b_end]: [usize; 4]) -> (&mut [L], &mut [L]) {
    if a_end <= b {
        let (front, back) = numbers.split_at_mut(b);
        (&mut front[a..a_end], &mut back[..b_end - b])
    } else {
        let (front, back) = numbers.split_at_mut(a);
        (&mut back[..a_end - a], &mut front[b..b_end])
    }
}
