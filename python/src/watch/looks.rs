//! Where things are and how they move, and what contacts come to, with the pullback of that.

use std::sync::{Arc, Mutex};

use pullback_engine::articulated;
use pullback_engine::{Between, ContactWatch, Error, Touching, go_on};
use pullback_kernel::prelude::*;
use pullback_scene::Part;

use crate::batch::{Bars, Batch, Shared, put};
use crate::pool::{Engine, Number};
use crate::step::Clock;

/// What is looked at.
#[derive(Clone, Copy)]
pub enum What {
    /// A particle, by its number.
    Particle(usize),
    /// A body or frame.
    Part(Part),
    /// The contacts between two things.
    Contacts(Between),
}

/// Position, rotation row by row, velocity, angular velocity.
const POINT: usize = 18;
/// Force, normal force, friction, penetration; the number of contacts, and of those that slide, which have no derivatives.
const CONTACTS: usize = 8;
const CONTACTS_SMOOTH: usize = 6;

/// A way to look at worlds of a simulation, and memory for it.
pub struct Watched {
    pub engine: Arc<Engine>,
    what: What,
    free: Mutex<Vec<Eye>>,
}

/// What is needed for one look at a time.
enum Eye {
    /// For a particle: where its position and its velocity begin in a state.
    Particle([usize; 2]),
    Part(Part, Box<articulated::Watch>),
    Contacts(Box<ContactWatch>),
}

/// The numbers of one world.
struct Moment {
    step: usize,
    time: f64,
    x: Vec<f64>,
    u: Vec<f64>,
    theta: Vec<f64>,
}

impl Moment {
    fn of<S: Number>(engine: &Engine, at: &Batch<'_, S>, clock: Clock<'_>, world: usize) -> Moment {
        let numbers = |row: &[S]| row.iter().map(|x| x.value()).collect();
        let step = clock.of(world);
        let time = step as f64 * engine.step.scheme().dt;
        let [x, u, theta] = [at.x, at.u, at.theta].map(|rows| numbers(rows.of(world)));
        Moment { step, time, x, u, theta }
    }
}

/// Cotangents of the numbers of one world.
struct MomentBars {
    x: Vec<f64>,
    u: Vec<f64>,
    theta: Vec<f64>,
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
        match self.what {
            What::Particle(_) | What::Part(_) => POINT,
            What::Contacts(_) => CONTACTS,
        }
    }

    /// How many of them have derivatives.
    fn smooth(&self) -> usize {
        match self.what {
            What::Particle(_) | What::Part(_) => POINT,
            What::Contacts(_) => CONTACTS_SMOOTH,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Eye>> {
        // A panic elsewhere left nothing half done: eyes are taken out before they are used.
        self.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn open(&self) -> Result<Eye, Error> {
        let (model, scheme) = (self.engine.step.model(), self.engine.step.scheme());
        Ok(match self.what {
            What::Particle(p) => Eye::Particle([3 * p, model.positions() + 3 * p]),
            What::Part(part) => Eye::Part(part, Box::new(articulated::Watch::new(model)?)),
            What::Contacts(between) => {
                Eye::Contacts(Box::new(ContactWatch::new(model, &scheme, &[between])?))
            }
        })
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

impl Eye {
    /// Looks at a moment, and writes what is seen.
    fn look(&mut self, at: &Moment, seen: &mut [f64]) -> Result<(), Error> {
        go_on(at.step)?;
        let (pose, motion) = match self {
            Eye::Particle([position, velocity]) => {
                let vector = |i: usize| vec3(at.x[i], at.x[i + 1], at.x[i + 2]);
                let pose = Pose { position: vector(*position), ..identity_pose() };
                (pose, Motion { angular: vec3(0.0, 0.0, 0.0), linear: vector(*velocity) })
            }
            Eye::Part(part, watch) => {
                watch.run(&at.x, &at.theta)?;
                // Its name was found among those of the robots that are watched.
                let Some(found) = watch.part(*part) else { unreachable!("the part is one of the model") };
                found
            }
            Eye::Contacts(watch) => {
                watch.run(at.time, &at.x, &at.u, &at.theta)?;
                let it = watch.touching(0);
                let numbers = [it.normal, it.friction, it.penetration, it.count, it.sliding];
                seen[..3].copy_from_slice(&[it.force.x, it.force.y, it.force.z]);
                seen[3..].copy_from_slice(&numbers);
                return Ok(());
            }
        };
        let (p, r, v, w) = (pose.position, pose.rotation, motion.linear, motion.angular);
        let rows = [[r.x.x, r.y.x, r.z.x], [r.x.y, r.y.y, r.z.y], [r.x.z, r.y.z, r.z.z]];
        let vectors = [[p.x, p.y, p.z], rows[0], rows[1], rows[2], [v.x, v.y, v.z], [w.x, w.y, w.z]];
        seen.copy_from_slice(vectors.as_flattened());
        Ok(())
    }

    /// Cotangents of the moment that was looked at last, of one of what was seen.
    fn pull(&mut self, at: &Moment, bar: &[f64]) -> Result<MomentBars, Error> {
        let zeros = |numbers: &Vec<f64>| vec![0.0; numbers.len()];
        let mut bars = MomentBars { x: zeros(&at.x), u: zeros(&at.u), theta: zeros(&at.theta) };
        let vector = |i: usize| vec3(bar[i], bar[i + 1], bar[i + 2]);
        match self {
            Eye::Particle([position, velocity]) => {
                bars.x[*position..*position + 3].copy_from_slice(&bar[..3]);
                bars.x[*velocity..*velocity + 3].copy_from_slice(&bar[12..15]);
            }
            Eye::Part(part, watch) => {
                let column = |i: usize| vec3(bar[3 + i], bar[6 + i], bar[9 + i]);
                let pose = Pose { rotation: mat3(column(0), column(1), column(2)), position: vector(0) };
                watch.seed(*part, pose, Motion { angular: vector(15), linear: vector(12) });
                watch.pullback(&mut bars.x, &mut bars.theta)?;
            }
            Eye::Contacts(watch) => {
                let (force, [normal, friction, penetration]) = (vector(0), [bar[3], bar[4], bar[5]]);
                watch.seed(0, Touching { force, normal, friction, penetration, ..Touching::default() });
                watch.pullback(&mut bars.x, &mut bars.u, &mut bars.theta)?;
            }
        }
        Ok(bars)
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
    let len = watched.seen();
    watched.with(|eye| {
        let mut row = vec![0.0; len];
        for world in 0..at.worlds {
            let moment = Moment::of(&watched.engine, at, clock, world);
            eye.look(&moment, &mut row)?;
            let given = &seen_bar[world * len..(world + 1) * len];
            row.iter_mut().zip(given).for_each(|(bar, given)| *bar = given.value());
            let found = eye.pull(&moment, &row)?;
            for (to, shared, from) in [
                (&mut *bars.x, shared.x(), found.x),
                (&mut *bars.u, shared.u(), found.u),
                (&mut *bars.theta, shared.theta(), found.theta),
            ] {
                let from: Vec<S> = from.into_iter().map(|x| S::from_parts(x, 0.0)).collect();
                put(to, shared, world, &from);
            }
        }
        Ok(())
    })?;
    bars.check(&watched.engine, at)
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
                if i < watched.smooth() {
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
