//! What is minimised.

use serde::{Deserialize, Serialize};

use super::vector::dot;

/// What is minimised. `z` is the optimiser's own vector, scaled so that 1 is a typical change: see
/// [`Scaling`](super::Scaling) and [`Transform`](super::Transform).
pub trait Objective {
    /// How many variables there are.
    fn dimension(&self) -> usize;

    /// The value.
    fn value(&mut self, z: &[f64]) -> Result<f64, Failure>;

    /// The value, and its gradient.
    fn gradient(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<f64, Failure>;

    /// Residuals r with value = Σ r²; for least squares only. Their number must not change. `residuals` comes empty.
    fn residuals(&mut self, z: &[f64], residuals: &mut Vec<f64>) -> Result<(), Failure> {
        let _ = (z, residuals);
        Err(Failure::NotLeastSquares)
    }

    /// Residuals and their Jacobian, row by row: residuals.len() × dimension. Both come empty.
    fn jacobian(
        &mut self,
        z: &[f64],
        residuals: &mut Vec<f64>,
        jacobian: &mut Vec<f64>,
    ) -> Result<(), Failure> {
        let _ = (z, residuals, jacobian);
        Err(Failure::NotLeastSquares)
    }
}

/// Why an objective has no value at some z.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The value or a derivative is not finite at this z. An optimiser that can, goes on with a shorter step.
    #[error("{what} is not finite")]
    NotFinite {
        /// What is not finite, and where: "the gradient of variable 3".
        what: String,
    },
    /// Residuals were asked of an objective that has none.
    #[error("it is not a sum of squares, or does not give its residuals; choose another method")]
    NotLeastSquares,
    /// Nothing that another z would mend. The optimiser stops and hands it to its caller.
    #[error(transparent)]
    Fatal(Box<dyn std::error::Error + Send + Sync>),
}

impl Failure {
    /// The objective is not finite here.
    pub fn not_finite(what: impl Into<String>) -> Failure {
        Failure::NotFinite { what: what.into() }
    }

    /// The objective cannot be computed at all. Takes an error or a sentence.
    pub fn fatal(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failure {
        Failure::Fatal(error.into())
    }
}

/// How often the objective was asked for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Values and residuals.
    pub values: usize,
    /// Gradients; the value that comes with one is not counted again.
    pub gradients: usize,
    /// Jacobians; the residuals that come with one are not counted again.
    pub jacobians: usize,
}

/// The best point that was evaluated.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Best {
    #[serde(with = "super::exact::list")]
    pub z: Vec<f64>,
    #[serde(with = "super::exact")]
    pub value: f64,
}

impl Best {
    fn offer(&mut self, z: &[f64], value: f64) {
        if value < self.value {
            self.z.copy_from_slice(z);
            self.value = value;
        }
    }
}

/// The objective as the methods see it: it counts, keeps the best point, and lets nothing pass that is not finite.
pub(super) struct Evaluator<'a> {
    pub objective: &'a mut dyn Objective,
    pub counts: &'a mut Counts,
    pub best: &'a mut Best,
}

impl Evaluator<'_> {
    pub fn value(&mut self, z: &[f64]) -> Result<f64, Failure> {
        finite_variables(z)?;
        self.counts.values += 1;
        let value = finite_value(self.objective.value(z)?)?;
        self.best.offer(z, value);
        Ok(value)
    }

    pub fn point(&mut self, z: Vec<f64>) -> Result<Point, Failure> {
        finite_variables(&z)?;
        self.counts.gradients += 1;
        let mut gradient = vec![0.0; z.len()];
        let value = finite_value(self.objective.gradient(&z, &mut gradient)?)?;
        if let Some(index) = gradient.iter().position(|g| !g.is_finite()) {
            return Err(Failure::not_finite(format!("the gradient of variable {index}")));
        }
        self.best.offer(&z, value);
        Ok(Point { z, value, gradient })
    }

    /// Σ r².
    pub fn squares(&mut self, z: &[f64]) -> Result<f64, Failure> {
        finite_variables(z)?;
        self.counts.values += 1;
        let mut residuals = Vec::new();
        self.objective.residuals(z, &mut residuals)?;
        self.sum(z, &residuals)
    }

    /// Σ r², r, and the Jacobian row by row.
    pub fn jacobian(&mut self, z: &[f64]) -> Result<(f64, Vec<f64>, Vec<f64>), Failure> {
        finite_variables(z)?;
        self.counts.jacobians += 1;
        let (mut residuals, mut jacobian) = (Vec::new(), Vec::new());
        self.objective.jacobian(z, &mut residuals, &mut jacobian)?;
        let (rows, columns) = (residuals.len(), z.len());
        if jacobian.len() != rows * columns {
            let found = jacobian.len();
            return Err(Failure::fatal(format!("{rows} × {columns} Jacobian expected, got {found} numbers")));
        }
        if let Some(index) = jacobian.iter().position(|j| !j.is_finite()) {
            let (row, column) = (index / columns, index % columns);
            return Err(Failure::not_finite(format!(
                "the derivative of residual {row} by variable {column}"
            )));
        }
        let value = self.sum(z, &residuals)?;
        Ok((value, residuals, jacobian))
    }

    fn sum(&mut self, z: &[f64], residuals: &[f64]) -> Result<f64, Failure> {
        if let Some(index) = residuals.iter().position(|r| !r.is_finite()) {
            return Err(Failure::not_finite(format!("residual {index}")));
        }
        let value = finite_value(dot(residuals, residuals))?;
        self.best.offer(z, value);
        Ok(value)
    }
}

fn finite_variables(z: &[f64]) -> Result<(), Failure> {
    match z.iter().position(|z| !z.is_finite()) {
        Some(index) => Err(Failure::not_finite(format!("variable {index}"))),
        None => Ok(()),
    }
}

fn finite_value(value: f64) -> Result<f64, Failure> {
    if value.is_finite() { Ok(value) } else { Err(Failure::not_finite("the value")) }
}

/// A point with its value and gradient, all finite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Point {
    #[serde(with = "super::exact::list")]
    pub z: Vec<f64>,
    #[serde(with = "super::exact")]
    pub value: f64,
    #[serde(with = "super::exact::list")]
    pub gradient: Vec<f64>,
}

impl Point {
    /// A start that is not evaluated yet.
    pub fn unknown(z: &[f64]) -> Point {
        Point { z: z.to_vec(), value: f64::NAN, gradient: Vec::new() }
    }
}
