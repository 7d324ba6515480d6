//! What each pair of kinds does when it meets: which kernel, how many contacts.

use pullback_kernel::prelude::*;

use crate::contact::Contact;
use crate::core::{Core, CoreBar};
use crate::kind::Kind;
use crate::pair::{Placed, PlacedBar};
use crate::{cells, plane, sphere};

/// A rule for two kinds, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// A plane and all corners of a core.
    PlaneCorners,
    /// A plane and the lowest corners of a hull.
    PlaneHull,
    PlaneEllipsoid,
    PlaneCylinder,
    SphereSphere,
    SphereCapsule,
    SphereBox,
    SphereCylinder,
    SphereEllipsoid,
    /// Cells of two convex cores.
    Convex,
    /// Cells of a convex core, and of the ground below it.
    Ground,
}

impl Rule {
    pub fn of(a: &Kind, b: &Kind) -> Option<Rule> {
        use Kind::*;
        Some(match (a, b) {
            (Plane, Sphere | Capsule | Box) => Rule::PlaneCorners,
            (Plane, Hull(_)) => Rule::PlaneHull,
            (Plane, Ellipsoid) => Rule::PlaneEllipsoid,
            (Plane, Cylinder) => Rule::PlaneCylinder,
            (Sphere, Sphere) => Rule::SphereSphere,
            (Sphere, Capsule) => Rule::SphereCapsule,
            (Sphere, Box) => Rule::SphereBox,
            (Sphere, Cylinder) => Rule::SphereCylinder,
            (Sphere, Ellipsoid) => Rule::SphereEllipsoid,
            (Sphere, Hull(_))
            | (Capsule, Capsule | Cylinder | Box | Ellipsoid | Hull(_))
            | (Cylinder, Cylinder | Box | Ellipsoid | Hull(_))
            | (Box, Box | Ellipsoid | Hull(_))
            | (Ellipsoid, Ellipsoid | Hull(_))
            | (Hull(_), Hull(_)) => Rule::Convex,
            (Sphere | Capsule | Cylinder | Box | Ellipsoid | Hull(_), Surface(_) | Heights(_)) => {
                Rule::Ground
            }
            _ => return None,
        })
    }

    /// The most contacts of two kinds.
    pub fn slots(self, a: &Kind, b: &Kind) -> usize {
        use Kind::*;
        match (self, a, b) {
            (Rule::PlaneCorners, _, Sphere) => 1,
            (Rule::PlaneCorners, _, Capsule) => 2,
            (Rule::PlaneCorners | Rule::PlaneHull, ..) => 8,
            (Rule::PlaneCylinder, ..) => 4,
            (Rule::Convex, Sphere, _) => 1,
            (Rule::Convex, Capsule, _) => 2,
            (Rule::Ground, Sphere, _) => 4,
            (Rule::Convex | Rule::Ground, ..) => 8,
            (
                Rule::PlaneEllipsoid
                | Rule::SphereSphere
                | Rule::SphereCapsule
                | Rule::SphereBox
                | Rule::SphereCylinder
                | Rule::SphereEllipsoid,
                ..,
            ) => 1,
        }
    }

    pub fn fixed(self) -> bool {
        !matches!(self, Rule::PlaneHull | Rule::Convex | Rule::Ground)
    }
}

/// Slots of a cylinder on a plane: which end (0: the lower one), and the cosine and the sine of the angle from the lowest point.
const RIM: [(f64, [f64; 2]); 4] = [
    (1.0, [1.0, 0.0]),
    (-1.0, [1.0, 0.0]),
    (0.0, [-0.5, 0.866_025_403_784_438_6]),
    (0.0, [-0.5, -0.866_025_403_784_438_6]),
];

#[inline(always)]
fn rim<R: Real>(slot: usize) -> (f64, R, [R; 2]) {
    let (end, turn) = RIM[slot.min(RIM.len() - 1)];
    (end, R::from_f64(end), [R::from_f64(turn[0]), R::from_f64(turn[1])])
}

