//! Controllers inside rollouts against the same loop written by hand, against controls that are given from outside, and their gradients
//! against differences.

mod common;

use common::{Everywhere, robots};
use pullback_engine::{Integrator, Model, Options, Params, Rollout, Scheme, Start, State, Step, Stepper};
use pullback_kernel::prelude::RunOptions;
use pullback_scene::robot::JointKind::{Ball, Hinge};
use pullback_scene::robot::{Motor, Robot, Transmission};
use pullback_scene::{Actuator, Controller, Particles, Scene, World};

/// Numbers from -1 to 1 without a pattern.
fn noise(i: usize) -> f64 {
    ((i as f64 + 1.0) * 12.9898).sin()
}

fn noises(count: usize, salt: usize) -> Vec<f64> {
    (0..count).map(|i| noise(100 * salt + i)).collect()
}

/// scale · tanh(b + W s + G y), with a row of W and G for each output.
fn network(controller: &Controller, time: f64, features: &[f64]) -> Vec<f64> {
    let waves: Vec<f64> = controller.sinusoids.iter().map(|[w, phase]| (w * time + phase).sin()).collect();
    let dot = |row: &[f64], of: &[f64]| row.iter().zip(of).map(|(a, b)| a * b).sum::<f64>();
    let sum = |i: usize, bias: f64| {
        let weights = &controller.weights[i * waves.len()..(i + 1) * waves.len()];
        let gains = &controller.gains[i * features.len()..(i + 1) * features.len()];
        bias + dot(weights, &waves) + dot(gains, features)
    };
    controller.biases.iter().enumerate().map(|(i, &bias)| controller.scale * sum(i, bias).tanh()).collect()
}

/// With weights, gains and biases for so many controls and numbers of the state.
fn filled(mut controller: Controller, outputs: usize, features: usize) -> Controller {
    controller.weights = noises(outputs * controller.sinusoids.len(), 1);
    controller.gains = noises(outputs * features, 2);
    controller.biases = noises(outputs, 3);
    controller
}

