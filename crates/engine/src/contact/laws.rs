//! What a model of contact is: from where shapes are to how they push each other.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;
use pullback_scene::ContactModel;

use super::contacts;
use super::measure::Source;
use super::{Contacts, Part, Particles, Touched};
use crate::articulated::Robot;
use crate::attached::Holding;
use crate::error::Error;
use crate::force::Inputs;

/// Where a law is added: a program, names for what is made there, and what is known.
pub(crate) struct Site<'a> {
    pub p: &'a mut Builder,
    pub name: &'a dyn Fn(&str) -> String,
    pub inputs: &'a Inputs,
    /// What particles are attached to, if they are.
    pub holding: Option<&'a Holding>,
}

/// Contacts, and where their forces come from; with impulses, how far they are from their law.
pub(crate) struct Forces {
    pub contacts: contacts::Contacts,
    pub source: Source,
    pub residual: Option<Buffer<f64>>,
}

/// A model of contact. A new one is a variant of [`ContactModel`] and an implementation of this.
pub(crate) trait ContactLaw {
    /// Do its settings fit together?
    fn check(&self) -> Result<(), Error>;

    /// Can it push this robot?
    fn check_robot(&self, robot: &Robot) -> Result<(), Error>;

    /// How near shapes are looked at [m].
    fn margin(&self) -> f64;

    /// How much contacts yield, as a part of what they would move freely.
    fn regularisation(&self) -> f64;

    /// Does it read this number of surfaces? Particles touch by a penalty, whatever the law of bodies is.
    fn reads(&self, number: &str) -> bool;

    /// Adds the accelerations of robots over a step of length `h` to a program, and the forces on particles.
    fn add(
        &self,
        contacts: &Contacts,
        site: &mut Site<'_>,
        robots: (&[Robot], Vec<Part>),
        particles: Option<Particles>,
        h: f64,
    ) -> Result<Touched, Error>;

    /// Adds what a step of length `h` does as far as the forces of contacts.
    fn forces(
        &self,
        contacts: &Contacts,
        site: &mut Site<'_>,
        parts: (Vec<Part>, Option<Particles>),
        h: f64,
    ) -> Result<Forces, Error>;

    /// The largest residual with which there is a derivative, for numbers of this precision.
    fn largest_residual(&self, epsilon: f64) -> f64;
}

/// The law of a model.
pub(crate) fn law_of(model: &ContactModel) -> &dyn ContactLaw {
    match model {
        ContactModel::Complementarity(law) => law,
        ContactModel::Penalty(law) => law,
    }
}
