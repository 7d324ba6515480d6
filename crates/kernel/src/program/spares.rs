//! Working memory of operations that is no number of a program.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What all that run at once work with. It is given back for the next step, and allocates only where more is needed than ever
/// before.
#[derive(Debug)]
pub struct Spares<T>(Mutex<Vec<T>>);

impl<T> Default for Spares<T> {
    fn default() -> Self {
        Spares(Mutex::default())
    }
}

impl<T> Spares<T> {
    fn free(&self) -> MutexGuard<'_, Vec<T>> {
        // One that panicked has left none behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that is free, which holds what it held, or a new one.
    pub fn take(&self, new: impl FnOnce() -> T) -> T {
        let free = self.free().pop();
        free.unwrap_or_else(new)
    }

    /// For the next step.
    pub fn give_back(&self, one: T) {
        let mut free = self.free();
        free.reserve_exact(1);
        free.push(one);
    }
}
