//! Forces and constraints: what a model is composed of.

use std::collections::HashMap;
use std::fmt::Debug;

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder};
use pullback_scene::words::nearest_few;
use pullback_soft::rest::InverseEdges;
use pullback_soft::vertex::{self, Vertex};

use crate::articulated::Prepared;
use crate::contact::Particles;
use crate::dynamics::plus;
use crate::error::Error;
use crate::names::Block;
use crate::soft::Touching;
use crate::step::Bundle;

/// A force on the particles: the params and controls that it reads, and the operations that compute it.
///
/// Adding one to a model is all that it takes: every integrator, memory, loss and optimiser then knows it. See
/// `examples/custom_force.rs`.
pub trait Force: Debug + Send + Sync + 'static {
    /// What errors call it.
    fn name(&self) -> String {
        let whole = format!("{self:?}");
        whole.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
    }

    /// The params that it reads.
    fn params(&self) -> Vec<Block> {
        Vec::new()
    }

    /// The controls that it reads.
    fn controls(&self) -> Vec<Block> {
        Vec::new()
    }

    /// What it makes of params alone: done when they change, not in every step.
    fn prepare(&self, _workshop: &mut Workshop<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// The force on each particle [N], at the positions, velocities and time of the site.
    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error>;

    /// Its potential energy [J], one number, if it has one.
    fn energy(&self, _site: &mut Site<'_>) -> Result<Option<Buffer<f64>>, Error> {
        Ok(None)
    }

    /// Which particles it joins is another matter in each step: implicit steps ask for its derivative pair by pair.
    #[doc(hidden)]
    fn couples(&self) -> Option<&Touching> {
        None
    }

    /// Is it the gradient of its potential, and nothing else? Then it keeps the energy of the world.
    fn conservative(&self) -> bool {
        false
    }
}

/// A constraint on the accelerations of particles.
pub trait Constraint: Debug + Send + Sync + 'static {
    /// The accelerations [m/s²] that it leaves of these.
    fn constrain(&self, site: &mut Site<'_>, acceleration: Buffer<Vec3>) -> Result<Buffer<Vec3>, Error>;

    /// Does it no work on a world that starts from this state?
    fn conservative(&self, _state: &[f64]) -> bool {
        false
    }
}

/// The buffers of a step that the caller sets.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    pub x: Bundle,
    pub v: Bundle,
    pub time: Buffer<f64>,
    /// Params and controls by key: their place in the layouts, and the buffer.
    pub params: HashMap<String, AnyNumber>,
    pub controls: HashMap<String, AnyNumber>,
    /// What forces read instead of some of their params, by key.
    pub prepared: HashMap<String, AnyNumber>,
    /// Of each particle [m]: 0 for a point, and none where all are.
    pub radii: Option<Buffer<f64>>,
    /// What robots read instead of most of their params.
    pub robots: Vec<Prepared>,
}

impl Inputs {
    pub fn param<T: Number>(&self, key: &str) -> Result<Buffer<T>, Error> {
        find(&self.params, key, "param")
    }

    pub fn control<T: Number>(&self, key: &str) -> Result<Buffer<T>, Error> {
        find(&self.controls, key, "control")
    }

    /// The mass of each particle [kg], with what forces have added to it.
    pub fn mass(&self) -> Result<Buffer<f64>, Error> {
        match self.prepared.contains_key(TOTAL_MASS) {
            true => find(&self.prepared, TOTAL_MASS, "mass"),
            false => self.param("particles.mass"),
        }
    }

    /// Particles at these positions and velocities, as contact sees them.
    pub fn particles(&self, x: &Bundle, v: &Bundle, count: usize) -> Option<Particles> {
        Some(Particles { x: x.particles?, v: v.particles?, radius: self.radii, count })
    }
}

/// What the mass of particles is called where forces add to it.
const TOTAL_MASS: &str = "particles.total mass";

/// A buffer of scalars, vectors, quaternions or matrices.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnyNumber {
    Scalar(Buffer<f64>),
    Vector(Buffer<Vec3>),
    Quaternion(Buffer<Quat>),
    Matrix(Buffer<Mat3>),
    Edges(Buffer<InverseEdges>),
}

