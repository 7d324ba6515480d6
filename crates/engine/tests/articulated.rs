//! Robots in worlds and on their own: linearised steps, forces on bodies, inertia that stays consistent, energy.

mod common;

use std::cell::RefCell;

use common::{robots, worlds};
use pullback_engine::articulated::{LogCholesky, Mechanism, Watch};
use pullback_engine::rollout::Moment;
use pullback_engine::{Energy, Integrator, Model, Options, Rollout, Scheme, Start, State, Step};
use pullback_kernel::prelude::*;
use pullback_scene::Scene;
use pullback_scene::robot::{Body, Inertial, Robot};

fn model(robot: Robot) -> Model {
    Model::new(&Scene { robots: vec![robot], ..Scene::default() }).expect("a model")
}

/// One step.
fn next(rollout: &mut Rollout, states: &[f64], controls: &[f64], params: &[f64]) -> Vec<f64> {
    let mut last = Vec::new();
    let start = Start { states, controls, params };
    rollout.watch(&start, |moment| last = moment.state.to_vec()).expect("a step");
    last
}

/// A and B against differences on the manifold, of every world with a robot, for every integrator.
#[test]
fn steps_are_linearised_in_the_tangent_space() {
    let robots = |world: &common::World| !world.model.robots().is_empty();
    for world in worlds().into_iter().filter(robots) {
        for integrator in world.integrators() {
            let model = &world.model;
            let step = Step::new(model, Scheme::new(integrator, 0.01)).expect("a step");
            let (state, control, params) = (model.state(), model.controls(1), model.params());
            let found = step.linearise(0, state.values(), &control, params.values()).expect("A and B");
            let rollout = RefCell::new(Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout"));
            let layout = model.state_layout();
            let reached = State::from_values(layout, found.next.clone()).expect("a state");
            let difference = |to: Vec<f64>| {
                reached.difference(&State::from_values(layout, to).expect("a state")).expect("a tangent")
            };
            let scale = found.a.iter().chain(&found.b).fold(1.0, |most: f64, x| most.max(x.abs()));
            // Of the worst entry of a column: how far it is from its difference.
            let worst = |column: usize, matrix: &[f64], width: usize, h: f64, ends: [Vec<f64>; 2]| {
                let [plus, minus] = ends.map(difference);
                let apart = |i: usize| (matrix[i * width + column] - (plus[i] - minus[i]) / (2.0 * h)).abs();
                (0..found.states).map(apart).fold(0.0, f64::max)
            };
            // Long steps change what touches, short ones drown in rounding: one of them must agree.
            let steps: &[f64] = if world.hard { &[1e-5, 1e-6, 1e-7] } else { &[1e-5] };
            let agree = |what: String, mut worst: Box<dyn FnMut(f64) -> f64 + '_>| {
                let least = steps.iter().map(|h| worst(*h)).fold(f64::INFINITY, f64::min);
                let name = format!("{} with {}: {what}", world.name, integrator.name());
                assert!(least < 1e-7 * scale, "{name}: {least:.1e} of {scale}");
            };
            for j in 0..found.states {
                let ends = |h: f64| {
                    [h, -h].map(|h| {
                        let mut moved = state.clone();
                        let mut tangent = vec![0.0; found.states];
                        tangent[j] = h;
                        moved.retract(&tangent).expect("moved");
                        next(&mut rollout.borrow_mut(), moved.values(), &control, params.values())
                    })
                };
                let worst = |h: f64| worst(j, &found.a, found.states, h, ends(h));
                agree(format!("column {j} of A"), Box::new(worst));
            }
            for j in 0..found.controls {
                let ends = |h: f64| {
                    [h, -h].map(|h| {
                        let mut control = control.clone();
                        control[j] += h;
                        next(&mut rollout.borrow_mut(), state.values(), &control, params.values())
                    })
                };
                let worst = |h: f64| worst(j, &found.b, found.controls, h, ends(h));
                agree(format!("column {j} of B"), Box::new(worst));
            }
        }
    }
}

fn some(n: usize, salt: f64) -> Vec<f64> {
    (0..n).map(|i| (1.3 * i as f64 + salt).sin()).collect()
}

