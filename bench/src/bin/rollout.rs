//! Rollouts of small worlds: nanoseconds a step, forwards and for a gradient, by integrator and by what is kept.

use pullback_bench::rollouts::{AtTheEnd, times};
use pullback_bench::row;
use pullback_engine::{Error, Integrator, Memory, Model, Options, Scheme, Step};
use pullback_kernel::prelude::RunOptions;
use pullback_scene::{Particles, Scene, Springs};

/// A thrown ball with drag.
fn ball() -> Scene {
    let ball = Particles::single("ball", [0.0, 0.0, 1.0], 0.1).velocity([3.0, 0.0, 4.0]).drag(0.001);
    Scene { particles: vec![ball], ..Scene::default() }
}

/// A hanging chain of a hundred.
fn chain() -> Scene {
    let mut chain = Particles::line("chain", [0.0, 0.0, 2.0], [10.0, 0.0, 2.0], 100, 0.01);
    chain.fixed[0] = [true; 3];
    Scene {
        particles: vec![chain],
        springs: vec![Springs::chain("link", 0..100, 100.0, 0.1)],
        ..Scene::default()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let integrators = [Integrator::SemiImplicitEuler, Integrator::RungeKutta4, Integrator::BackwardEuler];
    for (name, scene, steps) in [("ball", ball(), 1000), ("chain of 100", chain(), 200)] {
        for integrator in integrators {
            let step = Step::new(&Model::new(&scene)?, Scheme::new(integrator, 1e-3))?;
            for (kept, memory) in [("every-step", Memory::EveryStep), ("dense", Memory::Dense)] {
                let [forward, gradient] = nanoseconds(&step, Options { memory, ..Options::new(steps) })?;
                if memory == Memory::EveryStep {
                    row(&format!("{name}/forward/{}", integrator.name()), "ns/step", forward);
                }
                row(&format!("{name}/gradient/{}, {kept}", integrator.name()), "ns/step", gradient);
            }
        }
    }
    let step = Step::new(&Model::new(&ball())?, Scheme::new(Integrator::SemiImplicitEuler, 1e-3))?;
    for (worlds, threads) in [(64, 1), (64, 2), (4096, 1), (4096, 2)] {
        let run = RunOptions { threads, ..RunOptions::default() };
        let [forward, gradient] = nanoseconds(&step, Options { worlds, run, ..Options::new(100) })?;
        let each = 1.0 / worlds as f64;
        row(&format!("{worlds} balls/forward/{threads} threads"), "ns/step of one", forward * each);
        row(&format!("{worlds} balls/gradient/{threads} threads"), "ns/step of one", gradient * each);
    }
    Ok(())
}

/// Nanoseconds a step of all worlds: of a value, and of a gradient.
fn nanoseconds(step: &Step, options: Options) -> Result<[f64; 2], Error> {
    let times = times(step, options, &AtTheEnd(0))?;
    Ok([times.forward, times.gradient].map(|seconds| 1e9 * seconds))
}
