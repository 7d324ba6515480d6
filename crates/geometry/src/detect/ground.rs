//! A convex core p on ground q of triangles.
//!
//! Each candidate is a place where the distance is least among all nearby (a local minimum), seen from both sides: a corner of p
//! above the inside of a triangle, an edge of p across a ridge, a face of p on a peak. Edges and corners of the
//! ground where it is flat or hollow are no such place, so that what slides over them does not feel them.

use pullback_kernel::prelude::*;

use super::axes::normals;
use super::convex::{ALIGNED, crossing};
use super::found::Found;
use crate::cells::outward;
use crate::core::Core;
use crate::feature::Touch;
use crate::kind::Kind;
use crate::topology::NONE;
use crate::tree::Bounds;

/// Nearer to a plane than this is in it [m].
const ON: f64 = 1e-9;
/// Normals that differ by less are of one plane.
const SAME: f64 = 1e-6;

/// Offers where p touches the ground q.
pub(super) fn detect(p: &Core<'_, f64>, q: &Core<'_, f64>, margin: f64, found: &mut Found<'_>) {
    let search = Search { p, q, margin, depth: p.kind.bounding_radius(p.sizes) };
    for corner in 0..p.topology.corners as u32 {
        search.corner(corner, found);
    }
    let all = search.bounds(p.topology.corners as u32);
    search.near(&all, &mut |face| {
        for side in q.topology.sides_of(face as usize) {
            let owner = q.topology.edges[side.edge as usize].faces[0] == face;
            if owner {
                search.ridge(side.edge, found);
            }
            if q.topology.home[side.start as usize] == face {
                search.peak(side.start, found);
            }
        }
    });
}

struct Search<'a> {
    p: &'a Core<'a, f64>,
    q: &'a Core<'a, f64>,
    margin: f64,
    /// How far a core may be below the ground and still be pushed out [m].
    depth: f64,
}

