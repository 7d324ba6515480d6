//! What the forces are: neither momentum nor angular momentum is made, they are continuous, and finite where surfaces meet.

mod common;

use std::sync::Arc;

use common::{LAW, Random, at, contact, loose};
use pullback_collide::{
    Law, OnEdges, OnTriangle, barrier, crossing_share, edge_forces, nearest_of_edges, nearest_on_triangle,
    triangle_forces,
};
use pullback_kernel::prelude::*;

/// Forces of a vertex and a triangle, if they are near.
fn of_triangle(x: [Vec3; 4], v: [Vec3; 4], law: Law) -> [Vec3; 4] {
    let (on, squared) = nearest_on_triangle(&x);
    if squared < law.thickness * law.thickness { triangle_forces(on, x, v, law) } else { Default::default() }
}

/// Forces of two edges, if they are near.
fn of_edges(x: [Vec3; 4], v: [Vec3; 4], law: Law) -> [Vec3; 4] {
    match nearest_of_edges(&x) {
        Some((on, squared)) if squared < law.thickness * law.thickness => edge_forces(on, x, v, law),
        _ => Default::default(),
    }
}

type Forces = fn([Vec3; 4], [Vec3; 4], Law) -> [Vec3; 4];
const BOTH: [Forces; 2] = [of_triangle, of_edges];

fn size(forces: &[Vec3; 4]) -> f64 {
    forces.iter().map(|f| length(*f)).sum()
}

#[test]
fn neither_momentum_nor_angular_momentum_is_made() {
    let mut random = Random::seeded(10);
    let mut pushed = 0;
    for _ in 0..2000 {
        let (mut x, v) = (random.four(), random.four());
        if random.next() > 0.5 {
            x[3] = x[2] + (x[1] - x[0]) + random.vec3() * 0.1;
        }
        for forces in BOTH {
            let f = forces(x, v, LAW);
            let (mut sum, mut torque) = (Vec3::default(), Vec3::default());
            for k in 0..4 {
                sum = sum + f[k];
                torque = torque + cross(x[k], f[k]);
            }
            let scale = 1e-11 * (1.0 + size(&f));
            assert!(length(sum) < scale && length(torque) < scale, "{sum:?} {torque:?} {f:?}");
            pushed += usize::from(size(&f) > 0.1);
        }
    }
    assert!(pushed > 400, "{pushed}");
}

#[test]
fn what_moves_as_one_is_neither_damped_nor_rubbed() {
    let mut random = Random::seeded(11);
    let mut pushed = 0;
    for _ in 0..500 {
        let (x, linear, angular) = (random.four(), random.vec3(), random.vec3());
        let v = x.map(|x| linear + cross(angular, x));
        for forces in BOTH {
            let (moving, still) = (forces(x, v, LAW), forces(x, Default::default(), LAW));
            let change: f64 = (0..4).map(|k| length(moving[k] - still[k])).sum();
            assert!(change < 1e-11 * (1.0 + size(&still)), "{change}");
            pushed += usize::from(size(&still) > 0.1);
        }
    }
    assert!(pushed > 100, "{pushed}");
}

#[test]
fn damping_and_friction_take_energy() {
    let mut random = Random::seeded(12);
    for _ in 0..1000 {
        let (x, v) = (random.four(), random.four());
        for forces in BOTH {
            let (moving, still) = (forces(x, v, LAW), forces(x, Default::default(), LAW));
            let power: f64 = (0..4).map(|k| dot(moving[k] - still[k], v[k])).sum();
            assert!(power < 1e-12, "{power}");
        }
    }
}

/// The forces without velocities are those of an energy: around a closed path they do no work.
#[test]
fn elastic_forces_have_an_energy() {
    let mut random = Random::seeded(13);
    let law = Law { thickness: 3.0, ..LAW };
    let mut largest = 0.0_f64;
    for round in 0..20 {
        let (mut x, a, b) = (random.four(), random.four(), random.four());
        if round % 2 == 0 {
            x[3] = x[2] + (x[1] - x[0]) + random.vec3() * 0.1;
        }
        for forces in BOTH {
            let (count, mut work) = (16000, 0.0);
            for i in 0..count {
                let angle = std::f64::consts::TAU * f64::from(i) / f64::from(count);
                let (sine, cosine) = angle.sin_cos();
                let here = std::array::from_fn(|k| x[k] + (a[k] * sine + b[k] * cosine) * 0.05);
                let f = forces(here, Default::default(), law);
                for k in 0..4 {
                    let step =
                        (a[k] * cosine - b[k] * sine) * (0.05 * std::f64::consts::TAU / f64::from(count));
                    work += dot(f[k], step);
                }
                largest = largest.max(size(&f));
            }
            assert!(work.abs() < 5e-5, "{work}");
        }
    }
    assert!(largest > 30.0, "{largest}");
}

