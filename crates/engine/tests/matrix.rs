//! The gradient matrix: every force x integrator x memory x parameter, from one factory.

mod common;

use std::cell::RefCell;

use common::{Everywhere, Seldom, World, controls, every_combination, varied, worlds};
use pullback_engine::rollout::{Bars, Coordinate, Moment, Pushforward};
use pullback_engine::{Gradient, Integrator, Loss, Memory, Options, Rollout, Scheme, Snapshots, Start, Step};
use pullback_kernel::gradcheck::{self, Function};
use pullback_kernel::prelude::*;

const STEPS: usize = 7;
const DT: f64 = 0.01;

fn step(world: &World, integrator: Integrator, substeps: usize) -> Step {
    Step::new(&world.model, Scheme { integrator, dt: DT, substeps }).expect("a step")
}

/// Every world with every integrator that can run it.
fn combinations() -> Vec<(World, Integrator)> {
    with(World::integrators)
}

/// Every world with every integrator of these.
fn with(integrators: impl Fn(&World) -> Vec<Integrator>) -> Vec<(World, Integrator)> {
    let of = |integrator: Integrator| {
        let has = |world: &World| integrators(world).contains(&integrator);
        worlds().into_iter().filter(has).map(move |world| (world, integrator)).collect::<Vec<_>>()
    };
    Integrator::ALL.into_iter().flat_map(of).collect()
}

/// A rollout as a function of everything that it starts from, to its loss.
struct Everything {
    name: String,
    sizes: [usize; 3],
    names: Vec<String>,
    /// Numbers are given relative to these: derivatives by a stiffness and by a position are then of one size.
    sizes_of: Vec<f64>,
    rollout: RefCell<Rollout>,
    tangents: RefCell<Pushforward>,
    /// Where tangents were last taken, and by how much the loss grows along each direction there.
    slopes: RefCell<(Vec<f64>, Vec<f64>)>,
}

impl Everything {
    fn new(world: &World, integrator: Integrator, substeps: usize) -> (Self, Vec<f64>) {
        let step = step(world, integrator, substeps);
        let (state, params) = (world.model.state(), world.model.params());
        let controls = controls(world, STEPS);
        let sizes = [state.values().len(), controls.len(), params.values().len()];
        let mut names: Vec<String> = (0..sizes[0]).map(|i| state.layout().name_of(i)).collect();
        names.extend((0..sizes[1]).map(|i| format!("control {i}")));
        names.extend((0..sizes[2]).map(|i| params.layout().name_of(i)));
        let mut directions: Vec<Coordinate> = (0..sizes[0]).map(Coordinate::State).collect();
        directions.extend((0..sizes[1]).map(Coordinate::Control));
        directions.extend((0..sizes[2]).map(Coordinate::Param));
        let x = [state.values(), &controls, params.values()].concat();
        let tangents = Pushforward::new(&step, STEPS, directions, RunOptions::default());
        // Where nothing bounces there is no derivative by restitution: docs/nonsmooth.md.
        let size = |(x, name): (&f64, &String)| match *x {
            0.0 if name.ends_with("restitution") => 0.0,
            0.0 => 1.0,
            x => x.abs(),
        };
        let everything = Everything {
            name: format!("{} with {} ({substeps})", world.name, integrator.name()),
            sizes,
            sizes_of: x.iter().zip(&names).map(size).collect(),
            names,
            rollout: RefCell::new(Rollout::new(&step, Options::new(STEPS)).expect("a rollout")),
            tangents: RefCell::new(tangents),
            slopes: RefCell::default(),
        };
        let x = x
            .iter()
            .zip(&everything.sizes_of)
            .map(|(x, size)| if *size == 0.0 { 0.0 } else { x / size })
            .collect();
        (everything, x)
    }

    fn numbers(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.sizes_of).map(|(x, size)| x * size).collect()
    }

    fn start<'a>(&self, x: &'a [f64]) -> Start<'a> {
        let (states, rest) = x.split_at(self.sizes[0]);
        let (controls, params) = rest.split_at(self.sizes[1]);
        Start { states, controls, params }
    }
}

