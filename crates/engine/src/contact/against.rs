//! What particles can touch: fixed when a step is built.

use std::ops::Range;

use pullback_geometry::{Bounds, Kind, Pair};
use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;
use pullback_kernel::scalar::Mask;

use super::corners::Seen;
use super::touchable::{MOST_SIZES, Shape};

/// What particles can touch.
#[derive(Debug)]
pub(crate) struct Against {
    /// Particles that are made of one thing: which they are.
    pub groups: Vec<Range<usize>>,
    pub faces: Vec<Face>,
}

/// A shape that particles can touch.
#[derive(Debug)]
pub(crate) struct Face {
    pub shape: usize,
    /// The shape and a ball.
    pub pair: Pair,
    pub extent: Extent,
    /// Of each group: which of the surfaces.
    pub surfaces: Vec<usize>,
    /// Particles that are attached to what the shape moves with, in order: they do not touch it.
    pub attached: Vec<usize>,
}

impl Face {
    /// Can this particle touch it?
    #[inline(always)]
    pub fn touches(&self, particle: usize) -> bool {
        self.attached.is_empty() || self.attached.binary_search(&particle).is_err()
    }
}

/// Where no particle can be that touches a shape, as far as is known at little cost.
#[derive(Debug)]
pub(crate) enum Extent {
    /// Above a plane.
    Plane,
    /// Outside of a ball around the shape.
    Ball,
    /// Outside of a box in the shape's frame: of what has no end downwards.
    Box(Bounds),
}

impl Extent {
    pub fn of(kind: &Kind) -> Extent {
        match kind {
            Kind::Plane => Extent::Plane,
            Kind::Surface(_) | Kind::Heights(_) => Extent::Box(kind.bounds(&[], &identity_pose(), 0.0)),
            Kind::Sphere | Kind::Capsule | Kind::Cylinder | Kind::Box | Kind::Ellipsoid | Kind::Hull(_) => {
                Extent::Ball
            }
        }
    }

    /// The same of a shape whose corners are params: of ground, as it is seen now; none where it does not change.
    pub fn now(&self, shape: &Shape, seen: &Seen) -> Option<Extent> {
        match (self, &shape.corners) {
            (Extent::Box(_), Some(place)) => Some(Extent::Box(seen.bounds(&shape.kind, place))),
            _ => None,
        }
    }

    /// The radius of a ball around a shape with these sizes [m], world by world; 0 where none is asked for.
    #[inline(always)]
    pub fn reach<L: Lane>(&self, shape: &Shape, sizes: &[L], seen: &Seen) -> L {
        let mut reach = L::from_f64(0.0);
        let (Extent::Ball, kind) = (self, &shape.kind) else { return reach };
        if let Some(place) = &shape.corners {
            return L::from_f64(seen.reach(kind, place));
        }
        for lane in 0..L::WIDTH {
            let mut plain = [0.0; MOST_SIZES];
            for (to, from) in plain.iter_mut().zip(sizes) {
                *to = from.value_in(lane);
            }
            reach.set_lane(lane, L::Element::from_f64(kind.bounding_radius(&plain[..sizes.len()])));
        }
        reach
    }

    /// In which worlds a particle may touch a shape with this pose and reach.
    #[inline(always)]
    pub fn near<L: Lane>(&self, pose: &Pose<L>, reach: L, x: Vec3<L>, radius: L) -> L::Mask {
        let between = x - pose.position;
        match self {
            Extent::Plane => dot(pose.rotation.z, between).lt(radius),
            Extent::Ball => {
                let within = reach + radius;
                dot(between, between).lt(within * within)
            }
            Extent::Box(bounds) => {
                let at = transpose_times(pose.rotation, between);
                let mut inside = L::Mask::splat(true);
                for (k, at) in [at.x, at.y, at.z].into_iter().enumerate() {
                    let (low, high) = (L::from_f64(bounds.low[k]), L::from_f64(bounds.high[k]));
                    inside = inside & low.lt(at + radius) & at.lt(high + radius);
                }
                inside
            }
        }
    }
}
