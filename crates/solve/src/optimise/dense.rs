//! Small dense matrices and their QR factorisation.

use serde::{Deserialize, Serialize};

use super::exact;
use super::vector::{add_scaled, dot, norm};

/// A matrix, column by column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Matrix {
    rows: usize,
    columns: usize,
    #[serde(with = "exact::list")]
    entries: Vec<f64>,
}

impl Matrix {
    pub fn zeros(rows: usize, columns: usize) -> Matrix {
        Matrix { rows, columns, entries: vec![0.0; rows * columns] }
    }

    pub fn identity(size: usize) -> Matrix {
        let mut matrix = Matrix::zeros(size, size);
        for i in 0..size {
            *matrix.at(i, i) = 1.0;
        }
        matrix
    }

    /// From entries row by row.
    pub fn from_rows(rows: usize, columns: usize, entries: &[f64]) -> Matrix {
        let mut matrix = Matrix::zeros(rows, columns);
        for column in 0..columns {
            for row in 0..rows {
                *matrix.at(row, column) = entries[row * columns + column];
            }
        }
        matrix
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.entries[column * self.rows + row]
    }

    pub fn at(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.entries[column * self.rows + row]
    }

    pub fn column(&self, column: usize) -> &[f64] {
        &self.entries[column * self.rows..(column + 1) * self.rows]
    }

    pub fn column_mut(&mut self, column: usize) -> &mut [f64] {
        &mut self.entries[column * self.rows..(column + 1) * self.rows]
    }

    /// A x.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.rows];
        for (column, &factor) in x.iter().enumerate() {
            add_scaled(&mut product, factor, self.column(column));
        }
        product
    }

    /// Aᵀ x.
    pub fn transpose_times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.columns).map(|column| dot(self.column(column), x)).collect()
    }
}

/// A = Q R by Householder reflections I − β v vᵀ (Golub and Van Loan, "Matrix computations", 5.2.1).
pub(super) struct Qr {
    /// R on and above the diagonal; below it the reflections, whose first entries are in `heads`.
    factors: Matrix,
    heads: Vec<f64>,
    betas: Vec<f64>,
}

impl Qr {
    pub fn new(mut a: Matrix) -> Qr {
        let steps = a.rows.min(a.columns);
        let (mut heads, mut betas) = (vec![0.0; steps], vec![0.0; steps]);
        for k in 0..steps {
            let column = &mut a.column_mut(k)[k..];
            let length = norm(column);
            if length == 0.0 {
                continue;
            }
            // The sign is chosen so that the head is a sum without cancellation.
            let diagonal = if column[0] > 0.0 { -length } else { length };
            heads[k] = column[0] - diagonal;
            betas[k] = -1.0 / (diagonal * heads[k]);
            column[0] = diagonal;
            let v: Vec<f64> = std::iter::once(heads[k]).chain(column[1..].iter().copied()).collect();
            for j in k + 1..a.columns {
                let column = &mut a.column_mut(j)[k..];
                let factor = -betas[k] * dot(&v, column);
                add_scaled(column, factor, &v);
            }
        }
        Qr { factors: a, heads, betas }
    }

    /// Qᵀ x.
    pub fn rotate(&self, x: &mut [f64]) {
        for k in 0..self.heads.len() {
            let tail = &self.factors.column(k)[k + 1..];
            let factor = -self.betas[k] * (self.heads[k] * x[k] + dot(tail, &x[k + 1..]));
            x[k] += factor * self.heads[k];
            add_scaled(&mut x[k + 1..], factor, tail);
        }
    }

    /// R, with min(rows, columns) rows.
    pub fn upper(&self) -> Matrix {
        let mut upper = Matrix::zeros(self.heads.len(), self.factors.columns);
        for column in 0..self.factors.columns {
            for row in 0..upper.rows.min(column + 1) {
                *upper.at(row, column) = self.factors.get(row, column);
            }
        }
        upper
    }

    /// The x for which |A x − b| is least, for an A with at least as many rows as columns. `None` if A is singular.
    pub fn solve(&self, mut b: Vec<f64>) -> Option<Vec<f64>> {
        self.rotate(&mut b);
        let size = self.factors.columns;
        b.truncate(size);
        for k in (0..size).rev() {
            b[k] /= self.factors.get(k, k);
            let factor = -b[k];
            add_scaled(&mut b[..k], factor, &self.factors.column(k)[..k]);
        }
        b.iter().all(|x| x.is_finite()).then_some(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimise::random::Random;
    use crate::optimise::vector::{difference, norm_max};

    fn random(rows: usize, columns: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        let entries: Vec<f64> = (0..rows * columns).map(|_| random.normal()).collect();
        Matrix::from_rows(rows, columns, &entries)
    }

    #[test]
    fn least_squares_leaves_a_residual_orthogonal_to_the_columns() {
        for (rows, columns) in [(1, 1), (7, 7), (23, 9)] {
            let a = random(rows, columns, 3);
            let b = random(rows, 1, 4).column(0).to_vec();
            let x = Qr::new(a.clone()).solve(b.clone()).expect("a random matrix is not singular");
            let residual = difference(&a.times(&x), &b);
            assert!(norm_max(&a.transpose_times(&residual)) < 1e-12);
        }
    }

    #[test]
    fn rotation_keeps_what_the_upper_factor_says() {
        for (rows, columns) in [(4, 9), (9, 4), (5, 5)] {
            let a = random(rows, columns, 5);
            let qr = Qr::new(a.clone());
            for column in 0..columns {
                let mut rotated = a.column(column).to_vec();
                qr.rotate(&mut rotated);
                rotated.truncate(rows.min(columns));
                assert!(norm_max(&difference(&rotated, qr.upper().column(column))) < 1e-13);
            }
        }
    }

    #[test]
    fn singular_matrices_are_found() {
        assert!(Qr::new(Matrix::from_rows(2, 2, &[1.0, 0.0, 2.0, 0.0])).solve(vec![1.0, 1.0]).is_none());
    }
}
