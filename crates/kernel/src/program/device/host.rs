//! Operations that are written by hand, in a program on a GPU: they run on the CPU, in a workspace of the same program.
//!
//! Before one runs, what it reads is copied from the device, and what it has made goes back. Parameters are in both places: each side adds up
//! the cotangents that its own operations give them.

use std::sync::{MutexGuard, PoisonError};

use super::super::Program;
use super::super::buffer::Role;
use super::super::error::AccessError;
use super::super::plan::Pass;
use super::super::workspace::{RunOptions, Workspace};
use super::{DeviceError, DeviceFloat, DeviceWorkspace};
use crate::cuda::Memory;

/// What runs on the CPU.
pub struct Host<S: DeviceFloat> {
    pub workspace: Workspace<S>,
    /// What each operation reads and writes.
    stages: Vec<Exchange>,
}

/// Buffers that an operation written by hand shares with the device, parameters, constants and its own memory left out.
#[derive(Default)]
struct Exchange {
    reads: Vec<usize>,
    writes: Vec<usize>,
}

impl<S: DeviceFloat> Host<S> {
    pub fn new(program: &Program, worlds: usize, run: RunOptions) -> Self {
        let inner = &program.inner;
        let changes = |b: &usize| matches!(inner.buffers[*b].role, Role::Input | Role::Computed);
        let stages = inner.stages.iter().map(|stage| {
            let info = stage.info();
            let of = |ports: &[crate::patterns::port::PortInfo]| -> Vec<usize> {
                ports.iter().map(|port| port.buffer).filter(changes).collect()
            };
            match stage.is_by_hand() {
                true => Exchange { reads: of(&info.inputs), writes: of(&info.outputs) },
                false => Exchange::default(),
            }
        });
        let stages = stages.collect();
        let workspace = match worlds {
            0 => program.workspace(run),
            worlds => program.batch(worlds, run),
        };
        Host { workspace, stages }
    }
}

impl<S: DeviceFloat> DeviceWorkspace<S> {
    /// Do operations run on the CPU, because they are written by hand? Their pullbacks follow forward passes of the same step then: values that
    /// were kept do not stand for these.
    pub fn runs_by_hand(&self) -> bool {
        self.host.is_some()
    }

    pub(super) fn host(&self) -> Option<MutexGuard<'_, Host<S>>> {
        // A panic in an operation leaves numbers behind that the next pass sets anew.
        self.host.as_ref().map(|host| host.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs an operation, or its pullback.
    pub(super) fn run_by_hand(&self, k: usize, pass: Pass) -> Result<(), DeviceError> {
        let Some(mut host) = self.host() else { return Ok(()) };
        let Host { workspace, stages } = &mut *host;
        let Exchange { reads, writes } = &stages[k];
        match pass {
            Pass::Forward => {
                reads.iter().try_for_each(|&b| self.fetch(&self.values, workspace, b))?;
                workspace.run_one(pass, k);
                writes.iter().try_for_each(|&b| self.send(&self.values, workspace, b))
            }
            // Its values are those of its forward pass; it adds to cotangents, which others may have begun.
            Pass::Pullback => {
                let mut bars = writes.iter().chain(reads);
                bars.try_for_each(|&b| self.fetch(&self.bars, workspace, b))?;
                workspace.run_one(pass, k);
                reads.iter().try_for_each(|&b| self.send(&self.bars, workspace, b))
            }
        }
    }

    /// Copies a buffer of all worlds from the device.
    fn fetch(&self, memory: &Memory<S>, to: &mut Workspace<S>, b: usize) -> Result<(), DeviceError> {
        let bars = std::ptr::eq(memory, &raw const self.bars);
        let mut result = Ok(());
        self.see_numbers(memory, b, |world, numbers| {
            if result.is_ok() {
                result = to.set_numbers(b, world, numbers, bars);
            }
        })?;
        Ok(result?)
    }

    /// Copies it to the device.
    fn send(&self, memory: &Memory<S>, from: &Workspace<S>, b: usize) -> Result<(), DeviceError> {
        let bars = std::ptr::eq(memory, &raw const self.bars);
        let of = |world: usize| from.numbers(b, world, bars);
        let numbers = (0..self.worlds()).map(of).collect::<Result<Vec<_>, AccessError>>()?;
        self.set_numbers(memory, b, |world| &numbers[world])
    }

    /// Sets on the CPU what the caller has set on the device, if it is a parameter.
    pub(super) fn mirror(
        &self,
        memory: &Memory<S>,
        id: usize,
        world: usize,
        numbers: &[S],
    ) -> Result<(), AccessError> {
        let set = matches!(self.program.inner.buffers[id].role, Role::Parameter | Role::Given);
        match self.host() {
            Some(mut host) if set && std::ptr::eq(memory, &raw const self.values) => {
                host.workspace.set_numbers(id, world, numbers, false)
            }
            _ => Ok(()),
        }
    }

    /// Adds the cotangents that operations written by hand have given a parameter.
    pub(super) fn add_bars_by_hand(
        &self,
        id: usize,
        world: usize,
        bars: &mut [S],
    ) -> Result<(), AccessError> {
        if self.program.inner.buffers[id].role == Role::Parameter
            && let Some(host) = self.host()
        {
            let by_hand = host.workspace.numbers(id, world, true)?;
            bars.iter_mut().zip(by_hand).for_each(|(bar, more)| *bar = *bar + more);
        }
        Ok(())
    }
}
