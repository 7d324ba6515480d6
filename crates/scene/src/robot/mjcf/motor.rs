//! From actuators to motors.

use super::super::dofs::Dofs;
use super::actuator::ActuatorSpec;
use super::class::{Classes, MAIN};
use super::compiler::{Compiler, Switches};
use super::geom::unknown;
use super::joint::JointPart;
use super::parts::Tree;
use crate::error::Error;
use crate::robot::findings::Findings;
use crate::robot::xml::Element;
use crate::robot::{Motor, Robot, Transmission};
use crate::words;

/// All motors of a file, and for each actuator of the file its motor: those that are not supported have none.
pub(super) struct Motors {
    pub motors: Vec<Motor>,
    pub of_actuator: Vec<Option<usize>>,
}

/// What motors are read with.
pub(super) struct Surroundings<'a, 'x> {
    pub compiler: &'a Compiler,
    pub switches: &'a Switches,
    pub classes: &'a Classes,
    /// Bodies, joints and tendons are there.
    pub robot: &'a Robot,
    pub dofs: &'a Dofs,
    pub joints: &'a [JointPart<'x>],
    /// Joints of the file that the robot is without.
    pub joints_left_out: &'a [&'x str],
    /// Tendons of the file that the robot is without.
    pub tendons_left_out: &'a [&'x str],
}

impl Surroundings<'_, '_> {
    /// Reads all `<actuator>`.
    pub fn motors(&self, tree: &Tree<'_>, findings: &mut Findings) -> Result<Motors, Error> {
        let mut motors = Motors { motors: Vec::new(), of_actuator: Vec::new() };
        for section in tree.sections("actuator") {
            for element in tree.children(section) {
                let motor = self.motor(element, findings)?;
                motors.of_actuator.push(motor.is_some().then_some(motors.motors.len()));
                motors.motors.extend(motor);
            }
        }
        self.limit_forces(&mut motors.motors, findings)?;
        Ok(motors)
    }

    fn motor(&self, element: Element<'_>, findings: &mut Findings) -> Result<Option<Motor>, Error> {
        let kind = element.name();
        let known = matches!(kind, "general" | "motor" | "position" | "velocity" | "damper");
        if !known {
            findings.unsupported(element, format!("actuators `<{kind}>` are not supported"));
            return Ok(None);
        }
        let mut spec = self.classes.of(element, MAIN)?.actuator.clone();
        spec.read(element)?;
        let Some(transmission) = self.transmission(element, &spec, findings)? else {
            return Ok(None);
        };
        if let Some(dynamics) = &spec.dynamics {
            let what = format!("the dynamics {}: forces follow controls at once", words::quoted(dynamics));
            findings.unsupported(element, what);
            return Ok(None);
        }
        let Some((gain, mut bias)) = spec.numbers() else {
            findings.unsupported(element, "this gain or bias is not supported: `fixed` and `affine` are");
            return Ok(None);
        };
        report(element, &spec, findings);
        if let Transmission::Joint { joint, .. } = transmission
            && self.robot.joints[joint].kind.velocities() > 1
            && (gain[1..] != [0.0; 2] || bias[1..] != [0.0; 2])
        {
            findings.unsupported(element, "servos of ball and free joints are not supported");
            return Ok(None);
        }
        // A positive number here is a damping ratio r, if the first two are those of a servo: kv = 2 r √(kp m).
        if bias[2] > 0.0 && gain[0] == -bias[1] {
            bias[2] = -2.0 * bias[2] * (gain[0] * self.inertia(&transmission)).max(0.0).sqrt();
        }
        let control = self.control_range(element, &spec, &transmission)?;
        let force_range = spec.force.resolve(element, "forcerange", "forcelimited", self.compiler)?;
        Ok(Some(Motor {
            name: element.text("name").unwrap_or_default().to_owned(),
            transmission,
            gain,
            bias,
            control_range: if self.switches.clamp_controls { control } else { None },
            force_range,
            controls: Vec::new(),
        }))
    }

    /// What it pulls at; `None` for what is not supported.
    fn transmission(
        &self,
        element: Element<'_>,
        spec: &ActuatorSpec,
        findings: &mut Findings,
    ) -> Result<Option<Transmission>, Error> {
        let ways = ["joint", "jointinparent", "tendon", "slidersite", "cranksite", "site", "refsite", "body"];
        let Some(way) = ways.into_iter().find(|way| element.text(way).is_some()) else {
            let fix = "write joint=\"NAME\" or tendon=\"NAME\"";
            return Err(element.error("it pulls at nothing", fix));
        };
        let name = element.required_text(way)?;
        match way {
            "joint" | "jointinparent" => {
                let joints = &self.robot.joints;
                let Some(joint) = joints.iter().position(|joint| joint.name == name) else {
                    if self.joints_left_out.contains(&name) {
                        findings.warn(|| {
                            element.error_at(way, "the joint is left out, and so is this", "remove it")
                        });
                        return Ok(None);
                    }
                    return Err(unknown(
                        element,
                        way,
                        "joint",
                        joints.iter().map(|joint| joint.name.as_str()),
                    ));
                };
                let count = joints[joint].kind.velocities();
                if way == "jointinparent" && count > 1 {
                    findings.unsupported_at(
                        element,
                        way,
                        "forces in the axes of the parent are not supported",
                    );
                    return Ok(None);
                }
                Ok(Some(Transmission::Joint { joint, gear: spec.gear[..count].to_vec() }))
            }
            "tendon" => {
                let tendons = &self.robot.tendons;
                match tendons.iter().position(|tendon| tendon.name == name) {
                    Some(tendon) => Ok(Some(Transmission::Tendon { tendon, gear: spec.gear[0] })),
                    // Such tendons are reported where they are.
                    None if self.tendons_left_out.contains(&name) => Ok(None),
                    None => Err(unknown(
                        element,
                        way,
                        "tendon",
                        tendons.iter().map(|tendon| tendon.name.as_str()),
                    )),
                }
            }
            _ => {
                findings.unsupported_at(element, way, format!("forces at `{way}` are not supported"));
                Ok(None)
            }
        }
    }