impl Function for Everything {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn input_name(&self, i: usize) -> String {
        self.names[i].clone()
    }
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        let x = self.numbers(x);
        self.rollout.borrow_mut().value(&self.start(&x), &Everywhere).expect("a rollout").to_vec()
    }
    fn pullback(&self, x: &[f64], y_bar: &[f64]) -> Vec<f64> {
        let mut rollout = self.rollout.borrow_mut();
        let x = self.numbers(x);
        let g = rollout.gradient(&self.start(&x), &Everywhere).expect("a gradient");
        let all = [&g.states[..], &g.controls, &g.params].concat();
        all.into_iter().zip(&self.sizes_of).map(|(bar, size)| bar * size * y_bar[0]).collect()
    }
    fn pushforward(&self, x: &[f64], x_dot: &[f64]) -> Vec<f64> {
        let mut known = self.slopes.borrow_mut();
        if known.0 != x {
            *known = (x.to_vec(), self.slopes(x));
        }
        vec![known.1.iter().zip(x_dot).map(|(slope, x_dot)| slope * x_dot).sum()]
    }
}

impl Everything {
    /// The pushforward of every direction.
    fn slopes(&self, x: &[f64]) -> Vec<f64> {
        let mut slopes = vec![0.0; x.len()];
        let see = |moment: &Moment<'_>, tangent: &pullback_engine::rollout::Tangent<'_>| {
            let mut bars = [tangent.state, tangent.control, tangent.params].map(|t| vec![0.0; t.len()]);
            let [state, control, params] = &mut bars;
            Everywhere.pullback(moment, &mut Bars { state, control, params });
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            slopes[tangent.direction] += self.sizes_of[tangent.direction]
                * (dot(&bars[0], tangent.state)
                    + dot(&bars[1], tangent.control)
                    + dot(&bars[2], tangent.params));
        };
        let x = self.numbers(x);
        self.tangents.borrow_mut().run(&self.start(&x), see).expect("tangents");
        slopes
    }
}

/// How many directions stand for all numbers.
const DIRECTIONS: usize = 5;

/// The same as a function of how far all numbers together go in a few directions: differences of implicit steps take their time.
struct Along {
    of: Everything,
    x: Vec<f64>,
    directions: Vec<Vec<f64>>,
}

impl Along {
    /// Each number of the gradient agrees with the pushforward, whose derivation is another.
    fn new(of: Everything, x: Vec<f64>) -> Self {
        let gradient = of.pullback(&x, &[1.0]);
        of.pushforward(&x, &x);
        let slopes = of.slopes.borrow().1.clone();
        let scale = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        for (i, (g, slope)) in gradient.iter().zip(&slopes).enumerate() {
            let name = || format!("{}: d {}: {g}, pushed forward {slope}", of.name, of.names[i]);
            assert!((g - slope).abs() <= 1e-9 * scale, "{}", name());
        }
        let of_all = |k: usize| (0..x.len()).map(|i| (0.7 * i as f64 + 2.3 * (k * i) as f64).sin()).collect();
        Along { directions: (0..DIRECTIONS).map(of_all).collect(), of, x }
    }

    fn at(&self, far: &[f64]) -> Vec<f64> {
        let moved =
            |i: usize| far.iter().zip(&self.directions).map(|(far, along)| far * along[i]).sum::<f64>();
        self.x.iter().enumerate().map(|(i, x)| x + moved(i)).collect()
    }
}

impl Function for Along {
    fn name(&self) -> String {
        self.of.name()
    }
    fn input_name(&self, i: usize) -> String {
        format!("direction {i}")
    }
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        self.of.forward(&self.at(x))
    }
    fn pullback(&self, x: &[f64], y_bar: &[f64]) -> Vec<f64> {
        let bars = self.of.pullback(&self.at(x), y_bar);
        let dot = |along: &Vec<f64>| along.iter().zip(&bars).map(|(along, bar)| along * bar).sum();
        self.directions.iter().map(dot).collect()
    }
    fn pushforward(&self, x: &[f64], x_dot: &[f64]) -> Vec<f64> {
        let along = |i: usize| x_dot.iter().zip(&self.directions).map(|(dot, along)| dot * along[i]).sum();
        self.of.pushforward(&self.at(x), &(0..self.x.len()).map(along).collect::<Vec<f64>>())
    }
}

#[test]
fn every_gradient_agrees_with_differences() {
    agree_with_differences(|world| !world.hard && !world.soft && !world.elastic);
}

#[test]
fn every_gradient_of_elements_agrees_with_differences() {
    agree_with_differences(|world| world.elastic);
}

#[test]
fn every_gradient_of_hard_contact_agrees_with_differences() {
    agree_with_differences(|world| world.hard && !world.elastic);
}

#[test]
fn every_gradient_of_soft_contact_agrees_with_differences() {
    agree_with_differences(|world| world.soft && !world.elastic);
}

