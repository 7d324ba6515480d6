//! One time step, x_next = step(x, u, theta), as a program: the file to read first.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder};
use pullback_scene::Integrator;

use crate::articulated::{Prepared, Robot, Tree};
use crate::contact::Contacts;
use crate::dynamics::{Coupled, Dynamics};
use crate::error::Error;
use crate::force::{AnyNumber, Force, Inputs, Workshop};
use crate::integrate::{self, LATTICE_LIMIT, on_lattice};
use crate::model::Model;
use crate::names::{Block, Layout};
use crate::preparation::Preparation;
use crate::stepper::Parts;

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

/// The most degrees of freedom of a robot, or of a group of loose bodies, for implicit steps.
const MOST_IMPLICIT: usize = 600;

/// A time step of a model, built once.
#[derive(Clone)]
pub struct Step {
    model: Model,
    scheme: Scheme,
    pub(crate) program: Program,
    pub(crate) io: Io,
    /// For a reversible integrator, the step back.
    pub(crate) back: Option<(Program, Io)>,
    /// What depends on params alone, if anything does.
    pub(crate) prepare: Option<Preparation>,
    /// For an implicit integrator, where which particles push each other is another matter in each step: the same program, but that these
    /// forces are inputs.
    pub(crate) uncoupled: Option<(Program, Io, Coupled)>,
}

/// The buffers of a step's program, in the order of the flat vectors.
#[derive(Clone)]
pub(crate) struct Io {
    pub time: Buffer<f64>,
    pub state: Vec<(BufferUse, usize)>,
    pub next: Vec<(BufferUse, usize)>,
    pub control: Vec<(BufferUse, usize)>,
    pub params: Vec<(BufferUse, usize)>,
    /// What [`Preparation`] makes, in the same order.
    pub prepared: Vec<(BufferUse, usize)>,
    /// What an implicit step solves for, and what must vanish then.
    pub implicit: Option<Arc<Unknown>>,
    /// How far the impulses of contacts are from their law.
    pub residuals: Vec<Buffer<f64>>,
    /// The masses of particles.
    pub mass: Option<Buffer<f64>>,
}

