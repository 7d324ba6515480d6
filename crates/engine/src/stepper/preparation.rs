//! What depends on params alone is made once for all steps, and pulled back once.

use pullback_kernel::prelude::*;
use pullback_kernel::program::BufferUse;

use super::{Parts, read_bars, write_all};
use crate::error::Error;
use crate::integrate::jacobians::Jacobians;
use crate::step::{Io, Preparation, held};

/// The memory in which it is made.
pub(super) struct Preparing<S: Parts> {
    workspace: Workspace<S>,
    params: Vec<(BufferUse, usize)>,
    prepared: Vec<(BufferUse, usize)>,
    /// Params have changed since.
    stale: bool,
    /// All cotangents have been pulled back.
    pub pulled: bool,
    /// Numbers on their way: what is prepared, or the cotangents of params.
    numbers: Vec<S>,
    values: Vec<f64>,
}

impl<S: Parts> Preparing<S> {
    pub fn new(preparation: &Preparation, worlds: usize, options: RunOptions) -> Self {
        let Preparation { program, params, prepared } = preparation;
        let count = |buffers: &[(BufferUse, usize)]| buffers.iter().map(|(_, len)| len).sum::<usize>();
        let most = count(params).max(count(prepared));
        Preparing {
            workspace: match worlds {
                1 => program.workspace(options),
                n => program.batch(n, options),
            },
            params: params.clone(),
            prepared: prepared.clone(),
            stale: true,
            pulled: false,
            numbers: vec![S::default(); most],
            values: Vec::with_capacity(most),
        }
    }

    pub fn bytes(&self) -> usize {
        self.workspace.bytes()
            + held(&self.params)
            + held(&self.prepared)
            + held(&self.numbers)
            + held(&self.values)
    }

    pub fn set_params(&mut self, world: usize, params: &[S]) -> Result<(), Error> {
        self.stale = true;
        Ok(write_all(&mut self.workspace, world, &self.params, params)?)
    }

    /// Makes it, if params have changed, and gives it to the steps and their Jacobians.
    pub fn prepare(
        &mut self,
        io: &Io,
        steps: &mut Workspace<S>,
        mut jacobians: Option<&mut Jacobians>,
        worlds: usize,
    ) -> Result<(), Error> {
        if !std::mem::take(&mut self.stale) {
            return Ok(());
        }
        self.workspace.forward();
        for world in 0..worlds {
            for (&(from, len), &(to, _)) in self.prepared.iter().zip(&io.prepared) {
                let numbers = &mut self.numbers[..len];
                self.workspace.read_numbers_into(world, from, numbers)?;
                steps.write_numbers(world, to, numbers)?;
                if let Some(jacobians) = &mut jacobians {
                    self.values.clear();
                    self.values.extend(numbers.iter().map(|x| x.value()));
                    jacobians.set_prepared(world, to, &self.values)?;
                }
            }
        }
        Ok(())
    }

    /// Adds to the cotangents of one world's params what those of the prepared numbers give them.
    pub fn add_bars(
        &mut self,
        io: &Io,
        steps: &Workspace<S>,
        world: usize,
        bars: &mut [S],
    ) -> Result<(), Error> {
        if !std::mem::replace(&mut self.pulled, true) {
            for world in 0..steps.worlds() {
                for (&(to, len), &(from, _)) in self.prepared.iter().zip(&io.prepared) {
                    steps.bar_numbers_into(world, from, &mut self.numbers[..len])?;
                    self.workspace.seed_numbers(world, to, &self.numbers[..len])?;
                }
            }
            self.workspace.clear_parameters();
            self.workspace.pullback();
        }
        let numbers = &mut self.numbers[..bars.len()];
        read_bars(&self.workspace, world, &self.params, numbers)?;
        bars.iter_mut().zip(numbers).for_each(|(sum, bar)| *sum = *sum + *bar);
        Ok(())
    }
}
