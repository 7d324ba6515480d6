//! Particles that are held to bodies.

use crate::problem::Part;

/// Particles, such as points of a solid or sheet, that are held to a body or frame of a robot, each at the place of it where
/// it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Its name.
    pub name: String,
    /// The particles, counted over all groups in order.
    pub points: Vec<usize>,
    /// What they are held to.
    pub part: Part,
    /// Stiffness of each hold [N/m]; `None`: they are held fast.
    pub stiffness: Option<f64>,
    /// Damping of each hold [N·s/m]; 0 where they are held fast.
    pub damping: f64,
}

impl Attachment {
    /// Particles that are held fast.
    pub fn new(name: impl Into<String>, points: Vec<usize>, part: Part) -> Self {
        Self { name: name.into(), points, part, stiffness: None, damping: 0.0 }
    }

    /// The same particles, held by springs of this stiffness [N/m] and damping [N·s/m].
    #[must_use]
    pub fn springs(self, stiffness: f64, damping: f64) -> Self {
        Self { stiffness: Some(stiffness), damping, ..self }
    }
}
