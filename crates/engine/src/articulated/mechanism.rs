//! A robot on its own: kinematics and dynamics at a state, without steps.

mod queries;

use std::collections::HashMap;
use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Scalar};
use pullback_scene::robot;

use super::bodies::{Bodies, Moving};
use super::centroid::{Masses, Whole};
use super::derivatives::{Derivatives, Jacobians};
use super::forward_dynamics::{Algorithm, ForwardDynamics};
use super::inverse_dynamics::InverseDynamics;
use super::mass_matrix::MassMatrix;
use super::model::key;
use super::push::Pushes;
use super::tree::WORLD;
use super::{Inputs, Prepared, Robot, Slots};
use crate::error::Error;
use crate::names::{Block, Layout, Params, Quantity};
use crate::preparation::{Preparation, Preparing};
use crate::step::declare_all;

/// What a mechanism is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Forward(Algorithm),
    /// Forward dynamics with forces on bodies.
    Pushed,
    Inverse,
    Jacobians,
    Bodies,
    Whole,
    MassMatrix,
}

/// A program for one task, and its memory.
struct Runner<S: Scalar> {
    workspace: Workspace<S>,
    q: Buffer<f64>,
    v: Buffer<f64>,
    /// Forces or accelerations that are given.
    acting: Option<Buffer<f64>>,
    /// Forces or accelerations that come out.
    out: Option<Buffer<f64>>,
    jacobians: Option<Jacobians>,
    moving: Option<Moving>,
    whole: Option<Buffer<Whole>>,
    pushes: Option<Pushes>,
    prepared: Vec<(BufferUse, usize)>,
    /// Armature and gravity, which are read as they are.
    armature: Buffer<f64>,
    gravity: Buffer<Vec3>,
}

/// A robot on its own: kinematics and dynamics at a state, for one world or many of a batch, without steps.
///
/// Positions and velocities are in the order of [`Tree`](super::Tree). Forces are those on the degrees of freedom;
/// springs, dampers and motors are not in it: they are forces, too.
///
/// ```
/// use pullback_engine::articulated::Mechanism;
/// use pullback_scene::robot::{Body, Inertial, Joint, JointKind, Placement, Robot};
///
/// // A pendulum: 2 kg at 0.5 m below a hinge along y.
/// let inertial = Inertial { mass: 2.0, center: [0.0, 0.0, -0.5], inertia: [0.0; 6] };
/// let bodies = vec![Body { name: "bob".into(), parent: None, placement: Placement::default(), inertial }];
/// let joints = vec![Joint::new("hinge", 0, JointKind::Hinge, [0.0, 1.0, 0.0])];
/// let robot = Robot { name: "pendulum".into(), bodies, joints, ..Robot::default() };
///
/// let mut pendulum = Mechanism::<f64>::new(&robot)?;
/// let a = pendulum.forward_dynamics(&[0.3], &[0.0], &[0.0])?;
/// assert!((a[0] + 9.81 / 0.5 * 0.3f64.sin()).abs() < 1e-12);
/// let tau = pendulum.inverse_dynamics(&[0.3], &[0.0], &a)?;
/// assert!(tau[0].abs() < 1e-12);
/// # Ok::<(), pullback_engine::Error>(())
/// ```
pub struct Mechanism<S: Scalar = f64> {
    robot: Robot,
    layout: Arc<Layout>,
    params: Vec<f64>,
    worlds: usize,
    options: RunOptions,
    /// What depends on params alone, the same for all worlds.
    preparing: Preparing<S>,
    runners: Vec<(Task, Runner<S>)>,
}

/// Cotangents of forward or inverse dynamics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DynamicsBars {
    /// Of positions, as they are stored.
    pub positions: Vec<f64>,
    /// Of velocities.
    pub velocities: Vec<f64>,
    /// Of the forces, or accelerations, that were given.
    pub given: Vec<f64>,
    /// Of the params, in the order of [`Mechanism::params`].
    pub params: Vec<f64>,
}

/// Jacobians of accelerations, nv × nv, row by row: positions count by their tangents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DynamicsJacobians {
    /// The accelerations.
    pub acceleration: Vec<f64>,
    /// ∂a/∂q.
    pub by_position: Vec<f64>,
    /// ∂a/∂v.
    pub by_velocity: Vec<f64>,
    /// ∂a/∂τ = M⁻¹.
    pub by_force: Vec<f64>,
}

