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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::Cut;

    #[test]
    fn angles_of_known_solids() {
        let close = |found: [f64; 2], wanted: [f64; 2]| {
            assert!(
                (0..2).all(|i| (found[i] - wanted[i].to_radians()).abs() < 1e-14),
                "{found:?}, {wanted:?}"
            );
        };
        let points = vec![[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        let regular = SolidMesh { points, elements: vec![[0, 1, 2, 3]] };
        close(regular.dihedral_angles(), [(1.0f64 / 3.0).acos().to_degrees(); 2]);
        let block = |cut| SolidMesh::block_cut([1.0; 3], [2, 2, 2], cut).expect("it is small");
        close(block(Cut::Six).dihedral_angles(), [45.0, 90.0]);
        // Between a side of the cube and that of the large one: tan = √2.
        close(block(Cut::Five).dihedral_angles(), [2f64.sqrt().atan().to_degrees(), 90.0]);
        assert_eq!(SolidMesh::default().dihedral_angles(), [f64::INFINITY, f64::NEG_INFINITY]);
    }
}