impl Search<'_> {
    fn reach(&self) -> f64 {
        self.depth + self.p.radius() + self.margin.max(0.0)
    }

    /// The bounds, in the frame of the ground, of all corners of p before this one, and as far as they can be felt.
    fn bounds(&self, corners: u32) -> Bounds {
        let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
        for corner in 0..corners {
            let one = self.around(self.p.at(corner));
            for k in 0..3 {
                bounds[k] = [bounds[k][0].min(one[k][0]), bounds[k][1].max(one[k][1])];
            }
        }
        bounds
    }

    fn around(&self, x: Vec3) -> Bounds {
        let x = transform_point_back(*self.q.pose, x);
        [x.x, x.y, x.z].map(|x| [x - self.reach(), x + self.reach()])
    }

    /// Visits the triangles near a place.
    fn near(&self, bounds: &Bounds, visit: &mut impl FnMut(u32)) {
        match self.q.kind {
            Kind::Surface(surface) => surface.tree.each(bounds, visit),
            Kind::Heights(heights) => heights.each(bounds, visit),
            _ => {}
        }
    }

    /// Is x below the ground? The nearest triangle says; of several that are as near, the one that faces it most.
    fn is_below(&self, x: Vec3, bounds: &Bounds) -> bool {
        let (mut nearest, mut height) = (f64::INFINITY, 0.0);
        self.near(bounds, &mut |face| {
            let y = self.q.face(face as usize);
            let d = x - on_triangle(x, y);
            let (far, h) = (length(d), dot(outward(y), d));
            if far < nearest - ON || (far < nearest + ON && h.abs() > f64::abs(height)) {
                (nearest, height) = (far.min(nearest), h);
            }
        });
        height < 0.0
    }

    /// A corner of p over the inside of triangles; and, with a radius, beside ridges and peaks.
    fn corner(&self, corner: u32, found: &mut Found<'_>) {
        let x = self.p.at(corner);
        let bounds = self.around(x);
        let below = self.is_below(x, &bounds);
        self.near(&bounds, &mut |face| {
            let Some((n, h)) = self.over(x, face) else { return };
            if (h < 0.0) != below && h.abs() > ON {
                return;
            }
            let mut hidden = false;
            self.near(&bounds, &mut |other| hidden |= other != face && self.hides(x, other, face, n, h));
            if !hidden {
                found.offer(Touch::CornerFace.feature(corner, face, false));
            }
        });
        if self.p.radius() > 0.0 && !below {
            self.near(&bounds, &mut |face| self.beside(x, corner, face, found));
        }
    }

    /// The normal of a triangle, and how far x is above it, if it is over its inside and not too deep.
    fn over(&self, x: Vec3, face: u32) -> Option<(Vec3, f64)> {
        let y = self.q.face(face as usize);
        let n = outward(y);
        let h = dot(n, x - y[0]);
        let inside = (0..3).all(|i| self.outside(x, y[i], y[(i + 1) % 3], n) <= ON);
        (inside && h > -self.depth && h - self.p.radius() < self.margin).then_some((n, h))
    }

    /// How far x is outside a side from s to t of a triangle.
    fn outside(&self, x: Vec3, s: Vec3, t: Vec3, n: Vec3) -> f64 {
        dot(normalize(cross(t - s, n)), x - s)
    }

    /// Does another triangle stand for this one at x? It does if it is in the same plane, and earlier; or if x is below
    /// both, less deep in the other, and both bend away from each other.
    fn hides(&self, x: Vec3, other: u32, face: u32, n: Vec3, h: f64) -> bool {
        let Some((m, k)) = self.over(x, other) else { return false };
        if length(m - n) < SAME && (k - h).abs() < ON {
            return other < face;
        }
        let y = self.q.face(other as usize);
        let middle = (y[0] + y[1] + y[2]) / 3.0;
        let bends = dot(n, middle - self.q.face(face as usize)[0]) < -ON;
        h < 0.0 && bends && (k > h + ON || ((k - h).abs() <= ON && other < face))
    }

    /// A ball at x beside ridges and peaks that belong to a triangle.
    fn beside(&self, x: Vec3, corner: u32, face: u32, found: &mut Found<'_>) {
        let topology = self.q.topology;
        for side in topology.sides_of(face as usize) {
            let edge = topology.edges[side.edge as usize];
            if edge.faces[0] == face && self.is_over_ridge(x, edge.ends, edge.faces) {
                found.offer(Touch::CornerEdge.feature(corner, side.edge, false));
            }
            if topology.home[side.start as usize] == face && self.is_over_peak(x, side.start, face) {
                found.offer(Touch::Corners.feature(corner, side.start, false));
            }
        }
    }

    /// Is x nearest to the inside of an edge, outside of both triangles at it, and above?
    fn is_over_ridge(&self, x: Vec3, ends: [u32; 2], faces: [u32; 2]) -> bool {
        let [s, t] = self.q.all(ends);
        let along = dot(x - s, t - s);
        if along <= 0.0 || along >= dot(t - s, t - s) {
            return false;
        }
        let n = outward(self.q.face(faces[0] as usize));
        if faces[1] == NONE {
            return self.outside(x, s, t, n) > ON && dot(n, x - s) >= 0.0;
        }
        let m = outward(self.q.face(faces[1] as usize));
        self.outside(x, s, t, n) > ON && self.outside(x, t, s, m) > ON && dot(n + m, x - s) > 0.0
    }

    /// Is x nearest to a corner, beyond all edges that start there, and above?
    fn is_over_peak(&self, x: Vec3, corner: u32, face: u32) -> bool {
        let v = self.q.at(corner);
        let beyond = |&w: &u32| {
            let e = self.q.at(w) - v;
            dot(x - v, e) < -ON * length(e)
        };
        dot(outward(self.q.face(face as usize)), x - v) > 0.0
            && self.q.topology.neighbours(corner as usize).iter().all(beyond)
    }

    /// Edges of p across an edge of the ground that is a ridge.
    fn ridge(&self, edge: u32, found: &mut Found<'_>) {
        let Edges { y, f, m } = match self.ridge_at(edge) {
            Some(ridge) => ridge,
            None => return,
        };
        for i in 0..self.p.topology.edges.len() {
            let x = self.p.edge(i);
            let (e, n, d) = (x[1] - x[0], normals(self.p, i), y[0] - x[0]);
            let c = cross(e, f);
            let s = dot(c, c);
            if s <= 1e-8 * dot(e, e) * dot(f, f) || !rests(e, n, f, m) {
                continue;
            }
            let inside = |t: f64| t > 0.0 && t < 1.0;
            if !inside(dot(cross(d, f), c) / s) || !inside(dot(cross(d, e), c) / s) {
                continue;
            }
            // From p down to the ground.
            let normal = if dot(c, m[0] + m[1]) > 0.0 { -normalize(c) } else { normalize(c) };
            if dot(normal, d) > -self.depth {
                crossing(self.p, self.q, i as u32, edge, normal, found);
            }
        }
    }

    /// An edge of the ground, if its triangles bend away from each other.
    fn ridge_at(&self, edge: u32) -> Option<Edges> {
        let m = normals(self.q, edge as usize)?;
        let y = self.q.edge(edge as usize);
        let f = y[1] - y[0];
        // The triangles' normals turn about the edge's direction (see `axes::arcs_cross`).
        (dot(cross(m[0], m[1]), f) > SAME * length(f)).then_some(Edges { y, f, m })
    }

    /// Faces, and with a radius edges, of p on a corner of the ground that is a peak.
    fn peak(&self, corner: u32, found: &mut Found<'_>) {
        let v = self.q.at(corner);
        let ring = self.q.topology.neighbours(corner as usize);
        let mut best: Option<(usize, f64)> = None;
        for face in 0..self.p.topology.faces.len() {
            let y = self.p.face(face);
            let n = outward(y);
            let h = dot(n, v - y[0]);
            if best.is_some_and(|best| h <= best.1) && h < 0.0 {
                continue;
            }
            let lies = ring.iter().all(|&w| {
                let e = self.q.at(w) - v;
                dot(n, e) > SAME * length(e)
            });
            let mut sides = self.p.topology.sides_of(face).iter();
            let over = sides.all(|side| self.outside(v, self.p.at(side.start), self.p.at(side.end), n) <= ON);
            if lies && over && h > -self.depth {
                best = Some((face, h));
            }
        }
        if let Some((face, _)) = best {
            found.offer(Touch::CornerFace.feature(corner, face as u32, true));
        }
        let home = self.q.topology.home[corner as usize];
        if self.p.radius() > 0.0 && !self.p.topology.edges.is_empty() && home != NONE {
            let [s, t] = self.p.edge(0);
            let along = dot(v - s, t - s) / dot(t - s, t - s);
            if along > 0.0 && along < 1.0 && self.is_over_peak(s + (t - s) * along, corner, home) {
                found.offer(Touch::CornerEdge.feature(corner, 0, true));
            }
        }
    }
}

