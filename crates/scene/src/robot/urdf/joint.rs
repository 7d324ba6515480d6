//! Joints of URDF.

use std::collections::HashMap;

use super::Reader;
use crate::error::Error;
use crate::robot::xml::Element;
use crate::robot::{Joint, JointKind, Mimic, Motor, Transmission, orientation};
use crate::words;

const ATTRIBUTES: [&str; 2] = ["name", "type"];

/// The last two are for controllers, and are not used.
const ELEMENTS: [&str; 9] =
    ["origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"];

/// What a joint lets its link do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Revolute,
    Continuous,
    Prismatic,
    Fixed,
    Floating,
    Planar,
    Spherical,
}

/// The last is an extension that other programs read too.
const TYPES: [(&str, Type); 7] = [
    ("revolute", Type::Revolute),
    ("continuous", Type::Continuous),
    ("prismatic", Type::Prismatic),
    ("fixed", Type::Fixed),
    ("floating", Type::Floating),
    ("planar", Type::Planar),
    ("spherical", Type::Spherical),
];

/// A joint between two links, which are given by their places.
pub(super) struct Connection<'x> {
    pub element: Element<'x>,
    pub parent: usize,
    pub child: usize,
    kind: Type,
}

/// What `<limit>` says.
#[derive(Default)]
struct Limits {
    range: Option<[f64; 2]>,
    effort: Option<f64>,
    speed: Option<f64>,
}

impl<'x> Connection<'x> {
    pub fn new(element: Element<'x>, links: &HashMap<&'x str, usize>) -> Result<Self, Error> {
        let end = |name: &str| {
            let end = element.required_child(name)?;
            let link = end.required_text("link")?;
            links.get(link).copied().ok_or_else(|| {
                let mut names: Vec<&str> = links.keys().copied().collect();
                names.sort_unstable();
                let fix = words::suggest(link, &names, format!("the links are {}", words::list(&names)));
                end.error_at("link", format!("there is no link {}", words::quoted(link)), fix)
            })
        };
        let kind = element.choice("type", &TYPES)?.ok_or_else(|| element.missing("type"))?;
        Ok(Self { element, parent: end("parent")?, child: end("child")?, kind })
    }

    /// Does it not move at all?
    pub fn is_fixed(&self) -> bool {
        self.kind == Type::Fixed
    }

    /// Does it move in every way?
    pub fn is_floating(&self) -> bool {
        self.kind == Type::Floating
    }
}

