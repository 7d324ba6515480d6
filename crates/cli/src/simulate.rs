//! `pullback simulate`: run a scene once, and keep what happens.

use std::ops::Range;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use pullback_engine::names::{Block, Group};
use pullback_engine::{Between, ContactWatch, Scheme, Touching, go_on};
use pullback_report::{NpzError, NpzWriter, RunFolder};
use pullback_solve::optimise::Run;
use pullback_solve::{Point, Problem};

use crate::load::{self, Reading, Timing};
use crate::{DONE, Where, folder, page, say};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    timing: Timing,
}

/// The trajectory in a run folder.
pub const TRAJECTORY: &str = "trajectory.npz";
/// More states than this are thinned for plots, not in the file.
const MOST_SHOWN: usize = 2000;
/// Deeper than this things do not come by resting on each other [m].
const DEEP: f64 = 0.005;

/// What happened: each state of the rollout.
pub struct Recorded {
    /// Times [s].
    pub times: Vec<f64>,
    /// States, one after the other.
    pub states: Vec<f64>,
    /// Controls of all steps.
    pub controls: Vec<f64>,
    /// The params.
    pub params: Vec<f64>,
    /// How many particles.
    pub particles: usize,
    /// How many numbers a state has.
    pub state_len: usize,
    /// How many numbers a control has.
    pub control_len: usize,
    /// What all contacts come to in each step, and how deep they are at the end, if anything can touch.
    pub contacts: Vec<Touching>,
    /// Steps whose contacts are not solved.
    pub unsolved: Unsolved,
}

/// Steps in which impulses of contacts break their law.
#[derive(Default)]
pub struct Unsolved {
    pub count: usize,
    /// The first of them.
    pub first: usize,
    /// The largest residual of any.
    pub largest: f64,
}

impl Unsolved {
    fn add(&mut self, step: usize, residual: f64) {
        self.first = if self.count == 0 { step } else { self.first };
        self.count += 1;
        self.largest = if self.largest > residual || self.largest.is_nan() { self.largest } else { residual };
    }

    fn warning(&self, steps: usize) -> Option<String> {
        let Unsolved { count, first, largest } = self;
        (*count > 0).then(|| {
            format!(
                "contact is not solved in {count} of {steps} steps, first in step {first}: impulses are up to {largest:.1e} of \
                 themselves from their law, and gradients are refused there; raise `regularisation` or `iterations` in `[contact]`"
            )
        })
    }
}

impl Recorded {
    /// What was computed elsewhere: states one after the other, controls of all steps, or none, and params.
    pub fn given(problem: &Problem, states: &[f64], controls: &[f64], params: &[f64]) -> Recorded {
        let model = problem.model();
        let (state_len, control_len) = (model.state_layout().len(), model.control_layout().len());
        let dt = problem.description().scene.simulation.dt;
        let moments = states.len() / state_len.max(1);
        let steps = moments.saturating_sub(1);
        let idle = || vec![0.0; steps * control_len];
        Recorded {
            times: (0..moments).map(|t| t as f64 * dt).collect(),
            states: states.to_vec(),
            controls: if controls.is_empty() { idle() } else { controls.to_vec() },
            params: params.to_vec(),
            particles: model.particles(),
            state_len,
            control_len,
            contacts: Vec::new(),
            unsolved: Unsolved::default(),
        }
    }

    /// How many states.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Sentences for whoever believes the motion.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.begins_inside().into_iter().chain(self.unsolved.warning(self.len() - 1))
    }

    /// What starts inside something else is pushed out, which is seldom what was meant.
    fn begins_inside(&self) -> Option<String> {
        let deep = self.contacts.first()?.penetration;
        (deep > DEEP).then(|| {
            format!(
                "things start {deep:.2} m inside each other, and are pushed apart; move them where they touch"
            )
        })
    }

    /// The state at a moment.
    pub fn state(&self, moment: usize) -> &[f64] {
        &self.states[moment * self.state_len..(moment + 1) * self.state_len]
    }

    /// Position of a particle at a moment [m].
    pub fn position(&self, moment: usize, particle: usize) -> [f64; 3] {
        std::array::from_fn(|axis| self.state(moment)[3 * particle + axis])
    }

    /// Looks at the contacts of every moment.
    pub fn touch(&mut self, problem: &Problem) -> Result<()> {
        let model = problem.model();
        if !model.may_touch(Between::default()) {
            return Ok(());
        }
        let scheme = Scheme::of(&problem.description().scene);
        let mut watch = ContactWatch::new(model, &scheme, &[Between::default()])?;
        let mut contacts = Vec::with_capacity(self.len());
        for t in 0..self.len() {
            go_on(t)?;
            let control = match t + 1 < self.len() {
                true => &self.controls[t * self.control_len..(t + 1) * self.control_len],
                false => &[],
            };
            watch.run(self.times[t], self.state(t), control, &self.params)?;
            contacts.push(watch.touching(0));
            if let Some(residual) = watch.unsolved()?.filter(|_| t + 1 < self.len()) {
                self.unsolved.add(t, residual);
            }
        }
        self.contacts = contacts;
        Ok(())
    }

    /// The moments that a plot shows.
    pub fn shown(&self) -> impl Iterator<Item = usize> + Clone {
        let every = self.len().div_ceil(MOST_SHOWN).max(1);
        let last = self.len() - 1;
        (0..=last).filter(move |i| i % every == 0 || *i == last)
    }
}

