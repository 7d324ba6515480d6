//! Contact: where shapes touch, and the laws by which they push each other.

mod against;
mod blocks;
mod bodies;
mod contacts;
mod corners;
mod damped;
mod detours;
mod dynamics;
mod equations;
mod finder;
mod hard;
mod held;
mod islands;
mod joints;
mod krylov;
mod law;
mod laws;
mod measure;
mod meetings;
mod one;
mod particles;
mod pattern;
mod penalty;
mod place;
mod placed;
mod pull;
mod pushed;
mod rows;
mod shapes;
mod soft;
mod softened;
mod solids;
mod solver;
mod springs;
mod sweeps;
mod touch;
mod touchable;
mod touching;
mod watch;

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder};
use pullback_scene::{ContactModel, Scene, Toucher};

use against::Against;
pub(crate) use contacts::GAPS;
pub(crate) use dynamics::{NO_ROOM, Part};
pub(crate) use joints::{Held, Range};
use laws::{Forces, Site, law_of};
use measure::{Group, Measure, Sums};
use particles::ParticleContact;
pub(crate) use particles::Particles;
pub(crate) use place::At;
use place::Place;
use pushed::Before;
use rows::{OnSide, Side};
use shapes::{MOST_CONTACTS, Shapes};
pub(crate) use solver::has_tangent;
use touchable::{Given, Pinned, Shape, Surface, Touchable};
pub use watch::{Between, ContactWatch, Touching};

use crate::articulated::Robot;
use crate::articulated::tree::WORLD;
use crate::attached::Holding;
use crate::dynamics::{Acting, Led};
use crate::error::Error;
use crate::force::Inputs;
use crate::names::{Block, Layout};
use crate::step::Scheme;

/// How the shapes of a model touch.
#[derive(Clone, Debug)]
pub(crate) struct Contacts {
    touchable: Arc<Touchable>,
    /// Of shapes: what they are fixed to, and what they add to the compliance of contacts [1/kg].
    shapes: Vec<OnSide>,
    /// Do impulses hold joints?
    holds: bool,
    /// What particles touch, if there is anything.
    against: Option<Arc<Against>>,
    law: ContactModel,
    /// Islands of contacts with more than this have sparse equations, where worlds run alone.
    dense: usize,
}

/// What a step of robots and particles that touch comes to.
pub(crate) struct Touched {
    pub accelerations: Vec<Buffer<f64>>,
    /// On each particle [N], if there is anything that they touch.
    pub on_particles: Option<Buffer<Vec3>>,
    /// Of hard contact: how far the impulses are from their law.
    pub residual: Option<Buffer<f64>>,
}

/// Islands with so many contacts are solved by dense equations also in large scenes: sparse ones take no less time.
const DENSE: usize = 64;

impl Contacts {
    /// What a scene says, and the params of it; none if nothing can touch.
    pub fn new(scene: &Scene, robots: &[Robot]) -> Result<Option<(Contacts, Vec<Block>)>, Error> {
        let Some(contact) = &scene.contact else { return Ok(None) };
        let law = law_of(&contact.model);
        law.check()?;
        // At most.
        let held: usize =
            robots.iter().filter(|robot| robot.is_held()).map(|robot| robot.tree().dofs.len()).sum();
        let shapes = match Shapes::new(scene, robots, law.margin())? {
            None if held > 0 => Some(Shapes::none(law.margin())),
            shapes => shapes,
        };
        let Some(Shapes { mut touchable, against, params }) = shapes else { return Ok(None) };
        let side = |shape: usize| match touchable.shapes[shape].on {
            Pinned::World | Pinned::Ground(_) => None,
            Pinned::Body(robot, body) => {
                let tree = robots[robot].tree();
                tree.moves(body).then(|| Side { robot, node: tree.node_of_body[body] as usize })
            }
        };
        let softness = |shape: usize| touchable.meetings.shapes[shape].softness * law.regularisation();
        let on_side = |shape| OnSide { side: side(shape), softness: softness(shape) };
        let shapes = (0..touchable.shapes.len()).map(on_side).collect();
        let holds = held > 0;
        if touchable.meet || holds {
            robots.iter().try_for_each(|robot| law.check_robot(robot))?;
        }
        touchable.alone |= held > MOST_CONTACTS;
        let (touchable, against, law) = (Arc::new(touchable), against.map(Arc::new), contact.model);
        Ok(Some((Contacts { touchable, shapes, holds, against, law, dense: DENSE }, params)))
    }

    /// The same with sparse equations for islands of more than so many contacts, however small the scene.
    pub fn sparse(mut self, dense: usize) -> Contacts {
        Arc::make_mut(&mut self.touchable).alone = true;
        Contacts { dense, ..self }
    }

    /// Impulses are found with the velocities at the end of a step, which moves by them; penalties are forces like others.
    pub fn check(&self, scheme: &Scheme) -> Result<(), Error> {
        if !(self.touchable.meet || self.holds) || self.law.works_with(scheme.integrator) {
            return Ok(());
        }
        let (what, found) =
            ("the integrator of a world with hard contact", scheme.integrator.name().to_owned());
        Err(Error::Scheme { what, found, wanted: "`semi-implicit-euler`; with `model = \"penalty\"` any" })
    }

