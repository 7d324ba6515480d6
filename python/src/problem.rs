//! Problems: what may change, what is to be small, and whether its gradient is right.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use pullback_scene as scene;
use pullback_solve::check;
use pullback_solve::optimise::Objective;
use pyo3::prelude::*;

use crate::compute::{caught, compute};
use crate::describe::{self, Named, Term, Variable};
use crate::error::Failure;
use crate::model::Model;
use crate::run::Run;
use crate::simulation::Simulation;

/// A problem that can be solved, simulated and checked.
#[pyclass(frozen, module = "pullback._core")]
pub struct Problem(Mutex<pullback_solve::Problem>);

/// Loss, and its gradient by first state, controls and params; norms of the cotangents of states.
type Full = (f64, Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>);
/// Name, unit, derivative, difference, error, doubt, verdict.
type Audited = (String, String, f64, f64, f64, f64, String);
/// Audits, reasons of zeros, how far gradients reach, energy (times, kinetic, potential, conserved, drift), growth (rate, total, what it
/// means), norms, loss.
type Checked = (
    Vec<Audited>,
    Vec<(String, String)>,
    Option<f64>,
    (Vec<f64>, Vec<f64>, Vec<f64>, bool, f64),
    (f64, f64, String, String),
    Vec<f64>,
    f64,
);

impl Problem {
    /// Looks at the problem, without the interpreter's lock: who has the problem may be waiting for that.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        look: impl FnOnce(&pullback_solve::Problem) -> R + Send,
    ) -> PyResult<R> {
        Ok(py.detach(|| caught(|| Ok(look(&self.lock()))))?)
    }

    /// The problem, for one thread at a time. Never with the interpreter's lock.
    pub fn lock(&self) -> MutexGuard<'_, pullback_solve::Problem> {
        // What a panic leaves is set anew by the next call: a rollout begins from its start.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A vector of as many numbers as there are variables.
fn fits(problem: &pullback_solve::Problem, z: &[f64]) -> Result<(), Failure> {
    let (wanted, found) = (problem.variables().len(), z.len());
    match wanted == found {
        true => Ok(()),
        false => Err(pullback_engine::Error::Length { what: "z", wanted, found }.into()),
    }
}

#[pymethods]
impl Problem {
    /// Of a file, or of the text of one. `gpu`: the number of the GPU on which rollouts run, if they do.
    #[new]
    #[pyo3(signature = (text, file, gpu=None))]
    fn new(py: Python<'_>, text: Option<String>, file: PathBuf, gpu: Option<usize>) -> PyResult<Problem> {
        compute(py, || {
            let description = match text {
                Some(text) => scene::Problem::parse(&text, file)?,
                None => scene::Problem::load(file)?,
            };
            let mut problem = pullback_solve::Problem::new(description)?;
            if let Some(number) = gpu {
                problem.set_gpu(number)?;
            }
            Ok(Problem(Mutex::new(problem)))
        })
    }

    /// Of a model as a simulation runs it, and of what may change and is to be small.
    #[staticmethod]
    fn of(
        py: Python<'_>,
        model: &Bound<'_, Model>,
        simulation: &Bound<'_, Simulation>,
        steps: usize,
        variables: Vec<Variable>,
        terms: Vec<Term>,
        method: Named,
        stopping: (usize, f64, Option<f64>),
    ) -> PyResult<Problem> {
        let (model, engine) = (model.get(), &simulation.get().0);
        compute(py, || {
            let mut scene = model.scene.clone();
            scene.simulation = describe::simulation(engine, steps);
            let model = model.model.clone();
            let description = scene::Problem {
                variables: variables.into_iter().map(describe::variable).collect::<Result<_, _>>()?,
                losses: terms
                    .into_iter()
                    .map(|term| describe::term(&scene, term))
                    .collect::<Result<_, _>>()?,
                optimiser: scene::Optimiser {
                    method: describe::method(&method)?,
                    iterations: stopping.0,
                    tolerance: stopping.1,
                    target: stopping.2,
                },
                source: scene::Source::default(),
                scene,
            };
            let mut problem = pullback_solve::Problem::with_model(description, model)?;
            if engine.device.is_some() {
                problem.set_device(engine.device.as_ref())?;
            }
            Ok(Problem(Mutex::new(problem)))
        })
    }

