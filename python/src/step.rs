//! One step of a batch of worlds: forwards, its pullback, its pushforward.

use pullback_engine::Error;
use pullback_kernel::prelude::Dual;

use crate::batch::{Bars, Batch, Shared, put};
use crate::pool::{Engine, Number};

/// x_next = step(x, u, theta) of step number `index`.
pub fn forward<S: Number>(
    engine: &Engine,
    at: &Batch<'_, S>,
    index: usize,
    next: &mut [S],
) -> Result<(), Error> {
    at.check()?;
    if at.worlds == 0 {
        return Ok(());
    }
    engine.stepping(at.worlds, |memory| {
        memory.begin(at)?;
        memory.set_controls(&at.u, at.worlds, 0)?;
        memory.stepper.advance(index)?;
        next.copy_from_slice(memory.stepper.state());
        Ok(())
    })
}

/// Its pullback: from the cotangents of x_next to those of x, u and theta. `next` is what the step made.
pub fn pullback<S: Number>(
    engine: &Engine,
    at: &Batch<'_, S>,
    index: usize,
    next: (&[S], &[S]),
    bars: &mut Bars<'_, S>,
    shared: Shared,
) -> Result<(), Error> {
    at.check()?;
    if at.worlds == 0 {
        bars.clear();
        return Ok(());
    }
    let (next, next_bar) = next;
    engine.stepping(at.worlds, |memory| {
        memory.begin(at)?;
        memory.set_controls(&at.u, at.worlds, 0)?;
        memory.stepper.clear_params();
        memory.states.copy_from_slice(next_bar);
        memory.controls.fill(S::default());
        memory.stepper.pull(index, Some(next), &mut memory.states, &mut memory.controls)?;
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
    bars.check()
}

/// Its pushforward: x_next and its tangent, computed in double precision.
pub fn pushforward<S: Number>(
    engine: &Engine,
    at: &Batch<'_, Dual<f64>>,
    index: usize,
    next: &mut [S],
    next_dot: &mut [S],
) -> Result<(), Error> {
    at.check()?;
    if at.worlds == 0 {
        return Ok(());
    }
    engine.pushing(at.worlds, |memory| {
        memory.begin(at)?;
        memory.set_controls(&at.u, at.worlds, 0)?;
        memory.stepper.advance(index)?;
        split(memory.stepper.state(), next, next_dot);
        Ok(())
    })
}

/// Values and tangents, apart.
pub fn split<S: Number>(duals: &[Dual<f64>], values: &mut [S], tangents: &mut [S]) {
    for (i, dual) in duals.iter().enumerate() {
        values[i] = S::from_parts(dual.value, 0.0);
        tangents[i] = S::from_parts(dual.tangent, 0.0);
    }
}
