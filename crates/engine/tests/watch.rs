//! Bodies and frames that are watched: against what is known, and their pullback against differences of the same.

mod common;

use common::robots;
use pullback_engine::articulated::{Mechanism, Watch};
use pullback_engine::{Error, Model, Params, State};
use pullback_kernel::prelude::*;
use pullback_kernel::{numbers, numbers_mut};
use pullback_scene::robot::JointKind::{Ball, Free, Hinge, Slide};
use pullback_scene::robot::{Body, Frame, Inertial, Joint, Placement, Robot};
use pullback_scene::{Part, Particles, Scene};

/// Particles and robots with every kind of joint, and with frames on bodies and in the world.
fn world() -> Model {
    let mut robots = vec![
        robots::tree(),
        robots::chain("odd", &[Hinge, Free, Ball]),
        robots::arm(),
        robots::chain("slides", &[Slide, Slide]),
    ];
    for (r, robot) in robots.iter_mut().enumerate() {
        let salt = r as f64;
        let frame = |name: &str, body, k: f64| Frame {
            name: name.into(),
            body,
            placement: Placement { position: [0.2, 0.1 * k, -0.3], orientation: robots::turn(k) },
        };
        robot.frames = vec![
            frame("on_last", Some(robot.bodies.len() - 1), salt + 0.3),
            frame("on_first", Some(0), salt + 0.7),
            frame("fixed", None, salt + 1.1),
        ];
    }
    let particles = vec![Particles::many("ball", vec![[0.0; 3], [1.0; 3]], 1.0)];
    Model::new(&Scene { particles, robots, ..Scene::default() }).expect("a scene that makes sense")
}

fn parts(model: &Model) -> Vec<Part> {
    let of = |(robot, r): (usize, &pullback_engine::articulated::Robot)| {
        let d = r.description();
        let bodies = (0..d.bodies.len()).map(move |body| Part::Body { robot, body });
        bodies.chain((0..d.frames.len()).map(move |frame| Part::Frame { robot, frame })).collect::<Vec<_>>()
    };
    model.robots().iter().enumerate().flat_map(of).collect()
}

fn weight(part: usize, number: usize) -> f64 {
    ((part * 29 + number * 17) % 23) as f64 / 11.0 - 1.0
}

/// Σ w y over the numbers of all poses and motions.
fn sum(watch: &mut Watch, parts: &[Part], state: &[f64], params: &[f64]) -> f64 {
    watch.run(state, params).expect("it fits");
    let mut sum = 0.0;
    for (k, part) in parts.iter().enumerate() {
        let (pose, motion) = watch.part(*part).expect("it is there");
        let all = numbers::<Pose, f64>(&pose).iter().chain(numbers::<Motion, f64>(&motion));
        sum += all.enumerate().map(|(i, y)| weight(k, i) * y).sum::<f64>();
    }
    sum
}

/// Its gradient by tangents of state and params.
fn gradient(watch: &mut Watch, parts: &[Part], state: &State, params: &Params) -> (Vec<f64>, Vec<f64>) {
    watch.run(state.values(), params.values()).expect("it fits");
    for (k, part) in parts.iter().enumerate() {
        let (mut pose, mut motion) = watch.part(*part).expect("it is there");
        let all =
            numbers_mut::<Pose, f64>(&mut pose).iter_mut().chain(numbers_mut::<Motion, f64>(&mut motion));
        all.enumerate().for_each(|(i, bar)| *bar = weight(k, i));
        watch.seed(*part, pose, motion);
    }
    let (mut state_bar, mut params_bar) = (vec![0.0; state.values().len()], vec![0.0; params.values().len()]);
    watch.pullback(&mut state_bar, &mut params_bar).expect("it fits");
    let tangents = (state.to_tangent(&state_bar), params.to_tangent(&params_bar));
    (tangents.0.expect("as long"), tangents.1.expect("as long"))
}

#[test]
fn the_pullback_is_that_of_differences() {
    let model = world();
    let (state, params, parts) = (model.state(), model.params(), parts(&model));
    let mut watch = Watch::new(&model).expect("robots");
    let (by_state, by_params) = gradient(&mut watch, &parts, &state, &params);
    let h = 1e-6;
    let mut worst: f64 = 0.0;
    for (i, found) in by_state.iter().enumerate() {
        let mut at = |by: f64| {
            let (mut moved, mut tangent) = (state.clone(), vec![0.0; by_state.len()]);
            tangent[i] = by;
            moved.retract(&tangent).expect("as long");
            sum(&mut watch, &parts, moved.values(), params.values())
        };
        let difference = (at(h) - at(-h)) / (2.0 * h);
        worst = worst.max((found - difference).abs() / (1.0 + difference.abs()));
    }
    assert!(worst < 1e-8, "by states: {worst:.1e}");
    let mut worst: f64 = 0.0;
    for (i, found) in by_params.iter().enumerate() {
        let mut at = |by: f64| {
            let (mut moved, mut tangent) = (params.clone(), vec![0.0; by_params.len()]);
            tangent[i] = by;
            moved.retract(&tangent).expect("as long");
            sum(&mut watch, &parts, state.values(), moved.values())
        };
        let difference = (at(h) - at(-h)) / (2.0 * h);
        worst = worst.max((found - difference).abs() / (1.0 + difference.abs()));
    }
    assert!(worst < 1e-8, "by params: {worst:.1e}");
    // Something depends on joints' frames, velocities and placements.
    assert!(by_state.iter().filter(|bar| bar.abs() > 1e-3).count() > 30);
    assert!(by_params.iter().filter(|bar| bar.abs() > 1e-3).count() > 50);
    // Particles have no part in it.
    let layout = model.state_layout();
    let ball = layout.find("ball.position").expect("particles");
    assert!(by_state[ball].iter().all(|bar| *bar == 0.0));
}

