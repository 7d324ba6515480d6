//! An operation written by hand between patterns: a dense symmetric solve.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Lane, Operation, World};

use crate::kernels::{Law, flow, law};
use crate::subject::{Numbers, Outcome, Subject};

/// (A + n) x = b for a symmetric A of n rows, of which the lower triangle is read.
struct Solve {
    n: usize,
    a: Buffer<f64>,
    b: Buffer<f64>,
    x: Buffer<f64>,
    /// A + n = L Lᵀ, for the pullback.
    factor: Buffer<f64>,
}

impl Solve {
    /// y becomes the solution of L Lᵀ x = y.
    fn substitute<S: Lane>(&self, world: &World<'_, S>, y: &mut [S]) {
        let (n, l) = (self.n, |i: usize, j: usize| world.get(self.factor, i * self.n + j));
        for i in 0..n {
            for j in 0..i {
                y[i] = y[i] - l(i, j) * y[j];
            }
            y[i] = y[i] / l(i, i);
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                y[i] = y[i] - l(j, i) * y[j];
            }
            y[i] = y[i] / l(i, i);
        }
    }
}

impl Operation for Solve {
    fn name(&self) -> String {
        "solve".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        vec![self.a.into(), self.b.into()]
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.x.into(), self.factor.into()]
    }
    fn scratch(&self) -> usize {
        self.n
    }

    fn forward<S: Lane>(&self, world: &mut World<'_, S>) {
        let n = self.n;
        for i in 0..n {
            for j in 0..=i {
                let mut sum = world.get(self.a, i * n + j);
                if i == j {
                    sum = sum + S::from_f64(n as f64);
                }
                for k in 0..j {
                    sum = sum - world.get(self.factor, i * n + k) * world.get(self.factor, j * n + k);
                }
                let entry = if i == j { sum.sqrt() } else { sum / world.get(self.factor, j * n + j) };
                world.set(self.factor, i * n + j, entry);
            }
        }
        let y = std::mem::take(&mut world.scratch);
        for i in 0..n {
            y[i] = world.get(self.b, i);
        }
        self.substitute(world, y);
        for i in 0..n {
            world.set(self.x, i, y[i]);
        }
    }

    // λ = (A + n)⁻ᵀ x_bar:  b_bar = λ,  A_bar = -λ xᵀ, of which the lower triangle takes both halves
    fn pullback<S: Lane>(&self, world: &mut World<'_, S>) {
        let n = self.n;
        let y = std::mem::take(&mut world.scratch);
        for i in 0..n {
            y[i] = world.bar(self.x, i);
        }
        self.substitute(world, y);
        for i in 0..n {
            world.add_bar(self.b, i, y[i]);
            let x_i = world.get(self.x, i);
            world.add_bar(self.a, i * n + i, -(y[i] * x_i));
            for j in 0..i {
                world.add_bar(self.a, i * n + j, -(y[i] * world.get(self.x, j) + y[j] * x_i));
            }
        }
    }
}

fn subject(n: usize) -> Subject {
    let mut p = Program::builder();
    let a = p.parameter::<f64>("a", n * n);
    let t = p.input::<f64>("t", n);
    let w = p.parameter::<f64>("w", n);
    let weights = p.parameter::<[f64; 3]>("weights", 1);
    let ring = p.corners("ring", &(0..n).map(|i| [i, (i + 1) % n]).collect::<Vec<_>>(), n);
    let b = p.elements::<flow, _, 2>("b", ring, (t.at(ring), w.own()));
    let (x, factor) = (p.computed::<f64>("x", n), p.computed::<f64>("factor", n * n));
    p.operation(Solve { n, a, b, x, factor });
    let (kinds, which) = (p.indices(&vec![Law::Cubic; n]), p.indices(&vec![1; n]));
    let y = p.map::<law>("y", (kinds.own(), which.own(), x.own(), weights.shared()));
    // The solve gets a cotangent from the caller, and one from the map.
    p.output(x);
    p.output(y);
    let inputs =
        [(a.into(), -1.0, 1.0), (t.into(), -1.0, 1.0), (w.into(), 1.0, 9.0), (weights.into(), 0.5, 1.0)];
    Subject::new(p.finish().expect("a program"), &inputs, &[x.into(), y.into()])
}

/// By elimination with the whole matrix.
fn eliminate(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut a: Vec<f64> = (0..n * n).map(|k| a[(k / n).max(k % n) * n + (k / n).min(k % n)]).collect();
    (0..n).for_each(|i| a[i * n + i] += n as f64);
    let mut x = b.to_vec();
    for i in 0..n {
        for row in (0..n).filter(|&row| row != i) {
            let factor = a[row * n + i] / a[i * n + i];
            (0..n).for_each(|k| a[row * n + k] -= factor * a[i * n + k]);
            x[row] -= factor * x[i];
        }
    }
    (0..n).map(|i| x[i] / a[i * n + i]).collect()
}

fn naive(inputs: &Numbers, seeds: &Numbers) -> Outcome {
    let (a, t, w, weights) = (&inputs[0], &inputs[1], &inputs[2], &inputs[3]);
    let (n, weights) = (t.len(), [weights[0], weights[1], weights[2]]);
    let mut b = vec![0.0; n];
    for i in 0..n {
        let j = (i + 1) % n;
        let [to_i, to_j] = <flow as Kernel>::forward::<f64>(([t[i], t[j]], w[i]));
        b[i] += to_i;
        b[j] += to_j;
    }
    let x = eliminate(n, a, &b);
    let y: Vec<f64> =
        x.iter().map(|&x| <law as Kernel>::forward::<f64>((Law::Cubic, 1, x, weights))).collect();
    let (mut x_bar, mut weights_bar) = (seeds[0].clone(), vec![0.0; 3]);
    for i in 0..n {
        let bars = <law as Kernel>::pullback::<f64>((Law::Cubic, 1, x[i], weights), seeds[1][i]);
        x_bar[i] += bars.2;
        (0..3).for_each(|k| weights_bar[k] += bars.3[k]);
    }
    let b_bar = eliminate(n, a, &x_bar);
    let mut a_bar = vec![0.0; n * n];
    for k in 0..n * n {
        a_bar[(k / n).max(k % n) * n + (k / n).min(k % n)] -= b_bar[k / n] * x[k % n];
    }
    let (mut t_bar, mut w_bar) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let j = (i + 1) % n;
        let bars = <flow as Kernel>::pullback::<f64>(([t[i], t[j]], w[i]), [b_bar[i], b_bar[j]]);
        t_bar[i] += bars.0[0];
        t_bar[j] += bars.0[1];
        w_bar[i] = bars.1;
    }
    Outcome { values: vec![x, y], bars: vec![a_bar, t_bar, w_bar, weights_bar] }
}

#[test]
fn a_solve_between_patterns() {
    for n in [0, 1, 2, 7, 33] {
        subject(n).check(n, &|inputs, seeds, _| naive(inputs, seeds));
    }
    subject(4).gradcheck();
}
