//! Inside and outside of a surface that may have gaps, and where it is crossed.

use std::f64::consts::TAU;

use super::mesh::{BoundingBox, SheetMesh, area_normal};
use crate::vector::{cross, dot, length, minus, plus, times};

/// Triangles in a leaf.
const LEAF: usize = 8;

/// A node is far enough to be taken as one dipole at so many of its radii. What is left out is of second order: with 3 a
/// closed surface is off by some 0.01, and the decision is at 0.5.
const FAR: f64 = 3.0;

/// How far beyond a triangle's edge, in parts of it, a crossing still counts: neighbours must leave no gap between them.
const BEYOND: f64 = 1e-12;

/// A surface, with its triangles in a tree of boxes.
pub(super) struct Enclosure {
    triangles: Vec<[[f64; 3]; 3]>,
    /// Children come after their parents.
    nodes: Vec<Node>,
}

struct Node {
    bounds: BoundingBox,
    /// Of the areas, and how far the triangles reach from there [m].
    center: [f64; 3],
    radius: f64,
    /// Sum of the area vectors [m²].
    dipole: [f64; 3],
    children: Children,
}

enum Children {
    /// From one triangle to before another.
    Triangles(usize, usize),
    /// Numbers of two nodes.
    Nodes(usize, usize),
}

impl Enclosure {
    pub fn new(surface: &SheetMesh) -> Self {
        let mut enclosure = Self {
            triangles: (0..surface.elements.len()).map(|at| surface.corners(at)).collect(),
            nodes: Vec::new(),
        };
        enclosure.grow(0, enclosure.triangles.len());
        enclosure
    }

    /// Adds the node of some triangles with all below it, halved along its longest side; its number.
    fn grow(&mut self, start: usize, end: usize) -> usize {
        let triangles = &mut self.triangles[start..end];
        let bounds = BoundingBox::around(triangles.iter().flatten().copied())
            .unwrap_or(BoundingBox { min: [0.0; 3], max: [0.0; 3] });
        let (mut dipole, mut area, mut moment) = ([0.0; 3], 0.0, [0.0; 3]);
        for &corners in triangles.iter() {
            let vector = times(area_normal(corners), 0.5);
            dipole = plus(dipole, vector);
            area += length(vector);
            moment = plus(moment, times(centroid(corners), length(vector)));
        }
        let center = if area > 0.0 { times(moment, 1.0 / area) } else { bounds.min };
        let radius =
            triangles.iter().flatten().map(|&corner| length(minus(corner, center))).fold(0.0, f64::max);
        let number = self.nodes.len();
        let children = Children::Triangles(start, end);
        let sides = bounds.sides();
        let axis = (0..3).fold(0, |longest, at| if sides[at] > sides[longest] { at } else { longest });
        let half = triangles.len() / 2;
        if triangles.len() > LEAF {
            let key = |corners: &[[f64; 3]; 3]| corners.iter().map(|corner| corner[axis]).sum::<f64>();
            triangles.select_nth_unstable_by(half, |a, b| key(a).total_cmp(&key(b)));
        }
        self.nodes.push(Node { bounds, center, radius, dipole, children });
        if end - start > LEAF {
            let first = self.grow(start, start + half);
            let second = self.grow(start + half, end);
            self.nodes[number].children = Children::Nodes(first, second);
        }
        number
    }

    /// Whether a point is inside: the surface goes round it more than half a time.
    pub fn contains(&self, point: [f64; 3]) -> bool {
        self.winding(0, point) > 0.5
    }

    /// How often the surface goes round a point (Jacobson, Kavan and Sorkine-Hornung 2013, eq. 5): the sum of the solid
    /// angles of its triangles over 4π. A far node is one dipole, w = d · n / (4π |d|³)  (Barill et al. 2018, eq. 13).
    fn winding(&self, node: usize, point: [f64; 3]) -> f64 {
        let Node { center, radius, dipole, ref children, .. } = self.nodes[node];
        let away = minus(center, point);
        let distance = length(away);
        if distance > FAR * radius {
            return dot(away, dipole) / (2.0 * TAU * distance.powi(3));
        }
        match *children {
            Children::Nodes(first, second) => self.winding(first, point) + self.winding(second, point),
            Children::Triangles(start, end) => {
                let all = self.triangles[start..end].iter();
                all.map(|corners| solid_angle(corners.map(|corner| minus(corner, point)))).sum::<f64>()
                    / (2.0 * TAU)
            }
        }
    }

