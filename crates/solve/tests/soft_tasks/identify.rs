//! Random instances: Lamé's parameters of beams, masses of the points of balls, velocities with which cloths are thrown.

use std::time::Instant;

use pullback_engine::Model;
use pullback_solve::optimise::Run;
use pullback_solve::{Point, Problem};

use crate::instance::{Instance, Recording, answers, fling, folder, set};
use crate::random::Random;
use crate::{instances, row};

/// How a search ended: errors, how many gradients or Jacobians it took, and seconds.
fn report(task: &str, i: u64, errors: &[f64], run: &Run, start: Instant) {
    let counts = run.counts();
    let mut words = vec![i.to_string()];
    words.extend(errors.iter().map(|error| format!("{error:.3e}")));
    words.push((counts.gradients + counts.jacobians).to_string());
    words.push(format!("{:.2}", start.elapsed().as_secs_f64()));
    row(task, &words);
}

fn solved(problem: &mut Problem) -> Run {
    // Results are the same to the bit.
    problem.set_threads(0);
    let mut run = problem.begin().expect("it can be begun");
    run.finish(problem).expect("it can be solved");
    run
}

/// Lamé's parameters [Pa] from 500 to 5,000, those of the guess and the true ones each by themselves; a beam of 240 tetrahedra.
fn beam(i: u64, noise: f64) -> (Problem, Point) {
    let mut random = Random(100 + i);
    let [length, width, height] = [(0.8, 1.2), (0.15, 0.25), (0.15, 0.25)].map(|(a, b)| random.between(a, b));
    let [mu, lambda, true_mu, true_lambda] = [(); 4].map(|()| random.factor(500.0, 5000.0));
    let noisy = if noise > 0.0 { "-noisy" } else { "" };
    let instance = Instance {
        name: format!("beam-lame{noisy}-{i:02}"),
        scene: format!(
            r#"
[simulation]
dt = 0.0005
duration = 1.0

[[solids]]
name = "beam"
mesh = {{ beam = [{length}, {width}, {height}], cells = [10, 2, 2] }}
mu = {mu}
lambda = {lambda}
density = 10
viscosity = 1
fixed = {{ plane = {{ through = [0, 0, 0], normal = [1, 0, 0] }} }}
"#
        ),
        search: r#"
[[variables]]
name = "beam.mu"

[[variables]]
name = "beam.lambda"

[optimiser]
method = "l-bfgs"
"#,
        truth: &|model: &Model, point: &mut Point| {
            set(model, point, "beam.mu", true_mu);
            set(model, point, "beam.lambda", true_lambda);
        },
        recording: Recording { noise: Some((noise, random)), ..Recording::exact(100) },
    };
    instance.posed(&folder())
}

fn find_lame(task: &str, noise: f64) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..instances() {
        let start = Instant::now();
        let (mut problem, truth) = beam(i, noise);
        let run = solved(&mut problem);
        let found = problem.variables().values(run.best().0);
        let errors: Vec<f64> =
            found.iter().zip(answers(&problem, &truth)).map(|(x, truth)| (x / truth - 1.0).abs()).collect();
        report(task, i, &errors, &run, start);
        worst = errors.into_iter().fold(worst, f64::max);
    }
    worst
}

#[test]
#[ignore = "minutes: cargo xtask study soft runs it"]
fn lame_parameters_are_found_from_motion() {
    let worst = find_lame("lame", 0.0);
    assert!(worst < 0.0025, "{worst}");
}

#[test]
#[ignore = "minutes: cargo xtask study soft runs it"]
fn lame_parameters_are_found_from_noisy_motion() {
    // No more is asked of them than that they are found.
    let worst = find_lame("lame-noisy", 1e-3);
    assert!(worst < 0.5, "{worst}");
}

/// Masses from 10 to 30 g of the 85 points of a ball, of 320 tetrahedra, that is thrown on a mat. The guess is 20 g.
fn ball(i: u64) -> (Problem, Point) {
    let mut random = Random(200 + i);
    let velocity = [random.between(-1.0, 1.0), random.between(-1.0, 1.0), random.between(-3.0, -1.0)];
    let masses: Vec<f64> = (0..85).map(|_| random.between(0.01, 0.03)).collect();
    let instance = Instance {
        name: format!("ball-mass-{i:02}"),
        scene: format!(
            r#"
[simulation]
dt = 0.0005208333333333333
steps = 480

[ground]
ke = 500
kd = 1
kf = 10
mu = 0.5

[[solids]]
name = "ball"
mesh = {{ icosphere = 0.5, subdivisions = 1, layers = 2 }}
position = [0, 0, 0.55]
velocity = {velocity:?}
mu = 2000
lambda = 2000
viscosity = 1
density = 0
mass = 0.02
"#
        ),
        search: r#"
[[variables]]
name = "ball[*].mass"
lower = 0.002

[optimiser]
method = "levenberg-marquardt"
"#,
        truth: &|model: &Model, point: &mut Point| {
            for (i, mass) in masses.iter().enumerate() {
                set(model, point, &format!("ball[{i}].mass"), *mass);
            }
        },
        recording: Recording::exact(16),
    };
    instance.posed(&folder())
}