impl Io {
    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        held(&self.state) + held(&self.next) + held(&self.control) + held(&self.params) + held(&self.prepared)
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
pub(crate) struct Unknown {
    pub z: Vec<(BufferUse, usize)>,
    pub residual: Vec<(BufferUse, usize)>,
    /// The next position is x ⊕ (a v + b z): a and b [s]. None where particles are held fast or moved: only the program knows then.
    pub position_per_velocity: Option<[f64; 2]>,
}

impl Step {
    /// Lays out the step of a model.
    pub fn new(model: &Model, scheme: Scheme) -> Result<Step, Error> {
        scheme.check()?;
        if let Some(contact) = model.contact() {
            contact.check(&scheme)?;
        }
        if let Integrator::ImplicitMidpoint | Integrator::BackwardEuler = scheme.integrator {
            dense_jacobians(model, scheme.integrator)?;
        }
        if scheme.integrator == Integrator::ReversibleVerlet {
            reversible(model)?;
        }
        let (program, io, _) = build(model, &scheme, Built::Forwards)?;
        let mut uncoupled = None;
        if io.implicit.is_some() && model.most_soft_contacts() > 0 {
            let (program, io, coupled) = build(model, &scheme, Built::Uncoupled)?;
            uncoupled = coupled.map(|coupled| (program, io, coupled));
        }
        let back = match scheme.integrator {
            Integrator::ReversibleVerlet => {
                let (program, io, _) = build(model, &scheme, Built::Back)?;
                Some((program, io))
            }
            Integrator::ExplicitEuler
            | Integrator::SemiImplicitEuler
            | Integrator::RungeKutta4
            | Integrator::VelocityVerlet
            | Integrator::ImplicitMidpoint
            | Integrator::BackwardEuler => None,
        };
        let prepare = Preparation::new(model)?;
        Ok(Step { model: model.clone(), scheme, program, io, back, prepare, uncoupled })
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

    /// Moves states to where step number `step` can begin: the reversible integrator has a lattice, and wants double precision.
    /// All others begin anywhere.
    pub fn settle<S: Parts>(&self, step: usize, states: &mut [S]) -> Result<(), Error> {
        if self.scheme.integrator != Integrator::ReversibleVerlet {
            return Ok(());
        }
        if S::EPSILON > f64::EPSILON {
            return Err(Error::Reversible("the reversible integrator needs double precision".into()));
        }
        for x in states {
            let value = on_lattice(x.value());
            if value.abs() > LATTICE_LIMIT {
                return Err(Error::OffLattice { step, value, limit: LATTICE_LIMIT });
            }
            *x = S::from_parts(value, x.tangent());
        }
        Ok(())
    }

    /// An error that says why not, if it cannot run on a GPU: the reversible integrator, and hard contact.
    pub fn runs_on_gpu(&self) -> Result<(), Error> {
        let integrator = self.scheme.integrator;
        match integrator {
            Integrator::ExplicitEuler
            | Integrator::SemiImplicitEuler
            | Integrator::RungeKutta4
            | Integrator::VelocityVerlet
            | Integrator::ImplicitMidpoint
            | Integrator::BackwardEuler => {}
            Integrator::ReversibleVerlet => {
                let wanted = "on a GPU it is another one: reversible steps run on the CPU";
                return Err(Error::Scheme {
                    what: "the integrator",
                    found: integrator.name().into(),
                    wanted,
                });
            }
        }
        if !self.io.residuals.is_empty() {
            let wanted = "on a GPU it is `penalty`: hard contact runs on the CPU";
            return Err(Error::Scheme {
                what: "the model of contact",
                found: "complementarity".into(),
                wanted,
            });
        }
        Ok(())
    }

    /// How many bytes a copy of it holds beyond itself; programs and the model are shared.
    pub(crate) fn bytes(&self) -> usize {
        self.io.bytes()
            + self.back.as_ref().map_or(0, |(_, io)| io.bytes())
            + self.uncoupled.as_ref().map_or(0, |(_, io, _)| io.bytes())
            + self.prepare.as_ref().map_or(0, Preparation::bytes)
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
    pub prepared: Vec<(BufferUse, usize)>,
}

/// Buffers of particles and of robots: positions, velocities or accelerations.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    pub particles: Option<Buffer<Vec3>>,
    pub robots: Vec<Buffer<f64>>,
}

impl Bundle {
    /// New inputs for the velocities of everything.
    pub fn velocities(p: &mut Builder, name: &str, model: &Model) -> Bundle {
        Bundle::inputs(p, name, model, Tree::velocities)
    }

    /// New inputs for the positions of everything.
    fn positions(p: &mut Builder, name: &str, model: &Model) -> Bundle {
        Bundle::inputs(p, name, model, Tree::positions)
    }

    /// New inputs, of as many numbers for each robot as `count` says.
    fn inputs(p: &mut Builder, name: &str, model: &Model, count: fn(&Tree) -> usize) -> Bundle {
        let n = model.particles();
        let particles = (n > 0).then(|| p.input(name, n));
        let of = |robot: &Robot| p.input(&format!("{name} of {}", robot.name()), count(robot.tree()));
        Bundle { particles, robots: model.robots().iter().map(of).collect() }
    }

    /// The buffers, in the order of a state, and how many numbers each holds.
    pub fn uses(&self, p: &Builder) -> Vec<(BufferUse, usize)> {
        let particles = self.particles.map(|x| (BufferUse::from(x), 3 * p.len(x)));
        let robots = self.robots.iter().map(|&q| (BufferUse::from(q), p.len(q)));
        particles.into_iter().chain(robots).collect()
    }

    /// What forces on particles see; without particles, nothing.
    pub fn of_particles(&self, p: &mut Builder, name: &str) -> Buffer<Vec3> {
        self.particles.unwrap_or_else(|| p.input(name, 0))
    }
}

impl Declared {
    /// With what is prepared as params of its own, in the order of [`Preparation`].
    pub fn new(p: &mut Builder, model: &Model) -> Result<Declared, Error> {
        let mut declared = Declared::all_but_prepared(p, model)?;
        // What forces make, and how much of it, is seen where it is made.
        let mut elsewhere = Program::builder();
        let mut slots = HashMap::new();
        declare_all(&mut elsewhere, model.params_layout(), &mut slots, true);
        let all = Workshop::of(model.forces(), &mut elsewhere, &slots, model.particles())?;
        for made in all {
            let buffer = made.buffer.read_by(p, &format!("{}, prepared", made.key), made.len, &elsewhere);
            let numbers = BufferUse::from(buffer).numbers();
            declared.prepared.push((buffer.into(), made.len * numbers));
            declared.inputs.prepared.insert(made.key, buffer);
        }
        if let Some(attached) = model.attached() {
            attached.weigh(p, &mut declared.inputs)?;
        }
        Ok(declared)
    }

