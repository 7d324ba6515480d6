//! What several tests ask of meshes.

use std::collections::HashMap;

use pullback_scene::soft::{SheetMesh, SolidMesh};

/// Close, relative to the second.
pub fn close(found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance * wanted.abs(), "{found}, {wanted}");
}

/// Numbers from 0 to 1, the same in every run (splitmix64).
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn vector(&mut self) -> [f64; 3] {
        std::array::from_fn(|_| 2.0 * self.next() - 1.0)
    }
}

/// V - E + F: 2 for a ball, 0 for a ring, 1 for a disc.
pub fn euler(sheet: &SheetMesh) -> i64 {
    sheet.points.len() as i64 - sheet.edges().len() as i64 + sheet.elements.len() as i64
}

/// How many tetrahedra have each side, counted apart from the crate.
pub fn sides(solid: &SolidMesh) -> HashMap<[u32; 3], usize> {
    let mut counts = HashMap::new();
    for &[a, b, c, d] in &solid.elements {
        for mut side in [[a, b, c], [a, b, d], [a, c, d], [b, c, d]] {
            side.sort_unstable();
            *counts.entry(side).or_insert(0) += 1;
        }
    }
    counts
}

/// All that a good solid is: checks pass without doubts, volumes are positive, sides are shared by one or two, the surface is
/// closed and of this characteristic, its winding outwards gives the volume, and a second call gives the same.
pub fn good_solid(solid: &SolidMesh, characteristic: i64) {
    solid.check().expect("it is good");
    assert_eq!(solid.doubts(), []);
    assert!(solid.volumes().all(|volume| volume > 0.0));
    let counts = sides(solid);
    assert!(counts.values().all(|&count| count == 1 || count == 2));
    let outer = counts.values().filter(|&&count| count == 1).count();
    let surface = solid.surface();
    assert_eq!(surface.mesh.elements.len(), outer);
    surface.mesh.check().expect("it is good");
    assert_eq!(surface.mesh.border(), Vec::<[u32; 2]>::new());
    assert_eq!(euler(&surface.mesh), characteristic);
    close(surface.mesh.enclosed_volume(), solid.volume(), 1e-11);
    for (point, &at) in surface.mesh.points.iter().zip(&surface.points) {
        assert_eq!(*point, solid.points[at as usize]);
    }
    for (triangle, &element) in surface.mesh.elements.iter().zip(&surface.elements) {
        let corners = solid.elements[element as usize];
        assert!(triangle.iter().all(|&at| corners.contains(&surface.points[at as usize])));
    }
    assert_eq!(surface, solid.surface());
    assert_eq!(solid.edges(), solid.edges());
}

/// All that a good sheet is.
pub fn good_sheet(sheet: &SheetMesh, characteristic: i64) {
    sheet.check().expect("it is good");
    assert_eq!(sheet.doubts(), []);
    assert_eq!(euler(sheet), characteristic);
    let (hinges, edges) = (sheet.hinges(), sheet.edges());
    assert_eq!(hinges.len() + sheet.border().len(), edges.len());
    assert_eq!(hinges, sheet.hinges());
}
