//! Working memory of operations that is no number of a program.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What all that run at once work with. It is given back for the next step, and allocates only where more is needed than ever
/// before.
#[derive(Debug, Default)]
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T: Default> Pool<T> {
    fn free(&self) -> MutexGuard<'_, Vec<T>> {
        // One that panicked has left none behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that is free; it holds what it held.
    pub fn take(&self) -> T {
        self.free().pop().unwrap_or_default()
    }

    /// For the next step.
    pub fn give_back(&self, one: T) {
        self.free().push(one);
    }
}
