//! Where the bodies and frames of a model's robots are and how they move at a state, with its pullback.

use std::ops::Range;

use pullback_kernel::prelude::*;
use pullback_kernel::program::BufferUse;
use pullback_kernel::{numbers, numbers_mut};
use pullback_scene::Part;
use pullback_scene::robot::Placement;

use super::Prepared;
use super::bodies::{Bodies, Moving};
use super::kinematics::zero;
use super::mechanism::finite;
use crate::error::Error;
use crate::model::Model;
use crate::preparation::{Preparation, Preparing};

/// Bodies and frames of a model's robots in the world, for losses and pictures: [`Watch::run`] at a state, look at
/// [`Watch::part`], then [`Watch::seed`] cotangents and [`Watch::pullback`] them. Nothing is allocated by these.
///
/// ```
/// use pullback_engine::articulated::Watch;
/// use pullback_engine::Model;
/// use pullback_scene::{Part, Scene};
///
/// let text = r#"
///     [simulation]
///     dt = 0.01
///     steps = 1
///     [[bodies]]
///     name = "ball"
///     mass = 1
///     shape = { sphere = 0.1 }
///     position = [0, 0, 2]
///     velocity = [1, 0, 0]
/// "#;
/// let model = Model::new(&Scene::parse(text, "ball.toml")?)?;
/// let mut watch = Watch::new(&model)?;
/// watch.run(model.state().values(), model.params().values())?;
/// let (pose, motion) = watch.part(Part::Body { robot: 0, body: 0 }).ok_or("it is there")?;
/// assert_eq!((pose.position.z, motion.linear.x), (2.0, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Watch {
    /// What depends on params alone; `None` without robots.
    preparing: Option<Preparing<f64>>,
    /// The params that it was made from.
    given: Vec<f64>,
    workspace: Workspace<f64>,
    /// The buffers of the workspace that hold what was prepared.
    prepared: Vec<(BufferUse, usize)>,
    robots: Vec<Watched>,
    /// Of all bodies of all robots.
    poses: Vec<Pose>,
    motions: Vec<Motion>,
    pose_bars: Vec<Pose>,
    motion_bars: Vec<Motion>,
    state_len: usize,
    params_len: usize,
    /// Numbers on their way from one buffer to another.
    scratch: Vec<f64>,
}

/// One robot.
struct Watched {
    q: Buffer<f64>,
    v: Buffer<f64>,
    /// Where its positions and velocities lie in a state.
    positions: Range<usize>,
    velocities: Range<usize>,
    moving: Moving,
    /// Its bodies among all.
    bodies: Range<usize>,
    /// Frames: a body, or the world, and where they are on it.
    frames: Vec<(Option<usize>, Pose)>,
}

/// A frame that is fixed to a body: where it is, and how its origin moves, v' = v + ω × R p.
#[kernel]
fn on_body<R: Real>(body: Pose<R>, motion: Motion<R>, placement: Pose<R>) -> (Pose<R>, Motion<R>) {
    let away = body.rotation * placement.position;
    let linear = motion.linear + cross(motion.angular, away);
    (body * placement, Motion { angular: motion.angular, linear })
}

fn pose_of(placement: &Placement) -> Pose {
    let ([x, y, z], [w, a, b, c]) = (placement.position, placement.orientation);
    pose_from_quat(quat(w, vec3(a, b, c)), vec3(x, y, z))
}