/// Forces on bodies are worth Jᵀ f on joints; and their pullback against differences.
#[test]
fn bodies_can_be_pushed() {
    let robot = robots::tree();
    let mut mechanism = Mechanism::<f64>::new(&robot).expect("a mechanism");
    let start = mechanism.robot().clone();
    let (q, v) = (start.positions_of(&robot.start.positions), start.velocities_of(&robot.start.velocities));
    let n = v.len();
    let tau = some(n, 0.2);
    let vector = |i: usize, salt: f64| {
        let x = some(3, salt + i as f64);
        vec3(x[0], x[1], x[2])
    };
    let pushes: Vec<Force> =
        (0..robot.bodies.len()).map(|i| Force { torque: vector(i, 0.4), force: vector(i, 1.9) }).collect();
    let mut joints = tau.clone();
    for (b, push) in pushes.iter().enumerate() {
        let j = mechanism.body_jacobian(&q, b).expect("a Jacobian");
        let f = [push.force.x, push.force.y, push.force.z, push.torque.x, push.torque.y, push.torque.z];
        (0..n).for_each(|i| joints[i] += (0..6).map(|k| j[k * n + i] * f[k]).sum::<f64>());
    }
    let wanted = mechanism.forward_dynamics(&q, &v, &joints).expect("FD");
    let found = mechanism.forward_dynamics_pushed((&q, &v, &tau), &pushes).expect("FD");
    for (a, b) in found.iter().zip(&wanted) {
        assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{found:?}\n{wanted:?}");
    }

    let weights = some(n, 3.0);
    let (bars, push_bars) =
        mechanism.forward_dynamics_pushed_pullback((&q, &v, &tau), &pushes, &weights).expect("bars");
    let mut value = |q: &[f64], pushes: &[Force]| -> f64 {
        let a = mechanism.forward_dynamics_pushed((q, &v, &tau), pushes).expect("FD");
        a.iter().zip(&weights).map(|(a, w)| a * w).sum()
    };
    let h = 1e-5;
    for i in 0..q.len() {
        let mut at = |h: f64| {
            let mut q = q.clone();
            q[i] += h;
            value(&q, &pushes)
        };
        let wanted = (at(h) - at(-h)) / (2.0 * h);
        let scale = 1.0 + wanted.abs();
        assert!((bars.positions[i] - wanted).abs() < 1e-6 * scale, "q {i}: {} {wanted}", bars.positions[i]);
    }
    for b in 0..pushes.len() {
        for k in 0..6 {
            let mut at = |h: f64| {
                let mut pushes = pushes.clone();
                let Force { torque, force } = &mut pushes[b];
                *[&mut force.x, &mut force.y, &mut force.z, &mut torque.x, &mut torque.y, &mut torque.z]
                    [k] += h;
                value(&q, &pushes)
            };
            let wanted = (at(h) - at(-h)) / (2.0 * h);
            let Force { torque, force } = push_bars[b];
            let found = [force.x, force.y, force.z, torque.x, torque.y, torque.z][k];
            assert!((found - wanted).abs() < 1e-7 * (1.0 + wanted.abs()), "push {b} {k}: {found} {wanted}");
        }
    }
}