/// As [`super::axes::arcs_cross`] of an edge e of p and a ridge f. But an edge rests also where the ridge is in one of its
/// faces, or nearly: then the face lies on the ridge, and both its ends carry it.
fn rests(e: Vec3, n: Option<[Vec3; 2]>, f: Vec3, m: [Vec3; 2]) -> bool {
    let (m0, m1) = (dot(m[0], e), dot(m[1], e));
    let across = m0 * m1 < 0.0;
    let Some(n) = n else { return across };
    let (n0, n1) = (-dot(n[0], f), -dot(n[1], f));
    let nearly = n0.abs().min(n1.abs()) < ALIGNED * length(f);
    across && (n0 * n1 < 0.0 || nearly) && m0 * (n1 - n0) > 0.0
}

/// An edge of the ground: its ends, its direction, the normals beside it.
struct Edges {
    y: [Vec3; 2],
    f: Vec3,
    m: [Vec3; 2],
}

/// The point of a triangle that is nearest to x.
fn on_triangle(x: Vec3, y: [Vec3; 3]) -> Vec3 {
    let n = outward(y);
    let inside = (0..3).all(|i| dot(cross(y[(i + 1) % 3] - y[i], x - y[i]), n) >= 0.0);
    if inside {
        return x - n * dot(n, x - y[0]);
    }
    let mut best = y[0];
    for i in 0..3 {
        let c = crate::cells::nearest_on_segment(x, [y[i], y[(i + 1) % 3]]);
        if length(c - x) < length(best - x) {
            best = c;
        }
    }
    best
}
