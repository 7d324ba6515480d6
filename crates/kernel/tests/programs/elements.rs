//! `elements`: several ports over one table, two tables, values of 1, 3, 6 and 9 numbers; `edges`.

use pullback_kernel::prelude::*;

use crate::kernels::{flow, mix, spring, tie};
use crate::subject::{Numbers, Outcome, SIZES, Subject, add, flat, random, typed, zeros};

/// `N` of `vertices` for each of `n` elements: every fourth corner is the vertex in the middle, so that it has many
/// slots, and some vertices have none. `distinct` ones where an element must not meet itself.
fn corners<const N: usize>(n: usize, vertices: usize, table: usize, distinct: bool) -> Vec<[usize; N]> {
    let mut all = Vec::new();
    for e in 0..n {
        let mut corners = [0; N];
        for k in 0..N {
            let r = random(table, e, k);
            corners[k] = if (e + k) % 4 == 0 { vertices / 2 } else { (r * vertices as f64) as usize };
            while distinct && corners[..k].contains(&corners[k]) {
                corners[k] = (corners[k] + 1) % vertices;
            }
        }
        all.push(corners);
    }
    all
}

fn spring_corners(n: usize) -> Vec<[usize; 2]> {
    corners(n, n + 1, 0, true)
}

fn springs(n: usize) -> Subject {
    let vertices = if n == 0 { 0 } else { n + 1 };
    let mut p = Program::builder();
    let x = p.input::<Vec3>("x", vertices);
    let v = p.input::<Vec3>("v", vertices);
    let k = p.parameter::<f64>("k", n);
    let c = p.parameter::<f64>("c", 1);
    let rest = p.constant::<f64>("rest", &(0..n).map(|i| 0.1 + 0.01 * (i % 7) as f64).collect::<Vec<_>>());
    let table = p.corners("springs", &spring_corners(n), vertices);
    let f =
        p.elements::<spring, _, 2>("f", table, (x.at(table), v.at(table), k.own(), c.shared(), rest.own()));
    // Forces of forces: a buffer that elements read and write.
    let g =
        p.elements::<spring, _, 2>("g", table, (x.at(table), f.at(table), k.own(), c.shared(), rest.own()));
    p.output(f);
    p.output(g);
    Subject::new(
        p.finish().expect("a program"),
        &[(x.into(), -1.0, 1.0), (v.into(), -1.0, 1.0), (k.into(), 0.5, 2.0), (c.into(), 0.1, 0.9)],
        &[f.into(), g.into()],
    )
}

fn naive_springs(inputs: &Numbers, seeds: &Numbers) -> Outcome {
    let (x, v, k, c) = (typed::<Vec3>(&inputs[0]), typed::<Vec3>(&inputs[1]), &inputs[2], inputs[3][0]);
    let table = spring_corners(k.len());
    let pass = |v: &[Vec3<f64>]| {
        let mut f = zeros::<Vec3>(x.len());
        for (e, &[a, b]) in table.iter().enumerate() {
            let rest = 0.1 + 0.01 * (e % 7) as f64;
            let forces = <spring as Kernel>::forward::<f64>(([x[a], x[b]], [v[a], v[b]], k[e], c, rest));
            add::<Vec3>(&mut f[a], forces[0]);
            add::<Vec3>(&mut f[b], forces[1]);
        }
        f
    };
    let f = pass(&v);
    let g = pass(&f);
    let mut x_bar = zeros::<Vec3>(x.len());
    let (mut k_bar, mut c_bar) = (vec![0.0; k.len()], 0.0);
    let mut back = |v: &[Vec3<f64>], f_bar: &[Vec3<f64>], mut v_bar: Vec<Vec3<f64>>| {
        for (e, &[a, b]) in table.iter().enumerate() {
            let rest = 0.1 + 0.01 * (e % 7) as f64;
            let arguments = ([x[a], x[b]], [v[a], v[b]], k[e], c, rest);
            let bars = <spring as Kernel>::pullback::<f64>(arguments, [f_bar[a], f_bar[b]]);
            for (corner, vertex) in [a, b].into_iter().enumerate() {
                add::<Vec3>(&mut x_bar[vertex], bars.0[corner]);
                add::<Vec3>(&mut v_bar[vertex], bars.1[corner]);
            }
            k_bar[e] += bars.2;
            c_bar += bars.3;
        }
        v_bar
    };
    let f_bar = back(&f, &typed::<Vec3>(&seeds[1]), typed::<Vec3>(&seeds[0]));
    let v_bar = back(&v, &f_bar, zeros::<Vec3>(x.len()));
    Outcome {
        values: vec![flat::<Vec3>(&f), flat::<Vec3>(&g)],
        bars: vec![flat::<Vec3>(&x_bar), flat::<Vec3>(&v_bar), k_bar, vec![c_bar]],
    }
}

