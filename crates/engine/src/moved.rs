//! Particles whose motion is given.
//!
//! They have no freedom of their own: wherever accelerations are asked for, and where a step ends, they are where their path is then,
//! and as fast. From the start of a step on, at time t, the path goes on by
//!
//!   v h + a (cos(2π f (t + h) + φ) - cos(2π f t + φ)),
//!
//! so that the state says where they are, and params or controls how they go on.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;
use pullback_scene::{PrescribedMotion, Scene, Velocity};

use crate::dynamics::plus;
use crate::error::Error;
use crate::force::Inputs;
use crate::names::{Block, Group, Quantity};

/// What programs call params and controls.
const VELOCITY: &str = "motions.velocity";
const DRIVEN: &str = "motions.driven velocity";
const AMPLITUDE: &str = "motions.amplitude";
const FREQUENCY: &str = "motions.frequency";
const PHASE: &str = "motions.phase";

const TAU: f64 = std::f64::consts::TAU;

/// How far a velocity goes in a time [m], and itself:  (v h, v)
#[kernel]
fn steady<R: Real>(velocity: Vec3<R>, h: R) -> (Vec3<R>, Vec3<R>) {
    (velocity * h, velocity)
}

/// How far a swing goes from one time to another [m], and how fast it is then [m/s].
#[kernel]
fn swing<R: Real>(amplitude: Vec3<R>, frequency: R, phase: R, now: R, then: R) -> (Vec3<R>, Vec3<R>) {
    let omega = TAU * frequency;
    let (before, after) = (omega * now + phase, omega * then + phase);
    (amplitude * (cos(after) - cos(before)), amplitude * (-(omega * sin(after))))
}

/// A vector, for the motion that it is of.
#[kernel]
fn of_motion<R: Real>(x: Vec3<R>) -> [Vec3<R>; 1] {
    [x]
}

/// Where a particle is that started somewhere and went on.
#[kernel]
fn gone_on<R: Real>(start: [Vec3<R>; 1], gone: [Vec3<R>; 1]) -> [Vec3<R>; 1] {
    [start[0] + gone[0]]
}

/// How fast a particle is.
#[kernel]
fn as_fast<R: Real>(rate: [Vec3<R>; 1]) -> [Vec3<R>; 1] {
    rate
}

/// What is given instead of what is not free: 1 for a particle that is free, 0 for one that is not.
#[kernel]
fn given<R: Real>(x: Vec3<R>, instead: Vec3<R>, free: R) -> Vec3<R> {
    x * free + instead
}

/// 1 for particles that are free, 0 for those that are led.
pub(crate) fn free_of(led: &[usize], particles: usize) -> Vec<f64> {
    let mut free = vec![1.0; particles];
    led.iter().for_each(|&particle| free[particle] = 0.0);
    free
}

/// Positions and velocities of all particles, with others for those that are led; those others are 0 elsewhere.
pub(crate) fn instead(
    p: &mut Builder,
    name: &dyn Fn(&str) -> String,
    [x, v]: [Buffer<Vec3>; 2],
    [place, rate]: [Buffer<Vec3>; 2],
    (led, particles): (&[usize], usize),
) -> [Buffer<Vec3>; 2] {
    let free = p.constant::<f64>(&name("all but those"), &free_of(led, particles));
    [
        p.map::<given>(&name("positions with those"), (x.own(), place.own(), free.own())),
        p.map::<given>(&name("velocities with those"), (v.own(), rate.own(), free.own())),
    ]
}

/// All motions that a scene gives.
#[derive(Clone, Debug)]
pub(crate) struct Moved {
    /// Of each particle that is moved: itself, and which motion it has.
    points: Vec<usize>,
    of: Vec<[usize; 1]>,
    motions: usize,
    /// Which motions have a velocity that is a param, or a control, and which swing.
    steady: Vec<[usize; 1]>,
    driven: Vec<[usize; 1]>,
    swings: Vec<[usize; 1]>,
    params: Vec<Block>,
    controls: Vec<Block>,
    /// For how many steps velocities are given as controls, and which.
    schedule: Vec<Vec<[f64; 3]>>,
    particles: usize,
}

/// A quantity of some motions.
fn block<const N: usize>(
    key: &str,
    field: &str,
    quantity: Quantity,
    values: impl Iterator<Item = (String, [f64; N])>,
) -> Block {
    let (names, values): (Vec<String>, Vec<[f64; N]>) = values.unzip();
    let groups = names.iter().map(|name| Group::one(name)).collect();
    let (key, field, values) = (key.to_owned(), field.to_owned(), values.concat());
    Block { key, field, groups, numbers: N, quantity, values }
}

