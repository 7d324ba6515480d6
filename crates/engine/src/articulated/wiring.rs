//! A robot's operations in a program: from its params, controls and state to its accelerations.

use std::collections::HashMap;

use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;
use pullback_scene::robot::{self, JointKind, Transmission};

use super::centroid::Masses;
use super::joint_forces::{JointForces, Line, Motors, Passive, Place, Tendons};
use super::model::key;
use super::prepare::{Given, Prepare, Prepared};
use super::push::Pushes;
use super::tree::{Dof, Node, WORLD};
use super::{Algorithm, ForwardDynamics, Inputs, Robot, log_cholesky};
use crate::contact::Part;
use crate::error::Error;
use crate::force::{AnyNumber, Number, Slot};

/// A param of joints; of none, where a robot has none: a table, say, that stands where it is. `name` is that of what reads it.
fn of_joints<T: Number>(
    p: &mut Builder,
    params: &Slots<'_>,
    robot: &robot::Robot,
    field: &str,
    name: &str,
) -> Result<Buffer<T>, Error> {
    match robot.joints.is_empty() {
        true => Ok(p.input(&format!("{} without {field}, {name}", robot.name), 0)),
        false => params.get(robot, field),
    }
}

impl Robot {
    /// Adds what depends on params alone.
    pub(crate) fn prepare(&self, p: &mut Builder, params: &Slots<'_>) -> Result<(Prepared, Masses), Error> {
        let d = &self.description;
        let masses = self.masses(p, params)?;
        let Masses { mass, center, inertia, products } = masses;
        let given = Given {
            mass,
            center,
            inertia,
            products,
            position: params.get(d, "placement")?,
            orientation: params.get(d, "placement orientation")?,
            anchor: of_joints(p, params, d, "anchor", "prepared")?,
            axis: of_joints(p, params, d, "axis", "prepared")?,
        };
        Ok((Prepare::add(p, &d.name, d, &self.tree, given), masses))
    }

    /// Mass, centre and inertia of its bodies.
    fn masses(&self, p: &mut Builder, params: &Slots<'_>) -> Result<Masses, Error> {
        let d = &self.description;
        let center = params.get(d, "center")?;
        if !d.consistent {
            let (mass, inertia) = (params.get(d, "mass")?, params.get(d, "inertia")?);
            return Ok(Masses { mass, center, inertia, products: params.get(d, "products")? });
        }
        let (log_mass, stretch) = (params.get(d, "log_mass")?, params.get(d, "stretch")?);
        let shear = params.get(d, "shear")?;
        let (mass, inertia, products) = log_cholesky::add(p, d, log_mass, stretch, shear);
        Ok(Masses { mass, center, inertia, products })
    }

    /// Adds what acts on it at positions `q` and velocities `v`; `name` makes names that no other evaluation has.
    pub(crate) fn acted_on(
        &self,
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        slots: (&Slots<'_>, &Slots<'_>),
        prepared: &Prepared,
        gravity: Buffer<Vec3>,
        (q, v): (Buffer<f64>, Buffer<f64>),
    ) -> Result<Part, Error> {
        let d = &self.description;
        let (params, controls) = slots;
        let mut pushes = None;
        if let Some(force) = controls.find(d, "push")? {
            let nodes = d.pushed.iter().map(|&b| (b, self.tree.node_of_body[b])).collect::<Vec<_>>();
            if let Some((b, _)) = nodes.iter().find(|(_, n)| *n == WORLD) {
                let (what, found) = ("a pushed body", d.bodies[*b].name.clone());
                return Err(Error::Scheme { what, found, wanted: "a body that moves" });
            }
            let on = nodes.into_iter().map(|(b, n)| (b, n as usize)).collect();
            let torque = controls.get(d, "push torque")?;
            pushes = Some(Pushes { on, force, torque, in_node: prepared.bodies });
        }
        let tau = self.joint_forces(p, name, slots, (q, v))?;
        let inputs = Inputs {
            q,
            v,
            placements: prepared.placements,
            inertias: prepared.inertias,
            armature: of_joints(p, params, d, "armature", &name("forces"))?,
            gravity,
        };
        Ok(Part { tree: self.tree.clone(), inputs, tau, pushes, held: self.held(params)? })
    }

    /// Adds its accelerations.
    pub(crate) fn acceleration(
        &self,
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        on: Part,
    ) -> Buffer<f64> {
        let name = name(&format!("{} acceleration", self.description.name));
        ForwardDynamics::add(p, &name, (&on.tree, Algorithm::Fastest), on.inputs, (on.tau, on.pushes))
    }

