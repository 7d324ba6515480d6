//! A minimisation as data.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::algorithm::{Advance, State};
use super::objective::{Best, Evaluator};
use super::save::{self, Journal};
use super::{Bounds, Counts, Error, Method, Objective, Reason, Stopping, exact};

/// A minimisation as data: everything that the next iteration depends on.
///
/// # Saving
///
/// [`Run::save`] may be called after every iteration. It writes two files. `path` holds the state, which does not grow
/// with the iterations, and is replaced whole. `path.history-K` holds the history, one JSON record a line, and is only
/// appended to; the state says how many of its bytes belong to the run. So a save costs the same after ten thousand
/// iterations as after one, and no record is ever thrown away. Move both files together.
///
/// The state has a few vectors for gradient descent and Adam, 2 · `history` vectors for L-BFGS, and a matrix of all
/// pairs of variables for Levenberg-Marquardt and CMA-ES, whose iterations cost as much as writing it. A save
/// flushes the disk three times; with 1000 variables and Adam or L-BFGS it takes a few milliseconds, at the first
/// iteration as at the ten thousandth.
///
/// Written by serde alone, a run keeps everything that its next iteration depends on, but not its history.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    method: Method,
    bounds: Bounds,
    stopping: Stopping,
    fingerprint: String,
    note: Option<String>,
    core: Core,
    #[serde(skip)]
    history: Vec<Record>,
    #[serde(skip)]
    journal: Journal,
}

/// What an iteration changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Core {
    state: State,
    best: Best,
    counts: Counts,
    /// The newest line of the history; `None` until the start has been evaluated.
    record: Option<Record>,
    /// The best value that the last improvement is measured from, and the iteration of it.
    #[serde(with = "exact")]
    reference: f64,
    improved: usize,
    stopped: Option<Reason>,
}

/// One line of the history.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The iteration; 0 is the start.
    pub iteration: usize,
    /// How often the objective was asked so far.
    #[serde(flatten)]
    pub counts: Counts,
    /// The value where the method stands; with CMA-ES, the best of the generation. NaN where it is not finite.
    #[serde(with = "exact")]
    pub value: f64,
    /// The best value so far.
    #[serde(with = "exact")]
    pub best: f64,
    /// The ∞-norm of the projected gradient where the method stands, if it has one.
    #[serde(with = "exact::option")]
    pub gradient_norm: Option<f64>,
    /// The length of the step that led there.
    #[serde(with = "exact")]
    pub step: f64,
}

/// What [`Run::iterate`] came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The newest line of the history.
    pub record: Record,
    /// Whether the run has ended; [`Run::stopped`] says why.
    pub stopped: bool,
}

impl Run {
    /// A run that has not begun. A start outside the bounds is moved to the nearest point inside, and
    /// [`Run::note`] says so.
    pub fn new(method: Method, start: &[f64], bounds: Bounds, stopping: Stopping) -> Result<Run, Error> {
        super::method::check(&method)?;
        stopping.check()?;
        if start.is_empty() {
            return Err(Error::Setting { name: "the dimension".into(), value: 0.0, expected: "1 or more" });
        }
        if bounds.dimension() != start.len() {
            return Err(Error::Dimension {
                what: "the bounds",
                found: bounds.dimension(),
                expected: start.len(),
            });
        }
        if let Some(index) = start.iter().position(|z| !z.is_finite()) {
            return Err(Error::Start { index, value: start[index] });
        }
        let mut z = start.to_vec();
        bounds.project(&mut z);
        let moved = z.iter().zip(start).filter(|(z, start)| z != start).count();
        let note =
            (moved > 0).then(|| format!("the start was outside the bounds: {moved} variables were moved"));
        let core = Core {
            state: State::new(&method, &z),
            best: Best { z, value: f64::INFINITY },
            counts: Counts::default(),
            record: None,
            reference: f64::INFINITY,
            improved: 0,
            stopped: None,
        };
        let (history, journal) = (Vec::new(), Journal::default());
        Ok(Run { method, bounds, stopping, fingerprint: String::new(), note, core, history, journal })
    }

    /// Names the problem, so that [`Run::load`] can refuse the run of another one.
    pub fn with_fingerprint(mut self, fingerprint: impl Into<String>) -> Run {
        self.fingerprint = fingerprint.into();
        self
    }

