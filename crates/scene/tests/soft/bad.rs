//! Meshes and sizes that are refused, with their messages.

use pullback_scene::Invalid;
use pullback_scene::soft::{Cut, Diagonals, Gear, Mesh, SheetMesh, SolidMesh};

fn says<T: std::fmt::Debug>(found: Result<T, Invalid>, wanted: &str) {
    assert_eq!(found.expect_err("it is bad").to_string(), wanted);
}

fn block() -> SolidMesh {
    SolidMesh::block([1.0; 3], [2, 2, 2]).expect("it is small")
}

fn sheet() -> SheetMesh {
    SheetMesh::sheet([1.0; 2], [2, 2], Diagonals::One).expect("it is small")
}

#[test]
fn sizes() {
    says(
        SolidMesh::block([1.0, 0.0, 1.0], [1; 3]),
        "sides[1]: the length is 0\n  fix: give a length of more than 0 [m]",
    );
    says(
        SolidMesh::block([1.0, -2.0, 1.0], [1; 3]),
        "sides[1]: the length is -2\n  fix: give a length of more than 0 [m]",
    );
    says(
        SolidMesh::block([f64::NAN; 3], [1; 3]),
        "sides[0]: the number `NaN` is not finite\n  fix: write a finite number",
    );
    says(SolidMesh::block([1.0; 3], [1, 2, 0]), "cells[2]: the number of cells is 0\n  fix: write 1 or more");
    says(
        SolidMesh::beam(1.0, 1.0, 0.0, [1; 3]),
        "height: the length is 0\n  fix: give a length of more than 0 [m]",
    );
    says(
        SheetMesh::sheet([1.0; 2], [0, 1], Diagonals::One),
        "cells[0]: the number of cells is 0\n  fix: write 1 or more",
    );
    says(SheetMesh::walker(-1.0), "side: the length is -1\n  fix: give a length of more than 0 [m]");
    says(SheetMesh::icosphere(0.0, 1), "radius: the radius is 0\n  fix: give a radius of more than 0 [m]");
    says(SolidMesh::icosphere(1.0, 1, 0), "layers: the number of layers is 0\n  fix: write 1 or more");
    let gear = Gear::default();
    says(
        SolidMesh::gear(&Gear { teeth: 2, ..gear }),
        "teeth: the number of teeth is 2\n  fix: write 3 or more",
    );
    says(
        SolidMesh::gear(&Gear { rings: 0, ..gear }),
        "rings: the number of rings is 0\n  fix: write 1 or more",
    );
    says(
        SolidMesh::gear(&Gear { thickness: 0.0, ..gear }),
        "thickness: the length is 0\n  fix: give a length of more than 0 [m]",
    );
    says(
        SolidMesh::gear(&Gear { root: 1.0, ..gear }),
        "root: the radii 0.4, 1 and 1 of bore, root and tip do not grow\n  \
         fix: give a bore below the root, and a root below the tip",
    );
}

#[test]
fn huge_counts() {
    let fix = "\n  fix: use at most 10000000 in a scene";
    let most = usize::MAX;
    says(
        SolidMesh::block([1.0; 3], [1000, 1000, 10]),
        &format!("cells: 60000000 tetrahedra are too many{fix}"),
    );
    for cells in [[most; 3], [most, 1, 1], [1, most, 1], [1, 1, most], [most / 6, 1, 1], [1 << 40; 3]] {
        for cut in [Cut::Six, Cut::Five] {
            let found = SolidMesh::block_cut([1.0; 3], cells, cut).expect_err("it is huge").to_string();
            assert!(found.starts_with("cells: ") && found.ends_with(fix), "{found}");
        }
    }
    // Few cells, and more points than are allowed.
    says(
        SolidMesh::block_cut([1.0; 3], [1, 1, 1_999_999], Cut::Six),
        &format!("cells: 11999994 tetrahedra are too many{fix}"),
    );
    says(
        SheetMesh::sheet([1.0; 2], [1, 5_000_000], Diagonals::One),
        &format!("cells: 10000002 points are too many{fix}"),
    );
    says(
        SheetMesh::sheet([1.0; 2], [most, 2], Diagonals::One),
        &format!("cells: {most} triangles are too many{fix}"),
    );
    says(SheetMesh::icosphere(1.0, 10), &format!("subdivisions: 20971520 triangles are too many{fix}"));
    says(SheetMesh::icosphere(1.0, most), &format!("subdivisions: {most} triangles are too many{fix}"));
    says(SolidMesh::icosphere(1.0, 9, 2), &format!("layers: 20971520 tetrahedra are too many{fix}"));
    says(SolidMesh::icosphere(1.0, 0, most), &format!("layers: {most} tetrahedra are too many{fix}"));
    let gear = Gear { teeth: most, rings: most, layers: most, ..Gear::default() };
    says(SolidMesh::gear(&gear), &format!("teeth: {most} tetrahedra are too many{fix}"));
    // As a mesh in code.
    let many = SheetMesh { points: vec![[0.0; 3]], elements: vec![[0; 3]; 10_000_001] };
    says(many.check(), &format!("elements: 10000001 triangles are too many{fix}"));
    let half = Mesh { points: vec![[0.0; 3]; 6_000_000], elements: vec![[0u32; 3]] };
    says(half.joined(&half), &format!("points: 12000000 points are too many{fix}"));
}