pub fn run(arguments: &Arguments) -> Result<u8> {
    let file = &arguments.place.file;
    let mut problem = Problem::new(load::simulation(file, &arguments.reading, &arguments.timing)?)?;
    arguments.place.device.take(&mut problem)?;
    let start = Instant::now();
    let mut recorded = record_at(&mut problem, &[]).map_err(|error| arguments.timing.fix(file, error))?;
    let seconds = start.elapsed().as_secs_f64();
    recorded.touch(&problem)?;
    let name = problem.description().scene.name.clone();
    let Where { out, replace, .. } = &arguments.place;
    let folder = folder::open(&format!("{name}-simulated"), out.as_deref(), *replace, folder::nothing_else)?;
    write_trajectory(&folder, &problem, &recorded)?;
    page::write_simulated(&folder, &mut problem, &recorded)?;
    let steps = recorded.len() - 1;
    say!("{name}: {steps} steps in {seconds:.3} s ({:.2} us a step)", 1e6 * seconds / steps as f64);
    recorded.warnings().for_each(|warning| eprintln!("warning: {warning}"));
    say!("report: {}", folder.path().join(page::FILE).display());
    Ok(DONE)
}

/// The rollout at the best point of a run.
pub fn record(problem: &mut Problem, run: &Run) -> Result<Recorded> {
    let mut recorded = record_at(problem, run.best().0)?;
    recorded.touch(problem)?;
    Ok(recorded)
}

/// The rollout at z.
pub fn record_at(problem: &mut Problem, z: &[f64]) -> Result<Recorded, pullback_solve::Error> {
    let model = problem.model();
    let Point { controls, params, .. } = problem.point(z);
    let mut recorded = Recorded {
        times: Vec::new(),
        states: Vec::new(),
        controls,
        params,
        particles: model.particles(),
        state_len: model.state_layout().len(),
        control_len: model.control_layout().len(),
        contacts: Vec::new(),
        unsolved: Unsolved::default(),
    };
    problem.watch(z, |moment| {
        recorded.times.push(moment.time);
        recorded.states.extend_from_slice(moment.state);
    })?;
    Ok(recorded)
}

/// The groups of a block that lies at `range`: name, shape of an array of so many rows, and where each lies.
fn groups(block: &Block, range: Range<usize>, rows: usize) -> Vec<(String, Vec<usize>, Range<usize>)> {
    let mut start = range.start;
    let group = |group: &Group| {
        let range = start..start + group.len() * block.numbers;
        start = range.end;
        let each = (block.numbers > 1).then_some(block.numbers);
        let shape = [rows].into_iter().chain(group.count).chain(each).collect();
        (format!("{}.{}", group.name, block.field), shape, range)
    };
    block.groups.iter().map(group).collect()
}

/// `time` (T + 1); `position` and `velocity` (T + 1, particles, 3), where there are particles; the states of robots by
/// their names (T + 1, ...); controls by theirs, as variables call them (T, ...). Where anything can touch, of all contacts:
/// `contact.normal_force` and `contact.count` of each step (T), and `contact.penetration` (T + 1).
pub fn write_trajectory(folder: &RunFolder, problem: &Problem, recorded: &Recorded) -> Result<()> {
    let moments = recorded.len();
    let numbers = |range: Range<usize>| {
        (0..moments).flat_map(move |t| recorded.state(t)[range.clone()].iter().copied())
    };
    folder.write(TRAJECTORY, |out| -> Result<(), NpzError> {
        let mut npz = NpzWriter::new(out);
        npz.array("time", &[moments], recorded.times.iter().copied())?;
        for (block, range) in problem.model().state_layout().ranges() {
            if let Some(field) = block.key.strip_prefix("particles.") {
                npz.array(field, &[moments, recorded.particles, 3], numbers(range))?;
                continue;
            }
            for (name, shape, range) in groups(block, range, moments) {
                npz.array(&name, &shape, numbers(range))?;
            }
        }
        for (block, range) in problem.model().control_layout().ranges() {
            for (name, shape, range) in groups(block, range, moments - 1) {
                let rows = recorded.controls.chunks_exact(recorded.control_len);
                let values = rows.flat_map(|row| row[range.clone()].iter().copied());
                npz.array(&format!("control.{name}"), &shape, values)?;
            }
        }
        if !recorded.contacts.is_empty() {
            let steps = moments - 1;
            let of_steps = || recorded.contacts.iter().take(steps);
            npz.array("contact.normal_force", &[steps], of_steps().map(|it| it.normal))?;
            npz.array("contact.count", &[steps], of_steps().map(|it| it.count))?;
            npz.array("contact.penetration", &[moments], recorded.contacts.iter().map(|it| it.penetration))?;
        }
        npz.finish()?;
        Ok(())
    })?;
    Ok(())
}
