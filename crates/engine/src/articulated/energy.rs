//! The energy of robots: kinetic, and that of gravity, springs, limits and tendons.

use std::ops::Range;

use pullback_kernel::prelude::*;
use pullback_scene::robot::JointKind;
use pullback_scene::{Part, robot};

use super::watch::Watch;
use super::{JointPlace, Robot};
use crate::error::Error;
use crate::model::Model;
use crate::names::Layout;

/// Computes the energy of a model's robots.
pub(crate) struct RobotEnergy {
    watch: Watch,
    robots: Vec<Energies>,
    gravity: Range<usize>,
}

/// One robot: where its numbers lie in states and params.
struct Energies {
    robot: Robot,
    positions: usize,
    velocities: usize,
    fields: Fields,
}

/// Where the params of a robot begin.
struct Fields {
    mass: usize,
    center: usize,
    inertia: usize,
    products: usize,
    armature: usize,
    /// Stiffness and rest of springs.
    springs: Option<[usize; 2]>,
    /// Lower, upper and stiffness of limits.
    limits: Option<[usize; 3]>,
    tendons: Option<usize>,
}

impl Fields {
    fn new(layout: &Layout, robot: &robot::Robot) -> Fields {
        let find = |field: &str| {
            let key = format!("{}.{field}", robot.name);
            layout.ranges().find(|(block, _)| block.key == key).map(|(_, range)| range.start)
        };
        let start = |field: &str| find(field).unwrap_or(0);
        let pair = |a: &str, b: &str| Some([find(a)?, find(b)?]);
        Fields {
            mass: start("mass"),
            center: start("center"),
            inertia: start("inertia"),
            products: start("products"),
            armature: start("armature"),
            springs: pair("stiffness", "spring reference"),
            limits: pair("lower", "upper").zip(find("limit stiffness")).map(|([a, b], c)| [a, b, c]),
            tendons: find("tendon stiffness"),
        }
    }
}

impl RobotEnergy {
    pub fn new(model: &Model) -> Result<RobotEnergy, Error> {
        let layout = model.params_layout();
        let (mut q, mut v) = (3 * model.particles(), model.positions() + 3 * model.particles());
        let mut robots = Vec::new();
        for robot in model.robots() {
            let fields = Fields::new(layout, robot.description());
            robots.push(Energies { robot: robot.clone(), positions: q, velocities: v, fields });
            q += robot.tree().positions();
            v += robot.tree().velocities();
        }
        Ok(RobotEnergy { watch: Watch::new(model)?, robots, gravity: layout.find("gravity")? })
    }

    /// Kinetic and potential energy [J].
    pub fn of(&mut self, state: &[f64], params: &[f64]) -> Result<(f64, f64), Error> {
        self.watch.run(state, params)?;
        let gravity = vector(params, self.gravity.start);
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for (r, energies) in self.robots.iter().enumerate() {
            for body in 0..energies.robot.description().bodies.len() {
                let Some(moving) = self.watch.part(Part::Body { robot: r, body }) else { continue };
                let (k, p) = energies.of_body(body, moving, gravity, params);
                kinetic += k;
                potential += p;
            }
            kinetic += energies.of_rotors(state, params);
            potential += energies.of_joints(state, params);
        }
        Ok((kinetic, potential))
    }
}

impl Energies {
    /// ½ m v_c² + ½ ω·I ω and -m g·c, with the velocity v_c of the centre of mass c
    fn of_body(&self, b: usize, (pose, motion): (Pose, Motion), g: Vec3, params: &[f64]) -> (f64, f64) {
        let f = &self.fields;
        let mass = params[f.mass + b];
        let away = pose.rotation * vector(params, f.center + 3 * b);
        let v = motion.linear + cross(motion.angular, away);
        let r = pose.rotation;
        let w = vec3(dot(r.x, motion.angular), dot(r.y, motion.angular), dot(r.z, motion.angular));
        let (i, p) = (vector(params, f.inertia + 3 * b), vector(params, f.products + 3 * b));
        let turning = i.x * w.x * w.x + i.y * w.y * w.y + i.z * w.z * w.z;
        let mixed = p.x * w.x * w.y + p.y * w.x * w.z + p.z * w.y * w.z;
        (0.5 * mass * dot(v, v) + 0.5 * turning + mixed, -mass * dot(g, pose.position + away))
    }

