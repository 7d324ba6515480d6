//! How good a solution is: standard errors of a fit, and what the user should know before believing it.

use anyhow::Result;
use pullback_report::human;
use pullback_solve::Problem;
use pullback_solve::optimise::{Reason, Run};

/// A standard error that is more than this part of its value says that the data do not determine it.
const VAGUE: f64 = 0.5;

/// What is known of a solution beside its numbers.
pub struct Quality {
    /// The standard error of each variable, if measurements were fitted.
    pub errors: Option<Vec<f64>>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Quality {
    /// Of the best point of a run.
    pub fn new(problem: &mut Problem, run: &Run) -> Result<Quality> {
        let (z, _) = run.best();
        let errors = problem.standard_errors(z)?;
        let mut notes = Vec::new();
        if matches!(run.stopped(), Some(Reason::Flat { .. })) {
            notes.push(format!(
                "the gradient is zero at the start: {}; `pullback check` tells more",
                flat(problem)
            ));
        }
        if matches!(run.stopped(), Some(Reason::Plateau { .. })) {
            notes.push(
                "the gradient became zero on the way, as when what was to be hit is missed: take a smaller `rate`, or start \
                 elsewhere; the best point that was seen is given"
                    .to_owned(),
            );
        }
        let variables = problem.variables();
        let (values, before) = (variables.values(z), variables.values(&variables.start()));
        let (mut at_bounds, mut vague) = (Vec::new(), Vec::new());
        for (i, value) in values.iter().enumerate() {
            let (lower, upper) = variables.range(i);
            if *value <= lower || *value >= upper {
                at_bounds.push(variables.name(i).0);
            }
            // What is found to be about zero is known as well as it is small beside what it was taken for.
            let size = value.abs().max(before[i].abs());
            if errors.as_ref().is_some_and(|errors| errors[i] > VAGUE * size) {
                vague.push(variables.name(i).0);
            }
        }
        notes.extend(named(&at_bounds, "at a bound: the loss may be lower beyond it"));
        notes.extend(named(&vague, "hardly determined by the measurements: others fit as well"));
        Ok(Quality { errors, notes })
    }

    /// ` ± error`, if it is known.
    pub fn plus_minus(&self, i: usize) -> String {
        match self.errors.as_ref().map(|errors| errors[i]) {
            None => String::new(),
            Some(error) if error.is_finite() => format!(" ± {}", human(error)),
            Some(_) => " ± anything".to_owned(),
        }
    }
}

/// Why a gradient may be zero.
pub fn flat(problem: &Problem) -> String {
    let why = match problem.description().scene.simulation.truncate {
        Some(_) => "; `truncate` cuts what lies before its last window off",
        None => "",
    };
    format!(
        "nothing that may change reaches the loss, as when a control or a force is beyond its range, or when what moves is not \
         measured; or the start is a hilltop, or at bounds that hold all of it back{why}"
    )
}

/// Several names, and what they are.
fn named(names: &[&str], what: &str) -> Option<String> {
    const SHOWN: usize = 4;
    let is = if names.len() == 1 { "is" } else { "are" };
    match names {
        [] => None,
        few if few.len() <= SHOWN => Some(format!("{} {is} {what}", few.join(", "))),
        many => Some(format!("{} and {} more {is} {what}", many[..SHOWN].join(", "), many.len() - SHOWN)),
    }
}