    /// Do particles touch anything? Then forces on them depend on velocities.
    pub fn touch_particles(&self) -> bool {
        self.against.is_some()
    }

    /// Adds the accelerations of robots over a step of length `h` to a program, and the forces on particles.
    pub fn add(
        &self,
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        inputs: &Inputs,
        (robots, parts): (&[Robot], Vec<Part>),
        (particles, holding): (Option<Particles>, Option<&Holding>),
        h: f64,
    ) -> Result<Touched, Error> {
        law_of(&self.law).add(self, &mut Site { p, name, inputs, holding }, (robots, parts), particles, h)
    }

    /// Is there anything that impulses are found for?
    fn solves(&self, parts: &[Part]) -> bool {
        self.touchable.meet || parts.iter().any(|part| !part.held.is_empty())
    }

    /// Is there a shape on a body?
    fn touches(&self, robot: usize, body: usize) -> bool {
        self.touchable.shapes.iter().any(|shape| shape.on.is(robot, body))
    }

    /// Adds the forces between particles and bodies, which push bodies besides what does so already; those on particles. Bodies feel
    /// what pushes particles that they hold.
    fn push(
        &self,
        Site { p, name, inputs, holding }: &mut Site<'_>,
        given: &Given,
        (parts, particles): (&mut [Part], Option<Particles>),
    ) -> Option<Buffer<Vec3>> {
        let (Some(against), Some(particles)) = (&self.against, particles) else { return None };
        let (model, before) = ((&self.touchable, against, given.clone()), before(inputs, given, parts));
        let (force, pushes) = ParticleContact::add(p, name, model, particles, before);
        parts.iter_mut().zip(pushes).for_each(|(part, pushes)| part.pushes = pushes);
        if let Some(holding) = holding {
            holding.pass_on(p, name, (force, "contact"), particles.x, parts);
        }
        Some(force)
    }

    /// Adds what groups of contacts come to in a step of length `h`: all that a step does as far as their forces. With the
    /// residual of impulses, if there are any.
    fn measure(
        &self,
        p: &mut Builder,
        inputs: &Inputs,
        acting: Acting,
        h: f64,
        groups: Vec<Group>,
    ) -> Result<(Sums, Option<Buffer<f64>>), Error> {
        let Led { x, v, holding } = &acting.at;
        let particles = x.particles.and_then(|places| inputs.particles(x, v, p.len(places)));
        let mut site = Site { p: &mut *p, name: &str::to_owned, inputs, holding: holding.as_ref() };
        let parts = (acting.parts, particles);
        let Forces { contacts, source, residual } = law_of(&self.law).forces(self, &mut site, parts, h)?;
        Ok((Measure::add(p, &self.touchable, contacts, source, groups), residual))
    }

    /// Which contacts count, and by which sign.
    fn group(&self, Between { of, with }: Between) -> Group {
        let are = |who: Option<Toucher>| {
            let is = |shape: &Shape| who.is_none_or(|who| shape.belongs_to(who));
            self.touchable.shapes.iter().map(is).collect()
        };
        Group::Between { of: are(of), with: are(with) }
    }

    /// The contacts that read a param: of their surfaces, or of the size of a shape.
    fn reading(&self, params: &Layout, number: usize) -> Group {
        let is = |place: &Place| place.number(params) == Some(number);
        let of_surface = |surface: &Surface| {
            let mut mixed = surface.springs.iter().chain([&surface.mu, &surface.restitution]);
            mixed.any(|mixed| mixed.parts().any(is))
        };
        let of_corners =
            |shape: &Shape| shape.corners.as_ref().is_some_and(|place| place.has(params, number));
        let Touchable { shapes, surfaces, .. } = &*self.touchable;
        Group::Reading {
            surfaces: surfaces.iter().map(of_surface).collect(),
            shapes: shapes.iter().map(|shape| shape.sizes.iter().any(is) || of_corners(shape)).collect(),
        }
    }

    /// Are there contacts that would count?
    fn is_any(&self, group: &Group) -> bool {
        group.is_any(&self.touchable.meetings)
    }

    /// The most contacts of shapes at once.
    pub fn most(&self) -> usize {
        self.touchable.capacity
    }

    /// The largest residual with which impulses have a derivative, for numbers of this precision.
    pub fn largest_residual(&self, epsilon: f64) -> f64 {
        law_of(&self.law).largest_residual(epsilon)
    }
}

/// Robots before contacts push them.
fn before(inputs: &Inputs, given: &Given, parts: &mut [Part]) -> Vec<Before> {
    let of = |(r, part): (usize, &mut Part)| {
        let node = |node: &u32| (*node != WORLD).then_some(*node as usize);
        let nodes = part.tree.node_of_body.iter().map(node).collect();
        let (in_node, bodies) = (inputs.robots[r].bodies, given.bodies[r]);
        Before { nodes, pushes: part.pushes.take(), in_node, bodies }
    };
    parts.iter_mut().enumerate().map(of).collect()
}

/// Buffers, each once.
fn once(uses: impl Iterator<Item = BufferUse>) -> Vec<BufferUse> {
    let mut all: Vec<BufferUse> = Vec::new();
    for one in uses {
        if !all.iter().any(|known| known.is(one)) {
            all.push(one);
        }
    }
    all
}
