//! Two convex cores: which of their cells touch.

use pullback_kernel::prelude::*;

use super::body::{Body, cross, dot, length, normalize};
use super::found::Found;
use super::gjk::{Simplex, apart};
use super::{axes, clip, expand};
use crate::feature::Touch;

/// A normal that is nearer than this angle [rad] to that of a face is that of the face: then all that lies over the face
/// touches it, not one point alone.
pub(super) const ALIGNED: f64 = 0.02;
/// What lies over a face must be as near as the cores are, but for this part of their distance: else the nearest point is
/// beside the face.
const ASIDE: f64 = 1e-3;
/// Edges that cross at a smaller sine touch at the two ends of what they have in common.
const CROSSING: f64 = 0.01;
/// Edges at a larger sine have one nearest point, and no other end to rest on.
const ALONGSIDE: f64 = 0.5;

/// Offers where two convex cores touch.
pub(super) fn detect(a: &Body<'_>, b: &Body<'_>, margin: f64, found: &mut Found<'_>) {
    if a.topology.faces.is_empty() && b.topology.faces.is_empty() {
        return segments(a, b, 0, 0, found);
    }
    let slack = a.kind.slack(a.sizes) + b.kind.slack(b.sizes);
    match apart(a, b, margin + slack + a.radius() + b.radius()) {
        Some(apart) => {
            let distance = length(apart.between);
            if distance - a.radius() - b.radius() >= margin + slack {
                return;
            }
            let normal = apart.between / distance;
            over_faces(a, b, normal, found);
            found.unless_below(distance * (1.0 + ASIDE) - a.radius() - b.radius());
            if found.is_empty() {
                nearest(a, b, normal, &apart.simplex, found);
            }
        }
        None => {
            let many = a.is_large() || b.is_large();
            let axis = many.then(|| expand::best(a, b)).flatten().or_else(|| axes::best(a, b));
            let Some(axis) = axis else { return };
            over_faces(a, b, axis.normal, found);
            let depth = axis.separation.abs();
            found.unless_below(axis.separation + ASIDE * depth + 1e-9 - a.radius() - b.radius());
            if !found.is_empty() {
                return;
            }
            match axis.edges {
                Some([i, j]) => crossing(a, b, i, j, axis.normal, found),
                None => deepest(a, b, axis.normal, found),
            }
        }
    }
}

/// Offers what lies over a face of either core, if the normal is one's. The reference is the flat one of a flat and a round core,
/// else the exact face, the first core's where both are.
fn over_faces(a: &Body<'_>, b: &Body<'_>, normal: Vec3, found: &mut Found<'_>) {
    let near = |face: &(usize, f64)| face.1 < ALIGNED;
    let (of_a, of_b) = (aligned(a, normal).filter(near), aligned(b, -normal).filter(near));
    let first = match (of_a, of_b) {
        (Some((_, angle_a)), Some((_, angle_b))) => match (a.is_round(normal), b.is_round(normal)) {
            (false, true) => true,
            (true, false) => false,
            _ => angle_a <= angle_b + 1e-7,
        },
        (of_a, _) => of_a.is_some(),
    };
    match (of_a, of_b) {
        (Some((face, _)), _) if first => clip::over_face(b, a, face, true, found),
        (_, Some((face, _))) => clip::over_face(a, b, face, false, found),
        _ => {}
    }
}

/// The face of a core that a direction is nearest to, and how far from its normal.
fn aligned(core: &Body<'_>, normal: Vec3) -> Option<(usize, f64)> {
    (!core.topology.faces.is_empty()).then(|| {
        let face = clip::facing(core, -normal);
        (face, length(core.normal(face) - normal))
    })
}

/// Offers edges that cross.
pub(super) fn crossing(a: &Body<'_>, b: &Body<'_>, i: u32, j: u32, normal: Vec3, found: &mut Found<'_>) {
    let (x, y) = (a.edge(i as usize), b.edge(j as usize));
    let along = dot(cross(x[1] - x[0], y[1] - y[0]), normal) >= 0.0;
    let touch = if along { Touch::Edges } else { Touch::EdgesBack };
    found.offer(touch.feature(i, j, false));
}

/// Offers the deepest corner under the face that the normal is nearest to, where no part of the faces lies over each other.
fn deepest(a: &Body<'_>, b: &Body<'_>, normal: Vec3, found: &mut Found<'_>) {
    match (aligned(a, normal), aligned(b, -normal)) {
        (Some((face, angle)), other) if other.is_none_or(|other| angle <= other.1 + 1e-7) => {
            found.offer(Touch::CornerFace.feature(b.farthest(-normal), face as u32, true));
        }
        (_, Some((face, _))) => {
            found.offer(Touch::CornerFace.feature(a.farthest(normal), face as u32, false));
        }
        _ => {}
    }
}

