//! One step of a batch of worlds: forwards, its pullback, its pushforward.

use pullback_engine::{Error, Parts, Stepper};
use pullback_kernel::prelude::Dual;

use crate::batch::{Bars, Batch, Shared, check_given, put};
use crate::error::Failure;
use crate::pool::{Engine, Number};

/// The number of the step that each world makes, for forces that depend on time: that of world w is number w, modulo how many
/// there are.
#[derive(Clone, Copy)]
pub struct Clock<'a> {
    numbers: &'a [i32],
    least: usize,
}

impl<'a> Clock<'a> {
    pub fn new(numbers: &'a [i32]) -> Result<Self, Failure> {
        if let Some(number) = numbers.iter().find(|number| **number < 0) {
            let most = i32::MAX;
            return Err(Failure::Setting(format!(
                "index is {number}: a whole number from 0 to {most} is wanted"
            )));
        }
        let least = numbers.iter().min().map_or(0, |least| *least as usize);
        Ok(Clock { numbers, least })
    }

    /// The number of the step of a world.
    pub fn of(self, world: usize) -> usize {
        match self.numbers {
            [] => 0,
            numbers => numbers[world % numbers.len()] as usize,
        }
    }

    /// Sets how far worlds are ahead of the first, and gives the number of its step.
    fn set<S: Parts>(self, stepper: &mut Stepper<S>) -> usize {
        if self.numbers.len() > 1 {
            stepper.set_ahead(|world| self.numbers[world % self.numbers.len()] as usize - self.least);
        }
        self.least
    }
}

/// x_next = step(x, u, theta) of the step whose number `clock` says.
pub fn forward<S: Number>(
    engine: &Engine,
    at: &Batch<'_, S>,
    clock: Clock<'_>,
    next: &mut [S],
) -> Result<(), Error> {
    at.check(engine)?;
    if at.worlds == 0 {
        return Ok(());
    }
    engine.stepping(at.worlds, |memory| {
        memory.begin(&engine.step, at)?;
        memory.set_controls(&at.u, at.worlds, 0)?;
        let step = clock.set(&mut memory.stepper);
        memory.stepper.advance(step)?;
        next.copy_from_slice(memory.stepper.state());
        engine.step.settle(step + 1, next)
    })
}

/// Its pullback: from the cotangents of x_next to those of x, u and theta. `next` is what the step made.
pub fn pullback<S: Number>(
    engine: &Engine,
    at: &Batch<'_, S>,
    clock: Clock<'_>,
    next: (&[S], &[S]),
    bars: &mut Bars<'_, S>,
    shared: Shared,
) -> Result<(), Error> {
    at.check(engine)?;
    if at.worlds == 0 {
        bars.clear();
        return Ok(());
    }
    let (next, next_bar) = next;
    check_given(engine, 1, next_bar)?;
    engine.stepping(at.worlds, |memory| {
        memory.begin(&engine.step, at)?;
        memory.set_controls(&at.u, at.worlds, 0)?;
        memory.stepper.clear_params();
        memory.states.copy_from_slice(next_bar);
        memory.controls.fill(S::default());
        let step = clock.set(&mut memory.stepper);
        memory.stepper.pull(step, Some(next), &mut memory.states, &mut memory.controls)?;
        let (x, u) = (memory.states.len() / at.worlds, memory.controls.len() / at.worlds);
        for world in 0..at.worlds {
            put(bars.x, shared.x(), world, &memory.states[world * x..(world + 1) * x]);
            put(bars.u, shared.u(), world, &memory.controls[world * u..(world + 1) * u]);
            if !bars.theta.is_empty() {
                memory.stepper.params_bar(world, &mut memory.row)?;
                put(bars.theta, shared.theta(), world, &memory.row);
            }
        }
        Ok(())
    })?;
    bars.check(engine, at)
}

/// Its pushforward: x_next and its tangent, computed in double precision.
pub fn pushforward<S: Number>(
    engine: &Engine,
    at: &Batch<'_, Dual<f64>>,
    clock: Clock<'_>,
    next: &mut [S],
    next_dot: &mut [S],
) -> Result<(), Error> {
    at.check(engine)?;
    if at.worlds == 0 {
        return Ok(());
    }
    engine.pushing(at.worlds, |memory| {
        memory.begin(&engine.step, at)?;
        memory.set_controls(&at.u, at.worlds, 0)?;
        let step = clock.set(&mut memory.stepper);
        memory.stepper.advance(step)?;
        split(memory.stepper.state(), next, next_dot);
        engine.step.settle(step + 1, next)
    })
}

/// Values and tangents, apart.
pub fn split<S: Number>(duals: &[Dual<f64>], values: &mut [S], tangents: &mut [S]) {
    for (i, dual) in duals.iter().enumerate() {
        values[i] = S::from_parts(dual.value, 0.0);
        tangents[i] = S::from_parts(dual.tangent, 0.0);
    }
}
