//! A thousand loose boxes and balls that fall into a heap, against Rapier: the bodies of `bench/heap`, one thread.
//!
//! Both make sweeps of Gauss-Seidel: Rapier goes on from the impulses of the step before; here each step starts from none, so
//! that it depends on its state alone and has an exact derivative.

use std::error::Error;
use std::time::Instant;

use pullback_bench::heaps::{SIZE, heap};
use pullback_bench::rollouts::AtTheEnd;
use pullback_bench::row;
use pullback_engine::rollout::Moment;
use pullback_engine::{Options, Parts, Rollout, Start, Step};
use pullback_scene::{Complementarity, ContactGradient, ContactSolver};

const BODIES: usize = 1000;
/// Steps until it lies, and steps of a heap that lies which are measured.
const FALLING: usize = 400;
const RESTING: usize = 10;

/// What impulses may give way by, relative: a heap bears loads on more contacts than it takes, and those are shared then.
const REGULARISATION: f64 = 1e-2;
/// Sweeps of a step.
const SWEEPS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let law = Complementarity {
        solver: ContactSolver::GaussSeidel,
        gradient: ContactGradient::Reverse,
        fixed_iterations: Some(SWEEPS),
        regularisation: REGULARISATION,
        ..Complementarity::default()
    };
    measured::<f64>("", law)?;
    measured::<f32>("-f32", law)
}

fn measured<S: Parts>(precision: &str, law: Complementarity) -> Result<(), Box<dyn Error>> {
    let step = Step::of(&heap(BODIES, law))?;
    let model = step.model();
    let (params, state) = (model.params(), model.state());
    let mut rollout = Rollout::<S>::new(&step, Options::new(FALLING))?;
    let controls = model.controls(FALLING);
    let start = Start { states: state.values(), controls: &controls, params: params.values() };
    let (clock, mut last) = (Instant::now(), Vec::new());
    rollout.watch(&start, |moment: &Moment<'_>| {
        if moment.last {
            last = moment.state.to_vec();
        }
    })?;
    let each = clock.elapsed().as_secs_f64() / FALLING as f64;
    row(&format!("{BODIES}-falling{precision}/forward"), "us/step", 1e6 * each);
    // Of boxes, then of balls: the middles of all, then their orientations.
    let groups = last[..model.positions()].chunks_exact(7 * BODIES / 2);
    let heights = groups.flat_map(|group| group[..3 * BODIES / 2].chunks_exact(3).map(|middle| middle[2]));
    let lowest = heights.fold(f64::INFINITY, f64::min);
    row(&format!("{BODIES}-resting{precision}/lowest-over-size"), "m/m", lowest / SIZE);

    let mut rollout = Rollout::<S>::new(&step, Options::new(RESTING))?;
    let controls = model.controls(RESTING);
    let start = Start { states: &last, controls: &controls, params: params.values() };
    let (mut forward, mut gradient) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let clock = Instant::now();
        rollout.value(&start, &AtTheEnd(2))?;
        forward = forward.min(clock.elapsed().as_secs_f64() / RESTING as f64);
        let clock = Instant::now();
        rollout.gradient(&start, &AtTheEnd(2))?;
        gradient = gradient.min(clock.elapsed().as_secs_f64() / RESTING as f64);
    }
    row(&format!("{BODIES}-resting{precision}/forward"), "us/step", 1e6 * forward);
    row(&format!("{BODIES}-resting{precision}/gradient"), "us/step", 1e6 * gradient);
    Ok(())
}
