//! How far surfaces can go: never through each other, and all the way where nothing is in it.

mod common;

use common::{Random, at, loose, plain};
use pullback_collide::{Gone, Reach, Surface, Ways, crossings};
use pullback_kernel::prelude::*;

/// How near things may come [m].
const MARGIN: f64 = 1e-8;

/// How far things can go that were where they are before.
fn find(reach: &mut Reach, surface: &Surface, from: &[Vec3], way: &[Vec3]) -> Gone {
    reach.find(surface, &Ways { before: from, from, way, least: MARGIN, rounding: 1e-15 })
}

/// Turned by a random rotation.
fn turn(random: &mut Random) -> impl Fn(Vec3) -> Vec3 + Copy + use<> {
    let x = normalize(random.vec3());
    let z = normalize(cross(x, random.vec3()));
    let y = cross(z, x);
    move |a: Vec3| x * a.x + y * a.y + z * a.z
}

/// A point above a triangle, and its distance when it has gone a part of its way.
#[test]
fn a_point_that_falls_on_a_triangle() {
    let surface = loose(2);
    let low = [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 1.0, 0.0)];
    let high = [at(0.2, 0.2, 0.5), at(0.3, 0.2, 0.9), at(0.2, 0.3, 0.9)];
    let from = [low, high].concat();
    let mut reach = Reach::new(&surface);
    let mut fall = |by: f64| {
        let way: Vec<Vec3> = (0..6).map(|i| at(0.3, 0.0, if i < 3 { 0.0 } else { -by })).collect();
        find(&mut reach, &surface, &from, &way).part
    };
    assert_eq!(fall(0.1), 1.0, "far from it");
    assert_eq!(fall(-2.0), 1.0, "away from it");
    assert_eq!(fall(0.0), 1.0, "as one");
    for by in [0.5, 1.0, 100.0] {
        let left = 0.5 - by * fall(by);
        assert!((0.05 - 1e-12..0.06).contains(&left), "{left} of 0.5 is left");
    }
}

/// What is as near as the margin goes apart and along, and no nearer, wherever it is and however it is turned.
#[test]
fn what_is_very_near() {
    let (surface, mut random) = (loose(2), Random::seeded(8));
    let low = [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 1.0, 0.0)];
    let mut reach = Reach::new(&surface);
    for _ in 0..200 {
        let (turned, by) = (turn(&mut random), random.vec3());
        let mut go = |height: f64, by_this: Vec3| {
            let high = [at(0.2, 0.2, height), at(0.3, 0.2, 0.9), at(0.2, 0.3, 0.9)];
            let from: Vec<Vec3> = [low, high].concat().into_iter().map(|x| turned(x) + by).collect();
            let way: Vec<Vec3> =
                (0..6).map(|i| if i < 3 { Vec3::default() } else { turned(by_this) }).collect();
            find(&mut reach, &surface, &from, &way)
        };
        let up = go(0.5 * MARGIN, at(0.0, 0.0, 1.0));
        assert_eq!((up.part, up.held), (1.0, None));
        for along in [at(1e-6, 0.0, 0.0), at(3e-7, -8e-7, 0.0)] {
            assert_eq!(go(0.5 * MARGIN, along).part, 1.0);
        }
        let down = go(0.5 * MARGIN, at(0.0, 0.0, -1.0));
        assert_eq!((down.part, down.held), (0.0, Some([3, 0, 1, 2])));
        // From above the margin, again and again: never nearer than that.
        let mut height = 0.3;
        for _ in 0..50 {
            height -= go(height, at(0.0, 0.0, -1.0)).part;
            assert!(height > 0.999 * MARGIN, "{height}");
        }
    }
}

/// What touched before the step, as corners that are pinned at one place do, is let go, and holds nothing else; what has come to touch since
/// then goes nowhere.
#[test]
fn what_touches() {
    let surface = loose(3);
    let low = [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 1.0, 0.0)];
    let seam = [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.4), at(0.0, 1.0, 0.4)];
    let far = [at(0.3, 0.3, 1.0), at(0.4, 0.3, 1.5), at(0.3, 0.4, 1.5)];
    let from = [low, seam, far].concat();
    let go = |before: &[Vec3], by: [f64; 3]| {
        let way: Vec<Vec3> = (0..9)
            .map(|i| if i % 3 == 0 && i < 6 { Vec3::default() } else { at(0.0, 0.0, by[i / 3]) })
            .collect();
        let ways = Ways { before, from: &from, way: &way, least: MARGIN, rounding: 1e-15 };
        Reach::new(&surface).find(&surface, &ways)
    };
    assert_eq!(go(&from, [0.0, 0.3, 0.0]), Gone { part: 1.0, held: None });
    assert_eq!(go(&from, [0.1, -0.1, -0.2]), Gone { part: 1.0, held: None });
    let held = go(&from, [0.0, 0.0, -1.5]);
    assert!(held.part < 0.6 && held.held.is_some_and(|four| four.contains(&6)), "{held:?}");
    let mut before = from.clone();
    before[3].z += 0.1;
    let held = go(&before, [0.0, 0.3, 0.0]);
    assert!(held.part == 0.0 && held.held.is_some_and(|four| four.contains(&3)), "{held:?}");
}

