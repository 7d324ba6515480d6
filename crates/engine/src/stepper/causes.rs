//! Why a number of a step is not finite.

use pullback_kernel::program::NonFinite;

use crate::contact::{Contacts, GAPS};
use crate::error::{Error, Fast};
use crate::model::Model;
use crate::soft::SOFT_CONTACT;

/// What nothing that a step resolves is faster than, in the units of a velocity.
const FAST: f64 = 1e6;

/// Knows what may be behind it.
pub(crate) struct Causes {
    model: Model,
}

impl Causes {
    pub fn of(model: &Model) -> Self {
        Causes { model: model.clone() }
    }

    /// What two particles are called.
    pub fn points(&self, pair: [u32; 2]) -> [String; 2] {
        let layout = self.model.state_layout();
        pair.map(|i| layout.name_of(3 * i as usize).trim_end_matches(".position.x").to_owned())
    }

    /// In which world of a batch.
    fn world(worlds: usize, source: &NonFinite) -> Option<usize> {
        (worlds > 1).then_some(source.world)
    }

    /// More contacts of shapes than there is room for.
    pub fn too_many_contacts(&self, step: usize, worlds: usize, source: &NonFinite) -> Error {
        let most = self.model.contact().map_or(0, Contacts::most);
        Error::TooManyContacts { step, world: Self::world(worlds, source), most }
    }

    /// What it means that a value of some worlds is not finite in step number `step`; `before` is the state of the source's world before it.
    pub fn of_value(&self, step: usize, worlds: usize, source: NonFinite, before: &[f64]) -> Error {
        let world = Self::world(worlds, &source);
        if source.buffer.contains(GAPS) {
            // A gap is none where its point is one.
            return self.too_many_contacts(step, worlds, &source);
        }
        if source.element == 0 && source.operation.starts_with(SOFT_CONTACT) {
            // Where its arguments are numbers, that is how it says so.
            return Error::TooManySoftContacts { step, world, most: self.model.most_soft_contacts() };
        }
        Error::NotFinite { step, world, source, fast: self.fastest(before).map(Box::new) }
    }

    /// What it means that a cotangent is not.
    pub fn of_bar(step: usize, worlds: usize, source: NonFinite) -> Error {
        Error::NotFinite { step, world: Self::world(worlds, &source), source, fast: None }
    }

    /// The largest velocity of a state, where it is beyond sense.
    fn fastest(&self, state: &[f64]) -> Option<Fast> {
        let velocities = state.iter().enumerate().skip(self.model.positions());
        let (at, speed) = velocities.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let layout = self.model.state_layout();
        let unit = layout.quantity_of(at)?.unit.clone();
        (speed.abs() > FAST).then(|| Fast { name: layout.name_of(at), speed: *speed, unit })
    }
}
