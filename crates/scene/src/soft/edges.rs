//! Edges, and the hinges that a sheet bends about.

use super::facets::{self, Facet};
use super::mesh::{Mesh, SheetMesh};

/// An inner edge of a sheet, about which its two triangles bend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hinge {
    /// The ends of the edge, in the direction in which the first triangle goes along it.
    pub edge: [u32; 2],
    /// The corners across the edge, of the first and the second triangle.
    pub opposite: [u32; 2],
    /// The two triangles, in ascending order.
    pub triangles: [u32; 2],
}

impl<const CORNERS: usize> Mesh<CORNERS> {
    /// Every edge once: the lesser point first, in ascending order of the first and then the second point.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut pairs = Vec::with_capacity(self.elements.len() * CORNERS * (CORNERS - 1) / 2);
        for element in &self.elements {
            for (i, &a) in element.iter().enumerate() {
                for &b in &element[i + 1..] {
                    // The number is not asked for.
                    pairs.push(Facet { corners: [a.min(b), a.max(b)], forward: true, number: 0 });
                }
            }
        }
        let sorted = facets::together(pairs, self.points.len());
        facets::same(&sorted).map(|same| same[0].corners).collect()
    }
}

impl SheetMesh {
    /// The edges between exactly two triangles, in the order of [`SheetMesh::edges`].
    pub fn hinges(&self) -> Vec<Hinge> {
        let sides = facets::of_sheet(self);
        let pairs = facets::same(&sides).filter_map(|same| match same {
            [first, second] => Some([first, second]),
            _ => None,
        });
        let corner = |side: &Facet<2>, after: u32| {
            self.elements[side.element() as usize][((side.number % 3 + after) % 3) as usize]
        };
        pairs
            .map(|[first, second]| Hinge {
                edge: [corner(first, 0), corner(first, 1)],
                opposite: [corner(first, 2), corner(second, 2)],
                triangles: [first.element(), second.element()],
            })
            .collect()
    }

    /// The edges of one triangle only, in the direction in which it goes along them, in ascending order as
    /// [`SheetMesh::edges`]; none of a closed surface.
    pub fn border(&self) -> Vec<[u32; 2]> {
        let sides = facets::of_sheet(self);
        let single = facets::same(&sides).filter(|same| same.len() == 1);
        single
            .map(|same| {
                let [a, b] = same[0].corners;
                if same[0].forward { [a, b] } else { [b, a] }
            })
            .collect()
    }
}
