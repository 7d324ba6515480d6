//! Heaps of loose bodies: hundreds of contacts that feel each other, with sparse equations.

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Error, Model, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::{RunOptions, Width};
use pullback_scene::robot::{Geometry, Inertial, Placement, Robot, Shape};
use pullback_scene::{
    Complementarity, Contact, ContactGradient, ContactModel, ContactSolver, Ground, Scene, Simulation,
};

const SIZE: f64 = 0.1;

/// A number from -1 to 1 that looks like chance.
fn chance(seed: usize) -> f64 {
    (12.9898 * (seed + 1) as f64).sin() * 43758.547 % 1.0
}

/// Boxes and balls in turn, in layers of 3 by 3 or more, each a little aside.
fn heap(bodies: usize, law: Complementarity) -> Scene {
    let side = (bodies as f64).cbrt().round() as usize;
    let start = |i: usize| {
        let (x, y, z) = (i % side, i / side % side, i / (side * side));
        let aside = |k: usize| 0.01 * chance(3 * i + k);
        let position = [0.21 * x as f64 + aside(0), 0.21 * y as f64 + aside(1), 0.105 + 0.21 * z as f64];
        Placement { position, ..Placement::default() }
    };
    let of = |name: &str, which: usize, geometry: Geometry, moment: f64| {
        let placements: Vec<Placement> = (0..bodies).filter(|i| i % 2 == which).map(start).collect();
        let inertia = [moment, moment, moment, 0.0, 0.0, 0.0];
        Robot::loose_bodies(name, &placements, Inertial { mass: 1.0, center: [0.0; 3], inertia })
            .shaped(&Shape::new(geometry))
    };
    let boxes = of("boxes", 0, Geometry::Box { half_sides: [SIZE; 3] }, 2.0 / 3.0 * SIZE * SIZE);
    let balls = of("balls", 1, Geometry::Sphere { radius: SIZE }, 0.4 * SIZE * SIZE);
    Scene {
        simulation: Simulation { dt: 0.005, ..Simulation::default() },
        robots: vec![boxes, balls],
        contact: Some(Contact { mu: 0.5, model: ContactModel::Complementarity(law), ..Contact::default() }),
        ground: Some(Ground { mu: 0.5, ..Ground::default() }),
        ..Scene::default()
    }
}

/// A law under which impulses of a heap are found in few sweeps.
fn law() -> Complementarity {
    Complementarity { regularisation: 1e-2, ..Complementarity::default() }
}

fn step(scene: &Scene, dense: Option<usize>) -> Step {
    let model = Model::new(scene).expect("a model");
    let model = match dense {
        Some(dense) => model.with_sparse_contact(dense),
        None => model,
    };
    Step::new(&model, Scheme::of(scene)).expect("a step")
}

/// A weight for each number of the last state.
struct Weighted;

impl Loss for Weighted {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        let weights = (0..).map(chance);
        if moment.last { weights.zip(moment.state).map(|(w, x)| w * x).sum() } else { 0.0 }
    }
    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state.iter_mut().zip((0..).map(chance)).for_each(|(bar, w)| *bar += w);
        }
    }
}

/// The state after some steps.
fn after(step: &Step, from: &[f64], steps: usize) -> Result<Vec<f64>, Error> {
    let model = step.model();
    let mut rollout = Rollout::<f64>::new(step, Options::new(steps))?;
    let start = Start { states: from, controls: &model.controls(steps), params: model.params().values() };
    let mut last = Vec::new();
    rollout.watch(&start, |moment| last = moment.state.to_vec())?;
    Ok(last)
}

/// Value and gradient by the state of a few steps.
fn gradient(step: &Step, from: &[f64], steps: usize) -> (f64, Vec<f64>) {
    let model = step.model();
    let mut rollout = Rollout::<f64>::new(step, Options::new(steps)).expect("a rollout");
    let start = Start { states: from, controls: &model.controls(steps), params: model.params().values() };
    let gradient = rollout.gradient(&start, &Weighted).expect("a gradient");
    let by = gradient.states.to_vec();
    (rollout.value(&start, &Weighted).expect("a value")[0], by)
}

#[test]
fn prototype() {
    let n: usize = std::env::var("N").map_or(60, |n| n.parse().expect("a number"));
    let steps: usize = std::env::var("STEPS").map_or(200, |n| n.parse().expect("a number"));
    let reg: f64 = std::env::var("REG").map_or(1e-4, |n| n.parse().expect("a number"));
    let dense: Option<usize> = std::env::var("DENSE").ok().map(|n| n.parse().expect("a number"));
    let law = Complementarity { regularisation: reg, ..Complementarity::default() };
    let scene = heap(n, law);
    let t = std::time::Instant::now();
    let s = step(&scene, dense);
    println!("build {:?}", t.elapsed());
    let t = std::time::Instant::now();
    let state = after(&s, s.model().state().values(), steps).expect("a run");
    println!("run {:?} a step", t.elapsed() / steps as u32);
    let half = s.model().positions();
    let v: f64 = state[half..].iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let z = (0..n).map(|i| state[7 * i + 2]).fold(f64::INFINITY, f64::min);
    println!("fastest {v} lowest {z}");
    let t = std::time::Instant::now();
    let (value, by) = gradient(&s, &state, 5);
    println!(
        "gradient {:?} value {value} by {}",
        t.elapsed() / 5,
        by.iter().map(|x| x * x).sum::<f64>().sqrt()
    );
}