    /// One iteration; the first evaluates the start as well. Deterministic: from equal data, equal bits. After an
    /// error the run is as it was before. Does nothing once the run has stopped.
    pub fn iterate(&mut self, objective: &mut dyn Objective) -> Result<Progress, Error> {
        let (found, expected) = (objective.dimension(), self.bounds.dimension());
        if found != expected {
            return Err(Error::Dimension { what: "the objective", found, expected });
        }
        let mut record = match self.core.record {
            Some(record) => record,
            None => self.part(objective)?,
        };
        if self.core.stopped.is_none() {
            record = self.part(objective)?;
        }
        Ok(Progress { record, stopped: self.core.stopped.is_some() })
    }

    /// Iterates until the run has stopped.
    pub fn finish(&mut self, objective: &mut dyn Objective) -> Result<&Reason, Error> {
        while !self.iterate(objective)?.stopped {}
        Ok(self.stopped().expect("it has stopped"))
    }

    /// The best point that was evaluated, and its value. The start and infinity before the first iteration. With a
    /// noisy objective the value is that of a lucky draw.
    pub fn best(&self) -> (&[f64], f64) {
        (&self.core.best.z, self.core.best.value)
    }

    /// Why the run ended, if it has.
    pub fn stopped(&self) -> Option<&Reason> {
        self.core.stopped.as_ref()
    }

    /// One record for the start, and one for each iteration.
    pub fn history(&self) -> &[Record] {
        &self.history
    }

    /// How often the objective was asked.
    pub fn counts(&self) -> Counts {
        self.core.counts
    }

    /// What was changed about the start, if anything.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// How it minimises.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Within which bounds.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// When it stops.
    pub fn stopping(&self) -> &Stopping {
        &self.stopping
    }

    /// Goes on under other rules, also after it has stopped: for more iterations, say.
    pub fn set_stopping(&mut self, stopping: Stopping) -> Result<(), Error> {
        stopping.check()?;
        self.stopping = stopping;
        self.core.stopped = None;
        Ok(())
    }

    /// Writes the run so that a reader finds either the old or the new one whole, whenever the process or the machine
    /// dies. One process at a time may save to a path.
    pub fn save(&mut self, path: &Path) -> Result<(), Error> {
        let mut journal = std::mem::take(&mut self.journal);
        let saved = save::save(self, &self.fingerprint, &self.history, &mut journal, path);
        self.journal = journal;
        saved
    }

    /// Reads what [`Run::save`] wrote. Refuses a file of another problem, of another version, or damaged.
    pub fn load(path: &Path, fingerprint: &str) -> Result<Run, Error> {
        let (mut run, history, journal) = save::load::<Run>(path, fingerprint)?;
        run.history = history;
        run.journal = journal;
        Ok(run)
    }

    /// Evaluates the start, or takes a step.
    fn part(&mut self, objective: &mut dyn Objective) -> Result<Record, Error> {
        let before = self.core.clone();
        match self.core.part(objective, &self.bounds) {
            Ok(advance) => {
                let record = self.core.judge(&advance, &self.stopping);
                self.history.push(record);
                Ok(record)
            }
            Err(failure) => {
                self.core = before;
                Err(failure.into())
            }
        }
    }
}

impl Core {
    fn part(&mut self, objective: &mut dyn Objective, bounds: &Bounds) -> Result<Advance, super::Failure> {
        let algorithm = self.state.algorithm();
        let mut evaluator = Evaluator { objective, counts: &mut self.counts, best: &mut self.best };
        match self.record {
            None => algorithm.begin(&mut evaluator, bounds),
            Some(_) => algorithm.advance(&mut evaluator, bounds),
        }
    }

    fn judge(&mut self, advance: &Advance, stopping: &Stopping) -> Record {
        let iteration = self.record.map_or(0, |record| record.iteration + 1);
        if stopping.improves(self.best.value, self.reference) {
            self.reference = self.best.value;
            self.improved = iteration;
        }
        self.stopped = stopping.judge(advance, self.best.value, iteration, iteration - self.improved);
        let record = Record {
            iteration,
            counts: self.counts,
            value: advance.value,
            best: self.best.value,
            gradient_norm: advance.gradient_norm,
            step: advance.step,
        };
        self.record = Some(record);
        record
    }
}
