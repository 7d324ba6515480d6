//! From physical values to the optimiser's vector and back.

use serde::{Deserialize, Serialize};

use super::{Bounds, Error, exact};

/// x = origin + size · z for every variable: `size` is a typical change of x, so that 1 is one of z.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    #[serde(with = "exact::list")]
    origin: Vec<f64>,
    #[serde(with = "exact::list")]
    size: Vec<f64>,
}

impl Scaling {
    /// With z = 0 at `origin`. Sizes are positive.
    pub fn new(origin: Vec<f64>, size: Vec<f64>) -> Result<Scaling, Error> {
        if origin.len() != size.len() {
            return Err(Error::Dimension { what: "the scaling", found: size.len(), expected: origin.len() });
        }
        for (index, (&origin, &size)) in origin.iter().zip(&size).enumerate() {
            let setting = |name: &str, value, expected| {
                Err(Error::Setting { name: format!("the {name} of variable {index}"), value, expected })
            };
            if !origin.is_finite() {
                return setting("origin", origin, "a number");
            }
            if !(size > 0.0 && size.is_finite()) {
                return setting("size", size, "a positive number");
            }
        }
        Ok(Scaling { origin, size })
    }

    /// x = z.
    pub fn identity(dimension: usize) -> Scaling {
        Scaling { origin: vec![0.0; dimension], size: vec![1.0; dimension] }
    }

    /// How many variables there are.
    pub fn dimension(&self) -> usize {
        self.size.len()
    }

    /// x of z.
    pub fn values(&self, z: &[f64]) -> Vec<f64> {
        z.iter().zip(&self.origin).zip(&self.size).map(|((z, origin), size)| origin + size * z).collect()
    }

    /// z of x.
    pub fn variables(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.origin).zip(&self.size).map(|((x, origin), size)| (x - origin) / size).collect()
    }

    /// Turns a gradient by x into one by z. Rows of a Jacobian are turned the same way.
    pub fn pull(&self, gradient: &mut [f64]) {
        for (g, size) in gradient.iter_mut().zip(&self.size) {
            *g *= size;
        }
    }

    /// Bounds of z from bounds of x. After rounding, [`Scaling::values`] of a z on its bound may lie beyond that of x
    /// by its last digit: project it where that matters.
    pub fn bounds(&self, bounds: &Bounds) -> Result<Bounds, Error> {
        if bounds.dimension() != self.dimension() {
            let (found, expected) = (bounds.dimension(), self.dimension());
            return Err(Error::Dimension { what: "the bounds", found, expected });
        }
        Bounds::new(self.variables(bounds.lower()), self.variables(bounds.upper()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_variables_gradients_and_bounds_fit_together() {
        let scaling = Scaling::new(vec![1000.0, -2.0], vec![50.0, 0.25]).expect("sizes are positive");
        assert_eq!(scaling.values(&[2.0, -4.0]), [1100.0, -3.0]);
        assert_eq!(scaling.variables(&[1100.0, -3.0]), [2.0, -4.0]);
        // f = x₀ + x₁² at x₁ = −3: df/dz = 50, −6 · 0.25.
        let mut gradient = [1.0, -6.0];
        scaling.pull(&mut gradient);
        assert_eq!(gradient, [50.0, -1.5]);
        let bounds = Bounds::new(vec![900.0, f64::NEG_INFINITY], vec![f64::INFINITY, 0.0]).expect("in order");
        let scaled = scaling.bounds(&bounds).expect("same length");
        assert_eq!(scaled.lower(), [-2.0, f64::NEG_INFINITY]);
        assert_eq!(scaled.upper(), [f64::INFINITY, 8.0]);
    }

    #[test]
    fn sizes_that_are_no_sizes_are_refused() {
        for size in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Scaling::new(vec![0.0], vec![size]).is_err());
        }
        assert!(Scaling::new(vec![f64::NAN], vec![1.0]).is_err());
        assert!(Scaling::new(vec![0.0], vec![]).is_err());
    }
}
