//! Implicit steps where forces are small differences of large numbers; and what a rollout leaves for the next.

mod common;

use common::Everywhere;
use pullback_engine::force::{Force, Site};
use pullback_engine::names::{Block, Quantity};
use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Error, Integrator, Memory, Model, Options, Rollout, Scheme, Snapshots, Start, Step};
use pullback_kernel::prelude::*;
use pullback_scene::{AppliedForce, Ground, Particles, Scene, Springs};

const STEPS: usize = 200;

fn pendulum(stiffness: f64) -> Model {
    let scene = Scene {
        particles: vec![
            Particles::single("anchor", [0.0, 0.0, 2.0], 1.0).fix(),
            Particles::single("bob", [0.8, 0.0, 1.4], 0.7),
        ],
        springs: vec![Springs::between("rod", [0, 1], stiffness, 1.0)],
        ..Scene::default()
    };
    Model::new(&scene).expect("a scene that makes sense")
}

/// Where the bob is at the end, along x.
struct AtTheEnd;

impl Loss for AtTheEnd {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { moment.state[3] } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state[3] += 1.0;
        }
    }
}

#[test]
fn newton_ends_where_rounding_does() {
    for stiffness in [1e3, 3e5, 1e6, 1e7] {
        for integrator in [Integrator::BackwardEuler, Integrator::ImplicitMidpoint] {
            let model = pendulum(stiffness);
            let step = Step::new(&model, Scheme::new(integrator, 0.01)).expect("a step");
            let mut rollout = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
            let (state, params) = (model.state(), model.params());
            let name = format!("{} with {stiffness:e} N/m", integrator.name());
            let start = Start::new(&state, &[], &params);
            let gradient =
                rollout.gradient(&start, &AtTheEnd).unwrap_or_else(|e| panic!("{name}: {e}")).clone();

            // The rod keeps its length, but for what its load stretches it.
            let mut longest: f64 = 0.0;
            let watch = rollout.watch(&start, |moment| {
                let d = [moment.state[3], moment.state[4], moment.state[5] - 2.0];
                longest = longest.max((d.iter().map(|x| x * x).sum::<f64>().sqrt() - 1.0).abs());
            });
            watch.unwrap_or_else(|e| panic!("{name}: {e}"));
            // Midpoint does not damp the swing of the rod itself, which such steps do not resolve.
            let most = if integrator == Integrator::BackwardEuler { 60.0 / stiffness } else { 0.05 };
            assert!(longest < most, "{name}: {longest}");

            // Against differences, by gravity.
            let g = model.params_layout().find("gravity.z").expect("gravity").start;
            let mut value = |h: f64| {
                let mut params = params.clone();
                params.values_mut()[g] += h;
                rollout.value(&Start::new(&state, &[], &params), &AtTheEnd).expect("a value")[0]
            };
            let difference = (value(1e-5) - value(-1e-5)) / 2e-5;
            let derivative = gradient.params[g];
            assert!(derivative.abs() > 1e-3, "{name}: {derivative}");
            assert!(
                (derivative - difference).abs() < 1e-4 * derivative.abs(),
                "{name}: {derivative} {difference}"
            );
        }
    }
}

