//! Minimisations: data that is advanced one iteration at a time.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use pullback_solve::optimise::{self, Bounds, Failure as Failed, Objective, Stopping};
use pyo3::prelude::*;

use crate::compute::{caught, compute};
use crate::describe::{self, Named};
use crate::error::Failure;
use crate::problem::Problem;

/// A minimisation.
#[pyclass(frozen, module = "pullback._core")]
pub struct Run(Mutex<optimise::Run>);

/// Iteration, value, best value, norm of the projected gradient, length of the step, values and gradients and Jacobians asked.
type Recorded = (usize, f64, f64, Option<f64>, f64, (usize, usize, usize));

impl Run {
    pub fn new(run: optimise::Run) -> Run {
        Run(Mutex::new(run))
    }

    /// Looks at the run, without the interpreter's lock: who has the run may be waiting for that.
    fn with<R: Send>(&self, py: Python<'_>, look: impl FnOnce(&optimise::Run) -> R + Send) -> PyResult<R> {
        Ok(py.detach(|| caught(|| Ok(look(&self.lock()))))?)
    }

    /// The run, for one thread at a time. Never with the interpreter's lock.
    fn lock(&self) -> MutexGuard<'_, optimise::Run> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[pymethods]
impl Run {
    /// Of an objective of one's own: method, start, bounds, iterations, tolerances, target, patience.
    #[new]
    fn of(
        py: Python<'_>,
        method: Named,
        start: Vec<f64>,
        lower: Option<Vec<f64>>,
        upper: Option<Vec<f64>>,
        iterations: usize,
        tolerance: f64,
        target: Option<f64>,
        patience: Option<usize>,
    ) -> PyResult<Run> {
        compute(py, || {
            let n = start.len();
            let lower = lower.unwrap_or_else(|| vec![f64::NEG_INFINITY; n]);
            let upper = upper.unwrap_or_else(|| vec![f64::INFINITY; n]);
            let stopping = Stopping { iterations, tolerance, target, patience, ..Stopping::default() };
            let method = describe::method(&method)?;
            let bounds = Bounds::new(lower, upper).map_err(Failure::from)?;
            Ok(Run::new(optimise::Run::new(method, &start, bounds, stopping)?))
        })
    }

    /// Reads a saved run of a problem.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, fingerprint: &str) -> PyResult<Run> {
        compute(py, || Ok(Run::new(optimise::Run::load(&path, fingerprint)?)))
    }

    /// Writes the run, so that a reader finds the old one or the new one whole.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        compute(py, || Ok(self.lock().save(&path)?))
    }

    /// One iteration on a problem; true once the run has stopped.
    fn iterate(&self, py: Python<'_>, problem: &Bound<'_, Problem>) -> PyResult<bool> {
        let problem = problem.get();
        compute(py, || Ok(self.lock().iterate(&mut *problem.lock())?.stopped))
    }

    /// One iteration on functions of Python: z to a value, and z to a value and its gradient.
    fn iterate_on(&self, py: Python<'_>, value: Py<PyAny>, gradient: Py<PyAny>) -> PyResult<bool> {
        let dimension = self.with(py, |run| run.best().0.len())?;
        let mut asked = Asked { dimension, value, gradient, raised: RefCell::new(None) };
        compute(py, || {
            let result = self.lock().iterate(&mut asked).map(|progress| progress.stopped);
            match asked.raised.take() {
                Some(error) => Err(error.into()),
                None => Ok(result?),
            }
        })
    }

    /// The best point so far, and its value.
    #[getter]
    fn best(&self, py: Python<'_>) -> PyResult<(Vec<f64>, f64)> {
        self.with(py, |run| (run.best().0.to_vec(), run.best().1))
    }

    /// Why it ended, if it has.
    #[getter]
    fn stopped(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |run| run.stopped().map(ToString::to_string))
    }

    /// One record for the start, and one for each iteration.
    #[getter]
    fn history(&self, py: Python<'_>) -> PyResult<Vec<Recorded>> {
        let record = |it: &optimise::Record| {
            let counts = (it.counts.values, it.counts.gradients, it.counts.jacobians);
            (it.iteration, it.value, it.best, it.gradient_norm, it.step, counts)
        };
        self.with(py, |run| run.history().iter().map(record).collect())
    }

    /// What was changed about the start, if anything.
    #[getter]
    fn note(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |run| run.note().map(ToOwned::to_owned))
    }
}

/// An objective in Python.
struct Asked {
    dimension: usize,
    value: Py<PyAny>,
    gradient: Py<PyAny>,
    /// What it raised.
    raised: RefCell<Option<PyErr>>,
}

impl Asked {
    fn ask<T>(&self, answer: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Failed> {
        Python::attach(answer).map_err(|error| {
            let told = Failed::fatal(error.to_string());
            *self.raised.borrow_mut() = Some(error);
            told
        })
    }
}

impl Objective for Asked {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn value(&mut self, z: &[f64]) -> Result<f64, Failed> {
        self.ask(|py| self.value.call1(py, (z.to_vec(),))?.extract(py))
    }

    fn gradient(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<f64, Failed> {
        let (value, found) =
            self.ask(|py| self.gradient.call1(py, (z.to_vec(),))?.extract::<(f64, Vec<f64>)>(py))?;
        if found.len() != gradient.len() {
            let (found, wanted) = (found.len(), gradient.len());
            return Err(Failed::fatal(format!("the gradient has {found} numbers, and {wanted} are wanted")));
        }
        gradient.copy_from_slice(&found);
        Ok(value)
    }
}
