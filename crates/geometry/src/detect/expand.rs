//! The direction in which two overlapping cores are apart with the least motion, for cores of many cells: that of the face of
//! their difference that is nearest to the origin.
//!
//! A polytope inside of the difference grows where it is nearest to the origin, until it has that face (van den Bergen,
//! Proximity Queries and Penetration Depth Computation on 3D Game Objects, GDC 2001). Distances have signs, so that the
//! origin need not be inside of the first one.

use pullback_kernel::prelude::*;

use super::axes::Axis;
use super::body::{Body, cross, dot, length, normalize};
use super::clip;

/// Corners of the polytope at most. With so many, a face that is not of the difference is as good as one.
const CORNERS: usize = 256;
const FACES: usize = 2 * CORNERS;
/// Edges around what a new corner sees, at most.
const RIM: usize = 128;
/// Nearer to a face than this, as a part of the size of the difference, is in it.
const IN: f64 = 1e-12;
/// A normal that is nearer than this to that of a face is that of the face.
const SAME: f64 = 1e-6;

const ZERO: Vec3 = Vec3 { x: 0.0, y: 0.0, z: 0.0 };

/// A corner of the second core less one of the first.
#[derive(Clone, Copy)]
struct Corner {
    of: [u32; 2],
    at: Vec3,
}

#[derive(Clone, Copy)]
struct Face {
    corners: [u16; 3],
    normal: Vec3,
    /// How far the face is from the origin, along its normal; infinite for one without area.
    height: f64,
}

struct Polytope {
    corners: [Corner; CORNERS],
    corner_count: usize,
    faces: [Face; FACES],
    face_count: usize,
}

/// The best axis; `None` where the difference is flat.
pub(super) fn best(a: &Body<'_>, b: &Body<'_>) -> Option<Axis> {
    let support = |n: Vec3| {
        let of = [a.farthest(-n), b.farthest(n)];
        Corner { of, at: b.at(of[1]) - a.at(of[0]) }
    };
    let (mut polytope, size) = start(&support)?;
    loop {
        let face = polytope.faces[polytope.nearest()];
        let corner = support(face.normal);
        let grows = dot(face.normal, corner.at) > face.height + IN * size;
        if !grows || !polytope.add(corner, IN * size) {
            return Some(axis(a, b, &polytope, &face));
        }
    }
}

/// Four corners that span a volume, and their size.
fn start(support: &impl Fn(Vec3) -> Corner) -> Option<(Polytope, f64)> {
    let axes = [0, 1, 2].map(|k| Vec3 {
        x: f64::from(u8::from(k == 0)),
        y: f64::from(u8::from(k == 1)),
        z: f64::from(u8::from(k == 2)),
    });
    let widths = axes.map(|n| {
        let ends = [support(-n), support(n)];
        (length(ends[1].at - ends[0].at), ends)
    });
    let most = |best: (f64, [Corner; 2]), next: (f64, [Corner; 2])| if next.0 > best.0 { next } else { best };
    let (size, [p, q]) = most(most(widths[0], widths[1]), widths[2]);
    let e = normalize(q.at - p.at);
    let least = axes.into_iter().fold(axes[0], |u, v| if dot(v, e).abs() < dot(u, e).abs() { v } else { u });
    let u = normalize(cross(e, least));
    let farthest = |directions: &[Vec3], measure: &dyn Fn(Vec3) -> f64| {
        let mut best = (0.0, p);
        for corner in directions.iter().map(|&n| support(n)) {
            let far = measure(corner.at - p.at);
            if far > best.0 {
                best = (far, corner);
            }
        }
        best
    };
    let v = cross(e, u);
    let (far, r) = farthest(&[u, -u, v, -v], &|d| length(cross(e, d)));
    let n = normalize(cross(e, r.at - p.at));
    let (high, s) = farthest(&[n, -n], &|d| dot(n, d).abs());
    let solid = far > IN * size && high > IN * size && size.is_finite();
    if !solid {
        return None;
    }
    let nothing = Face { corners: [0; 3], normal: ZERO, height: f64::INFINITY };
    let mut polytope =
        Polytope { corners: [p; CORNERS], corner_count: 4, faces: [nothing; FACES], face_count: 0 };
    // Counter-clockwise from outside: the last corner is below the first three.
    let below = dot(n, s.at - p.at) < 0.0;
    let (q, r) = if below { (q, r) } else { (r, q) };
    polytope.corners[..4].copy_from_slice(&[p, q, r, s]);
    for corners in [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]] {
        polytope.push(corners);
    }
    Some((polytope, size))
}

