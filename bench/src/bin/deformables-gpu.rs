//! The soft solids and cloth of `deformables` on a GPU: rollouts of the engine in f32, and how much of the device's copy bandwidth they use.
//!
//! There is no peer here: the yardstick is a copy. Prints the rows of `cargo xtask bench`, and a table for docs/gpu.md.
//! `deformables-gpu tets-10000` leaves out the other models.
//!
//! * implicit-MODEL/forward, implicit-MODEL/pullback: steps a second of backward Euler with 1/60 s in f64, on the GPU and on the CPU with as many
//!   threads as there are cores; the equations are solved on the CPU in both.
//! * MODEL/forward: steps a second of a rollout that keeps each state on the device.
//! * MODEL/pullback: steps a second of the way back from all that pullbacks read (`Memory::Dense`), for derivatives by the first state and
//!   all params; MODEL/pullback/again: from states alone, where each step is made again.
//!
//! A rate is that of the steps that a longer rollout has more than a shorter one: what is copied from and to the host at its ends is in both.

use std::cell::Cell;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use pullback_bench::gpu::{copy_bandwidth, seconds};
use pullback_bench::row;
use pullback_bench::soft::{Body, Squares};
use pullback_engine::rollout::{Bars, Moment};
use pullback_engine::{
    AnyRollout, GpuRollout, Integrator, Loss, Memory, Options, Parts, Rollout, Scheme, Start, Step,
};
use pullback_kernel::cuda::Device;
use pullback_kernel::prelude::RunOptions;
use pullback_kernel::program::DeviceFloat;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A body, and how many steps the shorter rollout has; the longer one has three times as many.
const CASES: [(&str, Body, usize); 7] = [
    ("tets-1000", Body::Solid([10, 5, 4]), 1000),
    ("tets-10000", Body::Solid([20, 10, 10]), 1000),
    ("tets-100000", Body::Solid([50, 20, 20]), 500),
    ("tets-1000000", Body::Solid([100, 50, 40]), 100),
    ("tets-10000000", Body::Solid([200, 100, 100]), 20),
    ("cloth-20000", Body::Sheet([100, 100]), 1000),
    ("cloth-2000000", Body::Sheet([1000, 1000]), 50),
];

/// Bodies in implicit steps, and how many of these.
const IMPLICIT: [(&str, Body, usize); 3] = [
    ("implicit-tets-1000", Body::Solid([10, 5, 4]), 12),
    ("implicit-tets-10000", Body::Solid([20, 10, 10]), 4),
    ("implicit-cloth-2048", Body::Sheet([32, 32]), 12),
];

/// How far apart gradients may be that were made in other ways, relative to them.
const APART: f64 = 1e-3;
/// More steps than this, and the largest bodies, are not compared with the CPU.
const COMPARED: usize = 100;

fn main() -> Outcome {
    let device = Device::new(0)?;
    let copy = copy_bandwidth(&device)?;
    println!("{}: a copy moves {:.0} GB/s, bytes read and written", device.name(), copy / 1e9);
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    for (name, body, steps) in IMPLICIT.iter().filter(|case| wanted(case.0)) {
        implicit(name, *body, *steps, &device)?;
    }
    let mut table = String::from(
        "| case | forward [steps/s] | pullback [steps/s] | pullback, steps made again | forward, of copy | pullback, of copy | device memory |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for (name, body, steps) in CASES.iter().filter(|case| wanted(case.0)) {
        table += &model(name, *body, *steps, (&device, copy))?;
        println!("{table}");
    }
    Ok(())
}

/// The rows of a model; returns that of the table.
fn model(name: &str, body: Body, steps: usize, (device, copy): (&Arc<Device>, f64)) -> Outcome<String> {
    let begin = Instant::now();
    let step = body.step(true)?;
    println!("{name}: the step is laid out in {:.1} s", begin.elapsed().as_secs_f64());
    agree(name, &step, steps.min(COMPARED), device)?;
    let (forward, kept, bytes) = rates(&step, steps, Memory::Dense, device)?;
    let (forward_of_states, again, _) = rates(&step, steps, Memory::EveryStep, device)?;
    let forward = forward.max(forward_of_states);
    let passes = GpuRollout::<f32>::new(&step, Options::new(1), device)?;
    let (w, repeats) = (passes.workspace(), steps as u32);
    let alone = [seconds(device, repeats, || w.forward())?, seconds(device, repeats, || w.pullback())?];
    let traffic = w.traffic().map(|bytes| bytes as f64);
    println!(
        "{name}: kernels alone take {:.1} and {:.1} us, {:.2} and {:.2} of copy bandwidth; {} and {} MB in a step; compiled in {:.1} s",
        alone[0] * 1e6,
        alone[1] * 1e6,
        traffic[0] / alone[0] / copy,
        traffic[1] / alone[1] / copy,
        traffic[0] / 1e6,
        traffic[1] / 1e6,
        w.compiled().0,
    );
    row(&format!("{name}/forward/gpu"), "steps/s", forward);
    row(&format!("{name}/pullback/gpu"), "steps/s", kept.max(again));
    row(&format!("{name}/pullback/gpu/again"), "steps/s", again);
    row(&format!("{name}/pullback/gpu/kept"), "steps/s", kept);
    let of_copy = [traffic[0] * forward / copy, traffic[1] * kept.max(again) / copy];
    row(&format!("{name}/forward-of-copy-bandwidth/gpu"), "1", of_copy[0]);
    row(&format!("{name}/pullback-of-copy-bandwidth/gpu"), "1", of_copy[1]);
    Ok(format!(
        "| {name} | {forward:.0} | {:.0} | {again:.0} | {:.2} | {:.2} | {:.0} MB |\n",
        kept.max(again),
        of_copy[0],
        of_copy[1],
        bytes as f64 / 1e6
    ))
}