#[test]
fn numbers_of_points() {
    let mut mesh = block();
    mesh.elements[5][2] = 27;
    says(
        mesh.check(),
        "elements[5][2]: there is no point 27: there are 27\n  fix: points are counted from 0",
    );
    let mut mesh = sheet();
    mesh.elements[7][0] = u32::MAX;
    says(
        mesh.check(),
        "elements[7][0]: there is no point 4294967295: there are 9\n  fix: points are counted from 0",
    );
    let mut mesh = block();
    mesh.points[3][1] = f64::INFINITY;
    says(mesh.check(), "points[3][1]: the number `inf` is not finite\n  fix: write a finite number");
    says(SolidMesh::default().check(), "elements: there are no tetrahedra\n  fix: give at least one");
    says(SheetMesh::default().check(), "elements: there are no triangles\n  fix: give at least one");
}

#[test]
fn flat_elements() {
    let fix = "\n  fix: move their corners apart, or remove them";
    let mut mesh = block();
    let [a, b, ..] = mesh.elements[9];
    mesh.elements[9] = [a, b, a, b];
    says(mesh.check(), &format!("elements[9]: 1 of 48 tetrahedra is without volume: 9{fix}"));
    // Nearly flat: a billionth of a millionth of its length.
    let mut flat = SolidMesh {
        points: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, 1e-15]],
        elements: vec![[0, 1, 2, 3]],
    };
    says(flat.check(), &format!("elements[0]: 1 of 1 tetrahedra is without volume: 0{fix}"));
    // A plate a hundred thousand times as wide as thick is none, at any size.
    for size in [1e-60, 1.0, 1e60] {
        flat.points[3][2] = 1e-5;
        flat.scaled([size; 3]).check().expect("it is thin, and good");
    }
    says(
        flat.scaled([1e150; 3]).check(),
        &format!("elements[0]: 1 of 1 tetrahedra is without volume: 0{fix}"),
    );
    let all = block().scaled([1.0, 0.0, 1.0]);
    says(
        all.check(),
        &format!(
            "elements[0]: 48 of 48 tetrahedra are without volume: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 36 more{fix}"
        ),
    );
    let mut mesh = sheet();
    mesh.points[4] = mesh.points[0];
    says(mesh.check(), &format!("elements[0]: 2 of 8 triangles are without area: 0 and 1{fix}"));
}

#[test]
fn inverted_tetrahedra_are_counted_and_mended() {
    let mut mesh = block();
    let good = mesh.clone();
    for at in [3, 17, 40] {
        mesh.elements[at].swap(2, 3);
    }
    says(
        mesh.check(),
        "elements[3]: 3 of 48 tetrahedra are inverted: 3, 17 and 40\n  fix: exchange two corners of each; in code, `fixed_winding()` does",
    );
    assert_eq!(mesh.fixed_winding(), good);
    assert_eq!(good.clone().fixed_winding(), good);
}