/// A mass that hangs at rest, and one that lies on the ground: there the velocities are zero, and forces cancel.
#[test]
fn what_is_at_rest_converges() {
    for integrator in [Integrator::BackwardEuler, Integrator::ImplicitMidpoint] {
        for (stiffness, dt) in [(100.0, 0.01), (1e4, 0.1), (1e6, 0.1), (1e8, 0.01)] {
            let mut scene = Scene {
                particles: vec![
                    Particles::single("nail", [0.0, 0.0, 2.0], 1.0).fix(),
                    Particles::single("bob", [0.0, 0.0, 1.0], 1.0),
                ],
                springs: vec![Springs::between("spring", [0, 1], stiffness, 1.0).damping(5.0)],
                ..Scene::default()
            };
            let name = format!("{} with {stiffness:e} N/m and dt {dt}", integrator.name());
            let run = |scene: &Scene| {
                let model = Model::new(scene).expect("a scene that makes sense");
                let step = Step::new(&model, Scheme::new(integrator, dt)).expect("a step");
                let (state, params) = (model.state(), model.params());
                let mut rollout = Rollout::<f64>::new(&step, Options::new(2000)).expect("a rollout");
                let start = Start::new(&state, &[], &params);
                let mut last = Vec::new();
                rollout.watch(&start, |m| last = m.state.to_vec()).unwrap_or_else(|e| panic!("{name}: {e}"));
                let mut single = Rollout::<f32>::new(&step, Options::new(500)).expect("a rollout");
                single.watch(&start, |_| ()).unwrap_or_else(|e| panic!("{name}, in single precision: {e}"));
                last
            };
            let last = run(&scene);
            let hanging = 1.0 - 9.81 / stiffness;
            if integrator == Integrator::BackwardEuler {
                assert!((last[5] - hanging).abs() < 1e-6, "{name}: {} instead of {hanging}", last[5]);
            }
            scene.springs.clear();
            scene.ground = Some(Ground {
                height: 1.0,
                ke: Some(1e3),
                kd: Some(0.0),
                kf: Some(1.0),
                mu: Some(0.5),
                material: None,
            });
            run(&scene);
        }
    }
}

/// One step of backward Euler under a swinging force alone: the force is that at the end of the step.
#[test]
fn backward_euler_takes_forces_at_the_end_of_the_step() {
    let (force, frequency, dt, mass) = (2.0, 3.0, 0.02, 0.5);
    let scene = Scene {
        particles: vec![Particles::single("ball", [0.0; 3], mass)],
        forces: vec![AppliedForce::constant("hum", vec![0], [force, 0.0, 0.0]).oscillating(frequency, 0.3)],
        ..Scene::default()
    };
    let model = Model::new(&scene).expect("a scene that makes sense");
    for (integrator, at) in [(Integrator::BackwardEuler, dt), (Integrator::ImplicitMidpoint, 0.5 * dt)] {
        let step = Step::new(&model, Scheme::new(integrator, dt)).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
        let (state, params) = (model.state(), model.params());
        let mut v = 0.0;
        rollout.watch(&Start::new(&state, &[], &params), |m| v = m.state[3]).expect("a step");
        let wanted = dt * force / mass * (std::f64::consts::TAU * frequency * at + 0.3).cos();
        assert!((v - wanted).abs() < 1e-14, "{}: {v} instead of {wanted}", integrator.name());
    }
}

/// A gradient leaves nothing behind that the next value sees, whatever it keeps.
#[test]
fn a_gradient_does_not_change_the_next_value() {
    for integrator in Integrator::ALL {
        for memory in
            [Memory::EveryStep, Memory::Binomial { snapshots: 3 }, Memory::Dense, Memory::Reversible]
        {
            if memory == Memory::Reversible && integrator != Integrator::ReversibleVerlet {
                continue;
            }
            for snapshots in [Snapshots::F64, Snapshots::F32] {
                let model = pendulum(1e3);
                let step = Step::new(&model, Scheme::new(integrator, 0.003)).expect("a step");
                let options = Options { memory, snapshots, ..Options::new(50) };
                let mut rollout = Rollout::<f64>::new(&step, options).expect("a rollout");
                let (state, mut params) = (model.state(), model.params());
                let mut values = |params: &pullback_engine::Params| {
                    let start = Start::new(&state, &[], params);
                    let before = rollout.value(&start, &Everywhere).expect("a value")[0];
                    let gradient = rollout.gradient(&start, &Everywhere).expect("a gradient").clone();
                    let after = rollout.value(&start, &Everywhere).expect("a value")[0];
                    assert_eq!(
                        before.to_bits(),
                        after.to_bits(),
                        "{} {memory:?} {snapshots:?}",
                        integrator.name()
                    );
                    gradient.params
                };
                values(&params);
                // Other params: nothing of the first is left.
                params.set("rod.stiffness", &[700.0]).expect("a stiffness");
                let second = values(&params);
                let mut fresh = Rollout::<f64>::new(&step, options).expect("a rollout");
                let start = Start::new(&state, &[], &params);
                assert_eq!(second, fresh.gradient(&start, &Everywhere).expect("a gradient").params);
            }
        }
    }
}

