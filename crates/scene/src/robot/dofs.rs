//! The mass matrix of a robot whose joints are at their references: what MuJoCo measures springs, limits and servos with.

use std::collections::BTreeMap;

use crate::error::Invalid;
use crate::robot::{Inertial, JointKind, Limit, Placement, Robot, orientation};

/// Most multiplications; more would take long.
const MOST_WORK: usize = 200_000_000;

/// The time constant [s] and the damping ratio of limits that say nothing of them.
pub(in crate::robot) const USUAL_LIMIT: [f64; 2] = [0.02, 1.0];

impl Limit {
    /// With the inertia m that a joint feels, a time constant T and a damping ratio r:  stiffness = m / (T r)²,
    /// damping = 2 m / T.
    pub(in crate::robot) fn by_time(inertia: f64, [time, ratio]: [f64; 2]) -> Limit {
        Limit {
            stiffness: inertia / (time * ratio).powi(2).max(f64::MIN_POSITIVE),
            damping: 2.0 * inertia / time.max(f64::MIN_POSITIVE),
        }
    }
}

impl Robot {
    /// Limits that say nothing of how hard they push back get the usual stiffness and damping, if these make sense.
    pub(crate) fn harden_limits(&mut self) -> Result<(), Invalid> {
        let bare = |robot: &Robot, at: usize| {
            let joint = &robot.joints[at];
            joint.range.is_some() && joint.limit == Limit::default()
        };
        if !(0..self.joints.len()).any(|at| bare(self, at)) {
            return Ok(());
        }
        let Some(dofs) = Dofs::new(self) else { return Ok(()) };
        for at in 0..self.joints.len() {
            if bare(self, at) {
                self.joints[at].limit = Limit::by_time(dofs.of_joint(at, self.joints[at].kind), USUAL_LIMIT);
            }
        }
        self.check()
    }
}

/// The mass matrix, factorised: M = Lᵀ D L.
#[derive(Debug)]
pub(in crate::robot) struct Dofs {
    /// The first degree of freedom of each joint.
    pub first: Vec<usize>,
    dofs: Vec<Dof>,
    /// For each degree of freedom its D, and its L with those on the way to the world.
    rows: Vec<Vec<f64>>,
}

/// How one degree of freedom moves what hangs from it, in the world's frame.
#[derive(Debug)]
struct Dof {
    joint: usize,
    body: usize,
    /// The degree of freedom before it on the way to the world.
    parent: Option<usize>,
    turns: bool,
    /// The axis.
    direction: [f64; 3],
    /// A point of the axis, if it turns.
    anchor: [f64; 3],
}

impl Dofs {
    /// `None` if that would take too long.
    pub fn new(robot: &Robot) -> Option<Self> {
        let poses = poses(robot);
        let (first, dofs) = list(robot, &poses);
        let mut depth: Vec<usize> = Vec::with_capacity(dofs.len());
        for dof in &dofs {
            depth.push(1 + dof.parent.map_or(0, |parent| depth[parent]));
        }
        let work = depth.iter().fold(0usize, |sum, depth| sum.saturating_add(depth * depth));
        if work > MOST_WORK {
            return None;
        }
        let subtrees = robot.subtrees();
        let mut rows: Vec<Vec<f64>> =
            dofs.iter().map(|dof| row(&dofs, dof, &subtrees[dof.body].moved(&poses[dof.body]))).collect();
        for (row, dof) in rows.iter_mut().zip(&dofs) {
            row[0] += robot.joints[dof.joint].armature;
        }
        factorise(&dofs, &mut rows);
        Some(Self { first, dofs, rows })
    }

    /// The inertia that a joint feels while all others are free; of several degrees of freedom the mean, as MuJoCo takes
    /// it: count / Σ (M⁻¹)_ii. Zero if there is none.
    pub fn of_joint(&self, joint: usize, kind: JointKind) -> f64 {
        let count = kind.velocities();
        let first = self.first[joint];
        let inverse: f64 = (first..first + count).map(|dof| self.inverse(&[(dof, 1.0)])).sum();
        positive(count as f64 / inverse)
    }

    /// The inertia that a force on several degrees of freedom feels, by its moments: 1 / (J M⁻¹ Jᵀ). Zero if there is
    /// none.
    pub fn of_moments(&self, moments: &[(usize, f64)]) -> f64 {
        positive(1.0 / self.inverse(moments))
    }

    /// J M⁻¹ Jᵀ = Σ z_i² / D_i  with  Lᵀ z = Jᵀ: z is zero except from the moments' degrees of freedom to the world.
    fn inverse(&self, moments: &[(usize, f64)]) -> f64 {
        let mut z: BTreeMap<usize, f64> = BTreeMap::new();
        for &(dof, moment) in moments {
            *z.entry(dof).or_default() += moment;
        }
        let mut sum = 0.0;
        while let Some((at, z_at)) = z.pop_last() {
            sum += z_at * z_at / self.rows[at][0];
            let mut above = self.dofs[at].parent;
            for factor in &self.rows[at][1..] {
                let Some(i) = above else { break };
                *z.entry(i).or_default() -= factor * z_at;
                above = self.dofs[i].parent;
            }
        }
        sum
    }
}

