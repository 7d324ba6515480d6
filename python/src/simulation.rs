//! Simulations: steps and rollouts of a model, on arrays at addresses.

use std::str::FromStr;
use std::sync::Arc;

use pullback_engine::{Error, Options, Scheme, Step};
use pullback_kernel::cuda::Device;
use pullback_kernel::prelude::RunOptions;
use pullback_kernel::program::DeviceError;
use pullback_scene::{Integrator, Memory, Snapshots};
use pyo3::prelude::*;

use crate::batch::{Shared, Sizes, numbers_mut};
use crate::calls::{Index, Three, three};
use crate::compute::compute;
use crate::error::Failure;
use crate::model::Model;
use crate::pool::{Engine, Pools};
use crate::rollout::Course;

/// A step of a model, how rollouts of it run, and memory for them.
///
/// Arrays are addresses of contiguous numbers, `float` where `single`, else `double`. `shared` has the bits 1, 2, 4 where all
/// worlds share x, u, theta: there is one row of it then, and one of its cotangent, the sum over worlds. A cotangent or tangent
/// at address 0 is not wanted, or zero.
#[pyclass(frozen, module = "pullback._core")]
pub struct Simulation(pub Arc<Engine>);

impl Simulation {
    fn sizes(&self, worlds: usize, shared: u8, steps: usize) -> Sizes {
        let [x, u, theta] = self.0.lens();
        Sizes { worlds, shared: Shared(shared), x, u: u * steps, theta }
    }
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(
        py: Python<'_>,
        model: &Bound<'_, Model>,
        dt: f64,
        substeps: usize,
        integrator: &str,
        memory: (String, usize),
        snapshots: &str,
        truncate: Option<usize>,
        clip: Option<f64>,
        threads: usize,
        steps: usize,
        gpu: Option<usize>,
    ) -> PyResult<Simulation> {
        let model = model.get();
        compute(py, || {
            let integrator = Integrator::from_str(integrator).map_err(|e| Failure::Setting(e.to_string()))?;
            let memory = self::memory(&memory.0, memory.1)?;
            let snapshots = self::snapshots(snapshots)?;
            let step = Step::new(&model.model, Scheme { integrator, dt, substeps })?;
            let run = RunOptions { threads, ..RunOptions::default() };
            let options = Options { memory, snapshots, truncate, clip, run, ..Options::new(1) };
            // What rollouts would refuse is refused here. What a budget falls short of is said of as many steps as there are.
            pullback_engine::Rollout::<f64>::new(&step, options).or_else(|error| match error {
                Error::Budget { .. } => {
                    pullback_engine::Rollout::new(&step, Options { steps: steps.max(1), ..options })
                }
                error => Err(error),
            })?;
            if gpu.is_some() {
                step.runs_on_gpu()?;
            }
            let device = gpu.map(Device::new).transpose().map_err(DeviceError::Cuda).map_err(Error::Gpu)?;
            Ok(Simulation(Engine { step, options, device, pools: Pools::default() }.into()))
        })
    }

    /// x_next. `index`: the address of the numbers of the step, `int32`, and how many there are; see `Clock`.
    fn step(
        &self,
        py: Python<'_>,
        single: bool,
        worlds: usize,
        shared: u8,
        index: Index,
        at: Three,
        next: usize,
    ) -> PyResult<()> {
        let sizes = self.sizes(worlds, shared, 1);
        compute(py, || match single {
            false => self.forward::<f64>(sizes, index, at, next),
            true => self.forward::<f32>(sizes, index, at, next),
        })
    }

    /// Cotangents of x, u and theta, of those of x_next.
    fn step_pullback(
        &self,
        py: Python<'_>,
        single: bool,
        worlds: usize,
        shared: u8,
        index: Index,
        at: Three,
        next: usize,
        next_bar: usize,
        bars: Three,
    ) -> PyResult<()> {
        let sizes = self.sizes(worlds, shared, 1);
        compute(py, || match single {
            false => self.pullback::<f64>(sizes, index, at, (next, next_bar), bars),
            true => self.pullback::<f32>(sizes, index, at, (next, next_bar), bars),
        })
    }

