//! Names of the numbers of a flat vector.

use std::sync::Arc;

use pullback_engine::names::{self, Named, Space};
use pyo3::prelude::*;

use crate::error::Failure;

/// Where each name lies in a flat vector.
#[pyclass(frozen, module = "pullback._core")]
pub struct Layout(pub Arc<names::Layout>);

/// A name, where it lies, its unit, meaning, range, and whether it is a rotation.
type Described = (String, usize, usize, String, String, f64, f64, bool);

/// No particular vector.
enum Any {}

impl Layout {
    fn named(&self, values: Vec<f64>) -> Result<Named<Any>, Failure> {
        Ok(Named::from_values(&self.0, values)?)
    }
}

#[pymethods]
impl Layout {
    /// How many numbers.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// How many numbers a tangent has.
    #[getter]
    fn tangent_len(&self) -> usize {
        self.0.tangent_len()
    }

    /// The values to start from.
    fn values(&self) -> Vec<f64> {
        self.0.values()
    }

    /// Where a name lies, and its shape: (start, stop, shape).
    fn find(&self, name: &str) -> PyResult<(usize, usize, Vec<usize>)> {
        let range = self.0.find(name).map_err(Failure::from)?;
        // One number by its own name has no axes; a value has its numbers; a group has a row for each.
        let part =
            self.0.parts().find(|part| part.range().start <= range.start && range.start < part.range().end);
        let numbers = part.map_or(1, |part| part.range().len());
        let shape = match (range.len(), numbers) {
            (1, 1) if self.0.parts().any(|part| part.range() == range && part.name() == name) => vec![],
            (1, numbers) if numbers > 1 => vec![],
            (len, 1) => vec![len],
            (len, numbers) if len == numbers && self.0.parts().any(|part| part.name() == name) => vec![len],
            (len, numbers) => vec![len / numbers, numbers],
        };
        Ok((range.start, range.end, shape))
    }

    /// Where the values lie that match a glob: (start, stop) of each.
    fn select(&self, pattern: &str) -> PyResult<Vec<(usize, usize)>> {
        let found = self.0.select(pattern).map_err(Failure::from)?;
        Ok(found.into_iter().map(|range| (range.start, range.end)).collect())
    }

    /// The name of a number, with its axis.
    fn name_of(&self, index: usize) -> String {
        self.0.name_of(index)
    }

    /// Every named value with what is known of it.
    fn parts(&self) -> Vec<Described> {
        let describe = |part: names::Part<'_>| {
            let (quantity, range) = (part.quantity(), part.range());
            (
                part.name(),
                range.start,
                range.end,
                quantity.unit.clone(),
                quantity.doc.clone(),
                quantity.lower,
                quantity.upper,
                quantity.space == Space::Rotation,
            )
        };
        self.0.parts().map(describe).collect()
    }

    /// An error unless every number is finite and in its range.
    fn check(&self, values: Vec<f64>) -> PyResult<()> {
        Ok(self.named(values)?.check().map_err(Failure::from)?)
    }

    /// An error unless these numbers make sense for a name.
    fn check_set(&self, name: &str, values: Vec<f64>) -> PyResult<()> {
        Ok(self.named(self.0.values())?.set(name, &values).map_err(Failure::from)?)
    }

    /// The vector that is reached along a tangent.
    fn retract(&self, values: Vec<f64>, tangent: Vec<f64>) -> PyResult<Vec<f64>> {
        let mut named = self.named(values)?;
        named.retract(&tangent).map_err(Failure::from)?;
        Ok(named.values().to_vec())
    }

    /// The tangent that leads from one vector to another.
    fn difference(&self, values: Vec<f64>, to: Vec<f64>) -> PyResult<Vec<f64>> {
        let other = self.named(to)?;
        Ok(self.named(values)?.difference(&other).map_err(Failure::from)?)
    }

    /// A cotangent of the stored numbers, as one of tangents.
    fn to_tangent(&self, values: Vec<f64>, bars: Vec<f64>) -> PyResult<Vec<f64>> {
        Ok(self.named(values)?.to_tangent(&bars).map_err(Failure::from)?)
    }
}