#[test]
fn forces_are_continuous() {
    let mut random = Random::seeded(14);
    let (mut changes, mut starts) = (0, 0);
    for round in 0..300 {
        let (x, mut to, v) = (random.four(), random.four(), random.four());
        let mut x = x.map(|x| x * 0.5);
        to = to.map(|x| x * 0.5);
        if round % 3 == 0 {
            // Through edges that are parallel.
            let turn = random.vec3() * 0.3;
            (x[3], to[3]) = (x[2] + (x[1] - x[0]) + turn, x[2] + (x[1] - x[0]) - turn);
            (to[0], to[1], to[2]) = (x[0], x[1], x[2]);
        }
        for forces in BOTH {
            let at = |t: f64| {
                let here: [Vec3; 4] = std::array::from_fn(|k| x[k] + (to[k] - x[k]) * t);
                let on = if forces as usize == of_triangle as Forces as usize {
                    let (on, squared) = nearest_on_triangle(&here);
                    (squared < LAW.thickness * LAW.thickness).then_some(on as u32)
                } else {
                    let near = nearest_of_edges(&here);
                    near.filter(|near| near.1 < LAW.thickness * LAW.thickness).map(|near| near.0 as u32)
                };
                (on, forces(here, v, LAW))
            };
            for k in 0..100 {
                let (mut low, mut high) = (f64::from(k) / 100.0, f64::from(k + 1) / 100.0);
                let start = at(low).0;
                if start == at(high).0 {
                    continue;
                }
                for _ in 0..50 {
                    let middle = 0.5 * (low + high);
                    if at(middle).0 == start { low = middle } else { high = middle }
                }
                let ((before, f), (after, g)) = (at(low), at(high));
                let jump: f64 = (0..4).map(|k| length(f[k] - g[k])).sum();
                assert!(jump < 1e-7 * (1.0 + size(&f)), "{jump} of {} {before:?} {after:?}", size(&f));
                changes += usize::from(before.is_some() && after.is_some());
                starts += usize::from(before.is_some() != after.is_some());
            }
        }
    }
    assert!(changes > 200 && starts > 100, "{changes} {starts}");
}

#[test]
fn the_barrier_is_what_it_says() {
    let (h, ke) = (0.02, 500.0);
    let force = |d: f64| barrier(d, h, ke).1;
    let stiffness = |d: f64| -(force(d + 1e-7) - force(d - 1e-7)) / 2e-7;
    assert!((stiffness(0.5 * h) - ke).abs() < 1e-3);
    assert_eq!(barrier(h, h, ke), (0.0, 0.0));
    assert!(stiffness(0.999 * h) < 0.01 * ke);
    assert!(force(0.01 * h) > 8.0 * force(0.1 * h) && force(0.1 * h) > 8.0 * force(0.5 * h));
    // Below the floor it goes on, with the same slope.
    let floor = 1e-3 * h;
    assert!((stiffness(floor * 1.02) / stiffness(floor * 0.98) - 1.0).abs() < 0.1);
    assert!(force(0.0) > force(floor) && force(0.0) < 2.1 * force(floor));
    // And it is the slope of the energy.
    for d in [0.1 * floor, 3.0 * floor, 0.3 * h, 0.9 * h] {
        let slope = (barrier(d + 1e-9, h, ke).0 - barrier(d - 1e-9, h, ke).0) / 2e-9;
        assert!((slope + force(d)).abs() < 1e-4 * (1.0 + force(d)), "{slope} {}", force(d));
    }
}

/// Where surfaces meet, forces push them apart, and neither they nor their pullbacks are infinite or not a number.
#[test]
fn surfaces_that_meet_are_pushed_apart() {
    let law = Law { thickness: 0.1, ..LAW };
    let flat = [at(-1.0, -1.0, 0.0), at(1.0, -1.0, 0.0), at(0.0, 1.0, 0.0)];
    let zero = [Vec3::default(); 4];
    let seed = [at(1.0, 0.5, 0.2), at(0.1, 0.7, -1.0), at(0.3, -0.2, 0.1), at(-0.4, 0.2, 0.6)];
    let inside = [at(0.0, 0.0, 0.0), flat[0], flat[1], flat[2]];
    for p in [inside[0], flat[0], at(0.0, -1.0, 0.0)] {
        let x = [p, flat[0], flat[1], flat[2]];
        let (on, squared) = nearest_on_triangle(&x);
        assert_eq!(squared, 0.0);
        let f = triangle_forces(on, x, zero, law);
        assert!((f[0].z - barrier(0.0, 0.1, law.ke).1).abs() < 1e-9, "{f:?}");
        let (_, x_bar, v_bar, law_bar) = triangle_forces::pullback(on, x, zero, law, seed);
        for number in x_bar.iter().chain(&v_bar) {
            assert!([number.x, number.y, number.z].iter().all(|x| x.is_finite()), "{x_bar:?} {v_bar:?}");
        }
        assert!(law_bar.ke != 0.0 && law_bar.ke.is_finite() && law_bar.thickness.is_finite());
    }
    let cross_over = [at(-1.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, -1.0, 0.0), at(0.0, 1.0, 0.0)];
    let (on, _) = nearest_of_edges(&cross_over).expect("edges that cross");
    assert_eq!(on, OnEdges::Inner);
    let f = edge_forces(on, cross_over, zero, law);
    assert!(f[0].z > 1.0 && f[2].z < -1.0, "{f:?}");
    let (_, x_bar, ..) = edge_forces::pullback(on, cross_over, zero, law, seed);
    assert!(x_bar.iter().all(|bar| length(*bar).is_finite()));
    // Triangles without area, and all in one point, in a program.
    let surface = loose(3);
    let contact = contact(&surface, 200);
    let line = |k: usize| at(0.01 * k as f64, 0.0, 0.0);
    for x in [vec![Vec3::default(); 9], (0..9).map(line).collect(), (0..9).map(|k| line(k % 3)).collect()] {
        let mut w = contact.world(&x, &vec![at(0.1, 0.2, 0.3); 9], law);
        w.forward();
        w.check_values().expect("numbers");
        w.seed(contact.force, &vec![at(1.0, 2.0, 3.0); 9]).expect("a seed for each force");
        w.pullback();
        w.check_bars().expect("numbers");
    }
}

