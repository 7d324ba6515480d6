//! Heaps of loose bodies: hundreds of contacts that feel each other, with sparse equations.

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Between, ContactWatch, Error, Model, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::{RunOptions, Width};
use pullback_scene::robot::{Geometry, Inertial, Placement, Robot, Shape};
use pullback_scene::{
    Complementarity, Contact, ContactGradient, ContactModel, ContactSolver, Ground, Scene, Simulation,
    Toucher,
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
        ground: Some(Ground { mu: Some(0.5), ..Ground::default() }),
        ..Scene::default()
    }
}

/// A law that is solved as well as numbers can tell, under which corners share loads.
fn law() -> Complementarity {
    Complementarity {
        regularisation: 1e-2,
        iterations: 20_000,
        tolerance: 1e-13,
        ..Complementarity::default()
    }
}

/// So many sweeps, however far they get.
fn swept(sweeps: usize) -> Complementarity {
    Complementarity {
        solver: ContactSolver::GaussSeidel,
        gradient: ContactGradient::Reverse,
        fixed_iterations: Some(sweeps),
        ..law()
    }
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
    let (model, params) = (step.model(), step.model().params());
    let mut rollout = Rollout::<f64>::new(step, Options::new(steps))?;
    let start = Start { states: from, controls: &model.controls(steps), params: params.values() };
    let mut last = Vec::new();
    rollout.watch(&start, |moment| last = moment.state.to_vec())?;
    Ok(last)
}

/// Value and gradient by the state of a few steps.
fn gradient(step: &Step, from: &[f64], steps: usize) -> (f64, Vec<f64>) {
    let (model, params) = (step.model(), step.model().params());
    let mut rollout = Rollout::<f64>::new(step, Options::new(steps)).expect("a rollout");
    let start = Start { states: from, controls: &model.controls(steps), params: params.values() };
    let gradient = rollout.gradient(&start, &Weighted).expect("a gradient");
    let by = gradient.states.to_vec();
    (rollout.value(&start, &Weighted).expect("a value")[0], by)
}

