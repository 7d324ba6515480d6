//! Energy: the published behaviour of each integrator on a pendulum, and what each force does to the energy of a world.

mod common;

use common::robots;
use pullback_engine::articulated::Mechanism;
use pullback_engine::force::{Force, Site};
use pullback_engine::names::{Block, Quantity};
use pullback_engine::{Energy, Error, Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::*;
use pullback_scene::robot::JointKind::{Ball, Free, Hinge, Slide};
use pullback_scene::{AppliedForce, Ground, Particles, Robot, Scene, Springs, World};

/// Torque of a pendulum whose angle is x [N]:  f = -m (g/L) sin x
#[kernel]
fn swing_back<R: Real>(x: Vec3<R>, m: R, g: R) -> Vec3<R> {
    vec3(-(m * g * sin(x.x)), 0.0, 0.0)
}

/// Its energy [J]:  E = m (g/L) (1 - cos x)
#[kernel]
fn height<R: Real>(x: Vec3<R>, m: R, g: R) -> R {
    m * g * (1.0 - cos(x.x))
}

/// A pendulum of 1 m, as a force along the first coordinate, which is its angle.
#[derive(Debug)]
struct Pendulum;

impl Force for Pendulum {
    fn params(&self) -> Vec<Block> {
        vec![Block::scalar("pendulum.gravity", 9.81, Quantity::new("m/s²", "gravity"))]
    }
    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (m, g) = (site.param::<f64>("particles.mass")?, site.param::<f64>("pendulum.gravity")?);
        let (x, name) = (site.x, site.name("pendulum"));
        Ok(site.program.map::<swing_back>(&name, (x.own(), m.own(), g.shared())))
    }
    fn energy(&self, site: &mut Site<'_>) -> Result<Option<Buffer<f64>>, Error> {
        let (m, g) = (site.param::<f64>("particles.mass")?, site.param::<f64>("pendulum.gravity")?);
        let (x, name) = (site.x, site.name("energy of the pendulum"));
        Ok(Some(site.program.reduce::<height>(&name, (x.own(), m.own(), g.shared()))))
    }
    fn conservative(&self) -> bool {
        true
    }
}

/// Kinetic and potential energy at every moment.
fn energies(model: &Model, integrator: Integrator, dt: f64, steps: usize) -> (Vec<[f64; 2]>, bool) {
    let step = Step::new(model, Scheme::new(integrator, dt)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let mut energy = Energy::new(model).expect("energies");
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let mut all = Vec::new();
    let see = |m: &pullback_engine::rollout::Moment<'_>| {
        let (kinetic, potential) = energy.of(m.state, m.params).expect("an energy");
        all.push([kinetic, potential]);
    };
    rollout.watch(&Start::new(&state, &controls, &params), see).expect("a rollout");
    (all, energy.is_conserved())
}

fn most_drift(energies: &[[f64; 2]]) -> f64 {
    let total = |e: &[f64; 2]| e[0] + e[1];
    energies.iter().map(|e| (total(e) - total(&energies[0])).abs()).fold(0.0, f64::max)
}

/// Largest |E - E0| [J/kg] of a pendulum of 1 m from 90° in 100 s, for steps of 0.01, 0.005 and 0.0025 s; computed with
/// independent code.
const TABLE: [(Integrator, [f64; 3]); 7] = [
    (Integrator::ExplicitEuler, [48.9, 25.0, 13.3]),
    (Integrator::SemiImplicitEuler, [1.361e-1, 6.773e-2, 3.378e-2]),
    (Integrator::VelocityVerlet, [2.005e-3, 5.012e-4, 1.253e-4]),
    (Integrator::ReversibleVerlet, [2.005e-3, 5.012e-4, 1.253e-4]),
    (Integrator::ImplicitMidpoint, [4.009e-4, 1.002e-4, 2.506e-5]),
    (Integrator::RungeKutta4, [7.649e-7, 2.496e-8, 8.455e-10]),
    // It only loses energy: all of it, after 100 s of such steps.
    (Integrator::BackwardEuler, [f64::NAN; 3]),
];

