//! Tendons: fixed ones are linear combinations of joints.

use super::class::{Classes, MAIN};
use super::compiler::{Compiler, Switches, set};
use super::geom::unknown;
use super::parts::Tree;
use super::range::Range;
use crate::error::Error;
use crate::robot::findings::Findings;
use crate::robot::xml::Element;
use crate::robot::{Joint, JointKind, Tendon};

/// What a class or an element says of a tendon.
#[derive(Clone, Copy, Debug)]
pub(super) struct TendonSpec {
    stiffness: [f64; 3],
    damping: [f64; 3],
    /// Where its spring is at rest; -1: where it is when all joints are at rest.
    spring: [f64; 2],
    range: Range,
    force_range: Range,
    friction: f64,
    armature: f64,
}

impl Default for TendonSpec {
    fn default() -> Self {
        Self {
            stiffness: [0.0; 3],
            damping: [0.0; 3],
            spring: [-1.0; 2],
            range: Range::default(),
            force_range: Range::default(),
            friction: 0.0,
            armature: 0.0,
        }
    }
}

impl TendonSpec {
    /// Takes over what an element says.
    pub fn read(&mut self, element: Element<'_>) -> Result<(), Error> {
        element.fill("stiffness", &mut self.stiffness)?;
        element.fill("damping", &mut self.damping)?;
        if element.text("springlength").is_some() {
            let mut ends = [f64::NAN; 2];
            element.fill("springlength", &mut ends)?;
            self.spring = if ends[1].is_nan() { [ends[0]; 2] } else { ends };
            if self.spring[0] > self.spring[1] {
                let fix = "write one length, or the smaller of two first";
                return Err(element.error_at("springlength", "the spring is at rest nowhere", fix));
            }
        }
        self.range.read(element, "range", "limited")?;
        self.force_range.read(element, "actuatorfrcrange", "actuatorfrclimited")?;
        set(&mut self.friction, element.number("frictionloss")?);
        set(&mut self.armature, element.number("armature")?);
        Ok(())
    }

    /// Reports what is not supported.
    fn report(
        &self,
        element: Element<'_>,
        (compiler, switches): (&Compiler, &Switches),
        findings: &mut Findings,
    ) -> Result<(), Error> {
        if switches.limits && self.range.resolve(element, "range", "limited", compiler)?.is_some() {
            findings.unsupported_at(element, "range", "limits of tendons are not supported");
        }
        let forces = self.force_range.resolve(element, "actuatorfrcrange", "actuatorfrclimited", compiler)?;
        if forces.is_some() {
            findings.unsupported_at(
                element,
                "actuatorfrcrange",
                "limits of forces on tendons are not supported",
            );
        }
        if switches.friction && self.friction != 0.0 {
            findings.unsupported_at(element, "frictionloss", "friction of tendons is not supported");
        }
        if self.armature != 0.0 {
            findings.unsupported_at(element, "armature", "inertia of tendons is not supported");
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
        Ok(())
    }
}

/// The tendons of a file.
pub(super) struct Tendons<'x> {
    pub tendons: Vec<Tendon>,
    /// The names of those that are not supported.
    pub left_out: Vec<&'x str>,
}

/// Reads all `<tendon>`.
pub(super) fn read<'x>(
    tree: &Tree<'x>,
    classes: &Classes,
    (compiler, switches): (&Compiler, &Switches),
    joints: &[Joint],
    findings: &mut Findings,
) -> Result<Tendons<'x>, Error> {
    let (mut tendons, mut left_out) = (Vec::new(), Vec::new());
    for section in tree.sections("tendon") {
        for element in tree.children(section) {
            if element.name() != "fixed" {
                findings.unsupported(element, "tendons through space are not supported");
                left_out.extend(element.text("name"));
                continue;
            }
            let mut spec = classes.of(element, MAIN)?.tendon;
            spec.read(element)?;
            spec.report(element, (compiler, switches), findings)?;
            let joints_of = combination(tree, element, joints)?;
            let rest: f64 = joints_of.iter().map(|&(at, factor)| factor * joints[at].spring_reference).sum();
            tendons.push(Tendon {
                name: element.text("name").unwrap_or_default().to_owned(),
                joints: joints_of,
                stiffness: if switches.springs { spec.stiffness[0] } else { 0.0 },
                damping: if switches.dampers { spec.damping[0] } else { 0.0 },
                spring_range: if spec.spring == [-1.0; 2] { [rest; 2] } else { spec.spring },
            });
        }
    }
    Ok(Tendons { tendons, left_out })
}

fn combination<'x>(
    tree: &Tree<'x>,
    element: Element<'x>,
    joints: &[Joint],
) -> Result<Vec<(usize, f64)>, Error> {
    let mut combined = Vec::new();
    for part in tree.children(element) {
        let name = part.required_text("joint")?;
        let at = joints
            .iter()
            .position(|joint| joint.name == name)
            .ok_or_else(|| unknown(part, "joint", "joint", joints.iter().map(|joint| joint.name.as_str())))?;
        match joints[at].kind {
            JointKind::Hinge | JointKind::Slide => {}
            JointKind::Ball | JointKind::Free => {
                let fix = "name a hinge or a slide";
                return Err(part.error_at("joint", "the joint has no single position", fix));
            }
        }
        combined.push((at, part.required_number("coef")?));
    }
    if combined.is_empty() {
        return Err(
            element.error("the tendon has no joints", "write `<joint joint=\"NAME\" coef=\"1\"/>` inside")
        );
    }
    Ok(combined)
}
