//! Corners that have moved: contacts by the corners of a feature alone, and ground that is found where it is now.

use crate::common::{
    GRID, Placed, Random, contact, contact_of, features, grid_triangles, ground_state, grounds, pullback_of,
    solids, state,
};
use pullback_geometry::{Contact, Corners, Kind, Pair, Surface};
use pullback_kernel::prelude::*;

/// How many numbers of a shape are given for each corner.
fn numbers(kind: &Kind) -> Option<usize> {
    match kind {
        Kind::Hull(_) | Kind::Surface(_) => Some(3),
        Kind::Heights(_) => Some(1),
        _ => None,
    }
}

/// The sizes of some corners, and which they are; of other kinds all.
fn gathered(kind: &Kind, sizes: &[f64], corners: Corners) -> (Vec<f64>, Corners) {
    let Some(n) = numbers(kind) else { return (sizes.to_vec(), Corners::ALL) };
    let some = corners.list().iter().flat_map(|&i| sizes[n * i as usize..n * (i as usize + 1)].to_vec());
    (some.collect(), corners)
}

/// Back to where they belong.
fn scattered(kind: &Kind, all: usize, some: &[f64], corners: &Corners) -> Vec<f64> {
    let Some(n) = numbers(kind) else { return some.to_vec() };
    let mut out = vec![0.0; all];
    for (from, &i) in some.chunks(n).zip(corners.list()) {
        out[n * i as usize..n * (i as usize + 1)].copy_from_slice(from);
    }
    out
}

const NO_POSE: Pose = Pose {
    rotation: Mat3 {
        x: Vec3 { x: 0.0, y: 0.0, z: 0.0 },
        y: Vec3 { x: 0.0, y: 0.0, z: 0.0 },
        z: Vec3 { x: 0.0, y: 0.0, z: 0.0 },
    },
    position: Vec3 { x: 0.0, y: 0.0, z: 0.0 },
};

/// Contacts, and their pullbacks, from the corners of a feature alone are the same to the last bit.
fn check(a: &Kind, b: &Kind, mut states: impl FnMut() -> [Placed; 2]) -> usize {
    let pair = Pair::new(a, b).expect("a pair");
    let mut checked = 0;
    for _ in 0..60 {
        let at = states();
        for feature in features(&pair, &at, 0.3) {
            let [of_a, of_b] = pair.corners(feature);
            let (some_a, of_a) = gathered(a, &at[0].sizes, of_a);
            let (some_b, of_b) = gathered(b, &at[1].sizes, of_b);
            let corners = [of_a, of_b];
            let some = [(&at[0].pose, &some_a[..]), (&at[1].pose, &some_b[..])];
            let whole = contact(&pair, feature, &at);
            assert_eq!(contact_of(&pair, feature, some, &corners), whole);

            let normal = Vec3 { x: 0.3, y: -0.7, z: 0.2 };
            let bar = Contact { point: Vec3 { x: 1.0, y: -2.0, z: 0.5 }, normal, gap: 1.5 };
            let mut poses = [NO_POSE; 4];
            let [p0, p1, p2, p3] = &mut poses;
            let (mut s0, mut s1) = (vec![0.0; at[0].sizes.len()], vec![0.0; at[1].sizes.len()]);
            let into = [(p0, &mut s0[..]), (p1, &mut s1[..])];
            pullback_of(&pair, feature, at.each_ref().map(Placed::at), &[Corners::ALL; 2], &bar, into);
            let (mut t0, mut t1) = (vec![0.0; some_a.len()], vec![0.0; some_b.len()]);
            pullback_of(&pair, feature, some, &corners, &bar, [(p2, &mut t0), (p3, &mut t1)]);
            assert_eq!(poses[..2], poses[2..]);
            assert_eq!(scattered(a, s0.len(), &t0, &corners[0]), s0);
            assert_eq!(scattered(b, s1.len(), &t1, &corners[1]), s1);
            checked += 1;
        }
    }
    checked
}

#[test]
fn a_contact_reads_the_corners_of_its_feature() {
    let mut random = Random::seeded(11);
    let mut checked = 0;
    for a in solids() {
        for b in solids().into_iter().chain([Kind::Plane]) {
            checked += check(&a, &b, || state([&a, &b], &mut random));
            checked += check(&b, &a, || state([&b, &a], &mut random));
        }
        for (ground, sizes) in grounds() {
            checked += check(&a, &ground, || ground_state(&a, &sizes, &mut random));
            checked += check(&ground, &a, || {
                let [of_a, of_ground] = ground_state(&a, &sizes, &mut random);
                [of_ground, of_a]
            });
        }
    }
    assert!(checked > 5000, "{checked}");
}

/// Triangles whose corners have moved by more than shapes are large touch as if they had been made where they are.
#[test]
fn ground_that_has_moved_is_found() {
    let mut random = Random::seeded(12);
    let [_, (made, sizes)] = match grounds() {
        [a, b] if matches!(b.0, Kind::Surface(_)) => [a, b],
        [a, b] => [b, a],
    };
    let mut touched = 0;
    for kind in solids() {
        for _ in 0..60 {
            let shift = random.vec3() * 3.0;
            let moved: Vec<f64> = sizes
                .chunks(3)
                .flat_map(|c| {
                    let by = random.vec3() * 0.05 + shift;
                    [c[0] + by.x, c[1] + by.y, c[2] + by.z]
                })
                .collect();
            let corners: Vec<Vec3> = moved.chunks(3).map(|c| Vec3 { x: c[0], y: c[1], z: c[2] }).collect();
            let now = Kind::Surface(Surface::new(&corners, &grid_triangles(GRID)).expect("triangles").into());
            let mut at = ground_state(&kind, &moved, &mut random);
            at[0].pose.position = at[0].pose.position + at[1].pose.rotation * shift;
            let [old, new] = [&made, &now].map(|ground| {
                let pair = Pair::new(&kind, ground).expect("a pair");
                features(&pair, &at, 0.05)
            });
            assert_eq!(old, new, "{}", kind.name());
            touched += usize::from(!new.is_empty());
        }
    }
    assert!(touched > 100, "{touched}");
}
