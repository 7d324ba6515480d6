//! `pairs`: lists set at run time, empty, full, shorter and longer from step to step and from world to world.

use pullback_kernel::prelude::*;

use crate::kernels::{spring, stretch};
use crate::subject::{Numbers, Outcome, SIZES, Subject, add, flat, random, typed, zeros};

/// The list of a world: full in worlds 1000 and above, which run first; after that, anything from empty to full.
fn list(capacity: usize, world: usize) -> Vec<[u32; 2]> {
    let count = match (world, world % 4) {
        (1000.., _) | (_, 2) => capacity,
        (_, 1) => 0,
        (_, 0) => capacity - capacity / 3,
        _ => capacity / 2,
    };
    let vertices = (capacity + 2) as f64;
    let pair = |e: usize| {
        let a = (random(world, e, 7) * vertices) as u32;
        [a, (a + 1 + (random(world, e, 8) * (vertices - 1.0)) as u32) % vertices as u32]
    };
    (0..count).map(pair).collect()
}

fn contacts(n: usize) -> Subject {
    let mut p = Program::builder();
    let x = p.input::<Vec3>("x", n + 2);
    let v = p.input::<Vec3>("v", n + 2);
    // One that is replaced and one that accumulates: neither may get anything past the end of the list.
    let k = p.input::<f64>("k", n);
    let c = p.parameter::<f64>("c", n);
    let rest = p.constant::<f64>("rest", &[0.1]);
    let pairs = p.list::<2>("contacts", n, n + 2);
    let at = pairs.corners();
    let f = p.pairs::<spring, _, 2>("f", pairs, (x.at(at), v.at(at), k.own(), c.own(), rest.shared()));
    // Values and a sum of the list's elements.
    let each = p.map::<stretch>("each", (x.at(at), k.own()));
    let all = p.reduce::<stretch>("all", (x.at(at), k.own()));
    p.output(f);
    p.output(each);
    p.output(all);
    let mut subject = Subject::new(
        p.finish().expect("a program"),
        &[(x.into(), -1.0, 1.0), (v.into(), -1.0, 1.0), (k.into(), 0.5, 2.0), (c.into(), 0.1, 0.9)],
        &[f.into(), each.into(), all.into()],
    );
    subject.list = Some((pairs, Box::new(move |world| list(n, world))));
    subject
}

fn naive(inputs: &Numbers, seeds: &Numbers, list: &[[u32; 2]]) -> Outcome {
    let (x, v, k, c) = (typed::<Vec3>(&inputs[0]), typed::<Vec3>(&inputs[1]), &inputs[2], &inputs[3]);
    let f_bar = typed::<Vec3>(&seeds[0]);
    let (mut f, mut each, mut all) = (zeros::<Vec3>(x.len()), vec![0.0; k.len()], 0.0);
    let (mut x_bar, mut v_bar) = (zeros::<Vec3>(x.len()), zeros::<Vec3>(x.len()));
    let (mut k_bar, mut c_bar) = (vec![0.0; k.len()], vec![0.0; k.len()]);
    for (e, pair) in list.iter().enumerate() {
        let [a, b] = pair.map(|v| v as usize);
        let arguments = ([x[a], x[b]], [v[a], v[b]], k[e], c[e], 0.1);
        let forces = <spring as Kernel>::forward::<f64>(arguments);
        let bars = <spring as Kernel>::pullback::<f64>(arguments, [f_bar[a], f_bar[b]]);
        each[e] = <stretch as Kernel>::forward::<f64>(([x[a], x[b]], k[e]));
        all += each[e];
        let stretch_bars =
            <stretch as Kernel>::pullback::<f64>(([x[a], x[b]], k[e]), seeds[1][e] + seeds[2][0]);
        for (corner, vertex) in [a, b].into_iter().enumerate() {
            add::<Vec3>(&mut f[vertex], forces[corner]);
            add::<Vec3>(&mut x_bar[vertex], bars.0[corner]);
            add::<Vec3>(&mut x_bar[vertex], stretch_bars.0[corner]);
            add::<Vec3>(&mut v_bar[vertex], bars.1[corner]);
        }
        k_bar[e] = bars.2 + stretch_bars.1;
        c_bar[e] = bars.3;
    }
    Outcome {
        values: vec![flat::<Vec3>(&f), each, vec![all]],
        bars: vec![flat::<Vec3>(&x_bar), flat::<Vec3>(&v_bar), k_bar, c_bar],
    }
}

#[test]
fn lists_made_at_run_time() {
    for n in SIZES {
        contacts(n).check(n, &naive);
    }
    contacts(5).gradcheck();
}