/// Two particles that fly, each pushed by three numbers of a network, on top of what is given from outside.
#[test]
fn a_plain_loop() {
    const STEPS: usize = 12;
    let (dt, masses, gravity) = (0.05, [0.7, 1.9], [0.3, -0.2, -9.0]);
    let mut pair = Particles::many("pair", vec![[0.1, -0.2, 0.9], [0.6, 0.4, -0.3]], 1.0);
    pair.masses = masses.to_vec();
    pair.velocities = vec![[1.1, 0.4, -0.6], [-0.5, 0.8, 0.2]];
    let controller = Controller {
        sinusoids: vec![[11.0, 0.3], [4.0, -1.1]],
        scale: 2.5,
        ..Controller::new("pilot", "*.force", 1.0, 0)
    }
    .seeing(&["pair[1].velocity.y", "pair[0].position", "pair[0].velocity.z"]);
    let controller = filled(controller, 6, 5);
    // What those names are in the state: six positions, then six velocities.
    let seen = |state: &[f64]| [10, 0, 1, 2, 8].map(|i| state[i]);
    let given = noises(6 * STEPS, 4);
    let scene = Scene {
        world: World { gravity, ..World::default() },
        particles: vec![pair],
        actuators: vec![Actuator::new("left", 0), Actuator::new("right", 1)],
        controllers: vec![controller.clone()],
        ..Scene::default()
    };
    let model = Model::new(&scene).expect("a scene that makes sense");
    let (first, params) = (model.state(), model.params());
    for substeps in [1, 3] {
        let scheme = Scheme { integrator: Integrator::SemiImplicitEuler, dt, substeps };
        let step = Step::new(&model, scheme).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
        let mut found = Vec::new();
        let start = Start::new(&first, &given, &params);
        rollout.watch(&start, |m| found.push(m.state.to_vec())).expect("it flies");

        let h = dt / substeps as f64;
        let mut state = first.values().to_vec();
        let (mut alone, mut most) = (state.clone(), 0.0f64);
        for i in 0..STEPS {
            let u = &given[6 * i..6 * (i + 1)];
            for part in 0..substeps {
                // Time and state are those at the start of the part; u is that of the step.
                let more = network(&controller, i as f64 * dt + part as f64 * h, &seen(&state));
                for (state, more) in [(&mut state, more), (&mut alone, vec![0.0; 6])] {
                    for k in 0..6 {
                        state[6 + k] += h * (gravity[k % 3] + (u[k] + more[k]) / masses[k / 3]);
                        state[k] += h * state[6 + k];
                    }
                }
            }
            let off = state.iter().zip(&found[i + 1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-13, "step {i} of {substeps} parts: {off:e}");
            most = state.iter().zip(&alone).map(|(a, b)| (a - b).abs()).fold(most, f64::max);
        }
        assert!(most > 0.1, "the network does something: {most}");
    }
}

/// An arm of two hinges and a ball, with a motor at each hinge and at an axis of the ball.
fn arm(name: &str) -> Robot {
    let mut arm = robots::chain(name, &[Hinge, Hinge, Ball]);
    for (joint, name) in arm.joints.iter_mut().zip(["shoulder", "elbow", "wrist"]) {
        joint.name = name.into();
    }
    let motor = |name: &str, joint: usize, gear: &[f64]| Motor {
        name: name.into(),
        transmission: Transmission::Joint { joint, gear: gear.to_vec() },
        gain: [1.0, 0.0, 0.0],
        bias: [0.0; 3],
        control_range: None,
        force_range: None,
        controls: Vec::new(),
    };
    arm.motors =
        vec![motor("lift", 0, &[1.5]), motor("bend", 1, &[-0.8]), motor("turn", 2, &[0.5, -0.3, 0.2])];
    arm.start.controls = vec![0.2, -0.1, 0.3];
    arm
}

/// Two arms and a particle, so that nothing is the first of its kind; the second arm is driven.
fn scene(driven: bool) -> (Scene, Controller) {
    let mut other = arm("other");
    other.start.positions[1] += 0.4;
    let controller = Controller {
        sinusoids: vec![[9.0, 0.4]],
        scale: 0.7,
        ..Controller::new("mind", "arm.*.control", 1.0, 0)
    }
    .seeing(&[
        "arm.wrist.angular_velocity",
        "arm.elbow.position",
        "bead.position.z",
        "arm.elbow.velocity",
        "other.shoulder.position",
        "arm.wrist.orientation",
        "bead.velocity",
    ]);
    let controller = filled(controller, 3, 3 + 1 + 1 + 1 + 1 + 4 + 3);
    let scene = Scene {
        particles: vec![Particles::single("bead", [0.1, 0.2, 0.3], 0.4).velocity([0.5, -0.2, 0.8])],
        robots: vec![other, arm("arm")],
        controllers: if driven { vec![controller.clone()] } else { Vec::new() },
        ..Scene::default()
    };
    (scene, controller)
}

/// A robot's motors that a network drives are those that get the same numbers as controls, computed here step by step from the state, under
/// every integrator that bodies have. A state has three positions of the particle, and of each arm a quaternion and two hinges; then three
/// velocities of the particle, and of each arm those of the ball and of two hinges.
#[test]
fn an_arm_that_a_network_drives() {
    const STEPS: usize = 25;
    let dt = 0.01;
    let ((driven, controller), (plain, _)) = (scene(true), scene(false));
    let [driven, plain] = [driven, plain].map(|scene| Model::new(&scene).expect("a scene that makes sense"));
    let (state, params) = (driven.state(), driven.params());
    assert_eq!((driven.positions(), state.values().len()), (15, 28));
    let seen = |state: &[f64]| {
        let places = [23..26, 14..15, 2..3, 27..28, 7..8, 9..13, 15..18];
        places.into_iter().flat_map(|place| state[place].to_vec()).collect::<Vec<f64>>()
    };
    // Six motors, those of the driven arm last.
    let given: Vec<f64> =
        driven.controls(STEPS).iter().zip(noises(6 * STEPS, 5)).map(|(u, n)| u + n).collect();
    let mut ends = Vec::new();
    for integrator in Integrator::ALL {
        if integrator == Integrator::ReversibleVerlet {
            continue;
        }
        let scheme = Scheme::new(integrator, dt);
        let [a, b] = [&driven, &plain].map(|model| Step::new(model, scheme).expect("a step"));
        let mut rollout = Rollout::<f64>::new(&a, Options::new(STEPS)).expect("a rollout");
        let mut found = Vec::new();
        let start = Start::new(&state, &given, &params);
        rollout.watch(&start, |m| found.push(m.state.to_vec())).expect("it moves");

        let mut stepper = Stepper::<f64>::new(&b, 1, RunOptions::default());
        let mut now = state.values().to_vec();
        let mut worst = 0.0f64;
        for (i, found) in found[1..].iter().enumerate() {
            let mut u = given[6 * i..6 * (i + 1)].to_vec();
            let more = network(&controller, i as f64 * dt, &seen(&now));
            u[3..].iter_mut().zip(&more).for_each(|(u, more)| *u += more);
            stepper.set_params(0, plain.params().values()).expect("params");
            stepper.set_control(0, &u).expect("a control");
            stepper.set_state(&now).expect("a state");
            stepper.advance(i).expect("a step");
            now.copy_from_slice(stepper.state());
            worst = now.iter().zip(found).map(|(a, b)| (a - b).abs()).fold(worst, f64::max);
        }
        println!("{}: {worst:.1e}", integrator.name());
        assert!(worst < 1e-12, "{}: {worst:e}", integrator.name());
        ends.push(now);
    }
    // Integrators are not the same, and what is not driven does something else.
    assert_eq!(ends.len(), 6);
    assert!(ends.windows(2).all(|pair| pair[0] != pair[1]));
}

/// What a number of controls is to the loss goes through the torques, the state that the network sees, and back into it: by every weight,
/// gain and bias, and by every direction in which the initial state can go, with steps in two parts. The error of differences over h is h² of
/// the third derivative and rounding/h, some 1e-9 of the largest.
#[test]
fn gradients_through_a_network() {
    const STEPS: usize = 8;
    let model = Model::new(&scene(true).0).expect("a scene that makes sense");
    let (state, params, given) = (model.state(), model.params(), model.controls(STEPS));
    for integrator in [Integrator::SemiImplicitEuler, Integrator::RungeKutta4, Integrator::ImplicitMidpoint] {
        let step = Step::new(&model, Scheme { integrator, dt: 0.03, substeps: 2 }).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
        let start = Start::new(&state, &given, &params);
        let gradient = rollout.gradient(&start, &Everywhere).expect("a gradient").clone();
        let mut difference = |change: &dyn Fn(&mut State, &mut Params, f64)| {
            let h = 1e-5;
            let [up, down] = [h, -h].map(|h| {
                let (mut state, mut params) = (state.clone(), params.clone());
                change(&mut state, &mut params, h);
                rollout.value(&Start::new(&state, &given, &params), &Everywhere).expect("a value")[0]
            });
            (up - down) / (2.0 * h)
        };
        let check = |what: &str, found: Vec<f64>, wanted: Vec<f64>| {
            let most = found.iter().map(|x| x.abs()).fold(0.0, f64::max);
            let least = found.iter().map(|x| x.abs()).fold(f64::INFINITY, f64::min);
            let off = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / most;
            println!("{}, {what}: {off:.1e} of {most:.2e}, least {least:.1e}", integrator.name());
            assert!(least > 0.0 && most > 1e-3, "{what}: from {least} to {most}");
            assert!(off > 0.0 && off < 1e-7, "{}, {what}: {off:e} off", integrator.name());
        };
        for (field, count) in [("weights", 3), ("gains", 42), ("biases", 3)] {
            let range = model.params_layout().find(&format!("mind.{field}")).expect("params");
            assert_eq!(range.len(), count);
            let by = |i: usize| difference(&|_, params, h| params.values_mut()[i] += h);
            let wanted = range.clone().map(by).collect();
            check(field, gradient.params[range].to_vec(), wanted);
        }
        let found = state.to_tangent(&gradient.states).expect("a tangent");
        let by = |i: usize| {
            let tangent: Vec<f64> = (0..found.len()).map(|k| if k == i { 1.0 } else { 0.0 }).collect();
            let along = |state: &mut State, h: f64| {
                state.retract(&tangent.iter().map(|x| h * x).collect::<Vec<_>>()).expect("a state")
            };
            difference(&|state, _, h| along(state, h))
        };
        let wanted = (0..found.len()).map(by).collect();
        check("initial state", found, wanted);
    }
}
