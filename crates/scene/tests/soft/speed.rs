//! How long large meshes take: `cargo test --release -p pullback-scene --test soft -- --ignored --nocapture`.

use std::time::Instant;

use pullback_scene::soft::{SheetMesh, SolidMesh};

#[test]
#[ignore = "a measurement"]
fn a_million_tetrahedra() {
    let time = |what: &str, start: Instant| println!("{what}: {:.3} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let block = SolidMesh::block([1.0; 3], [50, 50, 67]).expect("it is good");
    assert_eq!(block.elements.len(), 1_005_000);
    time("block", start);
    let start = Instant::now();
    let surface = block.surface();
    assert_eq!(surface.mesh.elements.len(), 4 * (2500 + 2 * 50 * 67));
    time("surface", start);
    let start = Instant::now();
    block.check().expect("it is good");
    time("check", start);
    let start = Instant::now();
    assert!(block.edges().len() > 1_000_000);
    time("edges", start);
    let sphere = SheetMesh::icosphere(1.0, 5).expect("it is good");
    let start = Instant::now();
    let ball = SolidMesh::filled(&sphere, 0.05).expect("it is good");
    time(&format!("{} tetrahedra in {} triangles", ball.elements.len(), sphere.elements.len()), start);
}