#[test]
fn friction_holds_up_to_coulombs_limit() {
    // A vertex over a large triangle, at half of the thickness.
    let x = [at(0.0, 0.0, 0.2), at(-9.0, -9.0, 0.0), at(9.0, -9.0, 0.0), at(0.0, 9.0, 0.0)];
    let slide = |speed: f64| {
        let v = [at(speed, 0.0, 0.0), Vec3::default(), Vec3::default(), Vec3::default()];
        triangle_forces(OnTriangle::Face, x, v, LAW)[0]
    };
    let load = slide(0.0).z;
    assert!((load - barrier(0.2, 0.4, LAW.ke).1).abs() < 1e-12);
    // The lever of the thickness takes a little of it.
    assert!((slide(0.01).x / (-LAW.kf * 0.01) - 1.0).abs() < 0.01, "{:?}", slide(0.01));
    assert!((slide(100.0).x / (-LAW.mu * load) - 1.0).abs() < 0.01, "{:?} {load}", slide(100.0));
}

#[test]
fn edges_that_are_parallel_leave_contact_to_vertices() {
    let x = [at(0.0, 0.0, 0.1), at(1.0, 0.0, 0.1), at(0.2, 0.0, 0.0), at(1.3, 0.0, 0.0)];
    assert_eq!(crossing_share(x), 0.0);
    assert!(nearest_of_edges(&x).is_none());
    // Two sheets with the same grid, one over the other.
    let surface = Arc::new(
        pullback_collide::Surface::new([common::sheet(4, 4, 0), common::sheet(4, 4, 16)].concat(), 32)
            .expect("two sheets"),
    );
    let grid = |z: f64| (0..16).map(move |k| at(f64::from(k / 4), f64::from(k % 4), z));
    let x: Vec<Vec3> = grid(0.0).chain(grid(0.1)).collect();
    let forces =
        contact(&surface, 2000).forces(&x, &vec![Vec3::default(); 32], Law { thickness: 0.2, ..LAW });
    assert!(forces[16..].iter().all(|f| f.z > 0.5), "{forces:?}");
}

#[test]
fn four_vertices_in_a_line_bear_no_friction() {
    let x = [at(0.0, 0.0, 0.0), at(0.1, 0.0, 0.0), at(0.5, 0.0, 0.0), at(0.9, 0.0, 0.0)];
    let v = [at(0.0, 0.3, 0.0), Vec3::default(), Vec3::default(), Vec3::default()];
    let f = of_triangle(x, v, LAW);
    assert!(f[0].x < -1.0 && f[0].y == 0.0 && f[0].z == 0.0, "{f:?}");
    // A little beside it they bear some, and it has no torque.
    let mut beside = x;
    beside[3].z = 0.01;
    let f = of_triangle(beside, v, LAW);
    let torque = (0..4).fold(Vec3::default(), |sum, k| sum + cross(beside[k], f[k]));
    assert!(f[0].y != 0.0 && length(torque) < 1e-10, "{f:?} {torque:?}");
}

#[test]
fn a_triangle_without_area_touches_with_its_sides() {
    let x = [at(0.3, 0.0, 0.1), at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.5, 0.0, 0.0)];
    let (on, squared) = nearest_on_triangle(&x);
    assert!(on != OnTriangle::Face && (squared - 0.01).abs() < 1e-15, "{on:?}");
    let f = triangle_forces(on, x, Default::default(), LAW);
    assert!((f[0].z - barrier(0.1, LAW.thickness, LAW.ke).1).abs() < 1e-9, "{f:?}");
}