/// The contact of a slot of a rule that is not of cells alone.
#[inline(always)]
pub(crate) fn contact<R: Real>(rule: Rule, slot: usize, a: Placed<'_, R>, b: Core<'_, R>) -> Contact<R> {
    let (pose, sizes) = (*b.pose, b.sizes);
    match rule {
        Rule::PlaneEllipsoid => plane::plane_ellipsoid(*a.0, pose, vec3(sizes[0], sizes[1], sizes[2])),
        Rule::PlaneCylinder => {
            let (end, side, turn) = rim(slot);
            if end == 0.0 {
                plane::plane_lower_rim(*a.0, pose, sizes[0], sizes[1], turn)
            } else {
                plane::plane_rim(*a.0, pose, sizes[0], sizes[1], side, turn)
            }
        }
        Rule::SphereSphere => cells::corner_corner(a.0.position, pose.position, a.1[0], sizes[0]),
        Rule::SphereCapsule => cells::corner_edge(a.0.position, b.edge(0), a.1[0], sizes[0]),
        Rule::SphereBox => sphere::sphere_box(a.0.position, a.1[0], pose, vec3(sizes[0], sizes[1], sizes[2])),
        Rule::SphereCylinder => sphere::sphere_cylinder(a.0.position, a.1[0], pose, sizes[0], sizes[1]),
        Rule::SphereEllipsoid => {
            sphere::sphere_ellipsoid(a.0.position, a.1[0], pose, vec3(sizes[0], sizes[1], sizes[2]))
        }
        Rule::PlaneCorners | Rule::PlaneHull | Rule::Convex | Rule::Ground => {
            plane::plane_corner(*a.0, b.at(slot as u32), b.radius())
        }
    }
}

/// Adds the cotangents of the arguments of [`contact`].
#[inline(always)]
pub(crate) fn pullback<R: Real>(
    rule: Rule,
    slot: usize,
    a: Placed<'_, R>,
    b: Core<'_, R>,
    bar: Contact<R>,
    a_bar: PlacedBar<'_, R>,
    mut b_bar: CoreBar<'_, R>,
) {
    let (pose, sizes) = (*b.pose, b.sizes);
    match rule {
        Rule::PlaneEllipsoid => {
            let half = vec3(sizes[0], sizes[1], sizes[2]);
            let (plane, pose, half) = plane::plane_ellipsoid::pullback(*a.0, pose, half, bar);
            *a_bar.0 = *a_bar.0 + plane;
            b_bar.add(pose, &[half.x, half.y, half.z]);
        }
        Rule::PlaneCylinder => {
            let (end, side, turn) = rim(slot);
            let (plane, pose, radius, half) = if end == 0.0 {
                let (plane, pose, radius, half, _) =
                    plane::plane_lower_rim::pullback(*a.0, pose, sizes[0], sizes[1], turn, bar);
                (plane, pose, radius, half)
            } else {
                let (plane, pose, radius, half, _, _) =
                    plane::plane_rim::pullback(*a.0, pose, sizes[0], sizes[1], side, turn, bar);
                (plane, pose, radius, half)
            };
            *a_bar.0 = *a_bar.0 + plane;
            b_bar.add(pose, &[radius, half]);
        }
        Rule::SphereSphere => {
            let (x, y, r, s) =
                cells::corner_corner::pullback(a.0.position, pose.position, a.1[0], sizes[0], bar);
            add_sphere(a_bar, x, r);
            b_bar.pose.position = b_bar.pose.position + y;
            b_bar.sizes[0] = b_bar.sizes[0] + s;
        }
        Rule::SphereCapsule => {
            let (x, y, r, s) = cells::corner_edge::pullback(a.0.position, b.edge(0), a.1[0], sizes[0], bar);
            add_sphere(a_bar, x, r);
            b.spread_all([0, 1], y, &mut b_bar);
            b.spread_radius(s, &mut b_bar);
        }
        Rule::SphereBox => {
            let half = vec3(sizes[0], sizes[1], sizes[2]);
            let (x, r, pose, half) = sphere::sphere_box::pullback(a.0.position, a.1[0], pose, half, bar);
            add_sphere(a_bar, x, r);
            b_bar.add(pose, &[half.x, half.y, half.z]);
        }
        Rule::SphereEllipsoid => {
            let half = vec3(sizes[0], sizes[1], sizes[2]);
            let (x, r, pose, half) =
                sphere::sphere_ellipsoid::pullback(a.0.position, a.1[0], pose, half, bar);
            add_sphere(a_bar, x, r);
            b_bar.add(pose, &[half.x, half.y, half.z]);
        }
        Rule::SphereCylinder => {
            let (x, r, pose, radius, half) =
                sphere::sphere_cylinder::pullback(a.0.position, a.1[0], pose, sizes[0], sizes[1], bar);
            add_sphere(a_bar, x, r);
            b_bar.add(pose, &[radius, half]);
        }
        Rule::PlaneCorners | Rule::PlaneHull | Rule::Convex | Rule::Ground => {
            let (plane, x, r) = plane::plane_corner::pullback(*a.0, b.at(slot as u32), b.radius(), bar);
            *a_bar.0 = *a_bar.0 + plane;
            b.spread(slot as u32, x, &mut b_bar);
            b.spread_radius(r, &mut b_bar);
        }
    }
}

#[inline(always)]
fn add_sphere<R: Real>(bar: PlacedBar<'_, R>, position: Vec3<R>, radius: R) {
    bar.0.position = bar.0.position + position;
    bar.1[0] = bar.1[0] + radius;
}
