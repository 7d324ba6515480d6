//! Contacts of cores: from cells to points in the world, to a contact, and all the way back.

use pullback_kernel::prelude::*;

use crate::cells::*;
use crate::contact::*;
use crate::corners::Corners;
use crate::feature::{Feature, Touch};
use crate::kind::Kind;
use crate::topology::Topology;

/// A core where it is.
#[derive(Clone, Copy)]
pub(crate) struct Core<'a, R> {
    pub kind: &'a Kind,
    pub topology: &'a Topology,
    pub pose: &'a Pose<R>,
    pub sizes: &'a [R],
    /// Which corners the sizes of a hull or of ground are of.
    pub corners: &'a Corners,
}

/// The cotangents of a core's pose and sizes.
pub(crate) struct CoreBar<'a, R> {
    pub pose: &'a mut Pose<R>,
    pub sizes: &'a mut [R],
}

impl<R: Real> CoreBar<'_, R> {
    #[inline(always)]
    pub fn add(&mut self, pose: Pose<R>, sizes: &[R]) {
        *self.pose = *self.pose + pose;
        for (bar, &size) in self.sizes.iter_mut().zip(sizes) {
            *bar = *bar + size;
        }
    }
}

impl<R: Real> Core<'_, R> {
    #[inline(always)]
    pub fn radius(&self) -> R {
        self.kind.radius(self.sizes)
    }

    /// Corner `i` in the shape's frame.
    #[inline(always)]
    fn corner(&self, i: u32) -> Vec3<R> {
        let i = i as usize;
        self.kind.corner_at(self.sizes, i, self.corners.place(i))
    }

    /// Corner `i` in the world.
    #[inline(always)]
    pub fn at(&self, i: u32) -> Vec3<R> {
        transform_point(*self.pose, self.corner(i))
    }

    #[inline(always)]
    pub fn all<const N: usize>(&self, corners: [u32; N]) -> [Vec3<R>; N] {
        let mut points = [self.pose.position; N];
        for i in 0..N {
            points[i] = self.at(corners[i]);
        }
        points
    }

    #[inline(always)]
    pub fn edge(&self, edge: usize) -> [Vec3<R>; 2] {
        self.all(self.topology.edges[edge].ends)
    }

    #[inline(always)]
    pub fn face(&self, face: usize) -> [Vec3<R>; 3] {
        self.all(self.topology.faces[face].plane)
    }

    /// The plane of a side's face, and its ends.
    #[inline(always)]
    pub fn side(&self, side: usize) -> ([u32; 3], [u32; 2]) {
        let side = self.topology.sides[side];
        (self.topology.faces[side.face as usize].plane, [side.start, side.end])
    }

    /// Adds what the cotangent of corner `i` in the world is for the pose and the sizes.
    #[inline(always)]
    pub fn spread(&self, i: u32, bar: Vec3<R>, into: &mut CoreBar<'_, R>) {
        let local = self.corner(i);
        let (pose_bar, local_bar) = transform_point::pullback(*self.pose, local, bar);
        *into.pose = *into.pose + pose_bar;
        let i = i as usize;
        self.kind.corner_pullback(i, self.corners.place(i), local_bar, into.sizes);
    }

    #[inline(always)]
    pub fn spread_all<const N: usize>(
        &self,
        corners: [u32; N],
        bars: [Vec3<R>; N],
        into: &mut CoreBar<'_, R>,
    ) {
        for i in 0..N {
            self.spread(corners[i], bars[i], into);
        }
    }

    #[inline(always)]
    pub fn spread_radius(&self, bar: R, into: &mut CoreBar<'_, R>) {
        self.kind.radius_pullback(bar, into.sizes);
    }
}

/// The contact of two cores at a feature, from a to b.
#[inline(always)]
pub(crate) fn contact<R: Real>(feature: Feature, a: Core<'_, R>, b: Core<'_, R>) -> Contact<R> {
    let (touch, i, j, swapped) = Touch::of(feature);
    let (p, q) = if swapped { (b, a) } else { (a, b) };
    let found = match touch {
        Touch::Corners => corner_corner(p.at(i as u32), q.at(j as u32), p.radius(), q.radius()),
        Touch::CornerEdge => corner_edge(p.at(i as u32), q.edge(j), p.radius(), q.radius()),
        Touch::CornerFace => turned(face_corner(q.face(j), p.at(i as u32), p.radius())),
        Touch::Edges | Touch::EdgesBack => {
            edge_edge(p.edge(i), q.edge(j), p.radius(), q.radius(), along(touch))
        }
        Touch::EdgeSide => {
            let (plane, ends) = q.side(j);
            turned(face_edge(q.all(plane), q.all(ends), p.edge(i), p.radius()))
        }
        Touch::FaceSide => {
            let (plane, ends) = q.side(j);
            turned(face_face(q.all(plane), q.at(ends[0]), p.face(i)))
        }
        Touch::LowestFace => turned(p.over_face(i, q.face(j))),
        Touch::CornerRound => q.at_corner(p.at(i as u32), p.radius()),
        Touch::EdgeRound => q.at_edge(p.edge(i), p.radius()),
    };
    if swapped { turned(found) } else { found }
}

