//! What it means that a number of a step is not finite.

use pullback_kernel::program::NonFinite;

use crate::contact::{Contacts, GAPS};
use crate::error::Error;
use crate::model::Model;
use crate::soft::SOFT_CONTACT;

/// The most contacts at once, of shapes and of soft surfaces.
#[derive(Clone, Copy)]
pub(crate) struct Most {
    pub contacts: usize,
    soft_contacts: usize,
}

impl Most {
    pub fn of(model: &Model) -> Self {
        let contacts = model.contact().map_or(0, Contacts::most);
        Most { contacts, soft_contacts: model.most_soft_contacts() }
    }

    /// What it means that a value, or a cotangent, of some worlds is not finite after step number `step`.
    pub fn not_finite(self, step: usize, worlds: usize, bars: bool, source: NonFinite) -> Error {
        let world = (worlds > 1).then_some(source.world);
        if !bars && source.buffer.contains(GAPS) {
            // A gap is none where its point is one.
            return Error::TooManyContacts { step, world, most: self.contacts };
        }
        if !bars && source.element == 0 && source.operation.starts_with(SOFT_CONTACT) {
            // Where its arguments are numbers, that is how it says so.
            return Error::TooManySoftContacts { step, world, most: self.soft_contacts };
        }
        Error::NotFinite { step, world, source }
    }
}
