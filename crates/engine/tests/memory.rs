//! Memory: what rollouts hold, that budgets are kept and used, and that steps allocate nothing. A counting allocator, in a
//! process of its own.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use common::{Everywhere, World, solids, worlds};
use pullback_engine::articulated::Watch;
use pullback_engine::{
    Error, Integrator, Memory, Model, Options, Params, Rollout, Scheme, Snapshots, Start, State, Step,
};
use pullback_kernel::prelude::*;
use pullback_scene::{Actuator, Part, Particles, Scene, Springs};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn add(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    PEAK.fetch_max(LIVE.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both are there while the old is copied to the new.
        add(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What a rollout starts from: the model's own values in all worlds.
struct Numbers {
    states: Vec<f64>,
    controls: Vec<f64>,
    params: Vec<f64>,
}

impl Numbers {
    fn new(model: &Model, steps: usize, worlds: usize) -> Numbers {
        Numbers {
            states: model.state().values().repeat(worlds),
            controls: model.controls(steps).repeat(worlds),
            params: model.params().values().repeat(worlds),
        }
    }

    fn start(&self) -> Start<'_> {
        Start { states: &self.states, controls: &self.controls, params: &self.params }
    }
}

/// The most bytes that a rollout and some gradients of it add to what was there.
fn peak(step: &Step, options: Options, numbers: &Numbers, gradients: usize) -> Result<usize, Error> {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let mut rollout = Rollout::<f64>::new(step, options)?;
    for _ in 0..gradients {
        rollout.gradient(&numbers.start(), &Everywhere)?;
    }
    Ok(PEAK.load(Relaxed) - before)
}

/// A net of particles that hangs from two corners.
fn net(rows: usize, columns: usize) -> Scene {
    let at = |i: usize| [0.1 * (i % columns) as f64, 0.1 * (i / columns) as f64, 0.0];
    let mut knots = Particles::many("knot", (0..rows * columns).map(at).collect(), 0.02);
    knots.fixed[0] = [true; 3];
    knots.fixed[columns - 1] = [true; 3];
    // Masses differ, so that rows are exchanged when matrices are factorised.
    knots.masses.iter_mut().enumerate().for_each(|(i, m)| *m *= 1.0 + (i * 7 % 5) as f64);
    let right = (0..rows * columns).filter(|i| i % columns + 1 < columns).map(|i| [i, i + 1]);
    let up = (0..(rows - 1) * columns).map(|i| [i, i + columns]);
    let springs = Springs::many("thread", right.chain(up).collect(), 300.0, 0.1);
    Scene { particles: vec![knots], springs: vec![springs], ..Scene::default() }
}

/// A chain of 100 particles that hangs straight down, so that its gradients do not grow, with actuators at its end.
fn long_chain(actuators: usize) -> Model {
    let mut chain = Particles::line("chain", [0.0; 3], [0.0, 0.0, -10.0], 100, 0.1);
    chain.fixed[0] = [true; 3];
    let springs = Springs::chain("link", 0..100, 200.0, 0.1).damping(0.5);
    let actuators = (0..actuators).map(|i| Actuator::new(format!("thruster{i}"), 99 - i)).collect();
    let scene = Scene { particles: vec![chain], springs: vec![springs], actuators, ..Scene::default() };
    Model::new(&scene).expect("a chain")
}

fn every_step_takes_a_state_a_step() {
    for (actuators, steps) in [(0, 100_000), (3, 10_000)] {
        let model = long_chain(actuators);
        let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 1e-3)).expect("a step");
        let numbers = Numbers::new(&model, steps, 1);
        let a_step = 8 * (model.state_layout().len() + model.control_layout().len());
        let all = peak(&step, Options::new(steps), &numbers, 1).expect("a gradient");
        assert!(all as f64 <= 1.1 * (a_step * steps) as f64, "{all} bytes, {a_step} a step");
    }
}