    /// x_next and its tangent.
    fn step_pushforward(
        &self,
        py: Python<'_>,
        single: bool,
        worlds: usize,
        shared: u8,
        index: Index,
        at: Three,
        dots: Three,
        next: usize,
        next_dot: usize,
    ) -> PyResult<()> {
        let sizes = self.sizes(worlds, shared, 1);
        compute(py, || match single {
            false => self.pushforward::<f64>(sizes, index, at, dots, (next, next_dot)),
            true => self.pushforward::<f32>(sizes, index, at, dots, (next, next_dot)),
        })
    }

    /// States of a rollout: of every moment, or the last alone.
    fn rollout(
        &self,
        py: Python<'_>,
        single: bool,
        worlds: usize,
        shared: u8,
        steps: usize,
        last: bool,
        at: Three,
        states: usize,
    ) -> PyResult<()> {
        let (sizes, course) = (self.sizes(worlds, shared, steps), Course { steps, last });
        compute(py, || match single {
            false => self.roll::<f64>(sizes, course, at, states),
            true => self.roll::<f32>(sizes, course, at, states),
        })
    }

    /// Cotangents of x, u and theta, of those of the states that were seen. `states` may be 0, where they are not known.
    fn rollout_pullback(
        &self,
        py: Python<'_>,
        single: bool,
        worlds: usize,
        shared: u8,
        steps: usize,
        last: bool,
        at: Three,
        states: usize,
        states_bar: usize,
        bars: Three,
    ) -> PyResult<()> {
        let (sizes, course) = (self.sizes(worlds, shared, steps), Course { steps, last });
        compute(py, || match single {
            false => self.pull::<f64>(sizes, course, at, (states, states_bar), bars),
            true => self.pull::<f32>(sizes, course, at, (states, states_bar), bars),
        })
    }

    /// States of a rollout and their tangents.
    fn rollout_pushforward(
        &self,
        py: Python<'_>,
        single: bool,
        worlds: usize,
        shared: u8,
        steps: usize,
        last: bool,
        at: Three,
        dots: Three,
        states: usize,
        states_dot: usize,
    ) -> PyResult<()> {
        let (sizes, course) = (self.sizes(worlds, shared, steps), Course { steps, last });
        compute(py, || match single {
            false => self.push::<f64>(sizes, course, at, dots, (states, states_dot)),
            true => self.push::<f32>(sizes, course, at, dots, (states, states_dot)),
        })
    }

    /// Writes x_next, A and B of a step of one world, on tangents: A (tangent × tangent) and B (tangent × control), row by row.
    fn linearise(&self, py: Python<'_>, index: usize, at: Three, found: Three) -> PyResult<()> {
        let sizes = self.sizes(1, 0, 1);
        compute(py, || {
            // SAFETY: the package passes arrays of these sizes, and holds them until this returns.
            let batch = unsafe { sizes.batch::<f64>(three(at))? };
            batch.check(&self.0)?;
            let to = three(found);
            let [x, u, theta] = [batch.x.of(0), batch.u.of(0), batch.theta.of(0)];
            let found = self.0.step.linearise(index, x, u, theta)?;
            for (numbers, to) in [found.next, found.a, found.b].iter().zip(to) {
                // SAFETY: as above.
                unsafe { numbers_mut(to, numbers.len())? }.copy_from_slice(numbers);
            }
            Ok(())
        })
    }
}

/// A memory strategy, by its name in files and its number.
fn memory(name: &str, number: usize) -> Result<Memory, Failure> {
    match name {
        "every-step" => Ok(Memory::EveryStep),
        "binomial" => Ok(Memory::Binomial { snapshots: number }),
        "budget" => Ok(Memory::Budget { bytes: number }),
        "dense" => Ok(Memory::Dense),
        "reversible" => Ok(Memory::Reversible),
        other => Err(Failure::Setting(format!("there is no memory `{other}`"))),
    }
}

fn snapshots(name: &str) -> Result<Snapshots, Failure> {
    match name {
        "f64" => Ok(Snapshots::F64),
        "f32" => Ok(Snapshots::F32),
        other => Err(Failure::Setting(format!("snapshots are kept as \"f64\" or \"f32\", not `{other}`"))),
    }
}
