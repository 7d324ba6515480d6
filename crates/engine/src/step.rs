//! One time step, x_next = step(x, u, theta), as a program: the file to read first.

use std::collections::HashMap;
use std::ops::Range;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder};
use pullback_scene::Integrator;

use crate::error::Error;
use crate::force::{AnyNumber, Inputs, Site};
use crate::integrate;
use crate::model::Model;
use crate::names::{Block, Layout};

/// How time goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    /// By which rule.
    pub integrator: Integrator,
    /// How long a step is [s].
    pub dt: f64,
    /// How many parts a step is made in. Controls stay the same in a step.
    pub substeps: usize,
}

impl Scheme {
    /// Steps of this length, in one part.
    pub fn new(integrator: Integrator, dt: f64) -> Self {
        Scheme { integrator, dt, substeps: 1 }
    }

    /// The scheme of a scene.
    pub fn of(scene: &pullback_scene::Scene) -> Self {
        let s = &scene.simulation;
        Scheme { integrator: s.integrator, dt: s.dt, substeps: s.substeps }
    }

    /// The length of a part of a step [s].
    pub fn part(&self) -> f64 {
        self.dt / self.substeps as f64
    }

    fn check(&self) -> Result<(), Error> {
        if !(self.dt.is_finite() && self.dt > 0.0) {
            let wanted = "a time step is a positive number of seconds";
            return Err(Error::Scheme { what: "dt", found: self.dt.to_string(), wanted });
        }
        if self.substeps == 0 {
            let wanted = "a step has at least one part";
            return Err(Error::Scheme { what: "substeps", found: "0".into(), wanted });
        }
        Ok(())
    }
}

/// A time step of a model, built once.
#[derive(Clone)]
pub struct Step {
    model: Model,
    scheme: Scheme,
    pub(crate) program: Program,
    pub(crate) io: Io,
    /// For a reversible integrator, the step back.
    pub(crate) back: Option<(Program, Io)>,
}

/// The buffers of a step's program, in the order of the flat vectors.
#[derive(Clone)]
pub(crate) struct Io {
    pub time: Buffer<f64>,
    pub state: Vec<(BufferUse, usize)>,
    pub next: Vec<(BufferUse, usize)>,
    pub control: Vec<(BufferUse, usize)>,
    pub params: Vec<(BufferUse, usize)>,
    /// What an implicit step solves for, and what must vanish then.
    pub implicit: Option<Unknown>,
}

impl Io {
    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        held(&self.state) + held(&self.next) + held(&self.control) + held(&self.params)
    }
}

/// How many bytes a vector has set aside.
pub(crate) fn held<T>(values: &Vec<T>) -> usize {
    values.capacity() * size_of::<T>()
}

/// Buffers that hold a flat vector one after the other, and which numbers of it each holds.
pub(crate) fn ranges(buffers: &[(BufferUse, usize)]) -> impl Iterator<Item = (BufferUse, Range<usize>)> {
    buffers.iter().scan(0, |at, &(buffer, len)| {
        let start = std::mem::replace(at, *at + len);
        Some((buffer, start..start + len))
    })
}

/// An equation: residual(unknown) = 0.
#[derive(Clone, Copy)]
pub(crate) struct Unknown {
    pub z: Buffer<Vec3>,
    pub residual: Buffer<Vec3>,
    /// How much the next position moves with the unknown, the next velocity [s].
    pub position_per_unknown: f64,
}

impl Step {
    /// Lays out the step of a model.
    pub fn new(model: &Model, scheme: Scheme) -> Result<Step, Error> {
        scheme.check()?;
        let (program, io) = build(model, &scheme, false)?;
        let back = match scheme.integrator {
            Integrator::ReversibleVerlet => {
                reversible(model)?;
                Some(build(model, &scheme, true)?)
            }
            Integrator::ExplicitEuler
            | Integrator::SemiImplicitEuler
            | Integrator::RungeKutta4
            | Integrator::VelocityVerlet
            | Integrator::ImplicitMidpoint
            | Integrator::BackwardEuler => None,
        };
        Ok(Step { model: model.clone(), scheme, program, io, back })
    }

