//! The model `penalty`: springs, dampers and friction that push bodies out of each other.

use std::sync::Arc;

use super::joints::JointRows;
use super::laws::{ContactLaw, Forces, Site};
use super::measure::Source;
use super::springs::Springs;
use super::touch::Touch;
use super::touchable::Given;
use super::{Contacts, Part, Particles, Touched, before, contacts, penalty};
use crate::articulated::Robot;
use crate::articulated::bodies::Bodies;
use crate::error::Error;

impl ContactLaw for pullback_scene::Penalty {
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    fn check_robot(&self, _: &Robot) -> Result<(), Error> {
        Ok(())
    }

    /// There is nothing above a surface.
    fn margin(&self) -> f64 {
        0.0
    }

    fn regularisation(&self) -> f64 {
        0.0
    }

    fn reads(&self, number: &str) -> bool {
        matches!(number, "mu" | "ke" | "kd" | "kf")
    }

    fn add(
        &self,
        contacts: &Contacts,
        site: &mut Site<'_>,
        (robots, mut parts): (&[Robot], Vec<Part>),
        particles: Option<Particles>,
        _: f64,
    ) -> Result<Touched, Error> {
        let given = place(contacts, site, &parts)?;
        let on_particles = contacts.push(site, &given, (&mut parts, particles));
        if contacts.touchable.meet {
            let touching = touch(contacts, site, &given);
            let before = before(site.inputs, &given, &mut parts);
            let model = (&contacts.touchable, given, touching);
            let pushes = penalty::Penalty::add(site.p, site.name, model, before);
            parts.iter_mut().zip(pushes).for_each(|(part, pushes)| part.pushes = pushes);
        }
        let accelerate = |(robot, part): (&Robot, Part)| robot.acceleration(site.p, site.name, part);
        let accelerations = robots.iter().zip(parts).map(accelerate).collect();
        Ok(Touched { accelerations, on_particles, residual: None })
    }

    fn forces(
        &self,
        contacts: &Contacts,
        site: &mut Site<'_>,
        (parts, _): (Vec<Part>, Option<Particles>),
        _: f64,
    ) -> Result<Forces, Error> {
        let given = place(contacts, site, &parts)?;
        let touching = touch(contacts, site, &given);
        let source = Source::Springs(Springs { contacts: touching, surfaces: given.surfaces });
        Ok(Forces { contacts: touching, source, residual: None })
    }

    /// There is nothing to solve.
    fn largest_residual(&self, _: f64) -> f64 {
        f64::INFINITY
    }
}

/// Adds bodies whose accelerations do not wait for where they touch.
fn place(contacts: &Contacts, site: &mut Site<'_>, parts: &[Part]) -> Result<Given, Error> {
    let mut bodies = Vec::new();
    for (r, part) in parts.iter().enumerate() {
        let (q, v) = (part.inputs.q, part.inputs.v);
        let frames = (site.inputs.robots[r].placements, site.inputs.robots[r].bodies);
        let (name, seen) = ((site.name)(&format!("robot {r}")), |body: usize| contacts.touches(r, body));
        bodies.push(Bodies::add(site.p, &name, &part.tree, (q, v), frames, seen));
    }
    Given::new(&contacts.touchable, site.inputs, bodies)
}

/// Adds where they touch: springs push where shapes are in each other already.
fn touch(contacts: &Contacts, site: &mut Site<'_>, given: &Given) -> contacts::Contacts {
    Touch::add(site.p, site.name, &contacts.touchable, given.clone(), &Arc::new(JointRows::default()), 0.0)
}
