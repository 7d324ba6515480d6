//! The table of pairs in docs/contact-shapes.md says what the code does.

mod common;

use std::collections::BTreeMap;

use common::{grounds, solids};
use pullback_geometry::{Kind, Pair};

fn kinds() -> Vec<Kind> {
    let mut kinds = vec![Kind::Plane];
    kinds.extend(solids());
    kinds.extend(grounds().map(|(kind, _)| kind));
    kinds
}

#[test]
fn the_table_has_every_pair() {
    let document = include_str!("../../../docs/contact-shapes.md");
    let (_, table) = document.split_once("| pair | points | features | how |").expect("the table of pairs");
    let mut rows = BTreeMap::new();
    for line in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let points: usize = cells[2].parse().expect("how many points");
        rows.insert(cells[1].to_owned(), (points, cells[3] == "fixed"));
    }
    let kinds = kinds();
    let mut found = BTreeMap::new();
    for (i, a) in kinds.iter().enumerate() {
        for b in &kinds[i..] {
            let (pair, back) = (Pair::new(a, b), Pair::new(b, a));
            assert_eq!(pair.is_some(), back.is_some());
            let Some(pair) = pair else { continue };
            let name = |a: &Kind, b: &Kind| format!("{}-{}", a.name(), b.name());
            // The table has a pair once, in either order.
            let name = if rows.contains_key(&name(b, a)) { name(b, a) } else { name(a, b) };
            found.insert(name, (pair.slots(), pair.fixed()));
        }
    }
    assert_eq!(found, rows);
}

#[test]
fn sizes_are_as_many_as_said() {
    for (ground, sizes) in grounds() {
        assert_eq!(ground.sizes(), sizes.len());
        assert!(ground.bounding_radius(&sizes).is_infinite());
    }
    assert_eq!(solids().iter().map(Kind::sizes).take(5).collect::<Vec<_>>(), [1, 2, 2, 3, 3]);
    assert_eq!(Kind::Capsule.bounding_radius(&[0.25, 0.5]), 0.75);
    // The polyhedra that stand in for round shapes reach beyond them.
    let a_little_over = |radius: f64, truth: f64| (truth..1.012 * truth).contains(&radius);
    assert!(a_little_over(Kind::Cylinder.bounding_radius(&[3.0, 4.0]), 5.0));
    assert_eq!(Kind::Box.bounding_radius(&[1.0, 2.0, 2.0]), 3.0);
    assert!(a_little_over(Kind::Ellipsoid.bounding_radius(&[1.0, 3.0, 2.0]), 3.0));
}
