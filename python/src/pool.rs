//! Memory for steps and rollouts, kept between calls: as much as calls at the same time have needed.

use std::sync::Mutex;

use pullback_engine::{Error, Options, Parts, Rollout, Step, Stepper};
use pullback_kernel::prelude::{Dual, RunOptions};

use crate::batch::{Batch, Rows};

/// The most that is kept of one kind.
const MOST: usize = 16;

/// Things that calls take, use alone, and give back.
pub struct Pool<K, T>(Mutex<Vec<(K, T)>>);

impl<K, T> Default for Pool<K, T> {
    fn default() -> Self {
        Pool(Mutex::new(Vec::new()))
    }
}

impl<K: PartialEq + Clone, T> Pool<K, T> {
    /// Does `work` with a thing of this kind: one that is free, or a new one. After an error it is thrown away.
    pub fn with<R, E>(
        &self,
        kind: K,
        make: impl FnOnce() -> Result<T, E>,
        work: impl FnOnce(&mut T) -> Result<R, E>,
    ) -> Result<R, E> {
        let free = {
            // A panic elsewhere left nothing half done: things are taken out before they are used.
            let mut free = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            free.iter().rposition(|(of, _)| *of == kind).map(|i| free.remove(i).1)
        };
        let mut thing = match free {
            Some(thing) => thing,
            None => make()?,
        };
        let result = work(&mut thing)?;
        let mut free = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if free.len() >= MOST {
            free.remove(0);
        }
        free.push((kind, thing));
        Ok(result)
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
    pub fn begin(&mut self, at: &Batch<'_, S>) -> Result<(), Error> {
        let len = self.row.len();
        let first = self.params.len() != at.worlds * len;
        if first {
            self.params = at.theta.all(at.worlds).collect();
        }
        for world in 0..at.worlds {
            let (new, held) = (at.theta.of(world), &mut self.params[world * len..(world + 1) * len]);
            if first || !same(held, new) {
                held.copy_from_slice(new);
                self.stepper.set_params(world, new)?;
            }
        }
        self.set_states(&at.x, at.worlds)
    }

    /// Sets the states of all worlds.
    pub fn set_states(&mut self, x: &Rows<'_, S>, worlds: usize) -> Result<(), Error> {
        let len = self.states.len() / worlds;
        for world in 0..worlds {
            self.states[world * len..(world + 1) * len].copy_from_slice(x.of(world));
        }
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
pub struct OfNumbers<S: Parts> {
    pub steppers: Pool<usize, Stepping<S>>,
    pub rollouts: Pool<Kind, Rollout<S>>,
}

impl<S: Parts> Default for OfNumbers<S> {
    fn default() -> Self {
        OfNumbers { steppers: Pool::default(), rollouts: Pool::default() }
    }
}

/// A kind of numbers that Python has.
pub trait Number: Parts {
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
    pub pools: Pools,
}

impl Engine {
    /// The lengths of a state, a control and params.
    pub fn lens(&self) -> [usize; 3] {
        let model = self.step.model();
        [model.state_layout().len(), model.control_layout().len(), model.params_layout().len()]
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
