//! Contact: where shapes touch, and the laws by which they push each other.

mod blocks;
mod dynamics;
mod law;
mod place;
mod rows;
mod shapes;
mod solver;
mod touch;
mod touching;

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;
use pullback_scene::{Complementarity, ContactModel, ContactSolver, FrictionCone, Integrator, Scene};

pub(crate) use dynamics::Part;
use dynamics::{ContactDynamics, Outcome, Settings};
use law::Cone;
use rows::{Side, Sides};
use shapes::Shapes;
use solver::Solver;
use touch::{Given, Pinned, Touch, Touchable};

use crate::articulated::Robot;
use crate::articulated::bodies::Bodies;
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
    law: Complementarity,
}

impl Contacts {
    /// What a scene says, and the params of it; none if nothing can touch.
    pub fn new(scene: &Scene, robots: &[Robot]) -> Result<Option<(Contacts, Vec<Block>)>, Error> {
        let Some(contact) = &scene.contact else { return Ok(None) };
        let ContactModel::Complementarity(law) = contact.model else { return Ok(None) };
        let Some(Shapes { touchable, params }) = Shapes::new(scene, robots, law.margin)? else {
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
        let pairs = pairs.map(|near| (near.shapes.map(side), near.softness * law.regularisation)).collect();
        if let Some(robot) = robots.iter().find(|robot| robot.tree().follows() || robot.tree().is_deep()) {
            let (what, found) = ("a robot that touches", robot.name().to_owned());
            let wanted =
                "one in which no joint follows another, and that is not a chain of thousands of links";
            return Err(Error::Scheme { what, found, wanted });
        }
        Ok(Some((Contacts { touchable: Arc::new(touchable), pairs, law }, params)))
    }

    /// Impulses are found with the velocities at the end of a step, which moves by them.
    pub fn check(&self, scheme: &Scheme) -> Result<(), Error> {
        if scheme.integrator == Integrator::SemiImplicitEuler {
            return Ok(());
        }
        let (what, found) =
            ("the integrator of a world with hard contact", scheme.integrator.name().to_owned());
        Err(Error::Scheme { what, found, wanted: "`semi-implicit-euler`; with `model = \"penalty\"` any" })
    }

    /// Adds the accelerations of robots over a step of length `h` to a program.
    pub fn add(
        &self,
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        inputs: &Inputs,
        parts: Vec<Part>,
        h: f64,
    ) -> Result<Outcome, Error> {
        let mut bodies = Vec::new();
        for (r, part) in parts.iter().enumerate() {
            let (q, v) = (part.inputs.q, part.inputs.v);
            let frames = (inputs.robots[r].placements, inputs.robots[r].bodies);
            bodies.push(Bodies::add(p, &name(&format!("robot {r}")), &part.tree, (q, v), frames));
        }
        let given = Given::new(&self.touchable, inputs, bodies)?;
        let contacts = Touch::add(p, name, &self.touchable, given);
        let settings = Settings { solver: self.solver(), h, stabilisation: self.law.stabilisation };
        Ok(ContactDynamics::add(p, name, parts, self.pairs.clone(), contacts, settings))
    }

    /// The largest residual with which impulses have a derivative, for numbers of this precision.
    pub fn largest_residual(&self, epsilon: f64) -> f64 {
        epsilon.powf(0.4).max(self.law.tolerance)
    }

    fn solver(&self) -> Solver {
        Solver {
            cone: match self.law.friction_cone {
                FrictionCone::Circular => Cone::Circular,
                FrictionCone::Box => Cone::Box,
            },
            newton: self.law.solver == ContactSolver::Newton,
            sweeps: self.law.fixed_iterations.unwrap_or(self.law.iterations),
            tolerance: if self.law.fixed_iterations.is_some() { 0.0 } else { self.law.tolerance },
        }
    }
}
