//! How far surfaces can go: never through each other, and all the way where nothing is in it.

mod common;

use common::{Random, at, loose, plain};
use pullback_collide::{Reach, crossings};
use pullback_kernel::prelude::*;

/// How near things may come [m].
const MARGIN: f64 = 1e-8;

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
        reach.find(&surface, &from, &way, MARGIN).part
    };
    assert_eq!(fall(0.1), 1.0, "far from it");
    assert_eq!(fall(-2.0), 1.0, "away from it");
    assert_eq!(fall(0.0), 1.0, "as one");
    for by in [0.5, 1.0, 100.0] {
        let left = 0.5 - by * fall(by);
        assert!((0.05 - 1e-12..0.06).contains(&left), "{left} of 0.5 is left");
    }
}

/// What is as near as the margin goes apart and along, and no nearer; what touches goes nowhere.
#[test]
fn what_is_very_near() {
    let surface = loose(2);
    let low = [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 1.0, 0.0)];
    let mut reach = Reach::new(&surface);
    let mut go = |height: f64, by: Vec3| {
        let high = [at(0.2, 0.2, height), at(0.3, 0.2, 0.9), at(0.2, 0.3, 0.9)];
        let way: Vec<Vec3> = (0..6).map(|i| if i < 3 { Vec3::default() } else { by }).collect();
        reach.find(&surface, &[low, high].concat(), &way, MARGIN)
    };
    let up = go(0.5 * MARGIN, at(0.0, 0.0, 1.0));
    assert_eq!((up.part, up.held), (1.0, None));
    let along = go(0.5 * MARGIN, at(1e-6, 0.0, 0.0));
    assert_eq!(along.part, 1.0);
    let down = go(0.5 * MARGIN, at(0.0, 0.0, -1.0));
    assert_eq!((down.part, down.held), (0.0, Some([3, 0, 1, 2])));
    for by in [-1.0, 1.0] {
        assert_eq!(go(0.0, at(0.0, 0.0, by)).part, 0.0, "nothing knows which side is which");
    }
    // From above the margin, again and again: never nearer than that.
    let mut height = 0.3;
    for _ in 0..50 {
        height -= go(height, at(0.0, 0.0, -1.0)).part;
        assert!(height > 0.999 * MARGIN, "{height}");
    }
}

/// Edges that cross over each other, and parallel ones.
#[test]
fn edges_that_meet() {
    let surface = loose(2);
    let up = |a: Vec3| at(a.x, a.y, 5.0);
    for along in [at(0.0, 1.0, 0.0), at(1.0, 0.0, 0.0)] {
        let low = [at(-1.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 3.0, -4.0)];
        let high = [along * -1.0 + at(0.0, 0.0, 0.3), along + at(0.0, 0.0, 0.3), up(along)];
        let way: Vec<Vec3> = (0..6).map(|i| at(0.0, 0.0, if i < 3 { 0.0 } else { -1.0 })).collect();
        let part = Reach::new(&surface).find(&surface, &[low, high].concat(), &way, MARGIN).part;
        assert!((0.25..0.3).contains(&part), "{part}");
    }
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
            let part = Reach::new(&surface).find(&surface, &[low, high].concat(), &way, MARGIN).part;
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
        let part = reach.find(&surface, &from, &way, MARGIN).part;
        for k in 0..=20 {
            let here = gone(part * f64::from(k) / 20.0);
            assert_eq!(crossings(&surface, &plain(&here)), 0, "{k} of 20 of {part}");
        }
        stopped += usize::from(part < 1.0);
        would += usize::from(crossings(&surface, &plain(&gone(1.0))) > 0);
    }
    assert!(would > 50 && stopped < 900, "{stopped} stopped, {would} would have crossed");
}
