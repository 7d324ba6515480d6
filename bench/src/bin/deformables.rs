//! Soft solids and cloth, semi-implicit steps without contact: Pullback's side of the benchmark. What both sides have in
//! common, and what differs, is in `pullback_bench::soft`.
//!
//! * MODEL/forward: steps a second in f32, of `Stepper::advance`, each state kept.
//! * MODEL/pullback: steps a second of the way back from these, for derivatives by the first state and all params: the
//!   faster of the two that follow.
//! * MODEL/pullback/again: from states that were kept, of `Stepper::pull`, which makes each step again.
//! * MODEL/pullback/kept: from all values of each step, of a rollout with `Memory::Dense`, which makes no step again.
//! * MODEL/gradient-norm, in f32 and f64, and MODEL/undamped-gradient-norm, on which the peer has to agree.
//! * MODEL/budget-256-MB: a gradient of 10,000 steps in that much memory. The run fails when it takes more.
//!
//! `deformables tets-1000` leaves out the other models.

use std::error::Error;
use std::time::Instant;

use pullback_bench::peak::{self, Weighing};
use pullback_bench::soft::{Body, CASES, Case, Squares};
use pullback_bench::{measure, quick, row};
use pullback_engine::{Memory, Options, Parts, Rollout, Snapshots, Start, Step, Stepper};
use pullback_kernel::prelude::RunOptions;

#[global_allocator]
static ALLOCATOR: Weighing = Weighing;

/// The model of the long rollout, whose states take 1.2 GB.
const LONG: &str = "tets-10000";
const LONG_STEPS: usize = 10_000;
const BUDGET: usize = 256_000_000;

/// How far apart gradients of one rollout may be that was made in other ways, relative to them.
const APART: f64 = 1e-3;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    for case in CASES.iter().filter(|case| wanted(case.name)) {
        model(case)?;
        if case.name == LONG {
            long(case)?;
        }
    }
    Ok(())
}

/// Names on the command line leave out the others.
fn wanted(name: &str) -> bool {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    words.is_empty() || words.iter().any(|word| word == name)
}

/// All rows of a model but those of the long rollout.
fn model(case: &Case) -> Outcome {
    let name = case.name;
    let step = case.body.step(true)?;
    let exact = Steps::<f64>::new(&step, case.steps, RunOptions::default())?.gradient()?;
    for (threads, variant) in [(1, ""), (2, "/2-threads")] {
        let run = RunOptions { threads, ..RunOptions::default() };
        let mut steps = Steps::<f32>::new(&step, case.steps, run)?;
        let found = steps.gradient()?;
        near(&format!("{name}, f32 and f64"), found, exact)?;
        if threads == 1 {
            row(&format!("{name}/gradient-norm"), "1", found);
            row(&format!("{name}/gradient-norm/f64"), "1", exact);
        }
        let rate = |seconds: f64| case.steps as f64 / seconds;
        let forward = rate(best(|| steps.forward()));
        let again = rate(best(|| steps.pullback()));
        drop(steps);
        let kept = rate(back_from_values(&step, case.steps, run, exact)?);
        row(&format!("{name}/forward{variant}"), "steps/s", forward);
        row(&format!("{name}/pullback{variant}"), "steps/s", again.max(kept));
        if threads == 1 {
            row(&format!("{name}/pullback/again"), "steps/s", again);
            row(&format!("{name}/pullback/kept"), "steps/s", kept);
        }
    }
    if matches!(case.body, Body::Solid(_)) {
        let undamped = case.body.step(false)?;
        let norm = Steps::<f32>::new(&undamped, case.steps, RunOptions::default())?.gradient()?;
        row(&format!("{name}/undamped-gradient-norm"), "1", norm);
    }
    Ok(())
}

/// How long each case is measured [s].
fn seconds() -> f64 {
    if quick() { 0.1 } else { 0.5 }
}

/// Seconds that a call takes; `work` has run before, so that whatever can go wrong did so then.
fn best<T, E: std::fmt::Debug>(mut work: impl FnMut() -> Result<T, E>) -> f64 {
    measure(seconds(), || {
        work().expect("as before");
    })
}

/// An error if norms of gradients are further apart than they may be.
fn near(what: &str, a: f64, b: f64) -> Outcome {
    // Written so that a NaN fails.
    let agree = (a - b).abs() <= APART * b.abs();
    if agree { Ok(()) } else { Err(format!("{what}: norms of gradients are {a} and {b}").into()) }
}

fn norm<S: Parts>(numbers: &[S]) -> f64 {
    numbers.iter().map(|x| x.value() * x.value()).sum::<f64>().sqrt()
}

