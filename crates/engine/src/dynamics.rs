//! The right-hand side of the equation of motion: what acts on everything, and how fast it changes its velocities.

use pullback_collide::Touch;
use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;
use pullback_soft::vertex::Vertex;

use crate::articulated::{Combine, Retract, Robot, Slots};
use crate::attached::Holding;
use crate::contact::Part;
use crate::error::Error;
use crate::force::{Clock, Inputs, Site};
use crate::model::Model;
use crate::soft::Touching;
use crate::step::Bundle;

/// `a + b`
#[kernel]
pub(crate) fn plus<R: Real>(a: Vec3<R>, b: Vec3<R>) -> Vec3<R> {
    a + b
}

/// Acceleration [m/s²]:  a = f / m + g
#[kernel]
fn accelerate<R: Real>(f: Vec3<R>, m: R, g: Vec3<R>) -> Vec3<R> {
    f / m + g
}

/// The same where some axes are fixed:  a = free ∘ (f / m + g),  with 1 for an axis that is free and 0 for one that is not. What is held
/// along all axes may be without mass: a kilogram is added to it.
#[kernel]
fn accelerate_pinned<R: Real>(f: Vec3<R>, m: R, g: Vec3<R>, free: Vec3<R>) -> Vec3<R> {
    let held = (1.0 - free.x) * (1.0 - free.y) * (1.0 - free.z);
    let a = f / (m + held) + g;
    vec3(a.x * free.x, a.y * free.y, a.z * free.z)
}

/// The same without forces:  a = free ∘ g
#[kernel]
fn fall<R: Real>(g: Vec3<R>, free: Vec3<R>) -> Vec3<R> {
    vec3(g.x * free.x, g.y * free.y, g.z * free.z)
}

/// The same value.
#[kernel]
pub(crate) fn same<R: Real>(a: Vec3<R>) -> Vec3<R> {
    a
}

/// A force that is an input, where it would act, and what makes it otherwise.
#[derive(Clone)]
pub(crate) struct Coupled {
    pub by: Touching,
    pub numbers: Touch,
    /// Where particles are and how they move, as outputs.
    pub moving: [Buffer<Vec3>; 2],
    pub force: Buffer<Vec3>,
}

impl Coupled {
    fn add(site: &mut Site<'_>, by: &Touching, to: &mut Vec<Coupled>) -> Result<Buffer<Vec3>, Error> {
        let numbers = Touching::numbers(site)?;
        let names =
            ["positions", "velocities", "force"].map(|what| site.name(&format!("{what} of soft contact")));
        let p = &mut *site.program;
        let moving =
            [(&names[0], site.x), (&names[1], site.v)].map(|(name, of)| p.map::<same>(name, (of.own(),)));
        moving.iter().for_each(|&buffer| p.output(buffer));
        let force = p.input(&names[2], site.particles);
        to.push(Coupled { by: by.clone(), numbers, moving, force });
        Ok(force)
    }
}

/// The right-hand side of the equation of motion, to be evaluated where an integrator wants it.
pub(crate) struct Dynamics<'a> {
    pub program: &'a mut Builder,
    pub model: &'a Model,
    pub inputs: &'a Inputs,
    pub evaluations: usize,
    /// The length of a part of a step [s].
    pub h: f64,
    /// How far the impulses of contacts are from their law.
    pub residuals: Vec<Buffer<f64>>,
    clock: Clock,
    /// Is the force of what couples particles an input? Then these are the buffers.
    pub coupled: Option<Vec<Coupled>>,
    /// Of the evaluation with this number: positions and velocities side by side.
    vertices: Option<(usize, Buffer<Vertex>)>,
}

/// Positions and velocities of everything, with particles that are held fast or moved where they are held or moved to.
pub(crate) struct Led {
    pub x: Bundle,
    pub v: Bundle,
    /// What particles are attached to, there.
    pub holding: Option<Holding>,
}

/// What acts on everything, besides contacts with shapes.
pub(crate) struct Acting {
    pub at: Led,
    pub parts: Vec<Part>,
    /// Of springs that attach particles [N].
    pulls: Option<Buffer<Vec3>>,
    /// Of everything but gravity, these among them [N]; only where bodies feel it.
    forces: Option<Buffer<Vec3>>,
}

impl<'a> Dynamics<'a> {
    pub fn new(
        program: &'a mut Builder,
        model: &'a Model,
        inputs: &'a Inputs,
        h: f64,
    ) -> Result<Self, Error> {
        let (residuals, clock) = (Vec::new(), Clock::default());
        Ok(Dynamics {
            program,
            model,
            inputs,
            evaluations: 0,
            h,
            residuals,
            clock,
            coupled: None,
            vertices: None,
        })
    }