/// The params of log-Cholesky give the same motion, and any numbers for them a possible body.
#[test]
fn consistent_inertia_is_the_same_inertia() {
    let plain = robots::tree();
    let consistent = Robot { consistent: true, ..plain.clone() };
    let scheme = Scheme::new(Integrator::RungeKutta4, 0.01);
    let run = |robot: Robot| {
        let model = model(robot);
        let step = Step::new(&model, scheme).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
        next(&mut rollout, model.state().values(), &[], model.params().values())
    };
    // A link without mass, which only carries another, is as good.
    let mut light = plain.clone();
    let (parent, placement) = (light.bodies[0].parent, light.bodies[0].placement);
    let nothing = Inertial { mass: 0.0, center: [0.0; 3], inertia: [0.0; 6] };
    light.bodies.push(Body { name: "mark".into(), parent, placement, inertial: nothing });
    let light_too = Robot { consistent: true, ..light.clone() };
    for (plain, consistent) in [(plain, consistent), (light, light_too)] {
        for (a, b) in run(plain).iter().zip(&run(consistent)) {
            assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
        }
    }
    let mut impossible = Robot { consistent: true, ..robots::tree() };
    impossible.bodies[1].inertial.inertia = [0.1, 0.1, 0.2, 0.0, 0.0, 0.0];
    let scene = Scene { robots: vec![impossible.clone()], ..Scene::default() };
    let error = Model::new(&scene).expect_err("no mass in space").to_string();
    assert!(error.contains(&impossible.bodies[1].name) && error.contains("`consistent`"), "{error}");
    let of = |inertia: [f64; 6]| LogCholesky::of(&Inertial { mass: 2.0, center: [0.0; 3], inertia });
    assert!(of([0.1, 0.2, 0.25, 0.0, 0.0, 0.0]).is_some());
    // One moment is larger than both others together; a point; a rod.
    assert!(of([0.1, 0.2, 0.35, 0.0, 0.0, 0.0]).is_none());
    assert!(of([0.0; 6]).is_none());
    assert!(of([0.1, 0.1, 0.0, 0.0, 0.0, 0.0]).is_none());
}

/// A mechanism says what is wrong with what it is asked, and does not answer with numbers that are none.
#[test]
fn questions_that_make_no_sense_are_refused() {
    let arm = robots::arm();
    let mut mechanism = Mechanism::<f64>::new(&arm).expect("a mechanism");
    let tree = mechanism.robot().tree().clone();
    let (q, v) = (arm.start.positions.clone(), vec![0.1; tree.velocities()]);
    let mut wrong = v.clone();
    wrong[1] = f64::NAN;
    let mut nowhere = q.clone();
    nowhere[0] = f64::INFINITY;
    let refused = |what: &str, answer: Result<(), pullback_engine::Error>| {
        let error = answer.expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    };
    refused("positions", mechanism.forward_dynamics(&nowhere, &v, &v).map(|_| ()));
    refused("velocities", mechanism.inverse_dynamics(&q, &wrong, &v).map(|_| ()));
    refused("forces or accelerations", mechanism.forward_dynamics(&q, &v, &wrong).map(|_| ()));
    refused("positions", mechanism.mass_matrix(&nowhere).map(|_| ()));
    refused("velocities", mechanism.bodies(&q, &wrong).map(|_| ()));
    refused("cotangents", mechanism.forward_dynamics_pullback((&q, &v, &v), &wrong).map(|_| ()));
    refused("frame `nose`", mechanism.frame_jacobian(&q, "nose").map(|_| ()));
    refused("body `99`", mechanism.body_jacobian(&q, 99).map(|_| ()));
    let mut params = mechanism.params().values().to_vec();
    let mass = mechanism.params().layout().find(&format!("{}.{}.mass", arm.name, arm.bodies[0].name));
    params[mass.expect("a mass").start] = -5.0;
    refused("it must be at least 0", mechanism.set_params(&params));
    let model = model(arm);
    let mut watch = Watch::new(&model).expect("bodies");
    let state = vec![f64::NAN; model.state().values().len()];
    refused("a state", watch.run(&state, model.params().values()));
}

/// The forearm of a file, whose joint has a range and no word of how hard that pushes back, swings and is held.
#[test]
fn joints_of_files_stay_in_their_ranges() {
    let robot = Robot::load("../scene/tests/good/arm.urdf", &Default::default()).expect("a robot").robot;
    let elbow = robot.joints.iter().position(|joint| joint.name == "elbow").expect("an elbow");
    let [low, high] = robot.joints[elbow].range.expect("a range");
    let farthest = |mut robot: Robot| {
        robot.start.velocities = vec![0.0; robot.joints.len()];
        robot.start.velocities[elbow] = 12.0;
        let model = model(robot);
        let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 1e-3)).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(2000)).expect("a rollout");
        let (state, controls, params) = (model.state(), model.controls(2000), model.params());
        let at = model.robots()[0].tree().places()[elbow];
        let (mut farthest, mut fastest): (f64, f64) = (0.0, 0.0);
        let start = Start { states: state.values(), controls: &controls, params: params.values() };
        let look = |moment: &Moment<'_>| {
            farthest = farthest.max(moment.state[at.position].abs());
            fastest = fastest.max(moment.state[model.positions() + at.velocity].abs());
        };
        rollout.watch(&start, look).expect("a run");
        (farthest, fastest)
    };
    assert_eq!(low, -high);
    let mut free = robot.clone();
    free.joints[elbow].range = None;
    let ((held, fastest), (free, _)) = (farthest(robot), farthest(free));
    // A spring with 1/50 s lets it go speed/50 too far, and a damper less.
    assert!(held > high && held < high + fastest / 50.0, "{held} {fastest}");
    assert!(free > high + 1.0, "{free}: it would go farther");
}