impl<S: Scalar> Mechanism<S> {
    /// One world.
    pub fn new(robot: &robot::Robot) -> Result<Self, Error> {
        Self::batch(robot, 1, RunOptions::default())
    }

    /// Several worlds with the same params, and how they run.
    pub fn batch(robot: &robot::Robot, worlds: usize, options: RunOptions) -> Result<Self, Error> {
        if worlds == 0 {
            let (what, found) = ("the worlds of a mechanism", "0".to_owned());
            return Err(Error::Scheme { what, found, wanted: "at least one" });
        }
        let robot = Robot::new(robot)?;
        let gravity = robot.description().options.gravity.unwrap_or([0.0, 0.0, -9.81]);
        let quantity = Quantity::new("m/s²", "acceleration of gravity");
        let mut blocks = vec![Block::vector("gravity", gravity, quantity)];
        blocks.extend(robot.params());
        let layout = Layout::new(blocks);
        let mut p = Program::builder();
        let mut slots = HashMap::new();
        let params = declare_all(&mut p, &layout, &mut slots, true);
        let (made, masses) = robot.prepare(&mut p, &Slots { what: "param", slots: &slots })?;
        // Masses come last: only what sums over bodies reads them.
        let prepared = [made.uses(&p), masses.uses(&p)].concat();
        made.output(&mut p);
        let preparation = Preparation { program: p.finish()?, params, prepared };
        let mut mechanism = Mechanism {
            params: layout.values(),
            preparing: Preparing::new(&preparation, 1, RunOptions::default()),
            robot,
            layout,
            worlds,
            options,
            runners: Vec::new(),
        };
        mechanism.set_params(&mechanism.params.clone())?;
        Ok(mechanism)
    }

    /// The robot.
    pub fn robot(&self) -> &Robot {
        &self.robot
    }

    /// Its params: gravity, and those of bodies and joints.
    pub fn params(&self) -> Params {
        let mut params = Params::new(&self.layout);
        params.values_mut().copy_from_slice(&self.params);
        params
    }

    /// Sets all params, if they make sense.
    pub fn set_params(&mut self, params: &[f64]) -> Result<(), Error> {
        length("params", params, self.layout.len())?;
        let mut checked = Params::new(&self.layout);
        checked.values_mut().copy_from_slice(params);
        checked.check()?;
        self.params.copy_from_slice(params);
        let numbers: Vec<S> = params.iter().map(|x| S::from_f64(*x)).collect();
        self.preparing.set_params(0, &numbers)?;
        self.preparing.make();
        for k in 0..self.runners.len() {
            self.give_params(k)?;
        }
        Ok(())
    }

    fn give_params(&mut self, k: usize) -> Result<(), Error> {
        let runner = &mut self.runners[k].1;
        let block =
            |key: &str| self.layout.ranges().find(|(block, _)| block.key == key).map(|(_, range)| range);
        let of = |range: Option<std::ops::Range<usize>>| -> Vec<S> {
            self.params[range.unwrap_or(0..0)].iter().map(|x| S::from_f64(*x)).collect()
        };
        let armature = of(block(&key(self.robot.description(), "armature")));
        let gravity = of(block("gravity"));
        for world in 0..self.worlds {
            let workspace = &mut runner.workspace;
            self.preparing
                .give(0, &runner.prepared, |to, numbers| Ok(workspace.write_numbers(world, to, numbers)?))?;
            runner.workspace.write_numbers(world, runner.armature, &armature)?;
            runner.workspace.write_numbers(world, runner.gravity, &gravity)?;
        }
        Ok(())
    }

