//! Identification of a robot from what its encoders measured: columns of a trajectory that are joints.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use pullback_scene as scene;
use pullback_solve::optimise::Run;
use pullback_solve::{Problem, Way};

/// An arm of two links that falls from rest, one on a hinge and one on a slide below it.
const ARM: &str = r#"
name = "arm"

[simulation]
dt = 0.002
steps = 400
integrator = "rk4"

[[robots]]
name = "arm"
position = [0, 0, 2]
positions = { shoulder = 1.2, elbow = -0.4, reach = 0.05 }

[[robots.bodies]]
name = "upper"
mass = 1.5
center = [0, 0, -0.25]
inertia = [0.03, 0.03, 0.002]

[[robots.bodies]]
name = "fore"
parent = "upper"
position = [0, 0, -0.5]
mass = FORE
center = [0, 0, -0.2]
inertia = [0.01, 0.01, 0.001]

[[robots.bodies]]
name = "hand"
parent = "fore"
position = [0, 0, -0.4]
mass = 0.3
center = [0, 0, -0.05]
inertia = [0.001, 0.001, 0.001]

[[robots.joints]]
name = "shoulder"
body = "upper"
kind = "hinge"
axis = [0, 1, 0]
damping = 0.2

[[robots.joints]]
name = "elbow"
body = "fore"
kind = "hinge"
axis = [0, 1, 0]
damping = ELBOW

[[robots.joints]]
name = "reach"
body = "hand"
kind = "slide"
axis = [0, 0, 1]
stiffness = 80
damping = 1.5
"#;

const FIT: &str = r#"
[[variables]]
name = "arm.fore.mass"

[[variables]]
name = "arm.elbow.damping"

[[loss]]
kind = "trajectory"
data = "encoders.csv"

[optimiser]
method = "levenberg-marquardt"
"#;

/// Mass of the forearm [kg], damping of the elbow [N·m·s/rad].
const TRUTH: [f64; 2] = [0.8, 0.12];
const GUESS: [f64; 2] = [1.5, 0.02];

fn arm([mass, damping]: [f64; 2]) -> String {
    ARM.replace("FORE", &format!("{mass:?}")).replace("ELBOW", &format!("{damping:?}"))
}

/// A repeatable number from -1 to 1 without mean.
fn noise(i: usize) -> f64 {
    let x = (i as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Writes what the true arm does, with noise of this size, and gives the problem that fits it.
fn fit(name: &str, size: f64) -> Problem {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("it can be made");
    let scene = scene::Scene::parse(&arm(TRUTH), "arm.toml").expect("it is right");
    let described = scene::Problem {
        scene,
        variables: Vec::new(),
        losses: Vec::new(),
        optimiser: scene::Optimiser::default(),
        source: scene::Source::default(),
    };
    let mut truth = Problem::new(described).expect("it can be simulated");
    let layout = truth.model().state_layout().clone();
    let at = ["shoulder.position", "elbow.position", "reach.position", "elbow.velocity"]
        .map(|name| layout.find(&format!("arm.{name}")).expect("it is there").start);
    let mut csv = "time, arm.shoulder, arm.elbow, arm.reach, arm.elbow.velocity\n".to_owned();
    let see = |moment: &pullback_engine::rollout::Moment<'_>| {
        if moment.step.is_multiple_of(5) && moment.step > 0 {
            let _ = write!(csv, "{:.3}", moment.time);
            for (k, i) in at.into_iter().enumerate() {
                let _ = write!(csv, ", {:.17e}", moment.state[i] + size * noise(4 * moment.step + k));
            }
            csv.push('\n');
        }
    };
    truth.watch(&[], see).expect("it can be simulated");
    std::fs::write(folder.join("encoders.csv"), csv).expect("it can be written");
    parse(&folder)
}

fn parse(folder: &Path) -> Problem {
    let described = scene::Problem::parse(&(arm(GUESS) + FIT), folder.join("fit.toml"));
    Problem::new(described.expect("the file is right")).expect("it is a problem")
}

fn solved(problem: &mut Problem) -> (Vec<f64>, Vec<f64>, Run) {
    let mut run = problem.begin().expect("it can be begun");
    while run.stopped().is_none() {
        run.iterate(problem).expect("it goes on");
    }
    let z = run.best().0.to_vec();
    let errors = problem.standard_errors(&z).expect("they can be computed").expect("measurements are fitted");
    (problem.variables().values(&z), errors, run)
}

#[test]
fn mass_and_damping_are_found_from_exact_encoders() {
    let mut problem = fit("identify_robot_exact", 0.0);
    let (found, _, run) = solved(&mut problem);
    for (found, truth) in found.iter().zip(TRUTH) {
        assert!((found / truth - 1.0).abs() < 1e-6, "{found} {truth}");
    }
    assert!(run.best().1 < 1e-12, "{}", run.best().1);
}

/// With noise the truth lies within a few standard errors, which shrink with the noise.
#[test]
fn standard_errors_tell_how_far_noise_carries() {
    let (found, errors, _) = solved(&mut fit("identify_robot_noise", 1e-2));
    for ((found, error), truth) in found.iter().zip(&errors).zip(TRUTH) {
        assert!((found - truth).abs() < 4.0 * error, "{found} ± {error}, {truth}");
        assert!(*error > 0.0 && *error < 0.05 * truth, "{found} ± {error}");
    }
    let (_, smaller, _) = solved(&mut fit("identify_robot_less_noise", 1e-3));
    for (error, smaller) in errors.iter().zip(smaller) {
        assert!((error / smaller / 10.0 - 1.0).abs() < 0.1, "{error} {smaller}");
    }
}

/// Rows of joints in the Jacobian are the same forwards, backwards, and by differences.
#[test]
fn the_jacobian_of_joints_is_right() {
    let mut problem = fit("identify_robot_jacobian", 1e-2);
    let z = problem.variables().start();
    let (_, forwards) = problem.jacobian_by(Way::Forwards, &z).expect("it can be computed");
    let (_, backwards) = problem.jacobian_by(Way::Backwards, &z).expect("it can be computed");
    let at = |problem: &mut Problem, z: &[f64]| {
        problem.jacobian_by(Way::Forwards, z).expect("it can be computed").0
    };
    let h = 1e-5;
    for k in 0..2 {
        let (mut above, mut below) = (z.clone(), z.clone());
        above[k] += h;
        below[k] -= h;
        let (above, below) = (at(&mut problem, &above), at(&mut problem, &below));
        for (row, (above, below)) in above.iter().zip(below).enumerate() {
            let (a, b, c) = (forwards[2 * row + k], backwards[2 * row + k], (above - below) / (2.0 * h));
            assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()), "{row} {k}: {a} {b}");
            assert!((a - c).abs() < 1e-6 * (1.0 + a.abs()), "{row} {k}: {a} {c}");
        }
    }
}
