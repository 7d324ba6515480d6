//! What a loss can measure of contacts.

/// What touches: a part of the scene that has shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Toucher {
    /// The ground.
    Ground,
    /// A shape of the world, as an index of [`Scene::shapes`](crate::Scene::shapes).
    Fixed(usize),
    /// All shapes of a robot, or of a group of loose bodies, as an index of [`Scene::robots`](crate::Scene::robots).
    Robot(usize),
    /// All shapes of a body.
    Body {
        /// The robot.
        robot: usize,
        /// The body, as an index of its bodies.
        body: usize,
    },
    /// One shape of a robot.
    Shape {
        /// The robot.
        robot: usize,
        /// The shape, as an index of its shapes.
        shape: usize,
    },
}

/// A number of contacts, or three, and what it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactQuantity {
    /// The sum of the forces on what is measured, in the axes of the world [N].
    Force {
        /// What it should be [N].
        target: [f64; 3],
        /// The axes that count.
        axes: [bool; 3],
    },
    /// The sum of the forces across the surfaces [N].
    NormalForce {
        /// What it should be [N].
        target: f64,
    },
    /// The size of the sum of the forces along the surfaces [N].
    FrictionForce {
        /// What it should be [N].
        target: f64,
    },
    /// √Σ depth² over the contacts whose shapes are in each other [m]: of one contact, its depth.
    Penetration {
        /// What it should be [m].
        target: f64,
    },
}

impl ContactQuantity {
    /// The name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Force { .. } => "force",
            Self::NormalForce { .. } => "normal-force",
            Self::FrictionForce { .. } => "friction-force",
            Self::Penetration { .. } => "penetration",
        }
    }

    /// Is it of a step, rather than of a state?
    pub fn is_of_a_step(&self) -> bool {
        match self {
            Self::Force { .. } | Self::NormalForce { .. } | Self::FrictionForce { .. } => true,
            Self::Penetration { .. } => false,
        }
    }
}
