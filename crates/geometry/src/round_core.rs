//! Round shapes where they meet corners, edges and faces of others as they are: which kernel, and all the way back.
//!
//! Detection gives none of these for shapes that are not round; those are then their first corner.

use pullback_kernel::prelude::*;

use crate::cells::*;
use crate::contact::*;
use crate::core::{Core, CoreBar};
use crate::kind::Kind;
use crate::{plane, round_cells, sphere};

/// On which side of its middle an end of a cylinder is.
#[inline(always)]
fn which_end<R: Real>(end: usize) -> R {
    R::from_f64(if end == 0 { -1.0 } else { 1.0 })
}

impl<R: Real> Core<'_, R> {
    /// The contact of a face y and the lowest point of a round shape over it; of a cylinder, that of its end at -z or z.
    #[inline(always)]
    pub fn over_face(&self, end: usize, y: [Vec3<R>; 3]) -> Contact<R> {
        let (pose, sizes) = (*self.pose, self.sizes);
        match self.kind {
            Kind::Cylinder => plane::face_rim(y, pose, sizes[0], sizes[1], which_end(end)),
            Kind::Ellipsoid => plane::face_ellipsoid(y, pose, vec3(sizes[0], sizes[1], sizes[2])),
            _ => face_corner(y, self.at(0), self.radius()),
        }
    }

    /// Adds the cotangents of the shape, and gives that of the face.
    #[inline(always)]
    pub fn over_face_pullback(
        &self,
        end: usize,
        y: [Vec3<R>; 3],
        bar: Contact<R>,
        into: &mut CoreBar<'_, R>,
    ) -> [Vec3<R>; 3] {
        let (pose, sizes) = (*self.pose, self.sizes);
        match self.kind {
            Kind::Cylinder => {
                let (y, pose, radius, half, _) =
                    plane::face_rim::pullback(y, pose, sizes[0], sizes[1], which_end(end), bar);
                into.add(pose, &[radius, half]);
                y
            }
            Kind::Ellipsoid => {
                let half = vec3(sizes[0], sizes[1], sizes[2]);
                let (y, pose, half) = plane::face_ellipsoid::pullback(y, pose, half, bar);
                into.add(pose, &[half.x, half.y, half.z]);
                y
            }
            _ => {
                let (y, x, radius) = face_corner::pullback(y, self.at(0), self.radius(), bar);
                self.spread(0, x, into);
                self.spread_radius(radius, into);
                y
            }
        }
    }

    /// From a corner x with a radius a.
    #[inline(always)]
    pub fn at_corner(&self, x: Vec3<R>, a: R) -> Contact<R> {
        let (pose, sizes) = (*self.pose, self.sizes);
        match self.kind {
            Kind::Cylinder => sphere::sphere_cylinder(x, a, pose, sizes[0], sizes[1]),
            Kind::Ellipsoid => sphere::sphere_ellipsoid(x, a, pose, vec3(sizes[0], sizes[1], sizes[2])),
            _ => corner_corner(x, self.at(0), a, self.radius()),
        }
    }

    /// Adds the cotangents of the shape, and gives those of the corner.
    #[inline(always)]
    pub fn at_corner_pullback(
        &self,
        x: Vec3<R>,
        a: R,
        bar: Contact<R>,
        into: &mut CoreBar<'_, R>,
    ) -> (Vec3<R>, R) {
        let (pose, sizes) = (*self.pose, self.sizes);
        match self.kind {
            Kind::Cylinder => {
                let (x, a, pose, radius, half) =
                    sphere::sphere_cylinder::pullback(x, a, pose, sizes[0], sizes[1], bar);
                into.add(pose, &[radius, half]);
                (x, a)
            }
            Kind::Ellipsoid => {
                let half = vec3(sizes[0], sizes[1], sizes[2]);
                let (x, a, pose, half) = sphere::sphere_ellipsoid::pullback(x, a, pose, half, bar);
                into.add(pose, &[half.x, half.y, half.z]);
                (x, a)
            }
            _ => {
                let (x, y, a, radius) = corner_corner::pullback(x, self.at(0), a, self.radius(), bar);
                self.spread(0, y, into);
                self.spread_radius(radius, into);
                (x, a)
            }
        }
    }

    /// From an edge x with a radius a.
    #[inline(always)]
    pub fn at_edge(&self, x: [Vec3<R>; 2], a: R) -> Contact<R> {
        let (pose, sizes) = (*self.pose, self.sizes);
        match self.kind {
            Kind::Cylinder => round_cells::edge_cylinder(x, a, pose, sizes[0], sizes[1]),
            Kind::Ellipsoid => round_cells::edge_ellipsoid(x, a, pose, vec3(sizes[0], sizes[1], sizes[2])),
            _ => turned(corner_edge(self.at(0), x, self.radius(), a)),
        }
    }

    /// Adds the cotangents of the shape, and gives those of the edge.
    #[inline(always)]
    pub fn at_edge_pullback(
        &self,
        x: [Vec3<R>; 2],
        a: R,
        bar: Contact<R>,
        into: &mut CoreBar<'_, R>,
    ) -> ([Vec3<R>; 2], R) {
        let (pose, sizes) = (*self.pose, self.sizes);
        match self.kind {
            Kind::Cylinder => {
                let (x, a, pose, radius, half) =
                    round_cells::edge_cylinder::pullback(x, a, pose, sizes[0], sizes[1], bar);
                into.add(pose, &[radius, half]);
                (x, a)
            }
            Kind::Ellipsoid => {
                let half = vec3(sizes[0], sizes[1], sizes[2]);
                let (x, a, pose, half) = round_cells::edge_ellipsoid::pullback(x, a, pose, half, bar);
                into.add(pose, &[half.x, half.y, half.z]);
                (x, a)
            }
            _ => {
                let (y, x, radius, a) = corner_edge::pullback(self.at(0), x, self.radius(), a, turned(bar));
                self.spread(0, y, into);
                self.spread_radius(radius, into);
                (x, a)
            }
        }
    }
}