impl Watch {
    /// Of the robots of a model.
    pub fn new(model: &Model) -> Result<Watch, Error> {
        let mut p = Program::builder();
        let (mut robots, mut prepared) = (Vec::new(), Vec::new());
        let (mut q_at, mut v_at) = (3 * model.particles(), model.positions() + 3 * model.particles());
        let mut first = 0;
        for robot in model.robots() {
            let (d, tree) = (robot.description(), &robot.tree);
            let of = |what: &str| format!("{} {what}", robot.name());
            let given = Prepared {
                placements: p.parameter(&of("placements"), tree.nodes.len()),
                inertias: p.parameter(&of("inertias"), tree.nodes.len()),
                bodies: p.parameter(&of("bodies"), d.bodies.len()),
            };
            prepared.extend(given.uses(&p));
            let (q, v) = (p.input(&of("q"), tree.positions()), p.input(&of("v"), tree.velocities()));
            let moving =
                Bodies::add(&mut p, robot.name(), tree, (q, v), (given.placements, given.bodies), |_| true);
            p.output(moving.poses);
            p.output(moving.motions);
            let positions = q_at..q_at + tree.positions();
            let velocities = v_at..v_at + tree.velocities();
            (q_at, v_at) = (positions.end, velocities.end);
            let bodies = first..first + d.bodies.len();
            first = bodies.end;
            let frames = d.frames.iter().map(|frame| (frame.body, pose_of(&frame.placement))).collect();
            robots.push(Watched { q, v, positions, velocities, moving, bodies, frames });
        }
        let preparing = Preparation::new(model)?.map(|p| Preparing::new(&p, 1, RunOptions::default()));
        let of_robot = |robot: &Watched| {
            robot.positions.len().max(robot.velocities.len()).max(Pose::<f64>::LEN * robot.bodies.len())
        };
        Ok(Watch {
            workspace: p.finish()?.workspace(RunOptions::default()),
            scratch: vec![0.0; robots.iter().map(of_robot).max().unwrap_or(0)],
            preparing,
            given: Vec::with_capacity(model.params_layout().len()),
            prepared,
            robots,
            poses: vec![identity_pose(); first],
            motions: vec![zero(); first],
            pose_bars: vec![zero(); first],
            motion_bars: vec![zero(); first],
            state_len: model.state_layout().len(),
            params_len: model.params_layout().len(),
        })
    }

    /// Looks at a state. What depends on params alone is made again only when they are others than the last time.
    pub fn run(&mut self, state: &[f64], params: &[f64]) -> Result<(), Error> {
        self.check(state.len(), params.len())?;
        finite("a state", state)?;
        self.prepare(params)?;
        for robot in &self.robots {
            self.workspace.write_numbers(0, robot.q, &state[robot.positions.clone()])?;
            self.workspace.write_numbers(0, robot.v, &state[robot.velocities.clone()])?;
        }
        self.workspace.forward();
        for robot in &self.robots {
            let (poses, motions) =
                (&mut self.poses[robot.bodies.clone()], &mut self.motions[robot.bodies.clone()]);
            let scratch = &mut self.scratch[..Pose::<f64>::LEN * poses.len()];
            self.workspace.read_numbers_into(0, robot.moving.poses, scratch)?;
            set_all::<Pose>(poses, scratch);
            let scratch = &mut scratch[..Motion::<f64>::LEN * motions.len()];
            self.workspace.read_numbers_into(0, robot.moving.motions, scratch)?;
            set_all::<Motion>(motions, scratch);
        }
        self.clear();
        Ok(())
    }

    fn check(&self, state: usize, params: usize) -> Result<(), Error> {
        for (what, wanted, found) in [("a state", self.state_len, state), ("params", self.params_len, params)]
        {
            if wanted != found {
                return Err(Error::Length { what, wanted, found });
            }
        }
        Ok(())
    }

    fn prepare(&mut self, params: &[f64]) -> Result<(), Error> {
        finite("params", params)?;
        let Some(preparing) = self.preparing.as_mut().filter(|_| self.given != params) else { return Ok(()) };
        preparing.set_params(0, params)?;
        preparing.make();
        preparing
            .give(0, &self.prepared, |to, numbers| Ok(self.workspace.write_numbers(0, to, numbers)?))?;
        self.given.clear();
        self.given.extend_from_slice(params);
        Ok(())
    }

    fn clear(&mut self) {
        self.pose_bars.fill(zero());
        self.motion_bars.fill(zero());
    }

