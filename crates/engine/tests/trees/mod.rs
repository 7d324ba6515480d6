//! Random trees of bodies, each in a state, and positions as points of a manifold.

#![allow(dead_code)]

use pullback_engine::articulated::{Algorithm, JointPlace, Mechanism};
use pullback_engine::names::Space;
use pullback_scene::robot::JointKind;

use crate::common::robots::{Random, Wood, random_tree};

/// The distance from 1 to the next number.
pub const EPSILON: f64 = f64::EPSILON;
/// From a grain of sand to a person.
pub const ANY_MASS: [f64; 2] = [1e-5, 100.0];
/// Bodies of one size.
pub const LIKE_MASSES: [f64; 2] = [0.5, 2.0];

/// A robot on its own, in a state, with forces and the accelerations they are for.
pub struct Sample {
    pub name: String,
    pub mechanism: Mechanism,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
    pub tau: Vec<f64>,
}

impl Sample {
    pub fn new(seed: u64, wood: Wood) -> Sample {
        let mut random = Random::new(seed);
        let mut robot = random_tree(&mut random, wood);
        robot.check().expect("a robot");
        robot.options.gravity = Some(random.vector(9.81));
        let mechanism = Mechanism::new(&robot).expect("a mechanism");
        let built = mechanism.robot();
        let (q, v) =
            (built.positions_of(&robot.start.positions), built.velocities_of(&robot.start.velocities));
        let a = random.numbers(v.len(), 5.0);
        let mut sample =
            Sample { name: format!("seed {seed}, {wood:?}"), mechanism, q, v, a, tau: Vec::new() };
        sample.tau = sample.mechanism.inverse_dynamics(&sample.q, &sample.v, &sample.a).expect("forces");
        sample
    }

    /// The same tree with nothing moved from where it was built, and nothing moving.
    pub fn at_rest(mut self) -> Sample {
        self.q = self.mechanism.robot().positions_of(&[]);
        for (kind, place) in joints(&self.mechanism) {
            if matches!(kind, JointKind::Ball | JointKind::Free) {
                self.q[place.orientation..place.orientation + 4].copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
            }
        }
        self.v.fill(0.0);
        self.tau = self.mechanism.inverse_dynamics(&self.q, &self.v, &self.a).expect("forces");
        self
    }

    pub fn accelerations(&mut self, algorithm: Algorithm) -> Vec<f64> {
        let mut out = vec![0.0; self.v.len()];
        let state = (&self.q[..], &self.v[..], &self.tau[..]);
        self.mechanism.forward_dynamics_into(algorithm, state, &mut out).expect("accelerations");
        out
    }

    /// |M⁻¹| (|M| |a| + |τ|): what accelerations are sums of. Rounding is so many times this, not so many times |a|: with a
    /// grain of sand at a heavy arm they differ by the ratio of their masses.
    pub fn summands(&mut self) -> Vec<f64> {
        let n = self.v.len();
        let m = self.mechanism.mass_matrix(&self.q).expect("a matrix");
        let inverse = self.mechanism.jacobians(&self.q, &self.v, &self.tau).expect("Jacobians").by_force;
        let row = |m: &[f64], i: usize, x: &[f64]| (0..n).map(|j| (m[i * n + j] * x[j]).abs()).sum::<f64>();
        let forces: Vec<f64> = (0..n).map(|i| row(&m, i, &self.a) + self.tau[i].abs()).collect();
        (0..n).map(|i| row(&inverse, i, &forces)).collect()
    }
}

/// Trees of all sizes and shapes.
pub fn samples(links: &[usize], masses: [f64; 2], floating: bool) -> Vec<Sample> {
    let shapes = [0.0, 0.4, 1.0];
    let one = |(i, (links, bushy)): (usize, (usize, f64))| {
        Sample::new(1000 * links as u64 + i as u64, Wood { links, bushy, masses, floating })
    };
    let all = links.iter().flat_map(|&links| shapes.map(|bushy| (links, bushy)));
    all.enumerate().map(one).collect()
}

/// The kind of every joint, and where its numbers lie.
pub fn joints(mechanism: &Mechanism) -> Vec<(JointKind, JointPlace)> {
    let robot = mechanism.robot();
    let kinds = robot.description().joints.iter().map(|joint| joint.kind);
    kinds.zip(robot.tree().places().iter().copied()).collect()
}

/// Every stretch of positions and of tangents that belong together: (space, position, tangent, length of the position).
pub fn stretches(mechanism: &Mechanism) -> Vec<(Space, usize, usize, usize)> {
    let of = |(kind, place): (JointKind, JointPlace)| match kind {
        JointKind::Hinge | JointKind::Slide => vec![(Space::Flat, place.position, place.velocity, 1)],
        JointKind::Ball => vec![(Space::Rotation, place.orientation, place.angular_velocity, 4)],
        JointKind::Free => vec![
            (Space::Flat, place.position, place.velocity, 3),
            (Space::Rotation, place.orientation, place.angular_velocity, 4),
        ],
    };
    joints(mechanism).into_iter().flat_map(of).collect()
}

/// q ⊕ h t
pub fn moved(mechanism: &Mechanism, q: &[f64], t: &[f64], h: f64) -> Vec<f64> {
    let mut q = q.to_vec();
    for (space, at, from, len) in stretches(mechanism) {
        let t: Vec<f64> = t[from..from + space.tangent_numbers(len)].iter().map(|t| t * h).collect();
        space.retract(&mut q[at..at + len], &t);
    }
    q
}

/// Cotangents of tangents, from those of positions as they are stored.
pub fn tangent_bars(mechanism: &Mechanism, q: &[f64], bars: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; mechanism.robot().tree().velocities()];
    for (space, at, to, len) in stretches(mechanism) {
        let range = to..to + space.tangent_numbers(len);
        space.to_tangent(&q[at..at + len], &bars[at..at + len], &mut out[range]);
    }
    out
}

/// The largest, and what is not a number rather than any.
pub fn most(errors: impl IntoIterator<Item = f64>) -> f64 {
    errors.into_iter().fold(0.0, |most: f64, x| if most.is_nan() || x <= most { most } else { x })
}
