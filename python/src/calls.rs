//! From addresses to slices: the calls of a simulation, for one kind of numbers.

use pullback_kernel::prelude::Dual;

use crate::batch::{Sizes, duals, numbers, numbers_mut};
use crate::error::Failure;
use crate::pool::Number;
use crate::rollout::{self, Course};
use crate::simulation::Simulation;
use crate::step::{self, Clock};

/// Addresses of x, u and theta, or of what belongs to them.
pub type Three = (usize, usize, usize);

/// The address of the numbers of steps, `int32`, and how many there are: see [`Clock`].
pub type Index = (usize, usize);

/// # Safety
///
/// As for [`numbers`].
pub unsafe fn clock<'a>(index: Index) -> Result<Clock<'a>, Failure> {
    // SAFETY: the caller promises it.
    Clock::new(unsafe { numbers(index.0, index.1)? })
}

/// The same as an array.
pub fn three(at: Three) -> [usize; 3] {
    [at.0, at.1, at.2]
}

// In all of these: the package passes arrays of these sizes, which do not overlap, and holds them until the call returns.
impl Simulation {
    pub fn forward<S: Number>(
        &self,
        sizes: Sizes,
        index: Index,
        at: Three,
        next: usize,
    ) -> Result<(), Failure> {
        // SAFETY: as above.
        let (at, next) =
            unsafe { (sizes.batch::<S>(three(at))?, numbers_mut(next, sizes.worlds * sizes.x)?) };
        // SAFETY: as above.
        let clock = unsafe { clock(index)? };
        Ok(step::forward(&self.0, &at, clock, next)?)
    }

    pub fn pullback<S: Number>(
        &self,
        sizes: Sizes,
        index: Index,
        at: Three,
        next: (usize, usize),
        bars: Three,
    ) -> Result<(), Failure> {
        let len = sizes.worlds * sizes.x;
        // SAFETY: as above.
        let (at, mut bars) = unsafe { (sizes.batch::<S>(three(at))?, sizes.bars(three(bars))?) };
        // SAFETY: as above.
        let (next, clock) = unsafe { ((numbers(next.0, len)?, numbers(next.1, len)?), clock(index)?) };
        Ok(step::pullback(&self.0, &at, clock, next, &mut bars, sizes.shared)?)
    }

    pub fn pushforward<S: Number>(
        &self,
        sizes: Sizes,
        index: Index,
        at: Three,
        dots: Three,
        next: (usize, usize),
    ) -> Result<(), Failure> {
        let len = sizes.worlds * sizes.x;
        let with = tangents::<S>(&sizes, at, dots)?;
        // SAFETY: as above.
        let (next, next_dot) = unsafe { (numbers_mut::<S>(next.0, len)?, numbers_mut::<S>(next.1, len)?) };
        let at = sizes.over(&with[0], &with[1], &with[2]);
        // SAFETY: as above.
        let clock = unsafe { clock(index)? };
        Ok(step::pushforward(&self.0, &at, clock, next, next_dot)?)
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
        let (at, states) = unsafe { (sizes.batch::<S>(three(at))?, numbers_mut(states, len)?) };
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
        let (at, mut bars) = unsafe { (sizes.batch::<S>(three(at))?, sizes.bars(three(bars))?) };
        // SAFETY: as above.
        let states = unsafe { (numbers(states.0, known)?, numbers(states.1, len)?) };
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
        self.0.has_tangents()?;
        let len = sizes.worlds * course.seen() * sizes.x;
        let with = tangents::<S>(&sizes, at, dots)?;
        // SAFETY: as above.
        let (states, dots) = unsafe { (numbers_mut::<S>(states.0, len)?, numbers_mut::<S>(states.1, len)?) };
        let at = sizes.over(&with[0], &with[1], &with[2]);
        Ok(rollout::pushforward(&self.0, &at, course, states, dots)?)
    }
}

/// The three arrays with their tangents, as dual numbers.
fn tangents<S: Number>(sizes: &Sizes, at: Three, dots: Three) -> Result<[Vec<Dual<f64>>; 3], Failure> {
    let (lens, at, dots) = (sizes.lens(), three(at), three(dots));
    let [x, u, theta] = [0, 1, 2].map(|i| {
        let given = if dots[i] == 0 { 0 } else { lens[i] };
        // SAFETY: the package passes arrays of these sizes, and holds them until the call returns.
        let (values, dots) = unsafe { (numbers::<S>(at[i], lens[i])?, numbers::<S>(dots[i], given)?) };
        Ok::<_, Failure>(duals(values, dots))
    });
    Ok([x?, u?, theta?])
}
