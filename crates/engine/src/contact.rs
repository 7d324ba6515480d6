//! Contact: where shapes touch, and the laws by which they push each other.

mod against;
mod blocks;
mod contacts;
mod dynamics;
mod equations;
mod islands;
mod law;
mod one;
mod particles;
mod penalty;
mod place;
mod placed;
mod pull;
mod pushed;
mod rows;
mod shapes;
mod solids;
mod solver;
mod sweeps;
mod touch;
mod touchable;
mod touching;

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder};
use pullback_scene::{Complementarity, ContactGradient, ContactModel, ContactSolver, FrictionCone, Scene};

use against::Against;
pub(crate) use dynamics::Part;
use dynamics::{ContactDynamics, Settings};
use law::Cone;
use particles::ParticleContact;
pub(crate) use particles::Particles;
use penalty::Penalty;
use pushed::Before;
use rows::{Side, Sides};
use shapes::Shapes;
use solver::Solver;
use touch::Touch;
use touchable::{Given, Pinned, Touchable};

use crate::articulated::Robot;
use crate::articulated::bodies::Bodies;
use crate::articulated::tree::WORLD;
use crate::error::Error;
use crate::force::Inputs;
use crate::names::Block;
use crate::step::Scheme;

/// How the shapes of a model touch.
#[derive(Debug)]
pub(crate) struct Contacts {
    touchable: Arc<Touchable>,
    /// Of pairs of shapes: what they are fixed to, and their compliance [1/kg].
    pairs: Vec<(Sides, f64)>,
    /// What particles touch, if there is anything.
    against: Option<Arc<Against>>,
    law: ContactModel,
}

/// What a step of robots and particles that touch comes to.
pub(crate) struct Touched {
    pub accelerations: Vec<Buffer<f64>>,
    /// On each particle [N], if there is anything that they touch.
    pub on_particles: Option<Buffer<Vec3>>,
    /// Of hard contact: how far the impulses are from their law.
    pub residual: Option<Buffer<f64>>,
}

/// How near shapes are looked at whose contact is a penalty [m]: there is nothing above a surface.
const PENALTY_MARGIN: f64 = 0.0;

impl Contacts {
    /// What a scene says, and the params of it; none if nothing can touch.
    pub fn new(scene: &Scene, robots: &[Robot]) -> Result<Option<(Contacts, Vec<Block>)>, Error> {
        let Some(contact) = &scene.contact else { return Ok(None) };
        if let ContactModel::Complementarity(law) = &contact.model
            && law.gradient == ContactGradient::Reverse
            && law.solver != ContactSolver::GaussSeidel
        {
            let (what, found) = ("the solver of contact with `gradient = \"reverse\"`", "newton".to_owned());
            return Err(Error::Scheme {
                what,
                found,
                wanted: "`solver = \"gauss-seidel\"`, whose sweeps are pulled back",
            });
        }
        let (margin, regularisation) = match &contact.model {
            ContactModel::Complementarity(law) => (law.margin, law.regularisation),
            ContactModel::Penalty(_) => (PENALTY_MARGIN, 0.0),
        };
        let Some(Shapes { touchable, against, params }) = Shapes::new(scene, robots, margin)? else {
            return Ok(None);
        };
        let side = |shape: usize| match touchable.shapes[shape].on {
            Pinned::World | Pinned::Ground(_) => None,
            Pinned::Body(robot, body) => {
                let tree = robots[robot].tree();
                tree.moves(body).then(|| Side { robot, node: tree.node_of_body[body] as usize })
            }
        };
        let pairs = touchable.pairs.iter();
        let pairs = pairs.map(|near| (near.shapes.map(side), near.softness * regularisation)).collect();
        let hard = matches!(contact.model, ContactModel::Complementarity(_)) && !touchable.pairs.is_empty();
        let odd = |robot: &&Robot| hard && (robot.tree().follows() || robot.tree().is_deep());
        if let Some(robot) = robots.iter().find(odd) {
            let (what, found) = ("a robot with hard contact", robot.name().to_owned());
            let wanted = "one in which no joint follows another, and no chain of thousands of links";
            return Err(Error::Scheme { what, found, wanted });
        }
        let (touchable, against) = (Arc::new(touchable), against.map(Arc::new));
        Ok(Some((Contacts { touchable, pairs, against, law: contact.model }, params)))
    }

