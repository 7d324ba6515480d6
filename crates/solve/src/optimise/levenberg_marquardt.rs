//! Levenberg-Marquardt for sums of squares.
//!
//! Each step solves min |r + J δ|² + λ |D δ|² and is judged by its gain ratio, the decrease over the decrease that the
//! linear model promised. λ follows H. Nielsen, "Damping parameter in Marquardt's method" (1999); D, the largest norm
//! that each column of J has had, is J. Moré's, "The Levenberg-Marquardt algorithm" (1978), and makes the method
//! indifferent to the scale of the variables.

use serde::{Deserialize, Serialize};

use super::algorithm::{Advance, Algorithm, if_finite, not_finite};
use super::dense::{Matrix, Qr};
use super::objective::Evaluator;
use super::vector::{add_scaled, difference, dot, norm, relative_step};
use super::{Bounds, Failure, Reason, exact};

/// A promised decrease of this part of the value is lost in its rounding.
const ROUNDING: f64 = 1e-10;

/// Steps tried in one iteration.
const TRIALS: usize = 60;
/// The least gain ratio of a step that is taken.
const GAIN: f64 = 1e-4;
/// The most that one good step divides λ by. Nielsen has 3; 10 reaches quadratic convergence sooner.
const RELIEF: f64 = 0.1;
/// The least λ. It keeps the step of a singular Jacobian defined, and is too small to slow another one down.
const LEAST_DAMPING: f64 = 1e-20;

/// The state of Levenberg-Marquardt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LevenbergMarquardt {
    #[serde(with = "exact::list")]
    z: Vec<f64>,
    /// |r|².
    #[serde(with = "exact")]
    value: f64,
    /// R of J = Q R, and the part of Qᵀ r that J can change: all that a step needs to know of J and r.
    upper: Matrix,
    #[serde(with = "exact::list")]
    rotated: Vec<f64>,
    /// D.
    #[serde(with = "exact::list")]
    scale: Vec<f64>,
    /// λ, and what it is multiplied by after the next bad step.
    #[serde(with = "exact")]
    damping: f64,
    #[serde(with = "exact")]
    growth: f64,
}

impl LevenbergMarquardt {
    pub fn new(damping: f64, start: &[f64]) -> Self {
        let scale = vec![0.0; start.len()];
        let (upper, rotated) = (Matrix::zeros(0, start.len()), Vec::new());
        LevenbergMarquardt { z: start.to_vec(), value: f64::NAN, upper, rotated, scale, damping, growth: 2.0 }
    }

    /// Moves to z, where the objective is linearised anew.
    fn stand(&mut self, z: Vec<f64>, (value, mut residuals, jacobian): (f64, Vec<f64>, Vec<f64>)) {
        let qr = Qr::new(Matrix::from_rows(residuals.len(), z.len(), &jacobian));
        qr.rotate(&mut residuals);
        self.upper = qr.upper();
        residuals.truncate(self.upper.rows());
        self.rotated = residuals;
        for (column, scale) in self.scale.iter_mut().enumerate() {
            *scale = scale.max(norm(self.upper.column(column)));
        }
        self.value = value;
        self.z = z;
    }

    /// ∇|r|² = 2 Jᵀ r.
    fn gradient(&self) -> Vec<f64> {
        self.upper.transpose_times(&self.rotated).iter().map(|g| 2.0 * g).collect()
    }

    /// |r + J δ|², less the part of it that no δ changes.
    fn model(&self, step: &[f64]) -> f64 {
        let mut residuals = self.upper.times(step);
        add_scaled(&mut residuals, 1.0, &self.rotated);
        dot(&residuals, &residuals)
    }

    /// The damped step within the bounds. Variables that it would carry beyond a bound are put on it, and the step of
    /// the others is solved for again, until all are inside. Those that the gradient holds on a bound are left out from
    /// the start: every other variable on its bound can then move, and at least one does, because δ is a descent.
    fn step(&self, bounds: &Bounds, gradient: &[f64]) -> Option<Vec<f64>> {
        let mut step = vec![0.0; self.z.len()];
        let mut free: Vec<usize> =
            (0..self.z.len()).filter(|&i| !bounds.holds(i, self.z[i], gradient[i])).collect();
        while !free.is_empty() {
            let solution = self.solve(&step, &free)?;
            let beyond = |i: usize, d: f64| bounds.clamp(i, self.z[i] + d) != self.z[i] + d;
            if !free.iter().zip(&solution).any(|(&i, &d)| beyond(i, d)) {
                for (&i, &d) in free.iter().zip(&solution) {
                    step[i] = d;
                }
                break;
            }
            let mut still_free = Vec::new();
            for (&i, &d) in free.iter().zip(&solution) {
                if beyond(i, d) {
                    step[i] = bounds.clamp(i, self.z[i] + d) - self.z[i];
                } else {
                    still_free.push(i);
                }
            }
            free = still_free;
        }
        Some(step)
    }