fn agree_with_differences(wanted: impl Fn(&World) -> bool) {
    for (world, integrator) in with(World::differenced).into_iter().filter(|(world, _)| wanted(world)) {
        let one = integrator != Integrator::SemiImplicitEuler && !every_combination();
        for &substeps in if one { &[1][..] } else { &[1, 3] } {
            let (everything, x) = Everything::new(&world, integrator, substeps);
            // On a lattice of 1e-12, differences know the eighth digit.
            let on_lattice = integrator == Integrator::ReversibleVerlet;
            let options = gradcheck::Options {
                step: if on_lattice { 1e-4 } else { world.difference },
                tolerance: if on_lattice { 1e-6 } else { 1e-7 },
                ..gradcheck::Options::default()
            };
            let numbers = x.len();
            let report = if world.usual.is_some() && integrator.is_implicit() && !every_combination() {
                let along = Along::new(everything, x);
                gradcheck::check_with(&along, &[0.0; DIRECTIONS], options)
            } else {
                gradcheck::check_with(&everything, &x, options)
            };
            let report = report.unwrap_or_else(|report| panic!("{report}"));
            // For `cargo xtask study gradients`.
            let (kind, name, integrator) = (world.kind(), world.name, integrator.name());
            let (worst, adjoint) = (&report.worst, report.adjoint_gap);
            println!(
                "matrix|{kind}|{name}|{integrator} ({substeps})|{numbers}|{:e}|{}|{adjoint:e}",
                worst.error, worst.which
            );
        }
    }
}

fn gradient(world: &World, step: &Step, options: Options) -> (Vec<u64>, usize) {
    let mut rollout = Rollout::<f64>::new(step, options).expect("a rollout");
    let (state, params, controls) = (world.model.state(), world.model.params(), controls(world, STEPS));
    let start = Start::new(&state, &controls, &params);
    // Twice: the second must not see anything of the first.
    rollout.gradient(&start, &Everywhere).expect("a gradient");
    let g = rollout.gradient(&start, &Everywhere).expect("a gradient");
    let all = [&g.values[..], &g.states, &g.controls, &g.params, &g.norms].concat();
    (all.iter().map(|x| x.to_bits()).collect(), rollout.steps_made())
}

#[test]
fn every_memory_gives_the_same_bits() {
    for (world, integrator) in combinations() {
        let one = integrator != Integrator::SemiImplicitEuler && !every_combination();
        for &substeps in if one { &[2][..] } else { &[1, 2] } {
            let step = step(&world, integrator, substeps);
            let options = Options::new(STEPS);
            let (reference, made) = gradient(&world, &step, options);
            assert_eq!(made, 2 * STEPS - 1, "{} with {}", world.name, integrator.name());
            let mut memories = vec![
                Memory::Binomial { snapshots: 1 },
                Memory::Binomial { snapshots: 2 },
                Memory::Binomial { snapshots: 3 },
                Memory::Budget { bytes: 100_000_000 },
                Memory::Dense,
            ];
            if integrator == Integrator::ReversibleVerlet {
                memories.push(Memory::Reversible);
            }
            for memory in memories {
                let (bits, made) = gradient(&world, &step, Options { memory, ..options });
                let name = format!("{} with {} and {memory:?}", world.name, integrator.name());
                assert_eq!(bits, reference, "{name}");
                if let Memory::Binomial { snapshots } = memory {
                    assert_eq!(made, pullback_engine::rollout::steps_made(STEPS, snapshots), "{name}");
                }
            }
        }
    }
}

#[test]
fn a_loss_that_looks_seldom_is_the_same() {
    let mut memories = vec![Memory::EveryStep, Memory::Binomial { snapshots: 2 }, Memory::Dense];
    memories.push(Memory::Reversible);
    for (world, integrator) in combinations().into_iter().filter(|(world, _)| !world.hard && !world.soft) {
        let reversible = integrator == Integrator::ReversibleVerlet;
        let step = step(&world, integrator, 2);
        let (state, params, controls) = (world.model.state(), world.model.params(), controls(&world, STEPS));
        let start = Start::new(&state, &controls, &params);
        for &memory in memories.iter().filter(|memory| reversible || **memory != Memory::Reversible) {
            // With a cotangent that is clipped and dropped on its way, and, where it may stay where it is between steps, without.
            let cut = [(Some(5), Some(2.0)), (Some(5), None), (None, None)];
            for &(truncate, clip) in if memory == Memory::Dense { &cut[..] } else { &cut[..1] } {
                let options = Options { memory, truncate, clip, ..Options::new(STEPS) };
                let [always, seldom] = [false, true].map(|says_so| {
                    let mut rollout = Rollout::<f64>::new(&step, options).expect("a rollout");
                    let value = rollout.value(&start, &Seldom { says_so }).expect("a value")[0];
                    rollout.gradient(&start, &Everywhere).expect("a gradient");
                    let g = rollout.gradient(&start, &Seldom { says_so }).expect("a gradient").clone();
                    assert_eq!(g.values, [value]);
                    g
                });
                let name = format!("{} with {} and {options:?}", world.name, integrator.name());
                same_but_norms(&seldom, &always, &name);
            }
        }
    }
}

