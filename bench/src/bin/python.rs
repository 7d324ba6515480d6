//! What calls from Python cost: the Rust side. One step of a double pendulum, and rollouts of 4,096 of them.

use pullback_bench::rollouts::{AtTheEnd, times};
use pullback_bench::{measure, quick, row};
use pullback_engine::{Model, Options, Scheme, Step, Stepper};
use pullback_kernel::prelude::RunOptions;
use pullback_scene::Scene;

const WORLDS: usize = 4096;
const STEPS: usize = 20;
const SCANNED: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = Scene::load(concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes/pendulum.toml"))?;
    let step = Step::new(&Model::new(&scene)?, Scheme::of(&scene))?;
    let (state, params) = (step.model().state(), step.model().params());
    let mut stepper = Stepper::<f64>::new(&step, 1, RunOptions::default());
    stepper.set_params(0, params.values())?;
    let mut failed = None;
    let mut one = || {
        let made = stepper.set_state(state.values()).and_then(|()| stepper.advance(0));
        failed = failed.take().or(made.err());
    };
    let seconds = measure(if quick() { 0.2 } else { 1.0 }, &mut one);
    if let Some(error) = failed {
        return Err(error.into());
    }
    for pass in ["torch-step", "numpy-step", "jax-scan-step"] {
        row(&format!("pendulum/{pass}/rust"), "us", 1e6 * seconds);
    }
    row("pendulum/angle-after-a-step/rust", "1", stepper.state()[0]);
    let alone = times(&step, Options::new(SCANNED), &AtTheEnd(0))?;
    row("pendulum/jax-scan-gradient/rust", "us", 1e6 * alone.gradient);
    let times = times(&step, Options { worlds: WORLDS, ..Options::new(STEPS) }, &AtTheEnd(0))?;
    let each = 1e9 / WORLDS as f64;
    row("4096 pendulums/rollout/rust", "ns/step of one", times.forward * each);
    row("4096 pendulums/gradient/rust", "ns/step of one", times.gradient * each);
    Ok(())
}
