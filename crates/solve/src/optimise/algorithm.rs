//! What the methods have in common.

use serde::{Deserialize, Serialize};

use super::adam::Adam;
use super::cma_es::CmaEs;
use super::gradient_descent::GradientDescent;
use super::lbfgs::Lbfgs;
use super::levenberg_marquardt::LevenbergMarquardt;
use super::objective::{Evaluator, Point};
use super::vector::{difference, norm};
use super::{Bounds, Failure, Method, Reason};

/// A method and everything that its next iteration depends on.
pub(super) trait Algorithm {
    /// Evaluates the start.
    fn begin(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Advance, Failure>;

    /// One iteration.
    fn advance(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Advance, Failure>;
}

/// What an iteration came to.
#[derive(Clone, Debug)]
pub(super) struct Advance {
    /// The value where the method stands now.
    pub value: f64,
    /// The ∞-norm of the projected gradient there, if the method knows it.
    pub gradient_norm: Option<f64>,
    /// Is it known to be zero, that of variables at their bounds included?
    pub flat: bool,
    /// The length of the step that led there.
    pub step: f64,
    /// A size relative to max(1, |z|∞) which says, when tiny, that going on is in vain.
    pub scale: Option<f64>,
    /// Why the method cannot go on.
    pub end: Option<Reason>,
}

impl Advance {
    /// Standing at `point`, having come from `from`.
    pub fn to(point: &Point, from: &[f64], bounds: &Bounds) -> Advance {
        Advance {
            value: point.value,
            gradient_norm: Some(bounds.projected_gradient_norm(&point.z, &point.gradient)),
            flat: point.gradient.iter().all(|g| *g == 0.0),
            step: norm(&difference(&point.z, from)),
            scale: None,
            end: None,
        }
    }

    /// Still where it was.
    pub fn stay(value: f64, end: Reason) -> Advance {
        Advance { value, gradient_norm: None, flat: false, step: 0.0, scale: None, end: Some(end) }
    }
}

/// Evaluates the start of a method that stands at a point.
pub(super) fn begin_at(
    point: &mut Point,
    objective: &mut Evaluator<'_>,
    bounds: &Bounds,
) -> Result<Advance, Failure> {
    match objective.point(point.z.clone()) {
        Ok(start) => {
            *point = start;
            Ok(Advance::to(point, &point.z, bounds))
        }
        Err(failure) => Ok(Advance::stay(f64::NAN, not_finite(failure, "at the start")?)),
    }
}

/// The reason for stopping where the objective is not finite; any other failure is passed on.
pub(super) fn not_finite(failure: Failure, place: &str) -> Result<Reason, Failure> {
    match failure {
        Failure::NotFinite { what } => Ok(Reason::NotFinite { place: format!("{what}, {place}") }),
        other @ (Failure::NotLeastSquares | Failure::Fatal(_)) => Err(other),
    }
}

/// A result that may be missing because something is not finite; any other failure is passed on.
pub(super) fn if_finite<T>(result: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::NotFinite { .. }) => Ok(None),
        Err(other @ (Failure::NotLeastSquares | Failure::Fatal(_))) => Err(other),
    }
}

/// The state of any method.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    GradientDescent(GradientDescent),
    Adam(Adam),
    Lbfgs(Lbfgs),
    LevenbergMarquardt(LevenbergMarquardt),
    CmaEs(Box<CmaEs>),
}

impl State {
    pub fn new(method: &Method, start: &[f64]) -> State {
        match *method {
            Method::GradientDescent { rate, momentum } => {
                State::GradientDescent(GradientDescent::new(rate, momentum, start))
            }
            Method::Adam { rate, beta1, beta2 } => State::Adam(Adam::new(rate, beta1, beta2, start)),
            Method::Lbfgs { history } => State::Lbfgs(Lbfgs::new(history, start)),
            Method::LevenbergMarquardt { damping } => {
                State::LevenbergMarquardt(LevenbergMarquardt::new(damping, start))
            }
            Method::CmaEs { sigma, population, seed } => {
                State::CmaEs(Box::new(CmaEs::new(sigma, population, seed, start)))
            }
        }
    }

    pub fn algorithm(&mut self) -> &mut dyn Algorithm {
        match self {
            State::GradientDescent(state) => state,
            State::Adam(state) => state,
            State::Lbfgs(state) => state,
            State::LevenbergMarquardt(state) => state,
            State::CmaEs(state) => state.as_mut(),
        }
    }
}
