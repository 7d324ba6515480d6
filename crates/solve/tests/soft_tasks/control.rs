//! A walker and a gear wheel that are driven to marks by networks.

use std::time::Instant;

use pullback_engine::Loss;
use pullback_engine::rollout::{Bars, Moment};
use pullback_scene as scene;
use pullback_solve::Problem;

use crate::instance::problem;
use crate::promises::{promise, scenes};
use crate::random::Random;
use crate::row;

/// How many marks, as many as the paper has for the gear.
const GOALS: u64 = 6;

/// How far the middle of all points is from a mark at the end, squared [m²]. Axes without a mark do not count.
struct Middle {
    points: usize,
    goal: [Option<f64>; 3],
}

impl Middle {
    /// From the mark, along the axes.
    fn apart(&self, state: &[f64]) -> [f64; 3] {
        let points = &state.as_chunks::<3>().0[..self.points];
        let mean = |axis: usize| points.iter().map(|x| x[axis]).sum::<f64>() / self.points as f64;
        std::array::from_fn(|axis| self.goal[axis].map_or(0.0, |goal| mean(axis) - goal))
    }
}

impl Loss for Middle {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { self.apart(moment.state).into_iter().map(|x| x * x).sum() } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            let by = self.apart(moment.state).map(|x| 2.0 * x / self.points as f64);
            let bars = bars.state.as_chunks_mut::<3>().0.iter_mut().take(self.points);
            bars.for_each(|bar| bar.iter_mut().zip(by).for_each(|(bar, by)| *bar += by));
        }
    }
}

/// The scene keeps the promise of its file.
fn keep_promise(name: &str) {
    let file = scenes().join(format!("{name}.toml"));
    let (loss, most) = promise(&file);
    let mut problem = problem(&file);
    let start = Instant::now();
    let mut run = problem.begin().expect("it can be begun");
    run.finish(&mut problem).expect("it can be solved");
    let (found, gradients) = (run.best().1, run.counts().gradients);
    let words = [name.to_owned(), format!("{found:.3e}"), gradients.to_string()];
    row("promise", &[&words[..], &[format!("{:.1}", start.elapsed().as_secs_f64())]].concat());
    assert!(found < loss && run.history().len() - 1 <= most, "{name}: {found} after {gradients} gradients");
}

/// The distance from the mark after each iteration [m], the least so far.
fn drive(name: &str, goal: [Option<f64>; 3], iterations: usize) -> Vec<f64> {
    let mut description = scene::Problem::load(scenes().join(format!("{name}.toml"))).expect("a problem");
    // What the file measures does not count here.
    description.losses.iter_mut().for_each(|term| term.weight = 0.0);
    (description.optimiser.iterations, description.optimiser.target) = (iterations, None);
    let points = description.scene.particle_count();
    let mut problem = Problem::new(description).expect("it can be run");
    problem.add_loss(Middle { points, goal });
    let mut run = problem.begin().expect("it can be begun");
    run.finish(&mut problem).expect("it can be driven");
    assert_eq!(run.counts().gradients, iterations + 1);
    run.history().iter().map(|record| record.best.sqrt()).collect()
}

/// Drives to marks, and prints the distances after some of the iterations. Returns the worst of the last.
fn drive_to_goals(
    name: &str,
    goal: impl Fn(f64) -> [Option<f64>; 3],
    reach: [f64; 2],
    shown: &[usize],
) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..GOALS {
        let start = Instant::now();
        let x = Random(500 + i).between(reach[0], reach[1]);
        let last = *shown.last().expect("some are shown");
        let distances = drive(name, goal(x), last);
        let mut words = vec![i.to_string(), format!("{x:.2}")];
        words.extend(shown.iter().map(|&at| format!("{:.4}", distances[at])));
        words.push(format!("{:.1}", start.elapsed().as_secs_f64()));
        row(name, &words);
        worst = worst.max(distances[last]);
    }
    worst
}

#[test]
#[ignore = "minutes: cargo xtask study soft runs it"]
fn walkers_walk_to_their_marks() {
    keep_promise("walker");
    let worst = drive_to_goals("walker", |x| [Some(x), None, None], [0.5, 3.0], &[0, 5, 10, 20, 40]);
    assert!(worst < 0.05, "{worst}");
}

#[test]
#[ignore = "minutes: cargo xtask study soft runs it"]
fn gears_roll_to_their_marks() {
    keep_promise("gear");
    let worst = drive_to_goals("gear", |x| [Some(x), Some(0.0), Some(2.0)], [0.0, 5.0], &[0, 5, 10, 19]);
    assert!(worst < 0.2, "{worst}");
}
