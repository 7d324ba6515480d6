//! A convex core p on ground q of triangles.
//!
//! Each candidate is a place where the distance is least among all nearby (a local minimum), seen from both sides: a corner of p
//! above the inside of a triangle, an edge of p across a ridge, a face of p on a peak. Edges and corners of the
//! ground where it is flat or hollow are no such place, so that what slides over them does not feel them.

use pullback_kernel::prelude::*;

use super::axes::{arcs_cross, normals};
use super::body::{Body, cross, dot, length, normalize};
use super::convex::{ALIGNED, crossing};
use super::found::Found;
use super::triangles::{Triangle, Triangles};
use crate::core;
use crate::feature::Touch;
use crate::kind::Kind;
use crate::topology::{Edge, NONE};

/// Nearer to a plane than this is in it [m].
const ON: f64 = 1e-9;
/// Normals that differ by less are of one plane.
const SAME: f64 = 1e-6;

/// Triangles that are kept of a patch of ground that is as large as shapes usually are, and of a large one.
const FEW: usize = 64;
const MANY: usize = 512;
/// Corners of p of which is kept how high they are.
const CORNERS: usize = 256;

/// Offers where p touches the ground q, whose corners have moved so far since it was made.
pub(super) fn detect(p: &Body<'_>, (q, moved): (&Body<'_>, [f64; 3]), margin: f64, found: &mut Found<'_>) {
    let depth = p.kind.bounding_radius(p.sizes);
    // A corner feels ground above it as deep as that, and below it as far as its radius and the margin.
    let reach = depth.max(p.radius() + margin.max(0.0));
    let wide = depth - p.radius() + reach;
    let few = Triangles::<FEW>::new((q, moved), p.pose.position, wide);
    if few.are_kept() {
        Search::new(p, q, margin, depth, few).offer(reach, found);
    } else {
        let many = Triangles::<MANY>::new((q, moved), p.pose.position, wide);
        Search::new(p, q, margin, depth, many).offer(reach, found);
    }
}

struct Search<'a, const KEPT: usize> {
    p: &'a Body<'a>,
    q: &'a Body<'a>,
    margin: f64,
    /// How far a core may be below the ground and still be pushed out [m].
    depth: f64,
    triangles: Triangles<'a, KEPT>,
    /// Where the ground's z axis points.
    up: Vec3,
    /// How far along it what is too high to touch any triangle starts, and what is too low to be touched [m].
    over: f64,
    under: f64,
    /// Which corners of p are too high.
    high: [bool; CORNERS],
}

impl<'a, const KEPT: usize> Search<'a, KEPT> {
    fn new(
        p: &'a Body<'a>,
        q: &'a Body<'a>,
        margin: f64,
        depth: f64,
        triangles: Triangles<'a, KEPT>,
    ) -> Self {
        let up = q.pose.rotation.z;
        let mut top = f64::NEG_INFINITY;
        triangles.near(p.pose.position, f64::INFINITY, &mut |triangle| {
            top = triangle.corners.iter().map(|&y| dot(up, y)).fold(top, f64::max);
        });
        let felt = margin + p.radius() + p.kind.slack(p.sizes);
        let (over, mut under, mut high) = (top + felt, f64::INFINITY, [false; CORNERS]);
        for i in 0..p.topology.corners {
            let at = dot(up, p.at(i as u32));
            under = under.min(at - felt);
            if let Some(high) = high.get_mut(i) {
                *high = at >= over;
            }
        }
        Search { p, q, margin, depth, triangles, up, over, under, high }
    }

    fn offer(&self, reach: f64, found: &mut Found<'_>) {
        let ends = self.lowest(reach, found);
        let round = self.p.kind.is_round();
        if !round {
            (0..self.p.topology.corners as u32).for_each(|corner| self.corner(corner, false, reach, found));
        }
        // Edges and corners of the ground that the shape itself can reach.
        let (q, center) = (self.q, self.p.pose.position);
        let felt = self.depth + self.margin.max(0.0);
        let is_low = |corner: u32| dot(self.up, q.at(corner)) < self.under;
        self.triangles.near(center, felt, &mut |triangle| {
            for side in q.topology.sides_of(triangle.face as usize) {
                let edge = q.topology.edges[side.edge as usize];
                if edge.faces[0] == triangle.face
                    && edge.faces[1] != NONE
                    && !edge.ends.iter().all(|&end| is_low(end))
                {
                    let ends = edge.ends.map(|i| q.at(i));
                    if length(on_segment(center, ends) - center) < felt {
                        self.ridge(side.edge, found);
                    }
                }
                if q.topology.home[side.start as usize] == triangle.face
                    && length(q.at(side.start) - center) < felt
                    && !is_low(side.start)
                {
                    self.peak(side.start, triangle.normal, found);
                }
            }
        });
        if round {
            self.stand_in(ends, reach, found);
        }
    }

