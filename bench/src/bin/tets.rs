//! Stable neo-Hookean tetrahedra on a semi-implicit step with a ground penalty: Pullback's side of the benchmark.

use pullback_bench::scene::{Mesh, Particle, Tets, step};
use pullback_bench::{measure, quick, row};
use pullback_kernel::prelude::*;

/// Cells along x, y and z, and how many steps the gradient's rollout has: those of the peer.
const CASES: [([usize; 3], usize); 4] =
    [([5, 2, 2], 300), ([10, 5, 4], 200), ([20, 10, 10], 60), ([50, 20, 20], 10)];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (cells, steps) in CASES {
        let mesh = Mesh::block(cells);
        let tets = step(&mesh)?;
        let size = mesh.corners.len();
        if !wanted(&size.to_string()) {
            continue;
        }
        let variants: [(&str, usize, Width); 4] = [
            ("scalar", 1, Width::One),
            ("lanes", 1, Width::Narrow),
            ("lanes-wide", 1, Width::Wide),
            ("lanes-2-threads", 2, Width::Narrow),
        ];
        for (variant, threads, width) in variants.into_iter().filter(|(name, ..)| wanted(name)) {
            let options = RunOptions { threads, width, ..RunOptions::default() };
            let rates = rates(&tets, &mesh, steps, options)?;
            row(&format!("{size}/forward/{variant}"), "steps/s", rates.forward);
            row(&format!("{size}/pullback/{variant}"), "steps/s", rates.pullback);
            if variant == "lanes" {
                row(&format!("{size}/gradient-norm"), "1", rates.gradient_norm);
            }
        }
    }
    Ok(())
}

/// Sizes and variants on the command line, `tets 10000 lanes`, leave out the others.
fn wanted(name: &str) -> bool {
    let is_size = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let same_sort = |word: &String| !word.starts_with('-') && is_size(word) == is_size(name);
    let words: Vec<String> = std::env::args().skip(1).filter(same_sort).collect();
    words.is_empty() || words.iter().any(|word| word == name)
}

struct Rates {
    forward: f64,
    pullback: f64,
    gradient_norm: f64,
}

/// A rollout that keeps every state, and the gradient of Σ |x_N|² with respect to x_0 back through it.
fn rates(
    tets: &Tets,
    mesh: &Mesh,
    steps: usize,
    options: RunOptions,
) -> Result<Rates, Box<dyn std::error::Error>> {
    let mut w = tets.program.workspace::<f32>(options);
    let start = mesh.at_rest();
    let mut states = vec![vec![0.0f32; w.state_len()]; steps];
    let seconds = if quick() { 0.1 } else { 0.5 };

    let forward = measure(seconds, || {
        w.write(tets.particles, &start).expect("as many as there are vertices");
        for state in &mut states {
            w.save_state(state).expect("as long as the state");
            w.forward();
            w.carry();
        }
    });
    // The last carry made it the input of a step that is not taken.
    let last = w.read(tets.particles);
    let seed: Vec<_> = last.iter().map(|p| Particle { x: p.x * 2.0, v: Vec3::default() }).collect();
    let pullback = measure(seconds, || {
        w.seed(tets.next, &seed).expect("as many as there are vertices");
        for state in states.iter().rev() {
            w.load_state(state).expect("as long as the state");
            // No `forward`: the step is linear in the forces, so that no pullback reads their values.
            w.pullback();
            w.carry_back();
        }
    });
    let gradient = w.bars(tets.next);
    let gradient_norm = gradient.iter().map(|g| f64::from(dot(g.x, g.x))).sum::<f64>().sqrt();
    Ok(Rates { forward: steps as f64 / forward, pullback: steps as f64 / pullback, gradient_norm })
}
