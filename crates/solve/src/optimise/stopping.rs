//! When a run ends, and why it did.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::algorithm::Advance;
use super::{Error, exact};

/// When a run ends. Whichever holds first ends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// At most so many iterations.
    pub iterations: usize,
    /// The ∞-norm of the projected gradient in z at which the run has converged.
    #[serde(with = "exact")]
    pub tolerance: f64,
    /// The size of a step, relative to max(1, |z|∞), below which going on is in vain. Only the methods that choose
    /// the length of their steps (L-BFGS, Levenberg-Marquardt, and the width of CMA-ES) stop for it: a short step of
    /// gradient descent or Adam says something about the rate, not about the minimum.
    #[serde(with = "exact")]
    pub step_tolerance: f64,
    /// A value that is good enough.
    #[serde(with = "exact::option")]
    pub target: Option<f64>,
    /// Stop when the best value has not fallen by `improvement` for so many iterations.
    pub patience: Option<usize>,
    /// By how much the best value has to fall to count, relative to its magnitude.
    #[serde(with = "exact")]
    pub improvement: f64,
}

impl Default for Stopping {
    fn default() -> Self {
        Stopping {
            iterations: 1000,
            tolerance: 1e-6,
            step_tolerance: 1e-12,
            target: None,
            patience: None,
            improvement: 1e-9,
        }
    }
}

impl Stopping {
    pub(super) fn check(&self) -> Result<(), Error> {
        let settings = [
            ("tolerance", self.tolerance),
            ("step_tolerance", self.step_tolerance),
            ("improvement", self.improvement),
        ];
        for (name, value) in settings {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::Setting { name: name.to_string(), value, expected: "0 or more" });
            }
        }
        match self.target {
            Some(value) if value.is_nan() => {
                Err(Error::Setting { name: "target".to_string(), value, expected: "a number" })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether the rules end a run after this iteration.
    pub(super) fn judge(
        &self,
        advance: &Advance,
        best: f64,
        iteration: usize,
        unimproved: usize,
    ) -> Option<Reason> {
        if let Some(target) = self.target.filter(|&target| best <= target) {
            return Some(Reason::Target { value: best, target });
        }
        // Where the value is 0 already, as of squares that all fit, there is nothing to follow indeed.
        if iteration == 0 && advance.gradient_norm == Some(0.0) && best != 0.0 {
            return Some(Reason::Flat { value: best });
        }
        if iteration > 0 && advance.flat && advance.value != 0.0 {
            return Some(Reason::Plateau { value: advance.value });
        }
        if let Some(norm) = advance.gradient_norm.filter(|&norm| norm <= self.tolerance) {
            return Some(Reason::Converged { norm });
        }
        if let Some(reason) = &advance.end {
            return Some(reason.clone());
        }
        if let Some(step) = advance.scale.filter(|&step| step <= self.step_tolerance) {
            return Some(Reason::SmallStep { step });
        }
        if let Some(patience) = self.patience.filter(|&patience| unimproved >= patience) {
            let why = format!("the best value, {best:e}, has not improved for {patience} iterations");
            return Some(Reason::Stagnated { why });
        }
        (iteration >= self.iterations).then_some(Reason::Iterations { limit: self.iterations })
    }

    /// Whether `best` is enough below `reference` to count as an improvement.
    pub(super) fn improves(&self, best: f64, reference: f64) -> bool {
        best < reference && (reference.is_infinite() || reference - best > self.improvement * reference.abs())
    }
}

/// Why a run ended. Its `Display` is a sentence for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reason {
    /// The projected gradient is as small as asked.
    Converged {
        /// Its ∞-norm.
        #[serde(with = "exact")]
        norm: f64,
    },
    /// The projected gradient is exactly zero where the run starts: there is nothing to follow.
    Flat {
        /// The value there.
        #[serde(with = "exact")]
        value: f64,
    },
    /// The gradient, of all variables, has become exactly zero where the value is not: nothing reaches the loss any more, or it
    /// is a minimum to the last bit.
    Plateau {
        /// The value there.
        #[serde(with = "exact")]
        value: f64,
    },
    /// Steps have become too short to matter.
    SmallStep {
        /// The size of the last one relative to max(1, |z|∞).
        #[serde(with = "exact")]
        step: f64,
    },
    /// No step promises a decrease that rounding would show.
    Lowest {
        /// The greatest decrease that one promises, relative to the value.
        #[serde(with = "exact")]
        promised: f64,
    },
    /// The best value is as good as asked.
    Target {
        /// The best value.
        #[serde(with = "exact")]
        value: f64,
        /// What was asked.
        #[serde(with = "exact")]
        target: f64,
    },
    /// All iterations are used up.
    Iterations {
        /// How many there were.
        limit: usize,
    },
    /// No progress can be made.
    Stagnated {
        /// How that shows.
        why: String,
    },
    /// The objective is not finite, and the method cannot go around.
    NotFinite {
        /// What is not finite, and where.
        place: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Converged { norm } => {
                write!(f, "Converged: the projected gradient has shrunk to {norm:.1e}.")
            }
            Reason::Flat { value } => {
                write!(
                    f,
                    "Nothing was tried: the gradient is exactly zero at the start, where the value is {value:.3e}."
                )
            }
            Reason::Plateau { value } => {
                write!(
                    f,
                    "The gradient is exactly zero where it has come to, at the value {value:.3e}: unless that is a minimum to the \
                     last bit, nothing reaches the loss any more. Take shorter steps, or start elsewhere."
                )
            }
            Reason::SmallStep { step } => {
                write!(f, "Steps have become too short to matter: {step:.1e} of z.")
            }
            Reason::Lowest { promised } => {
                write!(f, "Converged: no step promises to lower the value by more than {promised:.1e} of it.")
            }
            Reason::Target { value, target } => {
                write!(f, "The target {target:e} is reached: the value is {value:e}.")
            }
            Reason::Iterations { limit } => write!(f, "All {limit} iterations are used up."),
            Reason::Stagnated { why } => write!(f, "No more progress: {why}."),
            Reason::NotFinite { place } => write!(f, "The objective is not finite: {place}."),
        }
    }
}
