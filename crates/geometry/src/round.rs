//! Polyhedra that stand in for round shapes where these meet shapes with flat parts.
//!
//! They have as much volume as what they stand for, so that their surfaces are outside of it at corners and inside of it on
//! faces: a circle as 32 sides, +0.33 % and -0.16 % of its radius; a ball as 320 triangles, +1.2 % and -0.65 %.

use std::f64::consts::{PI, TAU};
use std::sync::LazyLock;

use pullback_kernel::prelude::*;

use crate::Hull;

/// A polyhedron around the origin, to be stretched along x, y and z.
pub(crate) struct Round {
    pub hull: Hull,
    /// Its corners.
    pub corners: Vec<Vec3>,
    /// How far it is outside of the round shape at its corners, as a factor on its radius.
    pub over: f64,
}

/// Sides of the polygon for a circle.
const SIDES: usize = 32;

/// For a cylinder of radius 1 between z = -1 and 1.
pub(crate) static PRISM: LazyLock<Round> = LazyLock::new(|| {
    // A polygon of n sides and corners at 1 has the area n/2 sin(2π/n).
    let over = (TAU / SIDES as f64 / (TAU / SIDES as f64).sin()).sqrt();
    let corner = |i: usize| {
        let (sin, cos) = (TAU * (i / 2) as f64 / SIDES as f64).sin_cos();
        Vec3 { x: over * cos, y: over * sin, z: if i.is_multiple_of(2) { -1.0 } else { 1.0 } }
    };
    round((0..2 * SIDES).map(corner).collect(), over)
});

/// For a ball of radius 1: an icosahedron whose triangles are twice split into four, with all corners on a sphere.
pub(crate) static BALL: LazyLock<Round> = LazyLock::new(|| {
    let golden = 0.5 + 0.5 * 5.0_f64.sqrt();
    let mut points = Vec::new();
    for (one, other) in [(1.0, golden), (1.0, -golden), (-1.0, golden), (-1.0, -golden)] {
        let around = [[0.0, one, other], [one, other, 0.0], [other, 0.0, one]];
        points.extend(around.map(|[x, y, z]| normalize(Vec3 { x, y, z })));
    }
    for _ in 0..2 {
        let hull = polyhedron(&points);
        let middles = hull.topology.edges.iter().map(|edge| {
            let [a, b] = edge.ends.map(|i| points[i as usize]);
            normalize(a + b)
        });
        points.extend(middles.collect::<Vec<_>>());
    }
    let hull = polyhedron(&points);
    // Each triangle and the origin span a tetrahedron.
    let volumes = hull.topology.faces.iter().map(|face| {
        let [a, b, c] = face.plane.map(|i| points[i as usize]);
        dot(a, cross(b, c)) / 6.0
    });
    let over = (4.0 / 3.0 * PI / volumes.sum::<f64>()).cbrt();
    round(points.iter().map(|&p| p * over).collect(), over)
});

fn round(corners: Vec<Vec3>, over: f64) -> Round {
    Round { hull: polyhedron(&corners), corners, over }
}

/// The hull of points that are all corners of it, in their order.
fn polyhedron(points: &[Vec3]) -> Hull {
    Hull::new(points).expect("finite points that span a volume")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far the middles of faces are from the axis or the middle, from least to most, and how many cells there are.
    fn measured(round: &Round, flat: f64) -> (f64, f64, [usize; 3]) {
        let topology = &round.hull.topology;
        assert_eq!(topology.corners, round.corners.len());
        let heights = topology.faces.iter().filter_map(|face| {
            let [a, b, c] = face.plane.map(|i| round.corners[i as usize]);
            let n = normalize(cross(b - a, c - a));
            (n.z.abs() < flat).then(|| dot(n, a))
        });
        let (low, high) = heights.fold((f64::INFINITY, 0.0), |(l, h): (f64, f64), x| (l.min(x), h.max(x)));
        (low, high, [topology.corners, topology.edges.len(), topology.faces.len()])
    }

    #[test]
    fn round_shapes_are_as_near_as_said() {
        let (low, high, cells) = measured(&PRISM, 0.5);
        assert_eq!(cells, [64, 96, 34]);
        assert!(low > 1.0 - 0.0017 && high - low < 1e-12 && PRISM.over < 1.0033, "{low} {}", PRISM.over);
        let (low, _, cells) = measured(&BALL, 2.0);
        assert_eq!(cells, [162, 480, 320]);
        assert!(low > 1.0 - 0.0065 && BALL.over < 1.012, "{low} {}", BALL.over);
    }
}
