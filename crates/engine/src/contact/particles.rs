//! Particles that touch shapes: a penalty, whatever the law of contact between bodies.
//!
//! A particle is a ball that does not turn, or a point. The force of `penalty.rs` acts on it at its middle x, and its opposite
//! on the body there, so that neither momentum nor angular momentum is made. The velocity between both is that of the particle,
//! seen from the body at x: v - (v_b + ω × (x - x_b)). What the force does is then never more than what it takes.

use std::sync::Arc;

use pullback_geometry::{Contact, Feature};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{
    BufferUse, Builder, Lane, Operation, View, World, carve, lane_of, set_lane_of,
};
use pullback_kernel::scalar::Mask;

use super::against::{Against, Extent, Face};
use super::corners::{Seen, Sight};
use super::one::{self, Cornered, One};
use super::place::At;
use super::pushed::{Before, On, Pushed};
use super::springs::penalty;
use super::touch::relative_velocity;
use super::touchable::{Given, Mixed, Surface, Touchable};
use crate::articulated::kinematics::{no_motion, zero};
use crate::articulated::push::Pushes;

/// Where particles are and how they move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Particles {
    pub x: Buffer<Vec3>,
    pub v: Buffer<Vec3>,
    /// Points have none.
    pub radius: Option<Buffer<f64>>,
    pub count: usize,
}

/// Forces of particles on shapes, and of shapes on particles.
pub(crate) struct ParticleContact {
    model: Arc<Touchable>,
    against: Arc<Against>,
    given: Given,
    /// Where the sizes of each shape begin, and where the last ends.
    starts: Vec<usize>,
    particles: Particles,
    force: Buffer<Vec3>,
    /// Of each face: the body that it is fixed to, unless it stands still.
    on: Vec<Option<On>>,
    pushed: Pushed,
    /// What sees corners that are params.
    sight: Sight,
}

/// The most contacts of a particle with a shape, and the most lanes.
const MOST: usize = 4;
const MOST_LANES: usize = 16;

/// How deep a particle may be in ground of triangles and still be pushed out, if its radius is less [m].
const DEEPEST: f64 = 0.1;

/// Values, or cotangents, of particles.
struct Views<'a, L: Lane> {
    x: View<'a, Vec3, L>,
    v: View<'a, Vec3, L>,
    radius: Option<View<'a, f64, L>>,
}

/// A particle as a ball with a pose, or its cotangents.
struct Ball<L> {
    pose: Pose<L>,
    v: Vec3<L>,
    radius: [L; 1],
}

/// Poses and sizes of shapes, or their cotangents.
struct Shapes<'a, L: Lane> {
    poses: &'a mut [Pose<L>],
    sizes: &'a mut [L],
    /// Corners that are params; of cotangents nothing.
    seen: Seen,
}

/// Stiffness, damping, friction slope and friction of two surfaces, or their cotangents.
type Numbers<L> = [L; 4];

/// Contacts of a particle with a shape in all worlds: those of each world from the first place on. Where there is none the gap
/// is 0.
struct Found<L: Lane> {
    contacts: [Contact<L>; MOST],
    features: [[Feature; MOST]; MOST_LANES],
    count: usize,
}

impl<L: Lane> Views<'_, L> {
    #[inline(always)]
    fn ball(&self, i: usize) -> Ball<L> {
        let mut pose: Pose<L> = identity_pose();
        pose.position = self.x.get(i);
        let radius = match &self.radius {
            Some(radius) => radius.get(i),
            None => L::from_f64(0.0),
        };
        Ball { pose, v: self.v.get(i), radius: [radius] }
    }

    #[inline(always)]
    fn add(&self, i: usize, bar: &Ball<L>) {
        self.x.add(i, bar.pose.position);
        self.v.add(i, bar.v);
        if let Some(radius) = &self.radius {
            radius.add(i, bar.radius[0]);
        }
    }
}