#[test]
fn crowded_and_overlapping_sides() {
    let mut mesh = block();
    mesh.elements.push(mesh.elements[7]);
    mesh.elements.push(mesh.elements[7]);
    let found = mesh.check().expect_err("it is bad").to_string();
    assert!(found.contains(" tetrahedra share the side [") && found.contains("7, 48 and 49"), "{found}");
    assert!(found.ends_with("fix: let at most two tetrahedra share one side"), "{found}");
    // Both above the triangle that they share.
    let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.2, 0.2, 2.0]];
    let folded = SolidMesh { points, elements: vec![[0, 1, 2, 3], [0, 1, 2, 4]] };
    says(
        folded.check(),
        "elements[1]: tetrahedra 0 and 1 are on the same side of the one that they share: they overlap\n  \
         fix: move the points of one of the two, or remove it",
    );
    // A page too many in a book.
    let mut book = sheet();
    book.points.push([0.5, 0.5, 1.0]);
    book.elements.push([0, 4, 9]);
    says(
        book.check(),
        "elements[8]: 3 triangles share the edge [0, 4]: 0, 1 and 8\n  fix: let at most two triangles share one edge",
    );
    says(
        book.fixed_winding(),
        "elements[8]: 3 triangles share the edge [0, 4]: 0, 1 and 8\n  fix: let at most two triangles share one edge",
    );
}

#[test]
fn sheets_wound_against_each_other() {
    let mut mesh = sheet();
    let good = mesh.clone();
    let fix = "\n  fix: turn one of the two round; in code, `fixed_winding()` does until neighbours agree";
    // In a corner, at an edge, and inside: it has 1, 2 or 3 neighbours.
    for (wrong, pair, more) in [
        (2, "2 and 3", ""),
        (1, "0 and 1", "; so it is with 1 more pair"),
        (3, "0 and 3", "; so it is with 2 more pairs"),
    ] {
        mesh = good.clone();
        mesh.elements[wrong].swap(0, 1);
        let at = pair.split(' ').next_back().expect("there are two");
        says(
            mesh.check(),
            &format!("elements[{at}]: triangles {pair} are wound against each other{more}{fix}"),
        );
    }
    let mended = mesh.fixed_winding().expect("it has two sides");
    mended.check().expect("it is mended");
    let sorted = |mesh: &SheetMesh| {
        mesh.elements
            .iter()
            .map(|e| {
                let mut e = *e;
                e.sort_unstable();
                e
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(sorted(&mended), sorted(&good));
    assert_eq!(good.clone().fixed_winding(), Ok(good));
    // A Möbius strip of five cells: its end is sewn to its start the other way round.
    let at = |i: u32, up: u32| if i < 5 { 2 * i + up } else { 1 - up };
    let elements = (0..5)
        .flat_map(|i| [[at(i, 0), at(i + 1, 0), at(i + 1, 1)], [at(i, 0), at(i + 1, 1), at(i, 1)]])
        .collect();
    let place = |at: u32| {
        let (turn, side) = (0.4 * std::f64::consts::PI * f64::from(at / 2), f64::from(at % 2) - 0.5);
        let out = 2.0 + side * (0.5 * turn).cos();
        [out * turn.cos(), out * turn.sin(), side * (0.5 * turn).sin()]
    };
    let strip = SheetMesh { points: (0..10).map(place).collect(), elements };
    assert!(strip.check().expect_err("it has one side").what.contains("are wound against each other"));
    let found = strip.fixed_winding().expect_err("it has one side").to_string();
    assert!(found.contains("the sheet has only one side"), "{found}");
}

#[test]
fn doubts() {
    let mut mesh = sheet();
    mesh.points.extend([[5.0; 3], [6.0; 3]]);
    let found: Vec<String> = mesh.doubts().iter().map(ToString::to_string).collect();
    assert_eq!(found, ["points[9]: 2 points are in no element: 9 and 10\n  fix: `tidied()` leaves them out"]);
    assert_eq!(mesh.tidied(), sheet());
    let mut mesh = sheet();
    mesh.points.insert(0, [5.0; 3]);
    mesh.elements.iter_mut().flatten().for_each(|at| *at += 1);
    assert_eq!(mesh.doubts().len(), 1);
    assert!(mesh.doubts()[0].what.starts_with("1 point is in no element: 0"));
    assert_eq!(mesh.tidied(), sheet());
    assert_eq!(sheet().doubts(), []);
}
