//! The nearest points of two convex cores, by the algorithm of Gilbert, Johnson and Keerthi (1988), with the nearest
//! points of simplices from Ericson, Real-Time Collision Detection, 5.1.

use pullback_kernel::prelude::*;

use super::body::{Body, cross, dot};

/// Corners of two cores whose differences are the corners of a simplex.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Simplex {
    corners: [[u32; 2]; 4],
    points: [Vec3; 4],
    len: usize,
}

/// Cores that do not overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Apart {
    /// From the first core to the second, between their nearest points.
    pub between: Vec3,
    pub simplex: Simplex,
}

const ROUNDS: usize = 100;
/// How near the bound from below must come to the distance, relative to its square.
const EXACT: f64 = 1e-13;
/// Nearer than this, cores count as overlapping [m].
const TOUCHING: f64 = 1e-10;

/// The nearest points, or `None` where cores overlap. Cores that are farther apart than `far` are given as they are when
/// that is known.
pub(super) fn apart(a: &Body<'_>, b: &Body<'_>, far: f64) -> Option<Apart> {
    let mut simplex = Simplex::default();
    simplex.push([0, 0], b.at(0) - a.at(0));
    let mut v = simplex.points[0];
    for _ in 0..ROUNDS {
        let s = dot(v, v);
        if s < TOUCHING * TOUCHING {
            return None;
        }
        let corners = [a.farthest(v), b.farthest(-v)];
        let w = b.at(corners[1]) - a.at(corners[0]);
        // v·w / |v| is a bound of the distance from below.
        let known = simplex.corners[..simplex.len].contains(&corners);
        let is_far = far > 0.0 && dot(v, w) > far * s.sqrt();
        if known || is_far || s - dot(v, w) <= EXACT * s {
            return Some(Apart { between: v, simplex });
        }
        let before = simplex;
        simplex.push(corners, w);
        let next = simplex.nearest()?;
        if dot(next, next) >= s {
            // Rounding: no progress is left.
            return Some(Apart { between: v, simplex: before });
        }
        v = next;
    }
    Some(Apart { between: v, simplex })
}

impl Simplex {
    #[inline]
    fn push(&mut self, corners: [u32; 2], point: Vec3) {
        self.corners[self.len] = corners;
        self.points[self.len] = point;
        self.len += 1;
    }

    #[inline]
    fn keep(&mut self, kept: &[usize]) {
        let before = *self;
        for (to, &from) in kept.iter().enumerate() {
            self.corners[to] = before.corners[from];
            self.points[to] = before.points[from];
        }
        self.len = kept.len();
    }

    /// The corners of one core (0 or 1), each once, in increasing order, and how many.
    pub fn distinct(&self, core: usize) -> ([u32; 4], usize) {
        let (mut found, mut len) = ([0; 4], 0);
        for corners in &self.corners[..self.len] {
            if !found[..len].contains(&corners[core]) {
                found[len] = corners[core];
                len += 1;
            }
        }
        found[..len].sort_unstable();
        (found, len)
    }

    /// The point of the simplex that is nearest to the origin; keeps only the corners that it lies between. `None` where
    /// the origin is inside.
    fn nearest(&mut self) -> Option<Vec3> {
        match self.len {
            1 => Some(self.points[0]),
            2 => {
                let (v, kept, len) = on_segment(&self.points, [0, 1]);
                self.keep(&kept[..len]);
                Some(v)
            }
            3 => {
                let (v, kept, len) = on_triangle(&self.points, [0, 1, 2]);
                self.keep(&kept[..len]);
                Some(v)
            }
            _ => {
                let mut best: Option<(Vec3, [usize; 3], usize)> = None;
                for (face, opposite) in [([0, 1, 2], 3), ([0, 3, 1], 2), ([0, 2, 3], 1), ([1, 3, 2], 0)] {
                    if !separates(&self.points, face, opposite) {
                        continue;
                    }
                    let found = on_triangle(&self.points, face);
                    if best.is_none_or(|best| dot(found.0, found.0) < dot(best.0, best.0)) {
                        best = Some(found);
                    }
                }
                let (v, kept, len) = best?;
                self.keep(&kept[..len]);
                Some(v)
            }
        }
    }
}

/// Is the origin on the other side of a face than the fourth corner? Also where the tetrahedron is flat.
fn separates(p: &[Vec3; 4], face: [usize; 3], opposite: usize) -> bool {
    let [a, b, c] = face.map(|i| p[i]);
    let n = cross(b - a, c - a);
    let (origin, other) = (dot(n, -a), dot(n, p[opposite] - a));
    let flat = other * other <= 1e-28 * dot(n, n) * dot(p[opposite] - a, p[opposite] - a);
    flat || origin * other < 0.0
}

fn on_segment(p: &[Vec3; 4], [i, j]: [usize; 2]) -> (Vec3, [usize; 3], usize) {
    let (a, b) = (p[i], p[j]);
    let e = b - a;
    let (t, s) = (-dot(a, e), dot(e, e));
    if t <= 0.0 {
        (a, [i, 0, 0], 1)
    } else if t >= s {
        (b, [j, 0, 0], 1)
    } else {
        (a + e * (t / s), [i, j, 0], 2)
    }
}

fn on_triangle(p: &[Vec3; 4], [i, j, k]: [usize; 3]) -> (Vec3, [usize; 3], usize) {
    let (a, b, c) = (p[i], p[j], p[k]);
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-dot(ab, a), -dot(ac, a));
    let (d3, d4) = (-dot(ab, b), -dot(ac, b));
    let (d5, d6) = (-dot(ab, c), -dot(ac, c));
    let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    let n = cross(ab, ac);
    if d1 <= 0.0 && d2 <= 0.0 {
        (a, [i, 0, 0], 1)
    } else if d3 >= 0.0 && d4 <= d3 {
        (b, [j, 0, 0], 1)
    } else if d6 >= 0.0 && d5 <= d6 {
        (c, [k, 0, 0], 1)
    } else if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        on_segment(p, [i, j])
    } else if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        on_segment(p, [i, k])
    } else if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        on_segment(p, [j, k])
    } else if dot(n, n) > 0.0 {
        (n * (dot(a, n) / dot(n, n)), [i, j, k], 3)
    } else {
        on_segment(p, [i, j])
    }
}
