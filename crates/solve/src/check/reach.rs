//! How far a gradient reaches: a derivative that is right for tiny steps may say nothing of those that an optimiser takes.

use super::failed;
use crate::Error;
use crate::optimise::{Failure, Objective};
use crate::problem::Problem;

/// Changes of the loss along the gradient, beside what the gradient says of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Reach {
    /// The length of a step, for the variable that changes most, in its scale; and the change of the loss from as far behind to
    /// as far ahead, over what the gradient promises: 1 where it holds. Steps that bounds or the motion do not allow are left out.
    pub steps: Vec<(f64, f64)>,
}

/// The lengths of steps.
const STEPS: [f64; 4] = [1e-3, 1e-2, 1e-1, 1.0];
/// A gradient that is off by more than this factor leads nowhere in particular.
const OF_USE: f64 = 2.0;

impl Reach {
    /// Of a problem at z. Where the gradient is zero there is no way to go.
    pub fn at(problem: &mut Problem, z: &[f64]) -> Result<Reach, Error> {
        let mut gradient = vec![0.0; z.len()];
        problem.gradient(z, &mut gradient).map_err(failed)?;
        let most = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        let mut steps = Vec::new();
        if most == 0.0 {
            return Ok(Reach { steps });
        }
        let promised: f64 = gradient.iter().map(|g| g * g / most).sum();
        for h in STEPS {
            let moved =
                |by: f64| -> Vec<f64> { z.iter().zip(&gradient).map(|(z, g)| z + by * g / most).collect() };
            if let (Some(ahead), Some(behind)) = (value(problem, &moved(h))?, value(problem, &moved(-h))?) {
                steps.push((h, (ahead - behind) / (2.0 * h * promised)));
            }
        }
        Ok(Reach { steps })
    }

    /// The longest step up to which the gradient is of use; `None`: not even the shortest.
    pub fn of_use(&self) -> Option<f64> {
        let holds = |(_, part): &&(f64, f64)| (1.0 / OF_USE..=OF_USE).contains(part);
        self.steps.iter().take_while(holds).last().map(|(h, _)| *h)
    }
}

/// The loss at a point, if that is inside the bounds and the motion does not blow up.
fn value(problem: &mut Problem, z: &[f64]) -> Result<Option<f64>, Error> {
    let mut inside = z.to_vec();
    problem.variables().bounds().project(&mut inside);
    if inside != z {
        return Ok(None);
    }
    match problem.value(z) {
        Ok(value) => Ok(Some(value)),
        Err(failure @ Failure::Fatal(_)) => Err(failed(failure)),
        Err(_) => Ok(None),
    }
}

impl std::fmt::Display for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some((shortest, _)) = self.steps.first() else {
            return f.write_str("not known: the gradient is zero, or there is no room around the start");
        };
        let parts: Vec<String> = self.steps.iter().map(|(h, part)| format!("{part:.3} at {h}")).collect();
        let parts = format!("the loss changes by {} of what it promises", parts.join(", "));
        match self.of_use() {
            Some(h) => write!(f, "of use for steps up to {h} of the scale: {parts}"),
            None => write!(
                f,
                "of NO USE for steps of {shortest} of the scale or more: {parts}; kinks or impacts lie close by"
            ),
        }
    }
}
