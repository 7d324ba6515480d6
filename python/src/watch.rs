//! Looking at worlds: maps of x, u and theta, as a step is one, and called in the same way.

mod eye;
mod looks;

use std::sync::Arc;

use pullback_engine::Between;
use pyo3::prelude::*;

use crate::batch::{Shared, Sizes, numbers, numbers_mut};
use crate::calls::{Index, Three, clock, three};
use crate::compute::{caught, compute};
use crate::error::Failure;
use crate::model::Model;
use crate::pool::Number;
use crate::simulation::Simulation;
pub use looks::{Watched, forward, pullback, pushforward};

use eye::What;

/// A way to look at worlds of a simulation. Arrays are addresses, as those of `Simulation`.
#[pyclass(frozen, module = "pullback._core")]
pub struct Watch(pub Arc<Watched>);

impl Watch {
    fn new(simulation: &Simulation, what: What) -> Result<Watch, Failure> {
        Ok(Watch(Watched::new(simulation.0.clone(), what)?.into()))
    }

    fn sizes(&self, worlds: usize, shared: u8) -> Sizes {
        let [x, u, theta] = self.0.engine.lens();
        Sizes { worlds, shared: Shared(shared), x, u, theta }
    }
}

#[pymethods]
impl Watch {
    /// At a particle, body or frame: position, rotation row by row, velocity, angular velocity.
    #[staticmethod]
    fn part(
        py: Python<'_>,
        model: &Bound<'_, Model>,
        simulation: &Bound<'_, Simulation>,
        name: &str,
    ) -> PyResult<Watch> {
        let (scene, simulation) = (&model.get().scene, simulation.get());
        compute(py, || {
            let what = match scene.particle_index(name) {
                Ok(particle) => What::Particle(particle),
                // Without robots the names that are near are those of particles.
                Err(none) if scene.robots.is_empty() => return Err(none.into()),
                Err(_) => What::Part(scene.part(name)?),
            };
            Watch::new(simulation, what)
        })
    }

    /// At the contacts of a thing, or of all, with another, or with any: force, normal force, friction, penetration, how many there are,
    /// and how many slide.
    #[staticmethod]
    fn contacts(
        py: Python<'_>,
        model: &Bound<'_, Model>,
        simulation: &Bound<'_, Simulation>,
        of: Option<&str>,
        by: Option<&str>,
    ) -> PyResult<Watch> {
        let (scene, simulation) = (&model.get().scene, simulation.get());
        compute(py, || {
            let find = |name: Option<&str>| name.map(|name| scene.toucher(name)).transpose();
            Watch::new(simulation, What::Contacts(Between { of: find(of)?, with: find(by)? }))
        })
    }

    /// How many numbers are seen of a world.
    fn __len__(&self) -> PyResult<usize> {
        Ok(caught(|| Ok(self.0.seen()))?)
    }

    /// What is seen. `index`: as that of a step.
    fn step(
        &self,
        py: Python<'_>,
        single: bool,
        worlds: usize,
        shared: u8,
        index: Index,
        at: Three,
        seen: usize,
    ) -> PyResult<()> {
        let sizes = self.sizes(worlds, shared);
        compute(py, || match single {
            false => self.look::<f64>(sizes, index, at, seen),
            true => self.look::<f32>(sizes, index, at, seen),
        })
    }

    /// Cotangents of x, u and theta, of those of what was seen.
    fn step_pullback(
        &self,
        py: Python<'_>,
        single: bool,
        worlds: usize,
        shared: u8,
        index: Index,
        at: Three,
        seen: usize,
        seen_bar: usize,
        bars: Three,
    ) -> PyResult<()> {
        // It looks again.
        let (_, sizes) = (seen, self.sizes(worlds, shared));
        compute(py, || match single {
            false => self.pull::<f64>(sizes, index, at, seen_bar, bars),
            true => self.pull::<f32>(sizes, index, at, seen_bar, bars),
        })
    }

    /// What is seen and its tangent.
    fn step_pushforward(
        &self,
        py: Python<'_>,
        single: bool,
        worlds: usize,
        shared: u8,
        index: Index,
        at: Three,
        dots: Three,
        seen: usize,
        seen_dot: usize,
    ) -> PyResult<()> {
        let sizes = self.sizes(worlds, shared);
        compute(py, || match single {
            false => self.push::<f64>(sizes, index, at, dots, (seen, seen_dot)),
            true => self.push::<f32>(sizes, index, at, dots, (seen, seen_dot)),
        })
    }
}

// In all of these: the package passes arrays of these sizes, which do not overlap, and holds them until the call returns.
impl Watch {
    fn look<S: Number>(&self, sizes: Sizes, index: Index, at: Three, seen: usize) -> Result<(), Failure> {
        let len = sizes.worlds * self.0.seen();
        // SAFETY: as above.
        let (at, seen, clock) =
            unsafe { (sizes.batch::<S>(three(at))?, numbers_mut(seen, len)?, clock(index)?) };
        Ok(forward(&self.0, &at, clock, seen)?)
    }

    fn pull<S: Number>(
        &self,
        sizes: Sizes,
        index: Index,
        at: Three,
        seen_bar: usize,
        bars: Three,
    ) -> Result<(), Failure> {
        let len = sizes.worlds * self.0.seen();
        // SAFETY: as above.
        let (at, mut bars) = unsafe { (sizes.batch::<S>(three(at))?, sizes.bars(three(bars))?) };
        // SAFETY: as above.
        let (seen_bar, clock) = unsafe { (numbers(seen_bar, len)?, clock(index)?) };
        Ok(pullback(&self.0, &at, clock, seen_bar, &mut bars, sizes.shared)?)
    }

    fn push<S: Number>(
        &self,
        sizes: Sizes,
        index: Index,
        at: Three,
        dots: Three,
        seen: (usize, usize),
    ) -> Result<(), Failure> {
        let len = sizes.worlds * self.0.seen();
        // SAFETY: as above.
        let (at, dots) = unsafe { (sizes.batch::<S>(three(at))?, sizes.batch::<S>(three(dots))?) };
        // SAFETY: as above.
        let (seen, seen_dot) = unsafe { (numbers_mut(seen.0, len)?, numbers_mut(seen.1, len)?) };
        // SAFETY: as above.
        let clock = unsafe { clock(index)? };
        Ok(pushforward(&self.0, &at, &dots, clock, seen, seen_dot)?)
    }
}