    fn joint_forces(
        &self,
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        (params, controls): (&Slots<'_>, &Slots<'_>),
        (q, v): (Buffer<f64>, Buffer<f64>),
    ) -> Result<Buffer<f64>, Error> {
        let d = &self.description;
        let places = self.tree.places();
        let nodes: Vec<&Node> =
            self.tree.node_of_joint.iter().map(|n| &self.tree.nodes[*n as usize]).collect();
        let number = |(param, (j, joint)): (usize, &(usize, &robot::Joint))| Place {
            position: places[*j].position,
            velocity: places[*j].velocity,
            param,
            scale: nodes[*j].scale,
            offset: nodes[*j].shift + joint.reference,
        };
        let of_kind = |joints: &[(usize, &robot::Joint)], ball: bool| -> Vec<Place> {
            let wanted =
                |(_, (_, joint)): &(usize, &(usize, &robot::Joint))| (joint.kind == JointKind::Ball) == ball;
            joints.iter().enumerate().filter(wanted).map(number).collect()
        };
        let (sprung, limited) = (self.sprung(), self.limited());
        let pair = |a: &str, b: &str| -> Result<Option<[Buffer<f64>; 2]>, Error> {
            let Some(first) = params.find(d, a)? else { return Ok(None) };
            Ok(Some([first, params.get(d, b)?]))
        };
        let limits = match pair("limit stiffness", "limit damping")? {
            None => None,
            Some([stiffness, damping]) => {
                Some([params.get(d, "lower")?, params.get(d, "upper")?, stiffness, damping])
            }
        };
        let passive = Passive {
            dofs: self.tree.nodes.iter().flat_map(|node| self.dofs(node)).collect(),
            numbers: of_kind(&sprung, false),
            limited: if self.hard.limits { Vec::new() } else { of_kind(&limited, false) },
            balls: of_kind(&sprung, true),
            limited_balls: of_kind(&limited, true),
            damping: params.find(d, "damping")?,
            friction: if self.hard.friction { None } else { pair("friction", "friction width")? },
            springs: pair("stiffness", "spring reference")?,
            limits,
        };
        let motors = match d.motors.is_empty() {
            true => None,
            false => Some(Motors {
                lines: d.motors.iter().map(|motor| self.motor_line(motor)).collect(),
                control: controls.get(d, "control")?,
                gear: params.get(d, "gear")?,
                gain: params.get(d, "gain")?,
                bias: params.get(d, "bias")?,
            }),
        };
        let tendons = match params.find(d, "tendon stiffness")? {
            None => None,
            Some(stiffness) => Some(Tendons {
                lines: d.tendons.iter().map(|tendon| self.line(&tendon.joints)).collect(),
                rest: d.tendons.iter().map(|tendon| tendon.spring_range).collect(),
                stiffness,
                damping: params.get(d, "tendon damping")?,
            }),
        };
        let len = self.tree.velocities();
        let name = name(&format!("{} joint forces", d.name));
        let out = p.computed::<f64>(&name, len);
        p.operation(JointForces { q, v, passive, motors, tendons, len, out });
        Ok(out)
    }

    /// The degrees of freedom of a node.
    fn dofs(&self, node: &Node) -> Vec<Place> {
        let first = node.dof as usize;
        let dofs = &self.tree.dofs[first..first + node.kind.velocities()];
        let param = node.joint as usize;
        let place =
            |dof: &Dof| Place { position: 0, velocity: dof.v as usize, param, scale: dof.scale, offset: 0.0 };
        dofs.iter().map(place).collect()
    }

    /// A length that is a sum over hinges and slides.
    fn line(&self, joints: &[(usize, f64)]) -> Line {
        let places = self.tree.places();
        let free = [f64::NEG_INFINITY, f64::INFINITY];
        let mut line = Line { joints: Vec::new(), offset: 0.0, control_range: free, force_range: free };
        for &(j, coefficient) in joints {
            let (scale, offset) = self.followed(j);
            line.joints.push((Some(places[j].position), places[j].velocity, coefficient * scale));
            line.offset += coefficient * offset;
        }
        line
    }

    /// A joint's position is scale · q + offset: (1, 0), unless it follows another.
    fn followed(&self, joint: usize) -> (f64, f64) {
        let node = &self.tree.nodes[self.tree.node_of_joint[joint] as usize];
        (node.scale, node.shift + self.description.joints[joint].reference)
    }

    fn motor_line(&self, motor: &robot::Motor) -> Line {
        let line = match &motor.transmission {
            Transmission::Tendon { tendon, .. } => self.line(&self.description.tendons[*tendon].joints),
            Transmission::Joint { joint, gear } if gear.len() == 1 => self.line(&[(*joint, 1.0)]),
            // The length of a ball or free joint is zero, as far as motors see it.
            Transmission::Joint { joint, gear } => {
                let place = &self.tree.places()[*joint];
                let at = |k: usize| if k < 3 { place.velocity + k } else { place.angular_velocity + k - 3 };
                let turned = gear.iter().enumerate().filter(|(_, g)| **g != 0.0);
                Line { joints: turned.map(|(k, g)| (None, at(k), *g)).collect(), ..self.line(&[]) }
            }
        };
        let control_range = motor.control_range.unwrap_or(line.control_range);
        Line { control_range, force_range: motor.force_range.unwrap_or(line.force_range), ..line }
    }
}

/// Params or controls of a program, by key.
pub(crate) struct Slots<'a> {
    pub what: &'static str,
    pub slots: &'a HashMap<String, AnyNumber>,
}

impl Slots<'_> {
    pub(super) fn find<T: Number>(
        &self,
        robot: &robot::Robot,
        field: &str,
    ) -> Result<Option<Buffer<T>>, Error> {
        let key = key(robot, field);
        let Some(slot) = self.slots.get(&key) else { return Ok(None) };
        T::of(Slot(*slot)).map(Some).ok_or(Error::WrongType { what: self.what, key })
    }

    pub(super) fn get<T: Number>(&self, robot: &robot::Robot, field: &str) -> Result<Buffer<T>, Error> {
        let missing = || Error::NoSuchInput { what: self.what, key: key(robot, field), nearest: Vec::new() };
        self.find(robot, field)?.ok_or_else(missing)
    }
}
