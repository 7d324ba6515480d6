//! The reversible integrator: forwards and back to the same bits, and what it refuses.

mod common;

use common::Everywhere;
use pullback_engine::rollout::{Bars, Moment};
use pullback_engine::{Error, Integrator, Loss, Memory, Model, Options, Rollout, Scheme, Start, Step};
use pullback_scene::{AppliedForce, Ground, Particles, Scene, Springs};

const DT: f64 = 0.01;

/// Three masses on springs that swing under forces that change in time.
fn scene() -> Scene {
    let mut chain =
        Particles::line("chain", [0.0, 0.0, 1.0], [0.9, 0.3, 1.2], 4, 0.3).velocity([0.2, -0.4, 0.7]);
    chain.fixed[0] = [true; 3];
    chain.velocities[0] = [0.0; 3];
    let springs = Springs::many("spring", vec![[0, 1], [1, 2], [2, 3], [0, 3]], 40.0, 0.25);
    let swing = AppliedForce::constant("gust", vec![1, 3], [0.7, -0.3, 0.5]).oscillating(1.3, 0.4);
    Scene { particles: vec![chain], springs: vec![springs], forces: vec![swing], ..Scene::default() }
}

fn step(scene: &Scene, substeps: usize) -> Step {
    let model = Model::new(scene).expect("a scene");
    Step::new(&model, Scheme { integrator: Integrator::ReversibleVerlet, dt: DT, substeps }).expect("a step")
}

/// Sees states on the way there and on the way back, and wants nothing: a pullback is called at every moment of the way
/// back, with the state that was made again.
#[derive(Default)]
struct Watching {
    there: std::cell::RefCell<Vec<(usize, Vec<u64>)>>,
    met: std::cell::Cell<usize>,
    every: usize,
}

fn bits(state: &[f64]) -> Vec<u64> {
    state.iter().map(|x| x.to_bits()).collect()
}

impl Loss for Watching {
    fn value(&self, m: &Moment<'_>) -> f64 {
        if m.step.is_multiple_of(self.every) {
            self.there.borrow_mut().push((m.step, bits(m.state)));
        }
        0.0
    }
    fn pullback(&self, m: &Moment<'_>, _: &mut Bars<'_>) {
        if m.step.is_multiple_of(self.every) {
            let (step, state) = &self.there.borrow()[m.step / self.every];
            assert_eq!(*step, m.step);
            assert_eq!(*state, bits(m.state), "step {step}");
            self.met.set(self.met.get() + 1);
        }
    }
}

#[test]
fn a_million_steps_there_and_back_end_on_the_same_bits() {
    let steps = 1_000_000;
    let step = step(&scene(), 1);
    let model = step.model().clone();
    let options = Options { memory: Memory::Reversible, ..Options::new(steps) };
    let mut rollout = Rollout::<f64>::new(&step, options).expect("a rollout");
    let watching = Watching { every: 10_000, ..Watching::default() };
    rollout.gradient(&Start::new(&model.state(), &[], &model.params()), &watching).expect("there and back");
    assert_eq!(watching.met.get(), 101);
    let there = watching.there.borrow();
    // It went somewhere, and nowhere twice.
    assert!((1..there.len()).all(|i| there[i].1 != there[0].1));
}

fn gradient(step: &Step, steps: usize, memory: Memory) -> Vec<u64> {
    let model = step.model();
    let mut rollout =
        Rollout::<f64>::new(step, Options { memory, ..Options::new(steps) }).expect("a rollout");
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let g = rollout.gradient(&Start::new(&state, &controls, &params), &Everywhere).expect("a gradient");
    bits(&[&g.values[..], &g.states, &g.controls, &g.params, &g.norms].concat())
}

#[test]
fn long_gradients_have_the_same_bits_as_with_snapshots() {
    // The chain is chaotic: in so many steps its gradients grow, and stay finite.
    for substeps in [1, 2] {
        let step = step(&scene(), substeps);
        let back = gradient(&step, 20_000 / substeps, Memory::Reversible);
        assert_eq!(back, gradient(&step, 20_000 / substeps, Memory::Binomial { snapshots: 60 }));
    }
}

/// A mass on a spring that a force swings: not chaotic, so that gradients of a million steps mean something.
#[test]
fn a_million_steps_have_the_same_gradient_as_with_snapshots() {
    let mass = Particles::single("mass", [0.4, 0.1, -0.2], 0.3).velocity([0.2, -0.4, 0.7]);
    let wall = Particles::single("wall", [0.0; 3], 1.0).fix();
    let spring = Springs::between("spring", [0, 1], 4.0, 0.0);
    let swing = AppliedForce::constant("gust", vec![0], [0.7, -0.3, 0.5]).oscillating(1.3, 0.4);
    let mut scene =
        Scene { particles: vec![mass, wall], springs: vec![spring], forces: vec![swing], ..Scene::default() };
    scene.world.gravity = [0.0; 3];
    let step = step(&scene, 1);
    let back = gradient(&step, 1_000_000, Memory::Reversible);
    assert_eq!(back, gradient(&step, 1_000_000, Memory::Binomial { snapshots: 200 }));
}

