//! What the operation finds: all pairs and no others, the same bits in every run, no room.

mod common;

use std::sync::Arc;

use common::{LAW, Random, at, by_all_pairs, contact, loose, plain, sheet};
use pullback_collide::{Law, Surface, SurfaceError, clearance, crossings};
use pullback_kernel::prelude::*;

fn bits(forces: &[Vec3]) -> Vec<[u64; 3]> {
    forces.iter().map(|f| [f.x, f.y, f.z].map(|x| (x + 0.0).to_bits())).collect()
}

/// Random triangles of many sizes in a cube.
fn cloud(count: u32, random: &mut Random) -> (Arc<Surface>, Vec<Vec3>) {
    let mut x = Vec::new();
    for _ in 0..count {
        let (middle, size) = (random.vec3() * 2.0, 0.05 + 0.5 * random.next().abs().powi(3));
        x.extend((0..3).map(|_| middle + random.vec3() * size));
    }
    (loose(count), x)
}

#[test]
fn what_is_found_is_what_looking_at_all_finds() {
    let mut random = Random::seeded(7);
    let mut pairs = 0;
    for (count, thickness) in [(1, 0.5), (2, 0.7), (3, 1.0), (40, 0.1), (150, 0.1), (150, 0.02), (90, 0.7)] {
        let (surface, x) = cloud(count, &mut random);
        let v: Vec<Vec3> = x.iter().map(|_| random.vec3()).collect();
        let law = Law { thickness, ..LAW };
        let (truth, most) = by_all_pairs(&surface, &x, &v, law);
        // As much room as is needed is enough.
        let forces = contact(&surface, most).forces(&x, &v, law);
        assert_eq!(bits(&forces), bits(&truth), "{count} triangles, {thickness} m");
        pairs += most;
        if most > 0 {
            let less = contact(&surface, most - 1);
            let mut w = less.world(&x, &v, law);
            w.forward();
            let error = w.check_values().expect_err("too many pairs");
            assert!(error.to_string().contains("contact of surfaces"), "{error}");
        }
    }
    assert!(pairs > 1000, "{pairs}");
}

#[test]
fn runs_give_the_same_bits() {
    let mut random = Random::seeded(8);
    let (surface, x) = cloud(100, &mut random);
    let v: Vec<Vec3> = x.iter().map(|_| random.vec3()).collect();
    let contact = contact(&surface, 5000);
    let law = Law { thickness: 0.1, ..LAW };
    let run = |w: &mut Workspace<f64>| {
        w.forward();
        w.seed(contact.force, &v).expect("a seed for each force");
        w.clear_parameters();
        w.pullback();
        (bits(&w.read(contact.force)), bits(&w.bars(contact.moving.x)), w.bars(contact.touch.ke)[0].to_bits())
    };
    let mut w = contact.world(&x, &v, law);
    let first = run(&mut w);
    // After another state, and in a new world.
    let others: Vec<Vec3> = x.iter().map(|x| *x * 0.9).collect();
    contact.write(&mut w, &others, &v);
    run(&mut w);
    contact.write(&mut w, &x, &v);
    assert!(run(&mut w) == first);
    assert!(run(&mut contact.world(&x, &v, law)) == first);
    // World by world in a batch.
    let mut batch = contact.program.batch::<f64>(3, RunOptions::default());
    batch.write(contact.moving.v, &v).expect("velocities");
    let touch = contact.touch;
    let numbers = [touch.thickness, touch.ke, touch.kd, touch.kf, touch.mu];
    for (number, value) in numbers.into_iter().zip([law.thickness, law.ke, law.kd, law.kf, law.mu]) {
        batch.write(number, &[value]).expect("one value");
    }
    for world in 0..3 {
        batch.write_in(world, contact.moving.x, if world == 1 { &x } else { &others }).expect("positions");
    }
    batch.forward();
    batch.seed(contact.force, &v).expect("a seed for each force");
    batch.clear_parameters();
    batch.pullback();
    assert!(bits(&batch.read_in(1, contact.force).expect("forces")) == first.0);
    assert!(bits(&batch.bars_in(1, contact.moving.x).expect("cotangents")) == first.1);
    assert!(bits(&batch.read_in(0, contact.force).expect("forces")) != first.0);
}

#[test]
fn single_precision_is_near() {
    let mut random = Random::seeded(9);
    let (surface, x) = cloud(60, &mut random);
    let v: Vec<Vec3> = x.iter().map(|_| random.vec3()).collect();
    let contact = contact(&surface, 5000);
    let law = Law { thickness: 0.1, ..LAW };
    let truth = contact.forces(&x, &v, law);
    let mut w = contact.program.workspace::<f32>(RunOptions::default());
    let small = |x: &Vec3| Vec3 { x: x.x as f32, y: x.y as f32, z: x.z as f32 };
    w.write(contact.moving.x, &x.iter().map(small).collect::<Vec<_>>()).expect("positions");
    w.write(contact.moving.v, &v.iter().map(small).collect::<Vec<_>>()).expect("velocities");
    let touch = contact.touch;
    let numbers = [touch.thickness, touch.ke, touch.kd, touch.kf, touch.mu];
    for (number, value) in numbers.into_iter().zip([law.thickness, law.ke, law.kd, law.kf, law.mu]) {
        w.write(number, &[value as f32]).expect("one value");
    }
    w.forward();
    let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
    for (a, b) in w.read(contact.force).iter().zip(&truth) {
        let a = at(f64::from(a.x), f64::from(a.y), f64::from(a.z));
        worst = worst.max(length(a - *b) / (length(*b) + 0.1));
        largest = largest.max(length(*b));
    }
    assert!(worst < 1e-2 && largest > 1.0, "{worst} of {largest}");
    w.seed(contact.force, &v.iter().map(small).collect::<Vec<_>>()).expect("a seed for each force");
    w.pullback();
    w.check_bars().expect("numbers");
}

