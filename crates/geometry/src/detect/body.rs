//! A core as detection sees it: plain `f64` arithmetic, and what is asked for often is worked out once.
//!
//! Kernels fuse multiplications and additions on every machine, which takes a call where the compiler may not use the
//! instruction. Detection only decides, so it does without.

use std::cell::Cell;
use std::ops::Deref;

use pullback_kernel::prelude::*;

use crate::contact::Contact;
use crate::core::Core;
use crate::kind::Kind;

/// Corners and faces that are kept; of larger cores, none.
const KEPT: usize = 32;

/// A cylinder stands on a face if the cosine of the angle between its axis and the normal is larger.
const STANDING: f64 = 0.98;

const ZERO: Vec3 = Vec3 { x: 0.0, y: 0.0, z: 0.0 };

#[inline(always)]
pub(super) fn dot(a: Vec3, b: Vec3) -> f64 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

#[inline(always)]
pub(super) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: a.y * b.z - a.z * b.y, y: a.z * b.x - a.x * b.z, z: a.x * b.y - a.y * b.x }
}

#[inline(always)]
pub(super) fn length(a: Vec3) -> f64 {
    dot(a, a).sqrt()
}

/// a / |a|, and 0 where that is not finite.
#[inline(always)]
pub(super) fn normalize(a: Vec3) -> Vec3 {
    let s = 1.0 / length(a);
    if s.is_finite() { a * s } else { ZERO }
}

/// The outward normal of a face.
#[inline(always)]
pub(super) fn outward([a, b, c]: [Vec3; 3]) -> Vec3 {
    normalize(cross(b - a, c - a))
}

/// A core in the world, with its corners and normals.
pub(super) struct Body<'a> {
    core: Core<'a, f64>,
    points: [Vec3; KEPT],
    normals: [Vec3; KEPT],
    /// The corner that was farthest when it was last asked for.
    last: Cell<u32>,
}

impl<'a> Deref for Body<'a> {
    type Target = Core<'a, f64>;
    fn deref(&self) -> &Self::Target {
        &self.core
    }
}

impl<'a> Body<'a> {
    pub fn new(core: Core<'a, f64>) -> Self {
        let mut body = Body { core, points: [ZERO; KEPT], normals: [ZERO; KEPT], last: Cell::new(0) };
        if core.topology.corners <= KEPT {
            for i in 0..core.topology.corners {
                body.points[i] = body.place(i);
            }
        }
        if core.topology.faces.len() <= KEPT {
            for i in 0..core.topology.faces.len() {
                body.normals[i] = outward(body.face(i));
            }
        }
        body
    }

    #[inline(always)]
    fn place(&self, i: usize) -> Vec3 {
        let Pose { rotation: r, position } = *self.core.pose;
        let x = self.core.kind.corner(self.core.sizes, i);
        r.x * x.x + r.y * x.y + r.z * x.z + position
    }

    /// Corner `i` in the world.
    #[inline(always)]
    pub fn at(&self, i: u32) -> Vec3 {
        let i = i as usize;
        if self.core.topology.corners <= KEPT { self.points[i] } else { self.place(i) }
    }

    #[inline(always)]
    pub fn edge(&self, edge: usize) -> [Vec3; 2] {
        self.core.topology.edges[edge].ends.map(|i| self.at(i))
    }

    #[inline(always)]
    pub fn face(&self, face: usize) -> [Vec3; 3] {
        self.core.topology.faces[face].plane.map(|i| self.at(i))
    }

    /// The outward normal of a face.
    #[inline(always)]
    pub fn normal(&self, face: usize) -> Vec3 {
        if self.core.topology.faces.len() <= KEPT { self.normals[face] } else { outward(self.face(face)) }
    }

    /// Is it round where it meets a face with this normal? Then its lowest points over the face touch it, not the corners of its
    /// stand-in: one of an ellipsoid, and of a cylinder that does not stand on it, one at each end.
    #[inline]
    pub fn is_round(&self, normal: Vec3) -> bool {
        match self.core.kind {
            Kind::Ellipsoid => true,
            Kind::Cylinder => dot(self.core.pose.rotation.z, normal).abs() < STANDING,
            _ => false,
        }
    }

    /// Where a round core is lowest over a face of another, with the number of the place.
    pub fn lowest(&self, face: [Vec3; 3]) -> impl Iterator<Item = (u32, Vec3)> {
        let ends = if let Kind::Cylinder = self.core.kind { 2 } else { 1 };
        (0..ends).map(move |end| {
            let Contact { point, normal, gap } = self.core.over_face(end as usize, face);
            (end, point + normal * (0.5 * gap))
        })
    }

    /// Are its faces too many to be looked at one by one?
    #[inline]
    pub fn is_large(&self) -> bool {
        self.core.topology.faces.len() > KEPT
    }

    /// The corner that is farthest along a direction; the first of several, or, of a core with many corners, one of them.
    #[inline]
    pub fn farthest(&self, direction: Vec3) -> u32 {
        if self.is_large() {
            return self.climb(direction);
        }
        let mut best = (0, f64::NEG_INFINITY);
        for i in 0..self.core.topology.corners as u32 {
            let s = dot(direction, self.at(i));
            if s > best.1 {
                best = (i, s);
            }
        }
        best.0
    }

    /// From corner to corner as long as a neighbour is farther: on a convex core there is no other end than the farthest.
    fn climb(&self, direction: Vec3) -> u32 {
        let r = self.core.pose.rotation;
        let n = Vec3 { x: dot(r.x, direction), y: dot(r.y, direction), z: dot(r.z, direction) };
        let reach = |i: u32| dot(n, self.core.kind.corner(self.core.sizes, i as usize));
        let mut best = (self.last.get(), reach(self.last.get()));
        loop {
            let from = best.0;
            for &i in self.core.topology.neighbours(from as usize) {
                let s = reach(i);
                if s > best.1 {
                    best = (i, s);
                }
            }
            if best.0 == from {
                self.last.set(from);
                return from;
            }
        }
    }
}
