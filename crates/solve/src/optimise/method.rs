//! The settings of methods.

use pullback_scene::Method;

use super::Error;

/// Does a method make sense?
pub(super) fn check(method: &Method) -> Result<(), Error> {
    match *method {
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