/// Norms that nobody looks at are summed in another order.
fn same_but_norms(a: &Gradient, b: &Gradient, name: &str) {
    assert_eq!((&a.values, &a.states), (&b.values, &b.states), "{name}");
    assert_eq!((&a.controls, &a.params), (&b.controls, &b.params), "{name}");
    for (a, b) in a.norms.iter().zip(&b.norms) {
        assert!((a - b).abs() <= 1e-13 * b, "{name}: norms {a} and {b}");
    }
}

/// Cotangents of a batch that stay where they are between steps, of every world, those with shapes that touch too.
#[test]
fn a_loss_that_looks_seldom_at_many_worlds_is_the_same() {
    const WORLDS: usize = 19;
    for world in worlds() {
        let step = step(&world, Integrator::SemiImplicitEuler, 2);
        let (state, params, controls) = (world.model.state(), world.model.params(), controls(&world, STEPS));
        let [states, controls, params] =
            [state.values(), &controls, params.values()].map(|numbers| varied(numbers, WORLDS));
        let start = Start { states: &states, controls: &controls, params: &params };
        let options = Options { worlds: WORLDS, ..Options::new(STEPS) };
        let [always, seldom] =
            [(Memory::EveryStep, false), (Memory::Dense, true)].map(|(memory, says_so)| {
                let mut rollout =
                    Rollout::<f64>::new(&step, Options { memory, ..options }).expect("a rollout");
                rollout.gradient(&start, &Seldom { says_so }).expect("a gradient").clone()
            });
        same_but_norms(&seldom, &always, world.name);
    }
}

#[test]
fn states_in_single_precision_give_nearly_the_same() {
    for (world, integrator) in combinations() {
        let step = step(&world, integrator, 1);
        for memory in [Memory::EveryStep, Memory::Binomial { snapshots: 2 }, Memory::Dense] {
            let options = Options { memory, ..Options::new(STEPS) };
            let (exact, _) = gradient(&world, &step, options);
            let (rounded, _) = gradient(&world, &step, Options { snapshots: Snapshots::F32, ..options });
            let numbers = |bits: &[u64]| bits.iter().map(|b| f64::from_bits(*b)).collect::<Vec<_>>();
            let (exact, rounded) = (numbers(&exact), numbers(&rounded));
            let scale = exact.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let name = format!("{} with {} and {memory:?}", world.name, integrator.name());
            for (a, b) in exact.iter().zip(&rounded) {
                assert!((a - b).abs() <= 2e-5 * scale, "{name}: {a} {b}");
            }
            assert_ne!(exact, rounded, "{name}: nothing was rounded");
        }
    }
}

/// Worlds of a batch with different states, controls and params, against each alone.
#[test]
fn a_batch_gives_the_same_bits_as_its_worlds_alone() {
    const WORLDS: usize = 19;
    for (world, integrator) in combinations() {
        let step = step(&world, integrator, 1);
        let (state, params, controls) = (world.model.state(), world.model.params(), controls(&world, STEPS));
        let [states, all_controls, all_params] =
            [state.values(), &controls, params.values()].map(|numbers| varied(numbers, WORLDS));
        let start = Start { states: &states, controls: &all_controls, params: &all_params };
        for threads in [1, 3] {
            let run = RunOptions { threads, ..RunOptions::default() };
            let options = Options { worlds: WORLDS, run, ..Options::new(STEPS) };
            let mut batch = Rollout::<f64>::new(&step, options).expect("a batch");
            let batch = batch.gradient(&start, &Everywhere).expect("a gradient");
            let mut alone = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
            for w in 0..WORLDS {
                let of = |numbers: &[f64], i: usize| {
                    let len = numbers.len() / WORLDS;
                    numbers[i * len..(i + 1) * len].to_vec()
                };
                let (states, controls, params) = (of(&states, w), of(&all_controls, w), of(&all_params, w));
                let start = Start { states: &states, controls: &controls, params: &params };
                let g = alone.gradient(&start, &Everywhere).expect("a gradient");
                let name = format!("{} with {}, world {w}", world.name, integrator.name());
                assert_eq!(of(&batch.values, w), g.values, "{name}: value");
                assert_eq!(of(&batch.states, w), g.states, "{name}: states");
                assert_eq!(of(&batch.controls, w), g.controls, "{name}: controls");
                assert_eq!(of(&batch.params, w), g.params, "{name}: params");
                assert_eq!(of(&batch.norms, w), g.norms, "{name}: norms");
            }
        }
    }
}