/// Steps from the model's own state with every state kept, and Σ |x|² after the last.
struct Steps<S: Parts> {
    stepper: Stepper<S>,
    positions: usize,
    start: Vec<S>,
    /// Before each step.
    states: Vec<S>,
    bars: Vec<S>,
    params_bar: Vec<S>,
    /// Cotangents of the last state.
    seed: Vec<S>,
}

impl<S: Parts> Steps<S> {
    fn new(step: &Step, steps: usize, run: RunOptions) -> Outcome<Self> {
        let model = step.model();
        let numbers = |values: &[f64]| values.iter().map(|x| S::from_parts(*x, 0.0)).collect::<Vec<S>>();
        let (start, params) = (numbers(model.state().values()), numbers(model.params().values()));
        let mut stepper = Stepper::new(step, 1, run);
        stepper.set_params(0, &params)?;
        Ok(Self {
            stepper,
            positions: model.positions(),
            states: vec![S::default(); steps * start.len()],
            bars: start.clone(),
            seed: vec![S::default(); start.len()],
            params_bar: params,
            start,
        })
    }

    fn forward(&mut self) -> Outcome {
        self.stepper.set_state(&self.start)?;
        for (step, state) in self.states.chunks_exact_mut(self.start.len()).enumerate() {
            state.copy_from_slice(self.stepper.state());
            self.stepper.advance(step)?;
        }
        Ok(())
    }

    fn pullback(&mut self) -> Outcome {
        self.bars.copy_from_slice(&self.seed);
        self.stepper.clear_params();
        for (step, state) in self.states.chunks_exact(self.start.len()).enumerate().rev() {
            self.stepper.set_state(state)?;
            self.stepper.pull(step, None, &mut self.bars, &mut [])?;
        }
        self.stepper.params_bar(0, &mut self.params_bar)?;
        Ok(())
    }

    /// The norm of the derivatives by the first positions. Leaves states and seed for the pullback alone.
    fn gradient(&mut self) -> Outcome<f64> {
        self.forward()?;
        let last = self.stepper.state();
        for (bar, x) in self.seed.iter_mut().zip(last).take(self.positions) {
            *bar = *x + *x;
        }
        self.pullback()?;
        Ok(norm(&self.bars[..self.positions]))
    }
}

/// Seconds of the way back of a rollout that keeps all values.
fn back_from_values(step: &Step, steps: usize, run: RunOptions, exact: f64) -> Outcome<f64> {
    // The values are f32, so that nothing is rounded.
    let (memory, snapshots) = (Memory::Dense, Snapshots::F32);
    let options = Options { memory, snapshots, run, ..Options::new(steps) };
    let mut rollout = Rollout::<f32>::new(step, options)?;
    let (model, loss) = (step.model(), Squares::of(step));
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let start = Start::new(&state, &controls, &params);
    let gradient = rollout.gradient(&start, &loss)?;
    near("with all values kept", norm(&gradient.states[..model.positions()]), exact)?;
    let (begin, mut repeats, mut least) = (Instant::now(), 0, f64::INFINITY);
    while repeats < 3 || begin.elapsed().as_secs_f64() < seconds() {
        rollout.gradient(&start, &loss)?;
        least = least.min(loss.turned().elapsed().as_secs_f64());
        repeats += 1;
    }
    Ok(least)
}

/// A gradient of 10,000 steps within a budget: of the rollout, besides the model that it shares with others.
fn long(case: &Case) -> Outcome {
    let step = case.body.step(true)?;
    let (model, loss) = (step.model(), Squares::of(&step));
    let (state, params, controls) = (model.state(), model.params(), model.controls(LONG_STEPS));
    let start = Start::new(&state, &controls, &params);
    let before = peak::live();
    peak::restart();
    let memory = Memory::Budget { bytes: BUDGET };
    let mut rollout = Rollout::<f32>::new(&step, Options { memory, ..Options::new(LONG_STEPS) })?;
    let begin = Instant::now();
    rollout.gradient(&start, &loss)?;
    let taken = begin.elapsed().as_secs_f64();
    let (most, (counted, _)) = (peak::peak() - before, rollout.bytes());
    let name = format!("{}/budget-256-MB", case.name);
    row(&format!("{name}/peak"), "bytes", most as f64);
    row(&format!("{name}/counted"), "bytes", counted as f64);
    row(&format!("{name}/steps-made"), "steps", rollout.steps_made() as f64);
    row(&format!("{name}/seconds"), "s", taken);
    if most > BUDGET {
        return Err(format!("{LONG_STEPS} steps took {most} bytes, and not {BUDGET} at most").into());
    }
    Ok(())
}
