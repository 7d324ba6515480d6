//! One buffer that an operation reaches in several ways at once: cotangents add up, for any number of threads, on the GPU's
//! text too; carried buffers that nothing differentiates; handles of other programs.

use pullback_kernel::cuda::{Compile, Target, check, compile};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{AccessError, BuildError};

/// Linear, so that cotangents are whole numbers, and any that is lost or counted twice shows.
#[kernel]
fn sum<R: Real>(own: R, at: [R; 2], again: [R; 2], other: [R; 2], all: R) -> R {
    own + 2.0 * at[0]
        + 3.0 * at[1]
        + 5.0 * again[0]
        + 7.0 * again[1]
        + 11.0 * other[0]
        + 13.0 * other[1]
        + 0.5 * all
}

#[kernel]
fn below<R: Real>(parent: R, own: R, at: [R; 2], all: R) -> R {
    0.5 * parent + own + at[0] + 2.0 * at[1] + all
}

/// The gradient of the sum of all results, with every way of reaching `x` written out.
fn expected(n: usize, near: &[[usize; 2]], far: &[[usize; 2]]) -> Vec<f64> {
    let mut bars = vec![1.0; n];
    for (e, (a, b)) in near.iter().zip(far).enumerate() {
        let _ = e;
        bars[a[0]] += 2.0 + 5.0;
        bars[a[1]] += 3.0 + 7.0;
        bars[b[0]] += 11.0;
        bars[b[1]] += 13.0;
    }
    bars
}

#[test]
fn own_values_and_tables_of_one_buffer() {
    let n = 3000;
    let near: Vec<[usize; 2]> = (0..n).map(|e| [e, (e + 1) % n]).collect();
    let far: Vec<[usize; 2]> = (0..n).map(|e| [(e * 7) % n, (n - e) % 8]).collect();
    let mut p = Program::builder();
    let x = p.input::<f64>("x", n);
    let one = p.input::<f64>("one", 1);
    let (a, b) = (p.corners("near", &near, n), p.corners("far", &far, n));
    let y = p.map::<sum>("y", (x.own(), x.at(a), x.at(a), x.at(b), one.shared()));
    p.output(y);
    let program = p.finish().expect("a right program");
    let want = expected(n, &near, &far);
    for threads in [1, 2, 7] {
        for width in [Width::One, Width::Narrow, Width::Wide] {
            let mut w = program.workspace::<f64>(RunOptions { threads, width, ..RunOptions::default() });
            w.write(x, &(0..n).map(|i| (i % 10) as f64).collect::<Vec<_>>()).expect("x");
            w.write(one, &[2.0]).expect("one");
            for _ in 0..3 {
                w.forward();
                w.seed(y, &vec![1.0; n]).expect("y");
                w.pullback();
                assert_eq!(w.bars(x), want, "{threads} threads, {width:?}");
                assert_eq!(w.bars(one), [0.5 * n as f64]);
            }
        }
    }
    if std::env::var_os("PULLBACK_NVRTC_DIR").is_some() {
        let source = program.cuda_source::<f32>(None).expect("no operation by hand");
        compile(&source, Target::Cubin(90), &Compile::default()).expect("it compiles");
    }
}

