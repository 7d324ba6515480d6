//! What passes leave: cotangents of inputs and parameters, seeds, constants, operations that are not run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pullback_kernel::gradcheck;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Lane, Operation, World};

use crate::kernels::{Law, law};

/// y[i] = w[1] x[i], with a `law` whose kinds are all linear.
fn scaled(
    p: &mut pullback_kernel::program::Builder,
    name: &str,
    x: Buffer<f64>,
    w: Buffer<[f64; 3]>,
    n: usize,
) -> Buffer<f64> {
    let (kinds, which) = (p.indices(&vec![Law::Linear; n]), p.indices(&vec![1; n]));
    p.map::<law>(name, (kinds.own(), which.own(), x.own(), w.shared()))
}

#[test]
fn parameters_accumulate_and_inputs_are_replaced() {
    let mut p = Program::builder();
    let (x, w) = (p.input::<f64>("x", 3), p.parameter::<[f64; 3]>("w", 1));
    let y = scaled(&mut p, "y", x, w, 3);
    p.output(y);
    let program = p.finish().expect("a program");
    for worlds in [None, Some(2)] {
        let mut workspace = match worlds {
            None => program.workspace::<f64>(RunOptions::default()),
            Some(worlds) => program.batch::<f64>(worlds, RunOptions::default()),
        };
        for world in 0..workspace.worlds() {
            workspace.write_in(world, x, &[1.0, 2.0, 3.0]).expect("x");
            workspace.write_in(world, w, &[[5.0, 7.0, 9.0]]).expect("w");
        }
        workspace.forward();
        assert_eq!(workspace.read(y), [7.0, 14.0, 21.0]);
        for times in 1..4 {
            for world in 0..workspace.worlds() {
                workspace.seed_in(world, y, &[1.0, 1.0, 1.0]).expect("y");
            }
            workspace.pullback();
            for world in 0..workspace.worlds() {
                assert_eq!(workspace.bars_in(world, w).expect("w"), [[0.0, 6.0 * f64::from(times), 0.0]]);
                assert_eq!(workspace.bars_in(world, x).expect("x"), [7.0, 7.0, 7.0]);
            }
        }
        workspace.clear_parameters();
        assert_eq!(workspace.bars(w), [[0.0; 3]]);
        assert_eq!(workspace.bars(x), [7.0, 7.0, 7.0]);
        workspace.seed(y, &[0.0, 2.0, 0.0]).expect("y");
        workspace.pullback();
        assert_eq!(workspace.bars(w), [[0.0, 4.0, 0.0]]);
        assert_eq!(workspace.bars(x), [0.0, 14.0, 0.0]);
    }
}

#[test]
fn an_output_that_is_read_gets_its_seed_added() {
    let mut p = Program::builder();
    let (x, w) = (p.input::<f64>("x", 2), p.parameter::<[f64; 3]>("w", 1));
    let y = scaled(&mut p, "y", x, w, 2);
    let z = scaled(&mut p, "z", y, w, 2);
    p.output(y);
    p.output(z);
    // An input may be an output as well.
    p.output(x);
    let mut workspace = p.finish().expect("a program").workspace::<f64>(RunOptions::default());
    workspace.write(x, &[1.0, 2.0]).expect("x");
    workspace.write(w, &[[0.0, 3.0, 0.0]]).expect("w");
    workspace.forward();
    workspace.seed(x, &[100.0, 200.0]).expect("x");
    workspace.seed(y, &[10.0, 20.0]).expect("y");
    workspace.seed(z, &[1.0, 2.0]).expect("z");
    workspace.pullback();
    assert_eq!(workspace.bars(y), [10.0 + 3.0, 20.0 + 6.0]);
    assert_eq!(workspace.bars(x), [100.0 + 39.0, 200.0 + 78.0]);
    assert_eq!(workspace.bars(w), [[0.0, 1.0 * 3.0 + 2.0 * 6.0 + 13.0 * 1.0 + 26.0 * 2.0, 0.0]]);
}

