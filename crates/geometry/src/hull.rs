//! [`Hull`]: a convex polyhedron, from the points that it is to hold.
//!
//! Quickhull (Barber, Dobkin and Huhdanpaa 1996) on triangles; then those in one plane are joined to polygons, so that faces
//! rest on faces as a whole.

use std::collections::HashMap;
use std::sync::Arc;

use pullback_kernel::prelude::*;

use crate::Bounds;
use crate::topology::Topology;

/// A convex polyhedron: which of its corners make edges and faces. Where the corners are is in its sizes, which start as
/// [`Hull::corners`]; they can move as long as it stays convex with the same faces.
#[derive(Clone, Debug)]
pub struct Hull {
    corners: Vec<f64>,
    pub(crate) topology: Arc<Topology>,
    /// How far its corners are from the origin at most.
    pub(crate) radius: f64,
    pub(crate) bounds: Bounds,
}

/// Why there is no hull.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HullError {
    /// A coordinate is not finite.
    #[error("point {0} of the hull is not finite: give it finite coordinates")]
    NotFinite(usize),
    /// All points are in a plane.
    #[error("the {0} points of the hull are all in a plane: give points that span a volume")]
    Flat(usize),
}

/// Points that are nearer to a plane than this, relative to the size of all, are in it.
const FLAT: f64 = 1e-9;

/// A triangle while the hull grows.
struct Triangle {
    corners: [usize; 3],
    normal: Vec3,
    /// Points that are outside of it, and of no triangle before.
    outside: Vec<usize>,
    dead: bool,
}

impl Hull {
    /// The smallest convex polyhedron that holds these points [m].
    pub fn new(points: &[Vec3]) -> Result<Hull, HullError> {
        if let Some(i) = points.iter().position(|p| ![p.x, p.y, p.z].iter().all(|x| x.is_finite())) {
            return Err(HullError::NotFinite(i));
        }
        let triangles = grown(points).ok_or(HullError::Flat(points.len()))?;
        let polygons = joined(points, &triangles);
        // Corners in the order of the points.
        let mut used: Vec<usize> = polygons.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let place: HashMap<usize, u32> = used.iter().enumerate().map(|(i, &p)| (p, i as u32)).collect();
        let polygons: Vec<Vec<u32>> =
            polygons.iter().map(|polygon| polygon.iter().map(|p| place[p]).collect()).collect();
        let mut topology = Topology::polygons(used.len(), polygons.iter().map(|polygon| &polygon[..]));
        for (face, polygon) in topology.faces.iter_mut().zip(&polygons) {
            face.plane = widest(polygon, |i| points[used[i as usize]]);
        }
        let radius = used.iter().map(|&i| length(points[i])).fold(0.0, f64::max);
        let bounds = Bounds::of(used.iter().map(|&i| points[i]));
        let corners = used.iter().flat_map(|&i| [points[i].x, points[i].y, points[i].z]).collect();
        Ok(Hull { corners, topology: Arc::new(topology), radius, bounds })
    }

    /// The coordinates of its corners, three each [m]: the sizes that it starts with.
    pub fn corners(&self) -> &[f64] {
        &self.corners
    }

    /// How many faces it has.
    pub fn faces(&self) -> usize {
        self.topology.faces.len()
    }
}

/// Three corners of a polygon, in its order, that span its plane best, starting from the first.
fn widest(polygon: &[u32], at: impl Fn(u32) -> Vec3) -> [u32; 3] {
    let mut best = (0.0, [polygon[0], polygon[1], polygon[2]]);
    let a = at(polygon[0]);
    for i in 1..polygon.len() {
        for j in i + 1..polygon.len() {
            let area = length(cross(at(polygon[i]) - a, at(polygon[j]) - a));
            if area > best.0 * (1.0 + 1e-9) {
                best = (area, [polygon[0], polygon[i], polygon[j]]);
            }
        }
    }
    best.1
}

/// The triangles of the hull; `None` if the points are flat.
fn grown(points: &[Vec3]) -> Option<Vec<[usize; 3]>> {
    let first = start(points)?;
    let size = points.iter().map(|&p| length(p - points[first[0]])).fold(0.0, f64::max);
    let tolerance = FLAT * size;
    let [a, b, c, d] = first;
    let mut triangles: Vec<Triangle> = Vec::new();
    for corners in [[a, b, c], [a, d, b], [b, d, c], [c, d, a]] {
        triangles.push(triangle(points, corners));
    }
    let all: Vec<usize> = (0..points.len()).collect();
    hand_out(points, &mut triangles, 0, &all, tolerance);
    while let Some(at) = triangles.iter().position(|t| !t.dead && !t.outside.is_empty()) {
        let height = |t: &Triangle, p: usize| dot(t.normal, points[p] - points[t.corners[0]]);
        let mut apex = (triangles[at].outside[0], 0.0);
        for &p in &triangles[at].outside {
            let h = height(&triangles[at], p);
            if h > apex.1 {
                apex = (p, h);
            }
        }
        let apex = apex.0;
        // What the new corner sees goes; it is joined to the rim of that.
        let mut left = Vec::new();
        let mut sides = HashMap::new();
        for (i, t) in triangles.iter_mut().enumerate() {
            if !t.dead && (i == at || height(t, apex) > tolerance) {
                t.dead = true;
                left.append(&mut t.outside);
                let [a, b, c] = t.corners;
                sides.extend([((a, b), ()), ((b, c), ()), ((c, a), ())]);
            }
        }
        let mut rim: Vec<(usize, usize)> =
            sides.keys().copied().filter(|&(a, b)| !sides.contains_key(&(b, a))).collect();
        rim.sort_unstable();
        let new = triangles.len();
        triangles.extend(rim.into_iter().map(|(a, b)| triangle(points, [a, b, apex])));
        left.retain(|&p| p != apex);
        hand_out(points, &mut triangles, new, &left, tolerance);
    }
    Some(triangles.iter().filter(|t| !t.dead).map(|t| t.corners).collect())
}

