//! Several steps of one program: carry, carry_back, and states that are saved and loaded.

use std::cell::RefCell;

use pullback_kernel::gradcheck::{self, Function};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{AccessError, BufferUse, Scalar};

use crate::kernels::{advance, spring};
use crate::subject::random;

const N: usize = 5;
const STEPS: usize = 4;

/// A chain of points and springs.
struct Chain {
    program: Program,
    /// x, v, and the parameters; with the number of numbers.
    inputs: Vec<(BufferUse, usize)>,
    x1: Buffer<Vec3>,
    v1: Buffer<Vec3>,
}

fn chain() -> Chain {
    let mut p = Program::builder();
    let x = p.input::<Vec3>("x", N);
    let v = p.input::<Vec3>("v", N);
    let k = p.parameter::<f64>("k", N - 1);
    let c = p.parameter::<f64>("c", 1);
    let m = p.parameter::<f64>("m", N);
    let dt = p.parameter::<f64>("dt", 1);
    let rest = p.constant::<f64>("rest", &[0.3; N - 1]);
    let table = p.corners("springs", &(0..N - 1).map(|i| [i, i + 1]).collect::<Vec<_>>(), N);
    let f =
        p.elements::<spring, _, 2>("f", table, (x.at(table), v.at(table), k.own(), c.shared(), rest.own()));
    let (x1, v1) = p.map::<advance>("x1, v1", (x.own(), v.own(), f.own(), m.own(), dt.shared()));
    p.carry(x, x1);
    p.carry(v, v1);
    let inputs = vec![
        (x.into(), 3 * N),
        (v.into(), 3 * N),
        (k.into(), N - 1),
        (c.into(), 1),
        (m.into(), N),
        (dt.into(), 1),
    ];
    Chain { program: p.finish().expect("a program"), inputs, x1, v1 }
}

/// The inputs at the start, and the parameters, to x and v at the end, in all worlds.
struct Rollout {
    chain: Chain,
    plain: RefCell<Workspace<f64>>,
    dual: RefCell<Workspace<Dual<f64>>>,
}

impl Rollout {
    fn new(worlds: Option<usize>) -> Self {
        fn workspace<S: Scalar>(chain: &Chain, worlds: Option<usize>) -> RefCell<Workspace<S>> {
            let options = RunOptions { threads: 2, ..RunOptions::default() };
            RefCell::new(match worlds {
                None => chain.program.workspace::<S>(options),
                Some(worlds) => chain.program.batch::<S>(worlds, options),
            })
        }
        let chain = chain();
        Rollout { plain: workspace(&chain, worlds), dual: workspace(&chain, worlds), chain }
    }

    fn point(&self) -> Vec<f64> {
        let worlds = 0..self.plain.borrow().worlds();
        let number = |world: usize, b: usize, i: usize| match b {
            0 | 1 => 2.0 * random(world, b, i) - 1.0,
            _ => 0.2 + random(world, b, i),
        };
        let buffers = |world| self.chain.inputs.iter().enumerate().map(move |(b, (_, len))| (world, b, *len));
        worlds.flat_map(buffers).flat_map(|(w, b, len)| (0..len).map(move |i| number(w, b, i))).collect()
    }

    fn forward<S: Scalar>(&self, workspace: &mut Workspace<S>, x: &[S], states: &mut Vec<Vec<S>>) -> Vec<S> {
        let mut rest = x;
        for world in 0..workspace.worlds() {
            for &(b, len) in &self.chain.inputs {
                workspace.write_numbers(world, b, &rest[..len]).expect("an input");
                rest = &rest[len..];
            }
        }
        for step in 0..STEPS {
            if step > 0 {
                workspace.carry();
            }
            let mut state = vec![S::default(); workspace.state_len()];
            workspace.save_state(&mut state).expect("the state's length");
            states.push(state);
            workspace.forward();
        }
        let outputs = |world| {
            let read = |b: Buffer<Vec3>| workspace.read_numbers(world, b).expect("a world");
            [read(self.chain.x1), read(self.chain.v1)].concat()
        };
        (0..workspace.worlds()).flat_map(outputs).collect()
    }

