//! Rotations that may change: unit quaternions, which three variables turn.

use pullback_engine::names::Space;
use pullback_kernel::prelude::*;

/// A unit quaternion (w, x, y, z), and the three variables that turn it: a rotation vector in the axes of the start [rad].
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    /// What it is called.
    pub name: String,
    /// Where the search starts, and what the scene says.
    pub start: [f64; 4],
    pub nominal: [f64; 4],
}

/// q0 exp(t / 2), kept at unit length
#[kernel]
fn turned<R: Real>(start: Quat<R>, turn: Vec3<R>) -> Quat<R> {
    normalize_quat(start * quat_exp(turn))
}

fn quaternion([w, x, y, z]: [f64; 4]) -> Quat {
    quat(w, vec3(x, y, z))
}

impl Rotation {
    /// Turned from the start.
    pub fn at(&self, [x, y, z]: [f64; 3]) -> [f64; 4] {
        // Without a turn it is the start to the last bit.
        if [x, y, z] == [0.0; 3] {
            return self.start;
        }
        let q = turned(quaternion(self.start), vec3(x, y, z));
        [q.w, q.x, q.y, q.z]
    }

    /// The cotangent of the turn, from that of the quaternion.
    pub fn pull(&self, [x, y, z]: [f64; 3], bar: [f64; 4]) -> [f64; 3] {
        let (_, t) = turned::pullback(quaternion(self.start), vec3(x, y, z), quaternion(bar));
        [t.x, t.y, t.z]
    }

    /// The turn that leads from the start to what the scene says.
    pub fn nominal_turn(&self) -> [f64; 3] {
        let mut turn = [0.0; 3];
        Space::Rotation.difference(&self.start, &self.nominal, &mut turn);
        turn
    }
}
