//! The broad phase against all pairs, and boxes against the shapes that they hold.

mod common;

use std::time::Instant;

use common::{Placed, Random, features, ground_state, grounds, solids, stand_in, state};
use pullback_geometry::{Bounds, Broad, Kind, Pair};
use pullback_kernel::prelude::*;

fn all_pairs(boxes: &[Bounds], may_touch: impl Fn(u32, u32) -> bool) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for (i, a) in boxes.iter().enumerate() {
        for (j, b) in boxes.iter().enumerate().skip(i + 1) {
            let meet = (0..3).all(|k| a.low[k] <= b.high[k] && b.low[k] <= a.high[k]);
            if meet && may_touch(i as u32, j as u32) {
                pairs.push([i as u32, j as u32]);
            }
        }
    }
    pairs
}

/// Boxes of sides up to 1 in a cube that leaves each some three neighbours.
fn random_boxes(random: &mut Random, count: usize) -> Vec<Bounds> {
    let room = 0.4 * (count as f64).cbrt();
    let one = |random: &mut Random| {
        let low = [0; 3].map(|_| room * random.next());
        Bounds { low, high: low.map(|x| x + random.within(0.2, 1.0)) }
    };
    (0..count).map(|_| one(random)).collect()
}

/// Bad and strange boxes among others.
fn spoil(boxes: &mut [Bounds], random: &mut Random) {
    let values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.0, -0.0, f64::MIN_POSITIVE];
    for i in 0..boxes.len() {
        match (8.0 * random.next()).abs() as usize {
            0 => boxes[i].low[i % 3] = values[(8.0 * random.next()).abs() as usize],
            1 => boxes[i].high[i % 3] = values[(8.0 * random.next()).abs() as usize],
            2 => boxes[i] = boxes[i / 2],
            3 => boxes[i].high = boxes[i].low,
            4 if i % 5 == 0 => {
                boxes[i] = Bounds { low: [f64::NEG_INFINITY; 3], high: [f64::INFINITY; 3] };
            }
            5 if i % 5 == 0 => boxes[i].low = boxes[i].low.map(|x| x - 20.0),
            _ => {}
        }
    }
}

#[test]
fn all_pairs_are_found_in_order() {
    let mut random = Random::seeded(1);
    let mut found = 0;
    for round in 0..200 {
        let count = (300.0 * random.next()).abs() as usize;
        let mut boxes = random_boxes(&mut random, count);
        if round % 2 == 0 {
            spoil(&mut boxes, &mut random);
        }
        let filter = |i: u32, j: u32| round % 3 != 0 || !(i + j).is_multiple_of(3);
        let mut broad = Broad::default();
        let truth = all_pairs(&boxes, filter);
        assert_eq!(broad.pairs(&boxes, filter), truth);
        found += truth.len();
    }
    assert!(found > 10_000, "{found}");
}

/// One that has seen other boxes, more or fewer, bad ones and far ones, finds what a new one does.
#[test]
fn history_changes_nothing() {
    let mut random = Random::seeded(2);
    let mut broad = Broad::new(10, 10);
    let mut boxes = Vec::new();
    for round in 0..300 {
        if round % 20 == 0 {
            let count = (200.0 * random.next()).abs() as usize;
            boxes = random_boxes(&mut random, count);
        }
        let mut now = boxes.clone();
        for bounds in &mut now {
            let by = random.next() * if round % 7 == 0 { 5.0 } else { 0.05 };
            bounds.low[round % 3] += by;
            bounds.high[round % 3] += by;
        }
        if round % 5 == 0 {
            spoil(&mut now, &mut random);
        }
        let truth = all_pairs(&now, |_, _| true);
        assert_eq!(broad.pairs(&now, |_, _| true), truth);
        boxes = if round % 5 == 0 { boxes } else { now };
    }
}

/// One bad box takes away no pair of others.
#[test]
fn a_nan_is_in_no_pair() {
    let one = |x: f64| Bounds { low: [x, 0.0, 0.0], high: [x + 1.0, 1.0, 1.0] };
    let mut boxes = vec![one(0.0), one(0.5), one(0.7)];
    boxes[1].high[2] = f64::NAN;
    let mut broad = Broad::default();
    assert_eq!(broad.pairs(&boxes, |_, _| true), [[0, 2]]);
    assert!(broad.pairs(&[], |_, _| true).is_empty());
    assert!(broad.pairs(&[Bounds::NONE; 3], |_, _| true).is_empty());
}

/// Times for what a step does: all boxes move a little. Printed, not judged.
#[test]
fn times() {
    for count in [1000, 5000] {
        let mut random = Random::seeded(3);
        let mut boxes = random_boxes(&mut random, count);
        let mut broad = Broad::new(count, 20 * count);
        let mut seconds = [0.0; 2];
        let (steps, mut pairs) = (50, 0);
        for step in 0..=steps {
            for bounds in &mut boxes {
                let by = 0.02 * random.next();
                bounds.low[step % 3] += by;
                bounds.high[step % 3] += by;
            }
            let start = Instant::now();
            pairs = broad.pairs(&boxes, |_, _| true).len();
            let first = usize::from(step > 0);
            seconds[first] += start.elapsed().as_secs_f64();
        }
        let (new, kept) = (1e3 * seconds[0], 1e3 * seconds[1] / steps as f64);
        println!("{count} boxes, {pairs} pairs: {new:.3} ms for the first time, then {kept:.3} ms");
    }
}

