//! Losses, optimisers, problems and diagnostics over rollouts.

pub mod check;
mod error;
pub mod loss;
pub mod optimise;
mod problem;
mod variables;

pub use error::Error;
pub use problem::{Problem, Way};
pub use variables::{Point, Variables};
