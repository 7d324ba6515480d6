//! A robot in a model: its names, and the buffers behind them.

use std::collections::HashMap;
use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;
use pullback_scene::robot::{self, JointKind, Transmission};

use super::centroid::Masses;
use super::joint_forces::{JointForces, Line, Motors, Passive, Place, Tendons};
use super::log_cholesky::{self, LogCholesky};
use super::manifold::Manifold;
use super::prepare::{Given, Prepare, Prepared};
use super::push::Pushes;
use super::tree::{Tree, WORLD};
use super::{Algorithm, ForwardDynamics, Inputs};
use crate::error::Error;
use crate::force::{AnyNumber, Number, Slot};
use crate::names::{Block, Group, Quantity, Space};

/// The width of dry friction where a file gives none [rad/s or m/s].
const FRICTION_WIDTH: f64 = 0.01;

/// A robot of a model.
#[derive(Clone, Debug)]
pub struct Robot {
    pub(crate) description: Arc<robot::Robot>,
    pub(crate) tree: Arc<Tree>,
    pub(crate) manifold: Arc<Manifold>,
}

/// What a robot's params are called in programs: `name.field`.
fn key(robot: &robot::Robot, field: &str) -> String {
    format!("{}.{field}", robot.name)
}

impl Robot {
    /// From its description.
    pub fn new(description: &robot::Robot) -> Result<Robot, Error> {
        let tree = Arc::new(Tree::new(description)?);
        if description.consistent {
            for body in &description.bodies {
                LogCholesky::of(&body.inertial).ok_or_else(|| Error::Scheme {
                    what: "the inertia of a body with log-Cholesky params",
                    found: body.name.clone(),
                    wanted: "a body with mass whose inertia some distribution of mass in space has",
                })?;
            }
        }
        let manifold = Arc::new(Manifold::new(&tree));
        Ok(Robot { description: Arc::new(description.clone()), tree, manifold })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// What was described.
    pub fn description(&self) -> &robot::Robot {
        &self.description
    }

    /// Which joint hangs from which, and where their numbers lie.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Names of things of this robot. Loose bodies have their whole names already.
    fn groups<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<Group> {
        let d = &self.description;
        if d.loose {
            let count = names.count();
            let numbered = d.bodies.first().is_some_and(|body| body.name != d.name);
            return vec![Group { name: d.name.clone(), count: numbered.then_some(count) }];
        }
        names.map(|name| Group::one(&format!("{}.{name}", d.name))).collect()
    }

    fn block(
        &self,
        key_field: &str,
        field: &str,
        names: Vec<&str>,
        values: Vec<f64>,
        quantity: Quantity,
    ) -> Option<Block> {
        if names.is_empty() {
            return None;
        }
        let numbers = values.len() / names.len();
        let groups = self.groups(names.into_iter());
        let key = key(&self.description, key_field);
        Some(Block { key, field: field.to_owned(), groups, numbers, quantity, values })
    }

    fn joints(&self, kinds: &[JointKind]) -> Vec<(usize, &robot::Joint)> {
        self.description.joints.iter().enumerate().filter(|(_, j)| kinds.contains(&j.kind)).collect()
    }

    /// The positions or velocities of joints of some kinds, from the state that the robot starts from.
    fn state_block(
        &self,
        kinds: &[JointKind],
        (key, field): (&str, &str),
        start: &[f64],
        (of, numbers): (fn(&super::JointPlace) -> usize, usize),
        quantity: Quantity,
    ) -> Option<Block> {
        let mut joints = self.joints(kinds);
        joints.retain(|(_, joint)| joint.mimic.is_none());
        let place = |j: usize| of(&self.tree.places()[j]);
        let values = joints.iter().flat_map(|(j, _)| start[place(*j)..place(*j) + numbers].to_vec());
        let names = joints.iter().map(|(_, joint)| joint.name.as_str()).collect();
        self.block(key, field, names, values.collect(), quantity)
    }

    /// Names of its positions, in the order of [`Tree`].
    pub(crate) fn positions(&self) -> Vec<Block> {
        use JointKind::{Ball, Free, Hinge, Slide};
        let start = self.start_positions();
        let place = Quantity::new("m", "where the body is");
        let turn = |doc: &str| Quantity { space: Space::Rotation, ..Quantity::new("1", doc) };
        let joint = Quantity::new("rad or m", "how far the joint has turned or moved");
        [
            self.state_block(&[Free], ("free position", "position"), &start, (|p| p.position, 3), place),
            self.state_block(
                &[Free],
                ("free orientation", "orientation"),
                &start,
                (|p| p.orientation, 4),
                turn("how the body is turned: a unit quaternion (w, x, y, z)"),
            ),
            self.state_block(
                &[Ball],
                ("ball orientation", "orientation"),
                &start,
                (|p| p.orientation, 4),
                turn("how the joint is turned: a unit quaternion (w, x, y, z)"),
            ),
            self.state_block(&[Hinge, Slide], ("position", "position"), &start, (|p| p.position, 1), joint),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Names of its velocities, in the order of [`Tree`].
    pub(crate) fn velocities(&self) -> Vec<Block> {
        use JointKind::{Ball, Free, Hinge, Slide};
        let start = self.start_velocities();
        let linear = Quantity::new("m/s", "velocity of the body's origin, in the axes of the world");
        let angular = |doc: &str| Quantity::new("rad/s", doc);
        let rate = Quantity::new("rad/s or m/s", "how fast the joint turns or moves");
        let spin = ("free angular velocity", "angular_velocity");
        let turn = ("ball angular velocity", "angular_velocity");
        [
            self.state_block(&[Free], ("free velocity", "velocity"), &start, (|p| p.velocity, 3), linear),
            self.state_block(
                &[Free],
                spin,
                &start,
                (|p| p.angular_velocity, 3),
                angular("angular velocity of the body, in its own axes"),
            ),
            self.state_block(
                &[Ball],
                turn,
                &start,
                (|p| p.angular_velocity, 3),
                angular("angular velocity of the joint, in the axes of its body"),
            ),
            self.state_block(&[Hinge, Slide], ("velocity", "velocity"), &start, (|p| p.velocity, 1), rate),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Positions in the order of [`Tree`], from those of a keyframe, which are in the order of joints; empty: as bodies are
    /// placed.
    pub fn positions_of(&self, keyframe: &[f64]) -> Vec<f64> {
        let d = &self.description;
        let mut q = vec![0.0; self.tree.positions()];
        let mut at = 0;
        for (joint, place) in d.joints.iter().zip(self.tree.places()) {
            let given = keyframe.get(at..at + joint.kind.positions());
            at += joint.kind.positions();
            if joint.mimic.is_some() {
                continue;
            }
            match joint.kind {
                JointKind::Hinge | JointKind::Slide => {
                    q[place.position] = given.map_or(joint.reference, |g| g[0]);
                }
                JointKind::Ball => {
                    let turn = given.unwrap_or(&[1.0, 0.0, 0.0, 0.0]);
                    q[place.orientation..place.orientation + 4].copy_from_slice(turn);
                }
                JointKind::Free => {
                    let robot::Placement { position, orientation } = d.bodies[joint.body].placement;
                    let (p, r) = given.map_or((&position[..], &orientation[..]), |g| g.split_at(3));
                    q[place.position..place.position + 3].copy_from_slice(p);
                    q[place.orientation..place.orientation + 4].copy_from_slice(r);
                }
            }
        }
        q
    }

    /// Velocities in the order of [`Tree`], from those of a keyframe; empty: zero.
    pub fn velocities_of(&self, keyframe: &[f64]) -> Vec<f64> {
        let mut v = vec![0.0; self.tree.velocities()];
        let mut at = 0;
        for (joint, place) in self.description.joints.iter().zip(self.tree.places()) {
            let n = joint.kind.velocities();
            let given = keyframe.get(at..at + n);
            at += n;
            let Some(given) = given.filter(|_| joint.mimic.is_none()) else { continue };
            let linear = n.min(3);
            v[place.velocity..place.velocity + linear].copy_from_slice(&given[..linear]);
            if n == 6 {
                v[place.angular_velocity..place.angular_velocity + 3].copy_from_slice(&given[3..]);
            }
        }
        v
    }

    fn start_positions(&self) -> Vec<f64> {
        self.positions_of(&self.description.start.positions)
    }

    fn start_velocities(&self) -> Vec<f64> {
        self.velocities_of(&self.description.start.velocities)
    }

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
        if any(&|j| j.friction != 0.0) {
            let force = Quantity::new("N·m or N", "dry friction").at_least(0.0);
            let width =
                Quantity::new("rad/s or m/s", "velocity over which dry friction turns round").positive();
            blocks.push(self.block("friction", "friction", joints(), of(&|j| vec![j.friction]), force));
            let widths = vec![FRICTION_WIDTH; d.joints.len()];
            blocks.push(self.block("friction width", "friction_width", joints(), widths, width));
        }
        let numbers = || self.joints(&[JointKind::Hinge, JointKind::Slide]);
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

    /// Joints with limits that push back.
    pub(crate) fn limited(&self) -> Vec<(usize, &robot::Joint)> {
        let mut joints = self.joints(&[JointKind::Hinge, JointKind::Slide]);
        joints.retain(|(_, j)| j.range.is_some() && (j.limit.stiffness != 0.0 || j.limit.damping != 0.0));
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

    /// Its controls.
    pub(crate) fn controls(&self) -> Vec<Block> {
        let d = &self.description;
        let names = d.motors.iter().map(|m| m.name.as_str()).collect();
        let start = |i: usize| d.start.controls.get(i).copied().unwrap_or(0.0);
        let values = (0..d.motors.len()).map(start).collect();
        let quantity = Quantity::new("-", "control of the motor");
        let pushed: Vec<&str> = d.pushed.iter().map(|b| d.bodies[*b].name.as_str()).collect();
        let still = vec![0.0; 3 * pushed.len()];
        let force = Quantity::new("N", "force on the body, at its origin, in world axes");
        let torque = Quantity::new("N·m", "torque on the body, in world axes");
        let blocks = [
            self.block("control", "control", names, values, quantity),
            self.block("push", "force", pushed.clone(), still.clone(), force),
            self.block("push torque", "torque", pushed, still, torque),
        ];
        blocks.into_iter().flatten().collect()
    }

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
            anchor: params.get(d, "anchor")?,
            axis: params.get(d, "axis")?,
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
        let (mass, inertia, products) = log_cholesky::add(p, &d.name, log_mass, stretch, shear);
        Ok(Masses { mass, center, inertia, products })
    }

    /// Adds its accelerations at positions `q` and velocities `v`; `name` makes names that no other evaluation has.
    pub(crate) fn acceleration(
        &self,
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        slots: (&Slots<'_>, &Slots<'_>),
        prepared: &Prepared,
        gravity: Buffer<Vec3>,
        (q, v): (Buffer<f64>, Buffer<f64>),
    ) -> Result<Buffer<f64>, Error> {
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
            armature: params.get(d, "armature")?,
            gravity,
        };
        let name = name(&format!("{} acceleration", d.name));
        Ok(ForwardDynamics::add(p, &name, (&self.tree, Algorithm::Fastest), inputs, (tau, pushes)))
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
        let mut nodes: Vec<_> = self.tree.nodes.iter().collect();
        nodes.sort_by_key(|node| node.joint);
        let number = |(param, (j, joint)): (usize, &(usize, &robot::Joint))| Place {
            position: places[*j].position,
            velocity: places[*j].velocity,
            param,
            scale: nodes[*j].scale,
            offset: nodes[*j].shift + joint.reference,
        };
        let numbers = self.joints(&[JointKind::Hinge, JointKind::Slide]);
        let pair = |a: &str, b: &str| -> Result<Option<[Buffer<f64>; 2]>, Error> {
            let Some(first) = params.find(d, a)? else { return Ok(None) };
            Ok(Some([first, params.get(d, b)?]))
        };
        let limits = match pair("lower", "upper")? {
            None => None,
            Some([lower, upper]) => {
                Some([lower, upper, params.get(d, "limit stiffness")?, params.get(d, "limit damping")?])
            }
        };
        let passive = Passive {
            dofs: self.tree.nodes.iter().flat_map(|node| self.dofs(node)).collect(),
            numbers: numbers.iter().enumerate().map(number).collect(),
            limited: self.limited().iter().enumerate().map(number).collect(),
            damping: params.find(d, "damping")?,
            friction: pair("friction", "friction width")?,
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
        p.operation(JointForces { q, v, passive, motors, tendons, applied: None, len, out });
        Ok(out)
    }

    /// The degrees of freedom of a node.
    fn dofs(&self, node: &super::tree::Node) -> Vec<Place> {
        let first = node.dof as usize;
        let dofs = &self.tree.dofs[first..first + node.kind.velocities()];
        let param = node.joint as usize;
        let place = |dof: &super::tree::Dof| Place {
            position: 0,
            velocity: dof.v as usize,
            param,
            scale: dof.scale,
            offset: 0.0,
        };
        dofs.iter().map(place).collect()
    }

    fn line(&self, joints: &[(usize, f64)]) -> Line {
        let places = self.tree.places();
        let entry =
            |&(j, c): &(usize, f64)| (Some(places[j].position), places[j].velocity, c * self.scale(j));
        let free = [f64::NEG_INFINITY, f64::INFINITY];
        Line { joints: joints.iter().map(entry).collect(), control_range: free, force_range: free }
    }

    /// How much a joint moves with the position that it has: 1, unless it follows another.
    fn scale(&self, joint: usize) -> f64 {
        self.tree.nodes.iter().find(|node| node.joint as usize == joint).map_or(1.0, |node| node.scale)
    }

    fn motor_line(&self, motor: &robot::Motor) -> Line {
        let free = [f64::NEG_INFINITY, f64::INFINITY];
        let places = self.tree.places();
        let joints = match &motor.transmission {
            Transmission::Tendon { tendon, .. } => {
                self.line(&self.description.tendons[*tendon].joints).joints
            }
            Transmission::Joint { joint, gear } if gear.len() == 1 => {
                vec![(Some(places[*joint].position), places[*joint].velocity, self.scale(*joint))]
            }
            // The length of a ball or free joint is zero, as far as motors see it.
            Transmission::Joint { joint, gear } => {
                let place = &places[*joint];
                let at = |k: usize| if k < 3 { place.velocity + k } else { place.angular_velocity + k - 3 };
                gear.iter().enumerate().filter(|(_, g)| **g != 0.0).map(|(k, g)| (None, at(k), *g)).collect()
            }
        };
        let (control_range, force_range) =
            (motor.control_range.unwrap_or(free), motor.force_range.unwrap_or(free));
        Line { joints, control_range, force_range }
    }
}

/// Params or controls of a program, by key.
pub(crate) struct Slots<'a> {
    pub what: &'static str,
    pub slots: &'a HashMap<String, AnyNumber>,
}

impl Slots<'_> {
    fn find<T: Number>(&self, robot: &robot::Robot, field: &str) -> Result<Option<Buffer<T>>, Error> {
        let key = key(robot, field);
        let Some(slot) = self.slots.get(&key) else { return Ok(None) };
        T::of(Slot(*slot)).map(Some).ok_or(Error::WrongType { what: self.what, key })
    }

    fn get<T: Number>(&self, robot: &robot::Robot, field: &str) -> Result<Buffer<T>, Error> {
        let missing = || Error::NoSuchInput { what: self.what, key: key(robot, field), nearest: Vec::new() };
        self.find(robot, field)?.ok_or_else(missing)
    }
}