/// A robot in a world has the kinetic energy that it has on its own; it keeps its energy without dampers and motors.
#[test]
fn energy_is_that_of_the_robot() {
    let mut arm = robots::arm();
    arm.motors.clear();
    arm.start.controls.clear();
    for joint in &mut arm.joints {
        (joint.damping, joint.friction, joint.limit.damping) = (0.0, 0.0, 0.0);
    }
    arm.tendons.iter_mut().for_each(|tendon| tendon.damping = 0.0);
    let model = model(arm.clone());
    let mut energy = Energy::new(&model).expect("energy");
    assert!(energy.is_conserved());
    let (state, params) = (model.state(), model.params());
    let (kinetic, _) = energy.of(state.values(), params.values()).expect("energy");
    // On its own it has the same energy, but for springs.
    let mut mechanism = Mechanism::<f64>::new(&arm).expect("a mechanism");
    let n = model.positions();
    let (alone, _) = mechanism.energy(&state.values()[..n], &state.values()[n..]).expect("energy");
    assert!((alone - kinetic).abs() < 1e-12 * kinetic, "{alone} {kinetic}");

    let damped = self::model(robots::arm());
    assert!(!Energy::new(&damped).expect("energy").is_conserved());
}

/// A robot in which joints follow others against the same robot in which they are free: M = Gᵀ M' G, forces Gᵀ f'.
#[test]
fn joints_that_follow_are_joints_that_are_held() {
    let gripper = robots::gripper();
    let mut free = gripper.clone();
    free.joints.iter_mut().for_each(|joint| joint.mimic = None);
    let (mut held, mut loose) =
        (Mechanism::<f64>::new(&gripper).expect("a robot"), Mechanism::<f64>::new(&free).expect("a robot"));
    // Joint 1 is -0.6 q3 + 0.2, and joint 2 is 1.5 q1 - 0.1.
    let g = [[1.0, 0.0], [0.0, -0.6], [0.0, -0.9], [0.0, 1.0]];
    let spread = |x: &[f64]| -> Vec<f64> { g.iter().map(|row| row[0] * x[0] + row[1] * x[1]).collect() };
    let (q, v, a) = ([0.3, -0.4], [0.7, 1.1], [0.5, -0.8]);
    let mut all = spread(&q);
    all[1] += 0.2;
    all[2] += 1.5 * 0.2 - 0.1;
    let forces = loose.inverse_dynamics(&all, &spread(&v), &spread(&a)).expect("ID");
    let wanted: Vec<f64> = (0..2).map(|k| (0..4).map(|i| g[i][k] * forces[i]).sum()).collect();
    let found = held.inverse_dynamics(&q, &v, &a).expect("ID");
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + b.abs());
    assert!(found.iter().zip(&wanted).all(|(a, b)| near(*a, *b)), "{found:?} {wanted:?}");
    let back = held.forward_dynamics(&q, &v, &found).expect("FD");
    assert!(back.iter().zip(&a).all(|(x, y)| near(*x, *y)), "{back:?} {a:?}");
    let (m, whole) = (held.mass_matrix(&q).expect("M"), loose.mass_matrix(&all).expect("M"));
    for k in 0..4 {
        let (i, j) = (k / 2, k % 2);
        let sum: f64 = (0..16).map(|k| g[k / 4][i] * whole[k] * g[k % 4][j]).sum();
        assert!(near(m[k], sum), "{i} {j}: {} {sum}", m[k]);
    }
    let energies = (held.energy(&q, &v).expect("energy"), loose.energy(&all, &spread(&v)).expect("energy"));
    assert!(near(energies.0.0, energies.1.0) && near(energies.0.1, energies.1.1), "{energies:?}");
}