    /// The inertia that a motor feels.
    fn inertia(&self, transmission: &Transmission) -> f64 {
        let moments: Vec<(usize, f64)> = match transmission {
            Transmission::Joint { joint, gear } => {
                let first = self.dofs.first[*joint];
                gear.iter().enumerate().map(|(at, &gear)| (first + at, gear)).collect()
            }
            Transmission::Tendon { tendon, gear } => {
                let joints = &self.robot.tendons[*tendon].joints;
                joints.iter().map(|&(joint, factor)| (self.dofs.first[joint], gear * factor)).collect()
            }
        };
        self.dofs.of_moments(&moments)
    }

    fn control_range(
        &self,
        element: Element<'_>,
        spec: &ActuatorSpec,
        transmission: &Transmission,
    ) -> Result<Option<[f64; 2]>, Error> {
        if spec.inherit_range <= 0.0 || element.text("ctrlrange").is_some() {
            return spec.control.resolve(element, "ctrlrange", "ctrllimited", self.compiler);
        }
        let range = match transmission {
            Transmission::Joint { joint, .. } => self.robot.joints[*joint].range,
            Transmission::Tendon { .. } => None,
        };
        let [least, greatest] = range.ok_or_else(|| {
            let what = "the range is that of the joint, which has none";
            element.error_at(
                "inheritrange",
                what,
                "give the joint a range, or write ctrlrange=\"LEAST GREATEST\"",
            )
        })?;
        let (middle, half) = (0.5 * (least + greatest), 0.5 * (greatest - least) * spec.inherit_range);
        Ok(Some([middle - half, middle + half]))
    }

    /// A range of all motors' forces on a joint is that of its motor, if there is one only.
    fn limit_forces(&self, motors: &mut [Motor], findings: &mut Findings) -> Result<(), Error> {
        for (at, part) in self.joints.iter().enumerate() {
            let Some([least, greatest]) = part.force_range else {
                continue;
            };
            let pulls = |motor: &Motor| match &motor.transmission {
                Transmission::Joint { joint, .. } => *joint == at,
                Transmission::Tendon { tendon, .. } => {
                    self.robot.tendons[*tendon].joints.iter().any(|&(joint, _)| joint == at)
                }
            };
            let mut pulling = motors.iter_mut().filter(|motor| pulls(motor));
            let (first, second) = (pulling.next(), pulling.next());
            match (first, second) {
                (None, _) => {}
                (
                    Some(Motor { name, transmission: Transmission::Joint { gear, .. }, force_range, .. }),
                    None,
                ) => {
                    let [a, b] = [least / gear[0], greatest / gear[0]];
                    let [low, high] = force_range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                    let both = [a.min(b).max(low), a.max(b).min(high)];
                    if both[0] > both[1] {
                        let what = format!("no force of the motor {} is in this range", words::quoted(name));
                        return Err(part.element.error_at(
                            "actuatorfrcrange",
                            what,
                            "let the ranges overlap",
                        ));
                    }
                    *force_range = if gear[0] == 0.0 { *force_range } else { Some(both) };
                }
                (Some(_), _) => {
                    let what = "the range of the force of several motors together";
                    findings.unsupported_at(part.element, "actuatorfrcrange", what);
                }
            }
        }
        Ok(())
    }
}

/// Reports what is not supported, and acts beside the law.
fn report(element: Element<'_>, spec: &ActuatorSpec, findings: &mut Findings) {
    let parts = [
        ("delay", spec.delay != 0.0, "forces follow controls at once"),
        ("damping", spec.damping != [0.0; 3], "damping of actuators: write it at the joint"),
        ("armature", spec.armature != 0.0, "inertia of actuators: write it at the joint"),
    ];
    for (attribute, acts, what) in parts {
        if acts {
            findings.unsupported_at(element, attribute, what);
        }
    }
}

/// A name for a motor without one: that of what it pulls at.
pub(super) fn usual_name(motor: &Motor, robot: &Robot) -> String {
    match &motor.transmission {
        Transmission::Joint { joint, .. } => robot.joints[*joint].name.clone(),
        Transmission::Tendon { tendon, .. } => robot.tendons[*tendon].name.clone(),
    }
}
