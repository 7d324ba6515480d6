//! [`Kind`]: what a shape is; and cores, which are what shapes with flat parts have in common.

use std::sync::{Arc, LazyLock};

use pullback_kernel::prelude::*;

use crate::round::{BALL, PRISM};
use crate::topology::Topology;
use crate::{Heights, Hull, Surface};

/// What a shape is. Its sizes are numbers given apart, so that they can be differentiated.
///
/// | kind | sizes [m] |
/// |---|---|
/// | `Plane`: all below z = 0 | none |
/// | `Sphere` | radius |
/// | `Capsule`, `Cylinder`, both along z | radius, half length (of a capsule, without its caps) |
/// | `Box` | half sides x, y, z |
/// | `Ellipsoid` | half axes x, y, z |
/// | `Hull`: a convex polyhedron | x, y, z of each corner |
/// | `Surface`: triangles, with solid ground below | x, y, z of each corner |
/// | `Heights`: a grid of heights, with solid ground below | z of each corner |
///
/// The last three may also be given no sizes: then they are as they were made.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A half-space.
    Plane,
    /// A ball.
    Sphere,
    /// All that is near a segment.
    Capsule,
    /// A cylinder.
    Cylinder,
    /// A box.
    Box,
    /// An ellipsoid.
    Ellipsoid,
    /// A convex polyhedron.
    Hull(Arc<Hull>),
    /// Ground of triangles.
    Surface(Arc<Surface>),
    /// Ground as heights over a grid.
    Heights(Arc<Heights>),
}

