//! The engine of Pullback: model, state, step, rollout, each with its pullback.

pub mod articulated;
mod attached;
mod contact;
mod controller;
mod dynamics;
mod energy;
mod error;
pub mod force;
mod integrate;
mod linearise;
mod model;
mod moved;
pub mod names;
pub mod particles;
mod preparation;
pub mod rollout;
pub mod soft;
mod step;
mod stepper;
mod stop;

pub use contact::{Between, ContactWatch, Touching};
pub use energy::Energy;
pub use error::{Error, Fast};
#[doc(hidden)]
pub use integrate::sparsity;
pub use linearise::Linearisation;
pub use model::Model;
pub use names::{Control, Params, State};
pub use pullback_scene::{Integrator, Memory, Snapshots};
pub use rollout::{AnyRollout, GpuRollout, Gradient, Loss, Options, Rollout, Start};
pub use step::{Scheme, Step};
pub use stepper::{Parts, Stepper};
pub use stop::{go_on, stop_when};
