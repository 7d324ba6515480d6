//! What a rollout keeps on a GPU for its way back.

use pullback_kernel::program::{BufferUse, DeviceFloat, DeviceWorkspace, Rows};
use pullback_scene::Memory;

use super::super::Options;
use super::super::keep::affordable;
use super::super::schedule::{Action, Schedule};
use crate::error::Error;

/// What stays on the device for the way back.
pub(super) enum Keep<S: DeviceFloat> {
    /// Some states, or all; of an implicit step the unknowns with them, and in which rows they are those of the state there.
    States { schedule: Schedule, rows: Rows<S>, solved: Vec<bool> },
    /// Of every part of a step all values that its pullback reads.
    Values { rows: Rows<S> },
}

impl<S: DeviceFloat> Keep<S> {
    pub fn new(
        workspace: &DeviceWorkspace<S>,
        options: &Options,
        (parts, unknowns): (usize, &[BufferUse]),
        fixed: usize,
    ) -> Result<Self, Error> {
        let states = |snapshots: usize| -> Result<Self, Error> {
            let schedule = Schedule::new(parts, snapshots);
            let rows = workspace.rows_of_states(unknowns, schedule.snapshots())?;
            Ok(Keep::States { solved: vec![false; schedule.snapshots()], schedule, rows })
        };
        match options.memory {
            Memory::EveryStep => states(parts),
            Memory::Binomial { snapshots } => states(snapshots),
            Memory::Budget { bytes } => {
                let state = workspace.rows_of_states(unknowns, 1)?.bytes();
                states(affordable(bytes, fixed, state, parts)?)
            }
            // What runs by hand keeps its values for the way back itself, those of the last step.
            Memory::Dense if workspace.runs_by_hand() => states(parts),
            Memory::Dense => Ok(Keep::Values { rows: workspace.rows_of_values(parts)? }),
            Memory::Reversible => {
                Err(Error::Reversible("GPUs run no steps backwards: choose another memory".into()))
            }
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Keep::States { rows, .. } | Keep::Values { rows } => rows.bytes(),
        }
    }

    pub fn restart(&mut self, parts: usize) {
        if let Keep::States { schedule, .. } = self {
            schedule.restart(parts);
        }
    }

    /// After a part of a step of the first way forwards: the state before it is still there.
    pub fn made(&mut self, workspace: &DeviceWorkspace<S>, part: usize) -> Result<(), Error> {
        match self {
            Keep::Values { rows } => workspace.keep(rows, part)?,
            Keep::States { schedule, rows, solved } => {
                while let Some(Action::Keep { slot, .. }) = schedule.next() {
                    workspace.keep(rows, slot)?;
                    solved[slot] = true;
                }
            }
        }
        Ok(())
    }

    /// Keeps the state that is there, before a part of a step is made of it.
    pub fn put(&mut self, workspace: &DeviceWorkspace<S>, slot: usize) -> Result<(), Error> {
        if let Keep::States { rows, solved, .. } = self {
            workspace.keep(rows, slot)?;
            solved[slot] = false;
        }
        Ok(())
    }

    /// Brings a state back. True if the unknowns that belong to it are there as well.
    pub fn bring(&self, workspace: &DeviceWorkspace<S>, slot: usize) -> Result<bool, Error> {
        match self {
            Keep::States { rows, solved, .. } => {
                workspace.bring(rows, slot)?;
                Ok(solved[slot])
            }
            Keep::Values { .. } => Ok(false),
        }
    }
}
