//! The recordings in `scenes`, and what is found from them.

use pullback_engine::Model;
use pullback_solve::Point;

use crate::instance::{Instance, Recording, answers, fling, problem, set};
use crate::promises::scenes;

/// Masses of the ball's points [kg].
const MASSES: [f64; 13] = [0.10, 0.14, 0.07, 0.09, 0.12, 0.06, 0.11, 0.15, 0.08, 0.13, 0.10, 0.05, 0.12];

fn beam(model: &Model, point: &mut Point) {
    set(model, point, "beam.mu", 1500.0);
    set(model, point, "beam.lambda", 2500.0);
}

fn ball(model: &Model, point: &mut Point) {
    for (i, mass) in MASSES.into_iter().enumerate() {
        set(model, point, &format!("ball[{i}].mass"), mass);
    }
}

fn cloth(model: &Model, point: &mut Point) {
    fling(model, point, [5.5, 0.4, 3.0], [0.5, -1.0, 0.8]);
}

/// A scene whose recording is made here; the particles that are seen, and after which steps.
struct Recorded {
    name: &'static str,
    truth: fn(&Model, &mut Point),
    particles: &'static [usize],
    every: usize,
}

const RECORDED: [Recorded; 3] = [
    Recorded { name: "beam-lame", truth: beam, particles: &[5, 23], every: 20 },
    Recorded { name: "ball-mass", truth: ball, particles: &[], every: 10 },
    Recorded { name: "cloth-velocities", truth: cloth, particles: &[], every: 4 },
];

impl Recorded {
    /// The true values, and what is seen of them.
    fn record(&self) -> (Point, String) {
        let text =
            std::fs::read_to_string(scenes().join(format!("{}.toml", self.name))).expect("it is there");
        // The problem reads the recording that is to be made here; the scene does without.
        let (scene, _) = text.split_once("[[variables]]").expect("there are variables");
        let mut instance = Instance {
            name: self.name.to_owned(),
            scene: scene.to_owned(),
            search: "",
            truth: &self.truth,
            recording: Recording {
                particles: self.particles.to_vec(),
                digits: Some(6),
                ..Recording::exact(self.every)
            },
        };
        instance.record()
    }
}

#[test]
fn recordings_are_what_this_test_makes() {
    for recorded in &RECORDED {
        let file = scenes().join(format!("{}.csv", recorded.name));
        let (_, made) = recorded.record();
        if std::env::var_os("PULLBACK_BLESS").is_some() {
            std::fs::write(&file, &made).expect("it can be written");
        }
        let there = std::fs::read_to_string(&file).expect("it is there");
        assert!(there == made, "{}: the data are not those of the scene", recorded.name);
    }
}

#[test]
fn what_was_recorded_is_found() {
    for recorded in &RECORDED {
        let mut problem = problem(&scenes().join(format!("{}.toml", recorded.name)));
        let truth = answers(&problem, &recorded.record().0);
        let start = problem.variables().start();
        let guess = problem.variables().values(&start);
        let size = truth.iter().map(|x| x.abs()).fold(0.0, f64::max);
        let apart = |values: &[f64]| {
            let apart = values.iter().zip(&truth).map(|(value, truth)| (value - truth).abs());
            apart.fold(0.0, f64::max) / size
        };
        assert!(apart(&guess) > 0.3, "{}: the guess is too good", recorded.name);
        let mut run = problem.begin().expect("it can be begun");
        run.finish(&mut problem).expect("it can be solved");
        let error = apart(&problem.variables().values(run.best().0));
        println!("{}: worst error {error:.1e}, {:?}, {:?}", recorded.name, run.counts(), run.stopped());
        assert!(error < 1e-3, "{}: {error}", recorded.name);
    }
}
