//! System identification from one noisy recording: `scenes/identify.toml`, and the data that it reads.
//!
//! `PULLBACK_BLESS=1 cargo test -p pullback-solve --test identify` writes the data anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use pullback_engine::{Model, Options, Rollout, Scheme, Step};
use pullback_scene::{self as scene, LossKind, Table};
use pullback_solve::{Point, Problem};

/// What the recording was made with, and what the scene guesses.
const TRUTH: [(&str, f64); 5] = [
    ("block.mass", 1.2),
    ("spring.stiffness", 60.0),
    ("spring.damping", 2.5),
    ("ground.mu", 0.25),
    ("ball.drag", 0.02),
];
/// Of the block along x, of the ball along x and z, after every step.
const COLUMNS: [&str; 5] = ["block.x", "block.vx", "ball.x", "ball.z", "ball.vz"];
/// Noise, relative to the root mean square of a column about its mean.
const NOISE: f64 = 0.01;

fn scenes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

/// Normal random numbers of variance 1: splitmix64 (Steele, Lea and Flood 2014) and the method of Box and Muller (1958).
struct Normal(u64);

impl Normal {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// The recording: what happens with the true values, with noise.
fn recording() -> Table {
    let text = std::fs::read_to_string(scenes().join("identify.toml")).expect("it is there");
    // The problem reads the recording that is to be made here; the scene does without.
    let (text, _) = text.split_once("[[variables]]").expect("there are variables");
    let scene = scene::Scene::parse(text, "identify.toml").expect("the scene is right");
    let model = Model::new(&scene).expect("it has a model");
    let layout = model.state_layout();
    let index = |column: &str| {
        let (name, axis) = column.split_once('.').expect("a dot");
        let (field, axis) = match axis.strip_prefix('v') {
            Some(axis) => ("velocity", axis),
            None => ("position", axis),
        };
        layout.find(&format!("{name}.{field}.{axis}")).expect("it is there").start
    };
    let indices = COLUMNS.map(index);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut start = Point::new(&model, scene.simulation.steps);
    for (name, value) in TRUTH {
        let range = model.params_layout().find(name).expect("it is there");
        start.params[range].fill(value);
    }
    let step = Step::new(&model, Scheme::of(&scene)).expect("it has a step");
    let mut rollout: Rollout = Rollout::new(&step, Options::of(&scene)).expect("it can be simulated");
    rollout
        .watch(&start.start(), |moment| {
            if moment.step > 0 {
                rows.push([moment.time].into_iter().chain(indices.map(|i| moment.state[i])).collect());
            }
        })
        .expect("it can be simulated");
    let mut normal = Normal(2024);
    for column in 1..=COLUMNS.len() {
        let count = rows.len() as f64;
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
        let square = rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / count;
        rows.iter_mut().for_each(|row| row[column] += NOISE * square.sqrt() * normal.next());
    }
    let columns = ["time"].into_iter().chain(COLUMNS).map(str::to_owned).collect();
    Table { columns, rows }
}

fn csv(table: &Table) -> String {
    let mut text = table.columns.join(",") + "\n";
    for row in &table.rows {
        let _ = write!(text, "{:.3}", row[0]);
        row[1..].iter().for_each(|x| {
            let _ = write!(text, ",{x:.5}");
        });
        text.push('\n');
    }
    text
}

#[test]
fn the_recording_is_what_this_test_makes() {
    let file = scenes().join("identify.csv");
    let made = csv(&recording());
    if std::env::var_os("PULLBACK_BLESS").is_some() {
        std::fs::write(&file, &made).expect("it can be written");
    }
    assert!(
        std::fs::read_to_string(&file).expect("it is there") == made,
        "the data are not those of the scene"
    );
}

#[test]
fn every_value_is_found_within_one_percent() {
    let description = scene::Problem::load(scenes().join("identify.toml")).expect("the file is right");
    let LossKind::Trajectory { data, .. } = &description.losses[0].kind else {
        panic!("a recording is compared")
    };
    assert!(data.rows.len() >= 100);
    let mut problem = Problem::new(description).expect("the problem is right");
    for (i, (name, truth)) in TRUTH.into_iter().enumerate() {
        let guess = problem.variables().nominal(i);
        assert_eq!(problem.variables().name(i).0, name);
        assert!(
            (0.3..=1.0).contains(&(guess / truth - 1.0).abs()),
            "{name}: {guess} is no bad guess of {truth}"
        );
    }
    let mut run = problem.begin().expect("it can be begun");
    run.finish(&mut problem).expect("it can be solved");
    let iterations = run.history().len() - 1;
    let found = problem.variables().values(run.best().0);
    for (value, (name, truth)) in found.iter().zip(TRUTH) {
        println!("{name}: {value:.6}, true {truth}, {:+.3} %", 100.0 * (value / truth - 1.0));
    }
    println!("{iterations} iterations, {:?}, loss {:.6}, {:?}", run.counts(), run.best().1, run.stopped());
    for (value, (name, truth)) in found.iter().zip(TRUTH) {
        assert!((value / truth - 1.0).abs() < 0.01, "{name}: {value} instead of {truth}");
    }
    assert!(iterations < 50, "{iterations} iterations");
}
