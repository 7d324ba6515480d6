//! How a rollout runs.

use pullback_kernel::prelude::RunOptions;
use pullback_scene::{Memory, Snapshots};

use crate::stepper::Parts;

/// How a rollout runs.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many steps.
    pub steps: usize,
    /// How many worlds, each with its own state, controls and params.
    pub worlds: usize,
    /// What is kept for the way back.
    pub memory: Memory,
    /// How states are kept.
    pub snapshots: Snapshots,
    /// Cotangents reach back so many steps and no further: they are dropped at the ends of windows of this length, counted
    /// from the end of the rollout.
    pub truncate: Option<usize>,
    /// The most that the norm of a state's cotangent may be; a longer one is shortened.
    pub clip: Option<f64>,
    /// Threads, lanes and instructions.
    pub run: RunOptions,
}

impl Options {
    /// So many steps of one world, each kept.
    pub fn new(steps: usize) -> Self {
        Options {
            steps,
            worlds: 1,
            memory: Memory::EveryStep,
            snapshots: Snapshots::F64,
            truncate: None,
            clip: None,
            run: RunOptions::default(),
        }
    }

    /// What a scene asks for.
    pub fn of(scene: &pullback_scene::Scene) -> Self {
        let s = &scene.simulation;
        Options {
            memory: s.memory,
            snapshots: s.snapshots,
            truncate: s.truncate,
            clip: s.clip,
            ..Self::new(s.steps)
        }
    }

    /// On the way back: are cotangents dropped that have come through step number `step`?
    pub fn drops_before(&self, step: usize) -> bool {
        self.truncate.is_some_and(|window| (self.steps - step).is_multiple_of(window))
    }

    /// On the way back: shortens the cotangent of a state that is longer than it may be. Returns its norm before that.
    pub fn shorten<S: Parts>(&self, state_bar: &mut [S]) -> f64 {
        let norm = sum_of_squares(state_bar).sqrt();
        if let Some(most) = self.clip.filter(|most| norm > *most) {
            state_bar.iter_mut().for_each(|x| *x = S::from_parts(x.value() * (most / norm), 0.0));
        }
        norm
    }
}

/// Σ x², by eight sums side by side: one sum would wait for itself at every number.
fn sum_of_squares<S: Parts>(numbers: &[S]) -> f64 {
    let mut sums = [0.0; 8];
    let eights = numbers.chunks_exact(8);
    let rest: f64 = eights.remainder().iter().map(|x| x.value() * x.value()).sum();
    for eight in eights {
        sums.iter_mut().zip(eight).for_each(|(sum, x)| *sum += x.value() * x.value());
    }
    sums.iter().sum::<f64>() + rest
}