#[test]
fn pendulum_drifts_as_published() {
    let bob = Particles::single("bob", [std::f64::consts::FRAC_PI_2, 0.0, 0.0], 1.0);
    let world = World { gravity: [0.0; 3], ..World::default() };
    let scene = Scene { particles: vec![bob], world, ..Scene::default() };
    let model = Model::new(&scene).and_then(|m| m.with_force(Pendulum)).expect("a model");
    for (integrator, drifts) in TABLE {
        for (i, wanted) in drifts.into_iter().enumerate() {
            let steps = 10_000 << i;
            let (energies, conserved) = energies(&model, integrator, 100.0 / steps as f64, steps);
            assert!(conserved);
            let drift = most_drift(&energies);
            let name = format!("{} with {steps} steps: {drift:.4e} J/kg", integrator.name());
            if integrator == Integrator::BackwardEuler {
                assert!(energies.windows(2).all(|e| e[1][0] + e[1][1] < e[0][0] + e[0][1]), "{name}");
            } else {
                assert!((drift / wanted - 1.0).abs() < 0.05, "{name}, and not {wanted:.3e}");
            }
        }
    }
}

/// A chain that hangs from a wall, with a mass that swings.
fn hanging() -> Scene {
    let mut chain = Particles::line("chain", [0.0; 3], [1.2, 0.3, 0.2], 4, 0.3);
    chain.fixed[0] = [true; 3];
    chain.velocities[2] = [0.3, 0.5, -0.2];
    let springs = Springs::chain("link", 0..4, 60.0, 0.35);
    Scene { particles: vec![chain], springs: vec![springs], ..Scene::default() }
}

fn check_kept(scene: &Scene) {
    let model = Model::new(scene).expect("a model");
    let (energies, conserved) = energies(&model, Integrator::RungeKutta4, 1e-3, 1000);
    assert!(conserved);
    let most = energies.iter().map(|e| e[0]).fold(0.0, f64::max);
    let drift = most_drift(&energies);
    assert!(drift < 1e-9 * most, "{drift:.2e} of {most:.2e} J");
    // It did something: energy went from one kind to the other.
    assert!(energies.iter().any(|e| (e[1] - energies[0][1]).abs() > 0.1 * most));
}

#[test]
fn conservative_forces_keep_energy() {
    check_kept(&hanging());
    let pushed = AppliedForce::constant("gust", vec![1, 3], [0.7, -0.3, 0.5]);
    check_kept(&Scene { forces: vec![pushed], ..hanging() });
}

fn check_lost(scene: &Scene) {
    let model = Model::new(scene).expect("a model");
    let (energies, conserved) = energies(&model, Integrator::RungeKutta4, 2e-4, 5000);
    assert!(!conserved);
    let (first, last) = (energies[0], energies[energies.len() - 1]);
    let lost = first[0] + first[1] - last[0] - last[1];
    assert!(lost > 0.05, "{lost}");
    for (i, e) in energies.windows(2).enumerate() {
        let gained = e[1][0] + e[1][1] - e[0][0] - e[0][1];
        assert!(gained < 1e-9, "{gained:.2e} J in step {i}");
    }
}

#[test]
fn dampers_lose_energy() {
    let mut scene = hanging();
    scene.springs[0] = scene.springs[0].clone().damping(0.8);
    check_lost(&scene);
}

#[test]
fn still_air_takes_energy() {
    let mut scene = hanging();
    scene.particles[0] = scene.particles[0].clone().drag(0.2);
    check_lost(&scene);
}

#[test]
fn ground_takes_energy() {
    let ball = Particles::single("ball", [0.0, 0.0, 0.4], 0.5).velocity([1.0, 0.2, 0.0]);
    let ground =
        Ground { height: 0.0, ke: Some(900.0), kd: Some(3.0), kf: Some(2.0), mu: Some(0.4), material: None };
    check_lost(&Scene { particles: vec![ball], ground: Some(ground), ..Scene::default() });
}

/// What a swinging force does to the energy of a free mass is its work, ∫ f·v dt.
#[test]
fn swinging_force_does_work() {
    let ball = Particles::single("ball", [0.0; 3], 0.7).velocity([0.5, 0.0, 0.0]);
    let swing = AppliedForce::constant("swing", vec![0], [3.0, 0.0, 0.0]).oscillating(1.3, 0.4);
    let world = World { gravity: [0.0; 3], ..World::default() };
    let scene = Scene { particles: vec![ball], forces: vec![swing], world, ..Scene::default() };
    let model = Model::new(&scene).expect("a model");
    let (energies, conserved) = energies(&model, Integrator::RungeKutta4, 1e-3, 600);
    assert!(!conserved);
    let omega = std::f64::consts::TAU * 1.3;
    let speed = |t: f64| 0.5 + 3.0 / (0.7 * omega) * ((omega * t + 0.4).sin() - 0.4f64.sin());
    for (i, e) in energies.iter().enumerate() {
        let v = speed(i as f64 * 1e-3);
        assert!((e[0] - 0.5 * 0.7 * v * v).abs() < 1e-10 && e[1] == 0.0);
    }
}

