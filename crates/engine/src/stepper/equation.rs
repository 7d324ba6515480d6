//! The equation of an implicit step, residual(z) = 0, wherever its program runs.

use pullback_kernel::prelude::Workspace;
use pullback_kernel::program::{BufferUse, Scalar};

use super::parts::Parts;
use super::{of_worlds, write_all};
use crate::error::Error;
use crate::step::{Io, Unknown, ranges};

/// Where residuals are made: the program of a step, on the CPU or on a GPU. Numbers of all worlds lie one after the other.
pub(crate) trait Equation<S> {
    /// The residuals at z.
    fn evaluate(&mut self, unknown: &Unknown, z: &[S], residuals: &mut [S]) -> Result<(), Error>;
    /// The unknowns where residuals were made last.
    fn unknowns(&self, unknown: &Unknown, z: &mut [S]) -> Result<(), Error>;
    /// The states from which the step begins.
    fn begin(&self, states: &mut [S]) -> Result<(), Error>;
    /// Sets the cotangents of the residuals.
    fn seed(&mut self, unknown: &Unknown, bars: &[S]) -> Result<(), Error>;
}

/// The equation of an implicit step in a workspace.
pub(super) struct OnCpu<'a, S: Scalar> {
    pub workspace: &'a mut Workspace<S>,
    pub io: &'a Io,
}

impl<S: Parts> Equation<S> for OnCpu<'_, S> {
    fn evaluate(&mut self, unknown: &Unknown, z: &[S], residuals: &mut [S]) -> Result<(), Error> {
        let worlds = self.workspace.worlds();
        of_worlds(z, worlds).try_for_each(|(world, z)| write_all(self.workspace, world, &unknown.z, z))?;
        self.workspace.forward();
        self.read(&unknown.residual, residuals)
    }

    fn unknowns(&self, unknown: &Unknown, z: &mut [S]) -> Result<(), Error> {
        self.read(&unknown.z, z)
    }

    fn begin(&self, states: &mut [S]) -> Result<(), Error> {
        self.read(&self.io.state, states)
    }

    fn seed(&mut self, unknown: &Unknown, bars: &[S]) -> Result<(), Error> {
        for (world, bars) in of_worlds(bars, self.workspace.worlds()) {
            for (buffer, range) in ranges(&unknown.residual) {
                self.workspace.seed_numbers(world, buffer, &bars[range])?;
            }
        }
        Ok(())
    }
}

impl<S: Parts> OnCpu<'_, S> {
    /// Reads buffers of all worlds.
    fn read(&self, buffers: &[(BufferUse, usize)], numbers: &mut [S]) -> Result<(), Error> {
        let len = numbers.len() / self.workspace.worlds();
        for (world, numbers) in numbers.chunks_exact_mut(len.max(1)).enumerate() {
            for (buffer, range) in ranges(buffers) {
                self.workspace.read_numbers_into(world, buffer, &mut numbers[range])?;
            }
        }
        Ok(())
    }
}
