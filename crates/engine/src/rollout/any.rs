//! A rollout wherever it runs.

use std::sync::Arc;

use pullback_kernel::cuda::Device;
use pullback_kernel::program::DeviceFloat;

use super::{GpuRollout, Gradient, Loss, Moment, Options, Rollout, Start};
use crate::error::Error;
use crate::step::Step;
use crate::stepper::Parts;

/// A rollout on the CPU or on a GPU, for what does not care which.
pub enum AnyRollout<S: DeviceFloat + Parts = f64> {
    /// On the CPU.
    Cpu(Box<Rollout<S>>),
    /// On a GPU.
    Gpu(Box<GpuRollout<S>>),
}

impl<S: DeviceFloat + Parts> AnyRollout<S> {
    /// Sets aside the memory of rollouts on a GPU, or on the CPU.
    pub fn new(step: &Step, options: Options, device: Option<&Arc<Device>>) -> Result<Self, Error> {
        Ok(match device {
            None => AnyRollout::Cpu(Rollout::new(step, options)?.into()),
            Some(device) => AnyRollout::Gpu(GpuRollout::new(step, options, device)?.into()),
        })
    }

    /// The loss of each world.
    pub fn value(&mut self, start: &Start<'_>, loss: &dyn Loss) -> Result<&[f64], Error> {
        match self {
            AnyRollout::Cpu(rollout) => rollout.value(start, loss),
            AnyRollout::Gpu(rollout) => rollout.value(start, loss),
        }
    }

    /// Shows each moment of each world that `looks` names by its number and whether it is the last, from the first to the last.
    pub fn watch_at(
        &mut self,
        start: &Start<'_>,
        looks: impl Fn(usize, bool) -> bool,
        mut see: impl FnMut(&Moment<'_>),
    ) -> Result<(), Error> {
        match self {
            AnyRollout::Cpu(rollout) => rollout.watch(start, |moment| {
                if looks(moment.step, moment.last) {
                    see(moment);
                }
            }),
            AnyRollout::Gpu(rollout) => rollout.watch_at(start, looks, see),
        }
    }

    /// The loss of each world, and its derivatives by the first state, all controls and all params.
    pub fn gradient(&mut self, start: &Start<'_>, loss: &dyn Loss) -> Result<&Gradient, Error> {
        match self {
            AnyRollout::Cpu(rollout) => rollout.gradient(start, loss),
            AnyRollout::Gpu(rollout) => rollout.gradient(start, loss),
        }
    }
}