/// The same for a buffer of each sort.
macro_rules! on_each {
    ($number:expr, $buffer:ident => $body:expr) => {
        match $number {
            AnyNumber::Scalar($buffer) => $body,
            AnyNumber::Vector($buffer) => $body,
            AnyNumber::Quaternion($buffer) => $body,
            AnyNumber::Matrix($buffer) => $body,
            AnyNumber::Edges($buffer) => $body,
        }
    };
}

impl AnyNumber {
    /// What another program reads instead: a parameter, where this depends on one.
    pub fn read_by(self, p: &mut Builder, name: &str, len: usize, made_in: &Builder) -> AnyNumber {
        fn like<T: Number>(_: Buffer<T>, p: &mut Builder, name: &str, len: usize, varies: bool) -> AnyNumber {
            T::slot(if varies { p.parameter(name, len) } else { p.given(name, len) }).0
        }
        on_each!(self, buffer => like(buffer, p, name, len, made_in.varies(buffer)))
    }

    /// Says that the caller reads it.
    pub fn output(self, p: &mut Builder) {
        on_each!(self, buffer => p.output(buffer));
    }
}

impl From<AnyNumber> for BufferUse {
    fn from(number: AnyNumber) -> Self {
        on_each!(number, buffer => buffer.into())
    }
}

/// Values that params and controls can have: `f64`, [`Vec3`], [`Quat`]; what is prepared may be a [`Mat3`] or [`InverseEdges`], too.
pub trait Number: Value + Sized {
    #[doc(hidden)]
    fn of(buffer: Slot) -> Option<Buffer<Self>>;
    #[doc(hidden)]
    fn slot(buffer: Buffer<Self>) -> Slot;
}

#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Slot(pub(crate) AnyNumber);

macro_rules! number {
    ($($ty:ty, $variant:ident;)*) => {$(
        impl Number for $ty {
            fn of(slot: Slot) -> Option<Buffer<Self>> {
                match slot.0 {
                    AnyNumber::$variant(buffer) => Some(buffer),
                    _ => None,
                }
            }
            fn slot(buffer: Buffer<Self>) -> Slot {
                Slot(AnyNumber::$variant(buffer))
            }
        }
    )*};
}
number! {
    f64, Scalar;
    Vec3, Vector;
    Quat, Quaternion;
    Mat3, Matrix;
    InverseEdges, Edges;
}

/// Where forces make what depends on params alone: a program in the making.
pub struct Workshop<'a> {
    /// The program: apply kernels to buffers with it.
    pub program: &'a mut Builder,
    /// How many particles.
    pub particles: usize,
    params: &'a HashMap<String, AnyNumber>,
    made: Vec<Made>,
    mass: Option<Buffer<f64>>,
}

/// Something that was prepared: what it is called, where it is, and how many values it has.
pub(crate) struct Made {
    pub key: String,
    pub buffer: AnyNumber,
    pub len: usize,
}

/// `a + b`
#[kernel]
fn sum<R: Real>(a: R, b: R) -> R {
    a + b
}

impl<'a> Workshop<'a> {
    /// What all forces of a model make, from params with these buffers.
    pub(crate) fn of(
        forces: &[std::sync::Arc<dyn Force>],
        program: &'a mut Builder,
        params: &'a HashMap<String, AnyNumber>,
        particles: usize,
    ) -> Result<Vec<Made>, Error> {
        let mut workshop = Workshop { program, particles, params, made: Vec::new(), mass: None };
        forces.iter().try_for_each(|force| force.prepare(&mut workshop))?;
        if let Some(mass) = workshop.mass {
            workshop.keep(TOTAL_MASS, mass);
        }
        Ok(workshop.made)
    }

    /// The params with this key, as [`Force::params`] declared them.
    pub fn param<T: Number>(&self, key: &str) -> Result<Buffer<T>, Error> {
        find(self.params, key, "param")
    }

    /// Keeps it for [`Site::prepared`], by a key that nothing else has.
    pub fn keep<T: Number>(&mut self, key: &str, buffer: Buffer<T>) {
        let (Slot(slot), len) = (T::slot(buffer), self.program.len(buffer));
        self.made.push(Made { key: key.to_owned(), buffer: slot, len });
    }

