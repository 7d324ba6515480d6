//! The order of every integrator, of the state and of the gradient, on smooth nonlinear problems.

mod measure;

use measure::{distance, has_order, integrators, measure, order};
use pullback_engine::{Integrator, Model};
use pullback_scene::{AppliedForce, Particles, Scene, Springs};

/// Three particles on springs that turn and stretch: nonlinear, smooth, and nothing is symmetric.
fn scene(velocities: bool, time: bool) -> Scene {
    let mut trio = Particles::many("trio", vec![[0.0; 3], [1.0, 0.2, 0.1], [0.4, 0.9, -0.3]], 0.5);
    trio.masses = vec![0.5, 0.7, 0.4];
    trio.velocities = vec![[0.0, 0.3, 0.5], [-0.6, 1.2, 0.4], [0.8, -0.5, 0.9]];
    let mut springs = Springs::many("spring", vec![[0, 1], [1, 2], [0, 2]], 14.0, 0.8);
    if velocities {
        trio = trio.drag(0.3);
        springs = springs.damping(0.6);
    }
    let mut scene = Scene { particles: vec![trio], springs: vec![springs], ..Scene::default() };
    // The air comes from far away, so that no particle moves with it: there |v - w| (v - w) is not smooth.
    scene.world.wind = [-3.0, 4.0, 9.0];
    if time {
        scene.forces =
            vec![AppliedForce::constant("swing", vec![0, 2], [1.0, -2.0, 1.5]).oscillating(0.8, 0.3)];
    }
    scene
}

/// Steps that are short enough for the order to show, and long enough for rounding (1e-12 on the lattice) not to.
fn steps(integrator: Integrator) -> usize {
    match order(integrator) as usize {
        1 => 1600,
        2 => 200,
        _ => 80,
    }
}

fn check(velocities: bool, time: bool) {
    let model = Model::new(&scene(velocities, time)).expect("a scene");
    let truth = measure(&model, Integrator::RungeKutta4, 4000, 1);
    for integrator in integrators(!velocities) {
        let steps = steps(integrator);
        let (coarse, fine) =
            (measure(&model, integrator, steps, 1), measure(&model, integrator, 2 * steps, 1));
        let name = format!("{}, velocities {velocities}, time {time}", integrator.name());
        has_order(&name, order(integrator), [&coarse, &fine, &truth]);
    }
}

#[test]
fn forces_of_positions() {
    check(false, false);
}

#[test]
fn forces_of_positions_and_time() {
    check(false, true);
}

#[test]
fn forces_of_positions_and_velocities() {
    check(true, false);
}

#[test]
fn forces_of_positions_velocities_and_time() {
    check(true, true);
}

/// Parts of a step are steps: the same bits as with as many steps, where the control stays the same.
#[test]
fn parts_of_a_step_are_shorter_steps() {
    for velocities in [false, true] {
        let model = Model::new(&scene(velocities, true)).expect("a scene");
        for integrator in integrators(!velocities) {
            // 64 and 16: the same length of a part to the bit.
            let (whole, parts) = (measure(&model, integrator, 64, 1), measure(&model, integrator, 16, 4));
            assert_eq!(whole[0], parts[0], "{}", integrator.name());
            let distance = distance(&whole[1], &parts[1]);
            assert!(distance < 1e-11, "{}: {distance:.2e}", integrator.name());
        }
    }
}
