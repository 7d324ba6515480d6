//! Implicit steps of springs so stiff that forces are small differences of large numbers.

mod common;

use common::Everywhere;
use pullback_engine::{Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_scene::{Particles, Scene, Springs};

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

#[test]
fn newton_ends_where_rounding_does() {
    for stiffness in [1e3, 3e5, 1e6, 1e7, 1e9] {
        for integrator in [Integrator::BackwardEuler, Integrator::ImplicitMidpoint] {
            let model = pendulum(stiffness);
            let step = Step::new(&model, Scheme::new(integrator, 0.01)).expect("a step");
            let mut rollout = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
            let (state, params) = (model.state(), model.params());
            let name = format!("{} with {stiffness:e} N/m", integrator.name());
            let start = Start::new(&state, &[], &params);
            let gradient =
                rollout.gradient(&start, &Everywhere).unwrap_or_else(|e| panic!("{name}: {e}")).clone();

            // The rod keeps its length, but for what its load stretches it.
            let mut longest: f64 = 0.0;
            let watch = rollout.watch(&start, |moment| {
                let d = [moment.state[3], moment.state[4], moment.state[5] - 2.0];
                longest = longest.max((d.iter().map(|x| x * x).sum::<f64>().sqrt() - 1.0).abs());
            });
            watch.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(longest < 60.0 / stiffness, "{name}: {longest}");

            // Against differences, by the mass of the bob.
            let bob = model.params_layout().find("bob.mass").expect("a mass").start;
            let mut value = |h: f64| {
                let mut params = params.clone();
                params.values_mut()[bob] += h;
                rollout.value(&Start::new(&state, &[], &params), &Everywhere).expect("a value")[0]
            };
            let difference = (value(1e-4) - value(-1e-4)) / 2e-4;
            let derivative = gradient.params[bob];
            assert!(
                (derivative - difference).abs() < 1e-4 * derivative.abs().max(1.0),
                "{name}: {derivative} {difference}"
            );
        }
    }
}
