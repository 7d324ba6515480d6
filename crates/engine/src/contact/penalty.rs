//! Penalty contact: surfaces that are in each other push like springs and dampers, and slide against friction.
//!
//! With depth d = -gap, the velocity v of the second shape seen from the first and the normal n, the second shape feels
//!
//! - f = max(0, ke d - kd n·v) along n: it never pulls, and there is nothing above the surface,
//! - -min(μ f, kf |s|) s/|s| with s = v - (n·v) n: sticking like a damper up to Coulomb's limit.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Operation, World};

use super::contacts::Contacts;
use super::meetings::Near;
use super::place::At;
use super::pushed::{Before, On, Pushed};
use super::touchable::{Given, Mixed, Surface, Touchable};
use crate::articulated::kinematics::zero;
use crate::articulated::push::Pushes;
use crate::friction::friction_per_speed;

/// The force on the second shape [N].
#[kernel]
pub(super) fn penalty<R: Real>(
    gap: R,
    normal: Vec3<R>,
    velocity: Vec3<R>,
    ke: R,
    kd: R,
    kf: R,
    mu: R,
) -> Vec3<R> {
    let mut force = vec3(0.0, 0.0, 0.0);
    if gap < 0.0 {
        let along = dot(normal, velocity);
        let f = max(-(ke * gap) - kd * along, 0.0);
        let slide = velocity - normal * along;
        let per_speed = friction_per_speed(f, length(slide), kf, mu);
        force = normal * f - slide * per_speed;
    }
    force
}

/// Forces of all contacts, as pushes on bodies.
pub(crate) struct Penalty {
    contacts: Contacts,
    model: Arc<Touchable>,
    /// Of shapes: what they push, unless it stands still.
    shapes: Vec<Option<On>>,
    surfaces: Vec<Surface<At>>,
    pushed: Pushed,
}

/// By which sign the force on the second shape acts on the shapes.
const SIGNS: [f64; 2] = [-1.0, 1.0];

impl Penalty {
    /// Adds it to a program; for each robot, what pushes its bodies now.
    pub fn add(
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        (model, given, contacts): (&Arc<Touchable>, Given, Contacts),
        robots: Vec<Before>,
    ) -> Vec<Option<Pushes>> {
        let (pushed, out) = Pushed::new(p, name, model.shapes.iter().map(|shape| &shape.on), robots);
        let shapes = model.shapes.iter().map(|shape| pushed.on(&shape.on)).collect();
        p.operation(Penalty { contacts, model: model.clone(), shapes, surfaces: given.surfaces, pushed });
        out
    }

    /// Stiffness, damping and friction slope of a pair.
    #[inline(always)]
    fn springs<L: Lane>(&self, world: &World<'_, L>, near: &Near<'_>) -> [L; 3] {
        let [ke, kd, kf] = &self.surfaces[near.surface].springs;
        [ke.mean(world), kd.mean(world), kf.mean(world)]
    }
}

impl Operation for Penalty {
    fn name(&self) -> String {
        "penalty contact".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let springs = self.surfaces.iter().flat_map(|surface| &surface.springs).flat_map(Mixed::parts);
        let reads = self.contacts.uses().into_iter().chain(self.pushed.reads());
        super::once(reads.chain(springs.filter_map(At::reads)))
    }
    fn writes(&self) -> Vec<BufferUse> {
        self.pushed.writes().collect()
    }
    fn alone(&self) -> bool {
        self.model.alone
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        self.pushed.start(world);
        let (pairs, at) = (self.contacts.pairs(world), self.contacts.values(world));
        if self.contacts.are_too_many(world, &pairs) {
            // That is how a step knows.
            return self.pushed.no_numbers(world);
        }
        for c in 0..pairs.count {
            let Some(near) = &self.model.meetings.near(pairs.shapes(c)) else { continue };
            let [ke, kd, kf] = self.springs(world, near);
            let on_second =
                penalty(at.gap.get(c), at.normal.get(c), at.velocity.get(c), ke, kd, kf, at.mu.get(c));
            for (shape, sign) in near.shapes.iter().zip(SIGNS) {
                let Some(on) = self.shapes[*shape] else { continue };
                self.pushed.push(world, on, on_second * L::from_f64(sign), at.point.get(c));
            }
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        self.pushed.pull_start(world);
        let pairs = self.contacts.pairs(world);
        let (at, bars) = (self.contacts.values(world), self.contacts.bars(world));
        for c in 0..pairs.count {
            let Some(near) = &self.model.meetings.near(pairs.shapes(c)) else { continue };
            let [ke, kd, kf] = self.springs(world, near);
            let (gap, normal, velocity, mu) =
                (at.gap.get(c), at.normal.get(c), at.velocity.get(c), at.mu.get(c));
            let on_second = penalty(gap, normal, velocity, ke, kd, kf, mu);
            let mut on_second_bar: Vec3<L> = zero();
            for (shape, sign) in near.shapes.iter().zip(SIGNS) {
                let (Some(on), sign) = (self.shapes[*shape], L::from_f64(sign)) else { continue };
                let (force_bar, point_bar) =
                    self.pushed.pull_push(world, on, on_second * sign, at.point.get(c));
                on_second_bar = on_second_bar + force_bar * sign;
                bars.point.add(c, point_bar);
            }
            let (gap_bar, normal_bar, velocity_bar, ke_bar, kd_bar, kf_bar, mu_bar) =
                penalty::pullback(gap, normal, velocity, ke, kd, kf, mu, on_second_bar);
            bars.gap.add(c, gap_bar);
            bars.normal.add(c, normal_bar);
            bars.velocity.add(c, velocity_bar);
            bars.mu.add(c, mu_bar);
            let springs = &self.surfaces[near.surface].springs;
            for (spring, bar) in springs.iter().zip([ke_bar, kd_bar, kf_bar]) {
                spring.pull_mean(world, bar);
            }
        }
    }
}