impl Kind {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Plane => "plane",
            Kind::Sphere => "sphere",
            Kind::Capsule => "capsule",
            Kind::Cylinder => "cylinder",
            Kind::Box => "box",
            Kind::Ellipsoid => "ellipsoid",
            Kind::Hull(_) => "hull",
            Kind::Surface(_) => "surface",
            Kind::Heights(_) => "heights",
        }
    }

    /// How many sizes it has.
    pub fn sizes(&self) -> usize {
        match self {
            Kind::Plane => 0,
            Kind::Sphere => 1,
            Kind::Capsule | Kind::Cylinder => 2,
            Kind::Box | Kind::Ellipsoid => 3,
            Kind::Hull(hull) => 3 * hull.topology.corners,
            Kind::Surface(surface) => 3 * surface.topology.corners,
            Kind::Heights(heights) => heights.topology.corners,
        }
    }

    /// A radius around its origin that holds all of it [m], and the polyhedron that stands in for it where it is round;
    /// infinite for what has no end.
    pub fn bounding_radius(&self, sizes: &[f64]) -> f64 {
        match self {
            Kind::Plane | Kind::Surface(_) | Kind::Heights(_) => f64::INFINITY,
            Kind::Sphere => sizes[0],
            Kind::Capsule => sizes[0] + sizes[1],
            Kind::Cylinder => (PRISM.over * sizes[0]).hypot(sizes[1]),
            Kind::Box => length(Vec3 { x: sizes[0], y: sizes[1], z: sizes[2] }),
            Kind::Ellipsoid => BALL.over * sizes[0].max(sizes[1]).max(sizes[2]),
            Kind::Hull(hull) if sizes.is_empty() => hull.radius,
            Kind::Hull(hull) => {
                (0..hull.topology.corners).map(|i| length(self.corner(sizes, i))).fold(0.0, f64::max)
            }
        }
    }

    /// The corners, or the heights, that it was made with: what its sizes start as. None of what has no corners of its own.
    pub fn made(&self) -> &[f64] {
        match self {
            Kind::Hull(hull) => hull.corners(),
            Kind::Surface(surface) => surface.corners(),
            Kind::Heights(heights) => heights.heights(),
            Kind::Plane | Kind::Sphere | Kind::Capsule | Kind::Cylinder | Kind::Box | Kind::Ellipsoid => &[],
        }
    }

    /// How far corners of triangles have moved since they were made, at most, along x, y and z of the shape's frame [m]. Where
    /// sizes are not given, and of all other kinds, nothing: what finds their cells does not depend on it.
    pub fn moved(&self, sizes: &[f64]) -> [f64; 3] {
        let mut most = [0.0_f64; 3];
        if let Kind::Surface(surface) = self {
            for (now, made) in sizes.chunks_exact(3).zip(surface.corners().chunks_exact(3)) {
                (0..3).for_each(|k| most[k] = most[k].max((now[k] - made[k]).abs()));
            }
        }
        most
    }

    /// Does a polyhedron stand in for it?
    #[inline]
    pub(crate) fn is_round(&self) -> bool {
        matches!(self, Kind::Cylinder | Kind::Ellipsoid)
    }

    /// How far a round shape and its stand-in may be apart, along any direction.
    pub(crate) fn slack(&self, sizes: &[f64]) -> f64 {
        match self {
            Kind::Cylinder => (PRISM.over - 1.0) * sizes[0],
            Kind::Ellipsoid => (BALL.over - 1.0) * sizes[0].max(sizes[1]).max(sizes[2]),
            _ => 0.0,
        }
    }

    /// Is an edge with this gap less deep in an ellipsoid than half its least radius of curvature, least² / most? Deeper, there
    /// may be no one nearest point.
    pub(crate) fn is_shallow(&self, sizes: &[f64], gap: f64) -> bool {
        let Kind::Ellipsoid = self else { return false };
        let (least, most) = (sizes[0].min(sizes[1]).min(sizes[2]), sizes[0].max(sizes[1]).max(sizes[2]));
        gap > -0.5 * least * least / most
    }

    /// The core's cells, which all shapes of a kind share; nothing where there is none. Of cylinders and ellipsoids, those of
    /// the polyhedra that stand in for them: rules that are exact for them have no use for cells.
    pub(crate) fn topology(&self) -> Arc<Topology> {
        static POINT: LazyLock<Arc<Topology>> = LazyLock::new(|| Topology::point().into());
        static SEGMENT: LazyLock<Arc<Topology>> = LazyLock::new(|| Topology::segment().into());
        static CUBOID: LazyLock<Arc<Topology>> = LazyLock::new(|| Topology::cuboid().into());
        match self {
            Kind::Plane => Arc::default(),
            Kind::Sphere => POINT.clone(),
            Kind::Capsule => SEGMENT.clone(),
            Kind::Box => CUBOID.clone(),
            Kind::Cylinder => PRISM.hull.topology.clone(),
            Kind::Ellipsoid => BALL.hull.topology.clone(),
            Kind::Hull(hull) => hull.topology.clone(),
            Kind::Surface(surface) => surface.topology.clone(),
            Kind::Heights(heights) => heights.topology.clone(),
        }
    }

    /// The radius around the core.
    #[inline(always)]
    pub(crate) fn radius<R: Real>(&self, sizes: &[R]) -> R {
        match self {
            Kind::Sphere | Kind::Capsule => sizes[0],
            _ => R::from_f64(0.0),
        }
    }

    #[inline(always)]
    pub(crate) fn radius_pullback<R: Real>(&self, bar: R, sizes_bar: &mut [R]) {
        if let Kind::Sphere | Kind::Capsule = self {
            sizes_bar[0] = sizes_bar[0] + bar;
        }
    }

    /// Corner `i` of the core, in the shape's frame.
    #[inline(always)]
    pub(crate) fn corner<R: Real>(&self, sizes: &[R], i: usize) -> Vec3<R> {
        self.corner_at(sizes, i, i)
    }

    /// Corner `i` of the core, whose sizes are those at place `k` of what is given.
    #[inline(always)]
    pub(crate) fn corner_at<R: Real>(&self, sizes: &[R], i: usize, k: usize) -> Vec3<R> {
        let zero = R::from_f64(0.0);
        match self {
            Kind::Plane | Kind::Sphere => vec3(zero, zero, zero),
            Kind::Cylinder => stretched(PRISM.corners[i], [sizes[0], sizes[0], sizes[1]]),
            Kind::Ellipsoid => stretched(BALL.corners[i], [sizes[0], sizes[1], sizes[2]]),
            Kind::Capsule => vec3(zero, zero, signed(sizes[1], i == 1)),
            Kind::Box => {
                vec3(signed(sizes[0], i & 1 != 0), signed(sizes[1], i & 2 != 0), signed(sizes[2], i & 4 != 0))
            }
            Kind::Hull(hull) => corner_of(sizes, hull.corners(), i, k),
            Kind::Surface(surface) => corner_of(sizes, surface.corners(), i, k),
            Kind::Heights(heights) => {
                let [x, y] = heights.place(i);
                let z = if sizes.is_empty() { R::from_f64(heights.heights()[i]) } else { sizes[k] };
                vec3(R::from_f64(x), R::from_f64(y), z)
            }
        }
    }

    /// The pullback of [`Kind::corner_at`].
    #[inline(always)]
    pub(crate) fn corner_pullback<R: Real>(&self, i: usize, k: usize, bar: Vec3<R>, sizes_bar: &mut [R]) {
        if sizes_bar.is_empty() {
            return;
        }
        match self {
            Kind::Plane | Kind::Sphere => {}
            Kind::Cylinder => {
                let bar = stretched(PRISM.corners[i], [bar.x, bar.y, bar.z]);
                sizes_bar[0] = sizes_bar[0] + bar.x + bar.y;
                sizes_bar[1] = sizes_bar[1] + bar.z;
            }
            Kind::Ellipsoid => {
                let bar = stretched(BALL.corners[i], [bar.x, bar.y, bar.z]);
                sizes_bar[0] = sizes_bar[0] + bar.x;
                sizes_bar[1] = sizes_bar[1] + bar.y;
                sizes_bar[2] = sizes_bar[2] + bar.z;
            }
            Kind::Capsule => sizes_bar[1] = sizes_bar[1] + signed(bar.z, i == 1),
            Kind::Box => {
                sizes_bar[0] = sizes_bar[0] + signed(bar.x, i & 1 != 0);
                sizes_bar[1] = sizes_bar[1] + signed(bar.y, i & 2 != 0);
                sizes_bar[2] = sizes_bar[2] + signed(bar.z, i & 4 != 0);
            }
            Kind::Hull(_) | Kind::Surface(_) => {
                sizes_bar[3 * k] = sizes_bar[3 * k] + bar.x;
                sizes_bar[3 * k + 1] = sizes_bar[3 * k + 1] + bar.y;
                sizes_bar[3 * k + 2] = sizes_bar[3 * k + 2] + bar.z;
            }
            Kind::Heights(_) => sizes_bar[k] = sizes_bar[k] + bar.z,
        }
    }
}

/// Corner `k` of these coordinates, or corner `i` of those that it was made with.
#[inline(always)]
fn corner_of<R: Real>(sizes: &[R], made: &[f64], i: usize, k: usize) -> Vec3<R> {
    if sizes.is_empty() {
        return vec3(R::from_f64(made[3 * i]), R::from_f64(made[3 * i + 1]), R::from_f64(made[3 * i + 2]));
    }
    vec3(sizes[3 * k], sizes[3 * k + 1], sizes[3 * k + 2])
}

/// A corner of a polyhedron, stretched along x, y and z.
#[inline(always)]
fn stretched<R: Real>(corner: Vec3, by: [R; 3]) -> Vec3<R> {
    vec3(by[0] * R::from_f64(corner.x), by[1] * R::from_f64(corner.y), by[2] * R::from_f64(corner.z))
}

#[inline(always)]
fn signed<R: Real>(x: R, positive: bool) -> R {
    if positive { x } else { -x }
}
