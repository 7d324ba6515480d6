//! What elements share: faces of tetrahedra, and edges of triangles.

use super::mesh::{SheetMesh, SolidMesh};

/// A side of an element, which a neighbour may have too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facet<const K: usize> {
    /// Its corners in ascending order.
    pub corners: [u32; K],
    /// Whether the element goes round it, or along it, in the direction of those corners. That of its neighbour goes in
    /// the other.
    pub forward: bool,
    /// Counted over all elements in order, and over the sides of each.
    pub number: u32,
}

impl<const K: usize> Facet<K> {
    fn new(side: [u32; K], number: usize) -> Self {
        let mut corners = side;
        // Sorted by exchanges of two, each of which turns it round.
        let mut forward = true;
        for end in (1..K).rev() {
            for i in 0..end {
                if corners[i] > corners[i + 1] {
                    corners.swap(i, i + 1);
                    forward = !forward;
                }
            }
        }
        Self { corners, forward, number: number as u32 }
    }

    /// The element that it is of: one has K + 1 sides.
    pub fn element(&self) -> u32 {
        self.number / (K as u32 + 1)
    }
}

/// The four sides of a tetrahedron, wound outwards: opposite to its last corner, ..., to its first.
pub(super) fn sides([a, b, c, d]: [u32; 4]) -> [[u32; 3]; 4] {
    [[a, c, b], [a, b, d], [a, d, c], [b, c, d]]
}

/// All sides of all tetrahedra, equal ones together.
pub(super) fn of_solid(mesh: &SolidMesh) -> Vec<Facet<3>> {
    let all = mesh.elements.iter().flat_map(|&element| sides(element)).enumerate();
    together(all.map(|(number, side)| Facet::new(side, number)).collect(), mesh.points.len())
}

/// All sides of all triangles, equal ones together. The side i of a triangle goes from its corner i to the next.
pub(super) fn of_sheet(mesh: &SheetMesh) -> Vec<Facet<2>> {
    let all = mesh.elements.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).enumerate();
    together(all.map(|(number, side)| Facet::new(side, number)).collect(), mesh.points.len())
}

/// Sorted by corners, equal ones by number. By the first corner they are counted out, which leaves a few to sort for each.
pub(super) fn together<const K: usize>(facets: Vec<Facet<K>>, points: usize) -> Vec<Facet<K>> {
    let mut starts = vec![0usize; points + 1];
    facets.iter().for_each(|facet| starts[facet.corners[0] as usize + 1] += 1);
    for at in 0..points {
        starts[at + 1] += starts[at];
    }
    let Some(&first) = facets.first() else {
        return facets;
    };
    let mut sorted = vec![first; facets.len()];
    let mut next = starts.clone();
    for facet in facets {
        let at = &mut next[facet.corners[0] as usize];
        sorted[*at] = facet;
        *at += 1;
    }
    for range in starts.windows(2) {
        sorted[range[0]..range[1]].sort_unstable_by_key(|facet| (facet.corners, facet.number));
    }
    sorted
}

/// The elements' sides that are one and the same, after they were sorted [`together`].
pub(super) fn same<const K: usize>(facets: &[Facet<K>]) -> impl Iterator<Item = &[Facet<K>]> {
    facets.chunk_by(|a, b| a.corners == b.corners)
}