/// Points of a shape's surface in its frame; of a round one, also the corners that stand in for it.
fn points(kind: &Kind, s: &[f64], random: &mut Random) -> Vec<Vec3> {
    let mut points = Vec::new();
    for _ in 0..2000 {
        let n = normalize(random.vec3());
        let across = n.x.hypot(n.y);
        points.push(match kind {
            Kind::Sphere => n * s[0],
            Kind::Capsule => n * s[0] + Vec3 { x: 0.0, y: 0.0, z: s[1].copysign(n.z) },
            Kind::Cylinder => Vec3 { x: s[0] * n.x / across, y: s[0] * n.y / across, z: s[1].copysign(n.z) },
            Kind::Box => Vec3 { x: s[0].copysign(n.x), y: s[1].copysign(n.y), z: s[2].copysign(n.z) },
            _ => Vec3 { x: s[0] * n.x, y: s[1] * n.y, z: s[2] * n.z },
        });
    }
    if let Kind::Cylinder | Kind::Ellipsoid = kind {
        points.extend(stand_in(kind, s));
    }
    if let Kind::Hull(_) = kind {
        points = s.chunks(3).map(|c| Vec3 { x: c[0], y: c[1], z: c[2] }).collect();
    }
    points
}

fn around(points: impl Iterator<Item = Vec3>) -> Bounds {
    points.fold(Bounds::NONE, |mut bounds, p| {
        for (k, x) in [p.x, p.y, p.z].into_iter().enumerate() {
            bounds.low[k] = bounds.low[k].min(x);
            bounds.high[k] = bounds.high[k].max(x);
        }
        bounds
    })
}

#[test]
fn boxes_hold_shapes_and_little_more() {
    let mut random = Random::seeded(4);
    for kind in solids() {
        for _ in 0..50 {
            let [Placed { pose, sizes }, _] = state([&kind, &Kind::Sphere], &mut random);
            let points = points(&kind, &sizes, &mut random);
            let truth = around(points.iter().map(|&p| pose.rotation * p + pose.position));
            let found = kind.bounds(&sizes, &pose, 0.1);
            let slack = 0.05;
            for k in 0..3 {
                let (low, high) = (truth.low[k] - 0.1 - found.low[k], found.high[k] - truth.high[k] - 0.1);
                assert!(low > -1e-12 && high > -1e-12, "{}: {found:?} {truth:?}", kind.name());
                assert!(low < slack && high < slack, "{}: {found:?} {truth:?}", kind.name());
            }
            let radius = kind.bounding_radius(&sizes);
            assert!(points.iter().all(|&p| length(p) < radius + 1e-12), "{}", kind.name());
            if let Kind::Hull(_) = kind {
                // Without sizes: around the box that it was made in.
                let made = kind.bounds(&[], &pose, 0.1);
                assert!((0..3).all(|k| made.low[k] <= found.low[k] + 1e-12));
                assert!((0..3).all(|k| made.high[k] >= found.high[k] - 1e-12));
                assert!((0..3).all(|k| made.high[k] - made.low[k] < 3.5));
                assert_eq!(kind.bounding_radius(&[]), radius);
            }
        }
    }
}

/// What touches within a margin has boxes that meet: no contact is lost to the broad phase.
#[test]
fn boxes_of_what_touches_meet() {
    let mut random = Random::seeded(5);
    let mut touched = 0;
    let mut check = |kinds: [&Kind; 2], at: [Placed; 2]| {
        let pair = Pair::new(kinds[0], kinds[1]).expect("a pair");
        if !features(&pair, &at, 0.05).is_empty() {
            let [a, b] = [0, 1].map(|i| kinds[i].bounds(&at[i].sizes, &at[i].pose, 0.025));
            assert!(a.meets(&b), "{}-{}: {at:?}", kinds[0].name(), kinds[1].name());
            touched += 1;
        }
    };
    for a in solids() {
        for b in solids().into_iter().chain([Kind::Plane]) {
            for _ in 0..100 {
                check([&a, &b], state([&a, &b], &mut random));
            }
        }
        for (ground, sizes) in grounds() {
            for _ in 0..100 {
                check([&a, &ground], ground_state(&a, &sizes, &mut random));
            }
        }
    }
    assert!(touched > 2000, "{touched}");
}

/// A level plane ends at its height, a tilted one nowhere; ground ends at its highest corner, and has no end below.
#[test]
fn boxes_of_ground() {
    let level = Pose { rotation: identity(), position: Vec3 { x: 1.0, y: 2.0, z: 3.0 } };
    let infinite = f64::INFINITY;
    let plane = Kind::Plane.bounds(&[], &level, 0.5);
    assert_eq!(plane, Bounds { low: [-infinite; 3], high: [infinite, infinite, 3.5] });
    let tilted = Pose { rotation: rotation_matrix(quat_exp(vec3(0.3, 0.0, 0.0))), ..level };
    let everything = Bounds { low: [-infinite; 3], high: [infinite; 3] };
    assert_eq!(Kind::Plane.bounds(&[], &tilted, 0.5), everything);
    for (ground, sizes) in grounds() {
        let found = ground.bounds(&sizes, &level, 0.5);
        assert_eq!(found, ground.bounds(&[], &level, 0.5));
        assert!(found.low[2] == -infinite && found.high[2] > 3.5 && found.high[2] < 3.75);
        assert!(found.low[0] < 1.0 - 1.5 - 0.5 && found.low[0] > 1.0 - 2.1 - 0.5);
    }
}