    /// The step of a scene, with its own model.
    pub fn of(scene: &pullback_scene::Scene) -> Result<Step, Error> {
        Step::new(&Model::new(scene)?, Scheme::of(scene))
    }

    /// The model that it is a step of.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How time goes on in it.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// How many bytes a copy of it holds beyond itself; programs and the model are shared.
    pub(crate) fn bytes(&self) -> usize {
        self.io.bytes() + self.back.as_ref().map_or(0, |(_, io)| io.bytes())
    }

    /// The program that runs it.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

/// The buffers that the caller sets.
pub(crate) struct Declared {
    pub inputs: Inputs,
    pub state: Vec<(BufferUse, usize)>,
    pub control: Vec<(BufferUse, usize)>,
    pub params: Vec<(BufferUse, usize)>,
}

impl Declared {
    pub fn new(p: &mut Builder, model: &Model) -> Declared {
        let n = model.particles();
        let (x, v) = (p.input::<Vec3>("position", n), p.input::<Vec3>("velocity", n));
        let time = p.input::<f64>("time", 1);
        let mut inputs = Inputs { x, v, time, params: HashMap::new(), controls: HashMap::new() };
        let declare = |p: &mut Builder, block: &Block, parameter: bool| match (block.numbers, parameter) {
            (1, false) => AnyNumber::Scalar(p.input(&block.key, block.len())),
            (1, true) => AnyNumber::Scalar(p.parameter(&block.key, block.len())),
            (3, false) => AnyNumber::Vector(p.input(&block.key, block.len())),
            (3, true) => AnyNumber::Vector(p.parameter(&block.key, block.len())),
            (_, false) => AnyNumber::Quaternion(p.input(&block.key, block.len())),
            (_, true) => AnyNumber::Quaternion(p.parameter(&block.key, block.len())),
        };
        let mut all = |layout: &Layout, slots: &mut HashMap<String, AnyNumber>, parameter| {
            let one = |block: &Block| {
                let slot = declare(p, block, parameter);
                slots.insert(block.key.clone(), slot);
                (slot.into(), block.len() * block.numbers)
            };
            layout.blocks().iter().map(one).collect()
        };
        let params = all(model.params_layout(), &mut inputs.params, true);
        let control = all(model.control_layout(), &mut inputs.controls, false);
        Declared { inputs, state: vec![(x.into(), 3 * n), (v.into(), 3 * n)], control, params }
    }
}

/// The program of a step, or of a step back.
fn build(model: &Model, scheme: &Scheme, back: bool) -> Result<(Program, Io), Error> {
    let mut p = Program::builder();
    let Declared { inputs, state, control, params } = Declared::new(&mut p, model);
    let mut dynamics = Dynamics::new(&mut p, model, &inputs)?;
    let next = integrate::advance(&mut dynamics, scheme, back)?;
    p.carry(inputs.x, next.x);
    p.carry(inputs.v, next.v);
    if let Some(unknown) = next.implicit {
        p.output(unknown.residual);
    }
    let n = 3 * model.particles();
    let next_state = vec![(next.x.into(), n), (next.v.into(), n)];
    let io = Io { time: inputs.time, state, next: next_state, control, params, implicit: next.implicit };
    Ok((p.finish()?, io))
}

/// Is no force of the model a function of velocities?
fn reversible(model: &Model) -> Result<(), Error> {
    let mut p = Program::builder();
    let Declared { inputs, .. } = Declared::new(&mut p, model);
    let a = Dynamics::new(&mut p, model, &inputs)?.acceleration(inputs.x, inputs.v, 0.0)?;
    p.output(a);
    if p.finish()?.dependence(a, inputs.v).iter().all(Vec::is_empty) {
        return Ok(());
    }
    // Which one it is, is worth saying.
    for force in model.forces() {
        let mut p = Program::builder();
        let Declared { inputs, .. } = Declared::new(&mut p, model);
        let mut dynamics = Dynamics::new(&mut p, model, &inputs)?;
        let mut site = dynamics.site(inputs.x, inputs.v, 0.0);
        let f = force.force(&mut site)?;
        p.output(f);
        if p.finish()?.dependence(f, inputs.v).iter().any(|on| !on.is_empty()) {
            return Err(Error::Reversible(format!(
                "the reversible integrator needs forces that do not depend on velocities, and `{}` may",
                force.name()
            )));
        }
    }
    Err(Error::Reversible(
        "the reversible integrator needs constraints that do not depend on velocities".into(),
    ))
}

impl From<AnyNumber> for BufferUse {
    fn from(slot: AnyNumber) -> Self {
        match slot {
            AnyNumber::Scalar(buffer) => buffer.into(),
            AnyNumber::Vector(buffer) => buffer.into(),
            AnyNumber::Quaternion(buffer) => buffer.into(),
        }
    }
}

impl Inputs {
    fn mass(&self) -> Result<Buffer<f64>, Error> {
        match self.params.get("particles.mass") {
            Some(AnyNumber::Scalar(mass)) => Ok(*mass),
            _ => Err(Error::WrongType { what: "param", key: "particles.mass".into() }),
        }
    }
}

/// `a + b`
#[kernel]
fn plus<R: Real>(a: Vec3<R>, b: Vec3<R>) -> Vec3<R> {
    a + b
}

/// Acceleration [m/s²]:  a = f / m
#[kernel]
fn accelerate<R: Real>(f: Vec3<R>, m: R) -> Vec3<R> {
    f / m
}

/// The right-hand side of the equation of motion, to be evaluated where an integrator wants it.
pub(crate) struct Dynamics<'a> {
    pub program: &'a mut Builder,
    pub model: &'a Model,
    pub inputs: &'a Inputs,
    pub mass: Buffer<f64>,
    pub evaluations: usize,
}

