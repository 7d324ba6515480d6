//! Things that are dropped, turned in any way: every step on their way to rest is solved, or the gradient would be refused.
//!
//! `CONTACT_DROPS=600` drops 10,800 of them, of which 4 are refused.

mod common;

use common::contacts::turned;
use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Options, Rollout, Start, Step};
use pullback_scene::Scene;

/// How many of each, when nothing else is said.
const DROPS: usize = 20;

const STEPS: usize = 150;

/// The sum of all numbers of the last state.
struct Sum;

impl Loss for Sum {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { moment.state.iter().sum() } else { 0.0 }
    }
    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state.iter_mut().for_each(|bar| *bar += 1.0);
        }
    }
}

const SHAPES: [&str; 6] = [
    "capsule = { radius = 0.05, half_length = 0.1 }",
    "cylinder = { radius = 0.08, half_length = 0.05 }",
    "ellipsoid = [0.12, 0.08, 0.05]",
    "box = [0.1, 0.07, 0.04]",
    "box = [0.2, 0.02, 0.02]",
    "sphere = 0.1",
];

const GROUNDS: [&str; 3] = [
    "[ground]\n",
    "[[shapes]]\nname = \"bumps\"\nposition = [-0.8, -0.8, 0]\nshape = { heights = { values = [\n\
     [0.00, 0.03, 0.01, 0.05, 0.00, 0.04, 0.02, 0.01, 0.03],\n[0.04, 0.00, 0.05, 0.02, 0.03, 0.00, 0.05, 0.02, 0.00],\n\
     [0.01, 0.05, 0.00, 0.04, 0.01, 0.05, 0.00, 0.03, 0.04],\n[0.03, 0.02, 0.04, 0.00, 0.05, 0.01, 0.03, 0.00, 0.02],\n\
     [0.00, 0.04, 0.01, 0.05, 0.02, 0.04, 0.00, 0.05, 0.01],\n[0.05, 0.01, 0.03, 0.00, 0.04, 0.02, 0.05, 0.01, 0.03],\n\
     [0.02, 0.04, 0.00, 0.05, 0.01, 0.03, 0.02, 0.04, 0.00],\n[0.00, 0.02, 0.05, 0.01, 0.04, 0.00, 0.03, 0.02, 0.05],\n\
     [0.03, 0.00, 0.02, 0.04, 0.00, 0.05, 0.01, 0.03, 0.02]], step = [0.2, 0.2] } }\n",
    "[ground]\n[[shapes]]\nname = \"step\"\nposition = [0, 0, 0.03]\nshape = { box = [0.05, 1, 0.03] }\n",
];

/// Numbers between -1 and 1, the same for the same seed (Weyl's sequence).
fn numbers<const N: usize>(seed: usize) -> [f64; N] {
    std::array::from_fn(|i| {
        let roots = [2.0_f64, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0];
        2.0 * ((seed + 1) as f64 * roots[i % 10].sqrt()).fract() - 1.0
    })
}

fn scene(shape: &str, ground: &str, drop: usize) -> String {
    let [x, y, z, angle, vx, vy, wx, wy, wz] = numbers(drop);
    let orientation = turned([x, y, z], 3.0 * angle);
    let spin = [3.0 * wx, 3.0 * wy, 3.0 * wz];
    format!(
        "[simulation]\ndt = 0.005\nsteps = {STEPS}\n[contact]\nmu = 0.5\n{ground}[[bodies]]\nname = \"it\"\nmass = 1\n\
         shape = {{ {shape} }}\nposition = [0, 0, 0.3]\n{orientation}velocity = [{}, {}, 0]\n\
         angular_velocity = {spin:?}\n",
        0.5 * vx,
        0.5 * vy
    )
}

#[test]
fn every_step_of_a_drop_is_solved() {
    let drops = std::env::var("CONTACT_DROPS").ok().and_then(|n| n.parse().ok()).unwrap_or(DROPS);
    let mut refused = Vec::new();
    for shape in SHAPES {
        for (g, ground) in GROUNDS.iter().enumerate() {
            for drop in 0..drops {
                let scene = Scene::parse(&scene(shape, ground, drop), "drop.toml").expect("a scene");
                let step = Step::of(&scene).expect("a step");
                let model = step.model();
                let (state, params, controls) = (model.state(), model.params(), model.controls(STEPS));
                let mut rollout = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
                let result = rollout.gradient(&Start::new(&state, &controls, &params), &Sum);
                if let Err(error) = result {
                    refused.push(format!("{shape}, ground {g}, drop {drop}: {error}"));
                }
            }
        }
    }
    let all = drops * SHAPES.len() * GROUNDS.len();
    println!("{} of {all} are refused", refused.len());
    assert!(1000 * refused.len() <= all, "{} of {all}: {refused:#?}", refused.len());
}

/// Worlds of a batch, in which each has a way of its own to its solution, have the same bits as alone.
#[test]
fn drops_of_a_batch_are_as_each_alone() {
    const WORLDS: usize = 11;
    for shape in SHAPES {
        let first = Scene::parse(&scene(shape, GROUNDS[1], 0), "drop.toml").expect("a scene");
        let step = Step::of(&first).expect("a step");
        let params = step.model().params();
        let mut states = Vec::new();
        for drop in 0..WORLDS {
            let scene = Scene::parse(&scene(shape, GROUNDS[1], drop), "drop.toml").expect("a scene");
            states.extend_from_slice(Step::of(&scene).expect("a step").model().state().values());
        }
        let options = Options { worlds: WORLDS, ..Options::new(STEPS) };
        let mut together = Rollout::<f64>::new(&step, options).expect("a rollout");
        let (n, all) = (states.len() / WORLDS, params.values().repeat(WORLDS));
        let start = Start { states: &states, controls: &[], params: &all };
        let batch = together.gradient(&start, &Sum).expect("a gradient");
        let mut alone = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
        for (world, states) in states.chunks_exact(n).enumerate() {
            let start = Start { states, controls: &[], params: params.values() };
            let one = alone.gradient(&start, &Sum).expect("a gradient");
            assert_eq!(one.states, batch.states[world * n..(world + 1) * n], "{shape}, world {world}");
        }
    }
}
