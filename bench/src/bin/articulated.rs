//! Dynamics of robots without contact, one thread: Pullback's side of the benchmark; and chains of many links.
//!
//! `articulated laikago` leaves out the other robots and chains.

use std::error::Error;

use pullback_bench::allocations::{self, Counting};
use pullback_bench::robots::{Case, asked, chain};
use pullback_bench::rollouts::{AtTheEnd, times};
use pullback_bench::{measure, quick, row};
use pullback_engine::articulated::{Algorithm, Mechanism};
use pullback_engine::{Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::{RunOptions, Width};
use pullback_scene::Scene;
use pullback_scene::robot::Robot;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ROBOTS: [&str; 3] = ["panda", "laikago", "talos"];
const CHAINS: [usize; 5] = [10, 30, 100, 300, 1000];

/// Worlds of a batch in lanes.
const WORLDS: usize = 64;

const TIME_STEP: f64 = 1e-3;

/// Steps of a rollout.
const STEPS: usize = 200;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    for name in ROBOTS.into_iter().filter(|name| wanted(name)) {
        robot(name)?;
    }
    for links in CHAINS.into_iter().filter(|links| wanted(&format!("chain-{links}"))) {
        growth(links)?;
    }
    if wanted("laikago") {
        no_allocations()?;
    }
    Ok(())
}

/// Names on the command line leave out the others.
fn wanted(name: &str) -> bool {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    words.is_empty() || words.iter().any(|word| word == name)
}

/// Seconds that a call takes; `work` has run before, so that whatever can go wrong did so then.
fn best<T, E: std::fmt::Debug>(mut work: impl FnMut() -> Result<T, E>) -> f64 {
    measure(if quick() { 0.1 } else { 0.5 }, || {
        work().expect("as before");
    })
}

/// Every row of a robot in the state of its oracle.
fn robot(name: &str) -> Outcome {
    let case = asked(name)?;
    let mut robot = Mechanism::<f64>::new(&case.robot)?;
    agree(name, &case, &mut robot)?;
    let forward = forward_dynamics(name, &case, &mut robot)?;
    let (q, v, tau) = (&case.q, &case.v, &case.tau);
    let mut force = vec![0.0; tau.len()];
    let a = &case.acceleration;
    robot.inverse_dynamics_into((q, v, a), &mut force)?;
    let inverse = best(|| robot.inverse_dynamics_into((q, v, a), &mut force));
    row(&format!("{name}/inverse-dynamics"), "us", 1e6 * inverse);
    let jacobians = best(|| robot.run_jacobians(q, v, tau));
    row(&format!("{name}/jacobians"), "us", 1e6 * jacobians);
    lanes(name, &case, forward)?;
    steps(name, &case.robot)
}

