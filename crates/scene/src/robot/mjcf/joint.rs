//! Joints.

use super::compiler::{Compiler, Switches, set};
use super::range::Range;
use crate::error::Error;
use crate::robot::findings::Findings;
use crate::robot::xml::Element;
use crate::robot::{Joint, JointKind, Placement, orientation};

/// What a class or an element says of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointSpec {
    kind: JointKind,
    anchor: [f64; 3],
    axis: [f64; 3],
    range: Range,
    force_range: Range,
    /// Time constant [s] and damping ratio of the limit; when negative, stiffness and damping for each inertia.
    limit: [f64; 2],
    /// Time constant [s] and damping ratio of the spring.
    spring_damper: [f64; 2],
    /// Coefficients of a polynomial.
    stiffness: [f64; 3],
    damping: [f64; 3],
    reference: f64,
    spring_reference: f64,
    armature: f64,
    friction: f64,
}

impl Default for JointSpec {
    fn default() -> Self {
        Self {
            kind: JointKind::Hinge,
            anchor: [0.0; 3],
            axis: [0.0, 0.0, 1.0],
            range: Range::default(),
            force_range: Range::default(),
            limit: [0.02, 1.0],
            spring_damper: [0.0; 2],
            stiffness: [0.0; 3],
            damping: [0.0; 3],
            reference: 0.0,
            spring_reference: 0.0,
            armature: 0.0,
            friction: 0.0,
        }
    }
}

/// A joint, and what of it needs the whole robot.
#[derive(Clone, Debug)]
pub(super) struct JointPart<'x> {
    pub joint: Joint,
    pub element: Element<'x>,
    /// The time constant and damping ratio from which stiffness and damping follow.
    pub spring_damper: Option<[f64; 2]>,
    /// The same of the limit.
    pub limit: [f64; 2],
    /// The range of the sum of all motors' forces.
    pub force_range: Option<[f64; 2]>,
}

impl JointSpec {
    /// Takes over what an element says.
    pub fn read(&mut self, element: Element<'_>) -> Result<(), Error> {
        let kinds = [
            ("hinge", JointKind::Hinge),
            ("slide", JointKind::Slide),
            ("ball", JointKind::Ball),
            ("free", JointKind::Free),
        ];
        set(&mut self.kind, element.choice("type", &kinds)?);
        set(&mut self.anchor, element.numbers("pos")?);
        set(&mut self.axis, element.numbers("axis")?);
        self.range.read(element, "range", "limited")?;
        self.force_range.read(element, "actuatorfrcrange", "actuatorfrclimited")?;
        element.fill("solreflimit", &mut self.limit)?;
        set(&mut self.spring_damper, element.numbers("springdamper")?);
        element.fill("stiffness", &mut self.stiffness)?;
        element.fill("damping", &mut self.damping)?;
        set(&mut self.reference, element.number("ref")?);
        set(&mut self.spring_reference, element.number("springref")?);
        set(&mut self.armature, element.number("armature")?);
        set(&mut self.friction, element.number("frictionloss")?);
        Ok(())
    }

    /// The joint of a body, in a frame of that body.
    pub fn build<'x>(
        &self,
        (element, body, frame): (Element<'x>, usize, &Placement),
        compiler: &Compiler,
        switches: &Switches,
        findings: &mut Findings,
    ) -> Result<JointPart<'x>, Error> {
        let mut joint =
            Joint::new(element.text("name").unwrap_or_default(), body, self.kind, [0.0, 0.0, 1.0]);
        if self.kind != JointKind::Free {
            joint.anchor = frame.apply(self.anchor);
        }
        if let JointKind::Hinge | JointKind::Slide = self.kind {
            let axis = orientation::unit(self.axis).ok_or_else(|| {
                element.error_at("axis", "the axis has no direction", "write a vector that is not zero")
            })?;
            joint.axis = frame.rotate(axis);
            let angle = |value| if self.kind == JointKind::Hinge { compiler.angle(value) } else { value };
            joint.reference = angle(self.reference);
            joint.spring_reference = angle(self.spring_reference);
        }
        if switches.limits {
            joint.range = self.limits(element, compiler)?;
        }
        for (attribute, numbers) in [("stiffness", self.stiffness), ("damping", self.damping)] {
            if numbers[1..] != [0.0; 2] {
                findings.unsupported_at(
                    element,
                    attribute,
                    "a polynomial: only the first coefficient is used",
                );
            }
        }
        joint.armature = self.armature;
        joint.friction = if switches.friction { self.friction } else { 0.0 };
        joint.stiffness = if switches.springs { self.stiffness[0] } else { 0.0 };
        joint.damping = if switches.dampers { self.damping[0] } else { 0.0 };
        Ok(JointPart {
            joint,
            element,
            spring_damper: self.springs_by_time(element)?,
            limit: self.limit,
            force_range: match self.kind {
                JointKind::Hinge | JointKind::Slide => {
                    self.force_range.resolve(element, "actuatorfrcrange", "actuatorfrclimited", compiler)?
                }
                JointKind::Ball | JointKind::Free => None,
            },
        })
    }

    /// The range [rad or m], if the joint is limited.
    fn limits(&self, element: Element<'_>, compiler: &Compiler) -> Result<Option<[f64; 2]>, Error> {
        if self.kind == JointKind::Free {
            return Ok(None);
        }
        let range = self.range.resolve(element, "range", "limited", compiler)?;
        if self.kind == JointKind::Ball && range.is_some_and(|[least, _]| least != 0.0) {
            let fix = "write range=\"0 MOST\": the most that it may turn";
            return Err(element.error_at("range", "the range of a ball joint starts at 0", fix));
        }
        Ok(match self.kind {
            JointKind::Slide | JointKind::Free => range,
            JointKind::Hinge | JointKind::Ball => range.map(|ends| ends.map(|end| compiler.angle(end))),
        })
    }

    fn springs_by_time(&self, element: Element<'_>) -> Result<Option<[f64; 2]>, Error> {
        if self.spring_damper == [0.0; 2] {
            return Ok(None);
        }
        if self.spring_damper.iter().any(|&value| value <= 0.0) {
            let fix = "write springdamper=\"TIME RATIO\", both positive";
            return Err(element.error_at("springdamper", "a number is not positive", fix));
        }
        Ok(Some(self.spring_damper))
    }
}
