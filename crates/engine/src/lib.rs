//! The engine of Pullback: model, state, step, rollout, each with its pullback.
