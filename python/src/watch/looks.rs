//! Where things are and how they move, and what contacts come to, with the pullback of that.

use std::sync::{Arc, Mutex};

use pullback_engine::Error;

use super::eye::{Eye, Moment, What};
use crate::batch::{Bars, Batch, Shared, put};
use crate::pool::{Engine, Number};
use crate::step::Clock;

/// A way to look at worlds of a simulation, and memory for it.
pub struct Watched {
    pub engine: Arc<Engine>,
    what: What,
    free: Mutex<Vec<Eye>>,
}

impl Watched {
    pub fn new(engine: Arc<Engine>, what: What) -> Result<Watched, Error> {
        let watched = Watched { engine, what, free: Mutex::new(Vec::new()) };
        // What cannot be looked at is refused here.
        let eye = watched.open()?;
        watched.lock().push(eye);
        Ok(watched)
    }

    /// How many numbers are seen of each world.
    pub fn seen(&self) -> usize {
        self.what.seen()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Eye>> {
        // A panic elsewhere left nothing half done: eyes are taken out before they are used.
        self.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn open(&self) -> Result<Eye, Error> {
        let (model, scheme) = (self.engine.step.model(), self.engine.step.scheme());
        Eye::open(self.what, model, &scheme)
    }

    /// Does `work` with an eye that is free, or a new one. After an error it is thrown away.
    fn with<R>(&self, work: impl FnOnce(&mut Eye) -> Result<R, Error>) -> Result<R, Error> {
        let free = self.lock().pop();
        let mut eye = match free {
            Some(eye) => eye,
            None => self.open()?,
        };
        let result = work(&mut eye)?;
        self.lock().push(eye);
        Ok(result)
    }
}

/// What is seen of each world.
pub fn forward<S: Number>(
    watched: &Watched,
    at: &Batch<'_, S>,
    clock: Clock<'_>,
    seen: &mut [S],
) -> Result<(), Error> {
    at.check(&watched.engine)?;
    let len = watched.seen();
    watched.with(|eye| {
        let mut row = vec![0.0; len];
        for world in 0..at.worlds {
            eye.look(&Moment::of(&watched.engine, at, clock, world), &mut row)?;
            let to = &mut seen[world * len..(world + 1) * len];
            to.iter_mut().zip(&row).for_each(|(to, x)| *to = S::from_parts(*x, 0.0));
        }
        Ok(())
    })
}

/// The pullback: from cotangents of what was seen to those of x, u and theta.
pub fn pullback<S: Number>(
    watched: &Watched,
    at: &Batch<'_, S>,
    clock: Clock<'_>,
    seen_bar: &[S],
    bars: &mut Bars<'_, S>,
    shared: Shared,
) -> Result<(), Error> {
    at.check(&watched.engine)?;
    if at.worlds == 0 {
        bars.clear();
        return Ok(());
    }
    check_given(watched, seen_bar)?;
    let len = watched.seen();
    // Sums over worlds are of double precision, whatever the numbers are.
    let mut sums = watched.engine.lens().map(|len| vec![0.0; len]);
    watched.with(|eye| {
        let mut row = vec![0.0; len];
        for world in 0..at.worlds {
            let moment = Moment::of(&watched.engine, at, clock, world);
            eye.look(&moment, &mut row)?;
            let given = &seen_bar[world * len..(world + 1) * len];
            row.iter_mut().zip(given).for_each(|(bar, given)| *bar = given.value());
            let found = eye.pull(&moment, &row)?;
            let found = [found.x, found.u, found.theta];
            for (((to, shared), from), sum) in each(bars, shared).into_iter().zip(found).zip(&mut sums) {
                match shared {
                    true => sum.iter_mut().zip(from).for_each(|(sum, x)| *sum += x),
                    false => put(to, false, world, &rounded(&from)),
                }
            }
        }
        Ok(())
    })?;
    for ((to, shared), sum) in each(bars, shared).into_iter().zip(&sums) {
        if shared {
            put(to, true, 0, &rounded(sum));
        }
    }
    bars.check(&watched.engine, at)
}

/// Where cotangents go, and whether worlds share what they are of.
fn each<'b, S>(bars: &'b mut Bars<'_, S>, shared: Shared) -> [(&'b mut [S], bool); 3] {
    [(&mut *bars.x, shared.x()), (&mut *bars.u, shared.u()), (&mut *bars.theta, shared.theta())]
}

fn rounded<S: Number>(numbers: &[f64]) -> Vec<S> {
    numbers.iter().map(|x| S::from_parts(*x, 0.0)).collect()
}

/// An error unless all cotangents of what was seen are finite.
fn check_given<S: Number>(watched: &Watched, seen_bar: &[S]) -> Result<(), Error> {
    let Some(index) = seen_bar.iter().position(|x| !x.value().is_finite()) else { return Ok(()) };
    let (len, value) = (watched.seen(), seen_bar[index].value());
    let world = if seen_bar.len() > len { format!(" of world {}", index / len) } else { String::new() };
    let name = format!("{}{world}", watched.what.name_of(index % len));
    Err(Error::StartNotFinite { what: "the cotangents of what was seen", index, name, value })
}

/// The pushforward: what is seen and its tangent, number after number by the pullback, which is all that the engine has.
pub fn pushforward<S: Number>(
    watched: &Watched,
    at: &Batch<'_, S>,
    dots: &Batch<'_, S>,
    clock: Clock<'_>,
    seen: &mut [S],
    seen_dot: &mut [S],
) -> Result<(), Error> {
    forward(watched, at, clock, seen)?;
    let len = watched.seen();
    let dot = |bars: &[f64], dots: &[S]| bars.iter().zip(dots).map(|(a, b)| a * b.value()).sum::<f64>();
    watched.with(|eye| {
        let (mut row, mut unit) = (vec![0.0; len], vec![0.0; len]);
        for world in 0..at.worlds {
            let moment = Moment::of(&watched.engine, at, clock, world);
            for i in 0..len {
                let mut tangent = 0.0;
                if i < watched.what.smooth() {
                    eye.look(&moment, &mut row)?;
                    unit[i] = 1.0;
                    let bars = eye.pull(&moment, &unit)?;
                    unit[i] = 0.0;
                    tangent = dot(&bars.x, dots.x.of(world))
                        + dot(&bars.u, dots.u.of(world))
                        + dot(&bars.theta, dots.theta.of(world));
                }
                seen_dot[world * len + i] = S::from_parts(tangent, 0.0);
            }
        }
        Ok(())
    })
}
