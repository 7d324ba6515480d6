//! Impulses of contacts as forces from outside, in the pullback of inverse dynamics.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;

use super::islands::Islands;
use super::rows::{OnSide, SIGNS, force_at, velocity_at};
use crate::articulated::push::Pushed;
use crate::articulated::rnea_pullback::{Carried, Outside};

/// Contacts of one robot: forces p / h and the cotangents ζ of relative velocities, at points and along axes that do not move
/// with the robot.
pub(crate) struct Touching<'a, L: Lane> {
    pub pushed: Option<Pushed<'a, L>>,
    pub robot: usize,
    /// What shapes are fixed to, and joints. Joints act along what does not change: their rows have no derivative.
    pub sides: &'a [OnSide],
    pub islands: &'a Islands<'a>,
    /// 1 / h
    pub per_step: L,
    pub frames: &'a [Mat3<L>],
    pub arms: [&'a [Vec3<L>]; 2],
    pub impulses: &'a [Vec3<L>],
    /// ζ, for both sides
    pub w_bars: [&'a [Vec3<L>]; 2],
    /// v⁺, the motions it gives nodes, and the forces of ζ on nodes.
    pub rates: &'a [L],
    pub motions: &'a [Motion<L>],
    pub forces: &'a mut [Force<L>],
    pub frame_bars: &'a mut [Mat3<L>],
    pub point_bars: &'a mut [Vec3<L>],
}

impl<L: Lane> Outside<L> for Touching<'_, L> {
    const CARRIES: bool = true;

    /// With the frame R and the point c of a contact, F = R p / h and Z = R ζ: -F · W(c) + Z · V⁺(c) has for c the cotangent
    /// Z × ω⁺ - F × ω, for R that of V⁺(c) ζᵀ - W(c) pᵀ / h.
    #[inline(always)]
    fn act(&mut self, poses: &[Pose<L>], w: &[Motion<L>], force: &mut [Force<L>], stays: &mut [Force<L>]) {
        self.pushed.act(poses, w, force, stays);
        self.forces.fill(crate::articulated::kinematics::zero());
        let (frames, arms, impulses) = (self.frames, self.arms, self.impulses);
        for i in 0..self.islands.touches(self.robot) {
            let (c, s) = self.islands.touch(self.robot, i);
            if self.islands.is_joint(c) {
                continue;
            }
            let Some(side) = self.islands.sides(c, self.sides)[s] else { continue };
            let (node, arm, sign) = (side.node, arms[s][c], L::from_f64(SIGNS[s]));
            let (p, zeta) = (impulses[c] * (self.per_step * sign), self.w_bars[s][c] * sign);
            let (pushed, carried) = (frames[c] * p, frames[c] * zeta);
            let (f, z) = (force_at(pushed, arm), force_at(carried, arm));
            let (w, v) = (w[node], self.motions[node]);
            force[node] = force[node] - f;
            self.forces[node] = self.forces[node] + z;
            stays[node] = stays[node] + cross_force(v, z) - cross_force(w, f);
            self.point_bars[c] = self.point_bars[c] + cross(carried, v.angular) - cross(pushed, w.angular);
            self.frame_bars[c] =
                self.frame_bars[c] + outer(velocity_at(v, arm), zeta) - outer(velocity_at(w, arm), p);
        }
    }

    #[inline(always)]
    fn carried(&mut self) -> Carried<'_, L> {
        Carried { rates: self.rates, motions: self.motions, forces: self.forces }
    }
}
