//! From addresses to slices: the calls of a simulation, for one kind of numbers.

use pullback_kernel::prelude::Dual;

use crate::batch::{Sizes, duals, numbers, numbers_mut};
use crate::error::Failure;
use crate::pool::Number;
use crate::rollout::{self, Course};
use crate::simulation::Simulation;
use crate::step;

/// Addresses of x, u and theta, or of what belongs to them.
pub type Three = (usize, usize, usize);

/// The same as an array.
pub fn three(at: Three) -> [usize; 3] {
    [at.0, at.1, at.2]
}

// In all of these: the package passes arrays of these sizes, which do not overlap, and holds them until the call returns.
impl Simulation {
    pub fn forward<S: Number>(
        &self,
        sizes: Sizes,
        index: usize,
        at: Three,
        next: usize,
    ) -> Result<(), Failure> {
        // SAFETY: as above.
        let (at, next) = unsafe { (sizes.batch::<S>(three(at)), numbers_mut(next, sizes.worlds * sizes.x)) };
        Ok(step::forward(&self.0, &at, index, next)?)
    }

    pub fn pullback<S: Number>(
        &self,
        sizes: Sizes,
        index: usize,
        at: Three,
        next: (usize, usize),
        bars: Three,
    ) -> Result<(), Failure> {
        let len = sizes.worlds * sizes.x;
        // SAFETY: as above.
        let (at, mut bars) = unsafe { (sizes.batch::<S>(three(at)), sizes.bars(three(bars))) };
        // SAFETY: as above.
        let next = unsafe { (numbers(next.0, len), numbers(next.1, len)) };
        Ok(step::pullback(&self.0, &at, index, next, &mut bars, sizes.shared)?)
    }

    pub fn pushforward<S: Number>(
        &self,
        sizes: Sizes,
        index: usize,
        at: Three,
        dots: Three,
        next: (usize, usize),
    ) -> Result<(), Failure> {
        let len = sizes.worlds * sizes.x;
        let with = tangents::<S>(&sizes, at, dots);
        // SAFETY: as above.
        let (next, next_dot) = unsafe { (numbers_mut::<S>(next.0, len), numbers_mut::<S>(next.1, len)) };
        let at = sizes.over(&with[0], &with[1], &with[2]);
        Ok(step::pushforward(&self.0, &at, index, next, next_dot)?)
    }

    pub fn roll<S: Number>(
        &self,
        sizes: Sizes,
        course: Course,
        at: Three,
        states: usize,
    ) -> Result<(), Failure> {
        let len = sizes.worlds * course.seen() * sizes.x;
        // SAFETY: as above.
        let (at, states) = unsafe { (sizes.batch::<S>(three(at)), numbers_mut(states, len)) };
        Ok(rollout::forward(&self.0, &at, course, states)?)
    }

    pub fn pull<S: Number>(
        &self,
        sizes: Sizes,
        course: Course,
        at: Three,
        states: (usize, usize),
        bars: Three,
    ) -> Result<(), Failure> {
        let len = sizes.worlds * course.seen() * sizes.x;
        let known = if states.0 == 0 { 0 } else { len };
        // SAFETY: as above.
        let (at, mut bars) = unsafe { (sizes.batch::<S>(three(at)), sizes.bars(three(bars))) };
        // SAFETY: as above.
        let states = unsafe { (numbers(states.0, known), numbers(states.1, len)) };
        Ok(rollout::pullback(&self.0, &at, course, states, &mut bars, sizes.shared)?)
    }

    pub fn push<S: Number>(
        &self,
        sizes: Sizes,
        course: Course,
        at: Three,
        dots: Three,
        states: (usize, usize),
    ) -> Result<(), Failure> {
        let len = sizes.worlds * course.seen() * sizes.x;
        let with = tangents::<S>(&sizes, at, dots);
        // SAFETY: as above.
        let (states, dots) = unsafe { (numbers_mut::<S>(states.0, len), numbers_mut::<S>(states.1, len)) };
        let at = sizes.over(&with[0], &with[1], &with[2]);
        Ok(rollout::pushforward(&self.0, &at, course, states, dots)?)
    }
}

/// The three arrays with their tangents, as dual numbers.
fn tangents<S: Number>(sizes: &Sizes, at: Three, dots: Three) -> [Vec<Dual<f64>>; 3] {
    let (lens, at, dots) = (sizes.lens(), three(at), three(dots));
    [0, 1, 2].map(|i| {
        // SAFETY: the package passes arrays of these sizes, and holds them until the call returns.
        let (values, dots) = unsafe {
            (numbers::<S>(at[i], lens[i]), numbers::<S>(dots[i], if dots[i] == 0 { 0 } else { lens[i] }))
        };
        duals(values, dots)
    })
}