#[test]
#[ignore = "minutes: cargo xtask study soft runs it"]
fn masses_of_points_are_found_from_motion() {
    for i in 0..instances() {
        let start = Instant::now();
        let (mut problem, truth) = ball(i);
        let run = solved(&mut problem);
        let found = problem.variables().values(run.best().0);
        let errors: Vec<f64> =
            found.iter().zip(answers(&problem, &truth)).map(|(x, truth)| (x / truth - 1.0).abs()).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let worst = errors.into_iter().fold(0.0, f64::max);
        report("mass", i, &[mean, worst], &run, start);
        assert!(mean < 0.03, "{mean}");
    }
}

/// A cloth of square cells with sides of 12.5 cm, in any orientation, thrown forwards from 2 to 3 m above the ground.
struct Cloth {
    cells: [usize; 2],
    steps: usize,
    dt: f64,
    every: usize,
    velocity: [f64; 3],
    spin: [f64; 3],
}

impl Cloth {
    fn posed(&self, name: String, search: &str, random: &mut Random) -> (Problem, Point) {
        let Cloth { cells: [nx, ny], steps, dt, every, velocity, spin } = *self;
        let [x, y] = [nx, ny].map(|cells| 0.125 * cells as f64);
        let orientation: [f64; 4] = std::array::from_fn(|_| random.normal());
        let height = random.between(2.0, 3.0);
        let instance = Instance {
            name,
            scene: format!(
                r#"
[simulation]
dt = {dt}
steps = {steps}

[[sheets]]
name = "cloth"
mesh = {{ sheet = [{x}, {y}], cells = [{nx}, {ny}] }}
position = [-5, 0, {height}]
orientation = {orientation:?}
velocity = [1, 0, 0]
thickness = 1
mu = 1e4
lambda = 1e4
viscosity = 100
density = 0
mass = 2
bending = 0.1
bending_damping = 0.01
drag = 5
lift = 10
"#
            ),
            search,
            truth: &|model: &Model, point: &mut Point| fling(model, point, velocity, spin),
            recording: Recording::exact(every),
        };
        instance.posed(&folder())
    }
}

/// Σ |v - truth| over Σ |truth|, of vectors.
fn apart(found: &[f64], truth: &[f64]) -> f64 {
    let length = |v: &[f64; 3]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (found, truth) = (found.as_chunks::<3>().0, truth.as_chunks::<3>().0);
    let apart = found.iter().zip(truth).map(|(v, w)| length(&[v[0] - w[0], v[1] - w[1], v[2] - w[2]]));
    apart.sum::<f64>() / truth.iter().map(length).sum::<f64>()
}

const VELOCITIES: &str = r#"
[[variables]]
name = "initial.cloth[*].velocity"
scale = 1

[optimiser]
method = "l-bfgs"
"#;

#[test]
#[ignore = "minutes: cargo xtask study soft runs it"]
fn velocities_of_points_are_found_from_motion() {
    for i in 0..instances() {
        let start = Instant::now();
        let mut random = Random(300 + i);
        let velocity = thrown(&mut random);
        let (cells, dt) = ([20, 10], 1.0 / 1920.0);
        let cloth = Cloth { cells, steps: 960, dt, every: 32, velocity, spin: random.vector() };
        let (mut problem, truth) = cloth.posed(format!("cloth-velocities-{i:02}"), VELOCITIES, &mut random);
        let run = solved(&mut problem);
        let found = problem.variables().values(run.best().0);
        let error = apart(&found, &answers(&problem, &truth));
        report("velocities", i, &[error], &run, start);
        assert!(error < 0.02, "{error}");
    }
}

fn thrown(random: &mut Random) -> [f64; 3] {
    [random.between(3.0, 8.0), random.between(-1.0, 1.0), random.between(-1.0, 4.0)]
}

/// A cloth that leaves the hand as a whole: one velocity for all of its points, until they are within 0.1 mm of the target, in root mean
/// square.
fn throw(points: usize) -> String {
    format!(
        r#"
[[variables]]
name = "initial.cloth[*].velocity"
together = true
scale = 1

[optimiser]
method = "l-bfgs"
iterations = 50
target = {:e}
"#,
        1e-8 * points as f64
    )
}

#[test]
#[ignore = "minutes: cargo xtask study soft runs it"]
fn cloths_are_thrown_to_their_targets() {
    for i in 0..instances() {
        let start = Instant::now();
        let mut random = Random(400 + i);
        let velocity = thrown(&mut random);
        let side = random.between(8.0, 32.0) as usize;
        let cloth =
            Cloth { cells: [side; 2], steps: 1440, dt: 1.0 / 960.0, every: 1440, velocity, spin: [0.0; 3] };
        let points = (side + 1) * (side + 1);
        let (mut problem, truth) = cloth.posed(format!("cloth-throw-{i:02}"), &throw(points), &mut random);
        let run = solved(&mut problem);
        let (z, loss) = run.best();
        let error = apart(&problem.variables().values(z), &answers(&problem, &truth));
        let distance = (loss / points as f64).sqrt();
        report("throw", i, &[error, distance, 2.0 * (side * side) as f64], &run, start);
        assert!(error < 0.02, "{error}");
    }
}
