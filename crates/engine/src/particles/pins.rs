//! Pins: axes along which a particle does not accelerate.

use pullback_kernel::prelude::*;

use super::vec3 as to_vec3;
use crate::error::Error;
use crate::force::{Constraint, Site};

/// What is left of an acceleration: 1 for an axis that is free, 0 for one that is not.
#[kernel]
fn pin<R: Real>(a: Vec3<R>, free: Vec3<R>) -> Vec3<R> {
    vec3(a.x * free.x, a.y * free.y, a.z * free.z)
}

/// Which axes of each particle are fixed.
#[derive(Clone, Debug)]
pub struct Pins {
    /// x, y, z of each particle.
    pub fixed: Vec<[bool; 3]>,
}

impl Constraint for Pins {
    /// What is held does no work; what moves along a fixed axis does.
    fn conservative(&self, state: &[f64]) -> bool {
        let velocities = &state[state.len() / 2..];
        self.fixed.iter().flatten().zip(velocities).all(|(fixed, v)| !fixed || *v == 0.0)
    }

    fn constrain(&self, site: &mut Site<'_>, acceleration: Buffer<Vec3>) -> Result<Buffer<Vec3>, Error> {
        let free = |fixed: &[bool; 3]| to_vec3(fixed.map(|fixed| if fixed { 0.0 } else { 1.0 }));
        let free: Vec<Vec3> = self.fixed.iter().map(free).collect();
        let free = site.program.constant::<Vec3>(&site.name("free"), &free);
        let name = site.name("pinned");
        Ok(site.program.map::<pin>(&name, (acceleration.own(), free.own())))
    }
}
