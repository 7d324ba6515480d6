//! Order of a surface's triangles and points.

use pullback_scene::soft::SolidMesh;

#[test]
fn order_is_that_of_the_elements() {
    let points = vec![[9.0; 3], [0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];
    let solid = SolidMesh { points: points.clone(), elements: vec![[1, 2, 3, 4], [2, 5, 3, 4]] };
    solid.check().expect("it is good");
    let surface = solid.surface();
    // Of the first tetrahedron, 2-3-4 is inside.
    assert_eq!(surface.points, [1, 3, 2, 4, 5]);
    let named: Vec<[u32; 3]> =
        surface.mesh.elements.iter().map(|side| side.map(|at| surface.points[at as usize])).collect();
    assert_eq!(named, [[1, 3, 2], [1, 2, 4], [1, 4, 3], [2, 3, 5], [2, 5, 4], [5, 3, 4]]);
    assert_eq!(surface.elements, [0, 0, 0, 1, 1, 1]);
    assert!((surface.mesh.enclosed_volume() - 0.5).abs() < 1e-15);
    assert_eq!(solid.doubts().len(), 1);
    assert_eq!(solid.tidied().points, points[1..]);
}
