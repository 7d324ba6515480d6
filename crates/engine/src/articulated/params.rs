//! The params of a robot: what they are called, what they mean, and what they start from.

use pullback_scene::robot::{self, JointKind, Transmission};

use super::Robot;
use super::log_cholesky::LogCholesky;
use crate::names::{Block, Quantity, Space};

/// The width of dry friction where a file gives none [rad/s or m/s].
const FRICTION_WIDTH: f64 = 0.01;

impl Robot {
    /// Its params.
    pub(crate) fn params(&self) -> Vec<Block> {
        let d = &self.description;
        let bodies = || d.bodies.iter().map(|body| body.name.as_str()).collect::<Vec<_>>();
        let each = |f: &dyn Fn(&robot::Body) -> Vec<f64>| d.bodies.iter().flat_map(f).collect::<Vec<_>>();
        let joints = || d.joints.iter().map(|joint| joint.name.as_str()).collect::<Vec<_>>();
        let of = |f: &dyn Fn(&robot::Joint) -> Vec<f64>| d.joints.iter().flat_map(f).collect::<Vec<_>>();
        let any = |f: &dyn Fn(&robot::Joint) -> bool| d.joints.iter().any(f);
        let rotation =
            Quantity { space: Space::Rotation, ..Quantity::new("1", "how the body is turned in its parent") };
        let mut blocks = self.inertial_params();
        blocks.extend([
            self.block(
                "placement",
                "placement",
                bodies(),
                each(&|b| b.placement.position.to_vec()),
                Quantity::new("m", "origin of the body's frame, in its parent's"),
            ),
            self.block(
                "placement orientation",
                "placement_orientation",
                bodies(),
                each(&|b| b.placement.orientation.to_vec()),
                rotation,
            ),
            self.block(
                "anchor",
                "anchor",
                joints(),
                of(&|j| j.anchor.to_vec()),
                Quantity::new("m", "a point of the joint's axis, in the body's frame"),
            ),
            self.block(
                "axis",
                "axis",
                joints(),
                of(&|j| j.axis.to_vec()),
                Quantity::new("1", "direction of the joint's axis, in the body's frame"),
            ),
            self.block(
                "armature",
                "armature",
                joints(),
                of(&|j| vec![j.armature]),
                Quantity::new("kg·m² or kg", "inertia of the rotor, as it is felt at the joint")
                    .at_least(0.0),
            ),
            self.block(
                "damping",
                "damping",
                joints(),
                of(&|j| vec![j.damping]),
                Quantity::new("N·m·s/rad or N·s/m", "force against the velocity").at_least(0.0),
            ),
        ]);
        if self.hard.friction {
            let joints = self.rubbing();
            let names = joints.iter().map(|(_, j)| j.name.as_str()).collect();
            let values = joints.iter().map(|(_, j)| j.friction).collect();
            let force = Quantity::new("N·m or N", "dry friction").at_least(0.0);
            blocks.push(self.block("friction", "friction", names, values, force));
        } else if any(&|j| j.friction != 0.0) {
            let force = Quantity::new("N·m or N", "dry friction").at_least(0.0);
            let width =
                Quantity::new("rad/s or m/s", "velocity over which dry friction turns round").positive();
            blocks.push(self.block("friction", "friction", joints(), of(&|j| vec![j.friction]), force));
            let widths = vec![FRICTION_WIDTH; d.joints.len()];
            blocks.push(self.block("friction width", "friction_width", joints(), widths, width));
        }
        let numbers = || self.sprung();
        let names = || numbers().iter().map(|(_, j)| j.name.as_str()).collect::<Vec<_>>();
        if any(&|j| j.stiffness != 0.0) {
            let stiffness = Quantity::new("N·m/rad or N/m", "stiffness of the joint's spring").at_least(0.0);
            let rest = Quantity::new("rad or m", "where the joint's spring is at rest");
            let values = numbers().iter().map(|(_, j)| j.stiffness).collect();
            blocks.push(self.block("stiffness", "stiffness", names(), values, stiffness));
            let values = numbers().iter().map(|(_, j)| j.spring_reference).collect();
            blocks.push(self.block("spring reference", "spring_reference", names(), values, rest));
        }
        let limited = self.limited();
        let names = || limited.iter().map(|(_, j)| j.name.as_str()).collect::<Vec<_>>();
        let values = |f: &dyn Fn(&robot::Joint) -> f64| limited.iter().map(|(_, j)| f(j)).collect::<Vec<_>>();
        let ends = |j: &robot::Joint| j.range.unwrap_or_default();
        blocks.extend([
            self.block(
                "lower",
                "lower",
                names(),
                values(&|j| ends(j)[0]),
                Quantity::new("rad or m", "least position"),
            ),
            self.block(
                "upper",
                "upper",
                names(),
                values(&|j| ends(j)[1]),
                Quantity::new("rad or m", "greatest position"),
            ),
        ]);
        // Springs of ball joints, if all others are held.
        let soft = limited.iter().any(|(_, j)| !self.hard.limits || j.kind == JointKind::Ball);
        let names = || if soft { names() } else { Vec::new() };
        blocks.extend([
            self.block(
                "limit stiffness",
                "limit_stiffness",
                names(),
                values(&|j| j.limit.stiffness),
                Quantity::new("N·m/rad or N/m", "stiffness beyond the range").at_least(0.0),
            ),
            self.block(
                "limit damping",
                "limit_damping",
                names(),
                values(&|j| j.limit.damping),
                Quantity::new("N·m·s/rad or N·s/m", "damping beyond the range").at_least(0.0),
            ),
        ]);
        let motors = || d.motors.iter().map(|m| m.name.as_str()).collect::<Vec<_>>();
        let of = |f: &dyn Fn(&robot::Motor) -> Vec<f64>| d.motors.iter().flat_map(f).collect::<Vec<_>>();
        blocks.extend([
            self.block(
                "gear",
                "gear",
                motors(),
                of(&|m| vec![self.gear(m)]),
                Quantity::new("1", "gear of the motor"),
            ),
            self.block(
                "gain",
                "gain",
                motors(),
                of(&|m| m.gain.to_vec()),
                Quantity::new("-", "force per control: constant, per length, per rate"),
            ),
            self.block(
                "bias",
                "bias",
                motors(),
                of(&|m| m.bias.to_vec()),
                Quantity::new("-", "force without control: constant, per length, per rate"),
            ),
        ]);
        let tendons = || d.tendons.iter().map(|t| t.name.as_str()).collect::<Vec<_>>();
        let of = |f: &dyn Fn(&robot::Tendon) -> f64| d.tendons.iter().map(f).collect::<Vec<_>>();
        if d.tendons.iter().any(|t| t.stiffness != 0.0 || t.damping != 0.0) {
            let stiffness = Quantity::new("N/m", "stiffness of the tendon").at_least(0.0);
            let damping = Quantity::new("N·s/m", "damping of the tendon").at_least(0.0);
            blocks.push(self.block(
                "tendon stiffness",
                "stiffness",
                tendons(),
                of(&|t| t.stiffness),
                stiffness,
            ));
            blocks.push(self.block("tendon damping", "damping", tendons(), of(&|t| t.damping), damping));
        }
        blocks.into_iter().flatten().collect()
    }

