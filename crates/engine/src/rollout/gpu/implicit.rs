//! Implicit steps on a GPU: residuals and their pullbacks are made there, and equations are solved on the CPU.

use pullback_kernel::program::{DeviceFloat, DeviceWorkspace};

use super::super::{Options, Start};
use super::transfer::{numbers, read, seed, write};
use crate::error::Error;
use crate::step::{Io, Step, Unknown};
use crate::stepper::{Equation, Newton, Parts};

/// What a rollout of implicit steps has on the CPU.
pub(super) struct Implicit<S: Parts> {
    newton: Newton<S>,
    worlds: usize,
    steps: usize,
    substeps: usize,
    h: f64,
    /// Where a part of a step begins, and when.
    states: Vec<S>,
    times: Vec<f64>,
    /// Of all steps.
    controls: Vec<S>,
    /// Are the unknowns on the device those of the part of a step whose state is there?
    pub solved: bool,
}

/// The equation in the workspace of a device.
struct OnGpu<'a, S: DeviceFloat> {
    workspace: &'a DeviceWorkspace<S>,
    io: &'a Io,
    worlds: usize,
}

impl<S: DeviceFloat + Parts> Equation<S> for OnGpu<'_, S> {
    fn evaluate(&mut self, unknown: &Unknown, z: &[S], residuals: &mut [S]) -> Result<(), Error> {
        write(self.workspace, &unknown.z, z, self.worlds)?;
        self.workspace.forward()?;
        read(&unknown.residual, residuals, self.worlds, |buffer, see| {
            self.workspace.read_numbers(buffer, see)
        })
    }

    fn unknowns(&self, unknown: &Unknown, z: &mut [S]) -> Result<(), Error> {
        read(&unknown.z, z, self.worlds, |buffer, see| self.workspace.read_numbers(buffer, see))
    }

    fn begin(&self, states: &mut [S]) -> Result<(), Error> {
        read(&self.io.state, states, self.worlds, |buffer, see| self.workspace.read_numbers(buffer, see))
    }

    fn seed(&mut self, unknown: &Unknown, bars: &[S]) -> Result<(), Error> {
        seed(self.workspace, &unknown.residual, bars, self.worlds)
    }
}

impl<S: DeviceFloat + Parts> Implicit<S> {
    /// For an implicit step; none for an explicit one.
    pub fn new(step: &Step, options: &Options) -> Option<Self> {
        let (scheme, state) = (step.scheme(), step.model().state_layout().len());
        Some(Implicit {
            newton: Newton::new(step, &step.io, options.worlds, options.run)?,
            worlds: options.worlds,
            steps: options.steps,
            substeps: scheme.substeps,
            h: scheme.part(),
            states: vec![S::default(); options.worlds * state],
            times: vec![0.0; options.worlds],
            controls: Vec::new(),
            solved: false,
        })
    }

    /// Takes the controls and params of a start.
    pub fn begin(&mut self, start: &Start<'_>, params: &[S]) -> Result<(), Error> {
        self.controls = numbers(start.controls);
        self.solved = false;
        let len = params.len() / self.worlds;
        (0..self.worlds)
            .try_for_each(|world| self.newton.set_params(world, &params[world * len..(world + 1) * len]))
    }

    /// Takes what was prepared of one world's params: number `k` of it.
    pub fn set_prepared(&mut self, world: usize, k: usize, prepared: &[S]) -> Result<(), Error> {
        self.newton.set_prepared(world, k, prepared)
    }

    /// Makes the values of a part of a step, whose state is on the device. False if they are not finite.
    pub fn forward(&mut self, workspace: &DeviceWorkspace<S>, io: &Io, part: usize) -> Result<bool, Error> {
        if self.solved {
            workspace.forward()?;
            return Ok(true);
        }
        self.tell(workspace, io, part)?;
        let mut equation = OnGpu { workspace, io, worlds: self.worlds };
        let begin = (part / self.substeps, &*self.states, &*self.times);
        self.solved = self.newton.forward(&mut equation, begin, None)?;
        Ok(self.solved)
    }

    /// Seeds the residuals from the cotangents of the states that a part of a step ends with, whose values are on the device.
    pub fn seed(
        &mut self,
        workspace: &DeviceWorkspace<S>,
        io: &Io,
        part: usize,
        bars: &[S],
    ) -> Result<(), Error> {
        self.tell(workspace, io, part)?;
        let mut equation = OnGpu { workspace, io, worlds: self.worlds };
        self.newton.recall(&equation, &self.states, &self.times)?;
        self.newton.seed(&mut equation, part / self.substeps, bars)
    }

    /// Notes where a part of a step begins, and what is applied in it.
    fn tell(&mut self, workspace: &DeviceWorkspace<S>, io: &Io, part: usize) -> Result<(), Error> {
        OnGpu { workspace, io, worlds: self.worlds }.begin(&mut self.states)?;
        self.times.fill(part as f64 * self.h);
        let len = self.controls.len() / (self.worlds * self.steps);
        for world in 0..self.worlds {
            let at = (world * self.steps + part / self.substeps) * len;
            self.newton.set_control(world, &self.controls[at..at + len])?;
        }
        Ok(())
    }
}
