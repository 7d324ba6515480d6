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

/// What is said of a mesh that is good, in words.
fn doubts_of(all: Vec<Invalid>) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

#[test]
fn points_in_no_element_and_parts() {
    let fix = "\n  fix: leave out what is in no element; in code, `tidied()` does";
    let mut mesh = sheet();
    mesh.points.extend([[5.0; 3], [6.0; 3]]);
    assert_eq!(doubts_of(mesh.doubts()), [format!("points[9]: 2 points are in no element: 9 and 10{fix}")]);
    assert_eq!(mesh.tidied(), sheet());
    let mut mesh = sheet();
    mesh.points.insert(0, [5.0; 3]);
    mesh.elements.iter_mut().flatten().for_each(|at| *at += 1);
    assert_eq!(doubts_of(mesh.doubts()), [format!("points[0]: 1 point is in no element: 0{fix}")]);
    assert_eq!(mesh.tidied(), sheet());
    assert_eq!(sheet().doubts(), []);
    let two = block().joined(&block().moved([3.0, 0.0, 0.0])).expect("it is small");
    assert_eq!(
        doubts_of(two.doubts()),
        ["elements[48]: the mesh has 2 parts that share no point; their first elements are 0 and 48\n  \
          fix: let parts share points where they are to hold, or move apart; in code, `welded()` makes one of points in one place"]
    );
}

/// Sheets that hang together by a point turn about it as they like, with no hinge to hold them.
#[test]
fn triangles_that_share_a_point_alone() {
    let fix = "\n  fix: let them share an edge, or give each a point of its own, unless they are to turn about that point";
    // Two sheets of which the last point of one is the first of the other.
    let two = |n: usize| {
        let sheet = SheetMesh::sheet([1.0; 2], [n, n], Diagonals::One).expect("it is small");
        sheet.joined(&sheet.moved([1.0, 1.0, 0.0])).expect("it is small").welded(1e-9).expect("a distance")
    };
    let mesh = two(2);
    assert_eq!((mesh.points.len(), mesh.elements.len()), (17, 16));
    mesh.check().expect("it can be simulated");
    let wanted = format!("elements[8]: triangles hang together by 1 point: 8 (triangles 6 and 8){fix}");
    assert_eq!(doubts_of(mesh.doubts()), [wanted]);
    // Three sheets in a chain have two such points.
    let chain =
        mesh.joined(&sheet().moved([2.0, 2.0, 0.0])).expect("it is small").welded(1e-9).expect("a distance");
    assert_eq!(
        doubts_of(chain.doubts()),
        [format!(
            "elements[8]: triangles hang together by 2 points: 8 (triangles 6 and 8) and 16 (triangles 14 and 16){fix}"
        )]
    );
    // Three fans about one point; the winding of each is its own.
    let star = SheetMesh {
        points: (0..7u32)
            .map(|i| {
                let (away, turn) = (f64::from(i.min(1)), f64::from(i));
                [away * turn.cos(), away * turn.sin(), 0.0]
            })
            .collect(),
        elements: vec![[0, 1, 2], [3, 4, 0], [5, 0, 6]],
    };
    let wanted = format!("elements[2]: triangles hang together by 1 point: 0 (triangles 0, 1 and 2){fix}");
    assert_eq!(doubts_of(star.doubts()), [wanted]);
    // A fan that closes about a point, and a cone on it: both go round it once.
    let mut tops = SheetMesh::icosphere(1.0, 1).expect("it is small");
    let top = (0..tops.points.len())
        .max_by(|&a, &b| tops.points[a][2].total_cmp(&tops.points[b][2]))
        .expect("points");
    tops = tops
        .joined(&tops.moved([0.0, 0.0, 2.0 * tops.points[top][2]]))
        .expect("small")
        .welded(1e-9)
        .expect("a distance");
    let found = doubts_of(tops.doubts());
    assert!(found.len() == 1 && found[0].contains(&format!("{top} (triangles ")), "{found:?}");
    // One of each: what is loose is told apart.
    let mut all = two(1).joined(&sheet().moved([5.0; 3])).expect("it is small");
    all.points.push([9.0; 3]);
    assert_eq!(all.doubts().len(), 3);
}

/// The same of solids: what holds them is tetrahedra that share a side.
#[test]
fn tetrahedra_that_share_an_edge_or_a_point_alone() {
    let cube = SolidMesh::block([1.0; 3], [1; 3]).expect("it is small");
    let with = |by: [f64; 3]| {
        let both = cube.joined(&cube.moved(by)).expect("it is small").welded(1e-9).expect("a distance");
        both.check().expect("it can be simulated");
        (both.points.len(), doubts_of(both.doubts()))
    };
    let (points, found) = with([1.0, 1.0, 0.0]);
    assert_eq!(points, 14);
    assert_eq!(
        found,
        ["elements[10]: the surface touches itself at 1 edge: [3, 7] (tetrahedra 0, 3, 8 and 10)\n  \
          fix: let tetrahedra share a side there, or give each points of its own, unless they are to turn about that edge"]
    );
    let (points, found) = with([1.0; 3]);
    assert_eq!(points, 15);
    assert_eq!(
        found,
        ["elements[6]: the surface touches itself at 1 point: 7 (tetrahedra 0 and 6)\n  \
          fix: let tetrahedra share a side there, or give each a point of its own, unless they are to turn about that point"]
    );
    assert_eq!(with([1.0, 0.0, 0.0]), (12, vec![]));
    // Numbers are those of the solid, and not of its surface: a point inside comes before.
    let block = SolidMesh::block([2.0; 3], [2; 3]).expect("it is small");
    let pinched = block.joined(&block.moved([2.0; 3])).expect("small").welded(1e-9).expect("a distance");
    let found = doubts_of(pinched.doubts());
    assert!(found.len() == 1 && found[0].contains("at 1 point: 26 (tetrahedra "), "{found:?}");
    // A ring whose hole closes to a point: all tetrahedra hang together by their sides, and yet the surface touches itself.
    let mut ring = SolidMesh::block([4.0, 4.0, 1.0], [4, 4, 1]).expect("it is small");
    ring.elements.retain(|element| {
        let middle = |i: usize| element.iter().map(|&at| ring.points[at as usize][i]).sum::<f64>() / 4.0;
        middle(0).abs() > 1.0 || middle(1).abs() > 1.0
    });
    ring = ring.tidied();
    assert_eq!(ring.doubts(), []);
    let at = |place: [f64; 3]| {
        let near = |p: &[f64; 3]| (0..3).all(|i| (p[i] - place[i]).abs() < 1e-9);
        ring.points.iter().position(near).expect("it is there")
    };
    let [corner, across] = [at([-1.0, -1.0, 0.5]), at([1.0, 1.0, 0.5])];
    ring.points[corner] = [0.0, 0.0, 1.0];
    ring.elements
        .iter_mut()
        .flatten()
        .filter(|at| **at as usize == across)
        .for_each(|at| *at = corner as u32);
    ring.check().expect("it can be simulated");
    let found = ring.tidied().doubts();
    assert!(
        found.len() == 1 && found[0].what.starts_with("the surface touches itself at 1 point"),
        "{found:?}"
    );
}
