//! Rollouts of a batch of worlds: forwards, their pullback, their pushforward.
//!
//! States are those of every moment (worlds × (steps + 1) × state), or of the last one (worlds × state).

mod again;

use pullback_engine::{Error, Integrator, Memory, Options, Snapshots};
use pullback_kernel::prelude::Dual;

use again::{Numbers, again, whole};

use crate::batch::{Bars, Batch, Shared, check_given, put};
use crate::pool::{Engine, Number, Stepping};
use crate::step::split;

/// How many steps, and which of their states are seen.
#[derive(Clone, Copy)]
pub struct Course {
    pub steps: usize,
    /// The last state alone.
    pub last: bool,
}

impl Course {
    /// Where the state of a world at a moment lies among those that are seen, in states.
    fn place(self, world: usize, moment: usize) -> Option<usize> {
        match self.last {
            false => Some(world * (self.steps + 1) + moment),
            true => (moment == self.steps).then_some(world),
        }
    }

    /// How many states are seen of each world.
    pub fn seen(self) -> usize {
        if self.last { 1 } else { self.steps + 1 }
    }
}

/// Runs a rollout, and writes the states that are seen.
pub fn forward<S: Number>(
    engine: &Engine,
    at: &Batch<'_, S>,
    course: Course,
    states: &mut [S],
) -> Result<(), Error> {
    at.check(engine)?;
    if at.worlds == 0 {
        return Ok(());
    }
    let len = engine.lens()[0];
    let mut see = |world: usize, moment: usize, state: &[S]| {
        if let Some(place) = course.place(world, moment) {
            states[place * len..(place + 1) * len].copy_from_slice(state);
        }
    };
    if engine.step.scheme().integrator == Integrator::ReversibleVerlet || engine.device.is_some() {
        return by_the_engine(engine, at, course, see);
    }
    engine.stepping(at.worlds, |memory| {
        memory.begin(&engine.step, at)?;
        (0..at.worlds).for_each(|world| see(world, 0, at.x.of(world)));
        for step in 0..course.steps {
            memory.set_controls(&at.u, at.worlds, step)?;
            memory.stepper.advance(step)?;
            let states = memory.stepper.state().chunks_exact(len);
            states.enumerate().for_each(|(world, state)| see(world, step + 1, state));
        }
        Ok(())
    })
}

/// The reversible integrator moves first states onto its lattice, and GPUs keep states: both are the engine's rollouts' business.
fn by_the_engine<S: Number>(
    engine: &Engine,
    at: &Batch<'_, S>,
    course: Course,
    mut see: impl FnMut(usize, usize, &[S]),
) -> Result<(), Error> {
    let start = Numbers::new(at);
    let mut row = Vec::new();
    whole::<S, ()>(engine, at.worlds, course.steps, false, |rollout| {
        rollout.watch_at(
            &start.start(),
            |_, last| last || !course.last,
            |moment| {
                row.clear();
                row.extend(moment.state.iter().map(|x| S::from_parts(*x, 0.0)));
                see(moment.world, moment.step, &row);
            },
        )
    })
}

/// The pullback of a rollout: from cotangents of the states that were seen. `states` are all of them, where they are known.
pub fn pullback<S: Number>(
    engine: &Engine,
    at: &Batch<'_, S>,
    course: Course,
    states: (&[S], &[S]),
    bars: &mut Bars<'_, S>,
    shared: Shared,
) -> Result<(), Error> {
    at.check(engine)?;
    if at.worlds == 0 {
        bars.clear();
        return Ok(());
    }
    let (known, given) = states;
    check_given(engine, course.seen(), given)?;
    let Options { memory, snapshots, .. } = engine.options;
    let plain = engine.device.is_none()
        && memory == Memory::EveryStep
        && snapshots == Snapshots::F64
        && engine.step.scheme().integrator != Integrator::ReversibleVerlet;
    if plain && !known.is_empty() && !course.last {
        along(engine, at, course, (known, given), bars, shared)?;
    } else {
        again(engine, at, course, given, bars, shared)?;
    }
    bars.check(engine, at)
}

