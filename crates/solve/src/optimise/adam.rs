//! Adam: steps of a set length, from running means of the gradient and its square.

use serde::{Deserialize, Serialize};

use super::algorithm::{Advance, Algorithm, begin_at, not_finite};
use super::objective::{Evaluator, Point};
use super::{Bounds, Failure, exact};

/// Keeps the step finite where every gradient has been zero (ε of the paper).
const EPSILON: f64 = 1e-8;

/// Kingma and Ba, "Adam: a method for stochastic optimization" (2015), algorithm 1, with projection on the bounds:
/// m ← β₁ m + (1 − β₁) g, v ← β₂ v + (1 − β₂) g², z ← P(z − rate m̂ / (√v̂ + ε)), where m̂ = m / (1 − β₁ᵗ) and
/// v̂ = v / (1 − β₂ᵗ).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Adam {
    #[serde(with = "exact")]
    rate: f64,
    #[serde(with = "exact")]
    beta1: f64,
    #[serde(with = "exact")]
    beta2: f64,
    point: Point,
    #[serde(with = "exact::list")]
    mean: Vec<f64>,
    #[serde(with = "exact::list")]
    mean_square: Vec<f64>,
    /// β₁ᵗ and β₂ᵗ.
    #[serde(with = "exact")]
    beta1_power: f64,
    #[serde(with = "exact")]
    beta2_power: f64,
}

impl Adam {
    pub fn new(rate: f64, beta1: f64, beta2: f64, start: &[f64]) -> Self {
        let zeros = vec![0.0; start.len()];
        Adam {
            rate,
            beta1,
            beta2,
            point: Point::unknown(start),
            mean: zeros.clone(),
            mean_square: zeros,
            beta1_power: 1.0,
            beta2_power: 1.0,
        }
    }
}

impl Algorithm for Adam {
    fn begin(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Advance, Failure> {
        begin_at(&mut self.point, objective, bounds)
    }

    fn advance(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Advance, Failure> {
        self.beta1_power *= self.beta1;
        self.beta2_power *= self.beta2;
        let mut z = self.point.z.clone();
        for (i, &g) in self.point.gradient.iter().enumerate() {
            self.mean[i] = self.beta1 * self.mean[i] + (1.0 - self.beta1) * g;
            self.mean_square[i] = self.beta2 * self.mean_square[i] + (1.0 - self.beta2) * g * g;
            let mean = self.mean[i] / (1.0 - self.beta1_power);
            let mean_square = self.mean_square[i] / (1.0 - self.beta2_power);
            z[i] -= self.rate * mean / (mean_square.sqrt() + EPSILON);
        }
        bounds.project(&mut z);
        match objective.point(z) {
            Ok(next) => {
                let advance = Advance::to(&next, &self.point.z, bounds);
                self.point = next;
                Ok(advance)
            }
            Err(failure) => {
                let place = format!("after a step of Adam; a rate below {:e} may help", self.rate);
                Ok(Advance::stay(self.point.value, not_finite(failure, &place)?))
            }
        }
    }
}