#[test]
fn single_precision_agrees_with_double() {
    for (world, integrator) in combinations() {
        // A lattice of 1e-12 is too fine for single precision.
        if integrator == Integrator::ReversibleVerlet {
            continue;
        }
        let step = step(&world, integrator, 1);
        let (state, params, controls) = (world.model.state(), world.model.params(), controls(&world, STEPS));
        let start = Start::new(&state, &controls, &params);
        let mut double = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
        let double = double.gradient(&start, &Everywhere).expect("a gradient");
        let mut single = Rollout::<f32>::new(&step, Options::new(STEPS)).expect("a rollout");
        let single = single.gradient(&start, &Everywhere).expect("a gradient");
        for (a, b) in [(&double.states, &single.states), (&double.params, &single.params)] {
            let scale = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            for (a, b) in a.iter().zip(b) {
                assert!((a - b).abs() < 1e-3 * scale, "{} with {}: {a} {b}", world.name, integrator.name());
            }
        }
    }
}

/// A smooth number of all states, each of another weight, and of nothing else.
struct Weighed;

fn weight(step: usize, i: usize) -> f64 {
    (0.7 * i as f64 + 0.3 * step as f64).sin() + 0.2
}

impl Loss for Weighed {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        moment.state.iter().enumerate().map(|(i, x)| weight(moment.step, i) * x).sum()
    }
    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        bars.state.iter_mut().enumerate().for_each(|(i, bar)| *bar += weight(moment.step, i));
    }
}

/// Numbers of contact matter where soft things touch something, and each derivative is right by itself, however small it is beside others.
#[test]
fn each_number_of_what_soft_things_touch_matters() {
    let mut looked_at = 0;
    for (world, integrator) in with(World::differenced).into_iter().filter(|(world, _)| world.elastic) {
        let step = step(&world, integrator, 1);
        let (state, params, controls) = (world.model.state(), world.model.params(), controls(&world, STEPS));
        // Where bodies are hard, all has materials, or numbers of its own.
        let prefixes = ["ground.", "soft_contact.", if world.hard { "rubber." } else { "contact." }];
        let matters = |i: &usize| {
            let name = params.layout().name_of(*i);
            // Where nothing bounces there is no derivative by restitution: docs/nonsmooth.md.
            prefixes.iter().any(|prefix| name.starts_with(prefix)) && !name.ends_with("restitution")
        };
        let numbers: Vec<usize> = (0..params.values().len()).filter(matters).collect();
        if numbers.is_empty() {
            continue;
        }
        let mut rollout = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
        let start = Start::new(&state, &controls, &params);
        let gradient = rollout.gradient(&start, &Weighed).expect("a gradient").params.clone();
        for i in numbers {
            let mut value = |h: f64| {
                let mut params = params.clone();
                params.values_mut()[i] += h;
                rollout.value(&Start::new(&state, &controls, &params), &Weighed).expect("a value")[0]
            };
            let h = world.difference * params.values()[i].abs();
            let (found, wanted) = (gradient[i], (value(h) - value(-h)) / (2.0 * h));
            let name = params.layout().name_of(i);
            let what = || format!("{} with {}: by {name} {found:e}", world.name, integrator.name());
            assert!(found != 0.0 && (found / wanted - 1.0).abs() < 1e-4, "{}, and not {wanted:e}", what());
            assert_ne!(found.to_bits(), wanted.to_bits(), "{}", what());
            looked_at += 1;
        }
    }
    assert!(looked_at > 120, "{looked_at}");
}

/// Every world, and the document that says how right its gradients are.
#[test]
fn the_document_has_every_world() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gradients.md");
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let worlds = worlds();
    let missing: Vec<&str> = worlds
        .iter()
        .map(|world| world.name)
        .filter(|name| !text.contains(&format!("\n| {name} |")))
        .collect();
    assert!(missing.is_empty(), "docs/gradients.md lacks {missing:?}: run `cargo xtask study gradients`");
    // And nothing that there is no more.
    let rows = text.lines().skip_while(|line| !line.starts_with("## The gradient matrix"));
    let names = rows.filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let gone: Vec<&str> = names
        .filter(|name| !["world", "all"].contains(name) && worlds.iter().all(|world| world.name != *name))
        .collect();
    assert!(gone.is_empty(), "docs/gradients.md has {gone:?}: run `cargo xtask study gradients`");
}
