//! A problem whose answer is known: what happens with the true values is recorded, and a search from other values is to find them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use pullback_engine::rollout::Coordinate;
use pullback_engine::{Model, Options, Rollout, Scheme, Step};
use pullback_scene as scene;
use pullback_solve::{Point, Problem};

use crate::random::Random;

/// A scene with the first guess, what is true instead, and what is seen of it.
pub struct Instance<'a> {
    /// The name of its files.
    pub name: String,
    /// The scene, as TOML.
    pub scene: String,
    /// Its variables and optimiser, as TOML.
    pub search: &'a str,
    /// Writes the true values where the guesses are.
    pub truth: &'a dyn Fn(&Model, &mut Point),
    pub recording: Recording,
}

/// What is seen: positions of particles.
pub struct Recording {
    /// Which of them; all, if there are none.
    pub particles: Vec<usize>,
    /// After which steps: all multiples of this.
    pub every: usize,
    /// Added to every number [m], normal, with these random numbers.
    pub noise: Option<(f64, Random)>,
    /// To how many digits after the point of a metre it is rounded; `None`: not at all.
    pub digits: Option<usize>,
}

impl Recording {
    /// Positions of all particles, exactly.
    pub fn exact(every: usize) -> Self {
        Self { particles: Vec::new(), every, noise: None, digits: None }
    }
}

impl Instance<'_> {
    /// The true values, and a recording of what happens with them, as CSV.
    pub fn record(&mut self) -> (Point, String) {
        let scene = scene::Scene::parse(&self.scene, &self.name).unwrap_or_else(|error| panic!("{error}"));
        let model = Model::new(&scene).expect("it has a model");
        let mut point = Point::new(&model, scene.simulation.steps);
        (self.truth)(&model, &mut point);
        let Recording { particles, every, noise, digits } = &mut self.recording;
        if particles.is_empty() {
            *particles = (0..scene.particle_count()).collect();
        }
        let numbers = particles.iter().flat_map(|&i| ["x", "y", "z"].map(|axis| (i, axis)));
        let names = numbers.map(|(i, axis)| format!("{}.{axis}", scene.particle_name(i)));
        let mut text = ["time".to_owned()].into_iter().chain(names).collect::<Vec<_>>().join(",") + "\n";
        let step = Step::new(&model, Scheme::of(&scene)).expect("it has a step");
        let mut rollout: Rollout = Rollout::new(&step, Options::of(&scene)).expect("it can be simulated");
        let see = |moment: &pullback_engine::rollout::Moment<'_>| {
            if moment.step == 0 || !moment.step.is_multiple_of(*every) {
                return;
            }
            let _ = write!(text, "{}", (moment.time * 1e12).round() / 1e12);
            for x in particles.iter().flat_map(|&i| &moment.state[3 * i..3 * i + 3]) {
                let x = x + noise.as_mut().map_or(0.0, |(size, random)| *size * random.normal());
                let _ = match digits {
                    Some(digits) => write!(text, ",{x:.digits$}", digits = *digits),
                    None => write!(text, ",{x}"),
                };
            }
            text.push('\n');
        };
        rollout.watch(&point.start(), see).expect("it can be simulated");
        (point, text)
    }

    /// Writes scene, search and recording as files, and gives the problem that they are, with its answer.
    pub fn posed(mut self, folder: &Path) -> (Problem, Point) {
        let (truth, recording) = self.record();
        std::fs::create_dir_all(folder).expect("it can be made");
        let data = format!("{}.csv", self.name);
        std::fs::write(folder.join(&data), recording).expect("it can be written");
        let file = folder.join(format!("{}.toml", self.name));
        let text =
            format!("{}\n[[loss]]\nkind = \"trajectory\"\ndata = \"{data}\"\n{}", self.scene, self.search);
        std::fs::write(&file, text).expect("it can be written");
        (problem(&file), truth)
    }
}

/// Where files of random instances are left, for `pullback solve` to be run on.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("soft-tasks")
}

/// The problem of a file.
pub fn problem(file: &Path) -> Problem {
    let description = scene::Problem::load(file).unwrap_or_else(|error| panic!("{error}"));
    Problem::new(description).unwrap_or_else(|error| panic!("{error}"))
}

/// What the variables of a problem truly are; of those that change together, the first.
pub fn answers(problem: &Problem, truth: &Point) -> Vec<f64> {
    let variables = problem.variables();
    (0..variables.len()).map(|i| truth.get(variables.coordinates_of(i)[0])).collect()
}

/// Sets a param to a value.
pub fn set(model: &Model, point: &mut Point, name: &str, value: f64) {
    let range = model.params_layout().find(name).expect("it is there");
    range.for_each(|i| point.set(Coordinate::Param(i), value));
}

/// Velocities of particles that fly as a whole, and turn about the mean of their places: v + ω × (x - x̄).
pub fn fling(model: &Model, point: &mut Point, velocity: [f64; 3], spin: [f64; 3]) {
    let (places, velocities) = point.state.split_at_mut(model.positions());
    let places = places.as_chunks::<3>().0;
    let mean: [f64; 3] =
        std::array::from_fn(|i| places.iter().map(|x| x[i]).sum::<f64>() / places.len() as f64);
    for (v, x) in velocities.as_chunks_mut::<3>().0.iter_mut().zip(places) {
        let r: [f64; 3] = std::array::from_fn(|i| x[i] - mean[i]);
        *v = std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            velocity[i] + spin[j] * r[k] - spin[k] * r[j]
        });
    }
}
