//! Memory for steps and rollouts, kept between calls: as much as calls at the same time have needed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use pullback_engine::{AnyRollout, Error, Options, Parts, Step, Stepper};
use pullback_kernel::cuda::{self, Device};
use pullback_kernel::prelude::{Dual, RunOptions};
use pullback_kernel::program::{DeviceError, DeviceFloat};
use pyo3::pyfunction;

use crate::batch::{Batch, Rows};
use crate::error::Failure;

/// The most things that a pool keeps.
const MOST: usize = 16;
/// The most bytes that a pool keeps; one thing that is larger is kept alone.
const MOST_BYTES: usize = 256 << 20;

/// How often this process was forked off from another.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Python calls it in a process that was forked off, where the threads of the other one are not.
#[pyfunction]
pub fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// What a pool keeps.
pub trait Kept {
    /// How many bytes it holds.
    fn bytes(&self) -> usize;
}

/// Something that is free.
struct Free<K, T> {
    kind: K,
    /// How often the process that made it was forked off.
    forks: u32,
    bytes: usize,
    thing: T,
}

/// Things that calls take, use alone, and give back.
pub struct Pool<K, T>(Mutex<Vec<Free<K, T>>>);

impl<K, T> Default for Pool<K, T> {
    fn default() -> Self {
        Pool(Mutex::new(Vec::new()))
    }
}

impl<K: PartialEq, T: Kept> Pool<K, T> {
    /// Does `work` with a thing of this kind: one that is free, or a new one. After an error it is thrown away.
    pub fn with<R, E>(
        &self,
        kind: K,
        make: impl FnOnce() -> Result<T, E>,
        work: impl FnOnce(&mut T) -> Result<R, E>,
    ) -> Result<R, E> {
        let forks = FORKS.load(Ordering::Relaxed);
        let free = {
            // A panic elsewhere left nothing half done: things are taken out before they are used.
            let mut free = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            // Threads stay behind in the process that this one was forked off: what has some is of no use, and is left alone.
            free.extract_if(.., |it| it.forks != forks).for_each(std::mem::forget);
            free.iter().rposition(|it| it.kind == kind).map(|i| free.remove(i))
        };
        let mut taken = match free {
            Some(taken) => taken,
            None => {
                let thing = make()?;
                Free { kind, forks, bytes: thing.bytes(), thing }
            }
        };
        let result = work(&mut taken.thing)?;
        drop(self.give_back(taken));
        Ok(result)
    }

    /// Throws away what is free.
    pub fn clear(&self) {
        let free = std::mem::take(&mut *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        drop(free);
    }

    /// Keeps a thing, and gives those that have to go for it: the oldest ones. They may have threads to wait for, which is not to be
    /// done here.
    fn give_back(&self, thing: Free<K, T>) -> Vec<Free<K, T>> {
        let mut free = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        free.push(thing);
        let mut bytes = 0;
        let fits = |it: &&Free<K, T>| {
            bytes += it.bytes;
            bytes <= MOST_BYTES
        };
        let fit = free.iter().rev().take(MOST).take_while(fits).count().max(1);
        let too_many = free.len() - fit;
        free.drain(..too_many).collect()
    }
}

/// A stepper, and the params that it has.
pub struct Stepping<S: Parts> {
    pub stepper: Stepper<S>,
    /// Of each world; empty before they are first set.
    params: Vec<S>,
    /// Numbers of all worlds on their way.
    pub states: Vec<S>,
    pub controls: Vec<S>,
    /// Of one world.
    pub row: Vec<S>,
}

impl<S: Parts> Kept for Stepping<S> {
    fn bytes(&self) -> usize {
        let numbers = 2 * self.states.len() + self.controls.len() + self.stepper.worlds() * self.row.len();
        self.stepper.bytes() + size_of::<S>() * numbers
    }
}

impl<S: Number> Kept for AnyRollout<S> {
    fn bytes(&self) -> usize {
        match self {
            AnyRollout::Cpu(rollout) => rollout.bytes().0,
            // Memory of the device, which is emptied when it is short.
            AnyRollout::Gpu(_) => 0,
        }
    }
}

/// A rollout on the device that the simulation says.
pub fn rollout<S: Number>(engine: &Engine, options: Options) -> Result<AnyRollout<S>, Error> {
    let make = || AnyRollout::new(&engine.step, options, engine.device.as_ref());
    make().or_else(|error| match error {
        Error::Gpu(DeviceError::Cuda(cuda::Error::OutOfMemory { .. })) => {
            // Others that are free may have what it wants.
            engine.pools.double.rollouts.clear();
            engine.pools.single.rollouts.clear();
            make()
        }
        error => Err(error),
    })
}

impl<S: Parts> Stepping<S> {
    /// For steps of `worlds` worlds.
    pub fn new(step: &Step, worlds: usize, run: RunOptions) -> Self {
        let model = step.model();
        let zeros = |len: usize| vec![S::default(); len];
        Stepping {
            stepper: Stepper::new(step, worlds, run),
            params: Vec::new(),
            states: zeros(worlds * model.state_layout().len()),
            controls: zeros(worlds * model.control_layout().len()),
            row: zeros(model.params_layout().len()),
        }
    }

