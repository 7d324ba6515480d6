//! Smooth maps from an unbounded variable to a bounded value.
//!
//! A map keeps a value inside its bounds without the optimiser knowing of them. [`Bounds`](super::Bounds) are the
//! better choice where the solution may lie on a bound: a map reaches it only at infinity, or with a vanishing
//! derivative.

use std::f64::consts::FRAC_PI_2;

use serde::{Deserialize, Serialize};

use super::{Error, exact};

/// A smooth increasing map from z to a value x within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// x = z.
    Identity,
    /// x = lower + size eᶻ: for values known to within factors.
    Exponential {
        /// x is above this.
        #[serde(with = "exact")]
        lower: f64,
        /// The distance from the bound at z = 0.
        #[serde(with = "exact")]
        size: f64,
    },
    /// x = lower + size ln(1 + eᶻ): like `size` z far from the bound.
    Above {
        /// x is above this.
        #[serde(with = "exact")]
        lower: f64,
        /// The slope far from the bound.
        #[serde(with = "exact")]
        size: f64,
    },
    /// x = upper − size ln(1 + e⁻ᶻ).
    Below {
        /// x is below this.
        #[serde(with = "exact")]
        upper: f64,
        /// The slope far from the bound.
        #[serde(with = "exact")]
        size: f64,
    },
    /// x = lower + (upper − lower) / (1 + e⁻ᶻ).
    Logistic {
        /// x is above this.
        #[serde(with = "exact")]
        lower: f64,
        /// x is below this.
        #[serde(with = "exact")]
        upper: f64,
    },
    /// x = (lower + upper)/2 + (upper − lower)/2 · sin z: reaches its bounds at z = ±π/2, and turns back there.
    /// Increasing, and inverted, for |z| ≤ π/2 only.
    Sine {
        /// x is at least this.
        #[serde(with = "exact")]
        lower: f64,
        /// x is at most this.
        #[serde(with = "exact")]
        upper: f64,
    },
}

impl Transform {
    /// The usual map for these bounds, ±infinity where there is none. `size` is a typical change of the value; two
    /// bounds set it themselves.
    pub fn within(lower: f64, upper: f64, size: f64) -> Result<Transform, Error> {
        let transform = match (lower.is_finite(), upper.is_finite()) {
            (false, false) => Transform::Identity,
            (true, false) => Transform::Above { lower, size },
            (false, true) => Transform::Below { upper, size },
            (true, true) => Transform::Logistic { lower, upper },
        };
        if lower.is_nan() || upper.is_nan() || lower >= upper {
            let expected = "above the lower bound";
            return Err(Error::Setting { name: "the upper bound".to_string(), value: upper, expected });
        }
        if !(size > 0.0 && size.is_finite()) {
            return Err(Error::Setting {
                name: "the size".to_string(),
                value: size,
                expected: "a positive number",
            });
        }
        Ok(transform)
    }

    /// The bounds of x, ±infinity where there is none.
    pub fn bounds(&self) -> (f64, f64) {
        match *self {
            Transform::Identity => (f64::NEG_INFINITY, f64::INFINITY),
            Transform::Exponential { lower, .. } | Transform::Above { lower, .. } => (lower, f64::INFINITY),
            Transform::Below { upper, .. } => (f64::NEG_INFINITY, upper),
            Transform::Logistic { lower, upper } | Transform::Sine { lower, upper } => (lower, upper),
        }
    }

    /// x. Never beyond its bounds, but on one where x has no digits left for the distance.
    pub fn value(&self, z: f64) -> f64 {
        let (lower, upper) = self.bounds();
        let (above, below) = self.distances(z);
        match *self {
            Transform::Identity => z,
            Transform::Exponential { .. } | Transform::Above { .. } => lower + above,
            Transform::Below { .. } => upper - below,
            // From the nearer bound, where a small distance keeps its digits.
            Transform::Logistic { .. } | Transform::Sine { .. } => {
                if above < below {
                    (lower + above).min(upper)
                } else {
                    (upper - below).max(lower)
                }
            }
        }
    }

