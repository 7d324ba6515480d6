//! Losses, optimisers, problems and diagnostics over rollouts.
