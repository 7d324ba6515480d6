//! What depends on params alone: made when they change, given to whoever reads it, and pulled back once.

use std::collections::HashMap;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Scalar};

use crate::articulated::Slots;
use crate::error::Error;
use crate::force::{Made, Workshop};
use crate::model::Model;
use crate::step::{declare_all, held, ranges};

/// A program from params to what others read instead of them.
#[derive(Clone)]
pub(crate) struct Preparation {
    pub program: Program,
    pub params: Vec<(BufferUse, usize)>,
    pub prepared: Vec<(BufferUse, usize)>,
}

impl Preparation {
    /// For steps of a model: its robots' joint frames and inertias, and what its forces prepare.
    pub fn new(model: &Model) -> Result<Option<Preparation>, Error> {
        let mut p = Program::builder();
        let mut slots = HashMap::new();
        let params = declare_all(&mut p, model.params_layout(), &mut slots, true);
        let mut prepared = Vec::new();
        for robot in model.robots() {
            let (made, _) = robot.prepare(&mut p, &Slots { what: "param", slots: &slots })?;
            prepared.extend(made.uses(&p));
            made.output(&mut p);
        }
        for Made { buffer, len, .. } in Workshop::of(model.forces(), &mut p, &slots, model.particles())? {
            buffer.output(&mut p);
            let buffer = BufferUse::from(buffer);
            prepared.push((buffer, len * buffer.numbers()));
        }
        if prepared.is_empty() {
            return Ok(None);
        }
        Ok(Some(Preparation { program: p.finish()?, params, prepared }))
    }

    /// How many bytes it holds beyond itself; the program is shared.
    pub fn bytes(&self) -> usize {
        held(&self.params) + held(&self.prepared)
    }
}

/// The memory in which it is made.
pub(crate) struct Preparing<S: Scalar> {
    workspace: Workspace<S>,
    params: Vec<(BufferUse, usize)>,
    prepared: Vec<(BufferUse, usize)>,
    /// Params have changed since it was made.
    stale: bool,
    /// Numbers on their way: what is prepared, or the cotangents of params.
    numbers: Vec<S>,
}

impl<S: Scalar> Preparing<S> {
    pub fn new(preparation: &Preparation, worlds: usize, options: RunOptions) -> Self {
        let Preparation { program, params, prepared } = preparation;
        let most = |buffers: &[(BufferUse, usize)]| buffers.iter().map(|(_, len)| *len).max().unwrap_or(0);
        Preparing {
            workspace: match worlds {
                1 => program.workspace(options),
                n => program.batch(n, options),
            },
            numbers: vec![S::default(); most(params).max(most(prepared))],
            params: params.clone(),
            prepared: prepared.clone(),
            stale: true,
        }
    }

    pub fn bytes(&self) -> usize {
        self.workspace.bytes() + held(&self.params) + held(&self.prepared) + held(&self.numbers)
    }

    /// Sets the params of one world.
    pub fn set_params(&mut self, world: usize, params: &[S]) -> Result<(), Error> {
        self.stale = true;
        for (buffer, range) in ranges(&self.params) {
            self.workspace.write_numbers(world, buffer, &params[range])?;
        }
        Ok(())
    }

    /// Makes it anew, if params have changed: then it is to be given again.
    pub fn make(&mut self) -> bool {
        let stale = std::mem::take(&mut self.stale);
        if stale {
            self.workspace.forward();
        }
        stale
    }

    /// Gives one world's to buffers of another program, in the same order.
    pub fn give(
        &mut self,
        world: usize,
        to: &[(BufferUse, usize)],
        mut take: impl FnMut(BufferUse, &[S]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (&(from, len), &(to, _)) in self.prepared.iter().zip(to) {
            self.workspace.read_numbers_into(world, from, &mut self.numbers[..len])?;
            take(to, &self.numbers[..len])?;
        }
        Ok(())
    }

    /// Takes the cotangents that those buffers have in one world: `bars` has those of one.
    pub fn seed(
        &mut self,
        world: usize,
        of: &[(BufferUse, usize)],
        mut bars: impl FnMut(BufferUse, &mut [S]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (&(to, len), &(from, _)) in self.prepared.iter().zip(of) {
            bars(from, &mut self.numbers[..len])?;
            self.workspace.seed_numbers(world, to, &self.numbers[..len])?;
        }
        Ok(())
    }

    /// Pulls back what was seeded.
    pub fn pull_seeded(&mut self) {
        if self.stale {
            // Without a step nobody has asked for it yet; it is still to be given.
            self.workspace.forward();
        }
        self.workspace.clear_parameters();
        self.workspace.pullback();
    }

    /// Pulls back the cotangents that those buffers have in all worlds of a program.
    pub fn pull(&mut self, of: &Workspace<S>, buffers: &[(BufferUse, usize)]) -> Result<(), Error> {
        for world in 0..of.worlds() {
            self.seed(world, buffers, |buffer, bars| Ok(of.bar_numbers_into(world, buffer, bars)?))?;
        }
        self.pull_seeded();
        Ok(())
    }

    /// Adds the cotangents of one world's params, as they were pulled back last.
    pub fn add_bars(&mut self, world: usize, bars: &mut [S]) -> Result<(), Error> {
        for (buffer, range) in ranges(&self.params) {
            let numbers = &mut self.numbers[..range.len()];
            self.workspace.bar_numbers_into(world, buffer, numbers)?;
            bars[range].iter_mut().zip(numbers).for_each(|(sum, bar)| *sum = *sum + *bar);
        }
        Ok(())
    }
}
