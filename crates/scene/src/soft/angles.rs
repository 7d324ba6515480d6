//! How well-shaped tetrahedra are.

use super::mesh::SolidMesh;
use crate::vector::{cross, dot, length, minus};

impl SolidMesh {
    /// The least and the greatest angle between two sides of a tetrahedron, over all of them [rad]. Those of a regular one
    /// are 70.5°; near 0 or 180° it is flat. Without elements they are infinite.
    pub fn dihedral_angles(&self) -> [f64; 2] {
        let all = (0..self.elements.len()).flat_map(|element| dihedral_angles(self.corners(element)));
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], angle| {
            [least.min(angle), most.max(angle)]
        })
    }
}

/// The angles at the six edges of a tetrahedron [rad].
///
/// At the edge e from p, with the other two corners at u and v from p: that between e × u and e × v.
fn dihedral_angles(corners: [[f64; 3]; 4]) -> [f64; 6] {
    const EDGES: [[usize; 4]; 6] =
        [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]];
    EDGES.map(|[p, q, u, v]| {
        let from_p = |at: usize| minus(corners[at], corners[p]);
        let (a, b) = (cross(from_p(q), from_p(u)), cross(from_p(q), from_p(v)));
        length(cross(a, b)).atan2(dot(a, b))
    })
}