    /// Mass, centre and inertia of bodies, or what they are made of.
    fn inertial_params(&self) -> Vec<Option<Block>> {
        let d = &self.description;
        let bodies = || d.bodies.iter().map(|body| body.name.as_str()).collect::<Vec<_>>();
        let each = |f: &dyn Fn(&robot::Body) -> Vec<f64>| d.bodies.iter().flat_map(f).collect::<Vec<_>>();
        let center = self.block(
            "center",
            "center",
            bodies(),
            each(&|b| b.inertial.center.to_vec()),
            Quantity::new("m", "centre of mass, in the body's frame"),
        );
        if d.consistent {
            let of = |f: &dyn Fn(LogCholesky) -> Vec<f64>| {
                each(&|b| f(LogCholesky::of(&b.inertial).unwrap_or_default()))
            };
            let block = |field: &str, values, doc: &str| {
                self.block(field, field, bodies(), values, Quantity::new("1", doc))
            };
            return vec![
                block("log_mass", of(&|l| vec![l.log_mass]), "half the logarithm of the mass in kg"),
                center,
                block("stretch", of(&|l| l.stretch.to_vec()), "logarithms of how far the mass reaches"),
                block("shear", of(&|l| l.shear.to_vec()), "how that is sheared [m]: xy, yz, xz"),
            ];
        }
        vec![
            self.block(
                "mass",
                "mass",
                bodies(),
                each(&|b| vec![b.inertial.mass]),
                Quantity::new("kg", "mass of the body").at_least(0.0),
            ),
            center,
            self.block(
                "inertia",
                "inertia",
                bodies(),
                each(&|b| b.inertial.inertia[..3].to_vec()),
                Quantity::new("kg·m²", "inertia about the centre of mass: xx, yy, zz"),
            ),
            self.block(
                "products",
                "products",
                bodies(),
                each(&|b| b.inertial.inertia[3..].to_vec()),
                Quantity::new("kg·m²", "inertia about the centre of mass: xy, xz, yz"),
            ),
        ]
    }

    /// Joints that can have springs and limits: all but free ones.
    pub(crate) fn sprung(&self) -> Vec<(usize, &robot::Joint)> {
        self.joints(&[JointKind::Hinge, JointKind::Slide, JointKind::Ball])
    }

    /// Joints with limits that push back, or hold.
    pub(crate) fn limited(&self) -> Vec<(usize, &robot::Joint)> {
        let mut joints = self.sprung();
        let holds = |j: &robot::Joint| self.hard.limits && j.kind != JointKind::Ball;
        let pushes = |j: &robot::Joint| j.limit.stiffness != 0.0 || j.limit.damping != 0.0;
        joints.retain(|(_, j)| j.range.is_some() && (holds(j) || pushes(j)));
        joints
    }

    /// One gear for a motor: that of a joint with one degree of freedom, or of a tendon.
    fn gear(&self, motor: &robot::Motor) -> f64 {
        match &motor.transmission {
            Transmission::Joint { gear, .. } if gear.len() == 1 => gear[0],
            Transmission::Joint { .. } => 1.0,
            Transmission::Tendon { gear, .. } => *gear,
        }
    }
}