/// The rows of a body in implicit steps, and how far gradients are apart.
fn implicit(name: &str, body: Body, steps: usize, device: &Arc<Device>) -> Outcome {
    let step = body.step_of(true, Scheme::new(Integrator::BackwardEuler, 1.0 / 60.0))?;
    let run = RunOptions { threads: 0, ..RunOptions::default() };
    let options = Options { run, ..Options::new(steps) };
    let model = step.model();
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let mut norms = Vec::new();
    for (place, device) in [("gpu", Some(device)), ("cpu", None)] {
        let mut rollout = AnyRollout::<f64>::new(&step, options, device)?;
        let loss = Timed::of(&step);
        rollout.gradient(&Start::new(&state, &controls, &params), &loss)?;
        let gradient = rollout.gradient(&Start::new(&state, &controls, &params), &loss)?;
        norms.push(norm(&gradient.states) + norm(&gradient.params));
        let [began, turned, ended] = loss.marks.each_ref().map(Cell::get);
        row(
            &format!("{name}/forward/{place}"),
            "steps/s",
            steps as f64 / (loss.seen.get() - began).as_secs_f64(),
        );
        row(&format!("{name}/pullback/{place}"), "steps/s", steps as f64 / (ended - turned).as_secs_f64());
    }
    println!(
        "{name}: norms of gradients differ by {:.1e} on the GPU and on the CPU",
        (norms[0] / norms[1] - 1.0).abs()
    );
    near(name, norms[0], norms[1])
}

/// Σ |x|² of the last state, which notes when a rollout begins, turns and ends.
struct Timed {
    squares: Squares,
    marks: [Cell<Instant>; 3],
    /// When the last state was seen.
    seen: Cell<Instant>,
}

impl Timed {
    fn of(step: &Step) -> Self {
        let now = || Cell::new(Instant::now());
        Timed { squares: Squares::of(step), marks: [now(), now(), now()], seen: now() }
    }
}

impl Loss for Timed {
    fn looks(&self, step: usize, last: bool) -> bool {
        step == 0 || last
    }
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { &self.seen } else { &self.marks[0] }.set(Instant::now());
        self.squares.value(moment)
    }
    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        self.marks[if moment.last { 1 } else { 2 }].set(Instant::now());
        self.squares.pullback(moment, bars);
    }
}

/// Steps a second, forwards and backwards, and the bytes of the shorter rollout besides what is kept.
fn rates(step: &Step, steps: usize, memory: Memory, device: &Arc<Device>) -> Outcome<(f64, f64, usize)> {
    let loss = Timed::of(step);
    let model = step.model();
    let (state, params) = (model.state(), model.params());
    let mut least = [[f64::INFINITY; 2]; 2];
    let mut bytes = 0;
    for (steps, least) in [steps, 3 * steps].into_iter().zip(&mut least) {
        let controls = model.controls(steps);
        let mut rollout = GpuRollout::<f32>::new(step, Options { memory, ..Options::new(steps) }, device)?;
        bytes = rollout.bytes().0 - rollout.bytes().1;
        let rounds = if state.values().len() > 1_000_000 { 3 } else { 8 };
        for _ in 0..rounds {
            rollout.gradient(&Start::new(&state, &controls, &params), &loss)?;
            let [began, turned, ended] = loss.marks.each_ref().map(Cell::get);
            for (least, took) in least.iter_mut().zip([loss.seen.get() - began, ended - turned]) {
                *least = least.min(took.as_secs_f64());
            }
        }
    }
    let rate = |pass: usize| 2.0 * steps as f64 / (least[1][pass] - least[0][pass]);
    Ok((rate(0), rate(1), bytes))
}

/// An error unless the gradient is that of f64, and, where that does not take long, of the CPU.
fn agree(name: &str, step: &Step, steps: usize, device: &Arc<Device>) -> Outcome {
    let found = norm_on_gpu::<f32>(step, steps, device)?;
    let exact = norm_on_gpu::<f64>(step, steps, device)?;
    near(name, found, exact)?;
    let model = step.model();
    if model.state().values().len() < 200_000 {
        let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
        let mut rollout = Rollout::<f64>::new(step, Options::new(steps))?;
        let gradient = rollout.gradient(&Start::new(&state, &controls, &params), &Squares::of(step))?;
        let cpu = norm(&gradient.states) + norm(&gradient.params);
        println!(
            "{name}: norms of gradients differ by {:.1e} from the CPU's in f64",
            (exact / cpu - 1.0).abs()
        );
        near(name, exact, cpu)?;
    }
    println!("{name}: norms of gradients differ by {:.1e} in f32 and f64", (found / exact - 1.0).abs());
    Ok(())
}

fn norm_on_gpu<S: DeviceFloat + Parts>(step: &Step, steps: usize, device: &Arc<Device>) -> Outcome<f64> {
    let model = step.model();
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let mut rollout = GpuRollout::<S>::new(step, Options::new(steps), device)?;
    let gradient = rollout.gradient(&Start::new(&state, &controls, &params), &Squares::of(step))?;
    Ok(norm(&gradient.states) + norm(&gradient.params))
}

fn norm(numbers: &[f64]) -> f64 {
    numbers.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// An error if norms of gradients are further apart than they may be.
fn near(name: &str, a: f64, b: f64) -> Outcome {
    // Written so that a NaN fails.
    let agree = (a - b).abs() <= APART * b.abs();
    if agree { Ok(()) } else { Err(format!("{name}: norms of gradients are {a} and {b}").into()) }
}