fn thirty_snapshots_take_next_to_nothing() {
    let (model, steps) = (long_chain(0), 100_000);
    let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 1e-3)).expect("a step");
    let options = Options { memory: Memory::Binomial { snapshots: 30 }, ..Options::new(steps) };
    let numbers = Numbers::new(&model, steps, 1);
    let all = peak(&step, options, &numbers, 1).expect("a gradient");
    assert!(all < 2_000_000, "{all} bytes");
}

/// All models with all integrators that budgets are tested on, and steps short enough for each.
fn models() -> Vec<(String, Model, Integrator)> {
    // Elements take their time: one explicit and one implicit integrator.
    let integrators = |world: &World| match solids::THOROUGH.contains(&world.name) {
        true => vec![Integrator::SemiImplicitEuler, Integrator::BackwardEuler],
        false => world.integrators(),
    };
    let of = |world: World| (world.name.to_owned(), integrators(&world), world.model);
    let mut models: Vec<(String, Vec<Integrator>, Model)> = worlds().into_iter().map(of).collect();
    let scene = |name: &str, scene: Scene| {
        (name.to_owned(), Integrator::ALL.to_vec(), Model::new(&scene).expect("a scene"))
    };
    models.push(scene("a row", net(2, 15)));
    models.push(scene("a net", net(9, 9)));
    let with = |(name, integrators, model): (String, Vec<Integrator>, Model)| {
        integrators.into_iter().map(move |i| (name.clone(), model.clone(), i))
    };
    models.into_iter().flat_map(with).collect()
}

/// The least budget, and the one that keeps every step.
fn bounds(step: &Step, options: Options) -> (usize, usize) {
    match Rollout::<f64>::new(step, Options { memory: Memory::Budget { bytes: 0 }, ..options }) {
        Err(Error::Budget { bytes: 0, needed, all }) => (needed, all),
        _ => panic!("no byte was enough"),
    }
}

fn budgets_are_kept() {
    const STEPS: usize = 12;
    for (name, model, integrator) in models() {
        let step = Step::new(&model, Scheme::new(integrator, 2e-3)).expect("a step");
        let settings = match name.as_str() {
            "a net" => vec![(1, 1, Snapshots::F64)],
            "a row" => vec![(1, 1, Snapshots::F64), (1, 2, Snapshots::F64), (20, 2, Snapshots::F32)],
            "gravity" | "springs" | "everything" => vec![(1, 1, Snapshots::F64), (20, 1, Snapshots::F64)],
            _ => vec![(1, 1, Snapshots::F64)],
        };
        for (worlds, threads, snapshots) in settings {
            let run = RunOptions { threads, ..RunOptions::default() };
            let options = Options { worlds, run, snapshots, ..Options::new(STEPS) };
            let numbers = Numbers::new(&model, STEPS, worlds);
            let (needed, all) = bounds(&step, Options { steps: 1, ..options });
            assert!(needed <= all, "{name}: {needed} bytes at least, and {all} for all");
            let (needed, all) = bounds(&step, options);
            let what = format!("{name} with {}, {worlds} worlds, {threads} threads", integrator.name());
            let budget = |bytes: usize| Options { memory: Memory::Budget { bytes }, ..options };
            // One byte less than the least is too little, and the error says so.
            let error = Rollout::<f64>::new(&step, budget(needed - 1)).err().expect("too little");
            assert!(error.to_string().contains(&format!("at least {needed} bytes")), "{what}: {error}");
            for k in [0, 1, 3, 4, 5] {
                let bytes = needed + (all - needed) * k / 4;
                let used = peak(&step, budget(bytes), &numbers, 2).unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(used <= bytes, "{what}: {used} bytes of {bytes}");
            }
        }
    }
}

