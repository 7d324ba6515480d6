//! A page with a playback of states, as the command line writes it.

use pullback_scene::{Optimiser, Problem, Source};
use pyo3::prelude::*;

use crate::batch::numbers;
use crate::compute::compute;
use crate::describe;
use crate::error::Failure;
use crate::model::Model;
use crate::simulation::Simulation;

/// The page, as HTML, of so many states at an address, of controls of the steps between them, if that is not 0, and of params.
#[pyfunction]
pub fn page(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    simulation: &Bound<'_, Simulation>,
    moments: usize,
    states: usize,
    controls: usize,
    params: usize,
) -> PyResult<String> {
    let (model, engine) = (model.get(), &simulation.get().0);
    let [x, u, theta] = engine.lens();
    compute(py, || {
        let steps = moments.saturating_sub(1);
        let given = if controls == 0 { 0 } else { steps * u };
        // SAFETY: the package passes arrays of these sizes, and holds them until this returns.
        let (states, controls, params) = unsafe {
            (numbers::<f64>(states, moments * x)?, numbers(controls, given)?, numbers(params, theta)?)
        };
        let mut scene = model.scene.clone();
        scene.simulation = describe::simulation(engine, steps.max(1));
        let (variables, losses) = (Vec::new(), Vec::new());
        let (optimiser, source) = (Optimiser::default(), Source::default());
        let description = Problem { scene, variables, losses, optimiser, source };
        let problem = pullback_solve::Problem::with_model(description, model.model.clone())?;
        pullback_cli::played(&problem, states, controls, params).map_err(|error| match error
            .downcast::<pullback_engine::Error>(
        ) {
            Ok(error) => Failure::Engine(error),
            Err(error) => Failure::Setting(error.to_string()),
        })
    })
}
