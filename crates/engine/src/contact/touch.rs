//! Where shapes touch: which pairs are near is decided by values; points, normals, gaps and relative velocities of those are
//! continuous functions of the poses of bodies and of the sizes of shapes, and are pulled back to them.

use std::sync::Arc;

use pullback_geometry::{Contact, Feature, Kind, Pair};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Memory, Operation, World, carve};
use pullback_kernel::{numbers, numbers_mut};

use super::place::{At, Place};
use crate::articulated::bodies::Moving;
use crate::articulated::kinematics::{no_motion, zero};
use crate::error::Error;
use crate::force::Inputs;

/// What touches, as numbers of a program: contact `c` of a world is there if its pair is not below 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contacts {
    /// The most that there can be.
    pub capacity: usize,
    /// The pair of shapes; -1 after the last contact.
    pub pair: Buffer<f64>,
    pub point: Buffer<Vec3>,
    /// From the first shape to the second.
    pub normal: Buffer<Vec3>,
    pub gap: Buffer<f64>,
    /// Of the second shape at the point, seen from the first, before the step [m/s].
    pub velocity: Buffer<Vec3>,
    /// Coefficient of friction, and restitution.
    pub mu: Buffer<f64>,
    pub restitution: Buffer<f64>,
}

impl Contacts {
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

    /// How many there are.
    #[inline(always)]
    pub fn count<L: Lane>(&self, world: &World<'_, L>) -> usize {
        let pairs = world.values(self.pair);
        let mut count = 0;
        while count < self.capacity && pairs.get(count).value_in(0) >= 0.0 {
            count += 1;
        }
        count
    }

    /// The pair of a contact.
    #[inline(always)]
    pub fn pair<L: Lane>(&self, world: &World<'_, L>, contact: usize) -> usize {
        world.values(self.pair).get(contact).value_in(0) as usize
    }
}

/// What a shape is fixed to.
#[derive(Clone, Debug)]
pub(crate) enum Pinned {
    World,
    /// The world, at a height.
    Ground(Place),
    /// A robot and its body.
    Body(usize, usize),
}

/// A shape of the model.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub on: Pinned,
    /// In the frame of what it is fixed to.
    pub placement: Pose,
    pub kind: Kind,
    /// As it was built.
    pub sizes: Vec<f64>,
    /// Where its sizes come from.
    pub places: Vec<Place>,
}

/// A number of a pair: its own, or from both shapes.
#[derive(Clone, Debug)]
pub(crate) enum Mixed<P = Place> {
    One(P),
    Two(P, P),
}

/// Two shapes that may touch.
#[derive(Clone, Debug)]
pub(crate) struct Near {
    pub shapes: [usize; 2],
    pub pair: Pair,
    pub mu: Mixed,
    pub restitution: Mixed,
    /// Stiffness, damping and friction slope, for a penalty.
    pub springs: [Mixed; 3],
    /// The sum of the inverse masses of what they are fixed to [1/kg].
    pub softness: f64,
}

/// What it works with: all of the model, fixed.
#[derive(Debug)]
pub(crate) struct Touchable {
    pub shapes: Vec<Shape>,
    pub pairs: Vec<Near>,
    /// How near shapes are looked at [m].
    pub margin: f64,
    pub capacity: usize,
}

/// What it reads.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// Of each robot.
    pub bodies: Vec<Moving>,
    /// The sizes of all shapes, one after the other.
    pub sizes: Vec<At>,
    /// Of the ground, if there is one.
    pub height: Option<At>,
    /// Friction and restitution of each pair.
    pub surfaces: Vec<[Mixed<At>; 2]>,
}

impl Given {
    /// The numbers of a program that a model's shapes are made of.
    pub fn new(model: &Touchable, inputs: &Inputs, bodies: Vec<Moving>) -> Result<Given, Error> {
        let places = model.shapes.iter().flat_map(|shape| &shape.places);
        let sizes = places.map(|place| place.find(inputs)).collect::<Result<_, _>>()?;
        let mut height = None;
        for shape in &model.shapes {
            if let Pinned::Ground(place) = &shape.on {
                height = Some(place.find(inputs)?);
            }
        }
        let of = |near: &Near| Ok([near.mu.find(inputs)?, near.restitution.find(inputs)?]);
        let surfaces = model.pairs.iter().map(of).collect::<Result<_, Error>>()?;
        Ok(Given { bodies, sizes, height, surfaces })
    }