/// A spring to the origin whose stiffness is the control [N].
#[kernel]
fn steered<R: Real>(x: Vec3<R>, u: R) -> Vec3<R> {
    x * (-u)
}

#[derive(Debug)]
struct Steered;

impl Force for Steered {
    fn controls(&self) -> Vec<Block> {
        vec![Block::scalar("steer.stiffness", 50.0, Quantity::new("N/m", "stiffness of the trap"))]
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (u, x, name) = (site.control::<f64>("steer.stiffness")?, site.x, site.name("steered"));
        Ok(site.program.map::<steered>(&name, (x.own(), u.shared())))
    }
}

/// A control that is part of the stiffness is part of the Jacobian.
#[test]
fn a_control_that_multiplies_the_state() {
    const STEPS: usize = 6;
    let model = pendulum(1e3).with_force(Steered).expect("a new name");
    let controls: Vec<f64> = (0..STEPS).map(|i| 5e3 + 1e3 * i as f64).collect();
    for integrator in [Integrator::BackwardEuler, Integrator::ImplicitMidpoint] {
        for memory in [Memory::EveryStep, Memory::Binomial { snapshots: 2 }, Memory::Dense] {
            let step = Step::new(&model, Scheme::new(integrator, 0.01)).expect("a step");
            let options = Options { memory, ..Options::new(STEPS) };
            let mut rollout = Rollout::<f64>::new(&step, options).expect("a rollout");
            let (state, params) = (model.state(), model.params());
            let start = Start::new(&state, &controls, &params);
            let gradient = rollout.gradient(&start, &AtTheEnd).expect("a gradient").controls.clone();
            for i in 0..STEPS {
                let mut value = |h: f64| {
                    let mut controls = controls.clone();
                    controls[i] += h;
                    rollout.value(&Start::new(&state, &controls, &params), &AtTheEnd).expect("a value")[0]
                };
                let difference = (value(0.1) - value(-0.1)) / 0.2;
                let name = format!("{}, control {i}", integrator.name());
                assert!(
                    (gradient[i] - difference).abs() < 1e-6 * difference.abs(),
                    "{name}: {} {difference}",
                    gradient[i]
                );
            }
        }
    }
}

/// A loss whose pullback is not finite is an error, wherever it shows.
#[test]
fn gradients_that_are_not_finite_are_errors() {
    struct Bad(usize);
    impl Loss for Bad {
        fn value(&self, _: &Moment<'_>) -> f64 {
            0.0
        }
        fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
            match self.0 {
                0 if moment.last => bars.state[0] = f64::NAN,
                1 if moment.step == 0 => bars.state[0] = f64::INFINITY,
                2 if moment.last => bars.params[1] = f64::NAN,
                _ => {}
            }
        }
    }
    let model = pendulum(10.0);
    let step = Step::new(&model, Scheme::new(Integrator::RungeKutta4, 0.01)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(5)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    for (kind, wanted) in [
        (0, "step 4: "),
        (1, "by `anchor.position.x` of the first state is inf"),
        (2, "of the params is NaN"),
    ] {
        let error = rollout.gradient(&Start::new(&state, &[], &params), &Bad(kind)).expect_err("not finite");
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

/// A rollout that is too large for any machine is refused.
#[test]
fn more_memory_than_there_is() {
    let model = pendulum(10.0);
    let step = Step::new(&model, Scheme::new(Integrator::RungeKutta4, 0.01)).expect("a step");
    for memory in [Memory::EveryStep, Memory::Dense, Memory::Binomial { snapshots: 1 << 50 }] {
        let options = Options { memory, ..Options::new(1 << 52) };
        let error = Rollout::<f64>::new(&step, options).err().expect("too large");
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    }
}