/// Offers the cells that the nearest points lie in.
fn nearest(a: &Body<'_>, b: &Body<'_>, normal: Vec3, simplex: &Simplex, found: &mut Found<'_>) {
    let ((x, of_a), (y, of_b)) = (simplex.distinct(0), simplex.distinct(1));
    let edge = |core: &Body<'_>, corners: [u32; 4]| core.topology.edge_between(corners[0], corners[1]);
    let face = |core: &Body<'_>, normal: Vec3| clip::facing(core, -normal) as u32;
    match (of_a, of_b) {
        (1, 1) => found.offer(Touch::Corners.feature(x[0], y[0], false)),
        (1, 2) => found.offer(match edge(b, y) {
            Some(j) => Touch::CornerEdge.feature(x[0], j, false),
            None => Touch::CornerFace.feature(x[0], face(b, -normal), false),
        }),
        (2, 1) => found.offer(match edge(a, x) {
            Some(i) => Touch::CornerEdge.feature(y[0], i, true),
            None => Touch::CornerFace.feature(y[0], face(a, normal), true),
        }),
        (1, _) => found.offer(Touch::CornerFace.feature(x[0], face(b, -normal), false)),
        (_, 1) => found.offer(Touch::CornerFace.feature(y[0], face(a, normal), true)),
        _ => {
            if let (2, 2, Some(i), Some(j)) = (of_a, of_b, edge(a, x), edge(b, y)) {
                segments(a, b, i, j, found);
            }
        }
    }
}

/// Offers where two segments are nearest, and the ends of what they have in common if they lie alongside.
fn segments(a: &Body<'_>, b: &Body<'_>, i: u32, j: u32, found: &mut Found<'_>) {
    let (x, y) = (a.edge(i as usize), b.edge(j as usize));
    let (e, f, d) = (x[1] - x[0], y[1] - y[0], y[0] - x[0]);
    let c = cross(e, f);
    let (s, ee, ff) = (dot(c, c), dot(e, e), dot(f, f));
    let inside = |t: f64| t > 0.0 && t < 1.0;
    if s > CROSSING * CROSSING * ee * ff && inside(dot(cross(d, f), c) / s) && inside(dot(cross(d, e), c) / s)
    {
        return crossing(a, b, i, j, d, found);
    }
    let (ends_a, ends_b) = (a.topology.edges[i as usize].ends, b.topology.edges[j as usize].ends);
    let ends = [over(x[0], y), over(x[1], y), over(y[0], x), over(y[1], x)];
    let feature = |k: usize| {
        let (end, at) = (k % 2, ends[k].0);
        match (k < 2, end_at(at)) {
            (true, None) => Touch::CornerEdge.feature(ends_a[end], j, false),
            (false, None) => Touch::CornerEdge.feature(ends_b[end], i, true),
            (true, Some(other)) => Touch::Corners.feature(ends_a[end], ends_b[other], false),
            (false, Some(other)) => Touch::Corners.feature(ends_a[other], ends_b[end], false),
        }
    };
    let mut best = 0;
    for k in 1..4 {
        if ends[k].1 < ends[best].1 - 1e-9 {
            best = k;
        }
    }
    found.offer(feature(best));
    if s >= ALONGSIDE * ALONGSIDE * ee * ff {
        return;
    }
    // Along the middle of both directions, what they have in common starts at the later start and ends at the earlier end.
    let (along_a, along_b) = (normalize(e), normalize(f));
    let turned = dot(along_a, along_b) < 0.0;
    let u = along_a + if turned { -along_b } else { along_b };
    let (first, last) = if turned { (3, 2) } else { (2, 3) };
    let place = [x[0], x[1], y[0], y[1]].map(|p| dot(u, p - x[0]));
    let same = SAME * dot(u, e).abs();
    if place[0].max(place[first]) > place[1].min(place[last]) {
        return;
    }
    for (k, l, later) in [(0, first, place[0] - place[first]), (1, last, place[last] - place[1])] {
        found.offer(if later.abs() <= same {
            Touch::Corners.feature(ends_a[k], ends_b[l - 2], false)
        } else {
            feature(if later > 0.0 { k } else { l })
        });
    }
}

/// Nearer to the end of a segment than this is at it, as a part of its length.
const SAME: f64 = 1e-9;

/// A point over a segment: how far along it, as a part of its length, and how far from it.
fn over(p: Vec3, s: [Vec3; 2]) -> (f64, f64) {
    let e = s[1] - s[0];
    let ee = dot(e, e);
    let t = if ee > 0.0 { dot(p - s[0], e) / ee } else { 0.0 };
    (t, length(s[0] + e * t.clamp(0.0, 1.0) - p))
}

/// The end of a segment that this place along it is at or beyond, if any.
fn end_at(t: f64) -> Option<usize> {
    if t <= SAME {
        Some(0)
    } else if t >= 1.0 - SAME {
        Some(1)
    } else {
        None
    }
}