#[test]
fn bars_are_added_to_and_seeds_are_forgotten() {
    let model = world();
    let (state, params, parts) = (model.state(), model.params(), parts(&model));
    let mut watch = Watch::new(&model).expect("robots");
    watch.run(state.values(), params.values()).expect("it fits");
    let (mut state_bar, mut params_bar) = (vec![2.0; state.values().len()], vec![3.0; params.values().len()]);
    // Nothing was seeded.
    watch.pullback(&mut state_bar, &mut params_bar).expect("it fits");
    assert!(state_bar.iter().all(|bar| *bar == 2.0) && params_bar.iter().all(|bar| *bar == 3.0));
    let (pose, motion) = watch.part(parts[2]).expect("it is there");
    watch.seed(parts[2], pose, motion);
    watch.pullback(&mut state_bar, &mut params_bar).expect("it fits");
    let once = (state_bar.clone(), params_bar.clone());
    assert!(once.0.iter().any(|bar| *bar != 2.0) && once.1.iter().any(|bar| *bar != 3.0));
    watch.pullback(&mut state_bar, &mut params_bar).expect("it fits");
    assert!(state_bar == once.0 && params_bar == once.1, "the seeds are gone");
    // What is not there, or does not move, takes no part.
    assert_eq!(watch.part(Part::Body { robot: 0, body: 99 }), None);
    watch.seed(Part::Frame { robot: 9, frame: 0 }, pose, motion);
    watch.seed(Part::Frame { robot: 0, frame: 2 }, pose, motion);
    watch.pullback(&mut state_bar, &mut params_bar).expect("it fits");
    assert!(state_bar == once.0 && params_bar == once.1);
}

/// A rod of one metre on a hinge along y, at 0.3 rad and 2 rad/s: its tip is at (-sin, 0, -cos) and moves across it.
#[test]
fn a_pendulum_is_where_it_should_be() {
    let placement = Placement { position: [1.0, 2.0, 3.0], ..Placement::default() };
    let inertial = Inertial { mass: 1.0, center: [0.0; 3], inertia: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] };
    let mut robot = Robot {
        name: "rod".into(),
        bodies: vec![Body { name: "rod".into(), parent: None, placement, inertial }],
        joints: vec![Joint::new("hinge", 0, Hinge, [0.0, 1.0, 0.0])],
        ..Robot::default()
    };
    let tip = Placement { position: [0.0, 0.0, -1.0], ..Placement::default() };
    robot.frames = vec![Frame { name: "tip".into(), body: Some(0), placement: tip }];
    let model = Model::new(&Scene { robots: vec![robot], ..Scene::default() }).expect("a pendulum");
    let mut watch = Watch::new(&model).expect("a robot");
    let (angle, rate) = (0.3_f64, 2.0);
    let mut params = model.params();
    watch.run(&[angle, rate], params.values()).expect("it fits");
    let (pose, motion) = watch.part(Part::Frame { robot: 0, frame: 0 }).expect("the tip");
    let (s, c) = angle.sin_cos();
    let near = |a: Vec3, b: [f64; 3]| (a.x - b[0]).abs() + (a.y - b[1]).abs() + (a.z - b[2]).abs() < 1e-14;
    assert!(near(pose.position, [1.0 - s, 2.0, 3.0 - c]), "{pose:?}");
    assert!(near(motion.linear, [-rate * c, 0.0, rate * s]), "{motion:?}");
    assert!(near(motion.angular, [0.0, rate, 0.0]), "{motion:?}");
    // Other params are seen at once.
    params.set("rod.rod.placement", &[1.0, 2.0, 5.0]).expect("a vector");
    watch.run(&[angle, rate], params.values()).expect("it fits");
    let (pose, _) = watch.part(Part::Frame { robot: 0, frame: 0 }).expect("the tip");
    assert!(near(pose.position, [1.0 - s, 2.0, 5.0 - c]), "{pose:?}");
}

#[test]
fn each_robot_has_its_own_numbers_of_the_state() {
    let model = world();
    let mut watch = Watch::new(&model).expect("robots");
    watch.run(model.state().values(), model.params().values()).expect("it fits");
    for (r, robot) in model.robots().iter().enumerate() {
        let d = robot.description();
        let (q, v) = (robot.positions_of(&d.start.positions), robot.velocities_of(&d.start.velocities));
        let mut alone = Mechanism::<f64>::new(d).expect("a robot");
        for (body, expected) in alone.bodies(&q, &v).expect("it fits").into_iter().enumerate() {
            assert_eq!(watch.part(Part::Body { robot: r, body }), Some(expected), "{} {body}", d.name);
        }
    }
}

#[test]
fn lengths_are_checked() {
    let model = world();
    let mut watch = Watch::new(&model).expect("robots");
    let params = model.params();
    assert!(matches!(watch.run(&[0.0], params.values()), Err(Error::Length { what: "a state", .. })));
    let state = model.state();
    assert!(matches!(watch.run(state.values(), &[]), Err(Error::Length { what: "params", .. })));
    // Particles alone can be watched as well: there is nothing to see.
    let ball = Scene { particles: vec![Particles::single("ball", [0.0; 3], 1.0)], ..Scene::default() };
    let model = Model::new(&ball).expect("a ball");
    let mut watch = Watch::new(&model).expect("nothing");
    watch.run(model.state().values(), model.params().values()).expect("it fits");
    assert_eq!(watch.part(Part::Body { robot: 0, body: 0 }), None);
}
