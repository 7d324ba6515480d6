//! The order of every integrator, of the state and of the gradient, on smooth nonlinear problems.

mod measure;

use measure::{gradient, integrators, order};
use pullback_engine::rollout::{Bars, Moment};
use pullback_engine::{Integrator, Loss, Model, Options, Rollout, Scheme, Start, Step};
use pullback_scene::{AppliedForce, Particles, Scene, Springs};

const TIME: f64 = 1.0;

/// How far the measured order may be from the stated one.
const TOLERANCE: f64 = 0.15;

/// Three particles on springs that turn and stretch: nonlinear, smooth, and nothing is symmetric.
fn scene(velocities: bool, time: bool) -> Scene {
    let mut trio = Particles::many("trio", vec![[0.0; 3], [1.0, 0.2, 0.1], [0.4, 0.9, -0.3]], 0.5);
    trio.masses = vec![0.5, 0.7, 0.4];
    trio.velocities = vec![[0.0, 0.3, 0.5], [-0.6, 1.2, 0.4], [0.8, -0.5, 0.9]];
    let mut springs = Springs::many("spring", vec![[0, 1], [1, 2], [0, 2]], 14.0, 0.8);
    if velocities {
        trio = trio.drag(0.3);
        springs = springs.damping(0.6);
    }
    let mut scene = Scene { particles: vec![trio], springs: vec![springs], ..Scene::default() };
    // The air comes from far away, so that no particle moves with it: there |v - w| (v - w) is not smooth.
    scene.world.wind = [-3.0, 4.0, 9.0];
    if time {
        scene.forces =
            vec![AppliedForce::constant("swing", vec![0, 2], [1.0, -2.0, 1.5]).oscillating(0.8, 0.3)];
    }
    scene
}

/// A smooth function of the last state: Σ w sin(x).
struct Smooth;

fn weight(i: usize) -> f64 {
    1.0 + 0.1 * (i % 7) as f64
}

impl Loss for Smooth {
    fn value(&self, m: &Moment<'_>) -> f64 {
        let sum = || m.state.iter().enumerate().map(|(i, x)| weight(i) * x.sin()).sum();
        if m.last { sum() } else { 0.0 }
    }
    fn pullback(&self, m: &Moment<'_>, bars: &mut Bars<'_>) {
        if m.last {
            (0..m.state.len()).for_each(|i| bars.state[i] += weight(i) * m.state[i].cos());
        }
    }
}

/// The last state, and the gradient by everything.
fn measure(model: &Model, integrator: Integrator, steps: usize, parts: usize) -> [Vec<f64>; 2] {
    let scheme = Scheme { integrator, dt: TIME / steps as f64, substeps: parts };
    let step = Step::new(model, scheme).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let mut last = Vec::new();
    rollout.watch(&Start::new(&state, &[], &params), |m| last = m.state.to_vec()).expect("a rollout");
    let g = gradient(model, scheme, steps, &Smooth);
    [last, [g.states, g.params].concat()]
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Steps that are short enough for the order to show, and long enough for rounding (1e-12 on the lattice) not to.
fn steps(integrator: Integrator) -> usize {
    match order(integrator) as usize {
        1 => 1600,
        2 => 200,
        _ => 80,
    }
}

fn check(velocities: bool, time: bool) {
    let model = Model::new(&scene(velocities, time)).expect("a scene");
    let truth = measure(&model, Integrator::RungeKutta4, 4000, 1);
    for integrator in integrators(!velocities) {
        let steps = steps(integrator);
        let (coarse, fine) =
            (measure(&model, integrator, steps, 1), measure(&model, integrator, 2 * steps, 1));
        for (what, i) in [("state", 0), ("gradient", 1)] {
            let (before, after) = (distance(&coarse[i], &truth[i]), distance(&fine[i], &truth[i]));
            let measured = (before / after).log2();
            assert!(
                (measured - order(integrator)).abs() < TOLERANCE,
                "{}, velocities {velocities}, time {time}: order {measured:.3} of the {what}, from {before:.2e} to {after:.2e}",
                integrator.name()
            );
        }
    }
}

#[test]
fn forces_of_positions() {
    check(false, false);
}

#[test]
fn forces_of_positions_and_time() {
    check(false, true);
}

#[test]
fn forces_of_positions_and_velocities() {
    check(true, false);
}

#[test]
fn forces_of_positions_velocities_and_time() {
    check(true, true);
}

/// Parts of a step are steps: the same bits as with as many steps, where the control stays the same.
#[test]
fn parts_of_a_step_are_shorter_steps() {
    for velocities in [false, true] {
        let model = Model::new(&scene(velocities, true)).expect("a scene");
        for integrator in integrators(!velocities) {
            // 64 and 16: the same length of a part to the bit.
            let (whole, parts) = (measure(&model, integrator, 64, 1), measure(&model, integrator, 16, 4));
            assert_eq!(whole[0], parts[0], "{}", integrator.name());
            let distance = distance(&whole[1], &parts[1]);
            assert!(distance < 1e-11, "{}: {distance:.2e}", integrator.name());
        }
    }
}