    /// All buffers of params, each once.
    fn reads(&self) -> Vec<BufferUse> {
        let surfaces = self.surfaces.iter().flatten().flat_map(Mixed::parts);
        let params = self.sizes.iter().chain(&self.height).chain(surfaces).filter_map(At::reads);
        let bodies = self.bodies.iter().flat_map(|b| [BufferUse::from(b.poses), BufferUse::from(b.motions)]);
        super::once(bodies.chain(params))
    }
}

/// Finds contacts.
pub(crate) struct Touch {
    model: Arc<Touchable>,
    given: Given,
    /// Where the sizes of each shape begin, and where the last ends.
    starts: Vec<usize>,
    contacts: Contacts,
    memory: Memory,
}

/// How many numbers a feature is kept as.
const FEATURE: usize = 4;

/// The velocity of a point of b, seen from a: (v_b + ω_b × (c - x_b)) - (v_a + ω_a × (c - x_a))
#[kernel]
fn relative_velocity<R: Real>(a: (Vec3<R>, Motion<R>), b: (Vec3<R>, Motion<R>), c: Vec3<R>) -> Vec3<R> {
    let of_a = a.1.linear + cross(a.1.angular, c - a.0);
    let of_b = b.1.linear + cross(b.1.angular, c - b.0);
    of_b - of_a
}

/// Friction between two materials: √(μ_a μ_b); and likewise stiffness and damping.
#[kernel]
pub(crate) fn mean<R: Real>(a: R, b: R) -> R {
    sqrt(a * b)
}

/// Restitution between two materials: the larger one.
#[kernel]
fn mixed_restitution<R: Real>(a: R, b: R) -> R {
    max(a, b)
}

/// What the forward pass leaves.
struct Kept<'a, L: Lane> {
    poses: &'a mut [Pose<L>],
    sizes: &'a mut [L],
    features: &'a mut [L],
}

impl<'a, L: Lane> Kept<'a, L> {
    #[inline(always)]
    fn carve(shapes: usize, sizes: usize, capacity: usize, mut memory: &'a mut [L]) -> Self {
        let memory = &mut memory;
        Kept {
            poses: carve::<Pose, L>(memory, shapes),
            sizes: carve::<f64, L>(memory, sizes),
            features: carve::<f64, L>(memory, capacity * FEATURE),
        }
    }
}

impl Touch {
    /// Adds it to a program.
    pub fn add(
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        model: &Arc<Touchable>,
        given: Given,
    ) -> Contacts {
        let capacity = model.capacity;
        let contacts = Contacts {
            capacity,
            pair: p.computed(&name("pairs of contacts"), capacity),
            point: p.computed(&name("points of contacts"), capacity),
            normal: p.computed(&name("normals of contacts"), capacity),
            gap: p.computed(&name("gaps of contacts"), capacity),
            velocity: p.computed(&name("velocities of contacts"), capacity),
            mu: p.computed(&name("friction of contacts"), capacity),
            restitution: p.computed(&name("restitution of contacts"), capacity),
        };
        let mut starts = vec![0];
        for shape in &model.shapes {
            starts.push(starts[starts.len() - 1] + shape.kind.sizes());
        }
        let numbers = model.shapes.len() * Pose::<f64>::LEN + starts[model.shapes.len()] + capacity * FEATURE;
        let memory = p.memory(&name("contacts, kept"), numbers);
        p.operation(Touch { model: model.clone(), given, starts, contacts, memory });
        contacts
    }