impl Particles {
    #[inline(always)]
    fn values<'a, L: Lane>(&self, world: &World<'a, L>) -> Views<'a, L> {
        let mut radius = None;
        if let Some(at) = self.radius {
            radius = Some(world.values(at));
        }
        Views { x: world.values(self.x), v: world.values(self.v), radius }
    }

    #[inline(always)]
    fn bars<'a, L: Lane>(&self, world: &World<'a, L>) -> Views<'a, L> {
        let mut radius = None;
        if let Some(at) = self.radius {
            radius = Some(world.bars(at));
        }
        Views { x: world.bars(self.x), v: world.bars(self.v), radius }
    }
}

impl ParticleContact {
    /// Adds it to a program: the force on each particle, and for each robot what pushes its bodies now.
    pub fn add(
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        (model, against, given): (&Arc<Touchable>, &Arc<Against>, Given),
        particles: Particles,
        robots: Vec<Before>,
    ) -> (Buffer<Vec3>, Vec<Option<Pushes>>) {
        let starts = model.starts();
        let pinned = |face: &Face| &model.shapes[face.shape].on;
        let by = |what: &str| name(&format!("{what}, by particles"));
        let (pushed, out) = Pushed::new(p, &by, against.faces.iter().map(pinned), robots);
        let on = against.faces.iter().map(|face| pushed.on(pinned(face))).collect();
        let force = p.computed(&name("contact force on particles"), particles.count);
        let (model, against) = (model.clone(), against.clone());
        let sight = Sight::default();
        p.operation(ParticleContact { model, against, given, starts, particles, force, on, pushed, sight });
        (force, out)
    }

    fn surfaces(&self) -> impl Iterator<Item = &Surface<At>> {
        let faces = self.against.faces.iter();
        faces.flat_map(|face| &face.surfaces).map(|surface| &self.given.surfaces[*surface])
    }

    #[inline(always)]
    fn sizes<'a, L: Lane>(&self, face: &Face, sizes: &'a [L]) -> &'a [L] {
        &sizes[self.starts[face.shape]..self.starts[face.shape + 1]]
    }

    #[inline(always)]
    fn carve<'a, L: Lane>(&self, scratch: &mut &'a mut [L]) -> Shapes<'a, L> {
        let shapes = self.model.shapes.len();
        Shapes {
            poses: carve::<Pose, L>(scratch, shapes),
            sizes: carve::<f64, L>(scratch, self.starts[shapes]),
            seen: Seen::default(),
        }
    }

    #[inline(always)]
    fn numbers<L: Lane>(&self, world: &World<'_, L>, surface: usize) -> Numbers<L> {
        let Surface { mu, springs: [ke, kd, kf], .. } = &self.given.surfaces[surface];
        [ke.mean(world), kd.mean(world), kf.mean(world), mu.mean(world)]
    }

    /// Contacts of a particle that may be near a face.
    #[inline(always)]
    fn find<L: Lane>(
        &self,
        world: &World<'_, L>,
        face: &Face,
        shapes: &Shapes<'_, L>,
        ball: &Ball<L>,
        near: L::Mask,
    ) -> Found<L> {
        let mut found =
            Found { contacts: [zero(); MOST], features: [[Feature::default(); MOST]; MOST_LANES], count: 1 };
        if face.pair.is_simple() {
            let shape = (&shapes.poses[face.shape], self.sizes(face, shapes.sizes));
            let mut contact = face.pair.simple_contact(0, shape, (&ball.pose, &ball.radius[..]));
            contact.gap = L::select(near, contact.gap, L::from_f64(0.0));
            found.contacts[0] = contact;
            return found;
        }
        let near = L::select(near, L::from_f64(1.0), L::from_f64(0.0));
        self.find_each(world, face, shapes, (ball, near), &mut found);
        found
    }

    /// Contacts of pairs that are not simple, world by world. It is not inlined: what it runs has instructions of its own.
    #[inline(never)]
    fn find_each<L: Lane>(
        &self,
        world: &World<'_, L>,
        face: &Face,
        shapes: &Shapes<'_, L>,
        (ball, near): (&Ball<L>, L),
        found: &mut Found<L>,
    ) {
        const { assert!(L::WIDTH <= MOST_LANES) };
        found.count = 0;
        let cornered = self.cornered(face);
        for lane in (0..L::WIDTH).filter(|&lane| near.value_in(lane) != 0.0) {
            let mut one = self.one(face, shapes, ball, lane);
            let (seen, mut features) = ((&cornered, &shapes.seen, lane), [Feature::default(); one::MOST]);
            let mut detected = one.detect(&face.pair, 0.0, seen, &mut features);
            if detected == 0 && matches!(face.extent, Extent::Box(_)) {
                // Ground is looked for as far above a shape as its own radius.
                let deep = L::from_f64(DEEPEST);
                let wide = Ball { pose: ball.pose, v: ball.v, radius: [ball.radius[0].max(deep)] };
                let wide = self.one(face, shapes, &wide, lane);
                detected = wide.detect(&face.pair, 0.0, seen, &mut features);
            }
            let mut count = 0;
            for &feature in &features[..detected] {
                cornered.gather(world, (&face.pair, feature, lane), &mut one);
                let contact = one.contact(&face.pair, feature);
                if contact.gap.value_in(0) < 0.0 && count < MOST {
                    set_lane_of::<Contact, L>(&mut found.contacts[count], lane, &contact);
                    found.features[lane][count] = feature;
                    count += 1;
                }
            }
            found.count = found.count.max(count);
        }
    }

    fn one<L: Lane>(
        &self,
        face: &Face,
        shapes: &Shapes<'_, L>,
        ball: &Ball<L>,
        lane: usize,
    ) -> One<L::Element> {
        let poses = [&shapes.poses[face.shape], &ball.pose];
        One::new(poses, [self.sizes(face, shapes.sizes), &ball.radius], lane)
    }

    fn cornered(&self, face: &Face) -> Cornered<'_> {
        Cornered { shapes: [Some(&self.model.shapes[face.shape]), None], given: &self.given }
    }
}

