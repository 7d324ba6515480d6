//! Counts, measures and shapes of what generators make.

use std::f64::consts::{PI, TAU};

use pullback_scene::soft::{Cut, Diagonals, Gear, SheetMesh, SolidMesh};

use crate::common::{close, euler, good_sheet, good_solid};

#[test]
fn blocks() {
    for (cut, each) in [(Cut::Six, 6), (Cut::Five, 5)] {
        for cells in [[1, 1, 1], [2, 3, 4], [5, 1, 2], [4, 4, 4]] {
            let [nx, ny, nz] = cells;
            let block = SolidMesh::block_cut([0.5, 2.0, 3.0], cells, cut).expect("it is small");
            assert_eq!(block.points.len(), (nx + 1) * (ny + 1) * (nz + 1));
            assert_eq!(block.elements.len(), each * nx * ny * nz);
            close(block.volume(), 3.0, 1e-14);
            good_solid(&block, 2);
            let surface = block.surface().mesh;
            assert_eq!(surface.elements.len(), 4 * (nx * ny + ny * nz + nz * nx));
            close(surface.area(), 2.0 * (0.5 * 2.0 + 2.0 * 3.0 + 3.0 * 0.5), 1e-14);
            let bounds = block.bounds().expect("it has points");
            assert_eq!((bounds.min, bounds.max), ([-0.25, -1.0, -1.5], [0.25, 1.0, 1.5]));
        }
    }
    let six = SolidMesh::block([1.0; 3], [2, 2, 2]).expect("it is small");
    assert!(six.volumes().all(|volume| (volume - 1.0 / 48.0).abs() < 1e-16));
    assert_eq!(Ok(six), SolidMesh::block_cut([1.0; 3], [2, 2, 2], Cut::default()));
    let five = SolidMesh::block_cut([1.0; 3], [1, 1, 1], Cut::Five).expect("it is small");
    close(five.volumes().fold(0.0, f64::max), 1.0 / 3.0, 1e-15);
}

#[test]
fn beams_start_at_the_origin() {
    let beam = SolidMesh::beam(1.2, 0.2, 0.1, [7, 2, 3]).expect("it is small");
    assert_eq!((beam.points.len(), beam.elements.len()), (8 * 3 * 4, 6 * 7 * 2 * 3));
    close(beam.volume(), 1.2 * 0.2 * 0.1, 1e-14);
    good_solid(&beam, 2);
    let bounds = beam.bounds().expect("it has points");
    assert_eq!((bounds.min, bounds.max), ([0.0, -0.1, -0.05], [1.2, 0.1, 0.05]));
    for x in [0.0, 1.2] {
        let end = beam.points_near_plane([x, 9.0, 9.0], [-3.0, 0.0, 0.0], 0.0).expect("it has a direction");
        assert_eq!(end.len(), 3 * 4);
        assert!(end.iter().all(|&at| beam.points[at as usize][0] == x));
    }
}

#[test]
fn spheres_converge_with_order_two() {
    let (mut surfaces, mut solids) = (Vec::new(), Vec::new());
    for subdivisions in 0..5 {
        let four = 4usize.pow(subdivisions as u32);
        let sphere = SheetMesh::icosphere(0.7, subdivisions).expect("it is small");
        assert_eq!((sphere.points.len(), sphere.elements.len()), (10 * four + 2, 20 * four));
        good_sheet(&sphere, 2);
        assert!(
            sphere.points.iter().all(|p| (p.iter().map(|x| x * x).sum::<f64>().sqrt() - 0.7).abs() < 1e-15)
        );
        surfaces.push(4.0 * PI * 0.49 - sphere.area());
        let ball = SolidMesh::icosphere(0.7, subdivisions, 1).expect("it is small");
        assert_eq!((ball.points.len(), ball.elements.len()), (10 * four + 3, 20 * four));
        close(ball.volume(), sphere.enclosed_volume(), 1e-13);
        solids.push(4.0 / 3.0 * PI * 0.343 - ball.volume());
    }
    for errors in [surfaces, solids] {
        for pair in errors.windows(2).skip(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((1.9..2.1).contains(&order), "{order}: {errors:?}");
        }
    }
    // An icosahedron of radius 1 has the volume  2/3 √(10 + 2 √5).
    close(
        SolidMesh::icosphere(1.0, 0, 1).expect("small").volume(),
        2.0 / 3.0 * (10.0 + 20f64.sqrt()).sqrt(),
        1e-14,
    );
}