    /// A name that nothing of another evaluation has.
    fn name(&self) -> impl Fn(&str) -> String + use<> {
        let evaluation = self.evaluations;
        move |what: &str| format!("{what} {evaluation}")
    }

    /// A place to evaluate forces at.
    pub fn site(&mut self, x: &Bundle, v: &Bundle, delay: f64) -> Site<'_> {
        let evaluation = format!(" {}", self.evaluations);
        let x = x.of_particles(self.program, &format!("no positions{evaluation}"));
        let v = v.of_particles(self.program, &format!("no velocities{evaluation}"));
        let (inputs, particles) = (self.inputs, self.model.particles());
        Site {
            program: self.program,
            x,
            v,
            inputs,
            particles,
            evaluation,
            delay,
            clock: &mut self.clock,
            vertices: self.vertices.filter(|(known, _)| *known == self.evaluations).map(|(_, made)| made),
        }
    }

    /// Everything where it is led to, `delay` seconds after the start of the step.
    pub fn led(&mut self, x: &Bundle, v: &Bundle, delay: f64) -> Result<Led, Error> {
        let (name, model, inputs) = (self.name(), self.model, self.inputs);
        let mut led = Led { x: x.clone(), v: v.clone(), holding: None };
        let (Some(place), Some(rate)) = (x.particles, v.particles) else { return Ok(led) };
        let mut particles = [place, rate];
        if let Some(attached) = model.attached() {
            let holding = Holding::new(self.program, &name, inputs, (model, attached), [x, v])?;
            particles = holding.lead(self.program, &name, particles);
            led.holding = Some(holding);
        }
        if let (Some(moved), Some(start)) = (model.moved(), inputs.x.particles) {
            let then = self.clock.after(self.program, inputs.time, delay);
            particles =
                moved.lead(self.program, &name, inputs, (start, [inputs.time, then], delay), particles)?;
        }
        [led.x.particles, led.v.particles] = particles.map(Some);
        Ok(led)
    }

    /// What a step ends with, with everything where it is led to then.
    pub fn led_to(&mut self, x: &Bundle, v: &Bundle) -> Result<Led, Error> {
        self.evaluations += 1;
        self.led(x, v, self.h)
    }

    /// What acts on everything at positions `x` and velocities `v`, `delay` seconds after the start of the step.
    pub fn acting(&mut self, x: &Bundle, v: &Bundle, delay: f64) -> Result<Acting, Error> {
        self.evaluations += 1;
        let name = self.name();
        let at = self.led(x, v, delay)?;
        let mut parts = self.parts(&at.x, &at.v)?;
        let (mut pulls, mut forces) = (None, None);
        if let (Some(holding), Some(x), Some(v)) = (&at.holding, at.x.particles, at.v.particles) {
            pulls = holding.pull(self.program, &name, [x, v], &mut parts);
            if holding.is_felt() {
                forces = self.forces(&at, delay, pulls)?;
                if let Some(all) = forces {
                    holding.pass_on(self.program, &name, (all, "forces"), x, &mut parts);
                }
            }
        }
        Ok(Acting { at, parts, pulls, forces })
    }

    /// Accelerations at positions `x` and velocities `v`, `delay` seconds after the start of the step.
    pub fn acceleration(&mut self, x: &Bundle, v: &Bundle, delay: f64) -> Result<Bundle, Error> {
        let Acting { at, parts, pulls, forces } = self.acting(x, v, delay)?;
        let name = self.name();
        let mut contact = None;
        let robots = match self.model.contact() {
            Some(touch) => {
                let robots = (self.model.robots(), parts);
                let particles = self.inputs.particles(&at.x, &at.v, self.model.particles());
                let particles = (particles, at.holding.as_ref());
                let out = touch.add(self.program, &name, self.inputs, robots, particles, self.h)?;
                self.residuals.extend(out.residual);
                contact = out.on_particles;
                out.accelerations
            }
            None => {
                let robots = self.model.robots().iter().zip(parts);
                robots.map(|(robot, part)| robot.acceleration(self.program, &name, part)).collect()
            }
        };
        let particles = match (at.x.particles, forces) {
            (None, _) => None,
            (Some(_), Some(forces)) => Some(self.of_particles(&at, delay, Some(forces), contact)?),
            (Some(_), None) => {
                let forces = self.forces(&at, delay, pulls)?;
                Some(self.of_particles(&at, delay, forces, contact)?)
            }
        };
        Ok(Bundle { particles, robots })
    }

    /// Robots and what acts on them, besides contacts and what is attached to them.
    fn parts(&mut self, x: &Bundle, v: &Bundle) -> Result<Vec<Part>, Error> {
        let name = self.name();
        let mut parts = Vec::new();
        for (r, robot) in self.model.robots().iter().enumerate() {
            let slots = (
                &Slots { what: "param", slots: &self.inputs.params },
                &Slots { what: "control", slots: &self.inputs.controls },
            );
            let gravity = self.inputs.param::<Vec3>("gravity")?;
            let prepared = &self.inputs.robots[r];
            let at = (x.robots[r], v.robots[r]);
            parts.push(robot.acted_on(self.program, &name, slots, prepared, gravity, at)?);
        }
        Ok(parts)
    }

    /// All forces on particles but weights and those of contact with shapes [N], if there are some.
    fn forces(
        &mut self,
        at: &Led,
        delay: f64,
        pulls: Option<Buffer<Vec3>>,
    ) -> Result<Option<Buffer<Vec3>>, Error> {
        let (model, mut coupled) = (self.model, self.coupled.take());
        let mut site = self.site(&at.x, &at.v, delay);
        let mut total = None;
        for (i, force) in model.forces().iter().enumerate() {
            let force = match (&mut coupled, force.couples()) {
                (Some(coupled), Some(by)) => Coupled::add(&mut site, by, coupled)?,
                _ => force.force(&mut site)?,
            };
            total = site.sum(&format!("sum of {} forces", i + 1), total, Some(force));
        }
        total = site.sum("sum of forces and attachments", total, pulls);
        self.vertices = site.vertices.map(|vertices| (self.evaluations, vertices));
        self.coupled = coupled;
        Ok(total)
    }

    /// Gravity, and these forces on particles and those of contact divided by the masses, within the constraints.
    fn of_particles(
        &mut self,
        at: &Led,
        delay: f64,
        total: Option<Buffer<Vec3>>,
        contact: Option<Buffer<Vec3>>,
    ) -> Result<Buffer<Vec3>, Error> {
        let (mass, gravity) = (self.inputs.mass()?, self.inputs.param::<Vec3>("gravity")?);
        let (mass, gravity, model) = (mass.own(), gravity.shared(), self.model);
        let mut site = self.site(&at.x, &at.v, delay);
        let total = site.sum("sum of forces and contact", total, contact);
        let (name, free) = (site.name("acceleration"), site.name("free"));
        let p = &mut *site.program;
        let mut acceleration = match (total, model.free()) {
            (Some(total), []) => p.map::<accelerate>(&name, (total.own(), mass, gravity)),
            (Some(total), axes) => {
                let free = p.constant::<Vec3>(&free, axes).own();
                p.map::<accelerate_pinned>(&name, (total.own(), mass, gravity, free))
            }
            (None, axes) => {
                let all = vec![Vec3 { x: 1.0, y: 1.0, z: 1.0 }; model.particles()];
                let free = p.constant::<Vec3>(&free, if axes.is_empty() { &all } else { axes }).own();
                p.map::<fall>(&name, (gravity, free))
            }
        };
        for constraint in model.constraints() {
            acceleration = constraint.constrain(&mut site, acceleration)?;
        }
        Ok(acceleration)
    }

    /// Σ factor · buffer of each robot.
    pub fn combine(&mut self, name: &str, terms: &[(&Bundle, f64)]) -> Vec<Buffer<f64>> {
        let mut of = |(r, robot): (usize, &Robot)| {
            let terms: Vec<(Buffer<f64>, f64)> =
                terms.iter().map(|(b, factor)| (b.robots[r], *factor)).collect();
            let len = self.program.len(terms[0].0);
            Combine::add(self.program, &format!("{name} of {}", robot.name()), len, &terms)
        };
        self.model.robots().iter().enumerate().map(&mut of).collect()
    }

    /// q ⊕ h t of each robot.
    pub fn retract(&mut self, name: &str, x: &Bundle, t: &[Buffer<f64>], h: f64) -> Vec<Buffer<f64>> {
        let mut of = |(r, robot): (usize, &Robot)| {
            let name = format!("{name} of {}", robot.name());
            let manifold = (&robot.manifold, robot.tree().positions());
            Retract::add(self.program, &name, manifold, (x.robots[r], t[r], h))
        };
        self.model.robots().iter().enumerate().map(&mut of).collect()
    }
}