/// Both sides must solve the same problem: accelerations are those of the oracle, and norms go to the table.
fn agree(name: &str, case: &Case, robot: &mut Mechanism) -> Outcome {
    let mut a = vec![0.0; case.tau.len()];
    for algorithm in [Algorithm::Composite, Algorithm::Articulated] {
        robot.forward_dynamics_into(algorithm, (&case.q, &case.v, &case.tau), &mut a)?;
        near(&format!("{name}, {algorithm:?}"), &a, &case.acceleration, 1e-9)?;
    }
    row(&format!("{name}/acceleration-norm"), "1", norm(&a));
    let jacobians = robot.jacobians(&case.q, &case.v, &case.tau)?;
    row(&format!("{name}/derivative-norm"), "1", norm(&jacobians.by_position));
    Ok(())
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Are accelerations those of the oracle, up to a part of them?
fn near(what: &str, a: &[f64], oracle: &[f64], part: f64) -> Outcome {
    let difference: Vec<f64> = a.iter().zip(oracle).map(|(a, b)| a - b).collect();
    let apart = norm(&difference) / norm(oracle);
    // Written so that a NaN fails.
    let agree = apart < part;
    if agree { Ok(()) } else { Err(format!("{what}: {apart:e} of the oracle's accelerations apart").into()) }
}

/// Forward dynamics by each algorithm, and the pullback of the fastest with cotangents of everything. Returns seconds of
/// the fastest.
fn forward_dynamics(name: &str, case: &Case, robot: &mut Mechanism) -> Outcome<f64> {
    for (variant, algorithm) in [("articulated", Algorithm::Articulated), ("composite", Algorithm::Composite)]
    {
        let forward = forward_seconds(case, robot, algorithm)?;
        row(&format!("{name}/forward-dynamics/{variant}"), "us", 1e6 * forward);
    }
    let forward = forward_seconds(case, robot, Algorithm::Fastest)?;
    row(&format!("{name}/forward-dynamics"), "us", 1e6 * forward);
    row(&format!("{name}/pullback"), "us", 1e6 * (both_seconds(case, robot)? - forward));
    Ok(forward)
}

fn forward_seconds(case: &Case, robot: &mut Mechanism, algorithm: Algorithm) -> Outcome<f64> {
    let mut a = vec![0.0; case.tau.len()];
    let mut run = || robot.forward_dynamics_into(algorithm, (&case.q, &case.v, &case.tau), &mut a);
    run()?;
    Ok(best(run))
}

/// Seconds of forward dynamics and its pullback.
fn both_seconds(case: &Case, robot: &mut Mechanism) -> Outcome<f64> {
    let (mut a, a_bar) = (vec![0.0; case.tau.len()], vec![1.0; case.tau.len()]);
    let mut run = || {
        robot.forward_dynamics_into(Algorithm::Fastest, (&case.q, &case.v, &case.tau), &mut a)?;
        robot.pull_forward_dynamics(Algorithm::Fastest, &a_bar)
    };
    run()?;
    Ok(best(run))
}

/// Worlds a second: one after the other in f64, which takes `scalar` seconds a world, and a batch in lanes of f32.
fn lanes(name: &str, case: &Case, scalar: f64) -> Outcome {
    let options = RunOptions { threads: 1, width: Width::Narrow, ..RunOptions::default() };
    let mut robots = Mechanism::<f32>::batch(&case.robot, WORLDS, options)?;
    let all = |x: &[f64]| -> Vec<f32> { x.iter().map(|x| *x as f32).collect::<Vec<_>>().repeat(WORLDS) };
    let (q, v, tau) = (all(&case.q), all(&case.v), all(&case.tau));
    let mut a = vec![0.0; tau.len()];
    robots.forward_dynamics_into(Algorithm::Fastest, (&q, &v, &tau), &mut a)?;
    let last: Vec<f64> = a[a.len() - case.tau.len()..].iter().map(|x| f64::from(*x)).collect();
    near(&format!("{name}, f32"), &last, &case.acceleration, 1e-2)?;
    let batch = best(|| robots.forward_dynamics_into(Algorithm::Fastest, (&q, &v, &tau), &mut a));
    row(&format!("{name}/lanes-f32"), "worlds/s", WORLDS as f64 / batch);
    row(&format!("{name}/scalar-f64"), "worlds/s", 1.0 / scalar);
    Ok(())
}

/// A rollout with every state kept: a step forwards, and a step of a gradient by the first state and all params.
fn steps(name: &str, robot: &Robot) -> Outcome {
    let times = times(&step(robot)?, Options::new(STEPS), &AtTheEnd(0))?;
    row(&format!("{name}/step"), "us", 1e6 * times.forward);
    row(&format!("{name}/step-gradient"), "us", 1e6 * times.gradient);
    Ok(())
}

fn step(robot: &Robot) -> Outcome<Step> {
    let mut robot = robot.clone();
    // Explicit steps of Talos with the friction of its file would have to be far shorter: its fingers weigh nothing.
    for joint in &mut robot.joints {
        (joint.damping, joint.friction) = (0.0, 0.0);
    }
    let scene = Scene { robots: vec![robot], ..Scene::default() };
    Ok(Step::new(&Model::new(&scene)?, Scheme::new(Integrator::SemiImplicitEuler, TIME_STEP))?)
}

/// What a link of a chain costs: the same for any length, if operations grow with the number of links alone.
fn growth(links: usize) -> Outcome {
    let description = chain(links);
    let mut robot = Mechanism::<f64>::new(&description)?;
    let (q, v) = (description.start.positions.clone(), description.start.velocities.clone());
    let case = Case { robot: description, q, v, tau: vec![0.0; links], acceleration: Vec::new() };
    let each = 1e9 / links as f64;
    let forward = forward_seconds(&case, &mut robot, Algorithm::Fastest)?;
    row(&format!("chain-{links}/forward-dynamics"), "ns/link", each * forward);
    row(&format!("chain-{links}/pullback"), "ns/link", each * (both_seconds(&case, &mut robot)? - forward));
    Ok(())
}

/// A hundred thousand steps of Laikago and their gradients ask for no memory.
fn no_allocations() -> Outcome {
    const STEPS: usize = 1000;
    let step = step(&asked("laikago")?.robot)?;
    let mut rollout = Rollout::<f64>::new(&step, Options::new(STEPS))?;
    let (state, params, controls) =
        (step.model().state(), step.model().params(), step.model().controls(STEPS));
    let start = Start::new(&state, &controls, &params);
    rollout.gradient(&start, &AtTheEnd(0))?;
    let before = allocations::count();
    for _ in 0..100_000 / STEPS {
        rollout.gradient(&start, &AtTheEnd(0))?;
    }
    let found = allocations::count() - before;
    row("laikago/allocations", "in 100,000 steps", found as f64);
    if found > 0 {
        return Err(format!("{found} allocations in 100,000 steps with their gradients").into());
    }
    Ok(())
}