    /// Sets params and states. Params that are the same as before cost a comparison, not a preparation.
    pub fn begin(&mut self, step: &Step, at: &Batch<'_, S>) -> Result<(), Error> {
        let len = self.row.len();
        let first = self.params.len() != at.worlds * len;
        if first {
            self.params = at.theta.all(at.worlds).collect();
        }
        self.stepper.set_ahead(|_| 0);
        for world in 0..at.worlds {
            let (new, held) = (at.theta.of(world), &mut self.params[world * len..(world + 1) * len]);
            if first || !same(held, new) {
                held.copy_from_slice(new);
                self.stepper.set_params(world, new)?;
            }
        }
        self.set_states(step, &at.x, at.worlds)
    }

    /// Sets the states of all worlds, and leaves them in `states`: where the integrator begins from them.
    fn set_states(&mut self, step: &Step, x: &Rows<'_, S>, worlds: usize) -> Result<(), Error> {
        let len = self.states.len() / worlds;
        for world in 0..worlds {
            self.states[world * len..(world + 1) * len].copy_from_slice(x.of(world));
        }
        step.settle(0, &mut self.states)?;
        self.stepper.set_state(&self.states)
    }

    /// Sets the controls of step number `step` of all worlds.
    pub fn set_controls(&mut self, u: &Rows<'_, S>, worlds: usize, step: usize) -> Result<(), Error> {
        let len = self.controls.len() / worlds;
        if len == 0 {
            return Ok(());
        }
        (0..worlds)
            .try_for_each(|world| self.stepper.set_control(world, &u.of(world)[step * len..(step + 1) * len]))
    }
}

/// The same numbers, to the last bit?
fn same<S: Parts>(a: &[S], b: &[S]) -> bool {
    let bits = |x: &S| (x.value().to_bits(), x.tangent().to_bits());
    a.iter().zip(b).all(|(a, b)| bits(a) == bits(b))
}

/// What rollouts are told apart by: worlds, steps, and whether they keep anything.
type Kind = (usize, usize, bool);

/// All memory of a simulation.
#[derive(Default)]
pub struct Pools {
    double: OfNumbers<f64>,
    single: OfNumbers<f32>,
    pub duals: Pool<usize, Stepping<Dual<f64>>>,
}

/// Memory for one kind of numbers.
pub struct OfNumbers<S: Number> {
    pub steppers: Pool<usize, Stepping<S>>,
    pub rollouts: Pool<Kind, AnyRollout<S>>,
}

impl<S: Number> Default for OfNumbers<S> {
    fn default() -> Self {
        OfNumbers { steppers: Pool::default(), rollouts: Pool::default() }
    }
}

/// A kind of numbers that Python has.
pub trait Number: Parts + DeviceFloat {
    fn of(pools: &Pools) -> &OfNumbers<Self>;
}

impl Number for f64 {
    fn of(pools: &Pools) -> &OfNumbers<f64> {
        &pools.double
    }
}

impl Number for f32 {
    fn of(pools: &Pools) -> &OfNumbers<f32> {
        &pools.single
    }
}

/// A simulation: what is computed, how, and the memory for it.
pub struct Engine {
    pub step: Step,
    pub options: Options,
    /// The GPU on which rollouts run, if they do.
    pub device: Option<Arc<Device>>,
    pub pools: Pools,
}

impl Engine {
    /// The lengths of a state, a control and params.
    pub fn lens(&self) -> [usize; 3] {
        let model = self.step.model();
        [model.state_layout().len(), model.control_layout().len(), model.params_layout().len()]
    }

    /// An error where rollouts have no tangents: those that cut gradients off on their way back have only that.
    pub fn has_tangents(&self) -> Result<(), Failure> {
        let Options { truncate, clip, .. } = self.options;
        let cut = match (truncate, clip) {
            (None, None) => return Ok(()),
            (Some(steps), _) => format!("truncate={steps}"),
            (None, Some(norm)) => format!("clip={norm}"),
        };
        Err(Failure::Setting(format!(
            "a rollout with {cut} has no forward mode (jvp, jacfwd): only gradients on their way back are cut; \
             take them, or `sim.replace(truncate=None, clip=None)`"
        )))
    }

    /// Does `work` with a stepper.
    pub fn stepping<S: Number, R>(
        &self,
        worlds: usize,
        work: impl FnOnce(&mut Stepping<S>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let make = || Ok(Stepping::new(&self.step, worlds, self.options.run));
        S::of(&self.pools).steppers.with(worlds, make, work)
    }

    /// Does `work` with a stepper on dual numbers.
    pub fn pushing<R>(
        &self,
        worlds: usize,
        work: impl FnOnce(&mut Stepping<Dual<f64>>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let make = || Ok(Stepping::new(&self.step, worlds, self.options.run));
        self.pools.duals.with(worlds, make, work)
    }
}
