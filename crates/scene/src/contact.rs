//! How bodies touch: the model of contact and its numbers.

use crate::simulation::Integrator;

/// How bodies touch. Without it they go through each other and through the ground, and particles through all but the ground.
/// Particles touch shapes by a penalty, whatever the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The law, and how it is solved.
    pub model: ContactModel,
    /// Coefficient of friction of surfaces that say nothing of it.
    pub mu: f64,
    /// Part of the speed that surfaces come back with which say nothing of it: 0 for none, 1 for all.
    pub restitution: f64,
    /// Whether bodies of one robot touch each other, where the robot does not say: see [`Robot::self_collision`].
    ///
    /// [`Robot::self_collision`]: crate::Robot::self_collision
    pub self_collision: bool,
    /// The most contacts that there may be at once; `None`: as many as usual, 256, or 12 for each loose body or robot if that
    /// is more.
    pub most_contacts: Option<usize>,
}

/// A law of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactModel {
    /// `complementarity`: bodies do not enter each other; forces are found with the velocities of a step.
    Complementarity(Complementarity),
    /// `penalty`: springs and dampers where bodies are in each other.
    Penalty(Penalty),
}

/// Hard contact: a gap or a force, never both, and friction within Coulomb's cone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complementarity {
    /// What is differentiated.
    pub gradient: ContactGradient,
    /// How the forces of a step are found.
    pub solver: ContactSolver,
    /// The form of the friction's limit.
    pub friction_cone: FrictionCone,
    /// Most sweeps of Gauss-Seidel, also where it stands in for Newton.
    pub iterations: usize,
    /// Exactly so many sweeps of Gauss-Seidel, without a look at the residual; `None`: until the tolerance is reached.
    pub fixed_iterations: Option<usize>,
    /// Residual at which the forces are good enough, relative to the free velocities.
    pub tolerance: f64,
    /// Part of a gap that a step may close, and of a penetration that it takes back, above 0 and up to 1. Both have one slope, so
    /// that a body at rest is at no kink; below 1, what comes near is braked above the surface.
    pub stabilisation: f64,
    /// Compliance, relative to the diagonal of the matrix of contacts: it makes forces unique.
    pub regularisation: f64,
    /// Distance below which a pair of shapes, or the end of a joint's range, is looked at [m or rad].
    pub margin: f64,
    /// What holds hinges and slides within their ranges.
    pub joint_limits: JointLimits,
    /// What dry friction in joints is.
    pub joint_friction: JointFriction,
}

/// Springs and dampers between surfaces that say nothing of it.
///
/// At depth d, with the approach speed n and the sliding velocity s:  normal force f = max(0, ke d + kd n),
/// friction -min(mu f, kf |s|) s/|s|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// Stiffness [N/m].
    pub ke: f64,
    /// Damping [N·s/m].
    pub kd: f64,
    /// Slope of the friction force at low speed [N·s/m].
    pub kf: f64,
}

/// What the pullback of a contact differentiates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContactGradient {
    /// `implicit`: the equations that the solved forces satisfy.
    #[default]
    Implicit,
    /// `reverse`: the iterations of the solver, one by one.
    Reverse,
}

/// How the forces of a step are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContactSolver {
    /// `newton`: Newton's method on a nonsmooth equation, and Gauss-Seidel where that fails.
    #[default]
    Newton,
    /// `gauss-seidel`: one contact after the other, again and again.
    GaussSeidel,
}

/// The form of the friction's limit, given the normal force f.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FrictionCone {
    /// `circular`: |friction| ≤ mu f, Coulomb's law.
    #[default]
    Circular,
    /// `box`: each of two components is at most mu f, which is simpler and depends on the two directions.
    Box,
}

/// What holds hinges and slides within their ranges; ball joints have springs and dampers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum JointLimits {
    /// `soft`: a spring and a damper beyond the range.
    #[default]
    Soft,
    /// `hard`: impulses that are found with those of contacts, and let no joint out of its range.
    Hard,
}

/// What dry friction in joints is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum JointFriction {
    /// `smooth`: a force that turns round over a width of velocities, so that nothing quite sticks.
    #[default]
    Smooth,
    /// `hard`: impulses that are found with those of contacts; joints stick, or slide.
    Hard,
}

impl Default for Contact {
    /// Hard contact, mu = 0.8, nothing bounces, robots touch themselves.
    fn default() -> Self {
        Self {
            model: ContactModel::default(),
            mu: 0.8,
            restitution: 0.0,
            self_collision: true,
            most_contacts: None,
        }
    }
}

impl Default for ContactModel {
    fn default() -> Self {
        Self::Complementarity(Complementarity::default())
    }
}

impl Default for Complementarity {
    /// Newton with implicit gradients and a circular cone.
    fn default() -> Self {
        Self {
            gradient: ContactGradient::default(),
            solver: ContactSolver::default(),
            friction_cone: FrictionCone::default(),
            iterations: 100,
            fixed_iterations: None,
            tolerance: 1e-12,
            stabilisation: 1.0,
            regularisation: 1e-4,
            margin: 0.01,
            joint_limits: JointLimits::default(),
            joint_friction: JointFriction::default(),
        }
    }
}

impl Default for Penalty {
    /// For bodies of about 1 kg and time steps of 1 ms.
    fn default() -> Self {
        Self { ke: 1e4, kd: 100.0, kf: 100.0 }
    }
}

impl Contact {
    /// Springs and dampers, with all else as it is by default.
    pub fn penalty(ke: f64, kd: f64, kf: f64) -> Self {
        Self { model: ContactModel::Penalty(Penalty { ke, kd, kf }), ..Self::default() }
    }
}

impl ContactModel {
    /// The name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Complementarity(_) => "complementarity",
            Self::Penalty(_) => "penalty",
        }
    }

    /// Whether a step of this integrator can be made with it: forces of complementarity are found with the velocities of a
    /// step, which semi-implicit Euler has one of.
    pub fn works_with(&self, integrator: Integrator) -> bool {
        match self {
            Self::Complementarity(_) => integrator == Integrator::SemiImplicitEuler,
            Self::Penalty(_) => true,
        }
    }
}
