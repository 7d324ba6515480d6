//! What the way back on a GPU has left, as a gradient.

use pullback_kernel::program::DeviceFloat;

use super::GpuRollout;
use super::transfer::{read, uses};
use crate::error::Error;
use crate::step::ranges;
use crate::stepper::Parts;

impl<S: DeviceFloat + Parts> GpuRollout<S> {
    /// Collects what the way back has left.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        let states = self.moments.gradient.states.iter_mut();
        states.zip(&self.bars).for_each(|(to, from)| *to = from.value());
        self.add_control_bars()?;
        self.take_norms()?;
        self.add_params_bar()?;
        self.moments.check()
    }

    /// Those of the parts of a step together.
    fn add_control_bars(&mut self) -> Result<(), Error> {
        let (worlds, steps, parts) = (self.options.worlds, self.options.steps, self.parts());
        let controls = &mut self.moments.gradient.controls;
        let (len, at) =
            (controls.len() / (worlds * steps).max(1), ranges(&self.io.control).collect::<Vec<_>>());
        let add = |buffer: usize, part: usize, world: usize, bars: &[S]| {
            let from = (world * steps + part / parts) * len + at[buffer].1.start;
            let sums = controls[from..from + bars.len()].iter_mut();
            sums.zip(bars).for_each(|(to, from)| *to += from.value());
        };
        Ok(self.workspace.read_rows(&self.control_bars, &uses(&self.io.control), add)?)
    }

    /// Those that were summed on the device.
    fn take_norms(&mut self) -> Result<(), Error> {
        let (worlds, moments) = (self.options.worlds, self.options.steps + 1);
        let sums = self.workspace.read_sums(&self.norms)?;
        let norms = self.moments.gradient.norms.iter_mut().enumerate();
        for (i, norm) in norms.filter(|(i, _)| self.summed[i % moments]) {
            *norm = sums[i % moments * worlds + i / moments].sqrt();
        }
        Ok(())
    }

    /// Cotangents of params, those through what was prepared of them among them.
    fn add_params_bar(&mut self) -> Result<(), Error> {
        let (worlds, workspace) = (self.options.worlds, &self.workspace);
        let params = &mut self.moments.gradient.params;
        let mut bars = vec![S::default(); params.len()];
        read(&self.io.params, &mut bars, worlds, |buffer, see| workspace.bar_numbers(buffer, see))?;
        if let Some(preparing) = &mut self.preparing {
            let all: usize = self.io.prepared.iter().map(|(_, len)| len).sum();
            let mut prepared = vec![S::default(); all * worlds];
            read(&self.io.prepared, &mut prepared, worlds, |buffer, see| workspace.bar_numbers(buffer, see))?;
            for (world, mut rest) in prepared.chunks_exact(all.max(1)).enumerate() {
                preparing.seed(world, &self.io.prepared, |_, numbers| {
                    let some;
                    (some, rest) = rest.split_at(numbers.len());
                    numbers.copy_from_slice(some);
                    Ok(())
                })?;
            }
            preparing.pull_seeded();
            let len = bars.len() / worlds;
            let of = |world: usize| world * len..(world + 1) * len;
            (0..worlds).try_for_each(|world| preparing.add_bars(world, &mut bars[of(world)]))?;
        }
        params.iter_mut().zip(&bars).for_each(|(sum, bar)| *sum += bar.value());
        Ok(())
    }
}
