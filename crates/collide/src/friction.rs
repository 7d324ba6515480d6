//! The friction of penalties: relaxed Coulomb.

use pullback_kernel::prelude::*;

/// Friction per sliding speed [N·s/m] under a load f: min(μ f, kf |s|) / |s|, sticking like a damper up to Coulomb's limit.
#[kernel]
pub fn friction_per_speed<R: Real>(load: R, speed: R, kf: R, mu: R) -> R {
    let mut per_speed = kf;
    // Without a load or without friction nothing sticks, also at rest.
    if mu * load <= 0.0 {
        per_speed = 0.0;
    }
    // At rest it sticks: |s| = 0 is no point where the derivative is missing.
    if 0.0 < speed && mu * load < kf * speed {
        per_speed = mu * load / speed;
    }
    per_speed
}
