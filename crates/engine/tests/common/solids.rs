//! Small soft solids: of every material, with and without viscosity, with numbers for all of them or for each element.

use pullback_engine::Model;
use pullback_engine::soft::{Corotated, Elasticity, Material, NeoHookean, Solid, StVenantKirchhoff};
use pullback_scene::{Particles, Scene, World};

/// A box of 2 × 1 × 1 cells of half a metre, each of six tetrahedra (Kuhn), whose inner and outer corners are moved by a part of a cell.
pub fn block(cells: [usize; 3], uneven: f64) -> (Vec<[f64; 3]>, Vec<[usize; 4]>) {
    let counts = cells.map(|n| n + 1);
    let at = |[i, j, k]: [usize; 3]| i + counts[0] * (j + counts[1] * k);
    let mut points = vec![[0.0; 3]; counts.iter().product()];
    for k in 0..counts[2] {
        for j in 0..counts[1] {
            for i in 0..counts[0] {
                let n = at([i, j, k]);
                let moved = |axis: usize| ((n * 7 + axis * 5) % 11) as f64 / 11.0 - 0.5;
                let cell = [i, j, k];
                points[n] = std::array::from_fn(|axis| 0.5 * (cell[axis] as f64 + uneven * moved(axis)));
            }
        }
    }
    // One tetrahedron for each order in which a path goes along x, y and z from corner to corner; odd ones are turned round.
    let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]];
    let mut elements = Vec::new();
    for k in 0..cells[2] {
        for j in 0..cells[1] {
            for i in 0..cells[0] {
                for (o, order) in orders.iter().enumerate() {
                    let mut corner = [i, j, k];
                    let mut path = [at(corner); 4];
                    for (step, &axis) in order.iter().enumerate() {
                        corner[axis] += 1;
                        path[step + 1] = at(corner);
                    }
                    if o >= 3 {
                        path.swap(1, 2);
                    }
                    elements.push(path);
                }
            }
        }
    }
    (points, elements)
}

/// A solid of a material in a scene with these particles, which are its corners.
pub fn solid(mut scene: Scene, material: impl Material, elasticity: Elasticity) -> Model {
    let (points, elements) = block([2, 1, 1], 0.3);
    let solid = Solid::new("block", (&points, elements), material, elasticity).expect("a good mesh");
    scene.particles[0].masses = solid.masses(400.0, points.len());
    Model::new(&scene).and_then(|model| model.with_force(solid)).expect("a model")
}

/// The corners of the block, deformed and moving; one is held fast.
fn scene() -> Scene {
    let (points, _) = block([2, 1, 1], 0.3);
    let bent = |[x, y, z]: [f64; 3]| [1.1 * x + 0.1 * y, 0.9 * y - 0.1 * x + 0.05 * z, z + 0.1 * x * x];
    let mut corners = Particles::many("corner", points.iter().copied().map(bent).collect(), 1.0);
    for (i, v) in corners.velocities.iter_mut().enumerate() {
        *v = std::array::from_fn(|axis| ((i * 5 + axis * 3) % 7) as f64 / 7.0 - 0.4);
    }
    corners.fixed[0] = [true; 3];
    corners.velocities[0] = [0.0; 3];
    let world = World { gravity: [0.3, 0.0, -9.0], ..World::default() };
    Scene { particles: vec![corners], world, ..Scene::default() }
}

/// The name of each, its model, and whether it keeps its energy.
pub fn all() -> Vec<(&'static str, Model, bool)> {
    let plain = Elasticity { actuation: vec![0.07], ..Elasticity::of_young(3e4, 0.3) };
    let mut each = plain.clone().viscous(20.0).for_each(12);
    for (i, mu) in each.mu.iter_mut().enumerate() {
        *mu *= 1.0 + 0.05 * i as f64;
    }
    vec![
        ("a solid of neo-Hookean rubber", solid(scene(), NeoHookean, plain.clone()), true),
        ("a viscous solid, each element its own", solid(scene(), NeoHookean, each), false),
        ("a solid of St. Venant and Kirchhoff", solid(scene(), StVenantKirchhoff, plain.clone()), true),
        ("a corotated viscous solid", solid(scene(), Corotated, plain.clone().viscous(30.0)), false),
    ]
}