    /// (x − lower, upper − x), infinite where there is no bound. Unlike x itself, they keep all their digits however
    /// near the bound is.
    pub fn distances(&self, z: f64) -> (f64, f64) {
        match *self {
            Transform::Identity => (f64::INFINITY, f64::INFINITY),
            Transform::Exponential { size, .. } => (size * z.exp(), f64::INFINITY),
            Transform::Above { size, .. } => (size * softplus(z), f64::INFINITY),
            Transform::Below { size, .. } => (f64::INFINITY, size * softplus(-z)),
            Transform::Logistic { lower, upper } => {
                ((upper - lower) * logistic(z), (upper - lower) * logistic(-z))
            }
            // (1 ± sin z)/2 = cos²((π/2 ∓ z)/2), which does not cancel.
            Transform::Sine { lower, upper } => (
                (upper - lower) * (0.5 * (FRAC_PI_2 - z)).cos().powi(2),
                (upper - lower) * (0.5 * (FRAC_PI_2 + z)).cos().powi(2),
            ),
        }
    }

    /// dx/dz.
    pub fn derivative(&self, z: f64) -> f64 {
        match *self {
            Transform::Identity => 1.0,
            Transform::Exponential { size, .. } => size * z.exp(),
            Transform::Above { size, .. } => size * logistic(z),
            Transform::Below { size, .. } => size * logistic(-z),
            Transform::Logistic { lower, upper } => (upper - lower) * logistic(z) * logistic(-z),
            Transform::Sine { lower, upper } => 0.5 * (upper - lower) * z.cos(),
        }
    }

    /// The z of a value. It is as exact as x is: rounding of x is divided by the derivative. Refuses a value beyond its
    /// bounds, or, except for a sine, on one.
    pub fn inverse(&self, x: f64) -> Result<f64, Error> {
        let (lower, upper) = self.bounds();
        match *self {
            Transform::Identity if x.is_finite() => Ok(x),
            Transform::Identity => Err(Error::Outside { value: x, lower, upper }),
            Transform::Exponential { .. }
            | Transform::Above { .. }
            | Transform::Below { .. }
            | Transform::Logistic { .. }
            | Transform::Sine { .. } => self
                .inverse_of_distances(x - lower, upper - x)
                .ok_or(Error::Outside { value: x, lower, upper }),
        }
    }

    /// The z of [`Transform::distances`]. `None` where there is no such z, and for the identity, which has no bounds.
    pub fn inverse_of_distances(&self, above: f64, below: f64) -> Option<f64> {
        let z = match *self {
            Transform::Identity => return None,
            Transform::Exponential { size, .. } => (above / size).ln(),
            Transform::Above { size, .. } => softplus_inverse(above / size),
            Transform::Below { size, .. } => -softplus_inverse(below / size),
            Transform::Logistic { .. } => above.ln() - below.ln(),
            // tan((z + π/2)/2) = √(above/below).
            Transform::Sine { .. } => 2.0 * above.sqrt().atan2(below.sqrt()) - FRAC_PI_2,
        };
        (z.is_finite() && above >= 0.0 && below >= 0.0).then_some(z)
    }
}

/// ln(1 + eᶻ), without overflow, and with all digits where it is tiny.
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

/// ln(eʸ − 1).
fn softplus_inverse(y: f64) -> f64 {
    if y < 1.0 { y.exp_m1().ln() } else { y + (-(-y).exp()).ln_1p() }
}

/// 1/(1 + e⁻ᶻ), without overflow, and with all digits where it is tiny.
fn logistic(z: f64) -> f64 {
    if z >= 0.0 {
        1.0 / (1.0 + (-z).exp())
    } else {
        let e = z.exp();
        e / (1.0 + e)
    }
}
