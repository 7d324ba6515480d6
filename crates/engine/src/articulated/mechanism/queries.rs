//! What a mechanism is asked for, in double precision and with memory of its own.

use pullback_kernel::prelude::*;
use pullback_kernel::program::BufferUse;

use super::{DynamicsBars, DynamicsJacobians, Mechanism, Task, finite, length};
use crate::articulated::Centroid;
use crate::articulated::forward_dynamics::Algorithm;
use crate::articulated::model::key;
use crate::error::Error;

impl Mechanism<f64> {
    /// Runs a task at a state that is checked.
    fn ask(&mut self, task: Task, q: &[f64], v: &[f64], given: &[f64]) -> Result<usize, Error> {
        finite("positions", q)?;
        finite("velocities", v)?;
        finite("forces or accelerations", given)?;
        self.run(task, q, v, given)
    }

    /// Accelerations [rad/s² or m/s²] from forces on the degrees of freedom [N·m or N].
    pub fn forward_dynamics(&mut self, q: &[f64], v: &[f64], tau: &[f64]) -> Result<Vec<f64>, Error> {
        let k = self.ask(Task::Forward(Algorithm::Fastest), q, v, tau)?;
        self.outcome(k)
    }

    /// Forces on the degrees of freedom [N·m or N] from accelerations [rad/s² or m/s²].
    pub fn inverse_dynamics(&mut self, q: &[f64], v: &[f64], a: &[f64]) -> Result<Vec<f64>, Error> {
        let k = self.ask(Task::Inverse, q, v, a)?;
        self.outcome(k)
    }

    /// The forces or accelerations of a task that was run.
    fn outcome(&self, k: usize) -> Result<Vec<f64>, Error> {
        let mut out = vec![0.0; self.robot.tree.velocities() * self.worlds];
        if let Some(buffer) = self.runners[k].1.out {
            self.read(k, buffer, &mut out)?;
        }
        Ok(out)
    }

    /// [`Mechanism::forward_dynamics`] with a force on every body, in world axes: [N] and [N·m] at the body's origin; of one
    /// world.
    pub fn forward_dynamics_pushed(
        &mut self,
        (q, v, tau): (&[f64], &[f64], &[f64]),
        pushes: &[Force],
    ) -> Result<Vec<f64>, Error> {
        let k = self.push(pushes)?;
        self.ask(Task::Pushed, q, v, tau)?;
        self.outcome(k)
    }

    /// Cotangents of everything that [`Mechanism::forward_dynamics_pushed`] depends on, and of the forces on bodies.
    pub fn forward_dynamics_pushed_pullback(
        &mut self,
        (q, v, tau): (&[f64], &[f64], &[f64]),
        pushes: &[Force],
        a_bar: &[f64],
    ) -> Result<(DynamicsBars, Vec<Force>), Error> {
        let k = self.push(pushes)?;
        let bars = self.bars(Task::Pushed, (q, v, tau), a_bar)?;
        let runner = &self.runners[k].1;
        let mut push_bars = vec![Force::default(); pushes.len()];
        if let Some(by) = &runner.pushes {
            let (forces, torques) = (runner.workspace.bars(by.force), runner.workspace.bars(by.torque));
            for (i, (b, _)) in by.on.iter().enumerate() {
                push_bars[*b] = Force { torque: torques[i], force: forces[i] };
            }
        }
        Ok((bars, push_bars))
    }

    /// Sets the forces on bodies.
    fn push(&mut self, pushes: &[Force]) -> Result<usize, Error> {
        length("forces on bodies", pushes, self.robot.tree.node_of_body.len())?;
        let k = self.runner(Task::Pushed)?;
        let runner = &mut self.runners[k].1;
        if let Some(by) = &runner.pushes {
            let forces: Vec<Vec3> = by.on.iter().map(|(b, _)| pushes[*b].force).collect();
            let torques: Vec<Vec3> = by.on.iter().map(|(b, _)| pushes[*b].torque).collect();
            runner.workspace.write(by.force, &forces)?;
            runner.workspace.write(by.torque, &torques)?;
        }
        Ok(k)
    }

    /// The mass matrix, row by row, of one world, by composite rigid bodies.
    pub fn mass_matrix(&mut self, q: &[f64]) -> Result<Vec<f64>, Error> {
        self.alone()?;
        let n = self.robot.tree.velocities();
        let k = self.ask(Task::MassMatrix, q, &vec![0.0; n], &[])?;
        let mut m = vec![0.0; n * n];
        if let Some(buffer) = self.runners[k].1.out {
            self.read(k, buffer, &mut m)?;
        }
        Ok(m)
    }