#[test]
fn each_step_is_made_once_more_on_the_way_back() {
    let step = step(&scene(), 1);
    let options = |memory| Options { memory, ..Options::new(1000) };
    let model = step.model();
    let mut rollout = Rollout::<f64>::new(&step, options(Memory::Reversible)).expect("a rollout");
    rollout.gradient(&Start::new(&model.state(), &[], &model.params()), &Everywhere).expect("a gradient");
    // For its values; those of the last step are still there.
    assert_eq!(rollout.steps_made(), 2 * 1000 - 1);
}

#[test]
fn forces_that_depend_on_velocities_are_refused_by_name() {
    let refused = |scene: &Scene, force: &str| {
        let model = Model::new(scene).expect("a scene");
        let error = Step::new(&model, Scheme::new(Integrator::ReversibleVerlet, DT)).err().expect("an error");
        assert!(matches!(error, Error::Reversible(_)), "{error}");
        assert!(error.to_string().contains(force), "{error}");
        // Other integrators take it.
        assert!(Step::new(&model, Scheme::new(Integrator::VelocityVerlet, DT)).is_ok());
    };
    let mut drag = scene();
    drag.particles[0] = drag.particles[0].clone().drag(0.1);
    refused(&drag, "Drag");
    let mut damped = scene();
    damped.springs[0] = damped.springs[0].clone().damping(0.1);
    refused(&damped, "damped springs");
    let ground = Some(Ground {
        height: 0.0,
        ke: Some(100.0),
        kd: Some(0.0),
        kf: Some(1.0),
        mu: Some(0.1),
        material: None,
    });
    refused(&Scene { ground, ..scene() }, "Ground");
}

/// With particles or without: an error, and not a panic.
#[test]
fn bodies_with_joints_are_refused() {
    let text = "[simulation]\ndt = 0.01\nsteps = 1\n[[bodies]]\nname = \"nut\"\nmass = 1\n\
                shape = { sphere = 0.1 }\nposition = [0, 0, 2]\n";
    let particle = "[[particles]]\nname = \"ball\"\nposition = [0, 0, 0]\nmass = 1\n";
    for text in [text.to_owned(), format!("{text}{particle}")] {
        let model = Model::new(&Scene::parse(&text, "nut.toml").expect("a scene")).expect("a model");
        let error = Step::new(&model, Scheme::new(Integrator::ReversibleVerlet, DT)).err().expect("refused");
        assert!(error.to_string().contains("`nut`"), "{error}");
    }
}

#[test]
fn other_integrators_cannot_go_back() {
    let model = Model::new(&scene()).expect("a scene");
    for integrator in Integrator::ALL.into_iter().filter(|i| *i != Integrator::ReversibleVerlet) {
        let step = Step::new(&model, Scheme::new(integrator, DT)).expect("a step");
        let options = Options { memory: Memory::Reversible, ..Options::new(10) };
        let error = Rollout::<f64>::new(&step, options).err().expect("an error").to_string();
        assert!(error.contains("reversible-verlet") && error.contains(integrator.name()), "{error}");
    }
}

#[test]
fn leaving_the_lattice_is_an_error() {
    let run = |position: f64, speed: f64, steps: usize| {
        let ball = Particles::single("ball", [position, 0.0, 0.0], 1.0).velocity([speed, 0.0, 0.0]);
        let step = step(&Scene { particles: vec![ball], ..Scene::default() }, 1);
        let model = step.model().clone();
        let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
        let start = (model.state(), model.params());
        rollout.value(&Start::new(&start.0, &[], &start.1), &Everywhere).map(|_| ())
    };
    assert!(run(4000.0, 90.0, 100).is_ok());
    let error = run(4000.0, 110.0, 100).expect_err("4110 m").to_string();
    // 4000 m + 1.1 m a step: past 4096 m with step 88.
    assert!(error.contains("step 88") && error.contains("4096"), "{error}");
    let error = run(5000.0, 0.0, 100).expect_err("5000 m").to_string();
    assert!(error.contains("step 0"), "{error}");
    let error = run(0.0, -5000.0, 100).expect_err("5000 m/s").to_string();
    assert!(error.contains("-5000"), "{error}");
}

/// Starts that are not on the lattice are rounded to it, 2^-40, and no further.
#[test]
fn starts_are_rounded_to_the_lattice() {
    let step = step(&scene(), 1);
    let (mut state, params) = (step.model().state(), step.model().params());
    state.set("chain[2].position.x", &[1.0 / 3.0]).expect("a name");
    let at = state.layout().find("chain[2].position.x").expect("a name").start;
    let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
    let mut first = Vec::new();
    let see = |m: &Moment<'_>| {
        if m.step == 0 {
            first = m.state.to_vec();
        }
    };
    rollout.watch(&Start::new(&state, &[], &params), see).expect("a rollout");
    let scaled = first[at] * (1u64 << 40) as f64;
    assert!(scaled == scaled.round() && (first[at] - 1.0 / 3.0).abs() <= 0.5 / (1u64 << 40) as f64);
}