/// A ball joint with a spring: torque -k θ about the axis that it has turned about; and a limit pushes it back.
#[test]
fn ball_joints_have_springs_and_limits() {
    let ball = |stiffness: f64, range: Option<[f64; 2]>| {
        let mut robot = robots::chain("arm", &[pullback_scene::robot::JointKind::Ball]);
        let joint = &mut robot.joints[0];
        (joint.stiffness, joint.range, joint.damping) = (stiffness, range, 0.0);
        joint.limit = pullback_scene::robot::Limit { stiffness: 30.0, damping: 0.0 };
        robot.start.positions = vec![0.3f64.cos(), 0.0, 0.3f64.sin(), 0.0];
        robot.start.velocities = vec![0.0; 3];
        robot
    };
    // What the first step does to velocities, as forces.
    let force = |robot: Robot| -> Vec<f64> {
        let mut mechanism = Mechanism::<f64>::new(&robot).expect("a robot");
        let model = model(robot);
        let dt = 1e-3;
        let step = Step::new(&model, Scheme::new(Integrator::ExplicitEuler, dt)).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
        let state = model.state();
        let last = next(&mut rollout, state.values(), &[], model.params().values());
        let a: Vec<f64> = last[4..].iter().map(|v| v / dt).collect();
        mechanism.inverse_dynamics(&state.values()[..4], &[0.0; 3], &a).expect("ID")
    };
    let near = |found: Vec<f64>, wanted: [f64; 3]| {
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} {wanted:?}");
    };
    // It has turned by 0.6 rad about y.
    near(force(ball(0.0, None)), [0.0; 3]);
    near(force(ball(5.0, None)), [0.0, -5.0 * 0.6, 0.0]);
    // 0.2 rad too far, on a ramp of 0.004 rad.
    near(force(ball(0.0, Some([0.0, 0.4]))), [0.0, -30.0 * (0.2 - 0.002), 0.0]);
}

/// What makes no sense is said, and no panic.
#[test]
fn robots_that_make_no_sense_are_refused() {
    let text = |robot: Robot| match Mechanism::<f64>::new(&robot) {
        Ok(_) => panic!("it makes no sense"),
        Err(error) => error.to_string(),
    };
    let mut nowhere = robots::chain("arm", &[pullback_scene::robot::JointKind::Hinge]);
    nowhere.joints[0].body = 7;
    assert!(text(nowhere).contains("joint0"));
    let mut pushed = robots::tree();
    pushed.pushed = vec![99];
    let scene = Scene { robots: vec![pushed], ..Scene::default() };
    assert!(Model::new(&scene).expect_err("no such body").to_string().contains("99"));
    let mut mechanism = Mechanism::<f64>::new(&robots::tree()).expect("a robot");
    assert!(mechanism.forward_dynamics(&[0.0], &[], &[]).is_err());
    assert!(Mechanism::<f64>::batch(&robots::tree(), 0, RunOptions::default()).is_err());
    let mut many = Mechanism::<f64>::batch(&robots::tree(), 3, RunOptions::default()).expect("a robot");
    assert!(many.mass_matrix(&[]).expect_err("one world").to_string().contains("one world"));
    // The opposite of the axis that it was built with is an axis too.
    let hinge = robots::chain("arm", &[pullback_scene::robot::JointKind::Hinge]);
    let mut mechanism = Mechanism::<f64>::new(&hinge).expect("a robot");
    let before = mechanism.forward_dynamics(&[0.3], &[0.2], &[0.1]).expect("FD");
    let mut params = mechanism.params();
    let axis: Vec<f64> = params.get("arm.joint0.axis").expect("an axis").iter().map(|x| -x).collect();
    params.set("arm.joint0.axis", &axis).expect("an axis");
    mechanism.set_params(params.values()).expect("params");
    let reference = hinge.joints[0].reference;
    let after = mechanism.forward_dynamics(&[2.0 * reference - 0.3], &[-0.2], &[-0.1]).expect("FD");
    assert!((after[0] + before[0]).abs() < 1e-9 * before[0].abs(), "{after:?} {before:?}");
}