/// The side that the normal of crossing edges is on.
#[inline(always)]
fn along<R: Real>(touch: Touch) -> R {
    R::from_f64(if touch == Touch::Edges { 1.0 } else { -1.0 })
}

/// Adds the cotangents of the arguments of [`contact`].
#[inline(always)]
pub(crate) fn pullback<R: Real>(
    feature: Feature,
    a: Core<'_, R>,
    b: Core<'_, R>,
    bar: Contact<R>,
    a_bar: CoreBar<'_, R>,
    b_bar: CoreBar<'_, R>,
) {
    let (touch, i, j, swapped) = Touch::of(feature);
    let bar = if swapped { turned(bar) } else { bar };
    let (p, q) = if swapped { (b, a) } else { (a, b) };
    let (mut p_bar, mut q_bar) = if swapped { (b_bar, a_bar) } else { (a_bar, b_bar) };
    match touch {
        Touch::Corners => {
            let (x, y) = (p.at(i as u32), q.at(j as u32));
            let (x, y, r, s) = corner_corner::pullback(x, y, p.radius(), q.radius(), bar);
            p.spread(i as u32, x, &mut p_bar);
            q.spread(j as u32, y, &mut q_bar);
            p.spread_radius(r, &mut p_bar);
            q.spread_radius(s, &mut q_bar);
        }
        Touch::CornerEdge => {
            let (x, y) = (p.at(i as u32), q.edge(j));
            let (x, y, r, s) = corner_edge::pullback(x, y, p.radius(), q.radius(), bar);
            p.spread(i as u32, x, &mut p_bar);
            q.spread_all(q.topology.edges[j].ends, y, &mut q_bar);
            p.spread_radius(r, &mut p_bar);
            q.spread_radius(s, &mut q_bar);
        }
        Touch::CornerFace => {
            let (y, x) = (q.face(j), p.at(i as u32));
            let (y, x, r) = face_corner::pullback(y, x, p.radius(), turned(bar));
            p.spread(i as u32, x, &mut p_bar);
            q.spread_all(q.topology.faces[j].plane, y, &mut q_bar);
            p.spread_radius(r, &mut p_bar);
        }
        Touch::Edges | Touch::EdgesBack => {
            let (x, y, side) = (p.edge(i), q.edge(j), along(touch));
            let (x, y, r, s, _) = edge_edge::pullback(x, y, p.radius(), q.radius(), side, bar);
            p.spread_all(p.topology.edges[i].ends, x, &mut p_bar);
            q.spread_all(q.topology.edges[j].ends, y, &mut q_bar);
            p.spread_radius(r, &mut p_bar);
            q.spread_radius(s, &mut q_bar);
        }
        Touch::EdgeSide => {
            let (plane, ends) = q.side(j);
            let (y, s, x) = (q.all(plane), q.all(ends), p.edge(i));
            let (y, s, x, r) = face_edge::pullback(y, s, x, p.radius(), turned(bar));
            q.spread_all(plane, y, &mut q_bar);
            q.spread_all(ends, s, &mut q_bar);
            p.spread_all(p.topology.edges[i].ends, x, &mut p_bar);
            p.spread_radius(r, &mut p_bar);
        }
        Touch::FaceSide => {
            let (plane, ends) = q.side(j);
            let (y, c, x) = (q.all(plane), q.at(ends[0]), p.face(i));
            let (y, c, x) = face_face::pullback(y, c, x, turned(bar));
            q.spread_all(plane, y, &mut q_bar);
            q.spread(ends[0], c, &mut q_bar);
            p.spread_all(p.topology.faces[i].plane, x, &mut p_bar);
        }
        Touch::LowestFace => {
            let y = p.over_face_pullback(i, q.face(j), turned(bar), &mut p_bar);
            q.spread_all(q.topology.faces[j].plane, y, &mut q_bar);
        }
        Touch::CornerRound => {
            let (x, r) = q.at_corner_pullback(p.at(i as u32), p.radius(), bar, &mut q_bar);
            p.spread(i as u32, x, &mut p_bar);
            p.spread_radius(r, &mut p_bar);
        }
        Touch::EdgeRound => {
            let (x, r) = q.at_edge_pullback(p.edge(i), p.radius(), bar, &mut q_bar);
            p.spread_all(p.topology.edges[i].ends, x, &mut p_bar);
            p.spread_radius(r, &mut p_bar);
        }
    }
}