    /// Is it of one world?
    fn alone(&self) -> Result<(), Error> {
        match self.worlds {
            1 => Ok(()),
            n => {
                let (what, wanted) =
                    ("the worlds of this mechanism", "one: this question is answered for one world");
                Err(Error::Scheme { what, found: n.to_string(), wanted })
            }
        }
    }

    /// Cotangents of everything that forward dynamics depends on, from those of accelerations.
    pub fn forward_dynamics_pullback(
        &mut self,
        (q, v, tau): (&[f64], &[f64], &[f64]),
        a_bar: &[f64],
    ) -> Result<DynamicsBars, Error> {
        self.bars(Task::Forward(Algorithm::Fastest), (q, v, tau), a_bar)
    }

    /// Cotangents of everything that inverse dynamics depends on, from those of forces.
    pub fn inverse_dynamics_pullback(
        &mut self,
        (q, v, a): (&[f64], &[f64], &[f64]),
        tau_bar: &[f64],
    ) -> Result<DynamicsBars, Error> {
        self.bars(Task::Inverse, (q, v, a), tau_bar)
    }

    fn bars(
        &mut self,
        task: Task,
        (q, v, given): (&[f64], &[f64], &[f64]),
        out_bar: &[f64],
    ) -> Result<DynamicsBars, Error> {
        self.alone()?;
        finite("cotangents", out_bar)?;
        let k = self.ask(task, q, v, given)?;
        self.runners[k].1.workspace.clear_parameters();
        self.pull(k, out_bar)?;
        let runner = &self.runners[k].1;
        let mut bars = DynamicsBars {
            positions: vec![0.0; q.len()],
            velocities: vec![0.0; v.len()],
            given: vec![0.0; given.len()],
            params: vec![0.0; self.layout.len()],
        };
        runner.workspace.bar_numbers_into(0, runner.q, &mut bars.positions)?;
        runner.workspace.bar_numbers_into(0, runner.v, &mut bars.velocities)?;
        if let Some(buffer) = runner.acting {
            runner.workspace.bar_numbers_into(0, buffer, &mut bars.given)?;
        }
        self.preparing.pull(&runner.workspace, &runner.prepared)?;
        self.preparing.add_bars(0, &mut bars.params)?;
        let armature = key(self.robot.description(), "armature");
        for (block, range) in self.layout.ranges() {
            let from = match block.key.as_str() {
                "gravity" => runner.gravity.into(),
                key if key == armature => runner.armature.into(),
                _ => continue,
            };
            let from: BufferUse = from;
            runner.workspace.bar_numbers_into(0, from, &mut bars.params[range])?;
        }
        Ok(bars)
    }

    /// Accelerations and their full Jacobians in one call, of one world.
    pub fn jacobians(&mut self, q: &[f64], v: &[f64], tau: &[f64]) -> Result<DynamicsJacobians, Error> {
        self.alone()?;
        let k = self.ask(Task::Jacobians, q, v, tau)?;
        let Some(j) = self.runners[k].1.jacobians else { return Ok(DynamicsJacobians::default()) };
        let n = self.robot.tree.velocities();
        let read = |buffer: Buffer<f64>, len: usize| -> Result<Vec<f64>, Error> {
            let mut out = vec![0.0; len];
            self.read(k, buffer, &mut out)?;
            Ok(out)
        };
        Ok(DynamicsJacobians {
            acceleration: read(j.acceleration, n)?,
            by_position: read(j.by_position, n * n)?,
            by_velocity: read(j.by_velocity, n * n)?,
            by_force: read(j.by_force, n * n)?,
        })
    }

    /// Where every body is (world_from_body), and how it moves: angular velocity [rad/s], and velocity of its origin [m/s],
    /// both in world axes; of one world.
    pub fn bodies(&mut self, q: &[f64], v: &[f64]) -> Result<Vec<(Pose, Motion)>, Error> {
        self.alone()?;
        let k = self.ask(Task::Bodies, q, v, &[])?;
        let runner = &self.runners[k].1;
        let Some(moving) = runner.moving else { return Ok(Vec::new()) };
        let (poses, motions) = (runner.workspace.read(moving.poses), runner.workspace.read(moving.motions));
        Ok(poses.into_iter().zip(motions).collect())
    }

