//! Sums over bodies: mass, centre of mass, momentum and energy.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder};

use super::bodies::Moving;

/// Sums over bodies that move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub(crate) struct Whole<R = f64> {
    /// Mass [kg].
    pub mass: R,
    /// Σ m c [kg·m], with c the centre of a body in the world.
    pub moment: Vec3<R>,
    /// Momentum about the world's origin, in world axes.
    pub momentum: Force<R>,
    /// Kinetic energy of bodies, without armature [J].
    pub kinetic: R,
}

/// A robot as a whole: its mass, its centre of mass and its momentum about that (Orin, Goswami & Lee 2013).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Centroid {
    /// Mass of everything that moves [kg].
    pub mass: f64,
    /// Centre of mass, in the world [m].
    pub center: Vec3,
    /// Linear momentum [kg·m/s] (`force`) and angular momentum about the centre of mass [kg·m²/s] (`torque`), in world axes.
    pub momentum: Force,
    /// Kinetic energy of the bodies, without armature [J].
    pub kinetic: f64,
}

/// The params of bodies that are summed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Masses {
    pub mass: Buffer<f64>,
    pub center: Buffer<Vec3>,
    pub inertia: Buffer<Vec3>,
    pub products: Buffer<Vec3>,
}

impl Masses {
    /// The buffers, and how many numbers each holds.
    pub fn uses(&self, p: &Builder) -> Vec<(BufferUse, usize)> {
        vec![
            (self.mass.into(), p.len(self.mass)),
            (self.center.into(), 3 * p.len(self.center)),
            (self.inertia.into(), 3 * p.len(self.inertia)),
            (self.products.into(), 3 * p.len(self.products)),
        ]
    }
}

/// One body's part; `moves` is 1, or 0 for what is welded to the world.
#[kernel]
fn part<R: Real>(
    pose: Pose<R>,
    motion: Motion<R>,
    mass: R,
    center: Vec3<R>,
    inertia: Vec3<R>,
    products: Vec3<R>,
    moves: R,
) -> Whole<R> {
    let m = mass * moves;
    let r = pose.rotation * center;
    let c = pose.position + r;
    let about_center =
        Sym3 { xx: inertia.x, yy: inertia.y, zz: inertia.z, xy: products.x, xz: products.y, yz: products.z };
    let w = transpose_times(pose.rotation, motion.angular);
    let spin = pose.rotation * (about_center * w) * moves;
    let linear = (motion.linear + cross(motion.angular, r)) * m;
    Whole {
        mass: m,
        moment: c * m,
        momentum: Force { torque: spin + cross(c, linear), force: linear },
        kinetic: 0.5 * dot(motion.linear + cross(motion.angular, r), linear)
            + 0.5 * dot(motion.angular, spin),
    }
}

impl Whole {
    /// Adds the sums to a program: one value.
    pub fn add(p: &mut Builder, name: &str, moving: Moving, given: &Masses, moves: &[f64]) -> Buffer<Whole> {
        let moves = p.constant::<f64>(&format!("{name}: what moves"), moves);
        p.reduce::<part>(
            name,
            (
                moving.poses.own(),
                moving.motions.own(),
                given.mass.own(),
                given.center.own(),
                given.inertia.own(),
                given.products.own(),
                moves.own(),
            ),
        )
    }

    /// About the centre of mass.
    pub fn centroid(&self) -> Centroid {
        let center = if self.mass > 0.0 { self.moment / self.mass } else { self.moment };
        let Force { torque, force } = self.momentum;
        let momentum = Force { torque: torque - cross(center, force), force };
        Centroid { mass: self.mass, center, momentum, kinetic: self.kinetic }
    }
}
