//! The body-centred cubic lattice: corners and centres of cubes, and the tetrahedra between them.

use crate::check::{MOST, more_than};
use crate::error::Invalid;
use crate::soft::BoundingBox;

/// Length of a short edge, from a corner to a centre, in sides of a cube: √3 / 2.
pub(super) const SHORT: f64 = 0.866_025_403_784_438_6;

/// Coordinates are counted in half sides of a cube: those of corners are all even, those of centres all odd.
pub(super) type Half = [i32; 3];

/// Cubes in a box: their corners, numbered with x fastest, and after them their centres.
pub(super) struct Lattice {
    origin: [f64; 3],
    cell: f64,
    cubes: [u32; 3],
}

impl Lattice {
    /// About the centre of a box, with at least one cube more on every side.
    pub fn around(bounds: &BoundingBox, cell: f64) -> Result<Self, Invalid> {
        let sides = bounds.sides();
        let wanted = sides.map(|side| (side / cell * (1.0 - 1e-12)).ceil() + 2.0);
        let nodes = 2.0 * wanted.iter().map(|count| count + 1.0).product::<f64>();
        // Not "more", for what is not finite.
        if nodes.is_nan() || nodes > MOST as f64 {
            let count = if nodes < 1e18 { nodes as usize } else { usize::MAX };
            let Invalid { path, what, .. } = more_than(MOST, count, "nodes of a lattice").at("cell");
            return Err(Invalid::new(path, what, "use larger cells"));
        }
        let cubes = wanted.map(|count| count as u32);
        let origin =
            std::array::from_fn(|i| 0.5 * (bounds.min[i] + bounds.max[i]) - 0.5 * cell * f64::from(cubes[i]));
        Ok(Self { origin, cell, cubes })
    }

    fn corners(&self) -> [u32; 3] {
        self.cubes.map(|count| count + 1)
    }

    pub fn nodes(&self) -> u32 {
        self.corners().iter().product::<u32>() + self.cubes.iter().product::<u32>()
    }

    /// Where a node is, in half sides.
    pub fn half(&self, node: u32) -> Half {
        let corners: u32 = self.corners().iter().product();
        let (counts, at, odd) =
            if node < corners { (self.corners(), node, 0) } else { (self.cubes, node - corners, 1) };
        let [x, y, _] = counts;
        [at % x, at / x % y, at / x / y].map(|at| 2 * at as i32 + odd)
    }

    /// Where a node is [m].
    pub fn place(&self, node: u32) -> [f64; 3] {
        let half = self.half(node);
        std::array::from_fn(|i| self.origin[i] + 0.5 * self.cell * f64::from(half[i]))
    }

    /// The node at a place in half sides, if there is one.
    fn node(&self, half: Half) -> Option<u32> {
        let odd = half[0] & 1;
        let counts = if odd == 0 { self.corners() } else { self.cubes };
        let mut at = [0; 3];
        for i in 0..3 {
            at[i] = u32::try_from((half[i] - odd) / 2).ok().filter(|&at| half[i] >= 0 && at < counts[i])?;
        }
        let before = if odd == 0 { 0 } else { self.corners().iter().product() };
        Some(before + at[0] + counts[0] * (at[1] + counts[1] * at[2]))
    }

    /// The nodes at the other ends of a node's edges, and whether they are long: six along the axes, eight across.
    pub fn neighbours(&self, node: u32) -> impl Iterator<Item = (u32, bool)> {
        let half = self.half(node);
        let along = (0..6).map(move |at| {
            let mut other = half;
            other[at / 2] += if at % 2 == 0 { -2 } else { 2 };
            (other, true)
        });
        let across = (0..8).map(move |bits| {
            let other = std::array::from_fn(|i| half[i] + if bits >> i & 1 == 0 { -1 } else { 1 });
            (other, false)
        });
        along.chain(across).filter_map(|(half, long)| Some((self.node(half)?, long)))
    }

    /// Whether the edge between two nodes is a long one.
    pub fn is_long(&self, a: u32, b: u32) -> bool {
        (self.half(a)[0] ^ self.half(b)[0]) & 1 == 0
    }

    /// All tetrahedra, of positive volume: between the centres of two cubes side by side, and two neighbouring corners of the
    /// face that they share.
    pub fn tetrahedra(&self) -> impl Iterator<Item = [u32; 4]> {
        let first = self.corners().iter().product::<u32>();
        (first..self.nodes())
            .flat_map(move |center| (0..3).flat_map(move |axis| self.around_face(center, axis)))
    }

    /// The four tetrahedra round the way from a centre to the next along an axis; none at the end of the lattice.
    fn around_face(&self, center: u32, axis: usize) -> impl Iterator<Item = [u32; 4]> {
        let half = self.half(center);
        let moved = |along: i32, right: i32, up: i32| {
            let mut other = half;
            other[axis] += along;
            other[(axis + 1) % 3] += right;
            other[(axis + 2) % 3] += up;
            self.node(other)
        };
        let next = moved(2, 0, 0);
        let face = [moved(1, -1, -1), moved(1, 1, -1), moved(1, 1, 1), moved(1, -1, 1)];
        (0..4).filter_map(move |at| Some([center, face[at]?, face[(at + 1) % 4]?, next?]))
    }
}