    /// The text of its file; empty where there is none.
    #[getter]
    fn source(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |problem| problem.description().source.text().to_owned())
    }

    /// What its numbers depend on, in short.
    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, pullback_solve::Problem::fingerprint)
    }

    /// The method of its optimiser.
    #[getter]
    fn method(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.with(py, |problem| problem.description().optimiser.method.name())
    }

    /// Name, unit, least and greatest value of each variable.
    fn variables(&self, py: Python<'_>) -> PyResult<Vec<(String, String, f64, f64)>> {
        self.with(py, |problem| {
            let variables = problem.variables();
            let describe = |i: usize| {
                let ((name, unit), (lower, upper)) = (variables.name(i), variables.range(i));
                (name.to_owned(), unit.to_owned(), lower, upper)
            };
            (0..variables.len()).map(describe).collect()
        })
    }

    /// Where the search starts, and the bounds there.
    fn start(&self, py: Python<'_>) -> PyResult<(Vec<f64>, Vec<f64>, Vec<f64>)> {
        self.with(py, |problem| {
            let bounds = problem.variables().bounds();
            (problem.variables().start(), bounds.lower().to_vec(), bounds.upper().to_vec())
        })
    }

    /// The variables at z, in their own units.
    fn values(&self, py: Python<'_>, z: Vec<f64>) -> PyResult<Vec<f64>> {
        compute(py, || {
            let problem = self.lock();
            fits(&problem, &z)?;
            Ok(problem.variables().values(&z))
        })
    }

    /// First state, controls of all steps and params at z.
    fn point(&self, py: Python<'_>, z: Vec<f64>) -> PyResult<(Vec<f64>, Vec<f64>, Vec<f64>)> {
        compute(py, || {
            let problem = self.lock();
            fits(&problem, &z)?;
            let point = problem.point(&z);
            let start = point.start();
            Ok((start.states.to_vec(), start.controls.to_vec(), start.params.to_vec()))
        })
    }

    /// The loss at z.
    fn value(&self, py: Python<'_>, z: Vec<f64>) -> PyResult<f64> {
        compute(py, || {
            let mut problem = self.lock();
            fits(&problem, &z)?;
            Ok(problem.value(&z)?)
        })
    }

    /// The loss at z, and its gradient by z.
    fn gradient(&self, py: Python<'_>, z: Vec<f64>) -> PyResult<(f64, Vec<f64>)> {
        compute(py, || {
            let mut problem = self.lock();
            fits(&problem, &z)?;
            let mut gradient = vec![0.0; z.len()];
            let value = problem.gradient(&z, &mut gradient).map_err(Failure::from)?;
            Ok((value, gradient))
        })
    }

    /// The loss at z, and its gradient by everything.
    fn full_gradient(&self, py: Python<'_>, z: Vec<f64>) -> PyResult<Full> {
        compute(py, || {
            let mut problem = self.lock();
            fits(&problem, &z)?;
            let found = problem.full_gradient(&z)?;
            let of = |numbers: &Vec<f64>| numbers.clone();
            Ok((found.value(), of(&found.states), of(&found.controls), of(&found.params), of(&found.norms)))
        })
    }

    /// Residuals at z, whose squares sum up to the loss, and their Jacobian by z, row by row.
    fn jacobian(&self, py: Python<'_>, z: Vec<f64>) -> PyResult<(Vec<f64>, Vec<f64>)> {
        compute(py, || {
            let mut problem = self.lock();
            fits(&problem, &z)?;
            let way = problem.way();
            Ok(problem.jacobian_by(way, &z)?)
        })
    }

    /// What each part of the loss is called, and what it comes to at z.
    fn parts(&self, py: Python<'_>, z: Vec<f64>) -> PyResult<Vec<(String, f64)>> {
        compute(py, || {
            let mut problem = self.lock();
            fits(&problem, &z)?;
            let parts = problem.parts(&z)?;
            Ok(problem.losses().names().map(ToOwned::to_owned).zip(parts).collect())
        })
    }

    /// The standard error of each variable at z, where measurements are fitted.
    fn standard_errors(&self, py: Python<'_>, z: Vec<f64>) -> PyResult<Option<Vec<f64>>> {
        compute(py, || {
            let mut problem = self.lock();
            fits(&problem, &z)?;
            Ok(problem.standard_errors(&z)?)
        })
    }

    /// Is the gradient right at z, and is it of use?
    fn check(&self, py: Python<'_>, z: Vec<f64>) -> PyResult<Checked> {
        compute(py, || {
            let mut problem = self.lock();
            fits(&problem, &z)?;
            Ok(checked(check::check(&mut problem, &z)?))
        })
    }

    /// A minimisation with its optimiser, or with another method.
    fn begin(&self, py: Python<'_>, method: Option<Named>) -> PyResult<Run> {
        compute(py, || {
            let problem = self.lock();
            let run = match method {
                None => problem.begin()?,
                Some(method) => problem.begin_with(describe::method(&method)?)?,
            };
            Ok(Run::new(run))
        })
    }
}

fn checked(health: check::Health) -> Checked {
    let audit = |it: check::Audit| {
        let verdict = it.agreement().to_string();
        (it.name, it.unit, it.derivative, it.difference, it.error, it.doubt, verdict)
    };
    let check::EnergyDrift { times, kinetic, potential, conserved, drift, .. } = health.energy;
    let verdict = match health.growth.verdict {
        check::Verdict::Zero => "zero",
        check::Verdict::Steady => "steady",
        check::Verdict::Exploding => "exploding",
        check::Verdict::Vanishing => "vanishing",
    };
    let growth = (health.growth.rate, health.growth.total, verdict.to_owned(), health.growth.to_string());
    (
        health.audit.into_iter().map(audit).collect(),
        health.zeros,
        health.reach.of_use(),
        (times, kinetic, potential, conserved, drift),
        growth,
        health.norms,
        health.value,
    )
}
