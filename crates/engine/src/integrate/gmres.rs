//! GMRES (Saad & Schultz 1986): A x = b by the shortest residual in a growing space, with a preconditioner on the right.

use crate::step::held;

/// The most iterations.
const MOST: usize = 40;

/// Working memory.
#[derive(Default)]
pub struct Gmres {
    n: usize,
    /// An orthonormal basis, vector after vector.
    basis: Vec<f64>,
    /// The upper triangle that is left of the projected matrix, column after column.
    triangle: Vec<f64>,
    /// What turned it: cosines and sines.
    turns: Vec<[f64; 2]>,
    /// The projected right side.
    right: Vec<f64>,
    solution: Vec<f64>,
    image: Vec<f64>,
}

impl Gmres {
    /// For equations of `n` numbers.
    pub fn new(n: usize) -> Gmres {
        Gmres {
            n,
            basis: vec![0.0; (MOST + 1) * n],
            triangle: vec![0.0; (MOST + 1) * MOST],
            turns: vec![[1.0, 0.0]; MOST],
            right: vec![0.0; MOST + 1],
            solution: vec![0.0; n],
            image: vec![0.0; n],
        }
    }

    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        held(&self.basis)
            + held(&self.triangle)
            + held(&self.turns)
            + held(&self.right)
            + held(&self.solution)
            + held(&self.image)
    }

    /// What the last equation's solution is.
    pub fn solution(&self) -> &[f64] {
        &self.solution
    }

    /// Finds x with A x = b up to `enough` of the length of b, and returns what is left, relative to it. `times` is the product with
    /// A, `condition` that with an inverse that is almost its own.
    pub fn solve(
        &mut self,
        b: &[f64],
        enough: f64,
        times: impl Fn(&[f64], &mut [f64]),
        mut condition: impl FnMut(&mut [f64]),
    ) -> f64 {
        let (n, size) = (self.n, norm(b));
        self.solution.fill(0.0);
        if size == 0.0 || !size.is_finite() {
            return size;
        }
        self.basis[..n].iter_mut().zip(b).for_each(|(v, b)| *v = b / size);
        self.right.fill(0.0);
        self.right[0] = size;
        let mut used = 0;
        for k in 0..MOST {
            let (before, next) = self.basis.split_at_mut((k + 1) * n);
            let next = &mut next[..n];
            self.image.copy_from_slice(&before[k * n..]);
            condition(&mut self.image);
            times(&self.image, next);
            let column = &mut self.triangle[k * (MOST + 1)..(k + 1) * (MOST + 1)];
            column.fill(0.0);
            // Twice is enough (Kahan): what the first round leaves of rounding, the second takes.
            for _ in 0..2 {
                for (i, v) in before.chunks_exact(n).enumerate() {
                    let part: f64 = v.iter().zip(&*next).map(|(a, b)| a * b).sum();
                    column[i] += part;
                    next.iter_mut().zip(v).for_each(|(x, v)| *x -= part * v);
                }
            }
            let length = norm(next);
            if length > 0.0 {
                next.iter_mut().for_each(|x| *x /= length);
            }
            for (i, [c, s]) in self.turns[..k].iter().enumerate() {
                (column[i], column[i + 1]) =
                    (c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]);
            }
            let (a, whole) = (column[k], column[k].hypot(length));
            if whole == 0.0 || !whole.is_finite() {
                break;
            }
            self.turns[k] = [a / whole, length / whole];
            column[k] = whole;
            let [c, s] = self.turns[k];
            (self.right[k], self.right[k + 1]) = (c * self.right[k], -s * self.right[k]);
            used = k + 1;
            if self.right[k + 1].abs() <= enough * size || length == 0.0 {
                break;
            }
        }
        self.assemble(used);
        condition(&mut self.solution);
        // What is truly left: sums of the projected one drift.
        times(&self.solution, &mut self.image);
        let left = self.image.iter().zip(b).map(|(a, b)| (b - a) * (b - a)).sum::<f64>().sqrt();
        left / size
    }

    /// The combination of the basis that leaves least.
    fn assemble(&mut self, used: usize) {
        for k in (0..used).rev() {
            let known: f64 = (k + 1..used).map(|j| self.triangle[j * (MOST + 1) + k] * self.right[j]).sum();
            self.right[k] = (self.right[k] - known) / self.triangle[k * (MOST + 1) + k];
        }
        for (k, v) in self.basis.chunks_exact(self.n).take(used).enumerate() {
            let factor = self.right[k];
            self.solution.iter_mut().zip(v).for_each(|(x, v)| *x += factor * v);
        }
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix with a skew part, by itself and with its diagonal as a preconditioner.
    #[test]
    fn it_solves() {
        let n = 30;
        let entry = |i: usize, j: usize| match i.abs_diff(j) {
            0 => 4.0 + i as f64,
            1 if i > j => 1.5,
            1 => -0.5,
            _ => 0.0,
        };
        let times = |x: &[f64], out: &mut [f64]| {
            for (i, out) in out.iter_mut().enumerate() {
                *out = (0..n).map(|j| entry(i, j) * x[j]).sum();
            }
        };
        let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let mut gmres = Gmres::new(n);
        for conditioned in [false, true] {
            let condition = |x: &mut [f64]| {
                if conditioned {
                    x.iter_mut().enumerate().for_each(|(i, x)| *x /= entry(i, i));
                }
            };
            let left = gmres.solve(&b, 1e-14, times, condition);
            assert!(left < 1e-13, "{left}");
            let mut image = vec![0.0; n];
            times(gmres.solution(), &mut image);
            assert!(image.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));
        }
        assert_eq!(gmres.solve(&vec![0.0; n], 1e-14, times, |_| ()), 0.0);
    }
}
