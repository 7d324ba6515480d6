//! Particles whose motion is given: closed forms, controls, and who cannot move them.

use std::f64::consts::TAU;

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Energy, Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_scene::Scene;

fn step(text: &str) -> Step {
    let scene = Scene::parse(text, "moved.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    Step::of(&scene).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn near(what: &str, found: f64, wanted: f64, error: f64) {
    assert!((found - wanted).abs() <= error, "{what}: {found:e}, and not {wanted:e} within {error:.1e}");
}

/// A number of the last state.
struct Last(usize);

impl Loss for Last {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { moment.state[self.0] } else { 0.0 }
    }
    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state[self.0] += 1.0;
        }
    }
}

const MASS: f64 = 0.4;
const STIFFNESS: f64 = 30.0;
const AMPLITUDE: f64 = 0.05;
const FREQUENCY: f64 = 0.9;
const DURATION: f64 = 2.0;

/// A mass on a spring whose other end swings: m ÿ = k (X - y), X = A (cos Ωt - 1).
fn driven(integrator: &str, steps: usize) -> Step {
    step(&format!(
        "[simulation]\nsteps = {steps}\ndt = {}\nintegrator = \"{integrator}\"\n[world]\ngravity = [0, 0, 0]\n\
         [[particles]]\nname = \"hand\"\nposition = [0, 0, 0]\nmass = 1\n\
         [[particles]]\nname = \"bob\"\nposition = [1, 0, 0]\nmass = {MASS}\n\
         [[springs]]\nname = \"spring\"\nends = [\"hand\", \"bob\"]\nstiffness = {STIFFNESS}\n\
         [[motions]]\nname = \"shake\"\npoints = \"hand\"\namplitude = [{AMPLITUDE}, 0, 0]\nfrequency = {FREQUENCY}\n",
        DURATION / steps as f64
    ))
}

/// y(t) = A ((ω² cos Ωt - Ω² cos ωt)/(ω² - Ω²) - 1), with ω² = k/m.
fn answer(stiffness: f64, frequency: f64, t: f64) -> f64 {
    let (square, driving) = (stiffness / MASS, TAU * frequency);
    let swing = square * (driving * t).cos() - driving * driving * (square.sqrt() * t).cos();
    AMPLITUDE * (swing / (square - driving * driving) - 1.0)
}

/// The state after so many steps.
fn last(step: &Step, steps: usize) -> Vec<f64> {
    let (state, params) = (step.model().state(), step.model().params());
    let mut rollout = Rollout::<f64>::new(step, Options::new(steps)).expect("a rollout");
    let mut last = Vec::new();
    let see = |moment: &Moment<'_>| last = moment.state.to_vec();
    rollout.watch(&Start::new(&state, &[], &params), see).expect("a run");
    last
}

/// A number in the end, and the gradient.
fn end(step: &Step, name: &str) -> (f64, pullback_engine::Gradient) {
    let model = step.model();
    let steps = (DURATION / step.scheme().dt).round() as usize;
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let mut rollout = Rollout::<f64>::new(step, Options::new(steps)).expect("a rollout");
    let loss = Last(model.state_layout().find(name).expect("it is in the state").start);
    let gradient = rollout.gradient(&Start::new(&state, &controls, &params), &loss).expect("a gradient");
    (gradient.values[0], gradient.clone())
}

/// The driven oscillator's closed form, and its derivatives by amplitude, stiffness and frequency.
#[test]
fn a_swing_drives_an_oscillator() {
    let (place, gradient) = end(&driven("rk4", 2000), "bob.position.x");
    let y = answer(STIFFNESS, FREQUENCY, DURATION);
    assert!(y.abs() > 0.01, "{y}");
    // RK4 at ω dt = 0.009: (ω dt)⁴ of a few swings of 5 cm.
    near("place", place - 1.0, y, 1e-10);
    let by = gradient.params(0).expect("params");
    let number = |name: &str| by.number(name).expect("it is a param");
    near("by amplitude", number("shake.amplitude.x"), y / AMPLITUDE, 1e-9);
    let slope =
        |f: &dyn Fn(f64) -> f64, h: f64| (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h);
    let by_stiffness = slope(&|h| answer(STIFFNESS + h, FREQUENCY, DURATION), 0.03);
    near("by stiffness", number("spring.stiffness") / by_stiffness, 1.0, 1e-8);
    let by_frequency = slope(&|h| answer(STIFFNESS, FREQUENCY + h, DURATION), 0.001);
    near("by frequency", number("shake.frequency") / by_frequency, 1.0, 1e-8);
}

