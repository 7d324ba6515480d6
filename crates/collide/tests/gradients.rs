//! Derivatives of the kernels and of the operation, in each class of nearest points, by positions, velocities and all numbers.

mod common;

use std::collections::BTreeSet;

use common::{LAW, Random, contact, loose};
use pullback_collide::{
    Law, OnEdges, OnTriangle, Stiffness, barrier, crossing_share, edge_forces, nearest_of_edges,
    nearest_on_triangle, triangle_forces,
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

/// The matrix of each pair is the derivative of its forces, which those of all particles are sums of.
#[test]
fn stiffness_is_the_derivative_of_forces() {
    let surface = loose(12);
    let mut random = Random::seeded(23);
    let x: Vec<Vec3> = (0..36).map(|_| random.vec3() * 0.8).collect();
    let v: Vec<Vec3> = (0..36).map(|_| random.vec3()).collect();
    let mut stiffness = Stiffness::new(&surface, 1000);
    for law in laws() {
        assert!(stiffness.find(&surface, &x, law.thickness));
        let pairs = stiffness.pairs().to_vec();
        assert!(pairs.len() > 30, "{} pairs", pairs.len());
        let mut wanted = [vec![0.0; 108 * 108], vec![0.0; 108 * 108]];
        for (k, pair) in pairs.iter().enumerate() {
            let of = stiffness.of(k, &v, law);
            for (to, from) in wanted.iter_mut().zip([of.by_position, of.by_velocity]) {
                for (row, column) in (0..12).flat_map(|row| (0..12).map(move |column| (row, column))) {
                    let at = |i: usize| 3 * pair[i / 3] as usize + i % 3;
                    to[108 * at(row) + at(column)] += from[row][column];
                }
            }
        }
        // Row by row, by the operation's pullback.
        let c = contact(&surface, 1000);
        let mut world = c.world(&x, &v, law);
        world.forward();
        let largest = wanted[0].iter().fold(0.0f64, |most, k| most.max(k.abs()));
        for row in 0..108 {
            let mut bar = vec![Vec3::default(); 36];
            let of = &mut bar[row / 3];
            *[&mut of.x, &mut of.y, &mut of.z][row % 3] = 1.0;
            world.seed(c.force, &bar).expect("an output");
            world.pullback();
            for (wanted, found) in wanted.iter().zip([world.bars(c.moving.x), world.bars(c.moving.v)]) {
                for (j, found) in found.iter().flat_map(|a| [a.x, a.y, a.z]).enumerate() {
                    let off = (wanted[108 * row + j] - found).abs();
                    assert!(off < 1e-12 * largest, "row {row}, column {j}: off by {off} of {largest}");
                }
            }
        }
    }
}
