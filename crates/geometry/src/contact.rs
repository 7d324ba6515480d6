//! [`Contact`]: where two shapes touch.

use pullback_kernel::prelude::*;

/// Where two shapes touch, or nearly do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct Contact<R = f64> {
    /// Midway between the two surfaces, in the world [m].
    pub point: Vec3<R>,
    /// The unit vector from the first shape to the second, in world axes.
    pub normal: Vec3<R>,
    /// The signed distance of the surfaces along the normal [m]; below 0 they overlap.
    pub gap: R,
}

/// The same contact, seen from the other shape.
#[inline(always)]
pub(crate) fn turned<R: Real>(contact: Contact<R>) -> Contact<R> {
    Contact { normal: -contact.normal, ..contact }
}

/// Between two points x and y of the cores of two shapes, y - x = n l, with radii a and b around them:
/// gap = l - a - b, and the surfaces are at x + n a and y - n b.
#[kernel]
pub(crate) fn between<R: Real>(x: Vec3<R>, y: Vec3<R>, n: Vec3<R>, a: R, b: R) -> Contact<R> {
    Contact { point: 0.5 * (x + y) + n * (0.5 * (a - b)), normal: n, gap: dot(n, y - x) - a - b }
}

/// The contact of a point x, with a radius a, and a surface whose outward normal there is n and that is h below x:
/// gap = h - a, and the surfaces are at x - n a and x - n h. From the surface to the point.
#[kernel]
pub(crate) fn above<R: Real>(x: Vec3<R>, n: Vec3<R>, h: R, a: R) -> Contact<R> {
    Contact { point: x - n * (0.5 * (h + a)), normal: n, gap: h - a }
}

/// A vector that is shorter than this has no direction [m].
pub(crate) const NOWHERE: f64 = 1e-12;

/// d / |d|; where d has no direction, `otherwise`.
#[kernel]
pub(crate) fn direction<R: Real>(d: Vec3<R>, otherwise: Vec3<R>) -> Vec3<R> {
    if length_squared(d) > NOWHERE * NOWHERE { normalize(d) } else { otherwise }
}

/// A unit vector across e: e × the axis that it is least along; (0, 0, 1) where e has no direction.
#[kernel]
pub(crate) fn across<R: Real>(e: Vec3<R>) -> Vec3<R> {
    let (x, y, z) = (abs(e.x), abs(e.y), abs(e.z));
    let c = if x <= y && x <= z {
        vec3(0.0, e.z, -e.y)
    } else if y <= z {
        vec3(-e.z, 0.0, e.x)
    } else {
        vec3(e.y, -e.x, 0.0)
    };
    direction(c, vec3(0.0, 0.0, 1.0))
}
