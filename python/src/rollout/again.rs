//! Rollouts of the engine itself: for its memory strategies, and for what it does to first states.

use pullback_engine::rollout::{Bars as LossBars, Moment};
use pullback_engine::{AnyRollout, Error, Loss, Memory, Options, Parts, Start};

use super::Course;
use crate::batch::{Bars, Batch, Rows, Shared, put};
use crate::pool::{self, Engine, Number};

/// Cotangents of states as a loss: it is worth nothing, and pulls as it is told.
struct Given<'a, S> {
    course: Course,
    bars: &'a [S],
}

impl<S: Parts> Loss for Given<'_, S> {
    fn looks(&self, _: usize, last: bool) -> bool {
        last || !self.course.last
    }
    fn value(&self, _: &Moment<'_>) -> f64 {
        0.0
    }
    fn pullback(&self, moment: &Moment<'_>, bars: &mut LossBars<'_>) {
        if let Some(place) = self.course.place(moment.world, moment.step) {
            let len = bars.state.len();
            let given = &self.bars[place * len..(place + 1) * len];
            bars.state.iter_mut().zip(given).for_each(|(bar, given)| *bar += given.value());
        }
    }
}

/// Forwards again and back, in the memory that the simulation says.
pub fn again<S: Number>(
    engine: &Engine,
    at: &Batch<'_, S>,
    course: Course,
    given: &[S],
    bars: &mut Bars<'_, S>,
    shared: Shared,
) -> Result<(), Error> {
    let start = Numbers::new(at);
    let worlds = at.worlds;
    whole::<S, ()>(engine, worlds, course.steps, true, |rollout| {
        let gradient = rollout.gradient(&start.start(), &Given { course, bars: given })?;
        let all = [
            (&gradient.states, &mut *bars.x, shared.x()),
            (&gradient.controls, &mut *bars.u, shared.u()),
            (&gradient.params, &mut *bars.theta, shared.theta()),
        ];
        for (from, to, shared) in all {
            let len = from.len() / worlds;
            let numbers: Vec<S> = from.iter().map(|x| S::from_parts(*x, 0.0)).collect();
            (0..worlds).for_each(|world| put(to, shared, world, &numbers[world * len..(world + 1) * len]));
        }
        Ok(())
    })
}

/// Does `work` with a rollout of the engine.
pub fn whole<S: Number, R>(
    engine: &Engine,
    worlds: usize,
    steps: usize,
    keeps: bool,
    work: impl FnOnce(&mut AnyRollout<S>) -> Result<R, Error>,
) -> Result<R, Error> {
    // On a GPU one serves both ways: it compiles and records, which takes longer than many steps.
    let keeps = keeps || engine.device.is_some();
    let memory = if keeps { engine.options.memory } else { Memory::Binomial { snapshots: 1 } };
    let options = Options { worlds, steps, memory, ..engine.options };
    let make = || pool::rollout(engine, options);
    S::of(&engine.pools).rollouts.with((worlds, steps, keeps), make, work)
}

/// What a rollout of the engine starts from.
pub struct Numbers {
    pub states: Vec<f64>,
    pub controls: Vec<f64>,
    pub params: Vec<f64>,
}

impl Numbers {
    /// Of a batch.
    pub fn new<S: Number>(at: &Batch<'_, S>) -> Numbers {
        let all = |rows: &Rows<'_, S>| rows.all(at.worlds).map(|x| x.value()).collect();
        Numbers { states: all(&at.x), controls: all(&at.u), params: all(&at.theta) }
    }

    /// As the engine wants it.
    pub fn start(&self) -> Start<'_> {
        Start { states: &self.states, controls: &self.controls, params: &self.params }
    }
}