    /// Every step again, last first, from its state.
    fn pullback<S: Scalar>(&self, workspace: &mut Workspace<S>, x: &[S], y_bar: &[S]) -> Vec<S> {
        let mut states = Vec::new();
        self.forward(workspace, x, &mut states);
        workspace.clear_parameters();
        for (world, seeds) in y_bar.chunks(6 * N).enumerate() {
            workspace.seed_numbers(world, self.chain.x1, &seeds[..3 * N]).expect("x1");
            workspace.seed_numbers(world, self.chain.v1, &seeds[3 * N..]).expect("v1");
        }
        for (step, state) in states.iter().enumerate().rev() {
            workspace.load_state(state).expect("the state's length");
            workspace.forward();
            workspace.pullback();
            if step > 0 {
                workspace.carry_back();
            }
        }
        let worlds = 0..workspace.worlds();
        let bars = |world| self.chain.inputs.iter().map(move |(b, _)| (world, *b));
        worlds.flat_map(bars).flat_map(|(w, b)| workspace.bar_numbers(w, b).expect("a world")).collect()
    }
}

impl Function for Rollout {
    fn name(&self) -> String {
        "rollout".to_owned()
    }
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        self.forward(&mut self.plain.borrow_mut(), x, &mut Vec::new())
    }
    fn pullback(&self, x: &[f64], y_bar: &[f64]) -> Vec<f64> {
        self.pullback(&mut self.plain.borrow_mut(), x, y_bar)
    }
    fn pushforward(&self, x: &[f64], x_dot: &[f64]) -> Vec<f64> {
        let x: Vec<_> = x.iter().zip(x_dot).map(|(&x, &d)| Dual::new(x, d)).collect();
        let y = self.forward(&mut self.dual.borrow_mut(), &x, &mut Vec::new());
        y.into_iter().map(|y| y.tangent).collect()
    }
    fn second_order(&self, x: &[f64], y_bar: &[f64], x_dot: &[f64]) -> Option<Vec<f64>> {
        let x: Vec<_> = x.iter().zip(x_dot).map(|(&x, &d)| Dual::new(x, d)).collect();
        let y_bar: Vec<_> = y_bar.iter().map(|&y_bar| Dual::new(y_bar, 0.0)).collect();
        let bars = self.pullback(&mut self.dual.borrow_mut(), &x, &y_bar);
        Some(bars.into_iter().map(|bar| bar.tangent).collect())
    }
}

#[test]
fn the_gradient_of_a_rollout() {
    for worlds in [None, Some(3)] {
        let rollout = Rollout::new(worlds);
        gradcheck::check(&rollout, &rollout.point()).unwrap_or_else(|report| panic!("{report}"));
    }
}

#[test]
fn states_are_saved_and_loaded() {
    for worlds in [None, Some(1), Some(17)] {
        let rollout = Rollout::new(worlds);
        let point = rollout.point();
        let mut workspace = rollout.plain.borrow_mut();
        let mut states = Vec::new();
        rollout.forward(&mut workspace, &point, &mut states);
        let least = workspace.worlds() * 6 * N;
        assert!(workspace.state_len() >= least, "{} for {least} numbers", workspace.state_len());
        // From the state of step 1 the same steps follow.
        workspace.load_state(&states[1]).expect("a state");
        for state in &states[2..] {
            workspace.forward();
            workspace.carry();
            let mut again = vec![0.0; workspace.state_len()];
            workspace.save_state(&mut again).expect("the state's length");
            let bits = |state: &[f64]| state.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&again), bits(state));
        }
        let wanted = workspace.state_len();
        let wrong = AccessError::Length { buffer: "the state".into(), wanted, found: 3 };
        assert_eq!(workspace.save_state(&mut [0.0; 3]), Err(wrong.clone()));
        assert_eq!(workspace.load_state(&[0.0; 3]), Err(wrong));
    }
}
