//! Loose bodies: one, or many of a kind, each with a free joint.

use super::{Body, Inertial, Joint, JointKind, Placement, Robot, Shape};

impl Robot {
    /// One loose body at rest, called by this name.
    pub fn loose_body(name: impl Into<String>, placement: Placement, inertial: Inertial) -> Self {
        let name = name.into();
        let body = Body { name: name.clone(), parent: None, placement, inertial };
        let joint = Joint::new(&name, 0, JointKind::Free, [0.0, 0.0, 1.0]);
        Self { name, loose: true, bodies: vec![body], joints: vec![joint], ..Self::default() }
    }

    /// Loose bodies of a kind at rest, called `name[0]`, `name[1]`, ...
    pub fn loose_bodies(name: impl Into<String>, placements: &[Placement], inertial: Inertial) -> Self {
        let name = name.into();
        let names: Vec<String> = (0..placements.len()).map(|i| format!("{name}[{i}]")).collect();
        let free = |(i, name): (usize, &String)| Joint::new(name, i, JointKind::Free, [0.0, 0.0, 1.0]);
        let joints = names.iter().enumerate().map(free).collect();
        let bodies = names.into_iter().zip(placements);
        let body =
            |(name, &placement): (String, &Placement)| Body { name, parent: None, placement, inertial };
        Self { name, loose: true, bodies: bodies.map(body).collect(), joints, ..Self::default() }
    }

    /// Whether loose bodies are counted, `cubes[0]`, `cubes[1]`, ...; else there is one, with the robot's name.
    pub fn indexed(&self) -> bool {
        !matches!(self.bodies.as_slice(), [body] if body.name == self.name)
    }

    /// The same bodies, each with this shape around its centre of mass.
    #[must_use]
    pub fn shaped(mut self, shape: &Shape) -> Self {
        let around = |(i, body): (usize, &Body)| shape.clone().around(i, body.inertial.center);
        self.shapes = self.bodies.iter().enumerate().map(around).collect();
        self
    }
}
