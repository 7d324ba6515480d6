//! What compiled programs call, by numbers.

use std::sync::{Arc, RwLock};

use pyo3::prelude::*;

use crate::compute::look;
use crate::pool::Engine;
use crate::simulation::Simulation;
use crate::watch::{Watch, Watched};

/// What compiled programs call. It stays: a compiled program may outlive every other trace of its simulation.
static KNOWN: RwLock<Vec<Callee>> = RwLock::new(Vec::new());

/// A simulation, or a way to look at its worlds.
#[derive(Clone)]
pub enum Callee {
    Engine(Arc<Engine>),
    Watch(Arc<Watched>),
}

impl Callee {
    /// That of a number.
    pub fn of(number: usize) -> Option<Callee> {
        KNOWN.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(number).cloned()
    }

    fn is(&self, other: &Callee) -> bool {
        match (self, other) {
            (Callee::Engine(a), Callee::Engine(b)) => Arc::ptr_eq(a, b),
            (Callee::Watch(a), Callee::Watch(b)) => Arc::ptr_eq(a, b),
            (Callee::Engine(_), Callee::Watch(_)) | (Callee::Watch(_), Callee::Engine(_)) => false,
        }
    }
}

/// What Python calls.
#[derive(FromPyObject)]
pub enum Named<'py> {
    Simulation(Bound<'py, Simulation>),
    Watch(Bound<'py, Watch>),
}

/// The number by which compiled programs call a simulation, or a way to look at its worlds.
#[pyfunction]
pub fn xla_number(simulation: Named<'_>) -> PyResult<usize> {
    look(|| {
        number_of(match &simulation {
            Named::Simulation(it) => Callee::Engine(it.get().0.clone()),
            Named::Watch(it) => Callee::Watch(it.get().0.clone()),
        })
    })
}

fn number_of(callee: Callee) -> usize {
    let mut known = KNOWN.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    known.iter().position(|it| it.is(&callee)).unwrap_or_else(|| {
        known.push(callee);
        known.len() - 1
    })
}
