//! A thousand worlds at once, each with its own mass, drag and stiffness: one batch, in SIMD lanes and on threads,
//! with the same bits as each world alone.

use std::time::Instant;

use pullback::prelude::*;

const WORLDS: usize = 1000;

/// How far from a point the ball is at the end [m²].
struct Miss {
    target: [f64; 3],
}

impl Loss for Miss {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        match moment.last {
            true => (0..3).map(|i| (moment.state[i] - self.target[i]).powi(2)).sum(),
            false => 0.0,
        }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            (0..3).for_each(|i| bars.state[i] += 2.0 * (moment.state[i] - self.target[i]));
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = Scene {
        particles: vec![
            Particles::single("ball", [0.0, 0.0, 1.5], 0.057).velocity([8.0, 0.0, 4.0]).drag(0.001),
            Particles::single("anchor", [0.0, 0.0, 2.5], 1.0).fix(),
        ],
        springs: vec![Springs::between("band", [0, 1], 0.5, 0.5)],
        simulation: Simulation { steps: 100, integrator: Integrator::RungeKutta4, ..Simulation::default() },
        ..Scene::default()
    };
    let step = Step::of(&scene)?;
    let model = step.model();
    let loss = Miss { target: [4.0, 1.0, 0.5] };

    // Flat vectors of all worlds, one after the other: the same start, other params.
    let states = model.state().values().repeat(WORLDS);
    let mut all_params = Vec::new();
    for world in 0..WORLDS {
        let part = world as f64 / WORLDS as f64;
        let mut params = model.params();
        params.set("ball.mass", &[0.03 + 0.05 * part])?;
        params.set("ball.drag", &[0.0005 + 0.002 * (7.0 * part).fract()])?;
        params.set("band.stiffness", &[0.2 + (13.0 * part).fract()])?;
        all_params.extend_from_slice(params.values());
    }
    let start = Start { states: &states, controls: &[], params: &all_params };

    let mut results: Vec<Gradient> = Vec::new();
    for threads in [1, 0] {
        let run = RunOptions { threads, ..RunOptions::default() };
        let mut batch = Rollout::<f64>::new(&step, Options { worlds: WORLDS, run, ..Options::of(&scene) })?;
        let began = Instant::now();
        let gradient = batch.gradient(&start, &loss)?.clone();
        let seconds = began.elapsed().as_secs_f64();
        let threads = if threads == 0 { "one thread per core".into() } else { format!("{threads} thread") };
        let steps = WORLDS * scene.simulation.steps;
        println!(
            "{threads}: {WORLDS} gradients in {seconds:.3} s, {:.0} ns a step",
            1e9 * seconds / steps as f64
        );
        results.push(gradient);
    }

    let best =
        (0..WORLDS).min_by(|a, b| results[0].values[*a].total_cmp(&results[0].values[*b])).unwrap_or(0);
    let params = results[0].params(best)?;
    println!(
        "world {best} comes nearest, to {:.3} m; its loss by mass {:.3} m²/kg, by drag {:.3} m³/kg",
        results[0].values[best].sqrt(),
        params.number("ball.mass")?,
        params.number("ball.drag")?
    );

    // The same bits for any number of threads, and for a world alone.
    assert_eq!(results[0].params, results[1].params);
    assert_eq!(results[0].states, results[1].states);
    let mut alone = Rollout::<f64>::new(&step, Options::of(&scene))?;
    let (state, count) = (model.state(), model.params().values().len());
    for world in [0, best, WORLDS - 1] {
        let params = &all_params[world * count..(world + 1) * count];
        let start = Start { states: state.values(), controls: &[], params };
        let gradient = alone.gradient(&start, &loss)?;
        assert_eq!(gradient.params, results[0].params[world * count..(world + 1) * count], "world {world}");
        assert_eq!(gradient.value(), results[0].values[world], "world {world}");
    }
    assert!(results[0].params.iter().filter(|bar| **bar != 0.0).count() > WORLDS);
    Ok(())
}