    /// min |Qᵀr + R (step + δ)|² + λ |D δ|² over the free variables, by QR of the stacked matrix [R; √λ D]: that
    /// squares no condition number, as JᵀJ would.
    fn solve(&self, step: &[f64], free: &[usize]) -> Option<Vec<f64>> {
        let rows = self.upper.rows();
        let mut stacked = Matrix::zeros(rows + free.len(), free.len());
        for (column, &i) in free.iter().enumerate() {
            stacked.column_mut(column)[..rows].copy_from_slice(self.upper.column(i));
            // A variable that nothing depends on yet is held by a scale of 1.
            let scale = if self.scale[i] > 0.0 { self.scale[i] } else { 1.0 };
            *stacked.at(rows + column, column) = self.damping.sqrt() * scale;
        }
        let mut target = self.upper.times(step);
        add_scaled(&mut target, 1.0, &self.rotated);
        target.iter_mut().for_each(|t| *t = -*t);
        target.resize(rows + free.len(), 0.0);
        Qr::new(stacked).solve(target)
    }

    /// The gain ratio of a step to `z`, if the objective is finite there.
    fn gain(&self, z: &[f64], step: &[f64], objective: &mut Evaluator<'_>) -> Result<Option<f64>, Failure> {
        let promised = dot(&self.rotated, &self.rotated) - self.model(step);
        if promised <= 0.0 {
            return Ok(None);
        }
        let value = if_finite(objective.squares(z))?;
        Ok(value.map(|value| (self.value - value) / promised))
    }

    fn advance_to(
        &mut self,
        z: Vec<f64>,
        parts: (f64, Vec<f64>, Vec<f64>),
        gain: f64,
        bounds: &Bounds,
    ) -> Advance {
        let from = std::mem::take(&mut self.z);
        self.stand(z, parts);
        self.damping = (self.damping * RELIEF.max(1.0 - (2.0 * gain - 1.0).powi(3))).max(LEAST_DAMPING);
        self.growth = 2.0;
        let step = difference(&self.z, &from);
        let gradient = self.gradient();
        Advance {
            value: self.value,
            gradient_norm: Some(bounds.projected_gradient_norm(&self.z, &gradient)),
            flat: gradient.iter().all(|g| *g == 0.0),
            step: norm(&step),
            scale: Some(relative_step(&step, &self.z)),
            end: None,
        }
    }
}

impl Algorithm for LevenbergMarquardt {
    fn begin(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Advance, Failure> {
        match objective.jacobian(&self.z) {
            Ok(parts) => {
                self.stand(self.z.clone(), parts);
                let norm = bounds.projected_gradient_norm(&self.z, &self.gradient());
                Ok(Advance {
                    value: self.value,
                    gradient_norm: Some(norm),
                    flat: false,
                    step: 0.0,
                    scale: None,
                    end: None,
                })
            }
            Err(failure) => Ok(Advance::stay(f64::NAN, not_finite(failure, "at the start")?)),
        }
    }

    fn advance(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Advance, Failure> {
        let gradient = self.gradient();
        let mut most_promised = 0.0;
        for _ in 0..TRIALS {
            if let Some(step) = self.step(bounds, &gradient) {
                let mut z: Vec<f64> = self.z.iter().zip(&step).map(|(z, d)| z + d).collect();
                bounds.project(&mut z);
                if z == self.z {
                    break;
                }
                let promised = dot(&self.rotated, &self.rotated) - self.model(&step);
                most_promised = f64::max(most_promised, promised);
                if let Some(gain) = self.gain(&z, &step, objective)?.filter(|&gain| gain > GAIN)
                    && let Some(parts) = if_finite(objective.jacobian(&z))?
                {
                    return Ok(self.advance_to(z, parts, gain, bounds));
                }
            }
            self.damping *= self.growth;
            self.growth *= 2.0;
        }
        let end = match most_promised <= ROUNDING * self.value {
            true => Reason::Lowest { promised: most_promised / self.value.max(f64::MIN_POSITIVE) },
            false => Reason::Stagnated {
                why: "no step gives a lower value, though the Jacobian promises one: it may be wrong"
                    .to_string(),
            },
        };
        let mut advance = Advance::stay(self.value, end);
        advance.gradient_norm = Some(bounds.projected_gradient_norm(&self.z, &gradient));
        Ok(advance)
    }
}