    #[inline(always)]
    fn kept<'a, L: Lane>(&self, memory: &'a mut [L]) -> Kept<'a, L> {
        let shapes = self.model.shapes.len();
        Kept::carve(shapes, self.starts[shapes], self.contacts.capacity, memory)
    }

    /// Where a body is and how it moves.
    #[inline(always)]
    fn body<L: Lane>(&self, world: &World<'_, L>, shape: usize) -> (Vec3<L>, Motion<L>) {
        match self.model.shapes[shape].on {
            Pinned::World | Pinned::Ground(_) => (no_motion().linear, no_motion()),
            Pinned::Body(r, b) => {
                let moving = &self.given.bodies[r];
                (world.values(moving.poses).get(b).position, world.values(moving.motions).get(b))
            }
        }
    }

    /// Writes one contact.
    #[inline(always)]
    fn write<L: Lane>(&self, world: &World<'_, L>, c: usize, pair: usize, contact: Contact<L>) {
        let out = &self.contacts;
        let [a, b] = self.model.pairs[pair].shapes;
        let [mu, restitution] = &self.given.surfaces[pair];
        world.values(out.pair).set(c, L::from_f64(pair as f64));
        world.values(out.point).set(c, contact.point);
        world.values(out.normal).set(c, contact.normal);
        world.values(out.gap).set(c, contact.gap);
        let velocity = relative_velocity(self.body(world, a), self.body(world, b), contact.point);
        world.values(out.velocity).set(c, velocity);
        world.values(out.mu).set(c, mu.mean(world));
        let restitution = match restitution {
            Mixed::One(restitution) => restitution.get(world),
            Mixed::Two(a, b) => mixed_restitution(a.get(world), b.get(world)),
        };
        world.values(out.restitution).set(c, restitution);
    }

    /// A contact that is not there: nothing, and the cotangents of nothing.
    #[inline(always)]
    fn clear<L: Lane>(&self, world: &World<'_, L>, c: usize) {
        let (out, none) = (&self.contacts, L::from_f64(0.0));
        world.values(out.pair).set(c, L::from_f64(-1.0));
        world.values(out.point).set(c, zero());
        world.values(out.normal).set(c, zero());
        world.values(out.gap).set(c, none);
        world.values(out.velocity).set(c, zero());
        world.values(out.mu).set(c, none);
        world.values(out.restitution).set(c, none);
    }

    /// The sizes of a shape, to decide by. Those of a large surface are as it was built: its contacts still follow the params.
    fn sizes_of<'a, L: Lane>(&'a self, shape: usize, kept: &Kept<'_, L>, room: &'a mut [f64]) -> &'a [f64] {
        let sizes = self.sizes(shape, kept.sizes);
        if sizes.len() > room.len() {
            return &self.model.shapes[shape].sizes;
        }
        for (to, from) in room.iter_mut().zip(sizes) {
            *to = from.value_in(0);
        }
        &room[..sizes.len()]
    }

    /// Features that are near.
    fn detect<L: Lane>(&self, pair: usize, kept: &Kept<'_, L>, features: &mut [Feature; MOST]) -> usize {
        let Near { shapes: [a, b], pair, .. } = &self.model.pairs[pair];
        let (mut of_a, mut of_b) = ([0.0; ROOM], [0.0; ROOM]);
        let (of_a, of_b) = (self.sizes_of(*a, kept, &mut of_a), self.sizes_of(*b, kept, &mut of_b));
        let (at, bt) = (plain(&kept.poses[*a]), plain(&kept.poses[*b]));
        if !self.near((*a, &at, of_a), (*b, &bt, of_b)) {
            return 0;
        }
        if pair.fixed() {
            let slots = pair.slots().min(MOST);
            for (slot, feature) in features[..slots].iter_mut().enumerate() {
                *feature = Feature(slot as u32, 0);
            }
            return slots;
        }
        pair.detect((&at, of_a), (&bt, of_b), self.model.margin, features)
    }

    /// Are two shapes near each other, as far as balls around them say?
    fn near(&self, (a, at, of_a): (usize, &Pose, &[f64]), (b, bt, of_b): (usize, &Pose, &[f64])) -> bool {
        let (a, b) = (&self.model.shapes[a].kind, &self.model.shapes[b].kind);
        let between = bt.position - at.position;
        let gap = match (a, b) {
            (Kind::Plane, _) => dot(at.rotation.z, between) - b.bounding_radius(of_b),
            (_, Kind::Plane) => -dot(bt.rotation.z, between) - a.bounding_radius(of_a),
            _ => length(between) - a.bounding_radius(of_a) - b.bounding_radius(of_b),
        };
        gap < self.model.margin
    }

    #[inline(always)]
    fn sizes<'a, L: Lane>(&self, shape: usize, sizes: &'a [L]) -> &'a [L] {
        &sizes[self.starts[shape]..self.starts[shape + 1]]
    }
}