    /// Corners of the stand-in of a round p, where they touch and nothing else does: of a cylinder, those of each end apart, and
    /// all where it stands.
    fn stand_in(&self, ends: [bool; 2], reach: f64, found: &mut Found<'_>) {
        let cylinder = matches!(self.p.kind, Kind::Cylinder);
        let nothing = found.is_empty();
        for corner in 0..self.p.topology.corners as u32 {
            let up = dot(self.p.pose.rotation.z, self.p.at(corner) - self.p.pose.position) > 0.0;
            let carried = if cylinder { ends[usize::from(up)] } else { !nothing };
            self.corner(corner, carried, reach, found);
        }
    }

    /// Is a corner of p too high above the ground to touch it?
    #[inline]
    fn is_high(&self, corner: u32) -> bool {
        match self.high.get(corner as usize) {
            Some(&high) => high,
            None => dot(self.up, self.p.at(corner)) >= self.over,
        }
    }

    /// Is x below the ground? The nearest triangle says; of several that are as near, the one that faces it most.
    fn is_below(&self, x: Vec3, reach: f64) -> bool {
        let (mut nearest, mut height) = (f64::INFINITY, 0.0_f64);
        self.triangles.near(x, reach, &mut |triangle| {
            let above = dot(triangle.normal, x - triangle.corners[0]);
            if above.abs() > nearest + ON {
                return;
            }
            let d = x - on_triangle(x, triangle, above);
            let (far, h) = (length(d), dot(triangle.normal, d));
            if far < nearest - ON || (far < nearest + ON && h.abs() > height.abs()) {
                (nearest, height) = (far.min(nearest), h);
            }
        });
        height < 0.0
    }

    /// A corner of p over the inside of triangles; and, with a radius, beside ridges and peaks.
    /// Where p is round and carried by its lowest points, it does not count.
    fn corner(&self, corner: u32, carried: bool, reach: f64, found: &mut Found<'_>) {
        if self.is_high(corner) || carried && matches!(self.p.kind, Kind::Ellipsoid) {
            return;
        }
        let x = self.p.at(corner);
        let below = self.is_below(x, reach);
        self.triangles.near(x, reach, &mut |triangle| {
            let counts = !(carried && self.p.is_round(triangle.normal));
            if counts && self.touches(x, below, triangle, reach) {
                found.offer(Touch::CornerFace.feature(corner, triangle.face, false));
            }
        });
        if self.p.radius() > 0.0 && !below {
            let felt = self.p.radius() + self.margin.max(0.0);
            self.triangles.near(x, felt, &mut |triangle| self.beside(x, corner, triangle, found));
        }
    }

    /// The lowest points of a round p over the inside of triangles; of a cylinder, those of each end. Are there any?
    fn lowest(&self, reach: f64, found: &mut Found<'_>) -> [bool; 2] {
        let mut any = [false; 2];
        if !self.p.kind.is_round() {
            return any;
        }
        let felt = self.depth + self.margin.max(0.0);
        self.triangles.near(self.p.pose.position, felt.max(self.depth + reach), &mut |triangle| {
            if !self.p.is_round(triangle.normal) {
                return;
            }
            for (place, x) in self.p.lowest(triangle.corners) {
                if self.over(x, triangle).is_some()
                    && self.touches(x, self.is_below(x, reach), triangle, reach)
                {
                    found.offer(Touch::LowestFace.feature(place, triangle.face, false));
                    any[place as usize] = true;
                }
            }
        });
        any
    }

    /// Does the point x of p, which is below the ground or not, touch it at the inside of this triangle?
    fn touches(&self, x: Vec3, below: bool, triangle: &Triangle, reach: f64) -> bool {
        let Some(h) = self.over(x, triangle).filter(|h| (*h < 0.0) == below || h.abs() <= ON) else {
            return false;
        };
        let mut hidden = false;
        self.triangles.near(x, reach, &mut |other| {
            hidden |= other.face != triangle.face && self.hides(x, other, triangle, h);
        });
        !hidden
    }

    /// How far x is above a triangle, if it is over its inside and not too deep.
    fn over(&self, x: Vec3, triangle: &Triangle) -> Option<f64> {
        let (y, n) = (triangle.corners, triangle.normal);
        let h = dot(n, x - y[0]);
        let near = h > -self.depth && h - self.p.radius() < self.margin;
        (near && (0..3).all(|i| outside(x, y[i], y[(i + 1) % 3], n) <= ON)).then_some(h)
    }