impl Operation for ParticleContact {
    // Few batches have particles that touch shapes, and it would be large to compile.
    const LANES: bool = false;

    fn name(&self) -> String {
        "contact of particles".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let Particles { x, v, radius, .. } = self.particles;
        let own = [x.into(), v.into()].into_iter().chain(radius.map(BufferUse::from));
        let springs = self.surfaces().flat_map(|surface| &surface.springs).flat_map(Mixed::parts);
        let others = self.given.reads().into_iter().chain(self.pushed.reads());
        super::once(own.chain(others).chain(springs.filter_map(At::reads)))
    }
    fn writes(&self) -> Vec<BufferUse> {
        std::iter::once(self.force.into()).chain(self.pushed.writes()).collect()
    }
    fn is_own(&self, write: BufferUse, read: BufferUse) -> bool {
        let Particles { x, v, .. } = self.particles;
        write.is(self.force.into()) && (read.is(x.into()) || read.is(v.into()))
    }
    fn scratch(&self) -> usize {
        let shapes = self.model.shapes.len();
        2 * (shapes * Pose::<f64>::LEN + self.starts[shapes])
    }
    fn own_bytes(&self, lanes: usize) -> usize {
        Seen::new(&self.model, lanes).bytes()
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let mut scratch = std::mem::take(&mut world.scratch);
        let mut shapes = self.carve(&mut scratch);
        self.given.place(world, &self.model.shapes, (shapes.poses, shapes.sizes));
        shapes.seen = self.sight.look(world, &self.model, &self.given);
        let (forces, of_particles) = (world.values(self.force), self.particles.values(world));
        for i in 0..self.particles.count {
            forces.set(i, zero());
        }
        self.pushed.start(world);
        for (face, on) in self.against.faces.iter().zip(&self.on) {
            let shape = &self.model.shapes[face.shape];
            let reach = face.extent.reach(shape, self.sizes(face, shapes.sizes), &shapes.seen);
            let now = face.extent.now(shape, &shapes.seen);
            let extent = now.as_ref().unwrap_or(&face.extent);
            let (pose, body) = (shapes.poses[face.shape], self.given.body(world, &shape.on));
            for (group, &surface) in self.against.groups.iter().zip(&face.surfaces) {
                let [ke, kd, kf, mu] = self.numbers(world, surface);
                for i in group.clone() {
                    let ball = of_particles.ball(i);
                    let x = ball.pose.position;
                    let near = extent.near(&pose, reach, x, ball.radius[0]);
                    if !near.any() || !face.touches(i) {
                        continue;
                    }
                    let found = self.find(world, face, &shapes, &ball, near);
                    let velocity = relative_velocity(body, moving(&ball), x);
                    for contact in &found.contacts[..found.count] {
                        let force = penalty(contact.gap, contact.normal, velocity, ke, kd, kf, mu);
                        forces.add(i, force);
                        if let Some(on) = *on {
                            self.pushed.push(world, on, -force, x);
                        }
                    }
                }
            }
        }
        self.sight.give_back(shapes.seen);
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let mut scratch = std::mem::take(&mut world.scratch);
        let mut shapes = self.carve(&mut scratch);
        self.given.place(world, &self.model.shapes, (shapes.poses, shapes.sizes));
        shapes.seen = self.sight.look(world, &self.model, &self.given);
        let mut bars = self.carve(&mut scratch);
        bars.poses.fill(zero());
        bars.sizes.fill(L::from_f64(0.0));
        self.pushed.pull_start(world);
        let of_particles = self.particles.values(world);
        let of_particles_bar = self.particles.bars(world);
        for (f, face) in self.against.faces.iter().enumerate() {
            let shape = &self.model.shapes[face.shape];
            let reach = face.extent.reach(shape, self.sizes(face, shapes.sizes), &shapes.seen);
            let now = face.extent.now(shape, &shapes.seen);
            let extent = now.as_ref().unwrap_or(&face.extent);
            for (group, &surface) in self.against.groups.iter().zip(&face.surfaces) {
                let numbers = self.numbers(world, surface);
                let mut number_bars = [L::from_f64(0.0); 4];
                for i in group.clone() {
                    let ball = of_particles.ball(i);
                    let (pose, x) = (&shapes.poses[face.shape], ball.pose.position);
                    let near = extent.near(pose, reach, x, ball.radius[0]);
                    if !near.any() || !face.touches(i) {
                        continue;
                    }
                    let found = self.find(world, face, &shapes, &ball, near);
                    let mut ball_bar = Ball { pose: zero(), v: zero(), radius: [L::from_f64(0.0)] };
                    let of_surface = (numbers, &mut number_bars);
                    let bar = self.pull_forces(world, (f, i), (&ball, &mut ball_bar), &found, of_surface);
                    let found = (&found, &bar);
                    self.pull_contacts(world, face, (&shapes, &mut bars), (&ball, &mut ball_bar), found);
                    of_particles_bar.add(i, &ball_bar);
                }
                let Surface { mu, springs: [ke, kd, kf], .. } = &self.given.surfaces[surface];
                for (number, bar) in [ke, kd, kf, mu].into_iter().zip(number_bars) {
                    number.pull_mean(world, bar);
                }
            }
        }
        self.given.pull_place(world, &self.model.shapes, (bars.poses, bars.sizes));
        self.sight.give_back(shapes.seen);
    }
}