fn positive(inertia: f64) -> f64 {
    if inertia > 0.0 && inertia.is_finite() { inertia } else { 0.0 }
}

/// world_from_body of all bodies.
fn poses(robot: &Robot) -> Vec<Placement> {
    let mut poses: Vec<Placement> = Vec::with_capacity(robot.bodies.len());
    for body in &robot.bodies {
        poses.push(body.parent.map_or(body.placement, |parent| poses[parent].compose(&body.placement)));
    }
    poses
}

/// All degrees of freedom in the order of joints, and the first of each joint.
fn list(robot: &Robot, poses: &[Placement]) -> (Vec<usize>, Vec<Dof>) {
    let mut first = Vec::with_capacity(robot.joints.len());
    let mut dofs: Vec<Dof> = Vec::new();
    // For each body the last degree of freedom that moves it; bodies and joints come after their parents'.
    let mut last: Vec<Option<usize>> = vec![None; robot.bodies.len()];
    let mut done = 0;
    for (at, joint) in robot.joints.iter().enumerate() {
        for body in done..=joint.body {
            last[body] = robot.bodies[body].parent.and_then(|parent| last[parent]);
        }
        done = done.max(joint.body + 1);
        first.push(dofs.len());
        let pose = &poses[joint.body];
        let axes = orientation::matrix(pose.orientation);
        let body_axis = |axis: usize| -> [f64; 3] { std::array::from_fn(|row| axes[row][axis]) };
        let world_axis = |axis: usize| -> [f64; 3] { std::array::from_fn(|row| f64::from(row == axis)) };
        let moves: Vec<(bool, [f64; 3])> = match joint.kind {
            JointKind::Hinge => vec![(true, pose.rotate(joint.axis))],
            JointKind::Slide => vec![(false, pose.rotate(joint.axis))],
            JointKind::Ball => (0..3).map(|axis| (true, body_axis(axis))).collect(),
            JointKind::Free => {
                let linear = (0..3).map(|axis| (false, world_axis(axis)));
                linear.chain((0..3).map(|axis| (true, body_axis(axis)))).collect()
            }
        };
        let anchor = if joint.kind == JointKind::Free { pose.position } else { pose.apply(joint.anchor) };
        for (turns, direction) in moves {
            let parent = last[joint.body].replace(dofs.len());
            dofs.push(Dof { joint: at, body: joint.body, parent, turns, direction, anchor });
        }
    }
    (first, dofs)
}

/// M_ij for j and each i from j to the world. With the subtree of j (mass m, centre c, inertia I about c) moving at
/// v = ω × (c - anchor), or along the axis, its momentum is p = m v and its angular momentum about c is I ω; what i feels
/// of it is axis_i · p, or axis_i · (I ω + (c - anchor_i) × p).
fn row(dofs: &[Dof], dof: &Dof, subtree: &Inertial) -> Vec<f64> {
    let arm = |anchor: [f64; 3]| -> [f64; 3] { std::array::from_fn(|i| subtree.center[i] - anchor[i]) };
    let (velocity, angular) = match dof.turns {
        true => {
            let [xx, yy, zz, xy, xz, yz] = subtree.inertia;
            let [x, y, z] = dof.direction;
            let turned = [xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z];
            (cross(dof.direction, arm(dof.anchor)), turned)
        }
        false => (dof.direction, [0.0; 3]),
    };
    let momentum = velocity.map(|v| subtree.mass * v);
    let mut row = Vec::new();
    let mut next = Some(dof);
    while let Some(above) = next {
        row.push(match above.turns {
            true => {
                let moment = cross(arm(above.anchor), momentum);
                dot(above.direction, std::array::from_fn(|i| angular[i] + moment[i]))
            }
            false => dot(above.direction, momentum),
        });
        next = above.parent.map(|parent| &dofs[parent]);
    }
    row
}

/// M = Lᵀ D L, in place: D in the first number of each row, L in the others (Featherstone 2008, table 6.3). The row of a
/// degree of freedom above is the end of the rows below it.
fn factorise(dofs: &[Dof], rows: &mut [Vec<f64>]) {
    for at in (0..dofs.len()).rev() {
        let mut row = std::mem::take(&mut rows[at]);
        let (mut above, mut place) = (dofs[at].parent, 1);
        while let Some(i) = above {
            let factor = row[place] / row[0];
            for (entry, below) in rows[i].iter_mut().zip(&row[place..]) {
                *entry -= factor * below;
            }
            (above, place) = (dofs[i].parent, place + 1);
        }
        let diagonal = row[0];
        row[1..].iter_mut().for_each(|entry| *entry /= diagonal);
        rows[at] = row;
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