#[test]
fn several_ports_over_one_table() {
    for n in SIZES {
        springs(n).check(n, &|inputs, seeds, _| naive_springs(inputs, seeds));
    }
    springs(1).gradcheck();
    springs(7).gradcheck();
}

fn flows(n: usize) -> Subject {
    let vertices = n.div_ceil(2);
    let mut p = Program::builder();
    let t = p.input::<f64>("t", vertices);
    let w = p.parameter::<f64>("w", n);
    let table = p.corners("edges", &corners::<2>(n, vertices, 1, false), vertices);
    let q = p.elements::<flow, _, 2>("q", table, (t.at(table), w.own()));
    p.output(q);
    let program = p.finish().expect("a program");
    Subject::new(program, &[(t.into(), -1.0, 1.0), (w.into(), -1.0, 1.0)], &[q.into()])
}

#[test]
fn numbers_at_vertices() {
    let naive = |inputs: &Numbers, seeds: &Numbers| {
        let (t, w, q_bar) = (&inputs[0], &inputs[1], &seeds[0]);
        let (mut q, mut t_bar, mut w_bar) = (vec![0.0; t.len()], vec![0.0; t.len()], vec![0.0; w.len()]);
        for (e, [a, b]) in corners::<2>(w.len(), t.len(), 1, false).into_iter().enumerate() {
            let flows = <flow as Kernel>::forward::<f64>(([t[a], t[b]], w[e]));
            q[a] += flows[0];
            q[b] += flows[1];
            let bars = <flow as Kernel>::pullback::<f64>(([t[a], t[b]], w[e]), [q_bar[a], q_bar[b]]);
            t_bar[a] += bars.0[0];
            t_bar[b] += bars.0[1];
            w_bar[e] = bars.1;
        }
        Outcome { values: vec![q], bars: vec![t_bar, w_bar] }
    };
    for n in SIZES {
        flows(n).check(n, &|inputs, seeds, _| naive(inputs, seeds));
    }
    flows(7).gradcheck();
}

type Two = (Vec<[usize; 3]>, Vec<[usize; 2]>);

fn two_tables(n: usize) -> Two {
    (corners(n, n + 3, 2, false), corners(n, n.div_ceil(3), 3, false))
}

fn mixes(n: usize) -> Subject {
    let (threes, twos) = two_tables(n);
    let mut p = Program::builder();
    let t = p.input::<f64>("t", n + 3);
    let d = p.input::<Mat3>("d", n.div_ceil(3));
    let w = p.parameter::<f64>("w", n);
    let threes = p.corners("threes", &threes, n + 3);
    let twos = p.corners("twos", &twos, n.div_ceil(3));
    let y = p.elements::<mix, _, 2>("y", twos, (t.at(threes), d.at(twos), w.own()));
    p.output(y);
    let program = p.finish().expect("a program");
    let inputs = [(t.into(), -1.0, 1.0), (d.into(), -1.0, 1.0), (w.into(), -1.0, 1.0)];
    Subject::new(program, &inputs, &[y.into()])
}

#[test]
fn two_tables_and_values_of_nine_numbers() {
    let naive = |inputs: &Numbers, seeds: &Numbers| {
        let (t, d, w, y_bar) = (&inputs[0], typed::<Mat3>(&inputs[1]), &inputs[2], typed::<Mat3>(&seeds[0]));
        let (threes, twos) = two_tables(w.len());
        let (mut y, mut t_bar, mut d_bar, mut w_bar) =
            (zeros::<Mat3>(d.len()), vec![0.0; t.len()], zeros::<Mat3>(d.len()), vec![0.0; w.len()]);
        for (e, (three, [a, b])) in threes.into_iter().zip(twos).enumerate() {
            let arguments = (three.map(|v| t[v]), [d[a], d[b]], w[e]);
            let out = <mix as Kernel>::forward::<f64>(arguments);
            add::<Mat3>(&mut y[a], out[0]);
            add::<Mat3>(&mut y[b], out[1]);
            let bars = <mix as Kernel>::pullback::<f64>(arguments, [y_bar[a], y_bar[b]]);
            (0..3).for_each(|k| t_bar[three[k]] += bars.0[k]);
            add::<Mat3>(&mut d_bar[a], bars.1[0]);
            add::<Mat3>(&mut d_bar[b], bars.1[1]);
            w_bar[e] = bars.2;
        }
        Outcome { values: vec![flat::<Mat3>(&y)], bars: vec![t_bar, flat::<Mat3>(&d_bar), w_bar] }
    };
    for n in SIZES {
        mixes(n).check(n, &|inputs, seeds, _| naive(inputs, seeds));
    }
    mixes(7).gradcheck();
}

