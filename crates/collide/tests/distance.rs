//! Distances against the least of many points, and the kernels' derivatives.

mod common;

use std::collections::BTreeSet;

use common::{Random, at};
use pullback_collide::{
    OnEdges, OnTriangle, apart, edge_weights, nearest_of_edges, nearest_on_triangle, triangle_weights,
};
use pullback_kernel::{gradcheck, prelude::*};

/// The least value of a convex function on [0, 1], by thirds.
fn least(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..70 {
        let third = (high - low) / 3.0;
        if f(low + third) < f(high - third) { high -= third } else { low += third }
    }
    f(low).min(f(high)).min(f(0.0)).min(f(1.0))
}

fn to_triangle([p, a, b, c]: [Vec3; 4]) -> f64 {
    // From a, a part s of the way to the opposite side, and along that: convex in s.
    least(|s| least(|t| length(p - (a + (b - a) * s + (c - b) * (s * t)))))
}

fn of_edges([a, b, c, d]: [Vec3; 4]) -> f64 {
    least(|s| least(|t| length(a + (b - a) * s - (c + (d - c) * t))))
}

#[test]
fn points_and_triangles() {
    let mut random = Random::seeded(1);
    let mut seen = BTreeSet::new();
    for round in 0..400 {
        let mut x = random.four();
        match round % 8 {
            // Two corners in one place, all in a line, all in a point.
            0 => x[2] = x[1],
            1 => x[3] = x[1] + (x[2] - x[1]) * 0.3,
            2 => (x[2], x[3]) = (x[1], x[1]),
            _ => {}
        }
        let (on, squared) = nearest_on_triangle(&x);
        let w = triangle_weights(on, x);
        let r = apart(x, w);
        assert!((squared.sqrt() - to_triangle(x)).abs() < 1e-6, "{on:?} {x:?}");
        assert!((length(r) - squared.sqrt()).abs() < 1e-12);
        assert!(w.iter().sum::<f64>().abs() < 1e-14 && w[1..].iter().all(|w| (-1.0..=0.0).contains(w)));
        seen.insert(on);
    }
    assert_eq!(seen.len(), 7, "{seen:?}");
}

#[test]
fn two_edges() {
    let mut random = Random::seeded(2);
    let (mut seen, mut parallel) = (BTreeSet::new(), 0);
    for round in 0..1000 {
        let mut x = random.four();
        match round % 10 {
            0 => x[3] = x[2] + (x[1] - x[0]) * random.next(),
            1 => x[3] = x[2],
            // Nearly parallel.
            2 => x[3] = x[2] + (x[1] - x[0]) * 0.7 + random.vec3() * 1e-3,
            // Crossing.
            3 => x[3] = x[0] + (x[1] - x[0]) * 0.5 + (x[0] + (x[1] - x[0]) * 0.5 - x[2]) * 0.4,
            _ => {}
        }
        let Some((on, squared)) = nearest_of_edges(&x) else {
            parallel += 1;
            let sine = length(cross(normalize(x[1] - x[0]), normalize(x[3] - x[2])));
            assert!(sine <= 1.01e-4, "{sine}");
            continue;
        };
        let w = edge_weights(on, x);
        assert!((squared.sqrt() - of_edges(x)).abs() < 1e-6, "{on:?} {x:?}");
        assert!((length(apart(x, w)) - squared.sqrt()).abs() < 1e-12);
        assert!(w.iter().sum::<f64>().abs() < 1e-14 && w.iter().all(|w| (-1.0..=1.0).contains(w)));
        seen.insert(on);
    }
    assert_eq!(seen.len(), 9, "{seen:?}");
    assert!((200..400).contains(&parallel), "{parallel}");
}

#[test]
fn weights_have_derivatives() {
    let x = [at(0.3, 0.1, 0.5), at(-0.2, 0.4, 0.1), at(0.9, 0.2, -0.3), at(0.1, 1.1, 0.2)];
    for on in [OnTriangle::AB, OnTriangle::BC, OnTriangle::CA, OnTriangle::Face] {
        gradcheck::kernel::<triangle_weights>(&(on, x)).expect("weights of a triangle");
    }
    for on in [OnEdges::StartInner, OnEdges::EndInner, OnEdges::InnerStart, OnEdges::InnerEnd, OnEdges::Inner]
    {
        gradcheck::kernel::<edge_weights>(&(on, x)).expect("weights of edges");
    }
}

/// Along a line through several regions, distance and direction are continuous.
#[test]
fn distances_are_smooth_where_parts_change() {
    let mut random = Random::seeded(3);
    let mut changes = 0;
    for _ in 0..100 {
        let (x, to) = (random.four(), random.vec3());
        let triangle = |t: f64| {
            let mut x = x;
            x[0] = x[0] + (to - x[0]) * t;
            let (on, _) = nearest_on_triangle(&x);
            (on as u32, apart(x, triangle_weights(on, x)))
        };
        let edges = |t: f64| {
            let mut x = x;
            x[0] = x[0] + (to - x[0]) * t;
            let (on, _) = nearest_of_edges(&x).expect("edges that are not parallel");
            (on as u32, apart(x, edge_weights(on, x)))
        };
        for nearest in [&triangle as &dyn Fn(f64) -> (u32, Vec3), &edges] {
            for k in 0..50 {
                let (mut low, mut high) = (f64::from(k) / 50.0, f64::from(k + 1) / 50.0);
                if nearest(low).0 == nearest(high).0 {
                    continue;
                }
                changes += 1;
                let start = nearest(low).0;
                for _ in 0..40 {
                    let middle = 0.5 * (low + high);
                    if nearest(middle).0 == start { low = middle } else { high = middle }
                }
                let jump = length(nearest(low).1 - nearest(high).1);
                assert!(jump < 1e-6, "{jump}");
            }
        }
    }
    assert!(changes > 100, "{changes}");
}
