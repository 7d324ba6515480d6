//! Loose bodies that fall into a heap: boxes and balls in layers, each a little aside of the one below.

use pullback_scene::robot::{Geometry, Inertial, Placement, Robot, Shape};
use pullback_scene::{Complementarity, Contact, ContactModel, Ground, Scene, Simulation};

/// Radius of balls, half the sides of boxes [m].
pub const SIZE: f64 = 0.1;

/// The mass of a body [kg].
pub const MASS: f64 = 1.0;

/// The length of a step [s].
pub const DT: f64 = 0.005;

/// Coefficient of friction.
pub const FRICTION: f64 = 0.5;

/// How far bodies of a layer, and layers, are apart at first [m].
const APART: f64 = 0.25;

/// A number from -1 to 1 that looks like chance, and is the same for all who ask.
fn chance(seed: usize) -> f64 {
    let mut x = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    for _ in 0..3 {
        x ^= x >> 29;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Where the bodies of a heap start: as many in a row as in a column, and half as many again in layers.
#[must_use]
pub fn starts(bodies: usize) -> Vec<[f64; 3]> {
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

/// Is body `i` a box? The others are balls.
#[must_use]
pub fn is_box(i: usize) -> bool {
    i.is_multiple_of(2)
}

/// A heap in the air, at rest, over the ground.
#[must_use]
pub fn heap(bodies: usize, law: Complementarity) -> Scene {
    let placement = |position: [f64; 3]| Placement { position, ..Placement::default() };
    let starts = starts(bodies);
    let of = |name: &str, boxes: bool, geometry: Geometry, moment: f64| {
        let chosen = starts.iter().enumerate().filter(|(i, _)| is_box(*i) == boxes);
        let placements: Vec<Placement> = chosen.map(|(_, at)| placement(*at)).collect();
        let inertia = [moment, moment, moment, 0.0, 0.0, 0.0];
        let inertial = Inertial { mass: MASS, center: [0.0; 3], inertia };
        Robot::loose_bodies(name, &placements, inertial).shaped(&Shape::new(geometry))
    };
    let boxes = of("boxes", true, Geometry::Box { half_sides: [SIZE; 3] }, MASS * SIZE * SIZE * 2.0 / 3.0);
    let balls = of("balls", false, Geometry::Sphere { radius: SIZE }, MASS * SIZE * SIZE * 0.4);
    let model = ContactModel::Complementarity(law);
    Scene {
        simulation: Simulation { dt: DT, ..Simulation::default() },
        robots: vec![boxes, balls],
        contact: Some(Contact { mu: FRICTION, model, ..Contact::default() }),
        ground: Some(Ground { mu: Some(FRICTION), ..Ground::default() }),
        ..Scene::default()
    }
}
