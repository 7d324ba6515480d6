//! Names of what touches: `ground`, `ramp`, `arm`, `arm.hand`, `ball`, `cubes[3]`.

use super::PartNames;
use crate::contact_loss::Toucher;
use crate::error::Invalid;
use crate::particles::Particles;
use crate::robot::{Robot, Shape};
use crate::scene::Scene;
use crate::words;

/// Finds what touches by name. A body is found before a shape of the same name.
pub(crate) struct TouchNames<'s> {
    parts: PartNames<'s>,
    ground: bool,
    shapes: &'s [Shape],
    particles: &'s [Particles],
}

impl<'s> TouchNames<'s> {
    pub fn new(scene: &'s Scene) -> Self {
        Self {
            parts: PartNames::new(&scene.robots),
            ground: scene.ground.is_some(),
            shapes: &scene.shapes,
            particles: &scene.particles,
        }
    }

    /// The ground, the fixed shape, robot, body or shape of a name.
    pub fn find(&self, name: &str) -> Result<Toucher, Invalid> {
        if name == "ground" {
            return match self.ground {
                true => Ok(Toucher::Ground),
                false => Err(Invalid::new(name, "the scene has no ground", "add a section `[ground]`")),
            };
        }
        if let Some(shape) = self.shapes.iter().position(|shape| shape.name == name) {
            return Ok(Toucher::Fixed(shape));
        }
        if let Some(robot) = self.parts.whole(name) {
            return Ok(Toucher::Robot(robot));
        }
        if self.particles.iter().any(|group| group.name == name.split(['[', '.']).next().unwrap_or(name)) {
            let what = format!("{} are particles, whose contacts are not seen", words::quoted(name));
            let fix = "contacts are seen between the ground, shapes, bodies and robots: name one of those";
            return Err(Invalid::new(name, what, fix));
        }
        self.parts.body_or_shape(name)
    }
}

impl PartNames<'_> {
    /// The robot, or the group of loose bodies, of a name.
    fn whole(&self, name: &str) -> Option<usize> {
        let of_group = || {
            let group = self.loose.groups.iter().position(|group| group.indexed && group.name == name)?;
            Some(self.of_loose[group])
        };
        self.by_name.get(name).copied().or_else(of_group)
    }

    /// The body, loose or of a robot, or the shape of a robot.
    fn body_or_shape(&self, name: &str) -> Result<Toucher, Invalid> {
        if self.loose.knows(name) {
            let (group, body) = self.loose.find(name)?;
            return Ok(Toucher::Body { robot: self.of_loose[group], body });
        }
        let (robot, inner) = self.within(name, "body or shape")?;
        let Robot { bodies, shapes, .. } = &self.robots[robot];
        if let Some(body) = bodies.iter().position(|body| body.name == inner) {
            return Ok(Toucher::Body { robot, body });
        }
        let shape = shapes.iter().position(|shape| shape.name == inner);
        shape.map(|shape| Toucher::Shape { robot, shape }).ok_or_else(|| {
            let named = shapes.iter().map(|shape| shape.name.as_str()).filter(|name| !name.is_empty());
            let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).chain(named).collect();
            self.no_inner(robot, name, "body or shape", "bodies and shapes", &names)
        })
    }
}

impl Scene {
    /// What a name such as `ground`, `ramp` (a fixed shape), `arm` (a robot), `arm.hand` (its body or shape), `ball` (a loose
    /// body) or `cubes[3]` stands for, as far as contact is concerned. Where a body and a shape have one name, the body is meant.
    ///
    /// # Errors
    ///
    /// When there is none; the nearest name is suggested.
    pub fn toucher(&self, name: &str) -> Result<Toucher, Invalid> {
        TouchNames::new(self).find(name)
    }

    /// The name of what touches. What is not there is written `#index`.
    pub fn toucher_name(&self, toucher: Toucher) -> String {
        let number = |index: usize| format!("#{index}");
        let or = |name: Option<&String>, index: usize| match name {
            Some(name) if !name.is_empty() => name.clone(),
            Some(_) | None => number(index),
        };
        match toucher {
            Toucher::Ground => "ground".into(),
            Toucher::Fixed(shape) => or(self.shapes.get(shape).map(|it| &it.name), shape),
            Toucher::Robot(robot) => or(self.robots.get(robot).map(|it| &it.name), robot),
            Toucher::Body { robot, body } => self.part_name(crate::Part::Body { robot, body }),
            Toucher::Shape { robot, shape } => {
                let it = self.robots.get(robot);
                let name = or(it.and_then(|it| it.shapes.get(shape)).map(|it| &it.name), shape);
                format!("{}.{name}", or(it.map(|it| &it.name), robot))
            }
        }
    }

    /// Is it there?
    pub(crate) fn has_toucher(&self, toucher: Toucher) -> bool {
        let robot = |robot: usize| self.robots.get(robot);
        match toucher {
            Toucher::Ground => self.ground.is_some(),
            Toucher::Fixed(shape) => shape < self.shapes.len(),
            Toucher::Robot(at) => robot(at).is_some(),
            Toucher::Body { robot: at, body } => robot(at).is_some_and(|it| body < it.bodies.len()),
            Toucher::Shape { robot: at, shape } => robot(at).is_some_and(|it| shape < it.shapes.len()),
        }
    }
}

/// What a name that does not fit is about.
pub(crate) fn missing(path: String, toucher: Toucher) -> Invalid {
    let (word, index) = match toucher {
        Toucher::Ground => return Invalid::new(path, "the scene has no ground", "add a `ground`"),
        Toucher::Fixed(shape) => ("shape", shape),
        Toucher::Robot(robot) => ("robot", robot),
        Toucher::Body { body, .. } => ("body", body),
        Toucher::Shape { shape, .. } => ("shape", shape),
    };
    let fix = format!("{} are counted from 0", words::plural(word));
    Invalid::new(path, format!("there is no {word} {index}"), fix)
}
