//! Losses, optimisers, problems and diagnostics over rollouts.

pub mod optimise;
