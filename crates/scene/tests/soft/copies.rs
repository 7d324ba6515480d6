//! Copies that are moved, turned, stretched and joined, of irregular meshes.

use pullback_scene::robot::{Placement, orientation};
use pullback_scene::soft::{BoundingBox, Diagonals, SheetMesh, SolidMesh};

use crate::common::{Chance, close, good_solid};

/// A block whose inner and outer points are moved by up to a tenth of a cell.
fn irregular(seed: u64) -> SolidMesh {
    let mut chance = Chance(seed);
    let cells = std::array::from_fn(|_| 1 + (3.0 * chance.next()) as usize);
    let mut block = SolidMesh::block(cells.map(|count| count as f64), cells).expect("it is small");
    for point in &mut block.points {
        let away = chance.vector();
        *point = std::array::from_fn(|i| point[i] + 0.1 * away[i]);
    }
    block
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn ten_irregular_solids() {
    for seed in 0..10 {
        let mut chance = Chance(seed + 100);
        let solid = irregular(seed);
        good_solid(&solid, 2);
        let by = chance.vector();
        let turn =
            orientation::normalised([chance.next(), chance.next(), -chance.next(), 1.0]).expect("it is none");
        let scale = [1.0 + chance.next(), 0.5, -2.0];
        let copies = [
            (solid.moved(by), 1.0),
            (solid.turned(turn), 1.0),
            (solid.placed(&Placement { position: by, orientation: turn }), 1.0),
            (solid.scaled(scale), scale[0]),
            (solid.scaled([-1.0; 3]), 1.0),
            (solid.scaled([2.0, 3.0, 4.0]), 24.0),
        ];
        for (copy, factor) in &copies {
            good_solid(copy, 2);
            close(copy.volume(), factor * solid.volume(), 1e-12);
        }
        // Turned and moved, all distances stay.
        let [moved, turned, placed] = [&copies[0].0, &copies[1].0, &copies[2].0];
        for pair in 1..solid.points.len() {
            let of = |mesh: &SolidMesh| distance(mesh.points[pair - 1], mesh.points[pair]);
            [moved, turned, placed].iter().for_each(|mesh| close(of(mesh), of(&solid), 1e-13));
        }
        assert_eq!(*placed, turned.moved(by));

        let joined = solid.joined(&moved.moved([100.0, 0.0, 0.0])).expect("it is small");
        joined.check().expect("it is good");
        close(joined.volume(), 2.0 * solid.volume(), 1e-11);
        let doubts: Vec<String> = joined.doubts().iter().map(ToString::to_string).collect();
        assert_eq!(doubts.len(), 1);
        let count = solid.elements.len();
        let start = format!(
            "elements[{count}]: the mesh has 2 parts that share no point; their first elements are 0 and {count}\n"
        );
        assert!(doubts[0].starts_with(&start), "{}", doubts[0]);
        assert_eq!(joined.elements[count], solid.elements[0].map(|at| at + solid.points.len() as u32));
        assert_eq!(joined.surface().mesh.elements.len(), 2 * solid.surface().mesh.elements.len());
    }
}

#[test]
fn joined_halves_are_welded() {
    let half = SolidMesh::block([1.0, 1.0, 1.0], [3, 3, 3]).expect("it is small");
    let apart = half.joined(&half.moved([1.0 + 1e-9, 0.0, 0.0])).expect("it is small");
    assert_eq!(apart.doubts().len(), 1);
    let whole = apart.welded(1e-6).expect("it is a distance");
    assert_eq!(whole.points.len(), 2 * 64 - 16);
    assert_eq!(whole.elements.len(), apart.elements.len());
    good_solid(&whole, 2);
    close(whole.volume(), 2.0, 1e-8);
    // Too near for that distance; exactly equal points for none.
    assert_eq!(apart.welded(1e-12).expect("it is a distance"), apart);
    let exact =
        half.joined(&half.moved([1.0, 0.0, 0.0])).expect("it is small").welded(0.0).expect("a distance");
    assert!(exact.points.len() <= 2 * 64);
    assert_eq!(half.joined(&half).expect("it is small").welded(0.0).expect("a distance").points, half.points);
    // Near to two that are apart from each other: the first has it, and stays where it is.
    let row = SheetMesh {
        points: vec![[0.0; 3], [1.5, 0.0, 0.0], [0.8, 0.0, 0.0], [0.0, 5.0, 0.0]],
        elements: vec![[2, 1, 3], [3, 2, 0]],
    };
    let welded = row.welded(1.0).expect("it is a distance");
    assert_eq!(welded.points, [row.points[0], row.points[1], row.points[3]]);
    assert_eq!(welded.elements, [[0, 1, 2]]);
    // All in one point: nothing is left.
    let none = half.welded(10.0).expect("it is a distance");
    assert_eq!((none.points.len(), none.elements.len()), (1, 0));
    let error = half.welded(-1.0).expect_err("it is negative").to_string();
    assert_eq!(error, "distance: the distance is -1\n  fix: give a distance of 0 or more [m]");
}

#[test]
fn what_is_held_fast() {
    let sheet = SheetMesh::sheet([2.0, 2.0], [4, 4], Diagonals::One).expect("it is small");
    assert_eq!(sheet.points_near_plane([1.0, 0.0, 0.0], [5.0, 0.0, 0.0], 1e-12), Ok(vec![4, 9, 14, 19, 24]));
    assert_eq!(sheet.points_near_plane([0.0; 3], [1.0, 1.0, 0.0], 1e-9), Ok(vec![4, 8, 12, 16, 20]));
    assert_eq!(sheet.points_near_plane([0.0; 3], [0.0, 0.0, 1e-300], 0.0).map(|all| all.len()), Ok(25));
    let within = BoundingBox { min: [-1.0, 0.4, 0.0], max: [-0.5, 0.5, 0.0] };
    assert_eq!(sheet.points_in_box(&within), [15, 16]);
    assert_eq!(within.sides(), [0.5, 0.5 - 0.4, 0.0]);
    let nowhere = BoundingBox { min: [1.0; 3], max: [-1.0; 3] };
    assert_eq!(sheet.points_in_box(&nowhere), Vec::<u32>::new());
    let error =
        sheet.points_near_plane([0.0; 3], [0.0; 3], 1.0).expect_err("it has no direction").to_string();
    assert_eq!(
        error,
        "normal: the normal [0.0, 0.0, 0.0] has no direction\n  fix: give one such as [0, 0, 1]"
    );
}