impl Polytope {
    fn push(&mut self, corners: [u16; 3]) {
        let [a, b, c] = corners.map(|i| self.corners[i as usize].at);
        let normal = normalize(cross(b - a, c - a));
        let height = if normal == ZERO { f64::INFINITY } else { dot(normal, a) };
        self.faces[self.face_count] = Face { corners, normal, height };
        self.face_count += 1;
    }

    /// The face that is nearest to the origin.
    fn nearest(&self) -> usize {
        let mut best = 0;
        for (i, face) in self.faces[..self.face_count].iter().enumerate() {
            if face.height < self.faces[best].height {
                best = i;
            }
        }
        best
    }

    /// Takes a corner: the faces that it sees go, and it is joined to their rim. `false` if there is no room, or nothing new.
    fn add(&mut self, corner: Corner, tolerance: f64) -> bool {
        if self.corner_count == CORNERS
            || self.corners[..self.corner_count].iter().any(|known| known.of == corner.of)
        {
            return false;
        }
        let sees = |face: &Face| dot(face.normal, corner.at) > face.height + tolerance;
        let (mut rim, mut len) = ([[0; 2]; RIM], 0);
        for face in self.faces[..self.face_count].iter().filter(|face| sees(face)) {
            let [a, b, c] = face.corners;
            for [from, to] in [[a, b], [b, c], [c, a]] {
                if let Some(i) = rim[..len].iter().position(|&side| side == [to, from]) {
                    len -= 1;
                    rim[i] = rim[len];
                } else if len < RIM {
                    rim[len] = [from, to];
                    len += 1;
                } else {
                    return false;
                }
            }
        }
        let mut kept = 0;
        for i in 0..self.face_count {
            if !sees(&self.faces[i]) {
                self.faces[kept] = self.faces[i];
                kept += 1;
            }
        }
        self.face_count = kept;
        if kept + len > FACES {
            return false;
        }
        self.corners[self.corner_count] = corner;
        self.corner_count += 1;
        for &[from, to] in &rim[..len] {
            self.push([from, to, self.corner_count as u16 - 1]);
        }
        true
    }
}

/// The axis of a face of the difference: a face of either core, or two edges.
fn axis(a: &Body<'_>, b: &Body<'_>, polytope: &Polytope, face: &Face) -> Axis {
    let normal = -face.normal;
    for (p, q, n) in [(a, b, normal), (b, a, -normal)] {
        if p.topology.faces.is_empty() {
            continue;
        }
        let facing = clip::facing(p, -n);
        let m = p.normal(facing);
        if length(m - n) < SAME {
            let separation = dot(m, q.at(q.farthest(-m)) - p.face(facing)[0]);
            return Axis { normal: if std::ptr::eq(p, a) { m } else { -m }, separation, edges: None };
        }
    }
    let edge = |core: &Body<'_>, which: usize| {
        let [i, j, k] = face.corners.map(|i| polytope.corners[i as usize].of[which]);
        let other = if j == i { k } else { j };
        (other == k || k == i || other == i).then(|| core.topology.edge_between(i, other)).flatten()
    };
    let edges = edge(a, 0).zip(edge(b, 1)).map(|(i, j)| [i, j]);
    Axis { normal, separation: -face.height, edges }
}