    /// Mass, centre of mass, momentum and kinetic energy of everything that moves, of one world.
    pub fn centroid(&mut self, q: &[f64], v: &[f64]) -> Result<Centroid, Error> {
        self.alone()?;
        let k = self.ask(Task::Whole, q, v, &[])?;
        let runner = &self.runners[k].1;
        let whole = runner.whole.map(|whole| runner.workspace.read(whole)[0]).unwrap_or_default();
        Ok(whole.centroid())
    }

    /// Kinetic energy, armature included, and potential energy of gravity [J], of one world.
    pub fn energy(&mut self, q: &[f64], v: &[f64]) -> Result<(f64, f64), Error> {
        let of = self.centroid(q, v)?;
        let tree = self.robot.tree.clone();
        let key = key(self.robot.description(), "armature");
        let armature = self.layout.ranges().find(|(block, _)| block.key == key).map(|(_, range)| range);
        let armature = &self.params[armature.unwrap_or(0..0)];
        let mut kinetic = of.kinetic;
        for node in &tree.nodes {
            let inertia = armature[node.joint as usize];
            let d = node.dof as usize;
            for dof in &tree.dofs[d..d + node.kind.velocities()] {
                let rate = dof.scale * v[dof.v as usize];
                kinetic += 0.5 * inertia * rate * rate;
            }
        }
        let g = &self.params[..3];
        Ok((kinetic, -of.mass * (g[0] * of.center.x + g[1] * of.center.y + g[2] * of.center.z)))
    }

    /// [`Mechanism::body_jacobian`] of a named frame of the robot: velocity of the frame's origin, then angular velocity.
    pub fn frame_jacobian(&mut self, q: &[f64], frame: &str) -> Result<Vec<f64>, Error> {
        let frames = &self.robot.description().frames;
        let Some(frame) = frames.iter().find(|known| known.name == frame).cloned() else {
            let known: Vec<&str> = frames.iter().map(|frame| frame.name.as_str()).collect();
            return Err(Error::NoSuchPart { what: "frame", name: frame.to_owned(), known: known.join(", ") });
        };
        let n = self.robot.tree.velocities();
        let Some(body) = frame.body else { return Ok(vec![0.0; 6 * n]) };
        let mut jacobian = self.body_jacobian(q, body)?;
        let (pose, _) = self.bodies(q, &vec![0.0; n])?[body];
        let [x, y, z] = frame.placement.position;
        let arm = pose.rotation * vec3(x, y, z);
        for j in 0..n {
            let angular = vec3(jacobian[3 * n + j], jacobian[4 * n + j], jacobian[5 * n + j]);
            let more = cross(angular, arm);
            jacobian[j] += more.x;
            jacobian[n + j] += more.y;
            jacobian[2 * n + j] += more.z;
        }
        Ok(jacobian)
    }

    /// The Jacobian of a body's velocity by the velocities of joints, 6 × nv row by row: velocity of its origin, then angular
    /// velocity, in world axes.
    pub fn body_jacobian(&mut self, q: &[f64], body: usize) -> Result<Vec<f64>, Error> {
        self.alone()?;
        let (n, bodies) = (self.robot.tree.velocities(), self.robot.tree.node_of_body.len());
        if body >= bodies {
            let known = format!("0 to {}", bodies.saturating_sub(1));
            return Err(Error::NoSuchPart { what: "body", name: body.to_string(), known });
        }
        let k = self.ask(Task::Bodies, q, &vec![0.0; n], &[])?;
        let mut jacobian = vec![0.0; 6 * n];
        let runner = &mut self.runners[k].1;
        let Some(moving) = runner.moving else { return Ok(jacobian) };
        // Each row is a pullback: its seed is one number of the body's motion, which is angular, then linear.
        for (row, number) in jacobian.chunks_exact_mut(n.max(1)).zip([3, 4, 5, 0, 1, 2]) {
            let mut seed = vec![0.0; Motion::<f64>::LEN * bodies];
            seed[Motion::<f64>::LEN * body + number] = 1.0;
            runner.workspace.seed_numbers(0, moving.motions, &seed)?;
            runner.workspace.pullback();
            runner.workspace.bar_numbers_into(0, runner.v, row)?;
        }
        Ok(jacobian)
    }
}
