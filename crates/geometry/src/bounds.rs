//! [`Bounds`]: a box along the axes that holds a shape.

use pullback_kernel::prelude::*;

use crate::Kind;
use crate::round::{BALL, PRISM};

/// A box along the axes of the world, from its lowest corner to its highest [m]. Either may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least x, y and z.
    pub low: [f64; 3],
    /// The greatest x, y and z.
    pub high: [f64; 3],
}

impl Bounds {
    /// Holds nothing, and meets nothing.
    pub const NONE: Bounds = Bounds { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };

    /// Do two boxes meet, or touch? One with a NaN meets nothing.
    #[inline]
    pub fn meets(&self, other: &Bounds) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }

    /// The least box that holds both.
    #[inline]
    pub(crate) fn joined(&self, other: &Bounds) -> Bounds {
        let mut both = *self;
        for k in 0..3 {
            both.low[k] = both.low[k].min(other.low[k]);
            both.high[k] = both.high[k].max(other.high[k]);
        }
        both
    }

    /// The least box that holds these points.
    pub(crate) fn of(points: impl Iterator<Item = Vec3>) -> Bounds {
        points.fold(Bounds::NONE, |bounds, p| {
            let p = [p.x, p.y, p.z];
            bounds.joined(&Bounds { low: p, high: p })
        })
    }

    fn grown(mut self, by: f64) -> Bounds {
        for k in 0..3 {
            self.low[k] -= by;
            self.high[k] += by;
        }
        self
    }
}

/// A direction that is nearer than this to being across an axis counts as across it.
const ACROSS: f64 = 1e-9;

impl Kind {
    /// A box along the axes of the world that holds all of a shape where it is, and a margin [m] around it.
    ///
    /// It is the least one, but for hulls and ground without sizes: of these, the one around the box that they were made in. Planes and
    /// ground go down without end. Where the pose is NaN, the box meets nothing or has no end there.
    pub fn bounds(&self, sizes: &[f64], pose: &Pose, margin: f64) -> Bounds {
        let r = pose.rotation;
        let rows = [[r.x.x, r.y.x, r.z.x], [r.x.y, r.y.y, r.z.y], [r.x.z, r.y.z, r.z.z]];
        let around = |reach: &dyn Fn([f64; 3]) -> f64| {
            let p = [pose.position.x, pose.position.y, pose.position.z];
            let reach = rows.map(|row| reach(row) + margin);
            Bounds {
                low: [p[0] - reach[0], p[1] - reach[1], p[2] - reach[2]],
                high: [p[0] + reach[0], p[1] + reach[1], p[2] + reach[2]],
            }
        };
        // How far shapes reach along a direction n in their frame: their support functions.
        match self {
            Kind::Plane => below(Bounds::of([pose.position].into_iter()).grown(margin), r.z, true),
            Kind::Sphere => around(&|_| sizes[0]),
            Kind::Capsule => around(&|n| sizes[0] + sizes[1] * n[2].abs()),
            Kind::Cylinder => around(&|n| PRISM.over * sizes[0] * n[0].hypot(n[1]) + sizes[1] * n[2].abs()),
            Kind::Box => around(&|n| (0..3).map(|k| sizes[k] * n[k].abs()).sum()),
            Kind::Ellipsoid => around(&|n| {
                let s = Vec3 { x: sizes[0] * n[0], y: sizes[1] * n[1], z: sizes[2] * n[2] };
                BALL.over * length(s)
            }),
            Kind::Hull(hull) if sizes.is_empty() => placed(&hull.bounds, pose).grown(margin),
            Kind::Surface(surface) if sizes.is_empty() => {
                below(placed(&surface.tree.bounds(), pose).grown(margin), r.z, false)
            }
            Kind::Heights(heights) if sizes.is_empty() => {
                below(placed(&heights.bounds, pose).grown(margin), r.z, false)
            }
            Kind::Hull(hull) => self.of_corners(sizes, hull.topology.corners, pose).grown(margin),
            Kind::Surface(surface) => {
                below(self.of_corners(sizes, surface.topology.corners, pose).grown(margin), r.z, false)
            }
            Kind::Heights(heights) => {
                below(self.of_corners(sizes, heights.topology.corners, pose).grown(margin), r.z, false)
            }
        }
    }

    fn of_corners(&self, sizes: &[f64], count: usize, pose: &Pose) -> Bounds {
        Bounds::of((0..count).map(|i| transform_point(*pose, self.corner(sizes, i))))
    }
}

/// The least box that holds a box with a pose.
fn placed(local: &Bounds, pose: &Pose) -> Bounds {
    Bounds::of((0..8).map(|i| {
        let side = |k: usize| if i >> k & 1 == 0 { local.low[k] } else { local.high[k] };
        transform_point(*pose, Vec3 { x: side(0), y: side(1), z: side(2) })
    }))
}

/// With all that is below, against the direction `up`; and, of a plane, all that is beside.
fn below(mut bounds: Bounds, up: Vec3, beside: bool) -> Bounds {
    let up = [up.x, up.y, up.z];
    let upright = (0..3).filter(|&k| up[k].abs() > ACROSS).count() == 1;
    for k in 0..3 {
        let endless = beside && !(upright && up[k].abs() > ACROSS);
        if up[k] > ACROSS || endless {
            bounds.low[k] += f64::NEG_INFINITY;
        }
        if up[k] < -ACROSS || endless {
            bounds.high[k] += f64::INFINITY;
        }
    }
    bounds
}
