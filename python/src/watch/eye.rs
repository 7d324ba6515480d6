//! One look at one world, with the pullback of that.

use pullback_engine::articulated;
use pullback_engine::{Between, ContactWatch, Error, Model, Scheme, Touching, go_on};
use pullback_kernel::prelude::*;
use pullback_scene::Part;

use crate::batch::Batch;
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

/// What is seen of a particle, body or frame, and how many numbers each is; rotations row by row.
const POINT: [(&str, usize); 4] =
    [("position", 3), ("rotation", 9), ("velocity", 3), ("angular_velocity", 3)];
/// What is seen of contacts; the last two count, and have no derivatives.
const CONTACTS: [(&str, usize); 6] =
    [("force", 3), ("normal", 1), ("friction", 1), ("penetration", 1), ("count", 1), ("sliding", 1)];
const COUNTS: usize = 2;

impl What {
    fn fields(self) -> &'static [(&'static str, usize)] {
        match self {
            What::Particle(_) | What::Part(_) => &POINT,
            What::Contacts(_) => &CONTACTS,
        }
    }

    /// How many numbers are seen of a world.
    pub fn seen(self) -> usize {
        self.fields().iter().map(|(_, len)| len).sum()
    }

    /// How many of them have derivatives.
    pub fn smooth(self) -> usize {
        match self {
            What::Particle(_) | What::Part(_) => self.seen(),
            What::Contacts(_) => self.seen() - COUNTS,
        }
    }

    /// What a number of those that are seen is called.
    pub fn name_of(self, number: usize) -> String {
        let mut first = 0;
        for (name, len) in self.fields() {
            if number < first + len {
                return if *len == 1 { format!("`{name}`") } else { format!("`{name}`[{}]", number - first) };
            }
            first += len;
        }
        format!("number {number}")
    }
}

/// What is needed for one look at a time.
pub enum Eye {
    /// For a particle: where its position and its velocity begin in a state.
    Particle([usize; 2]),
    Part(Part, Box<articulated::Watch>),
    Contacts(Box<ContactWatch>),
}

/// The numbers of one world.
pub struct Moment {
    step: usize,
    /// Which world of a batch.
    world: Option<usize>,
    time: f64,
    x: Vec<f64>,
    u: Vec<f64>,
    theta: Vec<f64>,
}

impl Moment {
    pub fn of<S: Number>(engine: &Engine, at: &Batch<'_, S>, clock: Clock<'_>, world: usize) -> Moment {
        let numbers = |row: &[S]| row.iter().map(|x| x.value()).collect();
        let step = clock.of(world);
        let time = step as f64 * engine.step.scheme().dt;
        let [x, u, theta] = [at.x, at.u, at.theta].map(|rows| numbers(rows.of(world)));
        let world = (at.worlds > 1).then_some(world);
        Moment { step, world, time, x, u, theta }
    }

    /// An error with the step and the world that it is of.
    fn placed(&self, error: Error) -> Error {
        let Moment { step, world, .. } = *self;
        match error {
            Error::NotFinite { source, fast, .. } => Error::NotFinite { step, world, source, fast },
            Error::NotConverged { residual, iterations, held, .. } => {
                Error::NotConverged { step, world, residual, iterations, held }
            }
            Error::ContactNotSolved { residual, largest, .. } => {
                Error::ContactNotSolved { step, world, residual, largest }
            }
            Error::TooManyContacts { most, .. } => Error::TooManyContacts { step, world, most },
            Error::TooManySoftContacts { most, .. } => Error::TooManySoftContacts { step, world, most },
            Error::LedThrough { a, b, .. } => Error::LedThrough { step, world, a, b },
            Error::Crossed { a, b, .. } => Error::Crossed { step, world, a, b },
            other => other,
        }
    }
}

/// Cotangents of the numbers of one world.
pub struct MomentBars {
    pub x: Vec<f64>,
    pub u: Vec<f64>,
    pub theta: Vec<f64>,
}

impl Eye {
    pub fn open(what: What, model: &Model, scheme: &Scheme) -> Result<Eye, Error> {
        Ok(match what {
            What::Particle(p) => Eye::Particle([3 * p, model.positions() + 3 * p]),
            What::Part(part) => Eye::Part(part, Box::new(articulated::Watch::new(model)?)),
            What::Contacts(between) => Eye::Contacts(Box::new(ContactWatch::new(model, scheme, &[between])?)),
        })
    }

    /// Looks at a moment, and writes what is seen.
    pub fn look(&mut self, at: &Moment, seen: &mut [f64]) -> Result<(), Error> {
        self.look_at(at, seen).map_err(|error| at.placed(error))
    }

    /// Cotangents of the moment that was looked at last, of one of what was seen.
    pub fn pull(&mut self, at: &Moment, bar: &[f64]) -> Result<MomentBars, Error> {
        self.pull_at(at, bar).map_err(|error| at.placed(error))
    }

    fn look_at(&mut self, at: &Moment, seen: &mut [f64]) -> Result<(), Error> {
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

    fn pull_at(&mut self, at: &Moment, bar: &[f64]) -> Result<MomentBars, Error> {
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