impl Moved {
    /// The motions of a scene; none where it gives none.
    pub fn new(scene: &Scene) -> Option<Moved> {
        let all = &scene.motions;
        let which = |has: fn(&PrescribedMotion) -> bool| -> Vec<[usize; 1]> {
            all.iter().enumerate().filter(|(_, it)| has(it)).map(|(i, _)| [i]).collect()
        };
        let steady = all.iter().filter_map(|it| match &it.velocity {
            Velocity::Steady(velocity) => Some((it.name.clone(), *velocity)),
            Velocity::Control(_) => None,
        });
        let driven: Vec<(&String, &Vec<[f64; 3]>)> = all
            .iter()
            .filter_map(|it| match &it.velocity {
                Velocity::Steady(_) => None,
                Velocity::Control(controls) => Some((&it.name, controls)),
            })
            .collect();
        let first = |(name, controls): &(&String, &Vec<[f64; 3]>)| {
            ((*name).clone(), controls.first().copied().unwrap_or_default())
        };
        let swings = || all.iter().filter_map(|it| Some((it.name.clone(), it.swing?)));
        let velocity = |doc: &str| Quantity::new("m/s", doc);
        let amplitude = Quantity::new("m", "how far a given motion swings");
        let frequency = Quantity::new("Hz", "swings per second").at_least(0.0);
        let phase = Quantity::new("rad", "angle of the swing at time 0");
        let mut params = vec![
            block(VELOCITY, "velocity", velocity("velocity of a given motion"), steady),
            block(AMPLITUDE, "amplitude", amplitude, swings().map(|(name, (a, _))| (name, a))),
            block(FREQUENCY, "frequency", frequency, swings().map(|(name, (_, it))| (name, [it.frequency]))),
            block(PHASE, "phase", phase, swings().map(|(name, (_, it))| (name, [it.phase]))),
        ];
        params.retain(|block| !block.is_empty());
        let mut controls = vec![block(
            DRIVEN,
            "velocity",
            velocity("velocity of a given motion in one step"),
            driven.iter().map(first),
        )];
        controls.retain(|block| !block.is_empty());
        let points = || all.iter().enumerate().flat_map(|(i, it)| it.points.iter().map(move |&at| (at, [i])));
        (!all.is_empty()).then(|| Moved {
            points: points().map(|(particle, _)| particle).collect(),
            of: points().map(|(_, motion)| motion).collect(),
            motions: all.len(),
            steady: which(|it| matches!(it.velocity, Velocity::Steady(_))),
            driven: which(|it| matches!(it.velocity, Velocity::Control(_))),
            swings: which(|it| it.swing.is_some()),
            params,
            controls,
            schedule: driven.iter().map(|(_, controls)| (*controls).clone()).collect(),
            particles: scene.particle_count(),
        })
    }

    /// The particles that are moved.
    pub fn points(&self) -> &[usize] {
        &self.points
    }

    pub fn params(&self) -> Vec<Block> {
        self.params.clone()
    }

    pub fn controls(&self) -> Vec<Block> {
        self.controls.clone()
    }

    /// The velocities of a step, as controls.
    pub fn control(&self, step: usize) -> Vec<f64> {
        let of = |given: &Vec<[f64; 3]>| given.get(step).or(given.last()).copied().unwrap_or_default();
        self.schedule.iter().flat_map(of).collect()
    }

    /// Positions and velocities of particles, those that are moved where they are moved to: from the positions at the start of the step,
    /// with the time then and now, and how long it is since.
    pub fn lead(
        &self,
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        inputs: &Inputs,
        (start, [now, then], delay): (Buffer<Vec3>, [Buffer<f64>; 2], f64),
        particles: [Buffer<Vec3>; 2],
    ) -> Result<[Buffer<Vec3>; 2], Error> {
        let name = |what: &str| name(&format!("{what} that are moved"));
        // Of each motion: how far it goes on, and how fast it is.
        let mut terms = Vec::new();
        let velocities = [
            ("steady", &self.steady, inputs.params.get(VELOCITY).map(|_| inputs.param(VELOCITY))),
            ("driven", &self.driven, inputs.controls.get(DRIVEN).map(|_| inputs.control(DRIVEN))),
        ];
        for (what, which, velocity) in velocities {
            let Some(velocity) = velocity.transpose()? else { continue };
            let h = p.constant::<f64>(&name(&format!("{what} delay of those")), &[delay]);
            let names = [format!("{what} ways of those"), format!("{what} rates of those")];
            let both =
                p.map::<Once<steady>>(&names.map(|it| name(&it)).join(", "), (velocity.own(), h.shared()));
            terms.push((what, which, both));
        }
        if !self.swings.is_empty() {
            let (frequency, phase) = (inputs.param::<f64>(FREQUENCY)?, inputs.param::<f64>(PHASE)?);
            let amplitude = inputs.param::<Vec3>(AMPLITUDE)?;
            let ports = (amplitude.own(), frequency.own(), phase.own(), now.shared(), then.shared());
            let names = ["swings of those", "swing rates of those"].map(name).join(", ");
            terms.push(("swinging", &self.swings, p.map::<Once<swing>>(&names, ports)));
        }
        let mut sums: Option<[Buffer<Vec3>; 2]> = None;
        for (what, which, (way, rate)) in terms {
            let name = |of: &str| name(&format!("{what} {of} of motions of those"));
            let which = p.corners(&name("numbers"), which, self.motions);
            let more = [
                p.elements::<Once<of_motion>, Vec3, 1>(&name("ways"), which, (way.own(),)),
                p.elements::<Once<of_motion>, Vec3, 1>(&name("rates"), which, (rate.own(),)),
            ];
            sums = Some(match sums {
                None => more,
                Some([way, rate]) => [
                    p.map::<plus>(&name("sums of ways"), (way.own(), more[0].own())),
                    p.map::<plus>(&name("sums of rates"), (rate.own(), more[1].own())),
                ],
            });
        }
        let Some([way, rate]) = sums else { return Ok(particles) };
        let points: Vec<[usize; 1]> = self.points.iter().map(|&at| [at]).collect();
        let points = p.corners(&name("points"), &points, self.particles);
        let of = p.corners(&name("motions of points"), &self.of, self.motions);
        let ports = (start.at(points), way.at(of));
        let place = p.elements::<Once<gone_on>, Vec3, 1>(&name("places"), points, ports);
        let rate = p.elements::<Once<as_fast>, Vec3, 1>(&name("velocities"), points, (rate.at(of),));
        Ok(instead(p, &name, particles, [place, rate], (&self.points, self.particles)))
    }
}