fn ties(n: usize) -> Subject {
    let vertices = n + 4;
    let mut p = Program::builder();
    let m = p.input::<Motion>("m", vertices);
    let x = p.input::<Vec3>("x", vertices);
    let k = p.parameter::<f64>("k", n);
    let table = p.corners("ties", &corners::<4>(n, vertices, 4, false), vertices);
    let f = p.balanced::<tie, _, 4, 3>("f", table, (m.edges(table), x.edges(table), k.own()));
    // Vertices that elements have written to before.
    let g = p.balanced::<tie, _, 4, 3>("g", table, (m.edges(table), f.edges(table), k.own()));
    p.output(f);
    p.output(g);
    let program = p.finish().expect("a program");
    let inputs = [(m.into(), -1.0, 1.0), (x.into(), -1.0, 1.0), (k.into(), 0.5, 2.0)];
    Subject::new(program, &inputs, &[f.into(), g.into()])
}

fn naive_ties(inputs: &Numbers, seeds: &Numbers) -> Outcome {
    let (m, x, k) = (typed::<Motion>(&inputs[0]), typed::<Vec3>(&inputs[1]), &inputs[2]);
    let table = corners::<4>(k.len(), x.len(), 4, false);
    let arguments = |e: usize, at: &[Vec3<f64>]| {
        let [a, others @ ..] = table[e];
        (others.map(|b| m[b] - m[a]), others.map(|b| at[b] - at[a]), k[e])
    };
    let pass = |at: &[Vec3<f64>]| {
        let mut f = zeros::<Vec3>(x.len());
        for (e, [a, others @ ..]) in table.iter().enumerate() {
            for (force, &b) in <tie as Kernel>::forward::<f64>(arguments(e, at)).into_iter().zip(others) {
                add::<Vec3>(&mut f[b], force);
                add::<Vec3>(&mut f[*a], -force);
            }
        }
        f
    };
    let f = pass(&x);
    let g = pass(&f);
    let (mut m_bar, mut k_bar) = (zeros::<Motion>(m.len()), vec![0.0; k.len()]);
    let mut back = |at: &[Vec3<f64>], f_bar: &[Vec3<f64>], mut at_bar: Vec<Vec3<f64>>| {
        for (e, [a, others @ ..]) in table.iter().enumerate() {
            let bars =
                <tie as Kernel>::pullback::<f64>(arguments(e, at), others.map(|b| f_bar[b] - f_bar[*a]));
            for (i, &b) in others.iter().enumerate() {
                add::<Motion>(&mut m_bar[b], bars.0[i]);
                add::<Motion>(&mut m_bar[*a], -bars.0[i]);
                add::<Vec3>(&mut at_bar[b], bars.1[i]);
                add::<Vec3>(&mut at_bar[*a], -bars.1[i]);
            }
            k_bar[e] += bars.2;
        }
        at_bar
    };
    let f_bar = back(&f, &typed::<Vec3>(&seeds[1]), typed::<Vec3>(&seeds[0]));
    let x_bar = back(&x, &f_bar, zeros::<Vec3>(x.len()));
    Outcome {
        values: vec![flat::<Vec3>(&f), flat::<Vec3>(&g)],
        bars: vec![flat::<Motion>(&m_bar), flat::<Vec3>(&x_bar), k_bar],
    }
}

#[test]
fn edges_and_what_holds_against_them() {
    for n in SIZES {
        ties(n).check(n, &|inputs, seeds, _| naive_ties(inputs, seeds));
    }
    ties(7).gradcheck();
}
