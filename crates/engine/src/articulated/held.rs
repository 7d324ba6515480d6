//! Which joints impulses hold instead of forces: limits and dry friction in the equations of hard contact.

use pullback_scene::robot::{self, JointKind};
use pullback_scene::{ContactModel, JointFriction, JointLimits, Scene};

use super::Robot;
use super::wiring::Slots;
use crate::contact::{At, Held, Range};
use crate::error::Error;

/// What impulses do at the joints of a robot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HardJoints {
    /// Hinges and slides have their limits from impulses; ball joints keep their springs.
    pub limits: bool,
    pub friction: bool,
}

impl Robot {
    /// The same robot in a scene, whose contact may hold joints.
    pub(crate) fn held_as(mut self, scene: &Scene) -> Robot {
        if let Some(ContactModel::Complementarity(law)) = scene.contact.map(|contact| contact.model) {
            self.hard = HardJoints {
                limits: law.joint_limits == JointLimits::Hard,
                friction: law.joint_friction == JointFriction::Hard,
            };
        }
        self
    }

    /// Does an impulse hold any of its joints?
    pub(crate) fn is_held(&self) -> bool {
        let limited = || self.limited().iter().any(|(_, joint)| joint.kind != JointKind::Ball);
        (self.hard.limits && limited()) || (self.hard.friction && !self.rubbing().is_empty())
    }

    /// Joints with dry friction.
    pub(crate) fn rubbing(&self) -> Vec<(usize, &robot::Joint)> {
        self.description.joints.iter().enumerate().filter(|(_, joint)| joint.friction != 0.0).collect()
    }

    /// The degrees of freedom that impulses hold, in the order of the tree.
    pub(super) fn held(&self, params: &Slots<'_>) -> Result<Vec<Held>, Error> {
        let d = &self.description;
        let mut held = Vec::new();
        if !self.is_held() {
            return Ok(held);
        }
        let (limited, rubbing) = (self.limited(), self.rubbing());
        let param = |field: &str, joints: &[(usize, &robot::Joint)], j: usize| {
            let Some(at) = joints.iter().position(|(other, _)| *other == j) else { return Ok(None) };
            Ok::<_, Error>(Some(At::Scalar(params.get::<f64>(d, field)?, at)))
        };
        for (n, node) in self.tree.nodes.iter().enumerate() {
            let (j, first) = (node.joint as usize, node.dof as usize);
            let friction = if self.hard.friction { param("friction", &rubbing, j)? } else { None };
            let mut range = None;
            if self.hard.limits
                && matches!(node.kind, JointKind::Hinge | JointKind::Slide)
                && let Some(lower) = param("lower", &limited, j)?
                && let Some(upper) = param("upper", &limited, j)?
            {
                let offset = node.shift + d.joints[j].reference;
                range = Some(Range { position: node.q as usize, offset, lower, upper });
            }
            if range.is_some() || friction.is_some() {
                let dofs = first..first + node.kind.velocities();
                held.extend(dofs.map(|dof| Held { node: n, dof, range, friction }));
            }
        }
        Ok(held)
    }
}
