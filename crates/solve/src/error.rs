//! What can go wrong when a problem is made or solved.

/// An error, with the place in the file where one applies.
#[derive(thiserror::Error)]
pub enum Error {
    /// The description makes no sense.
    #[error(transparent)]
    Description(#[from] Box<pullback_scene::Error>),
    /// The engine cannot run it.
    #[error(transparent)]
    Engine(#[from] pullback_engine::Error),
    /// A rollout went wrong: a number that is not finite, an implicit step without a solution.
    #[error(transparent)]
    Rollout(Box<pullback_scene::Error>),
    /// The optimiser cannot go on.
    #[error(transparent)]
    Optimiser(#[from] crate::optimise::Error),
}

/// What people should read, also where `main` returns it.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