    /// With operations that make what forces prepare, in the same program.
    pub fn whole(p: &mut Builder, model: &Model) -> Result<Declared, Error> {
        let mut declared = Declared::all_but_prepared(p, model)?;
        for made in Workshop::of(model.forces(), p, &declared.inputs.params, model.particles())? {
            declared.inputs.prepared.insert(made.key, made.buffer);
        }
        Ok(declared)
    }

    fn all_but_prepared(p: &mut Builder, model: &Model) -> Result<Declared, Error> {
        let (x, v) = (Bundle::positions(p, "position", model), Bundle::velocities(p, "velocity", model));
        let time = p.input::<f64>("time", 1);
        let state = [x.uses(p), v.uses(p)].concat();
        let mut prepared = Vec::new();
        let mut robots = Vec::new();
        for robot in model.robots() {
            let (nodes, bodies) = (robot.tree().nodes.len(), robot.description().bodies.len());
            let of = |what: &str| format!("{} {what}, prepared", robot.name());
            let buffers = Prepared {
                placements: p.parameter(&of("placements"), nodes),
                inertias: p.parameter(&of("inertias"), nodes),
                bodies: p.parameter(&of("bodies"), bodies),
            };
            prepared.extend(buffers.uses(p));
            robots.push(buffers);
        }
        let (params, controls, made, radii) = (HashMap::new(), HashMap::new(), HashMap::new(), None);
        let mut inputs = Inputs { x, v, time, params, controls, prepared: made, radii, robots };
        let params = declare_all(p, model.params_layout(), &mut inputs.params, true);
        let control = declare_all(p, model.control_layout(), &mut inputs.controls, false);
        inputs.radii = inputs.param("particles.radius").ok().map(|radius| all_radii(p, model, radius));
        for controller in model.controllers() {
            controller.add(p, &mut inputs)?;
        }
        Ok(Declared { inputs, state, control, params, prepared })
    }
}

/// The value of an element, for the particle that it is of.
#[kernel]
fn of_particle<R: Real>(x: R) -> [R; 1] {
    [x]
}

/// The radius of each particle, from those of particles that have one.
fn all_radii(p: &mut Builder, model: &Model, radius: Buffer<f64>) -> Buffer<f64> {
    if model.round().len() == model.particles() {
        return radius;
    }
    let on: Vec<[usize; 1]> = model.round().iter().map(|&i| [i]).collect();
    let on = p.corners("particles with a radius", &on, model.particles());
    p.elements::<of_particle, f64, 1>("radii of all particles", on, (radius.own(),))
}

/// A buffer for each block of a layout.
pub(crate) fn declare_all(
    p: &mut Builder,
    layout: &Layout,
    slots: &mut HashMap<String, AnyNumber>,
    parameter: bool,
) -> Vec<(BufferUse, usize)> {
    let mut declare = |block: &Block| {
        let slot = match (block.numbers, parameter) {
            (1, false) => AnyNumber::Scalar(p.input(&block.key, block.len())),
            (1, true) => AnyNumber::Scalar(p.parameter(&block.key, block.len())),
            (3, false) => AnyNumber::Vector(p.input(&block.key, block.len())),
            (3, true) => AnyNumber::Vector(p.parameter(&block.key, block.len())),
            (_, false) => AnyNumber::Quaternion(p.input(&block.key, block.len())),
            (_, true) => AnyNumber::Quaternion(p.parameter(&block.key, block.len())),
        };
        slots.insert(block.key.clone(), slot);
        (slot.into(), block.len() * block.numbers)
    };
    layout.blocks().iter().map(&mut declare).collect()
}

/// Which program of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Built {
    Forwards,
    Back,
    /// Forwards, with the forces of [`Coupled`] as inputs.
    Uncoupled,
}

/// The program of a step.
fn build(model: &Model, scheme: &Scheme, what: Built) -> Result<(Program, Io, Option<Coupled>), Error> {
    let mut p = Program::builder();
    let Declared { inputs, state, control, params, prepared } = Declared::new(&mut p, model)?;
    let mut dynamics = Dynamics::new(&mut p, model, &inputs, scheme.part())?;
    dynamics.coupled = (what == Built::Uncoupled).then(Vec::new);
    let mut next = integrate::advance(&mut dynamics, scheme, what == Built::Back)?;
    let led = model.led();
    if !led.is_empty() {
        next = next.led(&mut dynamics, &led)?;
    }
    let integrate::Next { x, v, implicit } = next;
    let residuals = std::mem::take(&mut dynamics.residuals);
    let coupled = dynamics.coupled.take().and_then(|mut all| all.pop());
    residuals.iter().for_each(|&residual| p.output(residual));
    let next = [x.uses(&p), v.uses(&p)].concat();
    for (now, next) in [(&inputs.x, &x), (&inputs.v, &v)] {
        if let (Some(now), Some(next)) = (now.particles, next.particles) {
            p.carry(now, next);
        }
        now.robots.iter().zip(&next.robots).for_each(|(&now, &next)| p.carry(now, next));
    }
    let implicit = implicit.map(|(z, residual, position_per_velocity)| {
        residual.particles.into_iter().for_each(|r| p.output(r));
        residual.robots.iter().for_each(|&r| p.output(r));
        Arc::new(Unknown { z: z.uses(&p), residual: residual.uses(&p), position_per_velocity })
    });
    let mass = if model.particles() > 0 { Some(inputs.mass()?) } else { None };
    let io = Io { time: inputs.time, state, next, control, params, prepared, implicit, residuals, mass };
    Ok((p.finish()?, io, coupled))
}

/// Is a Jacobian of implicit steps dense, and too large?
fn dense_jacobians(model: &Model, integrator: Integrator) -> Result<(), Error> {
    let freedoms = |robot: &Robot| robot.tree().velocities();
    if model.robots().iter().map(freedoms).max() <= Some(MOST_IMPLICIT) {
        return Ok(());
    }
    let wanted = "take an explicit one: Jacobians of implicit steps are dense for a robot or a group of loose bodies, and one has more \
                  than 600 degrees of freedom";
    Err(Error::Scheme { what: "the integrator", found: integrator.name().to_owned(), wanted })
}

/// Is no force of the model a function of velocities?
fn reversible(model: &Model) -> Result<(), Error> {
    if let Some(controller) = model.controllers().iter().find(|controller| controller.sees()) {
        let name = controller.name();
        return Err(Error::Reversible(format!(
            "the reversible integrator needs the state before a step to be found from that after it, and `{name}` looks at the state before"
        )));
    }
    if model.moved().is_some() {
        return Err(Error::Reversible(
            "the reversible integrator knows no motions that are given: steps back would begin where they end".into(),
        ));
    }
    if let Some(robot) = model.robots().first() {
        let name = robot.name();
        return Err(Error::Reversible(format!(
            "the reversible integrator is for particles, and `{name}` has joints, whose accelerations depend on velocities"
        )));
    }
    let depends = |force: Option<&dyn Force>| -> Result<bool, Error> {
        let mut p = Program::builder();
        let Declared { inputs, .. } = Declared::new(&mut p, model)?;
        let mut dynamics = Dynamics::new(&mut p, model, &inputs, 1.0)?;
        let acts = match force {
            Some(force) => force.force(&mut dynamics.site(&inputs.x, &inputs.v, 0.0))?,
            None => {
                let a = dynamics.acceleration(&inputs.x, &inputs.v, 0.0)?;
                a.of_particles(dynamics.program, "no acceleration")
            }
        };
        p.output(acts);
        let v = inputs.v.of_particles(&mut p, "no velocity");
        Ok(p.finish()?.dependence(acts, v).iter().any(|on| !on.is_empty()))
    };
    if !depends(None)? {
        return Ok(());
    }
    // Which one it is, is worth saying.
    for force in model.forces() {
        if depends(Some(&**force))? {
            return Err(Error::Reversible(format!(
                "the reversible integrator needs forces that do not depend on velocities, and `{}` may",
                force.name()
            )));
        }
    }
    if model.contact().is_some_and(Contacts::touch_particles) {
        return Err(Error::Reversible(
            "the reversible integrator needs forces that do not depend on velocities, and contact does"
                .into(),
        ));
    }
    Err(Error::Reversible(
        "the reversible integrator needs constraints that do not depend on velocities".into(),
    ))
}