    /// Does another triangle stand for this one at x? It does if it is in the same plane, and earlier; or if x is below
    /// both, less deep in the other, and both bend away from each other.
    fn hides(&self, x: Vec3, other: &Triangle, triangle: &Triangle, h: f64) -> bool {
        let Some(k) = self.over(x, other) else { return false };
        if length(other.normal - triangle.normal) < SAME && (k - h).abs() < ON {
            return other.face < triangle.face;
        }
        let y = other.corners;
        let middle = (y[0] + y[1] + y[2]) / 3.0;
        let bends = dot(triangle.normal, middle - triangle.corners[0]) < -ON;
        h < 0.0 && bends && (k > h + ON || ((k - h).abs() <= ON && other.face < triangle.face))
    }

    /// A ball at x beside ridges and peaks that belong to a triangle.
    fn beside(&self, x: Vec3, corner: u32, triangle: &Triangle, found: &mut Found<'_>) {
        let topology = self.q.topology;
        for side in topology.sides_of(triangle.face as usize) {
            let edge = topology.edges[side.edge as usize];
            if edge.faces[0] == triangle.face && self.is_over_ridge(x, edge, triangle.normal) {
                found.offer(Touch::CornerEdge.feature(corner, side.edge, false));
            }
            if topology.home[side.start as usize] == triangle.face
                && self.is_over_peak(x, side.start, triangle.normal)
            {
                found.offer(Touch::Corners.feature(corner, side.start, false));
            }
        }
    }

    /// Is x nearest to the inside of an edge, outside of both triangles at it, and above? The first has the normal n.
    fn is_over_ridge(&self, x: Vec3, edge: Edge, n: Vec3) -> bool {
        let [s, t] = edge.ends.map(|i| self.q.at(i));
        let along = dot(x - s, t - s);
        if along <= 0.0 || along >= dot(t - s, t - s) || outside(x, s, t, n) <= ON {
            return false;
        }
        if edge.faces[1] == NONE {
            return dot(n, x - s) >= 0.0;
        }
        let m = self.q.normal(edge.faces[1] as usize);
        outside(x, t, s, m) > ON && dot(n + m, x - s) > 0.0
    }

    /// Is x nearest to a corner, beyond all edges that start there, and above? A triangle there has the normal n.
    fn is_over_peak(&self, x: Vec3, corner: u32, n: Vec3) -> bool {
        let v = self.q.at(corner);
        let beyond = |&w: &u32| {
            let e = self.q.at(w) - v;
            dot(x - v, e) < -ON * length(e)
        };
        dot(n, x - v) > 0.0 && self.q.topology.neighbours(corner as usize).iter().all(beyond)
    }

    /// Edges of p across an edge of the ground, if its triangles bend away from each other.
    fn ridge(&self, edge: u32, found: &mut Found<'_>) {
        let Some(m) = normals(self.q, edge as usize) else { return };
        let y = self.q.edge(edge as usize);
        let f = y[1] - y[0];
        // The triangles' normals turn about the edge's direction (see `axes::arcs_cross`).
        if dot(cross(m[0], m[1]), f) <= SAME * length(f) {
            return;
        }
        if let Kind::Ellipsoid = self.p.kind {
            let feature = Touch::EdgeRound.feature(edge, 0, true);
            let contact = core::contact(feature, **self.p, **self.q);
            if self.p.kind.is_shallow(self.p.sizes, contact.gap) {
                // The normal must lie between those of the triangles.
                let (up, along) = (-contact.normal, dot(contact.point - y[0], f) / dot(f, f));
                let between = dot(cross(m[0], up), f) >= 0.0 && dot(cross(up, m[1]), f) >= 0.0;
                if between && along > 0.0 && along < 1.0 && dot(up, m[0] + m[1]) > 0.0 {
                    found.offer(feature);
                }
                return;
            }
        }
        for i in 0..self.p.topology.edges.len() {
            if self.p.topology.edges[i].ends.iter().all(|&end| self.is_high(end)) {
                continue;
            }
            let x = self.p.edge(i);
            let (e, d) = (x[1] - x[0], y[0] - x[0]);
            let c = cross(e, f);
            let s = dot(c, c);
            let inside = |t: f64| t > 0.0 && t < 1.0;
            if s <= 1e-8 * dot(e, e) * dot(f, f)
                || !inside(dot(cross(d, f), c) / s)
                || !inside(dot(cross(d, e), c) / s)
            {
                continue;
            }
            // From p down to the ground.
            let normal = if dot(c, m[0] + m[1]) > 0.0 { -normalize(c) } else { normalize(c) };
            if dot(normal, d) > -self.depth && rests(e, normals(self.p, i), f, m, normal) {
                crossing(self.p, self.q, i as u32, edge, normal, found);
            }
        }
    }

