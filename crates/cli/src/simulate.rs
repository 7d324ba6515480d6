//! `pullback simulate`: run a scene once, and keep what happens.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use pullback_report::{NpzError, NpzWriter, RunFolder};
use pullback_scene as scene;
use pullback_solve::Problem;
use pullback_solve::optimise::Run;

use crate::{Where, folder, page, say};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    place: Where,
}

/// The trajectory in a run folder.
pub const TRAJECTORY: &str = "trajectory.npz";
/// More states than this are thinned for plots, not in the file.
const MOST_SHOWN: usize = 2000;

/// What happened: each state of the rollout.
pub struct Recorded {
    /// Times [s].
    pub times: Vec<f64>,
    /// States, one after the other.
    pub states: Vec<f64>,
    /// Controls of all steps.
    pub controls: Vec<f64>,
    /// How many particles.
    pub particles: usize,
    /// How many numbers a control has.
    pub control_len: usize,
}

impl Recorded {
    /// How many states.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Position of a particle at a moment [m].
    pub fn position(&self, moment: usize, particle: usize) -> [f64; 3] {
        let at = moment * 6 * self.particles + 3 * particle;
        [self.states[at], self.states[at + 1], self.states[at + 2]]
    }

    /// Velocity of a particle at a moment [m/s].
    pub fn velocity(&self, moment: usize, particle: usize) -> [f64; 3] {
        let at = moment * 6 * self.particles + 3 * (self.particles + particle);
        [self.states[at], self.states[at + 1], self.states[at + 2]]
    }

    /// The moments that a plot shows.
    pub fn shown(&self) -> impl Iterator<Item = usize> + Clone {
        let every = self.len().div_ceil(MOST_SHOWN).max(1);
        let last = self.len() - 1;
        (0..=last).filter(move |i| i % every == 0 || *i == last)
    }
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut problem = Problem::new(simulation(&arguments.place.file)?)?;
    let start = Instant::now();
    let recorded = record_at(&mut problem, &[])?;
    let seconds = start.elapsed().as_secs_f64();
    let name = problem.description().scene.name.clone();
    let Where { out, replace, .. } = &arguments.place;
    let folder = folder::open(&format!("{name}-simulated"), out.as_deref(), *replace, folder::nothing_else)?;
    write_trajectory(&folder, &recorded)?;
    page::write_simulated(&folder, &mut problem, &recorded)?;
    let steps = recorded.len() - 1;
    say!("{name}: {steps} steps in {seconds:.3} s ({:.2} us a step)", 1e6 * seconds / steps as f64);
    say!("report: {}", folder.path().join(page::FILE).display());
    Ok(ExitCode::SUCCESS)
}

/// The scene of a file as a problem in which nothing may change.
pub fn simulation(file: &std::path::Path) -> Result<scene::Problem> {
    let source = scene::Source::read(file)?;
    let scene = scene::Scene::from_source(&source)?;
    Ok(scene::Problem {
        scene,
        variables: Vec::new(),
        losses: Vec::new(),
        optimiser: scene::Optimiser::default(),
        source,
    })
}

/// The rollout at the best point of a run.
pub fn record(problem: &mut Problem, run: &Run) -> Result<Recorded> {
    record_at(problem, run.best().0)
}

/// The rollout at z.
pub fn record_at(problem: &mut Problem, z: &[f64]) -> Result<Recorded> {
    let (particles, control_len) = (problem.model().particles(), problem.model().control_layout().len());
    let controls = problem.point(z).controls;
    let mut recorded = Recorded { times: Vec::new(), states: Vec::new(), controls, particles, control_len };
    problem.watch(z, |moment| {
        recorded.times.push(moment.time);
        recorded.states.extend_from_slice(moment.state);
    })?;
    Ok(recorded)
}

/// `time` (T + 1), `position` and `velocity` (T + 1, particles, 3), `control` (T, numbers).
pub fn write_trajectory(folder: &RunFolder, recorded: &Recorded) -> Result<()> {
    let (moments, n) = (recorded.len(), recorded.particles);
    let half = |velocity: bool| {
        let from = if velocity { 3 * n } else { 0 };
        (0..moments).flat_map(move |t| (0..3 * n).map(move |i| t * 6 * n + from + i))
    };
    folder.write(TRAJECTORY, |out| -> Result<(), NpzError> {
        let mut npz = NpzWriter::new(out);
        npz.array("time", &[moments], recorded.times.iter().copied())?;
        for (name, velocity) in [("position", false), ("velocity", true)] {
            npz.array(name, &[moments, n, 3], half(velocity).map(|i| recorded.states[i]))?;
        }
        npz.array("control", &[moments - 1, recorded.control_len], recorded.controls.iter().copied())?;
        npz.finish()?;
        Ok(())
    })?;
    Ok(())
}
