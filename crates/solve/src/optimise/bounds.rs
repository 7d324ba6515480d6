//! Lower and upper bounds of the variables.

use serde::{Deserialize, Serialize};

use super::{Error, exact};

/// Lower and upper bounds, ±infinity where there is none. A variable with equal bounds is held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    #[serde(with = "exact::list")]
    lower: Vec<f64>,
    #[serde(with = "exact::list")]
    upper: Vec<f64>,
}

impl Bounds {
    /// Bounds of every variable.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>) -> Result<Bounds, Error> {
        if lower.len() != upper.len() {
            return Err(Error::Dimension {
                what: "the upper bound",
                found: upper.len(),
                expected: lower.len(),
            });
        }
        for (index, (&lower, &upper)) in lower.iter().zip(&upper).enumerate() {
            let setting = |name: &str, value, expected| {
                Err(Error::Setting { name: format!("the {name} bound of variable {index}"), value, expected })
            };
            if lower.is_nan() || lower == f64::INFINITY {
                return setting("lower", lower, "a number or minus infinity");
            }
            if upper.is_nan() || upper == f64::NEG_INFINITY {
                return setting("upper", upper, "a number or infinity");
            }
            if lower > upper {
                return setting("upper", upper, "at least the lower bound");
            }
        }
        Ok(Bounds { lower, upper })
    }

    /// No bounds.
    pub fn none(dimension: usize) -> Bounds {
        Bounds { lower: vec![f64::NEG_INFINITY; dimension], upper: vec![f64::INFINITY; dimension] }
    }

    /// How many variables there are.
    pub fn dimension(&self) -> usize {
        self.lower.len()
    }

    /// The lower bounds.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// The upper bounds.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// Whether no variable has any bound.
    pub fn are_none(&self) -> bool {
        self.lower.iter().all(|&l| l == f64::NEG_INFINITY) && self.upper.iter().all(|&u| u == f64::INFINITY)
    }

    /// Whether z lies inside or on the bounds.
    pub fn contain(&self, z: &[f64]) -> bool {
        z.iter().zip(&self.lower).zip(&self.upper).all(|((z, l), u)| l <= z && z <= u)
    }

    /// Moves z to the nearest point inside, variable by variable.
    pub fn project(&self, z: &mut [f64]) {
        for (i, z) in z.iter_mut().enumerate() {
            *z = self.clamp(i, *z);
        }
    }

    /// The nearest value that variable `i` may have. NaN stays NaN, which `f64::max` would hide.
    pub(super) fn clamp(&self, i: usize, value: f64) -> f64 {
        if value < self.lower[i] {
            self.lower[i]
        } else if value > self.upper[i] {
            self.upper[i]
        } else {
            value
        }
    }

    /// max |P(z − g) − z|, which is zero exactly where the conditions of Karush, Kuhn and Tucker hold: the gradient
    /// vanishes, or points out of the bound that its variable lies on.
    pub fn projected_gradient_norm(&self, z: &[f64], gradient: &[f64]) -> f64 {
        let moved = z.iter().zip(gradient).enumerate().map(|(i, (z, g))| (self.clamp(i, z - g) - z).abs());
        moved.fold(0.0, f64::max)
    }

    /// Whether variable `i` is held by the bound that descent would leave through.
    pub(super) fn holds(&self, i: usize, z: f64, gradient: f64) -> bool {
        (z <= self.lower[i] && gradient >= 0.0) || (z >= self.upper[i] && gradient <= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projected_gradient_is_zero_exactly_at_kkt_points() {
        let bounds = Bounds::new(vec![0.0, f64::NEG_INFINITY], vec![2.0, 1.0]).expect("in order");
        assert_eq!(bounds.projected_gradient_norm(&[0.0, 1.0], &[3.0, -4.0]), 0.0);
        assert_eq!(bounds.projected_gradient_norm(&[0.0, 1.0], &[-0.5, -4.0]), 0.5);
        assert_eq!(bounds.projected_gradient_norm(&[0.0, 1.0], &[-50.0, 0.25]), 2.0);
    }

    #[test]
    fn wrong_bounds_are_refused() {
        assert!(Bounds::new(vec![1.0], vec![0.0]).is_err());
        assert!(Bounds::new(vec![f64::NAN], vec![0.0]).is_err());
        assert!(Bounds::new(vec![0.0], vec![f64::NAN]).is_err());
        assert!(Bounds::new(vec![f64::INFINITY], vec![f64::INFINITY]).is_err());
        assert!(Bounds::new(vec![0.0], vec![]).is_err());
        assert!(Bounds::new(vec![1.0], vec![1.0]).is_ok());
    }

    #[test]
    fn infinities_survive_json() {
        let bounds = Bounds::new(vec![f64::NEG_INFINITY, 0.1], vec![0.3, f64::INFINITY]).expect("in order");
        let text = serde_json::to_string(&bounds).expect("can be written");
        assert_eq!(serde_json::from_str::<Bounds>(&text).expect("and read"), bounds);
    }
}