/// The most contacts of a pair, and the most sizes that are copied to decide by.
const MOST: usize = 16;
const ROOM: usize = 768;

/// The pose in double precision.
fn plain<L: Lane>(pose: &Pose<L>) -> Pose {
    let mut out: Pose = zero();
    for (to, from) in numbers_mut::<Pose, f64>(&mut out).iter_mut().zip(numbers::<Pose, L>(pose)) {
        *to = from.value_in(0);
    }
    out
}

impl Operation for Touch {
    /// What touches is decided by values.
    const LANES: bool = false;

    fn name(&self) -> String {
        "contacts".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        self.given.reads()
    }
    fn writes(&self) -> Vec<BufferUse> {
        self.contacts.uses()
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.memory)
    }
    fn scratch(&self) -> usize {
        let shapes = self.model.shapes.len();
        shapes * Pose::<f64>::LEN + self.starts[shapes]
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let memory = std::mem::take(&mut world.memory);
        let kept = self.kept(memory);
        for (size, at) in kept.sizes.iter_mut().zip(&self.given.sizes) {
            *size = at.get(world);
        }
        for (pose, shape) in kept.poses.iter_mut().zip(&self.model.shapes) {
            *pose = constant_pose(&shape.placement);
            match (&shape.on, &self.given.height) {
                (Pinned::Ground(_), Some(height)) => pose.position.z = height.get(world),
                (Pinned::World | Pinned::Ground(_), _) => {}
                (Pinned::Body(r, b), _) => *pose = world.values(self.given.bodies[*r].poses).get(*b) * *pose,
            }
        }
        let mut c = 0;
        for k in 0..self.model.pairs.len() {
            let mut features = [Feature::default(); MOST];
            let count = self.detect(k, &kept, &mut features);
            for feature in &features[..count] {
                let contact = self.contact(k, *feature, &kept);
                if contact.gap.value_in(0) >= self.model.margin {
                    continue;
                }
                if c == self.contacts.capacity {
                    // More than there is room for: no number, which the step reports.
                    world.values(self.contacts.gap).set(c - 1, L::from_f64(f64::NAN));
                    continue;
                }
                keep(&mut kept.features[c * FEATURE..], *feature);
                self.write(world, c, k, contact);
                c += 1;
            }
        }
        for c in c..self.contacts.capacity {
            self.clear(world, c);
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (memory, scratch) = (std::mem::take(&mut world.memory), std::mem::take(&mut world.scratch));
        let (kept, n) = (self.kept(memory), self.contacts.count(world));
        let mut rest = scratch;
        let pose_bars = carve::<Pose, L>(&mut rest, self.model.shapes.len());
        let size_bars = carve::<f64, L>(&mut rest, kept.sizes.len());
        pose_bars.fill(zero());
        size_bars.fill(L::from_f64(0.0));
        for c in 0..n {
            let k = self.contacts.pair(world, c);
            let bar = self.pull_contact(world, c, k);
            self.pull_shapes(k, c, &kept, bar, (pose_bars, size_bars));
        }
        for (bar, at) in size_bars.iter().zip(&self.given.sizes) {
            at.add(world, *bar);
        }
        for (bar, shape) in pose_bars.iter().zip(&self.model.shapes) {
            let (r, b) = match (&shape.on, &self.given.height) {
                (Pinned::Body(r, b), _) => (*r, *b),
                (Pinned::Ground(_), Some(height)) => {
                    height.add(world, bar.position.z);
                    continue;
                }
                (Pinned::World | Pinned::Ground(_), _) => continue,
            };
            let poses = self.given.bodies[r].poses;
            let placement = constant_pose(&shape.placement);
            let (body_bar, _) = compose::pullback(world.values(poses).get(b), placement, *bar);
            world.bars(poses).add(b, body_bar);
        }
    }
}

/// A pose that is the same in all lanes.
#[inline(always)]
fn constant_pose<L: Lane>(pose: &Pose) -> Pose<L> {
    let mut out: Pose<L> = zero();
    for (to, from) in numbers_mut::<Pose, L>(&mut out).iter_mut().zip(numbers::<Pose, f64>(pose)) {
        *to = L::from_f64(*from);
    }
    out
}

