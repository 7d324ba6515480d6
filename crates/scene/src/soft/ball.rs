//! Balls from an icosahedron whose triangles are divided.

use std::collections::HashMap;

use super::mesh::{Mesh, SheetMesh, SolidMesh};
use super::size;
use crate::check::Number;
use crate::error::Invalid;
use crate::vector::{length, plus, times};

/// Triangles of an icosahedron, wound outwards, over [`corners`].
const FACES: [[u32; 3]; 20] = [
    [0, 11, 5],
    [0, 5, 1],
    [0, 1, 7],
    [0, 7, 10],
    [0, 10, 11],
    [1, 5, 9],
    [5, 11, 4],
    [11, 10, 2],
    [10, 7, 6],
    [7, 1, 8],
    [3, 9, 4],
    [3, 4, 2],
    [3, 2, 6],
    [3, 6, 8],
    [3, 8, 9],
    [4, 9, 5],
    [2, 4, 11],
    [6, 2, 10],
    [8, 6, 7],
    [9, 8, 1],
];

/// Corners of an icosahedron at distance 1: three golden rectangles.
fn corners() -> Vec<[f64; 3]> {
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    let plane = [[-1.0, golden], [1.0, golden], [-1.0, -golden], [1.0, -golden]];
    let rectangles = plane
        .iter()
        .map(|&[a, b]| [a, b, 0.0])
        .chain(plane.iter().map(|&[a, b]| [0.0, a, b]))
        .chain(plane.iter().map(|&[a, b]| [b, 0.0, a]));
    rectangles.map(|corner| times(corner, 1.0 / length(corner))).collect()
}

/// How many points and triangles the surface has.
fn counts(subdivisions: usize) -> Result<[usize; 2], Invalid> {
    let four = 4usize.saturating_pow(u32::try_from(subdivisions).unwrap_or(u32::MAX));
    let triangles = size::product("subdivisions", "triangles", &[20, four])?;
    Ok([triangles / 2 + 2, triangles])
}

impl SheetMesh {
    /// The surface of a ball about the origin [m]: an icosahedron, each of whose triangles is cut into four as many times as
    /// given, with all points on the sphere.
    ///
    /// It has 10 · 4^subdivisions + 2 points and 20 · 4^subdivisions triangles, wound outwards.
    ///
    /// # Errors
    ///
    /// When the radius is not above zero, or there are more than 10,000,000 triangles.
    pub fn icosphere(radius: f64, subdivisions: usize) -> Result<Self, Invalid> {
        Number::positive("radius", "m").check("radius", radius)?;
        counts(subdivisions)?;
        let mut unit = Mesh { points: corners(), elements: FACES.to_vec() };
        for _ in 0..subdivisions {
            unit = unit.divided();
        }
        Ok(unit.scaled([radius; 3]))
    }

    /// Each triangle cut into four; new points are on the unit sphere, in the order of their first triangles.
    fn divided(mut self) -> Self {
        let mut middles = HashMap::new();
        let mut points = std::mem::take(&mut self.points);
        let mut middle = |a: u32, b: u32| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                let sum = plus(points[a as usize], points[b as usize]);
                points.push(times(sum, 1.0 / length(sum)));
                points.len() as u32 - 1
            })
        };
        let mut elements = Vec::with_capacity(4 * self.elements.len());
        for [a, b, c] in self.elements {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            elements.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        Self { points, elements }
    }
}

impl SolidMesh {
    /// A soft ball about the origin [m]: a point in its centre, and equally distant shells with the points of
    /// [`SheetMesh::icosphere`], the outermost on the sphere. Between shells each prism is cut into three.
    ///
    /// Shells near the centre are as finely divided as the outermost, so that many layers leave needles there: of equally
    /// large tetrahedra is what fills the surface, [`SolidMesh::filled`].
    ///
    /// With n = 4^subdivisions it has layers · (10 n + 2) + 1 points, from the centre outwards, and
    /// 20 n (3 layers - 2) tetrahedra, those at the centre first.
    ///
    /// # Errors
    ///
    /// When the radius is not above zero, there are no layers, or there are more than 10,000,000 tetrahedra or points.
    pub fn icosphere(radius: f64, subdivisions: usize, layers: usize) -> Result<Self, Invalid> {
        Number::positive("radius", "m").check("radius", radius)?;
        if layers == 0 {
            return Err(Invalid::new("layers", "the number of layers is 0", "write 1 or more"));
        }
        let [shell, triangles] = counts(subdivisions)?;
        let thick = layers.saturating_mul(3) - 2;
        let count = size::product("layers", "tetrahedra", &[triangles, thick])?;
        let mut points = Vec::with_capacity(1 + size::product("layers", "points", &[shell, layers])?);
        let sphere = SheetMesh::icosphere(1.0, subdivisions)?;
        points.push([0.0; 3]);
        for layer in 1..=layers {
            let here = radius * (layer as f64 / layers as f64);
            points.extend(sphere.points.iter().map(|&point| times(point, here)));
        }
        let mut elements = Vec::with_capacity(count);
        elements.extend(sphere.elements.iter().map(|&[a, b, c]| [0, a + 1, b + 1, c + 1]));
        for layer in 1..layers {
            let inner = (1 + (layer - 1) * shell) as u32;
            elements
                .extend(sphere.elements.iter().flat_map(|&face| prism(face, inner, inner + shell as u32)));
        }
        Ok(Self { points, elements })
    }
}

/// The prism between a triangle in one shell, or layer, and the next, cut into three; seen from the next it goes
/// anticlockwise. On each of its sides the diagonal starts in the inner shell at the lesser point, so that neighbours agree.
pub(super) fn prism(face: [u32; 3], inner: u32, outer: u32) -> [[u32; 4]; 3] {
    // Turned so that the least comes first: the winding stays.
    let least = (0..3).fold(0, |least, at| if face[at] < face[least] { at } else { least });
    let [a, b, c] = std::array::from_fn(|i| face[(least + i) % 3]);
    let [a0, b0, c0] = [a, b, c].map(|at| at + inner);
    let [a1, b1, c1] = [a, b, c].map(|at| at + outer);
    if b < c {
        [[a0, b0, c0, c1], [a0, b0, c1, b1], [a0, a1, b1, c1]]
    } else {
        [[a0, b0, c0, b1], [a0, c0, c1, b1], [a0, a1, b1, c1]]
    }
}
