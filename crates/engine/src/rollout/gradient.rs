//! What a rollout starts from, and the derivatives of its loss by that.

use super::Options;
use crate::error::Error;
use crate::model::Model;
use crate::names::{Params, State};

/// What a rollout starts from. Worlds lie one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The first states.
    pub states: &'a [f64],
    /// The controls of all steps, step after step.
    pub controls: &'a [f64],
    /// The params.
    pub params: &'a [f64],
}

impl<'a> Start<'a> {
    /// Of one world.
    pub fn new(state: &'a State, controls: &'a [f64], params: &'a Params) -> Self {
        Start { states: state.values(), controls, params: params.values() }
    }
}

/// A loss, and its derivatives. Worlds lie one after the other.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The loss of each world.
    pub values: Vec<f64>,
    /// By the first states.
    pub states: Vec<f64>,
    /// By the controls of all steps.
    pub controls: Vec<f64>,
    /// By the params.
    pub params: Vec<f64>,
    /// The Euclidean norm of the cotangent of each state, from the first to the last, before any clipping.
    pub norms: Vec<f64>,
    model: Model,
}

impl Gradient {
    pub(super) fn new(model: &Model, options: &Options) -> Self {
        let zeros = |len: usize| vec![0.0; options.worlds * len];
        Gradient {
            values: zeros(1),
            states: zeros(model.state_layout().len()),
            controls: zeros(model.control_layout().len() * options.steps),
            params: zeros(model.params_layout().len()),
            norms: zeros(options.steps + 1),
            model: model.clone(),
        }
    }

    pub(super) fn clear(&mut self) {
        for values in [&mut self.states, &mut self.controls, &mut self.params, &mut self.norms] {
            values.fill(0.0);
        }
    }

    /// The loss, summed over worlds.
    pub fn value(&self) -> f64 {
        self.values.iter().sum()
    }

    /// By the first state of one world, with names.
    pub fn state(&self, world: usize) -> Result<State, Error> {
        let len = self.model.state_layout().len();
        let values = self.states.get(world * len..(world + 1) * len).unwrap_or_default().to_vec();
        Ok(State::from_values(self.model.state_layout(), values)?)
    }

    /// By the params of one world, with names.
    pub fn params(&self, world: usize) -> Result<Params, Error> {
        let len = self.model.params_layout().len();
        let values = self.params.get(world * len..(world + 1) * len).unwrap_or_default().to_vec();
        Ok(Params::from_values(self.model.params_layout(), values)?)
    }
}