    /// The runner of a task, made when it is first asked for.
    fn runner(&mut self, task: Task) -> Result<usize, Error> {
        if let Some(k) = self.runners.iter().position(|(t, _)| *t == task) {
            return Ok(k);
        }
        let tree = self.robot.tree.clone();
        if tree.is_deep() && matches!(task, Task::Jacobians | Task::MassMatrix) {
            let (what, found) =
                ("a full matrix of a robot", format!("{} degrees of freedom", tree.velocities()));
            return Err(Error::Scheme { what, found, wanted: "fewer: pullbacks work for any number" });
        }
        let mut p = Program::builder();
        let (q, v) = (p.input("q", tree.positions()), p.input("v", tree.velocities()));
        let bodies = tree.node_of_body.len();
        let prepared = Prepared {
            placements: p.parameter("placements", tree.nodes.len()),
            inertias: p.parameter("inertias", tree.nodes.len()),
            bodies: p.parameter("bodies", bodies),
        };
        let armature = p.parameter("armature", self.robot.description().joints.len());
        let gravity = p.parameter("gravity", 1);
        let Prepared { placements, inertias, .. } = prepared;
        let inputs = Inputs { q, v, placements, inertias, armature, gravity };
        let still = matches!(task, Task::Bodies | Task::Whole | Task::MassMatrix);
        let acting = (!still).then(|| p.input::<f64>("acting", tree.velocities()));
        let (mut out, mut jacobians, mut moving, mut whole, mut pushes) = (None, None, None, None, None);
        let mut given = Vec::new();
        match (task, acting) {
            (Task::Forward(algorithm), Some(tau)) => {
                let acting = (tau, None);
                out = Some(ForwardDynamics::add(&mut p, "acceleration", (&tree, algorithm), inputs, acting));
            }
            (Task::Pushed, Some(tau)) => {
                let nodes = tree.node_of_body.iter().enumerate().filter(|(_, n)| **n != WORLD);
                let on: Vec<(usize, usize)> = nodes.map(|(b, n)| (b, *n as usize)).collect();
                let force = p.input("push", on.len());
                let torque = p.input("push torque", on.len());
                let by = Pushes { on, force, torque, in_node: prepared.bodies };
                pushes = Some(by.clone());
                let acting = (tau, Some(by));
                let algorithm = (&tree, Algorithm::Fastest);
                out = Some(ForwardDynamics::add(&mut p, "acceleration", algorithm, inputs, acting));
            }
            (Task::Inverse, Some(a)) => out = Some(InverseDynamics::add(&mut p, "force", &tree, inputs, a)),
            (Task::Jacobians, Some(tau)) => {
                jacobians = Some(Derivatives::add(&mut p, "acceleration", &tree, inputs, tau));
            }
            (Task::MassMatrix, _) => out = Some(MassMatrix::add(&mut p, "mass matrix", &tree, inputs)),
            (Task::Bodies | Task::Whole, _) | (_, None) => {
                let frames = (placements, prepared.bodies);
                moving = Some(Bodies::add(&mut p, "body", &tree, (q, v), frames, |_| true));
            }
        }
        if let (Task::Whole, Some(moving)) = (task, moving) {
            let masses = Masses {
                mass: p.parameter("mass", bodies),
                center: p.parameter("center", bodies),
                inertia: p.parameter("inertia", bodies),
                products: p.parameter("products", bodies),
            };
            given = masses.uses(&p);
            let moves: Vec<f64> =
                tree.node_of_body.iter().map(|n| if *n == WORLD { 0.0 } else { 1.0 }).collect();
            let sum = Whole::add(&mut p, "whole", moving, &masses, &moves);
            p.output(sum);
            whole = Some(sum);
        }
        out.into_iter().for_each(|out| p.output(out));
        if let Some(j) = jacobians {
            for buffer in [j.acceleration, j.by_position, j.by_velocity, j.by_force] {
                p.output(buffer);
            }
        }
        if let Some(moving) = moving {
            p.output(moving.poses);
            p.output(moving.motions);
        }
        let prepared = [prepared.uses(&p), given].concat();
        let program = p.finish()?;
        let workspace = match self.worlds {
            1 => program.workspace(self.options),
            n => program.batch(n, self.options),
        };
        let runner = Runner {
            workspace,
            q,
            v,
            acting,
            out,
            jacobians,
            moving,
            whole,
            pushes,
            prepared,
            armature,
            gravity,
        };
        self.runners.push((task, runner));
        self.give_params(self.runners.len() - 1)?;
        Ok(self.runners.len() - 1)
    }

