//! The forces of penalty contact: surfaces that are in each other push like springs and dampers, and slide against friction.
//!
//! With depth d = -gap, the velocity v of the second shape seen from the first and the normal n, the second shape feels
//!
//! - f = max(0, ke d - kd n·v) along n: it never pulls, and there is nothing above the surface,
//! - -min(μ f, kf |s|) s/|s| with s = v - (n·v) n: sticking like a damper up to Coulomb's limit.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Lane, World};

use super::contacts::Contacts;
use super::meetings::Near;
use super::place::At;
use super::touchable::{Mixed, Surface};
use pullback_collide::friction_per_speed;

/// The force on the second shape [N].
#[kernel]
pub(super) fn penalty<R: Real>(
    gap: R,
    normal: Vec3<R>,
    velocity: Vec3<R>,
    ke: R,
    kd: R,
    kf: R,
    mu: R,
) -> Vec3<R> {
    let mut force = vec3(0.0, 0.0, 0.0);
    if gap < 0.0 {
        let along = dot(normal, velocity);
        let f = max(-(ke * gap) - kd * along, 0.0);
        let slide = velocity - normal * along;
        let per_speed = friction_per_speed(f, length(slide), kf, mu);
        force = normal * f - slide * per_speed;
    }
    force
}

/// What pushes shapes apart that are in each other.
pub(super) struct Springs {
    pub contacts: Contacts,
    pub surfaces: Vec<Surface<At>>,
}

impl Springs {
    /// What forces depend on.
    pub fn reads(&self) -> impl Iterator<Item = BufferUse> {
        let springs = self.surfaces.iter().flat_map(|surface| &surface.springs).flat_map(Mixed::parts);
        self.contacts.uses().into_iter().chain(springs.filter_map(At::reads))
    }

    /// Stiffness, damping and friction slope of a pair.
    #[inline(always)]
    fn of<L: Lane>(&self, world: &World<'_, L>, near: &Near<'_>) -> [L; 3] {
        let [ke, kd, kf] = &self.surfaces[near.surface].springs;
        [ke.mean(world), kd.mean(world), kf.mean(world)]
    }

    /// The force on the second shape of contact `c` [N].
    #[inline(always)]
    pub fn force<L: Lane>(&self, world: &World<'_, L>, c: usize, near: &Near<'_>) -> Vec3<L> {
        let (at, [ke, kd, kf]) = (self.contacts.values(world), self.of(world, near));
        penalty(at.gap.get(c), at.normal.get(c), at.velocity.get(c), ke, kd, kf, at.mu.get(c))
    }

    /// Its pullback.
    #[inline(always)]
    pub fn pull<L: Lane>(&self, world: &World<'_, L>, c: usize, near: &Near<'_>, bar: Vec3<L>) {
        let (at, bars) = (self.contacts.values(world), self.contacts.bars(world));
        let [ke, kd, kf] = self.of(world, near);
        let (gap, normal, velocity, mu) = (at.gap.get(c), at.normal.get(c), at.velocity.get(c), at.mu.get(c));
        let (gap_bar, normal_bar, velocity_bar, ke_bar, kd_bar, kf_bar, mu_bar) =
            penalty::pullback(gap, normal, velocity, ke, kd, kf, mu, bar);
        bars.gap.add(c, gap_bar);
        bars.normal.add(c, normal_bar);
        bars.velocity.add(c, velocity_bar);
        bars.mu.add(c, mu_bar);
        let springs = &self.surfaces[near.surface].springs;
        for (spring, bar) in springs.iter().zip([ke_bar, kd_bar, kf_bar]) {
            spring.pull_mean(world, bar);
        }
    }
}
