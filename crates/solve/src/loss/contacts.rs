//! Contacts that terms measure: their forces and penetration at a moment, and the derivatives of that.

use pullback_engine::rollout::{Bars, Moment, Tangent};
use pullback_engine::{Between, ContactWatch, Error, Model, Scheme, Touching};
use pullback_kernel::prelude::*;
use pullback_scene::Invalid;

use super::parts::FITS;
use super::rows::Rows;

/// A number of a group of contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Along an axis of the world.
    Force(usize),
    NormalForce,
    FrictionForce,
    Penetration,
}

/// Watches contacts at one moment after another.
pub(super) struct Contacts {
    watch: ContactWatch,
    rows: Rows,
}

impl Contacts {
    pub fn new(model: &Model, scheme: &Scheme, groups: &[Between]) -> Result<Contacts, Invalid> {
        let watch = ContactWatch::new(model, scheme, groups).map_err(|error| {
            Invalid::new("loss", error.to_string(), "measure contacts of shapes that can touch")
        })?;
        Ok(Contacts { watch, rows: Rows::default() })
    }

    /// Looks at a moment.
    pub fn look(&mut self, moment: &Moment<'_>) {
        look(&mut self.watch, moment);
    }

    /// What a group of contacts comes to at the moment that was looked at.
    pub fn value(&self, group: usize, quantity: Quantity) -> f64 {
        let touching = self.watch.touching(group);
        match quantity {
            Quantity::Force(axis) => [touching.force.x, touching.force.y, touching.force.z][axis],
            Quantity::NormalForce => touching.normal,
            Quantity::FrictionForce => touching.friction,
            Quantity::Penetration => touching.penetration,
        }
    }

    /// Adds to the cotangent of that number.
    pub fn seed(&mut self, group: usize, quantity: Quantity, bar: f64) {
        seed(&mut self.watch, group, quantity, bar);
    }

    /// Adds what the seeds give the state, the control and the params.
    pub fn pull(&mut self, bars: &mut Bars<'_>) {
        pull(&mut self.watch, bars);
    }

    /// The tangent of the number that is the `row`-th of those that are measured at the moment.
    pub fn tangent(
        &mut self,
        row: usize,
        (group, quantity): (usize, Quantity),
        moment: &Moment<'_>,
        tangent: &Tangent<'_>,
    ) -> f64 {
        self.rows.begin(moment);
        self.rows.tangent(row, tangent, |moment, bars| {
            look(&mut self.watch, moment);
            seed(&mut self.watch, group, quantity, 1.0);
            pull(&mut self.watch, bars);
        })
    }
}

fn look(watch: &mut ContactWatch, moment: &Moment<'_>) {
    match watch.run(moment.time, moment.state, moment.control, moment.params) {
        // Then nothing of them is a number, and neither is the loss.
        Ok(()) | Err(Error::TooManyContacts { .. }) => (),
        Err(error) => panic!("{FITS}: {error}"),
    }
}

fn pull(watch: &mut ContactWatch, bars: &mut Bars<'_>) {
    match watch.pullback(bars.state, bars.control, bars.params) {
        Ok(()) => (),
        // There is no derivative: so the rollout says that it has none.
        Err(Error::ContactNotSolved { .. }) => bars.state.fill(f64::NAN),
        Err(error) => panic!("{FITS}: {error}"),
    }
}

fn seed(watch: &mut ContactWatch, group: usize, quantity: Quantity, bar: f64) {
    let mut bars = Touching::default();
    match quantity {
        Quantity::Force(0) => bars.force = vec3(bar, 0.0, 0.0),
        Quantity::Force(1) => bars.force = vec3(0.0, bar, 0.0),
        Quantity::Force(_) => bars.force = vec3(0.0, 0.0, bar),
        Quantity::NormalForce => bars.normal = bar,
        Quantity::FrictionForce => bars.friction = bar,
        Quantity::Penetration => bars.penetration = bar,
    }
    watch.seed(group, bars);
}
