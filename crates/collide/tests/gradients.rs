//! Derivatives of the kernels and of the operation, in each class of nearest points, by positions, velocities and all numbers.

mod common;

use std::collections::BTreeSet;

use common::{LAW, Random, contact, loose};
use pullback_collide::{
    Law, OnEdges, OnTriangle, barrier, crossing_share, edge_forces, nearest_of_edges, nearest_on_triangle,
    triangle_forces,
};
use pullback_kernel::{gradcheck, prelude::*};

/// Is a distance between those where the law bends too much for differences?
fn is_usual(squared: f64) -> bool {
    (0.15..0.36).contains(&squared.sqrt())
}

/// Numbers for sticking and for sliding.
fn laws() -> [Law; 2] {
    [LAW, Law { kf: 0.02, kd: 0.1, ..LAW }]
}

#[test]
fn of_the_barrier_and_the_share_of_edges() {
    // Far, near, and below the floor.
    for d in [0.35, 0.2, 0.01, 1e-4] {
        gradcheck::kernel_with::<barrier>(
            &(d, 0.4, 30.0),
            gradcheck::Options { step: 1e-4 * d, tolerance: 1e-6, ..Default::default() },
        )
        .unwrap_or_else(|r| panic!("{d} {r}"));
    }
    let (mut random, mut checked) = (Random::seeded(17), 0);
    while checked < 5 {
        let mut x = random.four();
        x[3] = x[2] + (x[1] - x[0]) + random.vec3() * 0.1;
        let share = crossing_share(x);
        if 0.05 < share && share < 0.95 {
            gradcheck::kernel::<crossing_share>(&(x,)).expect("the share of edges that nearly cross");
            checked += 1;
        }
    }
}

#[test]
fn of_all_parts_of_triangles() {
    let (mut random, mut seen) = (Random::seeded(4), BTreeSet::new());
    while seen.len() < 14 {
        let (x, v) = (random.four(), random.four());
        let (on, squared) = nearest_on_triangle(&x);
        for (k, law) in laws().into_iter().enumerate() {
            if is_usual(squared) && seen.insert((on, k)) {
                gradcheck::kernel::<triangle_forces>(&(on, x, v, law))
                    .unwrap_or_else(|r| panic!("{on:?} {r}"));
            }
        }
    }
    assert!(seen.contains(&(OnTriangle::Face, 1)));
}

#[test]
fn of_all_parts_of_edges() {
    let (mut random, mut seen) = (Random::seeded(5), BTreeSet::new());
    while seen.len() < 36 {
        let (mut x, v) = (random.four(), random.four());
        // Every other one is nearly parallel, where edges have a part of the energy.
        let turned = seen.len() >= 18;
        if turned {
            x[3] = x[2] + (x[1] - x[0]) + random.vec3() * 0.1;
        }
        let Some((on, squared)) = nearest_of_edges(&x) else { continue };
        let share = crossing_share(x);
        let fits = if turned { 0.05 < share && share < 0.95 } else { share == 1.0 };
        for (k, law) in laws().into_iter().enumerate() {
            if fits && is_usual(squared) && seen.insert((on, k, turned)) {
                gradcheck::kernel::<edge_forces>(&(on, x, v, law)).unwrap_or_else(|r| panic!("{on:?} {r}"));
            }
        }
    }
    assert!(seen.contains(&(OnEdges::Inner, 0, true)));
}

/// Two triangles and what is between them: all derivatives of a program, in both senses, and those of its pullback.
#[test]
fn of_programs() {
    let surface = loose(2);
    let contact = contact(&surface, 30);
    let mut random = Random::seeded(6);
    let (mut checked, mut triangles, mut edges) = (0, BTreeSet::new(), BTreeSet::new());
    let mut reached = [0; 7];
    while checked < 12 || triangles.len() < 7 || edges.len() < 9 {
        let x: Vec<Vec3> = (0..6).map(|_| random.vec3()).collect();
        let v: Vec<Vec3> = (0..6).map(|_| random.vec3()).collect();
        let (mut squares, mut on_triangles, mut on_edges) = (Vec::new(), Vec::new(), Vec::new());
        for &p in surface.vertices() {
            let t = if p < 3 { [3, 4, 5] } else { [0, 1, 2] };
            let (on, squared) = nearest_on_triangle(&[p as usize, t[0], t[1], t[2]].map(|i| x[i]));
            squares.push(squared);
            on_triangles.extend((squared < LAW.thickness.powi(2)).then_some(on));
        }
        for &[a, b] in &surface.edges()[..3] {
            for &[c, d] in &surface.edges()[3..] {
                let four = [a, b, c, d].map(|i| x[i as usize]);
                let Some((on, squared)) = nearest_of_edges(&four) else { continue };
                squares.push(squared);
                on_edges.extend((squared < LAW.thickness.powi(2)).then_some(on));
            }
        }
        // None is so near that differences fail, and some touch.
        let new = on_triangles.iter().any(|on| !triangles.contains(on))
            || on_edges.iter().any(|on| !edges.contains(on));
        let touches = squares.iter().any(|squared| is_usual(*squared));
        if squares.iter().any(|squared| *squared < 0.15 * 0.15) || !touches || (checked >= 12 && !new) {
            continue;
        }
        let law = laws()[checked % 2];
        let mut w = contact.world(&x, &v, law);
        gradcheck::program(&w).unwrap_or_else(|report| panic!("{on_triangles:?} {on_edges:?} {report}"));
        checked += 1;
        triangles.extend(on_triangles);
        edges.extend(on_edges);

        w.forward();
        let seed: Vec<Vec3> = (0..6).map(|_| random.vec3()).collect();
        w.seed(contact.force, &seed).expect("a seed for each force");
        w.clear_parameters();
        w.pullback();
        let touch = contact.touch;
        for (reached, number) in
            reached.iter_mut().zip([touch.thickness, touch.ke, touch.kd, touch.kf, touch.mu])
        {
            *reached += usize::from(w.bars(number)[0] != 0.0);
        }
        for (reached, moving) in reached[5..].iter_mut().zip([contact.moving.x, contact.moving.v]) {
            *reached += usize::from(w.bars(moving).iter().any(|bar| length(*bar) > 1e-6));
        }
    }
    assert!(reached.iter().all(|reached| *reached > 0), "{reached:?}");
}