#[test]
fn surfaces_know_their_edges_and_vertices() {
    let surface = Surface::new(vec![[4, 2, 1], [1, 2, 7]], 8).expect("two triangles");
    assert_eq!(surface.edges(), [[2, 4], [1, 2], [1, 4], [2, 7], [1, 7]]);
    assert_eq!(surface.vertices(), [1, 2, 4, 7]);
    let refused = Surface::new(vec![[0, 1, 8]], 8);
    assert_eq!(refused, Err(SurfaceError::NoParticle { triangle: 0, corner: 8, particles: 8 }));
    assert_eq!(Surface::new(vec![[0, 1, 0]], 8), Err(SurfaceError::SameCorner { triangle: 0, corner: 0 }));
}

#[test]
fn crossings_are_counted() {
    let surface = Surface::new(vec![[0, 1, 2], [3, 4, 5]], 6).expect("two triangles");
    let flat = [at(-1.0, -1.0, 0.0), at(1.0, -1.0, 0.0), at(0.0, 1.0, 0.0)];
    let through = [at(0.0, 0.0, -1.0), at(0.1, 0.0, 1.0), at(0.2, 3.0, 1.0)];
    let all: Vec<Vec3> = flat.iter().chain(&through).copied().collect();
    // One side goes through the flat triangle; the other goes past it, and a side of the flat one goes through this one.
    assert_eq!(crossings(&surface, &plain(&all)), 2);
    let above: Vec<Vec3> = flat.into_iter().chain(through.map(|x| x + at(0.0, 0.0, 1.5))).collect();
    assert_eq!(crossings(&surface, &plain(&above)), 0);
    // All in one plane that is not along the axes, and all in a line.
    let surface = Surface::new(sheet(8, 8, 0), 64).expect("a sheet");
    let (u, v) = (at(0.3, 0.1, 0.7), at(-0.2, 0.9, 0.11));
    let flat: Vec<Vec3> = (0..64).map(|k| u * f64::from(k / 8) + v * f64::from(k % 8)).collect();
    assert_eq!(crossings(&surface, &plain(&flat)), 0);
    let folded: Vec<Vec3> =
        (0..64).map(|k: i32| u * f64::from((k / 8 - 3).abs()) + v * f64::from(k % 8)).collect();
    assert_eq!(crossings(&surface, &plain(&folded)), 0);
}

/// Möller and Trumbore's test of a segment and a triangle.
fn goes_through(a: Vec3, b: Vec3, [p, q, r]: [Vec3; 3]) -> bool {
    let (u, v, along) = (q - p, r - p, b - a);
    let h = cross(along, v);
    let k = 1.0 / dot(u, h);
    let (s, g) = (a - p, cross(a - p, u));
    let (x, y, t) = (k * dot(s, h), k * dot(along, g), k * dot(v, g));
    x >= 0.0 && y >= 0.0 && x + y <= 1.0 && (0.0..=1.0).contains(&t)
}

#[test]
fn crossings_are_those_of_all_edges_and_triangles() {
    let (surface, mut random) = (loose(60), Random::seeded(16));
    let x: Vec<Vec3> = (0..180).map(|_| random.vec3()).collect();
    let mut count = 0;
    for &[a, b] in surface.edges() {
        for corners in surface.triangles().iter().filter(|corners| !corners.contains(&a)) {
            let at = |i: u32| x[i as usize];
            count += usize::from(goes_through(at(a), at(b), corners.map(at)));
        }
    }
    assert!(count > 20, "{count}");
    assert_eq!(crossings(&surface, &plain(&x)), count);
}

#[test]
fn without_triangles_there_is_no_force() {
    let surface = Arc::new(Surface::new(Vec::new(), 3).expect("no triangles"));
    let forces = contact(&surface, 0).forces(&[Vec3::default(); 3], &[Vec3::default(); 3], LAW);
    assert_eq!(forces, [Vec3::default(); 3]);
}

#[test]
fn clearance_is_the_least_distance() {
    let surface = Surface::new([sheet(5, 6, 0), sheet(4, 4, 30)].concat(), 46).expect("two sheets");
    let mut x: Vec<Vec3> = (0..30).map(|k| at(f64::from(k / 6), f64::from(k % 6), 0.0)).collect();
    let alone = Surface::new(sheet(5, 6, 0), 30).expect("a sheet");
    // From a corner to the diagonal that it is not on.
    assert!((clearance(&alone, &plain(&x), 10.0) - 0.5_f64.sqrt()).abs() < 1e-12);
    assert_eq!(clearance(&alone, &plain(&x), 0.3), 0.3);
    x.extend((0..16).map(|k| at(f64::from(k / 4) + 0.3, f64::from(k % 4) + 0.4, 0.25)));
    assert!((clearance(&surface, &plain(&x), 10.0) - 0.25).abs() < 1e-12);
}