/// A heap that has fallen for a while, and the step that it goes on with.
fn fallen(bodies: usize, law: Complementarity, dense: Option<usize>, steps: usize) -> (Step, Vec<f64>) {
    let step = step(&heap(bodies, law), dense);
    let state = after(&step, step.model().state().values(), steps).expect("a run");
    (step, state)
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Islands are dense up to more contacts than there are.
const ALL_DENSE: usize = usize::MAX;

#[test]
fn sparse_and_dense_equations_have_one_solution() {
    let (sparse, state) = fallen(36, law(), Some(8), 60);
    let dense = step(&heap(36, law()), Some(ALL_DENSE));
    let ends = [&sparse, &dense].map(|step| after(step, &state, 4).expect("a run"));
    assert!(largest_difference(&ends[0], &state) > 1e-6, "it has come to rest: nothing is compared");
    assert!(largest_difference(&ends[0], &ends[1]) < 1e-9);
    let [(_, by_sparse), (_, by_dense)] = [&sparse, &dense].map(|step| gradient(step, &state, 2));
    let size = by_dense.iter().fold(0.0, |most: f64, by| most.max(by.abs()));
    assert!(largest_difference(&by_sparse, &by_dense) < 1e-6 * size);
}

#[test]
fn the_gradient_of_a_heap_agrees_with_differences() {
    for law in [law(), swept(15)] {
        let (step, state) = fallen(27, law, Some(8), 30);
        let (_, by) = gradient(&step, &state, 2);
        for salt in 0..3 {
            let direction: Vec<f64> = (0..state.len()).map(|i| chance(7 * i + salt)).collect();
            let at = |h: f64| {
                let moved: Vec<f64> = state.iter().zip(&direction).map(|(x, d)| x + h * d).collect();
                gradient(&step, &moved, 2).0
            };
            let along: f64 = by.iter().zip(&direction).map(|(by, d)| by * d).sum();
            let h = 1e-9;
            let difference = (at(h) - at(-h)) / (2.0 * h);
            assert!((along - difference).abs() < 1e-5 * along.abs(), "{along} and {difference}");
        }
    }
}

#[test]
fn steps_do_not_depend_on_those_before() {
    let law = swept(10);
    let (step, state) = fallen(100, law, None, 25);
    let at_once = after(&step, step.model().state().values(), 27).expect("a run");
    // What finds pairs starts anew here.
    let again = self::step(&heap(100, law), None);
    assert_eq!(after(&again, &state, 2).expect("a run"), at_once);
    // So it is in a batch with another world.
    let run = RunOptions { threads: 1, width: Width::Narrow, ..RunOptions::default() };
    let mut batch =
        Rollout::<f64>::new(&step, Options { worlds: 2, run, ..Options::new(2) }).expect("a batch");
    let model = step.model();
    let first = model.state();
    let states = [first.values(), &state].concat();
    let (controls, params) = (model.controls(4), model.params().values().repeat(2));
    let start = Start { states: &states, controls: &controls, params: &params };
    let mut last = Vec::new();
    batch
        .watch(&start, |moment| {
            if moment.world == 1 {
                last = moment.state.to_vec();
            }
        })
        .expect("a run");
    assert_eq!(last, at_once);
}

/// The momentum that a step gives boxes and balls is what gravity and the forces of their contacts say.
#[test]
fn forces_of_a_heap_are_those_of_the_step() {
    let scene = heap(100, swept(10));
    let (step, state) = fallen(100, swept(10), None, 25);
    let model = step.model();
    let of = |robot: usize| Between { of: Some(Toucher::Robot(robot)), with: None };
    let mut watch = ContactWatch::new(model, &Scheme::of(&scene), &[of(0), of(1)]).expect("contacts");
    watch.run(0.0, &state, &[], model.params().values()).expect("it fits");
    let next = after(&step, &state, 1).expect("a run");
    // Of boxes, then of balls: velocities of all, then angular ones. All have a mass of 1 kg.
    let of_robot = |state: &[f64], robot: usize, axis: usize| -> f64 {
        let group = &state[model.positions() + robot * 6 * 50..][..3 * 50];
        group.iter().skip(axis).step_by(3).sum()
    };
    for robot in 0..2 {
        let force = watch.touching(robot).force;
        for (axis, force) in [force.x, force.y, force.z].into_iter().enumerate() {
            let change = of_robot(&next, robot, axis) - of_robot(&state, robot, axis);
            let wanted = change / scene.simulation.dt - 50.0 * scene.world.gravity[axis];
            assert!((force - wanted).abs() < 1e-7, "{robot}, {axis}: {force} {wanted}");
        }
        assert!(force.z > 100.0, "nothing bears it: {force:?}");
    }
}

#[test]
fn too_many_contacts_are_an_error_that_names_the_setting() {
    let mut scene = heap(60, swept(10));
    let contact = scene.contact.as_mut().expect("contact");
    contact.most_contacts = Some(50);
    let step = step(&scene, None);
    let error = after(&step, step.model().state().values(), 60).expect_err("more than 50 contacts");
    assert!(matches!(error, Error::TooManyContacts { most: 50, .. }), "{error}");
    assert!(error.to_string().contains("`most_contacts` in `[contact]`"), "{error}");
    assert!(error.is_of_the_run());
}

#[test]
fn a_heap_comes_to_rest_and_does_not_sink() {
    // Balls roll on a plane for ever: walls hold them together.
    let mut scene = heap(300, swept(30));
    for (i, at) in [[-0.4, 0.6], [1.7, 0.6], [0.6, -0.4], [0.6, 1.7]].into_iter().enumerate() {
        let half_sides = if i < 2 { [0.2, 1.5, 2.0] } else { [1.5, 0.2, 2.0] };
        let mut wall = Shape::new(Geometry::Box { half_sides });
        (wall.name, wall.placement.position) = (format!("wall{i}"), [at[0], at[1], 1.0]);
        scene.shapes.push(wall);
    }
    let step = step(&scene, None);
    let state = after(&step, step.model().state().values(), 1600).expect("a run");
    let (positions, velocities) = state.split_at(step.model().positions());
    // Of boxes, then of balls: velocities of all, then angular ones. A ball may spin about an upright axis for ever.
    let linear: Vec<f64> = velocities.chunks_exact(6 * 150).flat_map(|group| group[..450].to_vec()).collect();
    // A ball may still roll into a hole: of the energy that they fell with, almost nothing is left.
    let kinetic: f64 = linear.iter().map(|v| 0.5 * v * v).sum();
    let height = |state: &[f64]| -> f64 {
        let groups = state[..step.model().positions()].chunks_exact(7 * 150);
        groups.flat_map(|group| group[..450].iter().skip(2).step_by(3)).sum()
    };
    let fallen = -scene.world.gravity[2] * (height(step.model().state().values()) - height(&state));
    assert!(fallen > 100.0 && kinetic < 1e-4 * fallen, "{kinetic} of {fallen} J/kg");
    let slow = linear.iter().filter(|v| v.abs() < 0.01).count();
    assert!(slow > linear.len() * 9 / 10, "{slow} of {}", linear.len());
    // Of boxes, then of balls: the middles of all, then their orientations.
    let groups = positions.chunks_exact(7 * 150).flat_map(|group| group[..3 * 150].chunks_exact(3));
    let middles: Vec<[f64; 3]> = groups.map(|x| [x[0], x[1], x[2]]).collect();
    assert_eq!(middles.len(), 300);
    for (i, a) in middles.iter().enumerate() {
        assert!(a[2] > 0.98 * SIZE, "body {i} is at {a:?}");
        for b in &middles[..i] {
            let apart = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
            // Spheres, and the spheres in boxes.
            assert!(apart > 1.96 * SIZE, "two bodies are {apart} m apart");
        }
    }
}