/// With many more steps than fit, most of a budget is in use.
fn budgets_are_used() {
    let model = Model::new(&net(2, 15)).expect("a net");
    for integrator in Integrator::ALL {
        let implicit = matches!(integrator, Integrator::ImplicitMidpoint | Integrator::BackwardEuler);
        let (steps, parts) = if implicit { (600, vec![5]) } else { (2000, vec![2, 5, 9]) };
        let step = Step::new(&model, Scheme::new(integrator, 2e-3)).expect("a step");
        let numbers = Numbers::new(&model, steps, 1);
        let (needed, all) = bounds(&step, Options::new(steps));
        for part in parts {
            let bytes = needed + (all - needed) * part / 10;
            let options = Options { memory: Memory::Budget { bytes }, ..Options::new(steps) };
            let used = peak(&step, options, &numbers, 1).expect("a gradient");
            let name = integrator.name();
            assert!(used <= bytes && used * 10 >= bytes * 8, "{name}: {used} bytes of {bytes}");
        }
    }
}

fn steps_allocate_nothing() {
    const STEPS: usize = 12;
    for (name, model, integrator) in models() {
        let step = Step::new(&model, Scheme::new(integrator, 2e-3)).expect("a step");
        for worlds in if name == "a net" { [1, 2] } else { [1, 20] } {
            let options =
                Options { worlds, memory: Memory::Binomial { snapshots: 2 }, ..Options::new(STEPS) };
            let numbers = Numbers::new(&model, STEPS, worlds);
            let mut rollout = Rollout::<f64>::new(&step, options).expect("a rollout");
            rollout.gradient(&numbers.start(), &Everywhere).expect("a gradient");
            let before = ALLOCATIONS.load(Relaxed);
            rollout.value(&numbers.start(), &Everywhere).expect("a value");
            rollout.gradient(&numbers.start(), &Everywhere).expect("a gradient");
            let found = ALLOCATIONS.load(Relaxed) - before;
            assert_eq!(found, 0, "{name} with {}, {worlds} worlds", integrator.name());
        }
    }
}

fn watching_allocates_nothing() {
    for world in worlds().iter().filter(|world| !world.model.robots().is_empty()) {
        let model = &world.model;
        let (mut state, mut params) = (model.state(), model.params());
        let mut watch = Watch::new(model).expect("robots");
        let (mut state_bar, mut params_bar) =
            (vec![0.0; state.values().len()], vec![0.0; params.values().len()]);
        let part = Part::Body { robot: 0, body: 0 };
        let mut look = |state: &State, params: &Params| {
            watch.run(state.values(), params.values()).expect("it fits");
            let (pose, motion) = watch.part(part).expect("it is there");
            watch.seed(part, pose, motion);
            watch.pullback(&mut state_bar, &mut params_bar).expect("it fits");
        };
        look(&state, &params);
        let before = ALLOCATIONS.load(Relaxed);
        state.values_mut()[0] += 0.1;
        look(&state, &params);
        params.values_mut()[0] += 0.1;
        look(&state, &params);
        assert_eq!(ALLOCATIONS.load(Relaxed) - before, 0, "{}", world.name);
    }
}

/// One after the other, and without the harness: others would allocate at the same time.
fn main() {
    let tests: [(&str, fn()); 6] = [
        ("steps_allocate_nothing", steps_allocate_nothing),
        ("watching_allocates_nothing", watching_allocates_nothing),
        ("budgets_are_kept", budgets_are_kept),
        ("budgets_are_used", budgets_are_used),
        ("thirty_snapshots_take_next_to_nothing", thirty_snapshots_take_next_to_nothing),
        ("every_step_takes_a_state_a_step", every_step_takes_a_state_a_step),
    ];
    // Names, or parts of them, choose tests as they do with the harness.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |name: &str| {
        let mut words = arguments.iter().filter(|word| !word.starts_with('-')).peekable();
        words.peek().is_none() || words.any(|word| name.contains(word.as_str()))
    };
    let tests: Vec<_> = tests.into_iter().filter(|(name, _)| chosen(name)).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return;
    }
    for (name, test) in &tests {
        test();
        println!("test {name} ... ok");
    }
    println!("test result: ok. {} passed; 0 failed", tests.len());
}