fn triangle(points: &[Vec3], corners: [usize; 3]) -> Triangle {
    let [a, b, c] = corners.map(|i| points[i]);
    Triangle { corners, normal: normalize(cross(b - a, c - a)), outside: Vec::new(), dead: false }
}

/// Gives each point to the first triangle, from `new` on, that it is outside of.
fn hand_out(points: &[Vec3], triangles: &mut [Triangle], new: usize, which: &[usize], tolerance: f64) {
    for &p in which {
        let outside = |t: &&mut Triangle| dot(t.normal, points[p] - points[t.corners[0]]) > tolerance;
        if let Some(t) = triangles[new..].iter_mut().find(outside) {
            t.outside.push(p);
        }
    }
}

/// Four points that span a volume, the first three counter-clockwise seen from outside.
fn start(points: &[Vec3]) -> Option<[usize; 4]> {
    let most = |measure: &dyn Fn(Vec3) -> f64| {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, &p) in points.iter().enumerate() {
            if measure(p) > best.1 {
                best = (i, measure(p));
            }
        }
        best
    };
    if points.len() < 4 {
        return None;
    }
    let a = most(&|p| -p.x).0;
    let (b, size) = most(&|p| length(p - points[a]));
    let e = points[b] - points[a];
    let (c, area) = most(&|p| length(cross(e, p - points[a])));
    let n = cross(e, points[c] - points[a]);
    let (d, volume) = most(&|p| dot(n, p - points[a]).abs());
    if !(size > 0.0 && area > FLAT * size * size && volume > FLAT * size * area) {
        return None;
    }
    let below = dot(n, points[d] - points[a]) < 0.0;
    Some(if below { [a, b, c, d] } else { [a, c, b, d] })
}

/// How far the normals of triangles may be apart that are one face.
const JOINED: f64 = 1e-6;

/// Triangles in one plane as one polygon each, without the corners that are in the middle of a face or an edge.
fn joined(points: &[Vec3], triangles: &[[usize; 3]]) -> Vec<Vec<usize>> {
    let normals: Vec<Vec3> = triangles.iter().map(|&t| triangle(points, t).normal).collect();
    let mut owner = HashMap::new();
    for (i, &[a, b, c]) in triangles.iter().enumerate() {
        owner.extend([((a, b), i), ((b, c), i), ((c, a), i)]);
    }
    let mut group = vec![usize::MAX; triangles.len()];
    for i in 0..triangles.len() {
        if group[i] != usize::MAX {
            continue;
        }
        group[i] = i;
        let mut open = vec![i];
        while let Some(t) = open.pop() {
            let [a, b, c] = triangles[t];
            for side in [(b, a), (c, b), (a, c)] {
                if let Some(&next) = owner.get(&side)
                    && group[next] == usize::MAX
                    && length(normals[next] - normals[i]) < JOINED
                {
                    group[next] = i;
                    open.push(next);
                }
            }
        }
    }
    let mut polygons = Vec::new();
    for face in 0..triangles.len() {
        let mut next = HashMap::new();
        for (t, &[a, b, c]) in triangles.iter().enumerate().filter(|(t, _)| group[*t] == face) {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                if owner.get(&(to, from)).is_none_or(|&other| group[other] != group[t]) {
                    next.insert(from, to);
                }
            }
        }
        let Some(&first) = next.keys().min() else { continue };
        let mut polygon = vec![first];
        let mut at = next[&first];
        while at != first && polygon.len() <= next.len() {
            polygon.push(at);
            at = next.get(&at).copied().unwrap_or(first);
        }
        polygons.push(polygon);
    }
    let mut meetings: HashMap<usize, usize> = HashMap::new();
    for corner in polygons.iter().flatten() {
        *meetings.entry(*corner).or_default() += 1;
    }
    for polygon in &mut polygons {
        polygon.retain(|corner| meetings[corner] >= 3);
    }
    polygons.retain(|polygon| polygon.len() >= 3);
    polygons
}