impl<'a> Dynamics<'a> {
    pub fn new(program: &'a mut Builder, model: &'a Model, inputs: &'a Inputs) -> Result<Self, Error> {
        Ok(Dynamics { program, model, inputs, mass: inputs.mass()?, evaluations: 0 })
    }

    /// A place to evaluate forces at.
    pub fn site(&mut self, x: Buffer<Vec3>, v: Buffer<Vec3>, delay: f64) -> Site<'_> {
        self.evaluations += 1;
        Site {
            program: self.program,
            x,
            v,
            inputs: self.inputs,
            particles: self.model.particles(),
            evaluation: format!(" {}", self.evaluations),
            delay,
            time: None,
        }
    }

    /// Accelerations at positions `x` and velocities `v`, `delay` seconds after the start of the step:
    /// all forces, divided by the masses, within the constraints.
    pub fn acceleration(
        &mut self,
        x: Buffer<Vec3>,
        v: Buffer<Vec3>,
        delay: f64,
    ) -> Result<Buffer<Vec3>, Error> {
        let (mass, model) = (self.mass, self.model);
        let mut site = self.site(x, v, delay);
        let mut total = model.forces()[0].force(&mut site)?;
        for (i, force) in model.forces().iter().enumerate().skip(1) {
            let force = force.force(&mut site)?;
            let name = site.name(&format!("sum of {} forces", i + 1));
            total = site.program.map::<plus>(&name, (total.own(), force.own()));
        }
        let name = site.name("acceleration");
        let mut acceleration = site.program.map::<accelerate>(&name, (total.own(), mass.own()));
        for constraint in model.constraints() {
            acceleration = constraint.constrain(&mut site, acceleration)?;
        }
        Ok(acceleration)
    }
}
