//! Rollouts of bodies that fly, and of joints that follow others, against what must come out.

mod common;
mod trees;

use common::robots::{Random, chain};
use pullback_engine::rollout::Moment;
use pullback_engine::{Integrator, Memory, Model, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::*;
use pullback_scene::robot::{
    Body, Inertial, Joint, JointKind, Keyframe, Mimic, Motor, Placement, Robot, Tendon, Transmission,
};
use pullback_scene::{Scene, World};
use trees::most;

/// [kg]
const GRAIN: f64 = 1e-5;

/// Grains of sand of 10 mg, all turning and flying.
fn sand(count: usize, inertia: impl Fn(&mut Random) -> [f64; 3]) -> Robot {
    let mut random = Random::new(count as u64);
    let mut robot = Robot { name: "sand".into(), loose: true, ..Robot::default() };
    let mut start = Keyframe::default();
    for i in 0..count {
        let [xx, yy, zz] = inertia(&mut random);
        let inertial = Inertial { mass: GRAIN, center: [0.0; 3], inertia: [xx, yy, zz, 0.0, 0.0, 0.0] };
        let placement = Placement { position: random.vector(10.0), orientation: random.turn() };
        start.positions.extend(placement.position);
        start.positions.extend(placement.orientation);
        start.velocities.extend(random.vector(3.0));
        start.velocities.extend(random.vector(5.0));
        let name = format!("sand[{i}]");
        robot.joints.push(Joint::new(name.clone(), i, JointKind::Free, [0.0, 0.0, 1.0]));
        robot.bodies.push(Body { name, parent: None, placement, inertial });
    }
    robot.start = start;
    robot
}

/// The first and the last state.
fn fly(robot: &Robot, integrator: Integrator, (dt, steps): (f64, usize)) -> [Vec<f64>; 2] {
    let scene = Scene { robots: vec![robot.clone()], ..Scene::default() };
    let model = Model::new(&scene).expect("a scene");
    let step = Step::new(&model, Scheme::new(integrator, dt)).expect("a step");
    let options = Options { memory: Memory::Binomial { snapshots: 1 }, ..Options::new(steps) };
    let mut rollout = Rollout::<f64>::new(&step, options).expect("a rollout");
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let mut last = Vec::new();
    let see = |m: &Moment<'_>| {
        if m.last {
            last = m.state.to_vec();
        }
    };
    rollout.watch(&Start::new(&state, &controls, &params), see).expect("a rollout");
    [state.values().to_vec(), last]
}

/// Angular momentum in world axes of body `i` of so many.
fn angular_momentum(robot: &Robot, state: &[f64], i: usize) -> Vec3 {
    let n = robot.bodies.len();
    let (o, w) = (&state[3 * n + 4 * i..], &state[7 * n + 3 * n + 3 * i..]);
    let [xx, yy, zz, ..] = robot.bodies[i].inertial.inertia;
    rotate(quat(o[0], vec3(o[1], o[2], o[3])), vec3(xx * w[0], yy * w[1], zz * w[2]))
}

#[test]
fn sand_flies_as_gravity_says() {
    const COUNT: usize = 5000;
    let (dt, steps) = (1e-3, 1000);
    // Cubes of 2 mm: m s²/6.
    let robot = sand(COUNT, |_| [GRAIN * 4e-6 / 6.0; 3]);
    let [first, last] = fly(&robot, Integrator::SemiImplicitEuler, (dt, steps));
    let (g, n) = (World::default().gravity, steps as f64);
    for i in 0..COUNT {
        for k in 0..3 {
            let (at, rate) = (3 * i + k, 7 * COUNT + 3 * i + k);
            // v_n = v + n h g,  x_n = x + n h v + h² g n (n + 1)/2
            let v = first[rate] + n * dt * g[k];
            let x = first[at] + n * dt * first[rate] + dt * dt * g[k] * n * (n + 1.0) / 2.0;
            assert!((last[rate] - v).abs() < 1e-12 && (last[at] - x).abs() < 1e-12, "grain {i}");
        }
        let [before, after] = [&first, &last].map(|state| angular_momentum(&robot, state, i));
        let error = length(after - before) / length(before);
        assert!(error < 1e-9, "grain {i}: {error:.2e}");
    }
}

