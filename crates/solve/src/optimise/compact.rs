//! The compact form of the limited-memory BFGS matrix.
//!
//! R. Byrd, P. Lu, J. Nocedal and C. Zhu, "A limited memory algorithm for bound constrained optimization", SIAM
//! Journal on Scientific Computing 16 (1995), section 3: B = θ I − W M Wᵀ with W = [Y, θ S] and
//! M = [−D, Lᵀ; L, θ SᵀS]⁻¹, where D and L are the diagonal and the part below it of SᵀY.

use serde::{Deserialize, Serialize};

use super::dense::{Matrix, Qr};
use super::exact;
use super::vector::{add_scaled, dot};

/// A step and the change of the gradient over it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pair {
    #[serde(with = "exact::list")]
    pub step: Vec<f64>,
    #[serde(with = "exact::list")]
    pub change: Vec<f64>,
}

/// B, ready to be multiplied with.
pub(super) struct Compact<'a> {
    pairs: &'a [Pair],
    pub theta: f64,
    middle: Matrix,
}

impl<'a> Compact<'a> {
    /// `None` if the pairs are so nearly dependent that M does not exist.
    pub fn new(pairs: &'a [Pair], theta: f64) -> Option<Compact<'a>> {
        let count = pairs.len();
        let mut inverse = Matrix::zeros(2 * count, 2 * count);
        for (i, first) in pairs.iter().enumerate() {
            *inverse.at(i, i) = -dot(&first.step, &first.change);
            for (j, second) in pairs.iter().enumerate() {
                *inverse.at(count + i, count + j) = theta * dot(&first.step, &second.step);
                if i > j {
                    let below = dot(&first.step, &second.change);
                    *inverse.at(count + i, j) = below;
                    *inverse.at(j, count + i) = below;
                }
            }
        }
        let middle = invert(inverse)?;
        Some(Compact { pairs, theta, middle })
    }

    /// The number of columns of W.
    pub fn rank(&self) -> usize {
        2 * self.pairs.len()
    }

    /// Row `i` of W.
    pub fn row(&self, i: usize) -> Vec<f64> {
        let changes = self.pairs.iter().map(|pair| pair.change[i]);
        changes.chain(self.pairs.iter().map(|pair| self.theta * pair.step[i])).collect()
    }

    /// Wᵀ x.
    pub fn transpose_times(&self, x: &[f64]) -> Vec<f64> {
        let changes = self.pairs.iter().map(|pair| dot(&pair.change, x));
        changes.chain(self.pairs.iter().map(|pair| self.theta * dot(&pair.step, x))).collect()
    }

    /// W p.
    pub fn times(&self, p: &[f64], dimension: usize) -> Vec<f64> {
        let mut product = vec![0.0; dimension];
        let (changes, steps) = p.split_at(self.pairs.len());
        for (pair, (change, step)) in self.pairs.iter().zip(changes.iter().zip(steps)) {
            add_scaled(&mut product, *change, &pair.change);
            add_scaled(&mut product, self.theta * step, &pair.step);
        }
        product
    }

    /// M p.
    pub fn middle(&self, p: &[f64]) -> Vec<f64> {
        self.middle.times(p)
    }

    /// Minimises gᵀd + ½ dᵀBd over the variables that are `free`, from the gradient of the model there; the others
    /// stay (the direct primal method of section 5.1, by the formula of Sherman, Morrison and Woodbury):
    /// d = −r/θ − Zᵀ W (I − M Wᵀ Z Zᵀ W / θ)⁻¹ M Wᵀ Z r / θ², where r is the gradient and Z selects what is free.
    pub fn minimise(&self, gradient: &[f64], free: &[bool]) -> Option<Vec<f64>> {
        let masked: Vec<f64> =
            gradient.iter().zip(free).map(|(g, &free)| if free { *g } else { 0.0 }).collect();
        let rank = self.rank();
        let mut d: Vec<f64> = masked.iter().map(|r| -r / self.theta).collect();
        if rank == 0 {
            return Some(d);
        }
        let gram = self.gram(free);
        let mut system = Matrix::identity(rank);
        for column in 0..rank {
            let product = self.middle.times(gram.column(column));
            add_scaled(system.column_mut(column), -1.0 / self.theta, &product);
        }
        let v = Qr::new(system).solve(self.middle(&self.transpose_times(&masked)))?;
        let correction = self.times(&v, gradient.len());
        for i in 0..d.len() {
            if free[i] {
                d[i] -= correction[i] / (self.theta * self.theta);
            }
        }
        Some(d)
    }

    /// Wᵀ Z Zᵀ W.
    fn gram(&self, free: &[bool]) -> Matrix {
        let mask = |x: &[f64], factor: f64| -> Vec<f64> {
            x.iter().zip(free).map(|(x, &free)| if free { factor * x } else { 0.0 }).collect()
        };
        let changes = self.pairs.iter().map(|pair| mask(&pair.change, 1.0));
        let columns: Vec<_> =
            changes.chain(self.pairs.iter().map(|pair| mask(&pair.step, self.theta))).collect();
        let mut gram = Matrix::zeros(self.rank(), self.rank());
        for (i, first) in columns.iter().enumerate() {
            for (j, second) in columns.iter().enumerate().take(i + 1) {
                let product = dot(first, second);
                *gram.at(i, j) = product;
                *gram.at(j, i) = product;
            }
        }
        gram
    }
}

fn invert(matrix: Matrix) -> Option<Matrix> {
    let size = matrix.rows();
    let factors = Qr::new(matrix);
    let mut inverse = Matrix::zeros(size, size);
    for column in 0..size {
        let mut unit = vec![0.0; size];
        unit[column] = 1.0;
        inverse.column_mut(column).copy_from_slice(&factors.solve(unit)?);
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimise::random::Random;
    use crate::optimise::vector::{difference, norm_max};

    /// BFGS updates one after the other: B ← B − B s sᵀ B / sᵀ B s + y yᵀ / yᵀ s.
    fn updated(pairs: &[Pair], theta: f64, x: &[f64]) -> Vec<f64> {
        let Some((last, earlier)) = pairs.split_last() else { return x.iter().map(|x| theta * x).collect() };
        let mut product = updated(earlier, theta, x);
        let bs = updated(earlier, theta, &last.step);
        add_scaled(&mut product, -dot(&bs, x) / dot(&bs, &last.step), &bs);
        add_scaled(&mut product, dot(&last.change, x) / dot(&last.change, &last.step), &last.change);
        product
    }

    fn example() -> (Vec<Pair>, Vec<f64>) {
        let (mut random, n) = (Random::new(11), 8);
        let mut vector = || (0..n).map(|_| random.normal()).collect::<Vec<f64>>();
        // Changes of the gradient of a convex quadratic with different curvatures.
        let pairs = (0..4).map(|_| {
            let step = vector();
            let change = step.iter().enumerate().map(|(i, s)| s * (1.0 + i as f64)).collect();
            Pair { step, change }
        });
        (pairs.collect(), vector())
    }

    #[test]
    fn compact_form_is_that_of_the_updates() {
        let (pairs, x) = example();
        let compact = Compact::new(&pairs, 2.5).expect("independent pairs");
        let mut product: Vec<f64> = x.iter().map(|x| 2.5 * x).collect();
        let inner = compact.middle(&compact.transpose_times(&x));
        add_scaled(&mut product, -1.0, &compact.times(&inner, x.len()));
        assert!(norm_max(&difference(&product, &updated(&pairs, 2.5, &x))) < 1e-11);
    }

    #[test]
    fn minimum_has_no_gradient_in_what_is_free() {
        let (pairs, gradient) = example();
        let compact = Compact::new(&pairs, 2.5).expect("independent pairs");
        let free = [true, false, true, true, false, true, true, true];
        let d = compact.minimise(&gradient, &free).expect("not singular");
        let product = updated(&pairs, 2.5, &d);
        for i in 0..free.len() {
            let expected = if free[i] { -gradient[i] } else { 0.0 };
            let found = if free[i] { product[i] } else { d[i] };
            assert!((found - expected).abs() < 1e-10, "{i}: {found} {expected}");
        }
    }
}