impl ParticleContact {
    /// From the cotangents of forces to those of contacts; and to those of how the particle and the body move, and of surfaces.
    #[inline(always)]
    fn pull_forces<L: Lane>(
        &self,
        world: &World<'_, L>,
        (f, i): (usize, usize),
        (ball, ball_bar): (&Ball<L>, &mut Ball<L>),
        found: &Found<L>,
        ([ke, kd, kf, mu], number_bars): (Numbers<L>, &mut Numbers<L>),
    ) -> [Contact<L>; MOST] {
        let (pinned, x) = (&self.model.shapes[self.against.faces[f].shape].on, ball.pose.position);
        let (body, this) = (self.given.body(world, pinned), moving(ball));
        let velocity = relative_velocity(body, this, x);
        let force_bar = world.bars(self.force).get(i);
        let mut contact_bars: [Contact<L>; MOST] = [zero(); MOST];
        let (mut velocity_bar, mut x_bar): (Vec3<L>, Vec3<L>) = (zero(), zero());
        for (contact, bar) in found.contacts[..found.count].iter().zip(&mut contact_bars) {
            let mut on_particle_bar = force_bar;
            if let Some(on) = self.on[f] {
                let force = penalty(contact.gap, contact.normal, velocity, ke, kd, kf, mu);
                let (on_body_bar, point_bar) = self.pushed.pull_push(world, on, -force, x);
                on_particle_bar = on_particle_bar - on_body_bar;
                x_bar = x_bar + point_bar;
            }
            let (gap_bar, normal_bar, v_bar, ke_bar, kd_bar, kf_bar, mu_bar) =
                penalty::pullback(contact.gap, contact.normal, velocity, ke, kd, kf, mu, on_particle_bar);
            (bar.gap, bar.normal) = (gap_bar, normal_bar);
            velocity_bar = velocity_bar + v_bar;
            for (sum, bar) in number_bars.iter_mut().zip([ke_bar, kd_bar, kf_bar, mu_bar]) {
                *sum = *sum + bar;
            }
        }
        let (body_bar, this_bar, at_bar) = relative_velocity::pullback(body, this, x, velocity_bar);
        self.given.pull_body(world, pinned, body_bar);
        ball_bar.pose.position = ball_bar.pose.position + x_bar + this_bar.0 + at_bar;
        ball_bar.v = ball_bar.v + this_bar.1.linear;
        contact_bars
    }