    /// Impulses are found with the velocities at the end of a step, which moves by them; penalties are forces like others.
    pub fn check(&self, scheme: &Scheme) -> Result<(), Error> {
        if self.pairs.is_empty() || self.law.works_with(scheme.integrator) {
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
        (robots, mut parts): (&[Robot], Vec<Part>),
        particles: Option<Particles>,
        h: f64,
    ) -> Result<Touched, Error> {
        let mut bodies = Vec::new();
        for (r, part) in parts.iter().enumerate() {
            let (q, v) = (part.inputs.q, part.inputs.v);
            let frames = (inputs.robots[r].placements, inputs.robots[r].bodies);
            let seen = |body: usize| self.touchable.shapes.iter().any(|shape| shape.on.is(r, body));
            bodies.push(Bodies::add(p, &name(&format!("robot {r}")), &part.tree, (q, v), frames, seen));
        }
        let given = Given::new(&self.touchable, inputs, bodies)?;
        let mut on_particles = None;
        if let (Some(against), Some(particles)) = (&self.against, particles) {
            let model = (&self.touchable, against, given.clone());
            let before = before(inputs, &given, &mut parts);
            let (force, pushes) = ParticleContact::add(p, name, model, particles, before);
            parts.iter_mut().zip(pushes).for_each(|(part, pushes)| part.pushes = pushes);
            on_particles = Some(force);
        }
        let alone = self.pairs.is_empty();
        match &self.law {
            ContactModel::Complementarity(law) if !alone => {
                let contacts = Touch::add(p, name, &self.touchable, given);
                let settings = Settings { solver: solver(law), h, stabilisation: law.stabilisation };
                let out = ContactDynamics::add(p, name, parts, self.pairs.clone(), contacts, settings);
                return Ok(Touched {
                    accelerations: out.accelerations,
                    on_particles,
                    residual: Some(out.residual),
                });
            }
            ContactModel::Penalty(_) if !alone => {
                let contacts = Touch::add(p, name, &self.touchable, given.clone());
                let before = before(inputs, &given, &mut parts);
                let pushes = Penalty::add(p, name, (&self.touchable, given, contacts), before);
                parts.iter_mut().zip(pushes).for_each(|(part, pushes)| part.pushes = pushes);
            }
            ContactModel::Complementarity(_) | ContactModel::Penalty(_) => {}
        }
        let accelerate = |(robot, part): (&Robot, Part)| robot.acceleration(p, name, part);
        let accelerations = robots.iter().zip(parts).map(accelerate).collect();
        Ok(Touched { accelerations, on_particles, residual: None })
    }

    /// The largest residual with which impulses have a derivative, for numbers of this precision.
    pub fn largest_residual(&self, epsilon: f64) -> f64 {
        let tolerance = match &self.law {
            // Sweeps have a derivative however far they got.
            ContactModel::Complementarity(law) if law.gradient == ContactGradient::Reverse => f64::INFINITY,
            ContactModel::Complementarity(law) => law.tolerance,
            ContactModel::Penalty(_) => 0.0,
        };
        epsilon.powf(0.4).max(tolerance)
    }
}

fn solver(law: &Complementarity) -> Solver {
    Solver {
        cone: match law.friction_cone {
            FrictionCone::Circular => Cone::Circular,
            FrictionCone::Box => Cone::Box,
        },
        newton: law.solver == ContactSolver::Newton,
        reverse: law.gradient == ContactGradient::Reverse,
        sweeps: law.fixed_iterations.unwrap_or(law.iterations),
        tolerance: if law.fixed_iterations.is_some() { 0.0 } else { law.tolerance },
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