    /// The area of the triangles at a corner of the ground, as a vector: four times that, twice that at its rim.
    fn around(&self, corner: u32) -> Vec3 {
        let topology = self.q.topology;
        let mut sum = Vec3::default();
        for &spoke in topology.spokes(corner as usize) {
            for face in topology.edges[spoke as usize].faces.into_iter().filter(|&face| face != NONE) {
                let y = self.q.face(face as usize);
                sum = sum + cross(y[1] - y[0], y[2] - y[0]);
            }
        }
        sum
    }

    /// Faces, and with a radius edges, of p on a corner of the ground that is a peak; a triangle there has the normal m.
    fn peak(&self, corner: u32, m: Vec3, found: &mut Found<'_>) {
        let v = self.q.at(corner);
        let ring = self.q.topology.neighbours(corner as usize);
        if let Kind::Ellipsoid = self.p.kind {
            let feature = Touch::CornerRound.feature(corner, 0, true);
            let up = -core::contact(feature, **self.p, **self.q).normal;
            let under = |&w: &u32| dot(up, self.q.at(w) - v) <= 0.0;
            if dot(up, m) > 0.0 && ring.iter().all(under) {
                found.offer(feature);
            }
            return;
        }
        let mut best: Option<(usize, f64)> = None;
        for face in 0..self.p.topology.faces.len() {
            if self.p.topology.sides_of(face).iter().all(|side| self.is_high(side.start)) {
                continue;
            }
            let n = self.p.normal(face);
            let h = dot(n, v - self.p.face(face)[0]);
            if h <= -self.depth || best.is_some_and(|best| h <= best.1) {
                continue;
            }
            let lies = ring.iter().all(|&w| {
                let e = self.q.at(w) - v;
                dot(n, e) > SAME * length(e)
            });
            let mut sides = self.p.topology.sides_of(face).iter();
            // In a pit, a face that looks up lies under all that is around.
            if lies
                && sides.all(|side| outside(v, self.p.at(side.start), self.p.at(side.end), n) <= ON)
                && dot(n, self.around(corner)) < 0.0
            {
                best = Some((face, h));
            }
        }
        if let Some((face, _)) = best {
            found.offer(Touch::CornerFace.feature(corner, face as u32, true));
        }
        if self.p.radius() > 0.0 && !self.p.topology.edges.is_empty() {
            let [s, t] = self.p.edge(0);
            let along = dot(v - s, t - s) / dot(t - s, t - s);
            if along > 0.0 && along < 1.0 && self.is_over_peak(s + (t - s) * along, corner, m) {
                found.offer(Touch::CornerEdge.feature(corner, 0, true));
            }
        }
    }
}

/// How far x is outside the side from s to t of a face with the normal n.
fn outside(x: Vec3, s: Vec3, t: Vec3, n: Vec3) -> f64 {
    let w = cross(t - s, n);
    dot(w, x - s) / length(w)
}

/// As [`super::axes::arcs_cross`] of an edge e of p and a ridge f, which have a normal in common. But an edge rests also where that
/// is the normal of one of its faces, or nearly: then the face lies on the ridge, and both its ends carry it.
fn rests(e: Vec3, n: Option<[Vec3; 2]>, f: Vec3, m: [Vec3; 2], normal: Vec3) -> bool {
    let lies = |n: [Vec3; 2]| n.iter().any(|&n| length(n - normal) < ALIGNED);
    match n {
        Some(n) if lies(n) => dot(m[0], e) * dot(m[1], e) < 0.0,
        n => arcs_cross(e, n, f, Some(m)),
    }
}

/// The point of a triangle that is nearest to x, which is h above its plane.
fn on_triangle(x: Vec3, triangle: &Triangle, h: f64) -> Vec3 {
    let (y, n) = (triangle.corners, triangle.normal);
    if (0..3).all(|i| dot(cross(y[(i + 1) % 3] - y[i], x - y[i]), n) >= 0.0) {
        return x - n * h;
    }
    let mut best = (f64::INFINITY, y[0]);
    for i in 0..3 {
        let c = on_segment(x, [y[i], y[(i + 1) % 3]]);
        let far = dot(c - x, c - x);
        if far < best.0 {
            best = (far, c);
        }
    }
    best.1
}

/// The point of a segment that is nearest to x.
fn on_segment(x: Vec3, [s, t]: [Vec3; 2]) -> Vec3 {
    let e = t - s;
    s + e * (dot(x - s, e) / dot(e, e)).clamp(0.0, 1.0)
}