#[test]
fn energies_of_known_states() {
    let model = Model::new(&hanging()).expect("a model");
    let mut energy = Energy::new(&model).expect("energies");
    let (mut state, params) = (model.state(), model.params());
    let (kinetic, potential) = energy.of(state.values(), params.values()).expect("an energy");
    assert!((kinetic - 0.5 * 0.3 * (0.09 + 0.25 + 0.04)).abs() < 1e-15);
    let length = (1.2f64 * 1.2 + 0.3 * 0.3 + 0.2 * 0.2).sqrt() / 3.0;
    let weights: f64 = 0.3 * 9.81 * (0.2 / 3.0 + 0.4 / 3.0 + 0.2);
    let wanted = weights + 3.0 * 0.5 * 60.0 * (length - 0.35) * (length - 0.35);
    assert!((potential - wanted).abs() < 1e-12, "{potential} {wanted}");
    state.set("chain[3].velocity", &[0.0, 0.0, 2.0]).expect("a name");
    let (faster, _) = energy.of(state.values(), params.values()).expect("an energy");
    assert!((faster - kinetic - 0.5 * 0.3 * 4.0).abs() < 1e-15);
    // Too few numbers, and too many.
    assert!(energy.of(&state.values()[1..], params.values()).is_err());
    assert!(energy.of(state.values(), &[]).is_err());
    let longer = [state.values(), &[0.0]].concat();
    assert!(energy.of(&longer, params.values()).is_err());
}

/// The kinetic energy of robots is that of the mass matrix, ½ v·M v.
#[test]
fn robots_have_the_kinetic_energy_of_their_mass_matrix() {
    for robot in [robots::tree(), robots::arm(), robots::chain("odd", &[Ball, Slide, Free, Hinge])] {
        let mut mechanism = Mechanism::<f64>::new(&robot).expect("a robot");
        let model = Model::new(&Scene { robots: vec![robot], ..Scene::default() }).expect("a scene");
        let state = model.state();
        let (q, v) = state.values().split_at(model.positions());
        let m = mechanism.mass_matrix(q).expect("a mass matrix");
        let n = v.len();
        let wanted: f64 = (0..n * n).map(|k| 0.5 * v[k / n] * m[k] * v[k % n]).sum();
        let mut energy = Energy::new(&model).expect("energies");
        let (kinetic, _) = energy.of(state.values(), model.params().values()).expect("an energy");
        assert!((kinetic / wanted - 1.0).abs() < 1e-12, "{}: {kinetic} {wanted}", model.robots()[0].name());
    }
}

/// What nothing dampens keeps its energy, with springs, limits and tendons; what is damped says so.
#[test]
fn robots_keep_their_energy() {
    let kept = |mut robot: Robot| {
        for joint in &mut robot.joints {
            (joint.damping, joint.friction, joint.limit.damping) = (0.0, 0.0, 0.0);
        }
        robot.tendons.iter_mut().for_each(|tendon| tendon.damping = 0.0);
        robot.motors.clear();
        robot.start.controls.clear();
        let model = Model::new(&Scene { robots: vec![robot], ..Scene::default() }).expect("a scene");
        // Limits are smooth but once where they begin: steps must be short there for the order to show.
        let (energies, conserved) = energies(&model, Integrator::RungeKutta4, 2.5e-5, 8000);
        assert!(conserved);
        let scale = energies.iter().map(|e| e[0]).fold(0.0, f64::max);
        (most_drift(&energies) / scale, model)
    };
    for robot in [robots::tree(), robots::arm()] {
        let (drift, model) = kept(robot);
        assert!(drift < 1e-9, "{}: {drift:.1e}", model.robots()[0].name());
    }
    for robot in [robots::tree(), robots::arm()] {
        let model = Model::new(&Scene { robots: vec![robot], ..Scene::default() }).expect("a scene");
        let (energies, conserved) = energies(&model, Integrator::RungeKutta4, 1e-3, 100);
        assert!(!conserved && most_drift(&energies) > 1e-3);
    }
}
