//! Penalty contact: the forces of [`Springs`] push bodies apart.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Operation, World};

use super::contacts::Contacts;
use super::pushed::{Before, On, Pushed};
use super::rows::SIGNS;
use super::springs::Springs;
use super::touchable::{Given, Touchable};
use crate::articulated::kinematics::zero;
use crate::articulated::push::Pushes;

/// Forces of all contacts, as pushes on bodies.
pub(crate) struct Penalty {
    model: Arc<Touchable>,
    springs: Springs,
    /// Of shapes: what they push, unless it stands still.
    shapes: Vec<Option<On>>,
    pushed: Pushed,
}

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
        let springs = Springs { contacts, surfaces: given.surfaces };
        p.operation(Penalty { model: model.clone(), springs, shapes, pushed });
        out
    }
}

impl Operation for Penalty {
    fn name(&self) -> String {
        "penalty contact".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        super::once(self.springs.reads().chain(self.pushed.reads()))
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
        let contacts = &self.springs.contacts;
        let (pairs, at) = (contacts.pairs(world), contacts.values(world));
        if contacts.are_too_many(world, &pairs) {
            // That is how a step knows.
            return self.pushed.no_numbers(world);
        }
        for c in 0..pairs.count {
            let Some(near) = &self.model.meetings.near(pairs.shapes(c)) else { continue };
            let on_second = self.springs.force(world, c, near);
            for (shape, sign) in near.shapes.iter().zip(SIGNS) {
                let Some(on) = self.shapes[*shape] else { continue };
                self.pushed.push(world, on, on_second * L::from_f64(sign), at.point.get(c));
            }
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        self.pushed.pull_start(world);
        let contacts = &self.springs.contacts;
        let (pairs, at, bars) = (contacts.pairs(world), contacts.values(world), contacts.bars(world));
        for c in 0..pairs.count {
            let Some(near) = &self.model.meetings.near(pairs.shapes(c)) else { continue };
            let on_second = self.springs.force(world, c, near);
            let mut on_second_bar: Vec3<L> = zero();
            for (shape, sign) in near.shapes.iter().zip(SIGNS) {
                let (Some(on), sign) = (self.shapes[*shape], L::from_f64(sign)) else { continue };
                let (force_bar, point_bar) =
                    self.pushed.pull_push(world, on, on_second * sign, at.point.get(c));
                on_second_bar = on_second_bar + force_bar * sign;
                bars.point.add(c, point_bar);
            }
            self.springs.pull(world, c, near, on_second_bar);
        }
    }
}