/// Every integrator keeps its order, and has the hand exactly where it is moved to.
#[test]
fn integrators_keep_their_orders() {
    let orders = [
        ("explicit-euler", 1.0),
        // Where nothing pulls at the start, its positions are those of Verlet.
        ("semi-implicit-euler", 2.0),
        ("backward-euler", 1.0),
        ("velocity-verlet", 2.0),
        ("implicit-midpoint", 2.0),
        ("rk4", 4.0),
    ];
    let hand = AMPLITUDE * ((TAU * FREQUENCY * DURATION).cos() - 1.0);
    let rate = -TAU * FREQUENCY * AMPLITUDE * (TAU * FREQUENCY * DURATION).sin();
    for (integrator, order) in orders {
        let error = |steps: usize| {
            let step = driven(integrator, steps);
            let state = last(&step, steps);
            let number =
                |name: &str| state[step.model().state_layout().find(name).expect("it is there").start];
            // Steps add up: a rounding each.
            near(integrator, number("hand.position.x"), hand, 1e-13);
            near(integrator, number("hand.velocity.x"), rate, 1e-14);
            (number("bob.position.x") - 1.0 - answer(STIFFNESS, FREQUENCY, DURATION)).abs()
        };
        let steps = if order == 1.0 { 3200 } else { 400 };
        let (coarse, fine) = (error(steps), error(2 * steps));
        near(integrator, (coarse / fine).log2(), order, 0.1);
    }
}

/// A velocity that is a control, one for each step: x' = x + Σ h u, whatever pulls.
#[test]
fn controls_move_points() {
    let controls: Vec<[f64; 3]> = (0..5).map(|t| [0.1 * t as f64, 1.0, -0.2]).collect();
    for (integrator, substeps) in [("semi-implicit-euler", 1), ("rk4", 2), ("backward-euler", 3)] {
        let step = step(&format!(
            "[simulation]\nsteps = 5\ndt = 0.4\nsubsteps = {substeps}\nintegrator = \"{integrator}\"\n\
             [[particles]]\nname = \"pair\"\npositions = [[0, 0, 0], [1, 0, 0]]\nmass = 1\n\
             [[springs]]\nname = \"spring\"\nends = [\"pair[0]\", \"pair[1]\"]\nstiffness = 3\n\
             [[motions]]\nname = \"lead\"\npoints = \"pair[0]\"\ncontrols = {controls:?}\n"
        ));
        let (place, gradient) = end(&step, "pair[0].position.x");
        near("place", place, 0.4 * (0.0 + 0.1 + 0.2 + 0.3 + 0.4), 1e-15);
        for t in 0..5 {
            near("by a control", gradient.controls[3 * t], 0.4, 1e-15);
            near("by another axis", gradient.controls[3 * t + 1], 0.0, 0.0);
        }
        let (_, gradient) = end(&step, "pair[1].position.x");
        assert!(gradient.controls.iter().any(|by| by.abs() > 1e-3), "{:?}", gradient.controls);
        // The start counts, the velocity at the start is that of the first control.
        let start = step.model().state();
        assert_eq!(start.get("pair[0].velocity").expect("a velocity"), controls[0]);
        assert!(!Energy::new(step.model()).expect("an energy").is_conserved());
    }
}

/// Controls of soft things, actuators and motions stand where their names are.
#[test]
fn controls_stand_where_their_names_are() {
    let text = "[simulation]\nsteps = 2\ndt = 0.01\n\
        [[solids]]\nname = \"jelly\"\nmesh = { block = [1, 1, 1], cells = [1, 1, 1] }\nyoung = 1e4\npoisson = 0.3\ndensity = 100\n\
        actuation = { control = 0.07 }\n\
        [[actuators]]\nname = \"thruster\"\non = \"jelly[0]\"\ncontrols = [[1, 2, 3], [4, 5, 6]]\n\
        [[motions]]\nname = \"lead\"\npoints = \"jelly[7]\"\ncontrols = [[7, 8, 9], [10, 11, 12]]\n";
    let model = Model::new(&Scene::parse(text, "moved.toml").expect("a scene")).expect("a model");
    let (layout, rows) = (model.control_layout(), model.controls(2));
    let of = |name: &str, t: usize| {
        let range = layout.find(name).expect("it is a control");
        rows[t * layout.len()..][range].to_vec()
    };
    for t in 0..2 {
        let first = 3.0 * t as f64;
        assert_eq!(of("jelly.actuation", t), [0.07]);
        assert_eq!(of("thruster.force", t), [1.0 + first, 2.0 + first, 3.0 + first]);
        assert_eq!(of("lead.velocity", t), [7.0 + first, 8.0 + first, 9.0 + first]);
    }
}

#[test]
fn reversible_steps_refuse_given_motions() {
    let step = driven("semi-implicit-euler", 10);
    let error =
        Step::new(step.model(), Scheme::new(Integrator::ReversibleVerlet, 0.01)).err().expect("an error");
    assert!(error.to_string().contains("motions that are given"), "{error}");
}