/// Backwards along states that are known, by the engine's rules of what is dropped and shortened on the way. The engine's own way back
/// would keep the states a second time, in double precision, and prepare params again.
fn along<S: Number>(
    engine: &Engine,
    at: &Batch<'_, S>,
    course: Course,
    states: (&[S], &[S]),
    bars: &mut Bars<'_, S>,
    shared: Shared,
) -> Result<(), Error> {
    let ([x, u, _], worlds) = (engine.lens(), at.worlds);
    let options = Options { steps: course.steps, ..engine.options };
    let (known, given) = states;
    let place = |world: usize, moment: usize| {
        let first = (world * (course.steps + 1) + moment) * x;
        first..first + x
    };
    let take = |moment: usize, to: &mut [S]| {
        let rows = to.chunks_exact_mut(x).enumerate();
        rows.for_each(|(world, to)| to.copy_from_slice(&known[place(world, moment)]));
    };
    let add_given = |moment: usize, x_bar: &mut [S]| {
        let rows = x_bar.chunks_exact_mut(x).enumerate();
        rows.for_each(|(world, bar)| {
            let sum = |(bar, given): (&mut S, &S)| *bar = S::from_parts(bar.value() + given.value(), 0.0);
            bar.iter_mut().zip(&given[place(world, moment)]).for_each(sum);
            options.shorten(bar);
        });
    };
    engine.stepping(worlds, |memory| {
        memory.begin(&engine.step, at)?;
        memory.stepper.clear_params();
        let [mut next, mut before, mut x_bar] = [(); 3].map(|()| vec![S::default(); worlds * x]);
        let mut u_bars = vec![S::default(); worlds * course.steps * u];
        take(course.steps, &mut next);
        add_given(course.steps, &mut x_bar);
        for step in (0..course.steps).rev() {
            take(step, &mut before);
            memory.stepper.set_state(&before)?;
            memory.set_controls(&at.u, worlds, step)?;
            memory.controls.fill(S::default());
            memory.stepper.pull(step, Some(&next), &mut x_bar, &mut memory.controls)?;
            std::mem::swap(&mut next, &mut before);
            for world in 0..worlds {
                let first = (world * course.steps + step) * u;
                u_bars[first..first + u].copy_from_slice(&memory.controls[world * u..(world + 1) * u]);
            }
            if options.drops_before(step) {
                x_bar.fill(S::default());
            }
            add_given(step, &mut x_bar);
        }
        finish(memory, worlds, (&x_bar, &u_bars), bars, shared)
    })
}

/// Writes what the way back has left.
fn finish<S: Number>(
    memory: &mut Stepping<S>,
    worlds: usize,
    found: (&[S], &[S]),
    bars: &mut Bars<'_, S>,
    shared: Shared,
) -> Result<(), Error> {
    let (x_bar, u_bars) = found;
    let (x, u) = (x_bar.len() / worlds, u_bars.len() / worlds);
    for world in 0..worlds {
        put(bars.x, shared.x(), world, &x_bar[world * x..(world + 1) * x]);
        put(bars.u, shared.u(), world, &u_bars[world * u..(world + 1) * u]);
        if !bars.theta.is_empty() {
            memory.stepper.params_bar(world, &mut memory.row)?;
            put(bars.theta, shared.theta(), world, &memory.row);
        }
    }
    Ok(())
}

/// The pushforward of a rollout: the states that are seen and their tangents, computed in double precision.
pub fn pushforward<S: Number>(
    engine: &Engine,
    at: &Batch<'_, Dual<f64>>,
    course: Course,
    states: &mut [S],
    states_dot: &mut [S],
) -> Result<(), Error> {
    at.check(engine)?;
    if at.worlds == 0 {
        return Ok(());
    }
    let len = engine.lens()[0];
    let mut see = |world: usize, moment: usize, state: &[Dual<f64>]| {
        if let Some(place) = course.place(world, moment) {
            let range = place * len..(place + 1) * len;
            split(state, &mut states[range.clone()], &mut states_dot[range]);
        }
    };
    engine.pushing(at.worlds, |memory| {
        memory.begin(&engine.step, at)?;
        memory.states.chunks_exact(len).enumerate().for_each(|(world, state)| see(world, 0, state));
        for step in 0..course.steps {
            memory.set_controls(&at.u, at.worlds, step)?;
            memory.stepper.advance(step)?;
            let states = memory.stepper.state().chunks_exact(len);
            states.enumerate().for_each(|(world, state)| see(world, step + 1, state));
        }
        Ok(())
    })
}