    /// The robot's body that a part is or lies on, among all, and where the part lies on it.
    fn place(&self, part: Part) -> Option<(Option<usize>, Option<Pose>)> {
        let body_of = |robot: &Watched, body: usize| robot.bodies.clone().nth(body);
        match part {
            Part::Body { robot, body } => Some((Some(body_of(self.robots.get(robot)?, body)?), None)),
            Part::Frame { robot, frame } => {
                let robot = self.robots.get(robot)?;
                let (body, pose) = *robot.frames.get(frame)?;
                let body = match body {
                    Some(body) => Some(body_of(robot, body)?),
                    None => None,
                };
                Some((body, Some(pose)))
            }
        }
    }

    /// Where a body or frame is (world_from_part) and how it moves: its angular velocity [rad/s], and the velocity of its
    /// origin [m/s], in the axes of the world. `None`: no robot has such a part.
    pub fn part(&self, part: Part) -> Option<(Pose, Motion)> {
        let (body, placement) = self.place(part)?;
        Some(match (body, placement) {
            (Some(b), None) => (self.poses[b], self.motions[b]),
            (Some(b), Some(placement)) => on_body(self.poses[b], self.motions[b], placement),
            (None, placement) => (placement.unwrap_or_else(identity_pose), zero()),
        })
    }

    /// Adds to the cotangents of a part's pose and motion. What no robot has, and what is fixed to the world, has none.
    pub fn seed(&mut self, part: Part, pose_bar: Pose, motion_bar: Motion) {
        let Some((Some(b), placement)) = self.place(part) else { return };
        let (pose_bar, motion_bar) = match placement {
            None => (pose_bar, motion_bar),
            Some(placement) => {
                let bars = (pose_bar, motion_bar);
                let (pose, motion, _) = on_body::pullback(self.poses[b], self.motions[b], placement, bars);
                (pose, motion)
            }
        };
        add::<Pose>(&mut self.pose_bars[b], &pose_bar);
        add::<Motion>(&mut self.motion_bars[b], &motion_bar);
    }

    /// Adds to the cotangents of the state and of the params what the seeds since [`Watch::run`] give them, and forgets
    /// the seeds.
    pub fn pullback(&mut self, state_bar: &mut [f64], params_bar: &mut [f64]) -> Result<(), Error> {
        self.check(state_bar.len(), params_bar.len())?;
        for robot in &self.robots {
            let bodies = robot.bodies.clone();
            let scratch = &mut self.scratch[..Pose::<f64>::LEN * bodies.len()];
            get_all::<Pose>(&self.pose_bars[bodies.clone()], scratch);
            self.workspace.seed_numbers(0, robot.moving.poses, scratch)?;
            let scratch = &mut scratch[..Motion::<f64>::LEN * bodies.len()];
            get_all::<Motion>(&self.motion_bars[bodies], scratch);
            self.workspace.seed_numbers(0, robot.moving.motions, scratch)?;
        }
        self.clear();
        self.workspace.clear_parameters();
        self.workspace.pullback();
        for robot in &self.robots {
            for (buffer, range) in [(robot.q, &robot.positions), (robot.v, &robot.velocities)] {
                let scratch = &mut self.scratch[..range.len()];
                self.workspace.bar_numbers_into(0, buffer, scratch)?;
                add_all(&mut state_bar[range.clone()], scratch);
            }
        }
        let Some(preparing) = &mut self.preparing else { return Ok(()) };
        preparing.pull(&self.workspace, &self.prepared)?;
        preparing.add_bars(0, params_bar)
    }
}

/// Values from their numbers, and back.
fn set_all<T: Value>(values: &mut [With<T, f64>], from: &[f64]) {
    for (value, from) in values.iter_mut().zip(from.chunks_exact(T::LEN)) {
        numbers_mut::<T, f64>(value).copy_from_slice(from);
    }
}

fn get_all<T: Value>(values: &[With<T, f64>], to: &mut [f64]) {
    for (value, to) in values.iter().zip(to.chunks_exact_mut(T::LEN)) {
        to.copy_from_slice(numbers::<T, f64>(value));
    }
}

fn add<T: Value>(sum: &mut With<T, f64>, more: &With<T, f64>) {
    add_all(numbers_mut::<T, f64>(sum), numbers::<T, f64>(more));
}

fn add_all(sum: &mut [f64], more: &[f64]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}
