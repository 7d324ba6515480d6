//! Checks of motions that are given.

use super::Number;
use super::scene::{controls, oscillation};
use crate::error::Invalid;
use crate::motion::{PrescribedMotion, Velocity};

/// Checks the numbers of one, in a simulation of so many steps.
pub(super) fn motion(path: &str, it: &PrescribedMotion, steps: usize) -> Result<(), Invalid> {
    match &it.velocity {
        Velocity::Steady(velocity) => {
            Number::any("velocity", "m/s").check_vector(&format!("{path}.velocity"), velocity)?;
        }
        Velocity::Control(given) => controls(path, given, steps, "m/s")?,
    }
    let Some((amplitude, given)) = &it.swing else { return Ok(()) };
    Number::any("amplitude", "m").check_vector(&format!("{path}.amplitude"), amplitude)?;
    oscillation(path, given)
}
