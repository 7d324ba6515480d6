//! What a rollout keeps for its way back.

use pullback_scene::Memory;

use super::Options;
use super::schedule::{Action, Schedule};
use super::store::{Store, room};
use crate::error::Error;
use crate::step::Step;
use crate::stepper::{Parts, Stepper};

/// What is kept.
pub(super) enum Keep<S: Parts> {
    /// Some states, or all; the steps between are made again.
    States {
        /// Which, and when.
        schedule: Schedule,
        /// The states.
        store: Store,
    },
    /// Of every step all values that its pullback reads: nothing is made again.
    Values {
        /// The values.
        store: Store,
        /// How many those of a part of a step are.
        len: usize,
    },
    /// Nothing: steps are made backwards.
    Back {
        /// What makes them.
        stepper: Box<Stepper<S>>,
    },
}

impl<S: Parts> Keep<S> {
    /// `fixed`: how many bytes the rollout takes without it.
    pub fn new(step: &Step, options: &Options, stepper: &Stepper<S>, fixed: usize) -> Result<Self, Error> {
        let size = options.worlds * step.model().state_layout().len();
        let states = |snapshots: usize| -> Result<Self, Error> {
            // The schedule remembers where it keeps each state.
            room(snapshots.min(options.steps).saturating_mul(size_of::<usize>()))?;
            let schedule = Schedule::new(options.steps, snapshots);
            let store = Store::new(options.snapshots, schedule.snapshots(), size)?;
            Ok(Keep::States { schedule, store })
        };
        Ok(match options.memory {
            Memory::EveryStep => states(options.steps)?,
            Memory::Binomial { snapshots } => states(snapshots)?,
            Memory::Budget { bytes } => {
                let state = size * Store::bytes_per_number(options.snapshots);
                states(affordable(bytes, fixed, state, options.steps)?)?
            }
            Memory::Dense => {
                let len = stepper.values_len();
                let store = Store::new(options.snapshots, options.steps * stepper.parts(), len)?;
                Keep::Values { store, len }
            }
            Memory::Reversible => match Stepper::back(step, options.worlds, options.run) {
                Some(stepper) => Keep::Back { stepper: Box::new(stepper) },
                None => return Err(Error::Reversible("this step cannot be made backwards".into())),
            },
        })
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Keep::States { schedule, store } => schedule.bytes() + store.bytes(),
            Keep::Values { store, .. } => store.bytes(),
            Keep::Back { stepper } => stepper.bytes(),
        }
    }

    /// What makes steps backwards, if anything does.
    pub fn back(&mut self) -> Option<&mut Stepper<S>> {
        match self {
            Keep::Back { stepper } => Some(stepper),
            Keep::States { .. } | Keep::Values { .. } => None,
        }
    }

    /// Before a rollout.
    pub fn restart(&mut self, steps: usize) {
        match self {
            Keep::States { schedule, .. } => schedule.restart(steps),
            Keep::Values { .. } | Keep::Back { .. } => {}
        }
    }

    /// Before a step of the first way forwards, from this state.
    pub fn before(&mut self, state: &[f64]) {
        let Keep::States { schedule, store } = self else { return };
        while let Some(Action::Keep { slot, .. }) = schedule.next() {
            store.put(slot * state.len(), state);
        }
    }

    /// Makes a step of the first way forwards.
    pub fn advance(&mut self, step: usize, stepper: &mut Stepper<S>) -> Result<(), Error> {
        let Keep::Values { store, len } = self else { return stepper.advance(step) };
        let parts = stepper.parts();
        stepper.advance_showing(step, &mut |part, workspace| {
            workspace.see_values(|at, values| store.put((step * parts + part) * *len + at, values));
        })
    }
}

/// How many of `steps` states of `state` bytes fit into what a budget leaves.
pub(super) fn affordable(bytes: usize, fixed: usize, state: usize, steps: usize) -> Result<usize, Error> {
    // A schedule remembers where it keeps each state, unless it keeps all.
    let all = fixed + steps * state;
    let needed = all.min(fixed + state + size_of::<usize>());
    if bytes >= all {
        return Ok(steps);
    }
    match bytes.checked_sub(fixed).map(|left| left / (state + size_of::<usize>())) {
        Some(snapshots) if snapshots > 0 => Ok(snapshots),
        _ => Err(Error::Budget { bytes, needed, all }),
    }
}