impl Touch {
    #[inline(always)]
    fn contact<L: Lane>(&self, k: usize, feature: Feature, kept: &Kept<'_, L>) -> Contact<L> {
        let Near { shapes: [a, b], pair, .. } = &self.model.pairs[k];
        let of_a = (&kept.poses[*a], self.sizes(*a, kept.sizes));
        let of_b = (&kept.poses[*b], self.sizes(*b, kept.sizes));
        pair.contact(feature, of_a, of_b)
    }

    /// The cotangents of a contact's geometry; those of velocities and materials go where they belong.
    #[inline(always)]
    fn pull_contact<L: Lane>(&self, world: &World<'_, L>, c: usize, k: usize) -> Contact<L> {
        let out = &self.contacts;
        let [a, b] = self.model.pairs[k].shapes;
        let mut bar = Contact {
            point: world.bars(out.point).get(c),
            normal: world.bars(out.normal).get(c),
            gap: world.bars(out.gap).get(c),
        };
        let (of_a, of_b, point) = (self.body(world, a), self.body(world, b), world.values(out.point).get(c));
        let (bar_a, bar_b, point_bar) =
            relative_velocity::pullback(of_a, of_b, point, world.bars(out.velocity).get(c));
        bar.point = bar.point + point_bar;
        for (shape, (position_bar, motion_bar)) in [(a, bar_a), (b, bar_b)] {
            if let Pinned::Body(r, body) = self.model.shapes[shape].on {
                let moving = &self.given.bodies[r];
                let mut pose_bar: Pose<L> = zero();
                pose_bar.position = position_bar;
                world.bars(moving.poses).add(body, pose_bar);
                world.bars(moving.motions).add(body, motion_bar);
            }
        }
        let [mu, restitution] = &self.given.surfaces[k];
        let (mu_bar, restitution_bar) = (world.bars(out.mu).get(c), world.bars(out.restitution).get(c));
        mu.pull_mean(world, mu_bar);
        match restitution {
            Mixed::One(restitution) => restitution.add(world, restitution_bar),
            Mixed::Two(a, b) => {
                let (a_bar, b_bar) = mixed_restitution::pullback(a.get(world), b.get(world), restitution_bar);
                a.add(world, a_bar);
                b.add(world, b_bar);
            }
        }
        bar
    }

    /// From the cotangents of a contact's geometry to those of its two shapes.
    #[inline(always)]
    fn pull_shapes<L: Lane>(
        &self,
        k: usize,
        c: usize,
        kept: &Kept<'_, L>,
        bar: Contact<L>,
        (pose_bars, size_bars): (&mut [Pose<L>], &mut [L]),
    ) {
        let Near { shapes: [a, b], pair, .. } = &self.model.pairs[k];
        let (a, b) = (*a, *b);
        let feature = feature(&kept.features[c * FEATURE..(c + 1) * FEATURE]);
        let (mut a_bar, mut b_bar) = (pose_bars[a], pose_bars[b]);
        let ends = [self.starts[a], self.starts[a + 1], self.starts[b], self.starts[b + 1]];
        let (of_a, of_b) = two(size_bars, ends);
        let at = (&kept.poses[a], self.sizes(a, kept.sizes));
        let bt = (&kept.poses[b], self.sizes(b, kept.sizes));
        pair.pullback(feature, at, bt, &bar, (&mut a_bar, of_a), (&mut b_bar, of_b));
        (pose_bars[a], pose_bars[b]) = (a_bar, b_bar);
    }
}

/// Keeps a feature as numbers that single precision holds.
#[inline(always)]
fn keep<L: Lane>(numbers: &mut [L], feature: Feature) {
    let parts = [feature.0 & 0xffff, feature.0 >> 16, feature.1 & 0xffff, feature.1 >> 16];
    for (number, part) in numbers.iter_mut().zip(parts) {
        *number = L::from_f64(f64::from(part));
    }
}

#[inline(always)]
fn feature<L: Lane>(numbers: &[L]) -> Feature {
    let part = |i: usize| numbers[i].value_in(0) as u32;
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
