//! Fragments of programs with their own pullbacks: right, used, and tested against the macro's.

use pullback_kernel::cuda::{Compile, Target, check, compile};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{BuildError, Builder};

#[kernel]
fn square<R: Real>(x: Vec3<R>) -> R {
    dot(x, x)
}

#[kernel]
fn wave<R: Real>(s: R, k: R) -> R {
    k * sin(s)
}

/// (k sin |x|²)' = 2 k cos |x|² x, and sin |x|² for k: from x and k alone, without the squares in between.
#[kernel]
fn wave_of_square_pullback<R: Real>(x: Vec3<R>, k: R, y_bar: R) -> (Vec3<R>, R) {
    let s = dot(x, x);
    (x * (2.0 * k * cos(s) * y_bar), sin(s) * y_bar)
}

/// The same, but for a factor.
#[kernel]
fn wrong_pullback<R: Real>(x: Vec3<R>, k: R, y_bar: R) -> (Vec3<R>, R) {
    let (x_bar, k_bar) = wave_of_square_pullback(x, k, y_bar);
    (x_bar * 1.5, k_bar)
}

struct Waves {
    program: Program,
    x: Buffer<Vec3>,
    k: Buffer<f64>,
    y: Buffer<f64>,
    length: Buffer<f64>,
}

fn waves<K>(n: usize) -> Waves
where
    K: Kernel<Arguments = (Vec3, f64, f64), Output = (Vec3, f64)>,
{
    let mut p = Program::builder();
    let (x, k) = (p.input::<Vec3>("x", n), p.parameter::<f64>("k", n));
    // x is also read before and after the fragment, so that cotangents add up in it.
    let length = p.reduce::<square>("length", (x.own(),));
    let y = p.fragment(
        |p| {
            let s = p.map::<square>("s", (x.own(),));
            p.map::<wave>("y", (s.own(), k.own()))
        },
        |p: &mut Builder, y| {
            let y_bar = p.bar(*y);
            let (x_part, k_part) = p.map::<K>("x part, k part", (x.own(), k.own(), y_bar.own()));
            p.add_to_bar(x, x_part);
            p.add_to_bar(k, k_part);
        },
    );
    let again = p.map::<square>("again", (x.own(),));
    let y = p.map::<wave>("wave of both", (again.own(), y.own()));
    p.output(y);
    p.output(length);
    Waves { program: p.finish().expect("a right program"), x, k, y, length }
}

fn gradients(w: &Waves, n: usize, options: RunOptions) -> (Vec<Vec3>, Vec<f64>) {
    let mut run = w.program.workspace::<f64>(options);
    let at = |i: usize, k: f64| (0.3 * i as f64 + k).sin();
    let x: Vec<Vec3> = (0..n).map(|i| Vec3 { x: at(i, 0.1), y: at(i, 1.2), z: at(i, 2.3) }).collect();
    run.write(w.x, &x).expect("x");
    run.write(w.k, &(0..n).map(|i| at(i, 4.0)).collect::<Vec<_>>()).expect("k");
    run.forward();
    run.seed(w.y, &(0..n).map(|i| at(i, 5.0)).collect::<Vec<_>>()).expect("y");
    run.seed(w.length, &[0.6]).expect("length");
    run.pullback();
    (run.bars(w.x), run.bars(w.k))
}

fn distance((x, k): &(Vec<Vec3>, Vec<f64>), (y, l): &(Vec<Vec3>, Vec<f64>)) -> f64 {
    let vectors = x.iter().zip(y).map(|(a, b)| length(*a - *b)).fold(0.0, f64::max);
    k.iter().zip(l).map(|(a, b)| (a - b).abs()).fold(vectors, f64::max)
}

#[test]
fn a_fragment_runs_its_own_pullback() {
    let n = 700;
    let derived = RunOptions { derived: true, ..RunOptions::default() };
    let right = waves::<wave_of_square_pullback>(n);
    let by_macro = gradients(&right, n, derived);
    let zeros = (vec![Vec3::default(); n], vec![0.0; n]);
    assert!(distance(&by_macro, &zeros) > 0.1);
    let own = gradients(&right, n, RunOptions::default());
    assert!(distance(&own, &by_macro) < 1e-14, "{}", distance(&own, &by_macro));
    for threads in [2, 7] {
        for width in [Width::One, Width::Wide] {
            let options = RunOptions { threads, width, ..RunOptions::default() };
            assert!(gradients(&right, n, options) == own);
        }
    }
    // A wrong one is used too, and told from the macro's.
    let wrong = waves::<wrong_pullback>(n);
    assert!(distance(&gradients(&wrong, n, RunOptions::default()), &by_macro) > 0.1);
    assert!(gradients(&wrong, n, derived) == by_macro);
}

#[test]
fn on_a_gpu_its_text_compiles() {
    if std::env::var_os("PULLBACK_NVRTC_DIR").is_none() {
        assert!(std::env::var_os("CI").is_none(), "`cargo xtask test` sets PULLBACK_NVRTC_DIR");
        return;
    }
    let source =
        waves::<wave_of_square_pullback>(10).program.cuda_source::<f32>(None).expect("no operation by hand");
    compile(&source, Target::Cubin(90), &Compile::default()).expect("it compiles");
}

#[test]
fn cotangents_are_for_pullbacks() {
    let mut p = Program::builder();
    let x = p.input::<f64>("x", 3);
    p.bar(x);
    let error = p.finish().map(|_| ()).expect_err("not in a pullback");
    assert!(matches!(error, BuildError::NotInPullback { .. }) && error.to_string().contains("`x`"));

    let mut p = Program::builder();
    let x = p.input::<f64>("x", 3);
    p.fragment(|p| p.fragment(|_| x, |_, _| ()), |_, _| ());
    assert_eq!(p.finish().map(|_| ()).expect_err("nested"), BuildError::NestedFragment);
}

#[test]
fn the_cuda_text_of_these_kernels_is_right() {
    println!("{}", check::all().expect("the kernels' CUDA text"));
}
