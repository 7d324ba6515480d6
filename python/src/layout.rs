//! Names of the numbers of a flat vector.

use std::sync::Arc;

use pullback_engine::names::{self, Named, Space};
use pyo3::prelude::*;

use crate::compute::{caught, look};
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

    /// Where a name lies, and its shape: (start, stop, shape).
    fn place(&self, name: &str) -> Result<(usize, usize, Vec<usize>), Failure> {
        let range = self.0.find(name)?;
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
}

#[pymethods]
impl Layout {
    /// How many numbers.
    fn __len__(&self) -> PyResult<usize> {
        look(|| self.0.len())
    }

    /// How many numbers a tangent has.
    #[getter]
    fn tangent_len(&self) -> PyResult<usize> {
        look(|| self.0.tangent_len())
    }

    /// The values to start from.
    fn values(&self) -> PyResult<Vec<f64>> {
        look(|| self.0.values())
    }

    /// Where a name lies, and its shape: (start, stop, shape).
    fn find(&self, name: &str) -> PyResult<(usize, usize, Vec<usize>)> {
        Ok(caught(|| self.place(name))?)
    }

    /// Where the values lie that match a glob: (start, stop) of each.
    fn select(&self, pattern: &str) -> PyResult<Vec<(usize, usize)>> {
        let found = caught(|| Ok(self.0.select(pattern)?))?;
        Ok(found.into_iter().map(|range| (range.start, range.end)).collect())
    }

    /// The name of a number, with its axis.
    fn name_of(&self, index: usize) -> PyResult<String> {
        look(|| self.0.name_of(index))
    }

    /// Every named value with what is known of it.
    fn parts(&self) -> PyResult<Vec<Described>> {
        look(|| self.0.parts().map(described).collect())
    }

    /// An error unless every number is finite and in its range.
    fn check(&self, values: Vec<f64>) -> PyResult<()> {
        Ok(caught(|| Ok(self.named(values)?.check()?))?)
    }

    /// An error unless these numbers make sense for a name.
    fn check_set(&self, name: &str, values: Vec<f64>) -> PyResult<()> {
        Ok(caught(|| Ok(self.named(self.0.values())?.set(name, &values)?))?)
    }

    /// The vector that is reached along a tangent.
    fn retract(&self, values: Vec<f64>, tangent: Vec<f64>) -> PyResult<Vec<f64>> {
        Ok(caught(|| {
            let mut named = self.named(values)?;
            named.retract(&tangent)?;
            Ok(named.values().to_vec())
        })?)
    }

    /// The vectors that are reached along tangents, one after the other.
    fn retract_all(&self, values: Vec<f64>, tangents: Vec<f64>) -> PyResult<Vec<f64>> {
        Ok(caught(|| {
            let mut all = Vec::new();
            for tangent in tangents.chunks(self.0.tangent_len().max(1)) {
                let mut named = self.named(values.clone())?;
                named.retract(tangent)?;
                all.extend_from_slice(named.values());
            }
            Ok(all)
        })?)
    }

    /// The tangent that leads from one vector to another.
    fn difference(&self, values: Vec<f64>, to: Vec<f64>) -> PyResult<Vec<f64>> {
        Ok(caught(|| {
            let other = self.named(to)?;
            Ok(self.named(values)?.difference(&other)?)
        })?)
    }

    /// A cotangent of the stored numbers, as one of tangents.
    fn to_tangent(&self, values: Vec<f64>, bars: Vec<f64>) -> PyResult<Vec<f64>> {
        Ok(caught(|| Ok(self.named(values)?.to_tangent(&bars)?))?)
    }
}

fn described(part: names::Part<'_>) -> Described {
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
}
