//! The methods and their settings.

use serde::{Deserialize, Serialize};

use super::{Error, exact};

/// How to minimise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Steps along the negative gradient, with momentum (Polyak's heavy ball).
    GradientDescent {
        /// The length of a step for a gradient of length 1.
        #[serde(with = "exact")]
        rate: f64,
        /// The share of the last step that is repeated, in [0, 1).
        #[serde(with = "exact")]
        momentum: f64,
    },
    /// Adam (Kingma and Ba, 2015): about `rate` per step and variable, whatever the size of the gradient.
    Adam {
        /// The length of a step in each variable.
        #[serde(with = "exact")]
        rate: f64,
        /// How much of the mean gradient is kept, in [0, 1); usually 0.9.
        #[serde(with = "exact")]
        beta1: f64,
        /// How much of the mean square of the gradient is kept, in [0, 1); usually 0.999.
        #[serde(with = "exact")]
        beta2: f64,
    },
    /// L-BFGS with bounds.
    Lbfgs {
        /// How many steps are remembered; usually 10.
        history: usize,
    },
    /// Levenberg-Marquardt, for sums of squares.
    LevenbergMarquardt {
        /// The first damping, relative to the squared columns of the Jacobian; usually 1e-3.
        #[serde(with = "exact")]
        damping: f64,
    },
    /// Evolution with an adapted covariance; needs no gradient.
    CmaEs {
        /// The first standard deviation of every variable: about a third of the range to search.
        #[serde(with = "exact")]
        sigma: f64,
        /// Candidates in a generation; 4 + ⌊3 ln n⌋ if not given.
        population: Option<usize>,
        /// Of the random numbers.
        seed: u64,
    },
}

impl Method {
    /// Gradient descent with momentum 0.9.
    pub fn gradient_descent(rate: f64) -> Method {
        Method::GradientDescent { rate, momentum: 0.9 }
    }

    /// Adam with its usual settings.
    pub fn adam(rate: f64) -> Method {
        Method::Adam { rate, beta1: 0.9, beta2: 0.999 }
    }

    /// L-BFGS that remembers ten steps.
    pub fn lbfgs() -> Method {
        Method::Lbfgs { history: 10 }
    }

    /// Levenberg-Marquardt with its usual damping.
    pub fn levenberg_marquardt() -> Method {
        Method::LevenbergMarquardt { damping: 1e-3 }
    }

    /// CMA-ES with its usual population.
    pub fn cma_es(sigma: f64, seed: u64) -> Method {
        Method::CmaEs { sigma, population: None, seed }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        match *self {
            Method::GradientDescent { rate, momentum } => {
                positive("rate", rate)?;
                share("momentum", momentum)
            }
            Method::Adam { rate, beta1, beta2 } => {
                positive("rate", rate)?;
                share("beta1", beta1)?;
                share("beta2", beta2)
            }
            Method::Lbfgs { history } => at_least("history", history, 1, "1 or more"),
            Method::LevenbergMarquardt { damping } => positive("damping", damping),
            Method::CmaEs { sigma, population, seed: _ } => {
                positive("sigma", sigma)?;
                at_least("population", population.unwrap_or(4), 4, "4 or more")
            }
        }
    }
}

fn positive(name: &str, value: f64) -> Result<(), Error> {
    require(value > 0.0 && value.is_finite(), name, value, "a positive number")
}

fn share(name: &str, value: f64) -> Result<(), Error> {
    require((0.0..1.0).contains(&value), name, value, "at least 0 and below 1")
}

fn at_least(name: &str, value: usize, least: usize, expected: &'static str) -> Result<(), Error> {
    require(value >= least, name, value as f64, expected)
}

fn require(holds: bool, name: &str, value: f64, expected: &'static str) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::Setting { name: name.to_string(), value, expected }) }
}
