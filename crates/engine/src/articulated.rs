//! Articulated bodies: trees of rigid bodies in reduced coordinates.
//!
//! One file for each algorithm, all written for any scalar and for lanes of worlds. Motions and forces are spatial vectors in
//! world axes (Featherstone, Rigid Body Dynamics Algorithms, Springer 2008: RBDA), so that what hangs from a joint
//! is added up without being turned, and pullbacks are sums as well.

mod aba;
pub(crate) mod bodies;
mod centroid;
mod crba;
mod dense;
mod derivatives;
mod energy;
pub(crate) mod factor;
pub(crate) mod forward_dynamics;
mod held;
mod inverse_dynamics;
pub(crate) mod joint;
mod joint_forces;
pub(crate) mod kinematics;
mod log_cholesky;
mod manifold;
mod mass_matrix;
pub(crate) mod mechanism;
mod model;
mod params;
mod prepare;
pub(crate) mod push;
mod quantities;
pub(crate) mod rnea_pullback;
pub(crate) mod tree;
mod watch;
mod wiring;

pub use centroid::Centroid;
pub use forward_dynamics::Algorithm;
pub use log_cholesky::LogCholesky;
pub use mechanism::{DynamicsBars, DynamicsJacobians, Mechanism};
pub use model::Robot;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Lane, World};
pub use tree::{JointPlace, Tree};
pub use watch::Watch;

pub(crate) use energy::RobotEnergy;
pub(crate) use forward_dynamics::ForwardDynamics;
use kinematics::Configuration;
pub(crate) use manifold::{Combine, Manifold, Normalise, Rates, Retract};
pub(crate) use prepare::Prepared;
use rnea_pullback::Bars;
pub(crate) use wiring::Slots;

/// The buffers that the operations of a robot read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs {
    pub q: Buffer<f64>,
    pub v: Buffer<f64>,
    /// Of each node: its joint's frame in the frame of the node above.
    pub placements: Buffer<Pose>,
    /// Of each node: the inertia of what moves with it, in its frame.
    pub inertias: Buffer<Inertia>,
    /// Of each joint.
    pub armature: Buffer<f64>,
    pub gravity: Buffer<Vec3>,
}

impl Inputs {
    pub fn reads(&self) -> Vec<BufferUse> {
        vec![
            self.q.into(),
            self.v.into(),
            self.placements.into(),
            self.inertias.into(),
            self.armature.into(),
            self.gravity.into(),
        ]
    }

    #[inline(always)]
    pub fn configuration<'a, L: Lane>(&self, world: &World<'a, L>) -> Configuration<'a, L> {
        Configuration {
            q: world.values(self.q),
            v: world.values(self.v),
            placements: world.values(self.placements),
        }
    }

    #[inline(always)]
    pub fn bars<'a, L: Lane>(&self, world: &World<'a, L>) -> Bars<'a, L> {
        Bars {
            q: world.bars(self.q),
            v: world.bars(self.v),
            placements: world.bars(self.placements),
            inertias: world.bars(self.inertias),
            armature: world.bars(self.armature),
            gravity: world.bars(self.gravity),
        }
    }
}