    fn joints(&self) -> impl Iterator<Item = (usize, &robot::Joint, &JointPlace)> {
        let joints = self.robot.description().joints.iter().enumerate();
        joints.zip(self.robot.tree().places()).map(|((j, joint), place)| (j, joint, place))
    }

    /// Rotors turn with their joints: ½ a v²
    fn of_rotors(&self, state: &[f64], params: &[f64]) -> f64 {
        let squares = |at: usize, count: usize| -> f64 {
            state[self.velocities + at..][..count].iter().map(|v| v * v).sum()
        };
        let of = |(j, joint, place): (usize, &robot::Joint, &JointPlace)| {
            let squares = match joint.kind {
                JointKind::Hinge | JointKind::Slide => squares(place.velocity, 1),
                JointKind::Ball => squares(place.angular_velocity, 3),
                JointKind::Free => squares(place.velocity, 3) + squares(place.angular_velocity, 3),
            };
            0.5 * params[self.fields.armature + j] * squares
        };
        self.joints().map(of).sum()
    }

    /// Springs, limits and tendons.
    fn of_joints(&self, state: &[f64], params: &[f64]) -> f64 {
        let q = |place: &JointPlace| state[self.positions + place.position];
        let numbers =
            self.joints().filter(|(_, joint, _)| matches!(joint.kind, JointKind::Hinge | JointKind::Slide));
        let mut sum = 0.0;
        if let Some([stiffness, rest]) = self.fields.springs {
            for (k, (_, _, place)) in numbers.enumerate() {
                let stretch = q(place) - params[rest + k];
                sum += 0.5 * params[stiffness + k] * stretch * stretch;
            }
        }
        if let Some([lower, upper, stiffness]) = self.fields.limits {
            for (k, (j, _)) in self.robot.limited().into_iter().enumerate() {
                let q = q(&self.robot.tree().places()[j]);
                let depths = [params[lower + k] - q, q - params[upper + k]];
                sum += params[stiffness + k] * depths.iter().map(|d| ramp_energy(*d)).sum::<f64>();
            }
        }
        if let Some(stiffness) = self.fields.tendons {
            for (k, tendon) in self.robot.description().tendons.iter().enumerate() {
                let places = self.robot.tree().places();
                let length: f64 = tendon.joints.iter().map(|&(j, c)| c * q(&places[j])).sum();
                let stretch = length - length.clamp(tendon.spring_range[0], tendon.spring_range[1]);
                sum += 0.5 * params[stiffness + k] * stretch * stretch;
            }
        }
        sum
    }
}

/// Does a robot keep its energy? Nothing dampens it, and no motor drives it.
pub(crate) fn conserves(robot: &Robot) -> bool {
    let d = robot.description();
    let still = |j: &robot::Joint| j.damping == 0.0 && j.friction == 0.0;
    d.motors.is_empty()
        && d.joints.iter().all(still)
        && robot.limited().iter().all(|(_, j)| j.limit.damping == 0.0)
        && d.tendons.iter().all(|t| t.damping == 0.0)
}

/// ∫ r(d) dd of the ramp of limits: d³ / 6w, then w²/6 + w/2 (d - w) + (d - w)²/2
fn ramp_energy(d: f64) -> f64 {
    use super::joint_forces::RAMP;
    let (inside, beyond) = (d.clamp(0.0, RAMP), (d - RAMP).max(0.0));
    inside.powi(3) / (6.0 * RAMP) + 0.5 * beyond * (RAMP + beyond)
}

fn vector(numbers: &[f64], at: usize) -> Vec3 {
    vec3(numbers[at], numbers[at + 1], numbers[at + 2])
}