/// Triangles that are hardly wider than a line, in any order of their corners: nothing falls through them.
#[test]
fn slivers() {
    let (surface, mut random) = (loose(2), Random::seeded(5));
    let mut reach = Reach::new(&surface);
    for thin in [1e-3, 1e-4, 1e-5, 1e-6] {
        for third in [at(0.0, thin, 0.0), at(0.45, thin, 0.0)] {
            for [i, j, k] in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [1, 0, 2]] {
                let (turned, by) = (turn(&mut random), random.vec3());
                let corners = [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), third];
                let through = (corners[0] + corners[1] + corners[2]) * (1.0 / 3.0);
                let [tip, high] = [at(0.0, 0.0, 0.2), at(0.0, 0.0, 0.9)].map(|up| through + up);
                let from = [corners[i], corners[j], corners[k], tip, high + at(0.1, 0.0, 0.0), high];
                let from = from.map(|x| turned(x) + by);
                let down = turned(at(0.0, 0.0, -1.0));
                let way: Vec<Vec3> = (0..6).map(|i| if i < 3 { Vec3::default() } else { down }).collect();
                let gone = find(&mut reach, &surface, &from, &way);
                let left = 0.2 - gone.part;
                assert!((0.0..0.03).contains(&left), "{thin}: {left} is left of 0.2");
            }
        }
    }
}

/// Ways that are far longer than edges, of what flies apart and of what meets.
#[test]
fn long_ways() {
    let surface = loose(2);
    let low = [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 1.0, 0.0)];
    let high = [at(0.2, 0.2, 0.5), at(0.3, 0.2, 0.9), at(0.2, 0.3, 0.9)];
    for far in [30.0, 1e3, 1e7] {
        let way = |by: f64| {
            (0..6).map(|i| if i < 3 { Vec3::default() } else { at(0.0, 0.0, by) }).collect::<Vec<Vec3>>()
        };
        let from = [low, high.map(|x| x + at(0.0, 0.0, far))].concat();
        let go = |by: f64| find(&mut Reach::new(&surface), &surface, &from, &way(by));
        assert_eq!(go(far), Gone { part: 1.0, held: None });
        assert_eq!(go(-0.9 * far), Gone { part: 1.0, held: None });
        let gone = go(-2.0 * far);
        let left = far + 0.5 - 2.0 * far * gone.part;
        assert!(gone.held.is_some() && left > 0.0 && left < 0.11 * (far + 0.5), "{far}: {left}");
    }
}

/// Edges that cross over each other.
#[test]
fn edges_that_meet() {
    let surface = loose(2);
    let low = [at(-1.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 3.0, -4.0)];
    let high = [at(0.0, -1.0, 0.3), at(0.0, 1.0, 0.3), at(0.0, 1.0, 5.0)];
    let way: Vec<Vec3> = (0..6).map(|i| at(0.0, 0.0, if i < 3 { 0.0 } else { -1.0 })).collect();
    let part = find(&mut Reach::new(&surface), &surface, &[low, high].concat(), &way).part;
    assert!((0.25..0.3).contains(&part), "{part}");
}

/// Edges that are all but parallel, and cross very near each other: their ends are further apart than the points where they cross.
#[test]
fn edges_that_are_nearly_parallel() {
    let surface = loose(2);
    for angle in [9e-5, 1e-6] {
        for gap in [1e-6, 4e-6] {
            let low = [at(-1.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 3.0, -4.0)];
            let high = [at(-1.0, -angle, gap), at(1.0, angle, gap), at(0.0, -3.0, 5.0)];
            let way: Vec<Vec3> = (0..6).map(|i| at(0.0, 0.0, if i < 3 { 0.0 } else { -1e-3 })).collect();
            let part = find(&mut Reach::new(&surface), &surface, &[low, high].concat(), &way).part;
            assert!(part > 0.0 && 1e-3 * part < gap, "{angle}, {gap}: {part}");
        }
    }
}

/// Loose triangles that fly about: where they are stopped nothing has crossed that had not before, and mostly they would have crossed.
#[test]
fn nothing_crosses() {
    let (mut random, mut stopped, mut would) = (Random::seeded(31), 0, 0);
    let surface = loose(6);
    let mut reach = Reach::new(&surface);
    for _ in 0..1200 {
        let middle: Vec<Vec3> = (0..6).map(|_| random.vec3()).collect();
        let from: Vec<Vec3> = (0..18).map(|i| middle[i / 3] + random.vec3() * 0.3).collect();
        if crossings(&surface, &plain(&from)) > 0 {
            continue;
        }
        let way: Vec<Vec3> = (0..18).map(|i| middle[(i / 3 + 1) % 6] * 0.7 + random.vec3() * 0.2).collect();
        let gone = |part: f64| (0..18).map(|i| from[i] + way[i] * part).collect::<Vec<Vec3>>();
        let part = find(&mut reach, &surface, &from, &way).part;
        for k in 0..=20 {
            let here = gone(part * f64::from(k) / 20.0);
            assert_eq!(crossings(&surface, &plain(&here)), 0, "{k} of 20 of {part}");
        }
        stopped += usize::from(part < 1.0);
        would += usize::from(crossings(&surface, &plain(&gone(1.0))) > 0);
    }
    assert!(would > 50 && stopped < 900, "{stopped} stopped, {would} would have crossed");
}
