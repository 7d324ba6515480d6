//! The linearisation of a step, for control: A and B in the tangent space of states.

use pullback_kernel::prelude::*;

use crate::error::Error;
use crate::names::Layout;
use crate::step::Step;
use crate::stepper::Stepper;

/// δx_next = A δx + B δu, to first order. States count by their tangents: a quaternion by a rotation vector in the body's
/// axes [rad], so that a robot with nv degrees of freedom has 2 nv.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearisation {
    /// The state that the step ends with.
    pub next: Vec<f64>,
    /// How many numbers a tangent of the state has.
    pub states: usize,
    /// How many numbers a control has.
    pub controls: usize,
    /// A: `states` × `states`, row by row.
    pub a: Vec<f64>,
    /// B: `states` × `controls`, row by row.
    pub b: Vec<f64>,
}

impl Step {
    /// Makes step number `step` (which counts for forces that depend on time) from a state, and linearises it there.
    ///
    /// All directions go forward at once, on dual numbers.
    pub fn linearise(
        &self,
        step: usize,
        state: &[f64],
        control: &[f64],
        params: &[f64],
    ) -> Result<Linearisation, Error> {
        let layout = self.model().state_layout();
        let (states, controls) = (layout.tangent_len(), self.model().control_layout().len());
        for (what, numbers, wanted) in [
            ("a state", state, layout.len()),
            ("a control", control, controls),
            ("params", params, self.model().params_layout().len()),
        ] {
            if numbers.len() != wanted {
                return Err(Error::Length { what, wanted, found: numbers.len() });
            }
        }
        let mut settled = state.to_vec();
        self.settle(step, &mut settled)?;
        let state = &settled[..];
        let worlds = states + controls;
        let mut stepper = Stepper::<Dual<f64>>::new(self, worlds.max(1), RunOptions::default());
        let constant = |numbers: &[f64]| numbers.iter().map(|x| Dual::new(*x, 0.0)).collect::<Vec<_>>();
        let (still, params) = (constant(control), constant(params));
        let mut all = Vec::with_capacity(worlds * state.len());
        for world in 0..worlds.max(1) {
            let mut tangent = vec![0.0; states];
            if world < states {
                tangent[world] = 1.0;
            }
            let rates = from_tangent(layout, state, &tangent);
            all.extend(state.iter().zip(rates).map(|(x, rate)| Dual::new(*x, rate)));
            stepper.set_params(world, &params)?;
            let mut control = still.clone();
            if let Some(u) = world.checked_sub(states).and_then(|i| control.get_mut(i)) {
                u.tangent = 1.0;
            }
            stepper.set_control(world, &control)?;
        }
        stepper.set_state(&all)?;
        stepper.advance(step)?;
        let next: Vec<f64> = stepper.state()[..state.len()].iter().map(|x| x.value).collect();
        let (mut a, mut b) = (vec![0.0; states * states], vec![0.0; states * controls]);
        for (world, reached) in stepper.state().chunks_exact(state.len()).take(worlds).enumerate() {
            let rates: Vec<f64> = reached.iter().map(|x| x.tangent).collect();
            for (i, rate) in to_tangent(layout, &next, &rates).into_iter().enumerate() {
                match world.checked_sub(states) {
                    None => a[i * states + world] = rate,
                    Some(u) => b[i * controls + u] = rate,
                }
            }
        }
        Ok(Linearisation { next, states, controls, a, b })
    }
}

/// Rates of stored numbers, of a tangent.
fn from_tangent(layout: &Layout, values: &[f64], tangent: &[f64]) -> Vec<f64> {
    let (mut rates, mut at) = (vec![0.0; values.len()], 0);
    for (block, range) in layout.ranges() {
        let (space, n) = (block.quantity.space, block.numbers);
        let t = space.tangent_numbers(n);
        for start in range.step_by(n) {
            space.push_tangent(&values[start..start + n], &tangent[at..at + t], &mut rates[start..start + n]);
            at += t;
        }
    }
    rates
}

/// The tangent of rates of stored numbers.
fn to_tangent(layout: &Layout, values: &[f64], rates: &[f64]) -> Vec<f64> {
    let (mut tangent, mut at) = (vec![0.0; layout.tangent_len()], 0);
    for (block, range) in layout.ranges() {
        let (space, n) = (block.quantity.space, block.numbers);
        let t = space.tangent_numbers(n);
        for start in range.step_by(n) {
            space.tangent_of(&values[start..start + n], &rates[start..start + n], &mut tangent[at..at + t]);
            at += t;
        }
    }
    tangent
}