#[test]
fn balls_in_layers() {
    for subdivisions in 0..3 {
        for layers in 1..5 {
            let n = 4usize.pow(subdivisions as u32);
            let ball = SolidMesh::icosphere(2.0, subdivisions, layers).expect("it is small");
            assert_eq!(ball.points.len(), layers * (10 * n + 2) + 1);
            assert_eq!(ball.elements.len(), 20 * n * (3 * layers - 2));
            good_solid(&ball, 2);
            let whole = SolidMesh::icosphere(2.0, subdivisions, 1).expect("it is small");
            close(ball.volume(), whole.volume(), 1e-12);
            assert_eq!(ball.surface().mesh.elements.len(), 20 * n);
        }
    }
}

#[test]
fn sheets() {
    for diagonals in [Diagonals::Alternating, Diagonals::One] {
        for [nx, ny] in [[1, 1], [3, 2], [8, 8]] {
            let sheet = SheetMesh::sheet([1.5, 0.5], [nx, ny], diagonals).expect("it is small");
            assert_eq!((sheet.points.len(), sheet.elements.len()), ((nx + 1) * (ny + 1), 2 * nx * ny));
            close(sheet.area(), 0.75, 1e-14);
            good_sheet(&sheet, 1);
            assert_eq!(sheet.edges().len(), 3 * nx * ny + nx + ny);
            assert_eq!(sheet.border().len(), 2 * (nx + ny));
            // The front is up.
            for element in 0..sheet.elements.len() {
                let [a, b, c] = sheet.corners(element);
                assert!((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0.0);
            }
        }
    }
    // One direction only, or as many along one diagonal as along the other.
    let diagonal_slopes = |diagonals| {
        let sheet = SheetMesh::sheet([4.0, 4.0], [4, 4], diagonals).expect("it is small");
        let slope = |[a, b]: [u32; 2]| {
            let [a, b] = [a, b].map(|at| sheet.points[at as usize]);
            (b[0] - a[0]) * (b[1] - a[1])
        };
        sheet.edges().iter().map(|&edge| slope(edge)).sum::<f64>()
    };
    assert_eq!(diagonal_slopes(Diagonals::One), 16.0);
    assert_eq!(diagonal_slopes(Diagonals::Alternating), 0.0);
}

#[test]
fn the_gear_of_the_paper() {
    let gear = SolidMesh::gear(&Gear::default()).expect("it is good");
    assert_eq!((gear.elements.len(), gear.points.len()), (1_152, 480));
    good_solid(&gear, 0);
    let [least, most] = gear.dihedral_angles().map(f64::to_degrees);
    // No worse than what fills a surface.
    assert!(least > 10.7 && most < 164.8, "{least}° to {most}°");
}

#[test]
fn gears_have_the_volume_of_their_outline() {
    for gear in [
        Gear::default(),
        Gear { teeth: 3, bore: 0.01, root: 0.5, tip: 2.0, rings: 2, layers: 3, ..Gear::default() },
        Gear { teeth: 40, thickness: 0.01, rings: 1, ..Gear::default() },
    ] {
        let mesh = SolidMesh::gear(&gear).expect("it is good");
        let Gear { teeth, bore, root, tip, thickness, rings, layers } = gear;
        assert_eq!(mesh.points.len(), 4 * teeth * (rings + 1) * (layers + 1));
        assert_eq!(mesh.elements.len(), 24 * teeth * rings * layers);
        good_solid(&mesh, 0);
        // Triangles of the axis with each edge, ½ r s sin(angle): two flanks, a tip and a root for each tooth, less four equal
        // ones of the bore.
        let pitch = TAU / teeth as f64;
        let [flank, top, bottom, quarter] = [0.175, 0.25, 0.4, 0.25].map(|part: f64| (part * pitch).sin());
        let outer = 2.0 * root * tip * flank + tip * tip * top + root * root * bottom;
        let area = 0.5 * teeth as f64 * (outer - 4.0 * bore * bore * quarter);
        close(mesh.volume(), area * thickness, 1e-12);
        let bounds = mesh.bounds().expect("it has points");
        close(bounds.max[1] - bounds.min[1], thickness, 1e-15);
        // The first tooth is up, about z.
        assert!(mesh.points.iter().all(|[x, _, z]| x.hypot(*z) < tip * (1.0 + 1e-14)));
        let tips = mesh.points.iter().filter(|[x, _, z]| x.hypot(*z) > tip * (1.0 - 1e-14)).count();
        assert_eq!(tips, 2 * teeth * (layers + 1));
        let [radius, angle] = gear.outline()[1];
        assert!(
            mesh.points.iter().any(|p| (p[2] - radius * angle.cos()).abs() < 1e-15
                && (p[0] - radius * angle.sin()).abs() < 1e-15)
        );
    }
}

#[test]
fn the_walker_of_the_paper() {
    let walker = SheetMesh::walker(0.1).expect("it is good");
    assert_eq!((walker.elements.len(), walker.points.len()), (104, 74));
    good_sheet(&walker, 1);
    close(walker.area(), 52.0 * 0.01, 1e-13);
    let bounds = walker.bounds().expect("it has points");
    close(bounds.max[0], 0.45, 1e-14);
    close(bounds.min[0], -0.45, 1e-14);
    assert_eq!((bounds.min[1], bounds.max[1], bounds.min[2]), (0.0, 0.0, 0.0));
    close(bounds.max[2], 0.8, 1e-14);
    // Two feet of three points each.
    let feet = walker.points_near_plane([0.0; 3], [0.0, 0.0, 1.0], 1e-9).expect("it has a direction");
    let x = |at: &u32| walker.points[*at as usize][0];
    assert_eq!((feet.len(), feet.iter().filter(|at| x(at) < 0.0).count()), (6, 3));
    // Anticlockwise with x to the right and z up.
    for element in 0..104 {
        let [a, b, c] = walker.corners(element);
        assert!((b[0] - a[0]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[0] - a[0]) > 0.0);
    }
    // Below the body there is nothing between the legs.
    assert!(walker.points.iter().all(|p| p[2] > 0.39 || p[0].abs() > 0.24));
}

#[test]
fn hinges_know_both_sides() {
    let two = SheetMesh {
        points: vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
        elements: vec![[0, 1, 2], [0, 2, 3]],
    };
    let hinges = two.hinges();
    assert_eq!(hinges.len(), 1);
    assert_eq!((hinges[0].edge, hinges[0].opposite, hinges[0].triangles), ([2, 0], [1, 3], [0, 1]));
    assert_eq!(two.edges(), [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]);
    assert_eq!(two.border(), [[0, 1], [3, 0], [1, 2], [2, 3]]);
    // Every hinge's first triangle has its edge and first opposite corner in order, its second the edge backwards.
    let sphere = SheetMesh::icosphere(1.0, 2).expect("it is small");
    assert_eq!(euler(&sphere), 2);
    for hinge in sphere.hinges() {
        let [a, b] = hinge.edge;
        let cycles = |[x, y, z]: [u32; 3]| [[x, y, z], [y, z, x], [z, x, y]];
        let [first, second] = hinge.triangles.map(|at| sphere.elements[at as usize]);
        assert!(hinge.triangles[0] < hinge.triangles[1]);
        assert!(cycles(first).contains(&[a, b, hinge.opposite[0]]));
        assert!(cycles(second).contains(&[b, a, hinge.opposite[1]]));
    }
    let tetrahedron = SolidMesh::block([1.0; 3], [1, 1, 1]).expect("it is small");
    // Twelve of the cube, six across its faces, one through it.
    assert_eq!(tetrahedron.edges().len(), 19);
}
