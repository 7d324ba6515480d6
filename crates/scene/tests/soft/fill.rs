//! Solids that fill closed surfaces.

use std::f64::consts::{PI, TAU};

use pullback_scene::soft::{Gear, SheetMesh, SolidMesh};

use crate::common::{Chance, close, good_solid};

/// The angles that isosurface stuffing leaves [degrees].
fn good_angles(solid: &SolidMesh) {
    let [least, most] = solid.dihedral_angles().map(f64::to_degrees);
    assert!(least > 10.7 && most < 164.8, "{least}° to {most}°");
}

/// A ring about z: radii to the middle of the tube, and of the tube [m].
fn torus(ring: f64, tube: f64, around: u32, across: u32) -> SheetMesh {
    let place = |i: u32, j: u32| {
        let (u, v) = (TAU * f64::from(i) / f64::from(around), TAU * f64::from(j) / f64::from(across));
        let out = ring + tube * v.cos();
        [out * u.cos(), out * u.sin(), tube * v.sin()]
    };
    let points = (0..around).flat_map(|i| (0..across).map(move |j| place(i, j))).collect();
    let at = |i: u32, j: u32| i % around * across + j % across;
    let cells = (0..around).flat_map(|i| (0..across).map(move |j| (i, j)));
    let elements = cells
        .flat_map(|(i, j)| {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            [[a, b, c], [a, c, d]]
        })
        .collect();
    SheetMesh { points, elements }
}

#[test]
fn balls_converge_to_their_surface() {
    let sphere = SheetMesh::icosphere(1.0, 4).expect("it is small");
    let wanted = sphere.enclosed_volume();
    let mut errors = Vec::new();
    for cell in [0.4, 0.2, 0.1] {
        let ball = SolidMesh::filled(&sphere, cell).expect("it fits");
        good_solid(&ball, 2);
        good_angles(&ball);
        // The boundary is on the surface: on the sphere, or on a chord of it.
        for p in &ball.surface().mesh.points {
            let away = p.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(away < 1.0 + 1e-12 && away > 0.997, "{away}");
        }
        // About twelve for each cube.
        let cubes = wanted / cell.powi(3);
        assert!((9.0..16.0).contains(&(ball.elements.len() as f64 / cubes)));
        errors.push((wanted - ball.volume()).abs());
        assert_eq!(SolidMesh::filled(&sphere, cell), Ok(ball));
    }
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.6..2.6).contains(&order), "{order}: {errors:?}");
    }
    assert!(errors[2] < 0.005 * wanted, "{errors:?}");
}

#[test]
fn faces_on_the_lattice_are_kept_exactly() {
    let block = SolidMesh::block([1.0, 0.5, 0.75], [4, 2, 3]).expect("it is small").surface().mesh;
    let filled = SolidMesh::filled(&block, 0.25).expect("it fits");
    good_solid(&filled, 2);
    good_angles(&filled);
    close(filled.volume(), 0.375, 1e-12);
    close(filled.surface().mesh.area(), 2.0 * (0.5 + 0.375 + 0.75), 1e-12);
}

#[test]
fn rings_keep_their_hole() {
    let ring = torus(1.0, 0.4, 48, 24);
    ring.check().expect("it is good");
    let wanted = ring.enclosed_volume();
    close(wanted, 2.0 * PI * PI * 0.16, 0.02);
    let mut before = f64::INFINITY;
    for cell in [0.2, 0.1] {
        let filled = SolidMesh::filled(&ring, cell).expect("it fits");
        good_solid(&filled, 0);
        good_angles(&filled);
        let error = (filled.volume() - wanted).abs() / wanted;
        assert!(error < 0.5 * before && error < 0.05, "{error}");
        before = error;
    }
}

#[test]
fn turned_boxes_and_gears_lose_little_at_their_edges() {
    let turn = pullback_scene::robot::orientation::from_rpy([0.3, -0.5, 0.7]);
    let block =
        SolidMesh::block([1.0, 0.8, 0.6], [2, 2, 2]).expect("it is small").surface().mesh.turned(turn);
    let mut errors = Vec::new();
    for cell in [0.2, 0.1, 0.05] {
        let filled = SolidMesh::filled(&block, cell).expect("it fits");
        good_solid(&filled, 2);
        good_angles(&filled);
        errors.push(0.48 - filled.volume());
    }
    assert!(errors[2] > 0.0 && errors[2] < 0.012 * 0.48, "{errors:?}");
    assert!(errors[0] / errors[2] > 8.0, "{errors:?}");
    let gear = SolidMesh::gear(&Gear::default()).expect("it is good");
    let filled = SolidMesh::filled(&gear.surface().mesh, 0.05).expect("it fits");
    good_solid(&filled, 0);
    good_angles(&filled);
    close(filled.volume(), gear.volume(), 0.02);
}

