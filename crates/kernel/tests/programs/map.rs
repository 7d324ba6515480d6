//! `map`: one and several results, own and shared arguments, indices and kinds.

use pullback_kernel::prelude::*;

use crate::kernels::{Law, advance, law};
use crate::subject::{Numbers, Outcome, SIZES, Subject, add, flat, typed, zeros};

fn steps(n: usize) -> Subject {
    let mut p = Program::builder();
    let x = p.input::<Vec3>("x", n);
    let v = p.input::<Vec3>("v", n);
    let f = p.parameter::<Vec3>("f", n);
    let m = p.parameter::<f64>("m", n);
    let dt = p.parameter::<f64>("dt", 1);
    let (x1, v1) = p.map::<advance>("x1, v1", (x.own(), v.own(), f.own(), m.own(), dt.shared()));
    // Twice: what the first writes, the second reads, and both write the same cotangents.
    let (x2, v2) = p.map::<advance>("x2, v2", (x1.own(), v1.own(), f.own(), m.own(), dt.shared()));
    p.output(x1);
    p.output(x2);
    p.output(v2);
    Subject::new(
        p.finish().expect("a program"),
        &[
            (x.into(), -1.0, 1.0),
            (v.into(), -1.0, 1.0),
            (f.into(), -1.0, 1.0),
            (m.into(), 0.5, 2.0),
            (dt.into(), 0.1, 0.3),
        ],
        &[x1.into(), x2.into(), v2.into()],
    )
}

fn naive_steps(inputs: &Numbers, seeds: &Numbers) -> Outcome {
    let vectors = |k: usize| typed::<Vec3>(&inputs[k]);
    let (x, v, f, m, dt) = (vectors(0), vectors(1), vectors(2), &inputs[3], inputs[4][0]);
    let n = x.len();
    let (x1_seed, x2_bar, v2_bar) =
        (typed::<Vec3>(&seeds[0]), typed::<Vec3>(&seeds[1]), typed::<Vec3>(&seeds[2]));
    let (mut x1, mut x2, mut v2) = (zeros::<Vec3>(n), zeros::<Vec3>(n), zeros::<Vec3>(n));
    let (mut x_bar, mut v_bar, mut f_bar) = (zeros::<Vec3>(n), zeros::<Vec3>(n), zeros::<Vec3>(n));
    let (mut m_bar, mut dt_bar) = (vec![0.0; n], vec![0.0]);
    for i in 0..n {
        let v1;
        (x1[i], v1) = <advance as Kernel>::forward::<f64>((x[i], v[i], f[i], m[i], dt));
        (x2[i], v2[i]) = <advance as Kernel>::forward::<f64>((x1[i], v1, f[i], m[i], dt));
        let bars = <advance as Kernel>::pullback::<f64>((x1[i], v1, f[i], m[i], dt), (x2_bar[i], v2_bar[i]));
        let (mut x1_bar, v1_bar) = (bars.0, bars.1);
        add::<Vec3>(&mut f_bar[i], bars.2);
        m_bar[i] += bars.3;
        dt_bar[0] += bars.4;
        add::<Vec3>(&mut x1_bar, x1_seed[i]);
        let bars = <advance as Kernel>::pullback::<f64>((x[i], v[i], f[i], m[i], dt), (x1_bar, v1_bar));
        (x_bar[i], v_bar[i]) = (bars.0, bars.1);
        add::<Vec3>(&mut f_bar[i], bars.2);
        m_bar[i] += bars.3;
        dt_bar[0] += bars.4;
    }
    Outcome {
        values: vec![flat::<Vec3>(&x1), flat::<Vec3>(&x2), flat::<Vec3>(&v2)],
        bars: vec![flat::<Vec3>(&x_bar), flat::<Vec3>(&v_bar), flat::<Vec3>(&f_bar), m_bar, dt_bar],
    }
}

#[test]
fn several_results() {
    for n in SIZES {
        steps(n).check(n, &|inputs, seeds, _| naive_steps(inputs, seeds));
    }
    steps(1).gradcheck();
    steps(7).gradcheck();
}

/// Kinds that are the same in groups of lanes, and such that are mixed.
fn kinds(n: usize) -> (Vec<Law>, Vec<usize>) {
    let kind = |i: usize| match if i % 48 < 16 { i } else { i / 16 } % 3 {
        0 => Law::Linear,
        1 => Law::Cubic,
        _ => Law::Wave,
    };
    ((0..n).map(kind).collect(), (0..n).map(|i| i / 5 % 3).collect())
}

fn laws(n: usize) -> Subject {
    let mut p = Program::builder();
    let x = p.input::<f64>("x", n);
    let w = p.parameter::<[f64; 3]>("w", 1);
    let (kinds, which) = kinds(n);
    let (kinds, which) = (p.indices(&kinds), p.indices(&which));
    let y = p.map::<law>("y", (kinds.own(), which.own(), x.own(), w.shared()));
    p.output(y);
    let program = p.finish().expect("a program");
    Subject::new(program, &[(x.into(), -1.0, 1.0), (w.into(), 0.5, 2.0)], &[y.into()])
}

#[test]
fn indices_and_kinds() {
    let naive = |inputs: &Numbers, seeds: &Numbers| {
        let (x, w) = (&inputs[0], [inputs[1][0], inputs[1][1], inputs[1][2]]);
        let (kinds, which) = kinds(x.len());
        let (mut y, mut x_bar, mut w_bar) = (vec![0.0; x.len()], vec![0.0; x.len()], vec![0.0; 3]);
        for i in 0..x.len() {
            y[i] = <law as Kernel>::forward::<f64>((kinds[i], which[i], x[i], w));
            let bars = <law as Kernel>::pullback::<f64>((kinds[i], which[i], x[i], w), seeds[0][i]);
            x_bar[i] = bars.2;
            (0..3).for_each(|k| w_bar[k] += bars.3[k]);
        }
        Outcome { values: vec![y], bars: vec![x_bar, w_bar] }
    };
    for n in SIZES {
        laws(n).check(n, &|inputs, seeds, _| naive(inputs, seeds));
    }
    laws(33).gradcheck();
}