    /// From the cotangents of contacts to those of the shape and of the particle.
    #[inline(always)]
    fn pull_contacts<L: Lane>(
        &self,
        world: &World<'_, L>,
        face: &Face,
        (shapes, bars): (&Shapes<'_, L>, &mut Shapes<'_, L>),
        (ball, ball_bar): (&Ball<L>, &mut Ball<L>),
        (found, contact_bars): (&Found<L>, &[Contact<L>; MOST]),
    ) {
        if !face.pair.is_simple() {
            self.pull_each(world, face, (shapes, bars), (ball, ball_bar), (found, contact_bars));
            return;
        }
        let range = self.starts[face.shape]..self.starts[face.shape + 1];
        let shape = (&shapes.poses[face.shape], self.sizes(face, shapes.sizes));
        let shape_bar = (&mut bars.poses[face.shape], &mut bars.sizes[range]);
        let (this, this_bar) =
            ((&ball.pose, &ball.radius[..]), (&mut ball_bar.pose, &mut ball_bar.radius[..]));
        face.pair.simple_pullback(0, shape, this, &contact_bars[0], shape_bar, this_bar);
    }

    /// The same of pairs that are not simple, world by world.
    #[inline(never)]
    fn pull_each<L: Lane>(
        &self,
        world: &World<'_, L>,
        face: &Face,
        (shapes, bars): (&Shapes<'_, L>, &mut Shapes<'_, L>),
        (ball, ball_bar): (&Ball<L>, &mut Ball<L>),
        (found, contact_bars): (&Found<L>, &[Contact<L>; MOST]),
    ) {
        let (range, cornered) = (self.starts[face.shape]..self.starts[face.shape + 1], self.cornered(face));
        for (c, bar) in contact_bars[..found.count].iter().enumerate() {
            for lane in (0..L::WIDTH).filter(|&lane| found.contacts[c].gap.value_in(lane) < 0.0) {
                let (mut one, feature) = (self.one(face, shapes, ball, lane), found.features[lane][c]);
                cornered.gather(world, (&face.pair, feature, lane), &mut one);
                let pulled = one.pullback(&face.pair, feature, &lane_of::<Contact, L>(bar, lane));
                cornered.scatter(world, lane, (&one, &pulled));
                pulled.add(0, lane, &mut bars.poses[face.shape], &mut bars.sizes[range.clone()]);
                pulled.add(1, lane, &mut ball_bar.pose, &mut ball_bar.radius);
            }
        }
    }
}

/// Where a particle is and how it moves: it does not turn.
#[inline(always)]
fn moving<L: Lane>(ball: &Ball<L>) -> (Vec3<L>, Motion<L>) {
    let mut motion = no_motion();
    motion.linear = ball.v;
    (ball.pose.position, motion)
}