    /// Adds to the masses of particles [kg]: one number for each of them all.
    pub fn add_mass(&mut self, name: &str, more: Buffer<f64>) -> Result<(), Error> {
        let mass = match self.mass {
            Some(mass) => mass,
            None => self.param("particles.mass")?,
        };
        let name = format!("masses with {name}");
        self.mass = Some(self.program.map::<Once<sum>>(&name, (mass.own(), more.own())));
        Ok(())
    }
}

/// Where forces are evaluated: a program in the making, and the buffers to read.
pub struct Site<'a> {
    /// The program: apply kernels to buffers with it.
    pub program: &'a mut Builder,
    /// Positions [m].
    pub x: Buffer<Vec3>,
    /// Velocities [m/s].
    pub v: Buffer<Vec3>,
    pub(crate) inputs: &'a Inputs,
    /// How many particles.
    pub particles: usize,
    /// Which evaluation of the step this is: names differ by it.
    pub(crate) evaluation: String,
    /// How long after the start of the step [s].
    pub(crate) delay: f64,
    pub(crate) clock: &'a mut Clock,
    pub(crate) vertices: Option<Buffer<Vertex>>,
}

/// The time some seconds after the start of a step, made once for each delay.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    later: Vec<(f64, Buffer<f64>)>,
}

/// `t + delay`
#[kernel]
fn later<R: Real>(time: R, delay: R) -> R {
    time + delay
}

impl Clock {
    /// The time `delay` seconds after `time`.
    pub fn after(&mut self, p: &mut Builder, time: Buffer<f64>, delay: f64) -> Buffer<f64> {
        if delay == 0.0 {
            return time;
        }
        if let Some((_, then)) = self.later.iter().find(|(known, _)| *known == delay) {
            return *then;
        }
        let wait = p.constant::<f64>(&format!("delay of {delay} s"), &[delay]);
        let then = p.map::<later>(&format!("time {delay} s later"), (time.own(), wait.own()));
        self.later.push((delay, then));
        then
    }
}

impl Site<'_> {
    /// A name for a buffer that this evaluation alone has.
    pub fn name(&self, name: &str) -> String {
        format!("{name}{}", self.evaluation)
    }

    /// The params with this key, as [`Force::params`] declared them.
    pub fn param<T: Number>(&self, key: &str) -> Result<Buffer<T>, Error> {
        self.inputs.param(key)
    }

    /// What [`Force::prepare`] kept under this key.
    pub fn prepared<T: Number>(&self, key: &str) -> Result<Buffer<T>, Error> {
        find(&self.inputs.prepared, key, "prepared value")
    }

    /// The mass of each particle [kg], with that of the elements that it is a corner of.
    pub fn mass(&self) -> Result<Buffer<f64>, Error> {
        self.inputs.mass()
    }

    /// The controls with this key, as [`Force::controls`] declared them.
    pub fn control<T: Number>(&self, key: &str) -> Result<Buffer<T>, Error> {
        self.inputs.control(key)
    }

    /// Positions [m] and velocities [m/s] side by side, as elements read them.
    pub fn vertices(&mut self) -> Buffer<Vertex> {
        if let Some(vertices) = self.vertices {
            return vertices;
        }
        let name = self.name("vertices");
        let vertices = vertex::vertices(self.program, &name, self.x, self.v);
        self.vertices = Some(vertices);
        vertices
    }

    /// The sum of two forces on each particle [N], where there are two.
    pub(crate) fn sum(
        &mut self,
        name: &str,
        a: Option<Buffer<Vec3>>,
        b: Option<Buffer<Vec3>>,
    ) -> Option<Buffer<Vec3>> {
        let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
        let name = self.name(name);
        Some(self.program.map::<plus>(&name, (a.own(), b.own())))
    }

    /// The time [s], one number.
    pub fn time(&mut self) -> Buffer<f64> {
        self.clock.after(self.program, self.inputs.time, self.delay)
    }
}

fn find<T: Number>(
    slots: &HashMap<String, AnyNumber>,
    key: &str,
    what: &'static str,
) -> Result<Buffer<T>, Error> {
    let Some(slot) = slots.get(key) else {
        let mut keys: Vec<&String> = slots.keys().collect();
        keys.sort();
        let nearest = nearest_few(key, keys).into_iter().map(str::to_owned).collect();
        return Err(Error::NoSuchInput { what, key: key.to_owned(), nearest });
    };
    T::of(Slot(*slot)).ok_or_else(|| Error::WrongType { what, key: key.to_owned() })
}