    /// Sets positions, velocities and what is given, of all worlds one after the other, and runs.
    fn run(&mut self, task: Task, q: &[S], v: &[S], given: &[S]) -> Result<usize, Error> {
        let k = self.runner(task)?;
        let (nq, nv) = (self.robot.tree.positions(), self.robot.tree.velocities());
        length("positions", q, nq * self.worlds)?;
        length("velocities", v, nv * self.worlds)?;
        let runner = &mut self.runners[k].1;
        for world in 0..self.worlds {
            runner.workspace.write_numbers(world, runner.q, &q[world * nq..(world + 1) * nq])?;
            runner.workspace.write_numbers(world, runner.v, &v[world * nv..(world + 1) * nv])?;
        }
        if let Some(buffer) = runner.acting {
            length("forces or accelerations", given, nv * self.worlds)?;
            for world in 0..self.worlds {
                runner.workspace.write_numbers(world, buffer, &given[world * nv..(world + 1) * nv])?;
            }
        }
        runner.workspace.forward();
        Ok(k)
    }

    fn read(&self, k: usize, buffer: impl Into<BufferUse> + Copy, out: &mut [S]) -> Result<(), Error> {
        let len = out.len() / self.worlds;
        for (world, out) in out.chunks_exact_mut(len.max(1)).enumerate() {
            self.runners[k].1.workspace.read_numbers_into(world, buffer.into(), out)?;
        }
        Ok(())
    }

    /// Accelerations from forces, into `out`; nothing is allocated after the first call.
    pub fn forward_dynamics_into(
        &mut self,
        algorithm: Algorithm,
        (q, v, tau): (&[S], &[S], &[S]),
        out: &mut [S],
    ) -> Result<(), Error> {
        length("accelerations", out, self.robot.tree.velocities() * self.worlds)?;
        let k = self.run(Task::Forward(algorithm), q, v, tau)?;
        match self.runners[k].1.out {
            Some(buffer) => self.read(k, buffer, out),
            None => Ok(()),
        }
    }

    /// Forces from accelerations, into `out`; nothing is allocated after the first call.
    pub fn inverse_dynamics_into(
        &mut self,
        (q, v, a): (&[S], &[S], &[S]),
        out: &mut [S],
    ) -> Result<(), Error> {
        length("forces", out, self.robot.tree.velocities() * self.worlds)?;
        let k = self.run(Task::Inverse, q, v, a)?;
        match self.runners[k].1.out {
            Some(buffer) => self.read(k, buffer, out),
            None => Ok(()),
        }
    }

    /// Runs the pullback of what was computed last by [`Mechanism::forward_dynamics_into`], from cotangents of the
    /// accelerations; those of params add up inside. Nothing is allocated.
    pub fn pull_forward_dynamics(&mut self, algorithm: Algorithm, out_bar: &[S]) -> Result<(), Error> {
        let k = self.runner(Task::Forward(algorithm))?;
        self.pull(k, out_bar)
    }

    fn pull(&mut self, k: usize, out_bar: &[S]) -> Result<(), Error> {
        let nv = self.robot.tree.velocities();
        length("cotangents", out_bar, nv * self.worlds)?;
        let runner = &mut self.runners[k].1;
        if let Some(out) = runner.out {
            for world in 0..self.worlds {
                runner.workspace.seed_numbers(world, out, &out_bar[world * nv..(world + 1) * nv])?;
            }
        }
        runner.workspace.pullback();
        Ok(())
    }

    /// Runs the Jacobians; nothing is allocated after the first call. [`Mechanism::jacobians`] returns them.
    pub fn run_jacobians(&mut self, q: &[S], v: &[S], tau: &[S]) -> Result<(), Error> {
        self.run(Task::Jacobians, q, v, tau).map(|_| ())
    }
}

fn length<T>(what: &'static str, numbers: &[T], wanted: usize) -> Result<(), Error> {
    if numbers.len() == wanted {
        return Ok(());
    }
    Err(Error::Length { what, wanted, found: numbers.len() })
}

/// Numbers from outside are finite.
pub(crate) fn finite(what: &'static str, numbers: &[f64]) -> Result<(), Error> {
    match numbers.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(at) => {
            let found = format!("{} at index {at}", numbers[at]);
            Err(Error::Scheme { what, found, wanted: "finite numbers" })
        }
    }
}
