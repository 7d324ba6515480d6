//! Long work: without the interpreter's lock, with an ear for Ctrl-C, and with panics caught.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pullback_engine::stop_when;
use pyo3::prelude::*;

use crate::error::Failure;

/// How often Python is asked whether a signal has come.
const EVERY: Duration = Duration::from_millis(50);

/// Runs `work` while other Python threads run. Between steps Python's signal handlers get their turn: what they raise, as
/// Ctrl-C does, ends the work and is raised. A panic is a `PanicError`.
pub fn compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Failure> + Send) -> PyResult<T> {
    let (result, raised) = py.detach(|| {
        let (raised, asked) = (RefCell::new(None), Cell::new(None::<Instant>));
        let signalled = || {
            let now = Instant::now();
            if asked.get().is_some_and(|before| now - before < EVERY) {
                return false;
            }
            if asked.replace(Some(now)).is_none() {
                return false;
            }
            match Python::attach(|py| py.check_signals()) {
                Ok(()) => false,
                Err(error) => {
                    *raised.borrow_mut() = Some(error);
                    true
                }
            }
        };
        let result = stop_when(&signalled, || caught(work));
        (result, raised.into_inner())
    });
    match raised {
        Some(error) => Err(error),
        None => Ok(result?),
    }
}

/// Runs `work`, and makes an error of a panic. Whatever Python or XLA can call runs in here.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // What a panic leaves half done is thrown away: memory that was borrowed from a pool does not go back.
    let watched = AssertUnwindSafe(|| {
        if PANICS.load(Ordering::Relaxed) && PANICS.swap(false, Ordering::Relaxed) {
            let nothing: &[f64] = &[];
            // An index that is not there, as a bug would have it.
            return Err(Failure::Setting(nothing[std::hint::black_box(3)].to_string()));
        }
        work()
    });
    catch_unwind(watched).unwrap_or_else(|panic| Err(Failure::Panic(said(&panic))))
}

/// Looks at something that is at hand: [`caught`], with the interpreter's lock.
pub fn look<T>(at: impl FnOnce() -> T) -> PyResult<T> {
    Ok(caught(|| Ok(at()))?)
}

fn said(panic: &Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!("this is a bug in Pullback, please report it: {text}")
}

/// Does the next call panic?
static PANICS: AtomicBool = AtomicBool::new(false);

/// The next call of anything here panics, where the engine would: for the test that no panic crosses the boundary.
#[pyfunction]
pub fn panic_next() {
    PANICS.store(true, Ordering::Relaxed);
}