#[test]
fn fixed_stops_gradients() {
    // y = w x² by two operations, the second of which takes the first's result as a constant.
    let mut p = Program::builder();
    let (x, w) = (p.input::<f64>("x", 2), p.parameter::<[f64; 3]>("w", 1));
    let (kinds, which) = (p.indices(&[Law::Linear; 2]), p.indices(&[1; 2]));
    let y = p.map::<law>("y", (kinds.own(), which.own(), x.own(), w.fixed().shared()));
    let z = p.map::<law>("z", (kinds.own(), which.own(), y.own(), w.shared()));
    p.output(z);
    let mut workspace = p.finish().expect("a program").workspace::<f64>(RunOptions::default());
    workspace.write(x, &[1.0, 2.0]).expect("x");
    workspace.write(w, &[[0.0, 3.0, 0.0]]).expect("w");
    workspace.forward();
    assert_eq!(workspace.read(z), [9.0, 18.0]);
    workspace.seed(z, &[1.0, 1.0]).expect("z");
    workspace.pullback();
    assert_eq!(workspace.bars(x), [9.0, 9.0]);
    // The second operation's half alone.
    assert_eq!(workspace.bars(w), [[0.0, 3.0 + 6.0, 0.0]]);
    // With respect to x everything is differentiated, and right.
    let function = gradcheck::ProgramAt::new(&workspace).only(&[x.into()], &[z.into()]);
    gradcheck::check(&function, &function.x()).expect("right");
    // With respect to w a derivative is missing, and gradcheck says so.
    let report = gradcheck::program(&workspace).expect_err("a half is missing");
    assert_eq!(report.worst.which, "d z[1] / d w[0][1]", "{report}");
}

/// y = 2 x, and how often its pullback was run.
struct Counted {
    x: Buffer<f64>,
    y: Buffer<f64>,
    pullbacks: Arc<AtomicUsize>,
}

impl Operation for Counted {
    fn name(&self) -> String {
        "counted".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        vec![self.x.into()]
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.y.into()]
    }
    fn forward<S: Lane>(&self, world: &mut World<'_, S>) {
        let x = world.get(self.x, 0);
        world.set(self.y, 0, x + x);
    }
    fn pullback<S: Lane>(&self, world: &mut World<'_, S>) {
        self.pullbacks.fetch_add(1, Ordering::Relaxed);
        let bar = world.bar(self.y, 0);
        world.add_bar(self.x, 0, bar + bar);
    }
}

#[test]
fn what_reaches_no_output_or_no_input_is_not_pulled_back() {
    let counts: Vec<Arc<AtomicUsize>> = (0..3).map(|_| Arc::default()).collect();
    let mut p = Program::builder();
    let x = p.input::<f64>("x", 1);
    let one = p.constant::<f64>("one", &[1.0]);
    let (y, side) = (p.computed::<f64>("y", 1), p.computed::<f64>("side", 1));
    p.operation(Counted { x, y, pullbacks: Arc::clone(&counts[0]) });
    // Computed, and read by the caller, but no output.
    p.operation(Counted { x, y: side, pullbacks: Arc::clone(&counts[1]) });
    // An output that depends on constants alone.
    let w = p.constant::<[f64; 3]>("w", &[[0.0, 5.0, 0.0]]);
    let (kinds, which) = (p.indices(&[Law::Linear]), p.indices(&[1]));
    let five = p.map::<law>("five", (kinds.own(), which.own(), one.own(), w.shared()));
    let ten = p.computed::<f64>("ten", 1);
    p.operation(Counted { x: five, y: ten, pullbacks: Arc::clone(&counts[2]) });
    p.output(y);
    p.output(ten);
    let mut workspace = p.finish().expect("a program").workspace::<f64>(RunOptions::default());
    workspace.write(x, &[3.0]).expect("x");
    for times in 1..3 {
        workspace.forward();
        assert_eq!([workspace.read(y)[0], workspace.read(side)[0], workspace.read(ten)[0]], [6.0, 6.0, 10.0]);
        workspace.seed(y, &[1.0]).expect("y");
        workspace.seed(ten, &[1.0]).expect("ten");
        workspace.pullback();
        assert_eq!(workspace.bars(x), [2.0]);
        let counts: Vec<usize> = counts.iter().map(|c| c.load(Ordering::Relaxed)).collect();
        assert_eq!(counts, [times, 0, 0]);
    }
}

#[test]
fn a_batch_of_no_worlds_does_nothing() {
    let mut p = Program::builder();
    let (x, w) = (p.input::<f64>("x", 3), p.parameter::<[f64; 3]>("w", 1));
    let y = scaled(&mut p, "y", x, w, 3);
    p.output(y);
    let mut none =
        p.finish().expect("a program").batch::<f64>(0, RunOptions { threads: 2, ..RunOptions::default() });
    none.forward();
    none.pullback();
    none.clear_parameters();
    assert_eq!((none.worlds(), none.read(y)), (0, vec![]));
    assert_eq!(none.check_values(), Ok(()));
}

#[test]
fn a_program_can_be_read() {
    let mut p = Program::builder();
    let (x, w) = (p.input::<f64>("x", 3), p.parameter::<[f64; 3]>("w", 1));
    let y = scaled(&mut p, "y", x, w, 3);
    p.output(y);
    let program = p.finish().expect("a program");
    let text = "Input x: 3 x 1\nParameter w: 1 x 3\ny = law(indices 0, indices 1, x, w)\n";
    assert_eq!(program.to_string(), text);
}
