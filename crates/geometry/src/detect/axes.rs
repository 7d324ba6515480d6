//! The direction in which two overlapping cores are apart with the least motion: the largest separation over the normals of
//! faces and the cross products of edges (separating axes). Pairs of edges that cannot be it are left out by their arcs on
//! the sphere of normals (Gregorius, The Separating Axis Test, GDC 2013).

use pullback_kernel::prelude::*;

use super::body::{Body, cross, dot, normalize};
use crate::topology::NONE;

/// A direction, from the first core to the second, and the cells that it comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub normal: Vec3,
    pub separation: f64,
    pub edges: Option<[u32; 2]>,
}

/// How much better edges must be than faces [m]: an edge that lies in a face gives the face's normal once more.
const BETTER: f64 = 1e-9;
/// The sine of an angle below which edges have no cross product.
const PARALLEL: f64 = 1e-4;

/// The best axis; `None` if neither core has a face and their edges, if any, are parallel.
pub(super) fn best(a: &Body<'_>, b: &Body<'_>) -> Option<Axis> {
    let mut best = of_faces(a, b, None);
    best = of_faces(b, a, best.map(|axis| Axis { normal: -axis.normal, ..axis }))
        .map(|axis| Axis { normal: -axis.normal, ..axis });
    of_edges(a, b, best)
}

fn of_faces(a: &Body<'_>, b: &Body<'_>, mut best: Option<Axis>) -> Option<Axis> {
    for face in 0..a.topology.faces.len() {
        let corners = a.face(face);
        let n = a.normal(face);
        let separation = dot(n, b.at(b.farthest(-n)) - corners[0]);
        if best.is_none_or(|axis| separation > axis.separation + BETTER) {
            best = Some(Axis { normal: n, separation, edges: None });
        }
    }
    best
}

/// The outward normals of the faces at an edge; nothing if it has none.
#[inline]
pub(super) fn normals(core: &Body<'_>, edge: usize) -> Option<[Vec3; 2]> {
    let [f, g] = core.topology.edges[edge].faces;
    (f != NONE && g != NONE).then(|| [core.normal(f as usize), core.normal(g as usize)])
}

/// Do edges, with the directions e and f and the normals n and m beside them, make a face of the difference of the cores? The arc
/// from n₀ to n₁ must cross that from -m₀ to -m₁; an edge without faces has a whole circle.
#[inline]
pub(super) fn arcs_cross(e: Vec3, n: Option<[Vec3; 2]>, f: Vec3, m: Option<[Vec3; 2]>) -> bool {
    match (n, m) {
        (Some(n), Some(m)) => {
            let (m0, m1) = (dot(m[0], e), dot(m[1], e));
            let (n0, n1) = (-dot(n[0], f), -dot(n[1], f));
            m0 * m1 < 0.0 && n0 * n1 < 0.0 && m0 * n1 > 0.0
        }
        (Some(n), None) => dot(n[0], f) * dot(n[1], f) < 0.0,
        (None, Some(m)) => dot(m[0], e) * dot(m[1], e) < 0.0,
        (None, None) => true,
    }
}

fn of_edges(a: &Body<'_>, b: &Body<'_>, mut best: Option<Axis>) -> Option<Axis> {
    for i in 0..a.topology.edges.len() {
        let x = a.edge(i);
        let (e, n) = (x[1] - x[0], normals(a, i));
        for j in 0..b.topology.edges.len() {
            let y = b.edge(j);
            let f = y[1] - y[0];
            let c = cross(e, f);
            if dot(c, c) <= PARALLEL * PARALLEL * dot(e, e) * dot(f, f) {
                continue;
            }
            let m = normals(b, j);
            if !arcs_cross(e, n, f, m) {
                continue;
            }
            let mut normal = normalize(c);
            let out = match (n, m) {
                (Some(n), _) => dot(normal, n[0] + n[1]),
                (None, Some(m)) => -dot(normal, m[0] + m[1]),
                (None, None) => dot(normal, y[0] - x[0]),
            };
            if out < 0.0 {
                normal = -normal;
            }
            let separation = dot(normal, y[0] - x[0]);
            if best.is_none_or(|axis| separation > axis.separation + BETTER) {
                best = Some(Axis { normal, separation, edges: Some([i as u32, j as u32]) });
            }
        }
    }
    best
}
