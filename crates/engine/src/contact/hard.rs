//! The model `complementarity`: impulses with which nothing goes into anything else by the end of a step.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_scene::{Complementarity, ContactGradient, ContactSolver, FrictionCone, Penalty};

use super::bodies::{Placed, TouchingBodies};
use super::dynamics::{ContactDynamics, Outcome, Settings, Shared};
use super::joints::JointRows;
use super::law::Cone;
use super::laws::{ContactLaw, Forces, Site};
use super::measure::Source;
use super::rows::OnSide;
use super::solver::Solver;
use super::touch::Touch;
use super::touchable::Given;
use super::{Contacts, Part, Particles, Touched, contacts};
use crate::articulated::Robot;
use crate::error::Error;

/// Contacts, and what their impulses come to.
struct Solved {
    contacts: contacts::Contacts,
    accelerations: Vec<Buffer<f64>>,
    impulses: Buffer<Vec3>,
    residual: Buffer<f64>,
    on_particles: Option<Buffer<Vec3>>,
}

impl ContactLaw for Complementarity {
    fn check(&self) -> Result<(), Error> {
        if self.gradient == ContactGradient::Implicit || self.solver == ContactSolver::GaussSeidel {
            return Ok(());
        }
        let (what, found) = ("the solver of contact with `gradient = \"reverse\"`", "newton".to_owned());
        let wanted = "`solver = \"gauss-seidel\"`, whose sweeps are pulled back";
        Err(Error::Scheme { what, found, wanted })
    }

    fn check_robot(&self, robot: &Robot) -> Result<(), Error> {
        if !(robot.tree().follows() || robot.tree().is_deep()) {
            return Ok(());
        }
        let (what, found) = ("a robot with hard contact", robot.name().to_owned());
        let wanted = "one in which no joint follows another, and no chain of thousands of links";
        Err(Error::Scheme { what, found, wanted })
    }

    fn margin(&self) -> f64 {
        self.margin
    }

    fn regularisation(&self) -> f64 {
        self.regularisation
    }

    fn reads(&self, number: &str) -> bool {
        matches!(number, "mu" | "restitution")
    }

    fn add(
        &self,
        contacts: &Contacts,
        site: &mut Site<'_>,
        (robots, parts): (&[Robot], Vec<Part>),
        particles: Option<Particles>,
        h: f64,
    ) -> Result<Touched, Error> {
        if !contacts.solves(&parts) {
            // What is left is what particles do.
            return Penalty::default().add(contacts, site, (robots, parts), particles, h);
        }
        let Solved { accelerations, on_particles, residual, .. } =
            solve(self, contacts, site, (parts, particles), h)?;
        Ok(Touched { accelerations, on_particles, residual: Some(residual) })
    }

    fn forces(
        &self,
        contacts: &Contacts,
        site: &mut Site<'_>,
        parts: (Vec<Part>, Option<Particles>),
        h: f64,
    ) -> Result<Forces, Error> {
        let Solved { contacts, impulses, residual, .. } = solve(self, contacts, site, parts, h)?;
        Ok(Forces { contacts, source: Source::Impulses(impulses, 1.0 / h), residual: Some(residual) })
    }

    fn largest_residual(&self, epsilon: f64) -> f64 {
        match self.gradient {
            // Sweeps have a derivative however far they got.
            ContactGradient::Reverse => f64::INFINITY,
            // Also where the tolerance of a scene is larger: that says how far to go, not what is exact.
            ContactGradient::Implicit => epsilon.powf(0.4),
        }
    }
}

/// Adds where bodies touch, and by which impulses.
fn solve(
    law: &Complementarity,
    all: &Contacts,
    site: &mut Site<'_>,
    (mut parts, particles): (Vec<Part>, Option<Particles>),
    h: f64,
) -> Result<Solved, Error> {
    let joints = Arc::new(JointRows::new(&parts, all.touchable.margin, h));
    let shapes: Vec<OnSide> = all.shapes.iter().copied().chain(joints.sides()).collect();
    let capacity = all.touchable.capacity + joints.len();
    let shared = Shared::new(site.p, site.name, &parts, &shapes, capacity);
    let mut bodies = Vec::new();
    for (r, part) in parts.iter().enumerate() {
        let place = Placed {
            in_node: site.inputs.robots[r].bodies,
            memory: shared.memory,
            start: shared.starts[r],
            alone: all.touchable.alone,
        };
        let (name, seen) = ((site.name)(&format!("robot {r}")), |body: usize| all.touches(r, body));
        bodies.push(TouchingBodies::add(site.p, &name, part, place, seen));
    }
    let given = Given::new(&all.touchable, site.inputs, bodies.clone())?;
    let on_particles = all.push(site, &given, (&mut parts, particles));
    let contacts = Touch::add(site.p, site.name, &all.touchable, given, &joints, h);
    let dense = all.touchable.alone.then_some(all.dense);
    let settings = Settings { solver: solver(law), h, stabilisation: law.stabilisation, dense };
    let robots = (parts, bodies);
    let Outcome { accelerations, impulses, residual } =
        ContactDynamics::add(site.p, site.name, robots, shapes, (contacts, joints), settings, shared)?;
    Ok(Solved { contacts, accelerations, impulses, residual, on_particles })
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
        weight: 1.0,
        tolerance: if law.fixed_iterations.is_some() { 0.0 } else { law.tolerance },
    }
}
