//! Programs as functions to check.

use std::cell::RefCell;

use super::{Function, Report, check};
use crate::program::{BufferInfo, BufferUse, Role, Workspace};
use crate::scalar::Dual;

/// Checks the program of a workspace: the derivatives of all its outputs with respect to all its inputs and parameters,
/// at the values that these have in the workspace, with its lists, in all its worlds.
///
/// It runs the program twice for each number of the inputs and once for each of the outputs: keep them small.
pub fn program(workspace: &Workspace<f64>) -> Result<Report, Box<Report>> {
    let function = ProgramAt::new(workspace);
    check(&function, &function.x())
}

/// The program of a workspace as a function: of the numbers of some of its inputs and parameters, world by world, to
/// those of some of its outputs. The other inputs stay as they are in the workspace.
pub struct ProgramAt {
    name: String,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    plain: RefCell<Workspace<f64>>,
    dual: RefCell<Workspace<Dual<f64>>>,
}

impl ProgramAt {
    /// Of all inputs and parameters, to all outputs.
    pub fn new(workspace: &Workspace<f64>) -> Self {
        let inner = &workspace.program().inner;
        let inputs = inner.buffers.iter().enumerate();
        let inputs = inputs.filter(|(_, b)| matches!(b.role, Role::Input | Role::Parameter));
        let inputs = inputs.map(|(id, _)| id).collect();
        let names: Vec<&str> = inner.outputs.iter().map(|&b| inner.buffers[b].name.as_str()).collect();
        ProgramAt {
            name: format!("program of {}", names.join(", ")),
            inputs,
            outputs: inner.outputs.clone(),
            plain: RefCell::new(workspace.twin(|x| x)),
            dual: RefCell::new(workspace.twin(|x| Dual::new(x, 0.0))),
        }
    }

    /// Of these inputs and parameters alone, to these outputs alone.
    #[must_use]
    pub fn only(mut self, inputs: &[BufferUse], outputs: &[BufferUse]) -> Self {
        self.inputs = inputs.iter().map(|b| b.id).collect();
        self.outputs = outputs.iter().map(|b| b.id).collect();
        self
    }

    /// Where the workspace is: the numbers of the inputs.
    pub fn x(&self) -> Vec<f64> {
        let plain = self.plain.borrow();
        collect(plain.worlds(), &self.inputs, |b, world| plain.numbers(b, world, false).unwrap_or_default())
    }

    /// The world, buffer, value and number of entry `i`.
    fn entry_name(&self, buffers: &[usize], mut i: usize) -> String {
        let plain = self.plain.borrow();
        let infos: Vec<&BufferInfo> = buffers.iter().map(|&b| &plain.program().buffers()[b]).collect();
        let per_world: usize = infos.iter().map(|info| info.len * info.numbers).sum();
        let world = match plain.worlds() {
            1 => String::new(),
            _ => format!(" of world {}", i / per_world.max(1)),
        };
        i %= per_world.max(1);
        for info in infos {
            if i < info.len * info.numbers {
                let (e, c) = (i / info.numbers, i % info.numbers);
                let number = if info.numbers == 1 { String::new() } else { format!("[{c}]") };
                return format!("{}[{e}]{number}{world}", info.name);
            }
            i -= info.len * info.numbers;
        }
        "?".to_owned()
    }
}

impl Function for ProgramAt {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn input_name(&self, i: usize) -> String {
        self.entry_name(&self.inputs, i)
    }
    fn output_name(&self, k: usize) -> String {
        self.entry_name(&self.outputs, k)
    }
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        let mut plain = self.plain.borrow_mut();
        forward(&mut plain, &self.inputs, &self.outputs, x)
    }
    fn pullback(&self, x: &[f64], y_bar: &[f64]) -> Vec<f64> {
        let mut plain = self.plain.borrow_mut();
        pullback(&mut plain, &self.inputs, &self.outputs, x, y_bar)
    }
    fn pushforward(&self, x: &[f64], x_dot: &[f64]) -> Vec<f64> {
        let x: Vec<_> = x.iter().zip(x_dot).map(|(&x, &x_dot)| Dual::new(x, x_dot)).collect();
        let y = forward(&mut self.dual.borrow_mut(), &self.inputs, &self.outputs, &x);
        y.into_iter().map(|y| y.tangent).collect()
    }
    fn second_order(&self, x: &[f64], y_bar: &[f64], x_dot: &[f64]) -> Option<Vec<f64>> {
        let x: Vec<_> = x.iter().zip(x_dot).map(|(&x, &x_dot)| Dual::new(x, x_dot)).collect();
        let y_bar: Vec<_> = y_bar.iter().map(|&y_bar| Dual::new(y_bar, 0.0)).collect();
        let bars = pullback(&mut self.dual.borrow_mut(), &self.inputs, &self.outputs, &x, &y_bar);
        Some(bars.into_iter().map(|bar| bar.tangent).collect())
    }
}

fn collect<S>(worlds: usize, buffers: &[usize], numbers: impl Fn(usize, usize) -> Vec<S>) -> Vec<S> {
    (0..worlds)
        .flat_map(|world| buffers.iter().map(move |&b| (b, world)))
        .flat_map(|(b, w)| numbers(b, w))
        .collect()
}

/// Gives buffers their numbers, one after the other.
fn distribute<S: crate::program::Scalar>(
    workspace: &mut Workspace<S>,
    buffers: &[usize],
    bars: bool,
    mut numbers: &[S],
) {
    for world in 0..workspace.worlds() {
        for &b in buffers {
            let info = &workspace.program().buffers()[b];
            let (these, others) = numbers.split_at(info.len * info.numbers);
            workspace.set_numbers(b, world, these, bars).expect("a buffer of the workspace with its length");
            numbers = others;
        }
    }
}

fn forward<S: crate::program::Scalar>(
    workspace: &mut Workspace<S>,
    inputs: &[usize],
    outputs: &[usize],
    x: &[S],
) -> Vec<S> {
    distribute(workspace, inputs, false, x);
    workspace.forward();
    collect(workspace.worlds(), outputs, |b, world| workspace.numbers(b, world, false).unwrap_or_default())
}

fn pullback<S: crate::program::Scalar>(
    workspace: &mut Workspace<S>,
    inputs: &[usize],
    outputs: &[usize],
    x: &[S],
    y_bar: &[S],
) -> Vec<S> {
    forward(workspace, inputs, outputs, x);
    // Outputs that were not chosen have no cotangent.
    for b in workspace.program().inner.outputs.clone() {
        let info = &workspace.program().buffers()[b];
        let zeros = vec![S::default(); info.len * info.numbers * workspace.worlds()];
        distribute(workspace, &[b], true, &zeros);
    }
    workspace.clear_parameters();
    distribute(workspace, outputs, true, y_bar);
    workspace.pullback();
    collect(workspace.worlds(), inputs, |b, world| workspace.numbers(b, world, true).unwrap_or_default())
}
