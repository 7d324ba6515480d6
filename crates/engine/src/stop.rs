//! Ending long work early: before every step, forwards or backwards, someone may be asked whether it should go on.

use std::cell::Cell;

use crate::error::Error;

/// Asked before every step; true: stop.
type Ask = dyn Fn() -> bool;

thread_local! {
    /// Who is asked on this thread. Steps begin on the thread that asked for them, whatever threads they use inside.
    static ASKED: Cell<Option<*const Ask>> = const { Cell::new(None) };
}

/// Runs `work`. Steps that it makes on this thread ask first; where `ask` says true they do not begin, and everything that
/// is built on them (rollouts, linearisations, problems, checks) ends with [`Error::Stopped`].
///
/// For what cannot be foreseen: a key that was pressed, a deadline.
///
/// ```
/// use pullback_engine::rollout::NoLoss;
/// use pullback_engine::{Error, Options, Rollout, Start, Step, stop_when};
/// use pullback_scene::{Particles, Scene};
/// use std::cell::Cell;
///
/// let scene = Scene { particles: vec![Particles::single("ball", [0.0; 3], 0.2)], ..Scene::default() };
/// let step = Step::of(&scene)?;
/// let mut rollout = Rollout::<f64>::new(&step, Options::of(&scene))?;
/// let (state, params) = (step.model().state(), step.model().params());
/// let asked = Cell::new(0);
/// let third = || asked.replace(asked.get() + 1) == 2;
/// let ended = stop_when(&third, || rollout.value(&Start::new(&state, &[], &params), &NoLoss).map(|_| ()));
/// assert!(matches!(ended, Err(Error::Stopped { step: 2 })));
/// # Ok::<(), Error>(())
/// ```
pub fn stop_when<T>(ask: &dyn Fn() -> bool, work: impl FnOnce() -> T) -> T {
    /// Puts back whoever was asked before, also where `work` panics.
    struct Before(Option<*const Ask>);
    impl Drop for Before {
        fn drop(&mut self) {
            ASKED.set(self.0);
        }
    }
    // SAFETY: only the lifetime changes. The pointer is taken away again below, before `ask` ends.
    let ask = unsafe { std::mem::transmute::<&dyn Fn() -> bool, &'static Ask>(ask) };
    let _before = Before(ASKED.replace(Some(ask)));
    work()
}

/// An error if whoever is asked wants to stop before step number `step`: for long work of one's own that makes no steps.
pub fn go_on(step: usize) -> Result<(), Error> {
    // SAFETY: whoever is asked lives as long as `stop_when` runs, which takes the pointer away when it ends.
    match ASKED.get().is_some_and(|ask| unsafe { (*ask)() }) {
        true => Err(Error::Stopped { step }),
        false => Ok(()),
    }
}
