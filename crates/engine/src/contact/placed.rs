//! Where shapes are: from the poses of bodies and from params, and back.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Lane, World};
use pullback_kernel::{numbers, numbers_mut};

use super::touchable::{Given, Pinned, Shape};
use crate::articulated::kinematics::{no_motion, zero};

impl Given {
    /// Poses and sizes of all shapes.
    #[inline(always)]
    pub fn place<L: Lane>(
        &self,
        world: &World<'_, L>,
        shapes: &[Shape],
        (poses, sizes): (&mut [Pose<L>], &mut [L]),
    ) {
        for (size, at) in sizes.iter_mut().zip(&self.sizes) {
            *size = at.get(world);
        }
        for (pose, shape) in poses.iter_mut().zip(shapes) {
            *pose = constant_pose(&shape.placement);
            match (&shape.on, &self.height) {
                (Pinned::Ground(_), Some(height)) => pose.position.z = height.get(world),
                (Pinned::World | Pinned::Ground(_), _) => {}
                (Pinned::Body(r, b), _) => *pose = world.values(self.bodies[*r].poses).get(*b) * *pose,
            }
        }
    }

    /// Where the body of a shape is and how it moves.
    #[inline(always)]
    pub fn body<L: Lane>(&self, world: &World<'_, L>, on: &Pinned) -> (Vec3<L>, Motion<L>) {
        match on {
            Pinned::World | Pinned::Ground(_) => (no_motion().linear, no_motion()),
            Pinned::Body(r, b) => {
                let moving = &self.bodies[*r];
                (world.values(moving.poses).get(*b).position, world.values(moving.motions).get(*b))
            }
        }
    }

    /// The pullback of [`Given::body`].
    #[inline(always)]
    pub fn pull_body<L: Lane>(&self, world: &World<'_, L>, on: &Pinned, bar: (Vec3<L>, Motion<L>)) {
        let Pinned::Body(r, b) = on else { return };
        let mut pose_bar: Pose<L> = zero();
        pose_bar.position = bar.0;
        world.bars(self.bodies[*r].poses).add(*b, pose_bar);
        world.bars(self.bodies[*r].motions).add(*b, bar.1);
    }

    /// The pullback of [`Given::place`].
    #[inline(always)]
    pub fn pull_place<L: Lane>(
        &self,
        world: &World<'_, L>,
        shapes: &[Shape],
        (pose_bars, size_bars): (&[Pose<L>], &[L]),
    ) {
        for (bar, at) in size_bars.iter().zip(&self.sizes) {
            at.add(world, *bar);
        }
        for (bar, shape) in pose_bars.iter().zip(shapes) {
            let (r, b) = match (&shape.on, &self.height) {
                (Pinned::Body(r, b), _) => (*r, *b),
                (Pinned::Ground(_), Some(height)) => {
                    height.add(world, bar.position.z);
                    continue;
                }
                (Pinned::World | Pinned::Ground(_), _) => continue,
            };
            let poses = self.bodies[r].poses;
            let placement = constant_pose(&shape.placement);
            let (body_bar, _) = compose::pullback(world.values(poses).get(b), placement, *bar);
            world.bars(poses).add(b, body_bar);
        }
    }
}

/// A pose that is the same in all lanes.
#[inline(always)]
fn constant_pose<L: Lane>(pose: &Pose) -> Pose<L> {
    let mut out: Pose<L> = zero();
    for (to, from) in numbers_mut::<Pose, L>(&mut out).iter_mut().zip(numbers::<Pose, f64>(pose)) {
        *to = L::from_f64(*from);
    }
    out
}
