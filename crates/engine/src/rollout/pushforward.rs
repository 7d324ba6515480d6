//! Tangents of a rollout: the derivative of every moment along some directions, without keeping anything.

use pullback_kernel::prelude::{Dual, RunOptions};

use super::{Moment, Start, check_start};
use crate::error::Error;
use crate::step::Step;
use crate::stepper::Stepper;

/// One number that a rollout starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coordinate {
    /// Of the first state.
    State(usize),
    /// Of the controls of all steps, step after step.
    Control(usize),
    /// Of the params.
    Param(usize),
}

/// Tangents of a moment, along one direction.
#[derive(Clone, Copy, Debug)]
pub struct Tangent<'a> {
    /// Which direction.
    pub direction: usize,
    /// Of the state.
    pub state: &'a [f64],
    /// Of the control; empty at the end.
    pub control: &'a [f64],
    /// Of the params.
    pub params: &'a [f64],
}

/// The memory in which one world is run on dual numbers, once for each direction.
pub struct Pushforward {
    step: Step,
    steps: usize,
    directions: Vec<Coordinate>,
    stepper: Stepper<Dual<f64>>,
}

impl Pushforward {
    /// For derivatives by these numbers.
    pub fn new(step: &Step, steps: usize, directions: Vec<Coordinate>, run: RunOptions) -> Self {
        let stepper = Stepper::new(step, directions.len().max(1), run);
        Pushforward { step: step.clone(), steps, directions, stepper }
    }

    /// Runs the rollout, and shows each moment from the first to the last with its tangents, direction by direction.
    pub fn run(
        &mut self,
        start: &Start<'_>,
        mut see: impl FnMut(&Moment<'_>, &Tangent<'_>),
    ) -> Result<(), Error> {
        check_start(self.step.model(), 1, self.steps, start)?;
        let n = start.states.len();
        let (len, count) = (self.step.model().control_layout().len(), self.stepper.worlds());
        let seed = |direction: usize, at: Coordinate| {
            if self.directions.get(direction) == Some(&at) { 1.0 } else { 0.0 }
        };
        let mut first = start.states.to_vec();
        self.step.settle(0, &mut first)?;
        let mut states = Vec::with_capacity(n * count);
        let mut params = vec![Dual::default(); start.params.len()];
        for direction in 0..count {
            let state = first.iter().enumerate();
            states.extend(state.map(|(i, x)| Dual::new(*x, seed(direction, Coordinate::State(i)))));
            for (i, p) in start.params.iter().enumerate() {
                params[i] = Dual::new(*p, seed(direction, Coordinate::Param(i)));
            }
            self.stepper.set_params(direction, &params)?;
        }
        self.stepper.set_state(&states)?;
        let (mut values, mut tangent) = (vec![0.0; n], vec![0.0; n]);
        let mut param_dots = vec![0.0; start.params.len()];
        let (mut duals, mut control_dots) = (vec![Dual::default(); len], vec![0.0; len]);
        for step in 0..=self.steps {
            let last = step == self.steps;
            let control = if last { &[] } else { &start.controls[step * len..(step + 1) * len] };
            let dots = &mut control_dots[..control.len()];
            let states = if step == 0 { &states[..] } else { self.stepper.state() };
            for direction in 0..count {
                for (i, x) in states[direction * n..(direction + 1) * n].iter().enumerate() {
                    (values[i], tangent[i]) = (x.value, x.tangent);
                }
                for i in 0..control.len() {
                    dots[i] = seed(direction, Coordinate::Control(step * len + i));
                }
                for i in 0..param_dots.len() {
                    param_dots[i] = seed(direction, Coordinate::Param(i));
                }
                let time = step as f64 * self.step.scheme().dt;
                let moment =
                    Moment { world: 0, step, time, last, state: &values, control, params: start.params };
                see(&moment, &Tangent { direction, state: &tangent, control: dots, params: &param_dots });
            }
            if last {
                break;
            }
            for direction in (0..count).filter(|_| len > 0) {
                for i in 0..len {
                    duals[i] = Dual::new(control[i], seed(direction, Coordinate::Control(step * len + i)));
                }
                self.stepper.set_control(direction, &duals)?;
            }
            self.stepper.advance(step)?;
        }
        Ok(())
    }
}
