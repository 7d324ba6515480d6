//! A heap of loose boxes and balls in Rapier: the peer of `cargo xtask bench heap`.
//!
//! The bodies, starts, friction and steps of `bench/src/heaps.rs`, in double and in single precision, with Rapier's own
//! settings but that nothing sleeps. Its solver makes four rounds of one sweep a step and starts from the impulses of the step
//! before.
//!
//! Prints one JSON object a line:
//! * BODIES-falling/forward: microseconds a step, from the start until the heap lies; -f32 in single precision;
//! * BODIES-resting/forward: the same of a heap that lies.

use std::time::Instant;

/// Radius of balls, half the sides of boxes [m].
const SIZE: f64 = 0.1;
/// The length of a step [s].
const DT: f64 = 0.005;
const FRICTION: f64 = 0.5;
/// How far bodies of a layer, and layers, are apart at first [m].
const APART: f64 = 0.25;
/// Steps until it lies, and steps of a heap that lies which are measured.
const FALLING: usize = 400;
const RESTING: usize = 100;

/// The same numbers as those of the other side.
fn chance(seed: usize) -> f64 {
    let mut x = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    for _ in 0..3 {
        x ^= x >> 29;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn starts(bodies: usize) -> Vec<[f64; 3]> {
    let side = (bodies as f64 / 1.5).cbrt().round().max(1.0) as usize;
    let middle = 0.5 * (side - 1) as f64;
    let at = |i: usize| {
        let (x, y, z) = (i % side, i / side % side, i / (side * side));
        let aside = |k: usize| 0.02 * chance(3 * i + k);
        let along = |cell: usize, k: usize| APART * (cell as f64 - middle) + aside(k);
        [along(x, 0), along(y, 1), SIZE + 0.05 + APART * z as f64]
    };
    (0..bodies).map(at).collect()
}

fn row(case: &str, value: f64) {
    println!(r#"{{"case": "{case}", "unit": "us/step", "value": {value}}}"#);
}

macro_rules! measured {
    ($name:ident, $rapier:ident, $real:ty) => {
        fn $name(bodies: usize, precision: &str) {
            use $rapier::prelude::*;
            let mut world = PhysicsWorld::default();
            world.gravity = Vector::new(0.0, 0.0, -9.81);
            world.integration_parameters.dt = DT as $real;
            let friction = FRICTION as $real;
            world.insert(
                RigidBodyBuilder::fixed().translation(Vector::new(0.0, 0.0, -1.0)),
                ColliderBuilder::cuboid(50.0, 50.0, 1.0).friction(friction),
            );
            let size = SIZE as $real;
            for (i, [x, y, z]) in starts(bodies).into_iter().enumerate() {
                let shape = match i.is_multiple_of(2) {
                    true => ColliderBuilder::cuboid(size, size, size),
                    false => ColliderBuilder::ball(size),
                };
                let at = Vector::new(x as $real, y as $real, z as $real);
                let body = RigidBodyBuilder::dynamic().translation(at).can_sleep(false);
                world.insert(body, shape.mass(1.0).friction(friction));
            }
            for (phase, steps) in [("falling", FALLING), ("resting", RESTING)] {
                let start = Instant::now();
                (0..steps).for_each(|_| world.step());
                let each = start.elapsed().as_secs_f64() / steps as f64;
                row(&format!("{bodies}-{phase}{precision}/forward"), 1e6 * each);
            }
            let lowest = world.bodies.iter().filter(|(_, body)| body.is_dynamic());
            let lowest = lowest.map(|(_, body)| body.translation().z).fold(<$real>::INFINITY, <$real>::min);
            eprintln!("lowest middle of a body{precision}: {lowest} m");
        }
    };
}
measured!(double, rapier3d_f64, f64);
measured!(single, rapier3d, f32);

fn main() {
    double(1000, "");
    single(1000, "-f32");
}