impl<'x> Reader<'_, 'x> {
    /// The joints of a body: none, one, or the three of a planar one.
    pub fn joints(&mut self, connection: &Connection<'x>, body: usize) -> Result<(), Error> {
        let element = connection.element;
        self.findings.warn_of_unknown(element, &ATTRIBUTES, &ELEMENTS);
        let name = element.required_text("name")?;
        let hinge = |name: &str, axis| Joint::new(name, body, JointKind::Hinge, axis);
        let slide = |name: &str, axis| Joint::new(name, body, JointKind::Slide, axis);
        match connection.kind {
            Type::Fixed => {}
            Type::Floating => {
                self.unlimited(element, Joint::new(name, body, JointKind::Free, [0.0, 0.0, 1.0]))
            }
            Type::Spherical => {
                self.unlimited(element, Joint::new(name, body, JointKind::Ball, [0.0, 0.0, 1.0]))
            }
            Type::Revolute => {
                let limits = self.limits(element, true)?;
                self.moving(element, hinge(name, axis(element)?), &limits)?;
            }
            Type::Continuous => {
                let limits = Limits { range: None, ..self.limits(element, false)? };
                self.moving(element, hinge(name, axis(element)?), &limits)?;
            }
            Type::Prismatic => {
                let limits = self.limits(element, true)?;
                self.moving(element, slide(name, axis(element)?), &limits)?;
            }
            // The axis is the normal of the plane.
            Type::Planar => {
                let [x, y, normal] = plane(axis(element)?);
                let limits = Limits { range: None, ..self.limits(element, false)? };
                self.moving(element, slide(&format!("{name}.x"), x), &limits)?;
                self.moving(element, slide(&format!("{name}.y"), y), &limits)?;
                self.moving(element, hinge(&format!("{name}.angle"), normal), &limits)?;
            }
        }
        Ok(())
    }

    /// A joint without limits and motors.
    fn unlimited(&mut self, element: Element<'x>, joint: Joint) {
        self.robot.joints.push(joint);
        self.joints.push(element);
    }

    /// A hinge or slide with its limits and friction, and its motor unless it follows another.
    fn moving(&mut self, element: Element<'x>, mut joint: Joint, limits: &Limits) -> Result<(), Error> {
        joint.range = limits.range;
        joint.effort = limits.effort;
        joint.speed = limits.speed;
        if let Some(dynamics) = element.child("dynamics")? {
            self.findings.warn_of_unknown(dynamics, &["damping", "friction"], &[]);
            joint.damping = not_negative(dynamics, "damping")?.unwrap_or(0.0);
            joint.friction = not_negative(dynamics, "friction")?.unwrap_or(0.0);
        }
        let at = self.robot.joints.len();
        match element.child("mimic")? {
            Some(mimic) => self.mimics.push((at, mimic)),
            None => self.robot.motors.push(motor(&joint, at)),
        }
        self.robot.joints.push(joint);
        self.joints.push(element);
        Ok(())
    }

    fn limits(&mut self, element: Element<'x>, required: bool) -> Result<Limits, Error> {
        let Some(limit) = element.child("limit")? else {
            if required {
                let fix = "write `<limit lower=\"-1\" upper=\"1\" effort=\"10\" velocity=\"1\"/>`, or use `continuous` for a \
                           hinge without limits";
                self.findings.refuse(element.error("it has no `<limit>`", fix))?;
            }
            return Ok(Limits::default());
        };
        let (lower, upper) = (limit.number("lower")?, limit.number("upper")?);
        let range = [lower.unwrap_or(0.0), upper.unwrap_or(0.0)];
        if required && lower.is_none() && upper.is_none() {
            let fix = "write lower=\"...\" and upper=\"...\", or use `continuous` for a hinge without limits";
            self.findings.warn(|| limit.error("it has neither `lower` nor `upper`, so that both are 0", fix));
        }
        let ordered = range[0] <= range[1];
        if !ordered {
            let what = format!("the range goes from {} to {}", range[0], range[1]);
            let fix = "write the smaller number as `lower`, the larger as `upper`";
            self.findings.refuse(limit.error(what, fix))?;
        }
        Ok(Limits {
            range: ordered.then_some(range),
            effort: not_negative(limit, "effort")?,
            speed: not_negative(limit, "velocity")?,
        })
    }

    /// Finds the joints that others follow.
    pub fn follow(&mut self) -> Result<(), Error> {
        let places: HashMap<&str, usize> =
            self.robot.joints.iter().enumerate().map(|(at, joint)| (joint.name.as_str(), at)).collect();
        let mut found = Vec::new();
        for (at, element) in &self.mimics {
            let name = element.required_text("joint")?;
            let followed = places.get(name).copied().filter(|&followed| {
                matches!(self.robot.joints[followed].kind, JointKind::Hinge | JointKind::Slide)
            });
            let Some(joint) = followed else {
                let names: Vec<&str> = self.robot.joints.iter().map(|joint| joint.name.as_str()).collect();
                let what = format!("there is no hinge or slide {}", words::quoted(name));
                let fix = words::suggest(name, &names, format!("the joints are {}", words::list(&names)));
                self.findings.refuse(element.error_at("joint", what, fix))?;
                continue;
            };
            let multiplier = element.number("multiplier")?.unwrap_or(1.0);
            let offset = element.number("offset")?.unwrap_or(0.0);
            found.push((*at, Mimic { joint, multiplier, offset }));
        }
        for (at, mimic) in found {
            self.robot.joints[at].mimic = Some(mimic);
        }
        Ok(())
    }
}

/// Its control is its force.
fn motor(joint: &Joint, at: usize) -> Motor {
    Motor {
        name: joint.name.clone(),
        transmission: Transmission::Joint { joint: at, gear: vec![1.0] },
        gain: [1.0, 0.0, 0.0],
        bias: [0.0; 3],
        control_range: joint.effort.filter(|&effort| effort > 0.0).map(|effort| [-effort, effort]),
        force_range: None,
        controls: Vec::new(),
    }
}

fn not_negative(element: Element<'_>, attribute: &str) -> Result<Option<f64>, Error> {
    match element.number(attribute)? {
        Some(number) if number < 0.0 => Err(element.error_at(
            attribute,
            format!("{number} is negative"),
            "write a number that is not negative",
        )),
        number => Ok(number),
    }
}

/// `<axis xyz>`, as a unit vector; x when it is not there.
fn axis(element: Element<'_>) -> Result<[f64; 3], Error> {
    let Some(axis) = element.child("axis")? else {
        return Ok([1.0, 0.0, 0.0]);
    };
    let xyz = axis.numbers("xyz")?.ok_or_else(|| axis.missing("xyz"))?;
    orientation::unit(xyz).ok_or_else(|| {
        axis.error_at("xyz", "the axis has no direction", "write \"0 0 1\", or another direction")
    })
}

/// x, y and z of the frame whose z is the unit vector `normal`, turned there the shortest way.
fn plane(normal: [f64; 3]) -> [[f64; 3]; 3] {
    let [x, y, z] = normal;
    // The quaternion halfway from z to the normal: (1 + z · n, z × n).
    let turn = orientation::unit([1.0 + z, -y, x, 0.0]).unwrap_or([0.0, 1.0, 0.0, 0.0]);
    let direction = |axis| orientation::rotate(turn, axis);
    [direction([1.0, 0.0, 0.0]), direction([0.0, 1.0, 0.0]), normal]
}