    /// Where the way from one point to another first crosses the surface: 0 is at the first, 1 at the second.
    pub fn crossing(&self, from: [f64; 3], to: [f64; 3]) -> Option<f64> {
        let way = BoundingBox::around([from, to])?;
        let direction = minus(to, from);
        let mut first: Option<f64> = None;
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            let Node { bounds, ref children, .. } = self.nodes[node];
            if (0..3).any(|i| bounds.max[i] < way.min[i] || way.max[i] < bounds.min[i]) {
                continue;
            }
            match *children {
                Children::Nodes(a, b) => open.extend([a, b]),
                Children::Triangles(start, end) => {
                    for &corners in &self.triangles[start..end] {
                        let found = crossed(corners, from, direction);
                        first = [first, found].into_iter().flatten().reduce(f64::min);
                    }
                }
            }
        }
        first
    }
}

fn centroid([a, b, c]: [[f64; 3]; 3]) -> [f64; 3] {
    times(plus(plus(a, b), c), 1.0 / 3.0)
}

/// The solid angle of a triangle seen from the origin, positive from behind (Van Oosterom and Strackee 1983, eq. 8):
/// tan(Ω / 2) = a · (b × c) / (|a| |b| |c| + (a · b) |c| + (b · c) |a| + (c · a) |b|).
fn solid_angle([a, b, c]: [[f64; 3]; 3]) -> f64 {
    let [la, lb, lc] = [a, b, c].map(length);
    let below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    2.0 * dot(a, cross(b, c)).atan2(below)
}

/// Where a way crosses a triangle, if it does, in parts of the way (Möller and Trumbore 1997).
fn crossed([a, b, c]: [[f64; 3]; 3], from: [f64; 3], direction: [f64; 3]) -> Option<f64> {
    let (u, v) = (minus(b, a), minus(c, a));
    let p = cross(direction, v);
    let determinant = dot(u, p);
    let t = minus(from, a);
    let q = cross(t, u);
    let [at_u, at_v, at] = [dot(t, p), dot(direction, q), dot(v, q)].map(|x| x / determinant);
    let within =
        at_u >= -BEYOND && at_v >= -BEYOND && at_u + at_v <= 1.0 + BEYOND && (0.0..=1.0).contains(&at);
    within.then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum over all triangles, without the tree.
    fn exact(surface: &SheetMesh, point: [f64; 3]) -> f64 {
        let angles = (0..surface.elements.len())
            .map(|at| solid_angle(surface.corners(at).map(|corner| minus(corner, point))));
        angles.sum::<f64>() / (2.0 * TAU)
    }

    #[test]
    fn far_triangles_are_one_dipole() {
        let ball = SheetMesh::icosphere(1.0, 4).expect("it is small");
        let enclosure = Enclosure::new(&ball);
        let mut largest = 0.0f64;
        for i in 0..400 {
            let x = f64::from(i);
            let point = [(1.7 * x).sin(), (2.3 * x).cos(), (0.9 * x).sin()].map(|x| 1.5 * x);
            let (found, wanted) = (enclosure.winding(0, point), exact(&ball, point));
            largest = largest.max((found - wanted).abs());
            let away = length(point);
            if !(0.98..1.02).contains(&away) {
                let inside = if away < 1.0 { 1.0 } else { 0.0 };
                assert!((wanted - inside).abs() < 1e-12, "{point:?}: {wanted}");
                assert_eq!(enclosure.contains(point), inside == 1.0, "{point:?}");
            }
        }
        // The tree is used, and is good for the decision.
        assert!(largest > 1e-9 && largest < 0.02, "{largest}");
    }

    #[test]
    fn ways_are_crossed_at_the_nearest_triangle() {
        let block = crate::soft::SolidMesh::block([2.0, 2.0, 2.0], [3, 3, 3]).expect("it is small").surface();
        let enclosure = Enclosure::new(&block.mesh);
        let close =
            |found: Option<f64>, wanted: f64| found.is_some_and(|found| (found - wanted).abs() < 1e-14);
        assert!(close(enclosure.crossing([0.1, 0.2, 0.0], [4.1, 0.2, 0.0]), 0.225));
        assert!(close(enclosure.crossing([4.1, 0.2, 0.0], [-3.9, 0.2, 0.0]), 3.1 / 8.0));
        assert_eq!(enclosure.crossing([0.0; 3], [0.5, 0.5, 0.5]), None);
        assert_eq!(enclosure.crossing([2.0, 0.0, 0.0], [3.0, 0.0, 0.0]), None);
        // Along a side there is no one place.
        assert_eq!(enclosure.crossing([1.0, 0.1, 0.2], [1.0, 0.3, 0.3]), None);
    }
}
