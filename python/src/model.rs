//! What the world is.

use std::path::PathBuf;
use std::sync::Mutex;

use pullback_engine::Energy;
use pullback_scene::robot::{Base, Load};
use pullback_scene::{Memory, Part, Robot, Scene, Snapshots};
use pyo3::prelude::*;

use crate::batch::{numbers, numbers_mut};
use crate::compute::{compute, look};
use crate::layout::Layout;
use crate::source::{Origin, base, is_robot};

/// What the world is, and what it was made of.
#[pyclass(frozen, module = "pullback._core")]
pub struct Model {
    pub origin: Origin,
    pub scene: Scene,
    pub model: pullback_engine::Model,
    energy: Mutex<Option<Energy>>,
}

/// What makes a model again: text, file, lenient, allow, packages, base.
type Again = (String, PathBuf, bool, Vec<PathBuf>, Vec<(String, PathBuf)>, String);
/// dt, steps, substeps, integrator, memory with its number, snapshots, truncate, clip.
type Simulated = (f64, usize, usize, String, (String, usize), String, Option<usize>, Option<f64>);

#[pymethods]
impl Model {
    /// From a text, or from the file where there is none.
    #[new]
    fn new(
        py: Python<'_>,
        text: Option<String>,
        file: PathBuf,
        lenient: bool,
        allow: Vec<PathBuf>,
        packages: Vec<(String, PathBuf)>,
        base_name: &str,
    ) -> PyResult<Model> {
        compute(py, || {
            let base = base(base_name)?;
            let xml = text.as_ref().is_some_and(|text| text.trim_start().starts_with('<'));
            let load = Load { lenient, allow, packages, base, ..Load::default() };
            let robot = (xml || is_robot(&file)).then_some(load);
            let origin = match text {
                Some(text) => Origin { text, file, robot },
                None => Origin::read(file, robot)?,
            };
            let scene = origin.scene()?;
            let model = pullback_engine::Model::new(&scene)?;
            Ok(Model { origin, scene, model, energy: Mutex::new(None) })
        })
    }

    /// What [`Model::new`] makes the same model of.
    #[getter]
    fn origin(&self) -> PyResult<Again> {
        look(|| {
            let Origin { text, file, robot } = &self.origin;
            let load = robot.clone().unwrap_or_default();
            let base = match load.base {
                Base::AsWritten => "as-written",
                Base::Fixed => "fixed",
                Base::Free => "free",
            };
            (text.clone(), file.clone(), load.lenient, load.allow, load.packages, base.to_owned())
        })
    }

    /// What it is called.
    #[getter]
    fn name(&self) -> PyResult<&str> {
        look(|| self.model.name())
    }

    /// What it shows.
    #[getter]
    fn description(&self) -> PyResult<&str> {
        look(|| self.scene.description.as_str())
    }

    /// What files of robots say that was left out or is doubtful.
    #[getter]
    fn warnings(&self) -> PyResult<Vec<String>> {
        look(|| self.scene.warnings.iter().map(ToString::to_string).collect())
    }

    /// How many particles.
    #[getter]
    fn particles(&self) -> PyResult<usize> {
        look(|| self.model.particles())
    }

    /// The names of robots and loose bodies.
    #[getter]
    fn robots(&self) -> PyResult<Vec<String>> {
        look(|| self.model.robots().iter().map(|robot| robot.name().to_owned()).collect())
    }

    /// The names of particles, then of bodies and frames, robot after robot.
    #[getter]
    fn parts(&self) -> PyResult<Vec<String>> {
        look(|| {
            let particles = (0..self.model.particles()).map(|p| self.scene.particle_name(p));
            let of_robot = |(robot, it): (usize, &Robot)| {
                let bodies = (0..it.bodies.len()).map(move |body| Part::Body { robot, body });
                bodies.chain((0..it.frames.len()).map(move |frame| Part::Frame { robot, frame }))
            };
            let parts = self.scene.robots.iter().enumerate().flat_map(of_robot);
            particles.chain(parts.map(|part| self.scene.part_name(part))).collect()
        })
    }

    /// How many numbers of a state are positions.
    #[getter]
    fn positions(&self) -> PyResult<usize> {
        look(|| self.model.positions())
    }

    #[getter]
    fn state_layout(&self) -> PyResult<Layout> {
        look(|| Layout(self.model.state_layout().clone()))
    }

    #[getter]
    fn control_layout(&self) -> PyResult<Layout> {
        look(|| Layout(self.model.control_layout().clone()))
    }

    #[getter]
    fn params_layout(&self) -> PyResult<Layout> {
        look(|| Layout(self.model.params_layout().clone()))
    }

    /// For how many steps the scene gives controls, and these; those of the last are those of all later ones.
    fn controls(&self) -> PyResult<(usize, Vec<f64>)> {
        look(|| (self.model.scheduled(), self.model.controls(self.model.scheduled())))
    }

    /// How many controllers there are, which know the time.
    #[getter]
    fn controllers(&self) -> PyResult<usize> {
        look(|| self.scene.controllers.len())
    }

    /// How the scene wants to be simulated.
    #[getter]
    fn simulated(&self) -> PyResult<Simulated> {
        look(|| {
            let s = &self.scene.simulation;
            let memory = match s.memory {
                Memory::EveryStep => ("every-step", 0),
                Memory::Binomial { snapshots } => ("binomial", snapshots),
                Memory::Budget { bytes } => ("budget", bytes),
                Memory::Dense => ("dense", 0),
                Memory::Reversible => ("reversible", 0),
            };
            let snapshots = match s.snapshots {
                Snapshots::F64 => "f64",
                Snapshots::F32 => "f32",
            };
            let integrator = s.integrator.name().to_owned();
            let memory = (memory.0.to_owned(), memory.1);
            (s.dt, s.steps, s.substeps, integrator, memory, snapshots.to_owned(), s.truncate, s.clip)
        })
    }

    /// Writes kinetic and potential energy [J] of states, one after the other.
    fn energy(
        &self,
        py: Python<'_>,
        states: usize,
        count: usize,
        params: usize,
        found: usize,
    ) -> PyResult<()> {
        let (x, theta) = (self.model.state_layout().len(), self.model.params_layout().len());
        compute(py, || {
            // SAFETY: the package passes arrays of these sizes, and holds them until this returns.
            let (states, params) =
                unsafe { (numbers::<f64>(states, count * x)?, numbers::<f64>(params, theta)?) };
            // SAFETY: as above.
            let found = unsafe { numbers_mut::<[f64; 2]>(found, count)? };
            let taken = self.energy.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
            let mut energy = match taken {
                Some(energy) => energy,
                None => Energy::new(&self.model)?,
            };
            for (i, found) in found.iter_mut().enumerate() {
                *found = energy.of(&states[i * x..(i + 1) * x], params)?.into();
            }
            *self.energy.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(energy);
            Ok(())
        })
    }
}
