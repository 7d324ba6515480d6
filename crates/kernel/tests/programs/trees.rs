//! `tree_down` and `tree_up`: forests of every shape.

use pullback_kernel::prelude::*;

use crate::kernels::{link, load};
use crate::subject::{Numbers, Outcome, SIZES, Subject, add, flat, random, typed, zeros};

fn chains(parents: &[Option<usize>]) -> Subject {
    let n = parents.len();
    let mut p = Program::builder();
    let root = p.input::<Vec3>("root", 1);
    let q = p.input::<f64>("q", n);
    let axis = p.parameter::<Vec3>("axis", n);
    let s = p.parameter::<f64>("s", 1);
    let w = p.parameter::<f64>("w", 1);
    let tree = p.tree("tree", parents);
    let x = p.tree_down::<link, _>("x", tree, root, (q.own(), axis.own(), s.shared()));
    let f = p.tree_up::<load, _>("f", tree, (x.own(), w.shared()));
    p.output(x);
    p.output(f);
    let inputs = [
        (root.into(), -1.0, 1.0),
        (q.into(), -1.0, 1.0),
        (axis.into(), -1.0, 1.0),
        (s.into(), 0.5, 2.0),
        (w.into(), 0.5, 2.0),
    ];
    Subject::new(p.finish().expect("a program"), &inputs, &[x.into(), f.into()])
}

/// Nodes with parents before their children.
fn sorted(parents: &[Option<usize>]) -> Vec<usize> {
    let depth = |mut i: usize| {
        let mut depth = 0;
        while let Some(parent) = parents[i] {
            (i, depth) = (parent, depth + 1);
        }
        depth
    };
    let mut nodes: Vec<usize> = (0..parents.len()).collect();
    nodes.sort_by_key(|&i| depth(i));
    nodes
}

fn naive(parents: &[Option<usize>], inputs: &Numbers, seeds: &Numbers) -> Outcome {
    let (root, q, axis) = (typed::<Vec3>(&inputs[0])[0], &inputs[1], typed::<Vec3>(&inputs[2]));
    let (s, w, n) = (inputs[3][0], inputs[4][0], parents.len());
    let order = sorted(parents);
    let (mut x, mut f, mut sums) = (zeros::<Vec3>(n), zeros::<Vec3>(n), zeros::<Vec3>(n));
    let above = |x: &[Vec3<f64>], i: usize| parents[i].map_or(root, |parent| x[parent]);
    for &i in &order {
        x[i] = <link as Kernel>::forward::<f64>((above(&x, i), q[i], axis[i], s));
    }
    for &i in order.iter().rev() {
        f[i] = <load as Kernel>::forward::<f64>((sums[i], x[i], w));
        if let Some(parent) = parents[i] {
            add::<Vec3>(&mut sums[parent], f[i]);
        }
    }
    let (mut x_bar, mut f_bar) = (typed::<Vec3>(&seeds[0]), typed::<Vec3>(&seeds[1]));
    let (mut root_bar, mut q_bar, mut axis_bar) = (zeros::<Vec3>(1), vec![0.0; n], zeros::<Vec3>(n));
    let (mut s_bar, mut w_bar, mut sum_bars) = (0.0, 0.0, zeros::<Vec3>(n));
    for &i in &order {
        if let Some(parent) = parents[i] {
            add::<Vec3>(&mut f_bar[i], sum_bars[parent]);
        }
        let bars = <load as Kernel>::pullback::<f64>((sums[i], x[i], w), f_bar[i]);
        sum_bars[i] = bars.0;
        add::<Vec3>(&mut x_bar[i], bars.1);
        w_bar += bars.2;
    }
    for &i in order.iter().rev() {
        let bars = <link as Kernel>::pullback::<f64>((above(&x, i), q[i], axis[i], s), x_bar[i]);
        add::<Vec3>(parents[i].map_or(&mut root_bar[0], |parent| &mut x_bar[parent]), bars.0);
        (q_bar[i], axis_bar[i]) = (bars.1, bars.2);
        s_bar += bars.3;
    }
    Outcome {
        values: vec![flat::<Vec3>(&x), flat::<Vec3>(&f)],
        bars: vec![flat::<Vec3>(&root_bar), q_bar, flat::<Vec3>(&axis_bar), vec![s_bar], vec![w_bar]],
    }
}

fn check(parents: &[Option<usize>]) {
    chains(parents).check(parents.len(), &|inputs, seeds, _| naive(parents, inputs, seeds));
}

/// A forest with several roots, where parents may have higher numbers than their children.
fn forest(n: usize, seed: usize) -> Vec<Option<usize>> {
    // A permutation: 13 divides none of the sizes.
    let label = |i: usize| (i * 13 + seed) % n;
    let mut parents = vec![None; n];
    for i in 1..n {
        let r = random(seed, i, 3);
        parents[label(i)] = (r > 0.05).then(|| label(((r - 0.05) / 0.95 * i as f64) as usize));
    }
    parents
}

#[test]
fn random_forests() {
    for n in SIZES {
        if n > 0 {
            check(&forest(n, 1));
        }
    }
    check(&[]);
    chains(&forest(7, 2)).gradcheck();
}

#[test]
fn a_deep_chain() {
    check(&(0..700).map(|i: usize| i.checked_sub(1)).collect::<Vec<_>>());
}

#[test]
fn a_wide_star() {
    // So wide that every level has phases of its own.
    let mut parents = vec![Some(3); 701];
    parents[3] = None;
    check(&parents);
}

#[test]
fn wide_levels_and_many_roots() {
    // Three levels of 400, whose nodes lie in no order, and one of roots alone.
    let parents: Vec<Option<usize>> = (0..1200)
        .map(|i| match i % 3 {
            1 => None,
            2 => Some((i * 7 + 1) % 1200 / 3 * 3 + 1),
            _ => Some((i * 5 + 2) % 1200 / 3 * 3 + 2),
        })
        .collect();
    check(&parents);
    check(&vec![None; 600]);
}
