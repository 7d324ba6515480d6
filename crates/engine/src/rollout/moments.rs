//! What a loss sees of a rollout on its way, and what it adds to the gradient.

use super::{Bars, Gradient, Loss, Moment, Options, Start};
use crate::error::Error;
use crate::model::Model;
use crate::step::Step;
use crate::stepper::Parts;

/// The states of all worlds at one moment, and the gradient as far as it is known.
pub(super) struct Moments {
    options: Options,
    model: Model,
    dt: f64,
    pub gradient: Gradient,
    pub state: Vec<f64>,
    /// The cotangents that a loss adds to.
    state_bar: Vec<f64>,
}

impl Moments {
    pub fn new(step: &Step, options: Options) -> Self {
        let model = step.model();
        let zeros = || vec![0.0; options.worlds * model.state_layout().len()];
        Moments {
            gradient: Gradient::new(model, &options),
            state: zeros(),
            state_bar: zeros(),
            model: model.clone(),
            dt: step.scheme().dt,
            options,
        }
    }

    /// Does the loss look at the state before this step, or after the last?
    pub fn sees(&self, loss: &dyn Loss, step: usize) -> bool {
        loss.looks(step, step == self.options.steps)
    }

    /// World number `world` before step number `step`.
    pub fn moment<'a>(&'a self, start: &Start<'a>, world: usize, step: usize) -> Moment<'a> {
        moment((&self.options, self.dt), &self.state, start, world, step)
    }

    pub fn add_value(&mut self, start: &Start<'_>, loss: &dyn Loss, step: usize) {
        if !self.sees(loss, step) {
            return;
        }
        for world in 0..self.options.worlds {
            let value = loss.value(&self.moment(start, world, step));
            self.gradient.values[world] += value;
        }
    }

    /// Has the loss add its cotangents to those of the states.
    pub fn pull_loss<S: Parts>(
        &mut self,
        start: &Start<'_>,
        loss: &dyn Loss,
        step: usize,
        state_bars: &mut [S],
    ) {
        self.state_bar.iter_mut().zip(&*state_bars).for_each(|(to, from)| *to = from.value());
        let (worlds, steps) = (self.options.worlds, self.options.steps);
        let (size, params) = (self.state.len() / worlds, start.params.len() / worlds);
        let len = self.model.control_layout().len();
        for world in 0..worlds {
            let moment = moment((&self.options, self.dt), &self.state, start, world, step);
            let at = (world * steps + step) * len;
            let mut bars = Bars {
                state: &mut self.state_bar[world * size..(world + 1) * size],
                control: if moment.last { &mut [] } else { &mut self.gradient.controls[at..at + len] },
                params: &mut self.gradient.params[world * params..(world + 1) * params],
            };
            loss.pullback(&moment, &mut bars);
        }
        state_bars.iter_mut().zip(&self.state_bar).for_each(|(to, from)| *to = S::from_parts(*from, 0.0));
    }

    /// Adds the cotangents of all worlds' controls of a step.
    pub fn add_control_bars<S: Parts>(&mut self, step: usize, bars: &[S]) {
        let len = self.model.control_layout().len();
        for world in (0..self.options.worlds).filter(|_| len > 0) {
            let at = (world * self.options.steps + step) * len;
            let sums = self.gradient.controls[at..at + len].iter_mut();
            sums.zip(&bars[world * len..(world + 1) * len]).for_each(|(to, from)| *to += from.value());
        }
    }

    /// Is the gradient finite?
    pub fn check(&self) -> Result<(), Error> {
        let (Gradient { states, controls, params, .. }, model) = (&self.gradient, &self.model);
        let Options { steps, worlds, .. } = self.options;
        for (what, layout, steps, numbers) in [
            ("first state", model.state_layout(), None, states),
            ("controls", model.control_layout(), Some(steps), controls),
            ("params", model.params_layout(), None, params),
        ] {
            if let Some(index) = numbers.iter().position(|x| !x.is_finite()) {
                let (name, value) = (layout.called(index, steps, worlds), numbers[index]);
                return Err(Error::GradientNotFinite { what, index, name, value });
            }
        }
        Ok(())
    }
}

/// World number `world` before step number `step` of a length `dt`, of the states of all worlds.
fn moment<'a>(
    (options, dt): (&Options, f64),
    states: &'a [f64],
    start: &Start<'a>,
    world: usize,
    step: usize,
) -> Moment<'a> {
    let (worlds, steps) = (options.worlds, options.steps);
    let last = step == steps;
    let part = |numbers: &'a [f64], row: usize, rows: usize| {
        let len = numbers.len() / rows.max(1);
        &numbers[row * len..(row + 1) * len]
    };
    Moment {
        world,
        step,
        time: step as f64 * dt,
        last,
        state: part(states, world, worlds),
        control: if last { &[] } else { part(start.controls, world * steps + step, worlds * steps) },
        params: part(start.params, world, worlds),
    }
}
