//! Timing of rollouts, and the loss that all of them have.

use pullback_engine::rollout::{Bars, Moment};
use pullback_engine::{Error, Gradient, Loss, Options, Parts, Rollout, Start, Step};

use crate::{measure, quick};

/// One number of the last state.
pub struct AtTheEnd(
    /// Which.
    pub usize,
);

impl Loss for AtTheEnd {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { moment.state[self.0] } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state[self.0] += 1.0;
        }
    }
}

/// What a rollout takes.
pub struct Times {
    /// A value [s/step], of all worlds.
    pub forward: f64,
    /// A gradient with the forward pass that it needs [s/step], of all worlds.
    pub gradient: f64,
    /// That gradient.
    pub result: Gradient,
}

/// Measures the rollout of a model from its own state, with its own controls and params in all worlds.
///
/// # Errors
/// When the rollout does not run.
pub fn times(step: &Step, options: Options, loss: &AtTheEnd) -> Result<Times, Error> {
    times_from::<f64>(step, step.model().state().values(), options, loss)
}

/// The same in other numbers, and from another state.
///
/// # Errors
/// When the rollout does not run.
pub fn times_from<S: Parts>(
    step: &Step,
    state: &[f64],
    options: Options,
    loss: &AtTheEnd,
) -> Result<Times, Error> {
    let mut rollout = Rollout::<S>::new(step, options)?;
    let model = step.model();
    let states = state.repeat(options.worlds);
    let controls = model.controls(options.steps).repeat(options.worlds);
    let params = model.params().values().repeat(options.worlds);
    let start = Start { states: &states, controls: &controls, params: &params };
    // Whatever can go wrong does so here.
    let result = rollout.gradient(&start, loss)?.clone();
    let seconds = if quick() { 0.05 } else { 0.3 };
    let each = 1.0 / options.steps as f64;
    let forward = measure(seconds, || {
        rollout.value(&start, loss).expect("as before");
    });
    let gradient = measure(seconds, || {
        rollout.gradient(&start, loss).expect("as before");
    });
    Ok(Times { forward: forward * each, gradient: gradient * each, result })
}