#[test]
fn small_gaps_are_bridged() {
    let sphere = SheetMesh::icosphere(1.0, 3).expect("it is small");
    let whole = SolidMesh::filled(&sphere, 0.15).expect("it fits");
    let mut chance = Chance(3);
    let mut torn = sphere.clone();
    torn.elements.retain(|_| chance.next() > 0.03);
    let lost = sphere.elements.len() - torn.elements.len();
    assert!(lost > 20, "{lost}");
    let filled = SolidMesh::filled(&torn.tidied(), 0.15).expect("it fits");
    good_solid(&filled, 2);
    good_angles(&filled);
    close(filled.volume(), whole.volume(), 0.01);
    assert_ne!(filled, whole);
}

#[test]
fn surfaces_inside_each_other_leave_a_hollow() {
    let outer = SheetMesh::icosphere(1.0, 3).expect("it is small");
    let inner = SheetMesh::icosphere(0.5, 3).expect("it is small");
    // Inside out: mirrored, and wound as it was.
    let hollow =
        SheetMesh { elements: inner.elements.iter().map(|&[a, b, c]| [a, c, b]).collect(), ..inner.clone() };
    let shell = outer.joined(&hollow).expect("it is small");
    let filled = SolidMesh::filled(&shell, 0.12).expect("it fits");
    // Two spheres.
    good_solid(&filled, 4);
    good_angles(&filled);
    close(filled.volume(), outer.enclosed_volume() - inner.enclosed_volume(), 0.01);
}

#[test]
fn surfaces_that_are_no_sheets_have_an_inside_too() {
    // Two cubes with one edge in common, which four triangles share, and a triangle without area.
    let cube = SolidMesh::block([1.0; 3], [1, 1, 1]).expect("it is small").surface().mesh;
    let mut both =
        cube.joined(&cube.moved([1.0, 1.0, 0.0])).expect("it is small").welded(1e-9).expect("a distance");
    assert_eq!(both.points.len(), 14);
    assert!(both.check().expect_err("an edge is crowded").what.starts_with("4 triangles share the edge"));
    both.points.push([0.5, 0.5, 3.0]);
    both.elements.push([0, 14, 14]);
    let filled = SolidMesh::filled(&both, 0.25).expect("it fits");
    filled.check().expect("it is good");
    good_angles(&filled);
    close(filled.volume(), 2.0, 0.02);
}

#[test]
fn what_is_refused() {
    let sphere = SheetMesh::icosphere(1.0, 2).expect("it is small");
    let error =
        |surface: &SheetMesh, cell| SolidMesh::filled(surface, cell).expect_err("it is bad").to_string();
    for (cell, start) in [
        (0.0, "cell: the side of a cell is 0\n  fix: give a side of a cell of more than 0 [m]"),
        (f64::NAN, "cell: the number `NaN` is not finite"),
        (1e-3, "cell: "),
        (1e-300, "cell: 18446744073709551615 nodes of a lattice are too many\n  fix: use larger cells"),
        (f64::MIN_POSITIVE, "cell: 18446744073709551615 nodes"),
        (9.0, "cell: no tetrahedron of cells of 9 m fits into the surface\n  fix: use smaller cells"),
    ] {
        let found = error(&sphere, cell);
        assert!(found.starts_with(start), "{found}");
    }
    assert!(error(&sphere, 1e-3).contains("nodes of a lattice are too many"));
    let inside_out = SheetMesh {
        elements: sphere.elements.iter().map(|&[a, b, c]| [b, a, c]).collect(),
        ..sphere.clone()
    };
    assert!(error(&inside_out, 0.1).starts_with("surface: the surface encloses a volume of -"));
    let mut bad = sphere.clone();
    bad.elements[3][1] = 9999;
    assert!(error(&bad, 0.1).starts_with("elements[3][1]: there is no point 9999"));
    let mut against = sphere.clone();
    against.elements[3].swap(0, 1);
    assert!(error(&against, 0.1).contains("are wound against each other"));
    assert!(error(&SheetMesh::default(), 0.1).starts_with("elements: there are no triangles"));
}