/// Grains without symmetry tumble, and keep their angular momentum too: to the order of the rule.
#[test]
fn tumbling_sand_keeps_angular_momentum() {
    let box_of = |random: &mut Random| {
        let [a, b, c] = [(); 3].map(|()| random.within(1e-3, 3e-3).powi(2) * GRAIN / 12.0);
        [b + c, a + c, a + b]
    };
    let robot = sand(200, box_of);
    let [first, last] = fly(&robot, Integrator::RungeKutta4, (1e-3, 1000));
    let mut tumbled = 0.0f64;
    for i in 0..robot.bodies.len() {
        let [before, after] = [&first, &last].map(|state| angular_momentum(&robot, state, i));
        let error = length(after - before) / length(before);
        assert!(error < 1e-9, "grain {i}: {error:.2e}");
        let at = 10 * robot.bodies.len() + 3 * i;
        tumbled = tumbled.max((first[at] - last[at]).abs());
    }
    assert!(tumbled > 1.0);
}

/// Torques do not know how fast a body flies: a cube of 2 mm at 10 m/s keeps its spin, in double and in single precision.
/// What remains of m v × v by rounding is a torque that a small body feels.
#[test]
fn a_small_body_that_flies_fast_keeps_its_spin() {
    let mut robot = sand(1, |_| [GRAIN * 4e-6 / 6.0; 3]);
    robot.start.velocities = vec![5.0, -6.0, 6.0, 1.0, 2.0, 3.0];
    let model = Model::new(&Scene { robots: vec![robot], ..Scene::default() }).expect("a scene");
    let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 1e-3)).expect("a step");
    let (state, params) = (model.state(), model.params());
    let start = Start::new(&state, &[], &params);
    let mut spins = [[0.0; 3]; 2];
    let spin = |m: &Moment<'_>| std::array::from_fn(|i| m.state[10 + i]);
    let mut double = Rollout::<f64>::new(&step, Options::new(1000)).expect("a rollout");
    double.watch(&start, |m| spins[0] = spin(m)).expect("a rollout");
    let mut single = Rollout::<f32>::new(&step, Options::new(1000)).expect("a rollout");
    single.watch(&start, |m| spins[1] = spin(m)).expect("a rollout");
    for (spin, tolerance) in spins.into_iter().zip([1e-12, 1e-4]) {
        let error = most((0..3).map(|i| (spin[i] - (i + 1) as f64).abs()));
        assert!(error < tolerance, "it turns at {spin:?} rad/s after 1 s, off by {error:.1e}");
    }
}

/// A spring at a joint that follows another, said in three ways: as a spring, as a motor, as a tendon.
#[test]
fn springs_motors_and_tendons_see_the_same_position() {
    let plain = || {
        let mut robot = chain("arm", &[JointKind::Hinge, JointKind::Hinge]);
        robot.joints[1].mimic = Some(Mimic { joint: 0, multiplier: 0.5, offset: 0.3 });
        robot
    };
    let mut spring = plain();
    spring.joints[1].stiffness = 4.0;
    let mut motor = plain();
    motor.motors = vec![Motor {
        name: "servo".into(),
        transmission: Transmission::Joint { joint: 1, gear: vec![1.0] },
        gain: [0.0; 3],
        bias: [0.0, -4.0, 0.0],
        control_range: None,
        force_range: None,
        controls: Vec::new(),
    }];
    let mut tendon = plain();
    tendon.tendons = vec![Tendon {
        name: "band".into(),
        joints: vec![(1, 1.0)],
        stiffness: 4.0,
        damping: 0.0,
        spring_range: [0.0; 2],
    }];
    let [_, wanted] = fly(&spring, Integrator::RungeKutta4, (1e-3, 100));
    let [_, without] = fly(&plain(), Integrator::RungeKutta4, (1e-3, 100));
    let off = |x: &[f64]| most(x.iter().zip(&wanted).map(|(x, w)| (x - w).abs()));
    assert!(off(&without) > 1e-3, "the spring does something");
    for (robot, name) in [(motor, "motor"), (tendon, "tendon")] {
        let [_, found] = fly(&robot, Integrator::RungeKutta4, (1e-3, 100));
        assert!(off(&found) < 1e-12, "as a {name}: {found:?} and not {wanted:?}");
    }
}
