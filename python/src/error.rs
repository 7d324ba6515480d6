//! From errors of the engine to exceptions: the classes of `pullback.errors`.

use pullback_engine::Error as EngineError;
use pullback_engine::names::NameError;
use pullback_kernel::cuda;
use pullback_kernel::program::DeviceError;
use pullback_scene::Invalid;
use pullback_solve::optimise;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// What went wrong, before it is an exception.
pub enum Failure {
    /// In the engine.
    Engine(EngineError),
    /// In a file, or in what a file says.
    Scene(pullback_scene::Error),
    /// In a rollout, with its place in a file.
    Rollout(pullback_scene::Error),
    /// In a rollout, or in an objective, at some point.
    NotFinite(String),
    /// In a setting.
    Setting(String),
    /// In an optimiser.
    Optimiser(String),
    /// Already an exception.
    Python(PyErr),
    /// A bug.
    Panic(String),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Failure::Engine(error)
    }
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Self {
        Failure::Engine(error.into())
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Failure::Engine(invalid.into())
    }
}

impl From<pullback_scene::Error> for Failure {
    fn from(error: pullback_scene::Error) -> Self {
        Failure::Scene(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Python(error)
    }
}

impl From<pullback_solve::Error> for Failure {
    fn from(error: pullback_solve::Error) -> Self {
        match error {
            pullback_solve::Error::Description(error) => Failure::Scene(*error),
            pullback_solve::Error::Rollout(error) => Failure::Rollout(*error),
            pullback_solve::Error::Engine(error) => Failure::Engine(error),
            pullback_solve::Error::Optimiser(error) => error.into(),
        }
    }
}

impl From<optimise::Error> for Failure {
    fn from(error: optimise::Error) -> Self {
        match error {
            optimise::Error::Objective(failure) => failure.into(),
            error @ (optimise::Error::Start { .. }
            | optimise::Error::Dimension { .. }
            | optimise::Error::Setting { .. }
            | optimise::Error::Outside { .. }) => Failure::Setting(error.to_string()),
            error => Failure::Optimiser(error.to_string()),
        }
    }
}

impl From<optimise::Failure> for Failure {
    fn from(failure: optimise::Failure) -> Self {
        match failure {
            optimise::Failure::NotFinite { .. } => Failure::NotFinite(failure.to_string()),
            optimise::Failure::NotLeastSquares => Failure::Setting(failure.to_string()),
            optimise::Failure::Fatal(error) => match error.downcast::<EngineError>() {
                Ok(error) => Failure::Engine(*error),
                Err(error) => Failure::Optimiser(error.to_string()),
            },
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| match failure {
            Failure::Python(error) => error,
            Failure::Engine(error) => of_engine(py, error),
            Failure::Scene(error) => of_file(py, "SceneError", &error),
            Failure::Rollout(error) => of_file(py, "RolloutError", &error),
            Failure::NotFinite(message) => raise(py, "RolloutError", message, &[]),
            Failure::Setting(message) => raise(py, "SettingError", message, &[]),
            Failure::Optimiser(message) => raise(py, "OptimiserError", message, &[]),
            Failure::Panic(message) => raise(py, "PanicError", message, &[]),
        })
    }
}

/// An attribute of an exception.
enum Value {
    Text(String),
    Number(usize),
}

fn of_engine(py: Python<'_>, error: EngineError) -> PyErr {
    let message = error.to_string();
    let world = |world: &Option<usize>| world.map(|world| ("world", Value::Number(world)));
    let (class, attributes) = match &error {
        EngineError::Scene(invalid) => {
            let text = |text: &String| Value::Text(text.clone());
            let fields = vec![
                ("path", text(&invalid.path)),
                ("what", text(&invalid.what)),
                ("fix", text(&invalid.fix)),
            ];
            ("SceneError", fields)
        }
        EngineError::Name(NameError::Unknown { .. } | NameError::Index { .. }) => {
            ("UnknownNameError", vec![])
        }
        EngineError::Name(NameError::Length { .. }) | EngineError::Length { .. } => ("ShapeError", vec![]),
        EngineError::Name(NameError::Range { .. }) | EngineError::StartNotFinite { .. } => {
            ("RangeError", vec![])
        }
        EngineError::NoSuchPart { .. } => ("UnknownNameError", vec![]),
        EngineError::SameName { .. } | EngineError::Inconsistent { .. } | EngineError::Shape { .. } => {
            ("SceneError", vec![])
        }
        EngineError::Scheme { .. } | EngineError::Reversible(_) | EngineError::Budget { .. } => {
            ("SettingError", vec![])
        }
        EngineError::TooLarge { .. } | EngineError::FactorsTooLarge { .. } => ("TooLargeError", vec![]),
        EngineError::Gpu(
            DeviceError::TooLarge { .. } | DeviceError::Cuda(cuda::Error::OutOfMemory { .. }),
        ) => ("TooLargeError", vec![]),
        EngineError::Gpu(_) => ("GpuError", vec![]),
        EngineError::NotFinite { step, world: w, .. }
        | EngineError::NotConverged { step, world: w, .. }
        | EngineError::ContactNotSolved { step, world: w, .. }
        | EngineError::TooManyContacts { step, world: w, .. }
        | EngineError::TooManySoftContacts { step, world: w, .. }
        | EngineError::LedThrough { step, world: w, .. }
        | EngineError::Crossed { step, world: w, .. } => {
            let step = ("step", Value::Number(*step));
            ("RolloutError", std::iter::once(step).chain(world(w)).collect())
        }
        EngineError::Singular { step } | EngineError::OffLattice { step, .. } => {
            ("RolloutError", vec![("step", Value::Number(*step))])
        }
        EngineError::GradientNotFinite { .. } => ("RolloutError", vec![]),
        EngineError::NoSuchInput { .. }
        | EngineError::WrongType { .. }
        | EngineError::Build(_)
        | EngineError::Access(_)
        | EngineError::Stopped { .. }
        | EngineError::NothingToPullBack => ("Error", vec![]),
    };
    raise(py, class, message, &attributes)
}

fn of_file(py: Python<'_>, class: &str, error: &pullback_scene::Error) -> PyErr {
    let text = |text: &String| Value::Text(text.clone());
    let mut attributes = vec![
        ("file", text(&error.file)),
        ("path", text(&error.path)),
        ("what", text(&error.what)),
        ("fix", text(&error.fix)),
    ];
    if let Some(position) = error.position {
        attributes.push(("line", Value::Number(position.line)));
        attributes.push(("column", Value::Number(position.column)));
    }
    raise(py, class, error.to_string(), &attributes)
}

/// An exception of a class of `pullback.errors`, made with keyword arguments.
fn raise(py: Python<'_>, class: &str, message: String, attributes: &[(&str, Value)]) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let made = || -> PyResult<PyErr> {
        let module = MODULE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("pullback.errors")?.unbind()))?;
        let class = module.bind(py).getattr(class)?.cast_into::<PyType>()?;
        let given = PyDict::new(py);
        for (name, value) in attributes {
            match value {
                Value::Text(text) => given.set_item(name, text)?,
                Value::Number(number) => given.set_item(name, number)?,
            }
        }
        Ok(PyErr::from_value(class.call((message,), Some(&given))?))
    };
    made().unwrap_or_else(|error| error)
}
