//! Gradient descent with momentum.

use serde::{Deserialize, Serialize};

use super::algorithm::{Advance, Algorithm, begin_at, not_finite};
use super::objective::{Evaluator, Point};
use super::vector::difference;
use super::{Bounds, Failure, exact};

/// Polyak's heavy ball (1964), with projection on the bounds:
/// zₖ₊₁ = P(zₖ + momentum (zₖ − zₖ₋₁) − rate ∇f(zₖ)).
/// The last step is what was walked after projection, so a variable on its bound gathers no speed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GradientDescent {
    #[serde(with = "exact")]
    rate: f64,
    #[serde(with = "exact")]
    momentum: f64,
    point: Point,
    #[serde(with = "exact::list")]
    last_step: Vec<f64>,
}

impl GradientDescent {
    pub fn new(rate: f64, momentum: f64, start: &[f64]) -> Self {
        GradientDescent { rate, momentum, point: Point::unknown(start), last_step: vec![0.0; start.len()] }
    }
}

impl Algorithm for GradientDescent {
    fn begin(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Advance, Failure> {
        begin_at(&mut self.point, objective, bounds)
    }

    fn advance(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Advance, Failure> {
        let mut z = self.point.z.clone();
        for i in 0..z.len() {
            z[i] += self.momentum * self.last_step[i] - self.rate * self.point.gradient[i];
        }
        bounds.project(&mut z);
        match objective.point(z) {
            Ok(next) => {
                let advance = Advance::to(&next, &self.point.z, bounds);
                self.last_step = difference(&next.z, &self.point.z);
                self.point = next;
                Ok(advance)
            }
            Err(failure) => {
                let place =
                    format!("after a step of gradient descent; a rate below {:e} may help", self.rate);
                Ok(Advance::stay(self.point.value, not_finite(failure, &place)?))
            }
        }
    }
}