#[test]
fn roots_tables_and_levels_of_a_tree() {
    // Wide levels, so that threads share them, and a root that all nodes read as well.
    let n = 4001;
    let parents: Vec<Option<usize>> = (0..n).map(|i| (i > 0).then(|| (i - 1) / 1000)).collect();
    let ends: Vec<[usize; 2]> = (0..n).map(|i| [(i * 13) % 40, (i + 1) % n]).collect();
    let mut p = Program::builder();
    let (x, root) = (p.input::<f64>("x", n), p.input::<f64>("root", 1));
    let ends = p.corners("ends", &ends, n);
    let tree = p.tree("tree", &parents);
    let y = p.tree_down::<below, _>("y", tree, root, (x.own(), x.at(ends), root.shared()));
    p.output(y);
    let program = p.finish().expect("a right program");
    let mut first: Option<(Vec<f64>, Vec<f64>)> = None;
    for threads in [1, 2, 7] {
        let mut w = program.workspace::<f64>(RunOptions { threads, ..RunOptions::default() });
        for _ in 0..20 {
            w.write(x, &(0..n).map(|i| (i % 7) as f64).collect::<Vec<_>>()).expect("x");
            w.write(root, &[1.0]).expect("root");
            w.forward();
            w.seed(y, &vec![1.0; n]).expect("y");
            w.pullback();
            let bars = (w.bars(x), w.bars(root));
            let want = first.get_or_insert_with(|| bars.clone());
            assert_eq!(&bars, want, "{threads} threads");
        }
    }
    // Along x_dot = 1, root_dot = 1: the sum of the tangents of y, node by node.
    let mut tangents = vec![0.0; n];
    for i in 0..n {
        let parent = parents[i].map_or(1.0, |p| tangents[p]);
        tangents[i] = 0.5 * parent + 1.0 + 1.0 + 2.0 + 1.0;
    }
    let (x_bar, root_bar) = first.expect("it ran");
    let along: f64 = x_bar.iter().sum::<f64>() + root_bar[0];
    let want: f64 = tangents.iter().sum();
    assert!((along - want).abs() < 1e-9 * want, "{along} {want}");
}

#[kernel]
fn step<R: Real>(x: R, k: R) -> (R, R) {
    (x * 2.0, k)
}

#[test]
fn a_carried_input_that_nothing_differentiates() {
    let mut p = Program::builder();
    let (x, k) = (p.input::<f64>("x", 3), p.input::<f64>("k", 3));
    let (x_next, k_next) = p.map::<step>("x next, k next", (x.own(), k.fixed().own()));
    p.carry(x, x_next);
    p.carry(k, k_next);
    let program = p.finish().expect("a right program");
    let mut w = program.workspace::<f64>(RunOptions::default());
    w.seed(x_next, &[1.0; 3]).expect("x");
    w.seed(k_next, &[3.0; 3]).expect("k");
    for round in 1..4 {
        w.pullback();
        assert_eq!(w.bars(k), [0.0; 3]);
        assert_eq!(w.bars(x), [f64::powi(2.0, round); 3]);
        w.carry_back();
    }
}

#[test]
fn handles_of_other_programs_are_refused() {
    let mut other = Program::builder();
    let many = other.input::<Mat3>("many", 4);
    let quads = other.corners("quads", &[[0, 1, 2, 3]], 4);
    drop(other);

    let mut p = Program::builder();
    let x = p.input::<f64>("x", 4);
    let y = p.map::<step>("a, b", (x.own(), x.own()));
    p.output(y.0);
    let program = p.finish().expect("a right program");
    let mut w = program.workspace::<f64>(RunOptions::default());
    assert_eq!(w.write(many, &[Mat3::default(); 4]), Err(AccessError::OtherProgram));

    let mut p = Program::builder();
    let x = p.input::<f64>("x", 4);
    let pairs = p.corners("pairs", &[[0, 1]], 4);
    let _ = pairs;
    let z = p.elements::<four, f64, 4>("z", quads, (x.at(quads),));
    p.output(z);
    assert!(matches!(p.finish().map(|_| ()), Err(BuildError::OtherProgram { .. })));
}

#[kernel]
fn four<R: Real>(x: [R; 4]) -> [R; 4] {
    x
}

#[test]
fn a_fragment_that_forgets_a_cotangent_is_refused() {
    let build = |start: bool, end: bool| {
        let mut p = Program::builder();
        let x = p.input::<f64>("x", 3);
        let (y, _) = p.fragment(
            |p| p.map::<step>("y, z", (x.own(), x.own())),
            |p, (y, z)| {
                let part = if start { p.bar(*y) } else { p.bar(*z) };
                if end {
                    p.add_to_bar(x, part);
                }
            },
        );
        p.output(y);
        p.finish().map(|_| ())
    };
    assert_eq!(build(true, true), Ok(()));
    let start = build(false, true).expect_err("no bar of y").to_string();
    assert!(start.contains("`bar` of `y`"), "{start}");
    let end = build(true, false).expect_err("nothing for x").to_string();
    assert!(end.contains("`add_to_bar` of `x`"), "{end}");
}

#[test]
fn the_cuda_text_of_these_kernels_is_right() {
    println!("{}", check::all().expect("the kernels' CUDA text"));
}
