//! The outer triangles of a solid.

use super::facets;
use super::mesh::{SheetMesh, SolidMesh};

/// The surface of a solid, with where its points are in the solid.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// The triangles, wound outwards.
    pub mesh: SheetMesh,
    /// For each point of the surface, the point of the solid that it is.
    pub points: Vec<u32>,
    /// For each triangle, the tetrahedron that it is a side of.
    pub elements: Vec<u32>,
}

impl SolidMesh {
    /// The sides that one tetrahedron has, and no other, wound outwards.
    ///
    /// Triangles are in the order of their tetrahedra; of one with corners a, b, c and d they are acb, abd, adc and bcd.
    /// Points are in the order in which those triangles name them first.
    pub fn surface(&self) -> Surface {
        let (triangles, elements) = self.outer_sides();
        let mut new_of = vec![u32::MAX; self.points.len()];
        let mut points = Vec::new();
        let mut renumbered = triangles;
        for at in renumbered.iter_mut().flatten() {
            let new = &mut new_of[*at as usize];
            if *new == u32::MAX {
                *new = points.len() as u32;
                points.push(*at);
            }
            *at = *new;
        }
        let places = points.iter().map(|&at| self.points[at as usize]).collect();
        Surface { mesh: SheetMesh { points: places, elements: renumbered }, points, elements }
    }

    /// Outer sides by the solid's own points, and the tetrahedron of each.
    pub(crate) fn outer_sides(&self) -> (Vec<[u32; 3]>, Vec<u32>) {
        let facets = facets::of_solid(self);
        let mut outer = vec![false; facets.len()];
        for same in facets::same(&facets) {
            outer[same[0].number as usize] = same.len() == 1;
        }
        let all = (0u32..)
            .zip(&self.elements)
            .flat_map(|(at, &element)| facets::sides(element).map(|side| (side, at)));
        all.zip(outer).filter(|(_, outer)| *outer).map(|(side, _)| side).unzip()
    }
}
