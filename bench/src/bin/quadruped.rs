//! Laikago standing on four toes, one thread: a step and its pullback, lanes of worlds, length and number of robots.
//!
//! `quadruped one` leaves out all but one robot in one world.

use std::error::Error;

use pullback_bench::robots::standing;
use pullback_bench::rollouts::{AtTheEnd, Times, times_from};
use pullback_bench::row;
use pullback_engine::rollout::Moment;
use pullback_engine::{Options, Rollout, Start, Step};
use pullback_kernel::prelude::{RunOptions, Width};

/// Steps until it stands still, and steps that are measured.
const SETTLE: usize = 2000;
const STEPS: usize = 200;

/// Worlds of a batch in lanes.
const WORLDS: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let step = Step::of(&standing(1)?)?;
    let state = settled(&step)?;
    row("laikago/height", "m", state[2]);
    let one = |options| times_from::<f64>(&step, &state, options, &AtTheEnd(2));
    let Times { forward, gradient, .. } = one(Options::new(STEPS))?;
    row("laikago/forward", "us", 1e6 * forward);
    row("laikago/pullback", "us", 1e6 * (gradient - forward));
    row("laikago/pullback-per-forward", "1", (gradient - forward) / forward);
    if std::env::args().any(|word| word == "one") {
        return Ok(());
    }
    for (name, width) in [("8", Width::Narrow), ("16", Width::Wide)] {
        let run = RunOptions { threads: 1, width, ..RunOptions::default() };
        let options = Options { worlds: WORLDS, run, ..Options::new(STEPS) };
        let times = times_from::<f32>(&step, &state, options, &AtTheEnd(2))?;
        row(&format!("laikago/lanes/{name}"), "worlds/s", WORLDS as f64 / times.forward);
        row(&format!("laikago/lanes-gradient/{name}"), "worlds/s", WORLDS as f64 / times.gradient);
    }
    for steps in [50, 500, 5000] {
        let times = one(Options::new(steps))?;
        let (all, kept) = Rollout::<f64>::new(&step, Options::new(steps))?.bytes();
        row(&format!("laikago/steps-{steps}/gradient"), "us", 1e6 * times.gradient);
        row(&format!("laikago/steps-{steps}/kept"), "bytes/step", kept as f64 / steps as f64);
        row(&format!("laikago/steps-{steps}/all"), "bytes", all as f64);
    }
    let ten = Step::of(&standing(10)?)?;
    let state = settled(&ten)?;
    let times = times_from::<f64>(&ten, &state, Options::new(STEPS), &AtTheEnd(2))?;
    row("laikago-10/forward", "us", 1e6 * times.forward);
    row("laikago-10/pullback", "us", 1e6 * (times.gradient - times.forward));
    row("laikago-10/forward-per-robot", "1", times.forward / forward);
    Ok(())
}

/// The state after it has come to rest.
fn settled(step: &Step) -> Result<Vec<f64>, Box<dyn Error>> {
    let model = step.model();
    let mut rollout = Rollout::<f64>::new(step, Options::new(SETTLE))?;
    let (state, params, controls) = (model.state(), model.params(), model.controls(SETTLE));
    let mut last = Vec::new();
    rollout
        .watch(&Start::new(&state, &controls, &params), |moment: &Moment<'_>| last = moment.state.to_vec())?;
    Ok(last)
}
