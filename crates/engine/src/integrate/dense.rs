//! LU factors of dense matrices of one size, made again and again in the same memory.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::{factor, solve};
use faer::perm::PermRef;
use faer::{Conj, MatMut, MatRef, Par};

use super::factors::column;
use crate::step::held;

/// A matrix, and then its factors in its place.
pub struct Dense {
    size: usize,
    /// Column after column.
    entries: Vec<f64>,
    /// How rows are exchanged, and how they come back.
    rows: Vec<usize>,
    back: Vec<usize>,
    stack: MemBuffer,
}

impl Dense {
    /// Room for a matrix of so many rows and columns.
    pub fn new(size: usize) -> Dense {
        let made = factor::lu_in_place_scratch::<usize, f64>(size, size, Par::Seq, Default::default());
        let solved = solve::solve_in_place_scratch::<usize, f64>(size, 1, Par::Seq);
        let turned = solve::solve_transpose_in_place_scratch::<usize, f64>(size, 1, Par::Seq);
        Dense {
            size,
            entries: vec![0.0; size * size],
            rows: (0..size).collect(),
            back: (0..size).collect(),
            stack: MemBuffer::new(made.or(solved).or(turned)),
        }
    }

    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        held(&self.entries) + held(&self.rows) + held(&self.back) + self.stack.len()
    }

    /// A column, to be written before factors are made.
    pub fn column(&mut self, j: usize) -> &mut [f64] {
        &mut self.entries[j * self.size..(j + 1) * self.size]
    }

    /// Makes the factors. Can they be?
    pub fn factorise(&mut self) -> bool {
        let n = self.size;
        if !self.entries.iter().all(|entry| entry.is_finite()) {
            return false;
        }
        factor::lu_in_place(
            MatMut::from_column_major_slice_mut(&mut self.entries, n, n),
            &mut self.rows,
            &mut self.back,
            Par::Seq,
            MemStack::new(&mut self.stack),
            Default::default(),
        );
        (0..n).map(|i| self.entries[i * n + i]).all(|pivot| pivot != 0.0 && pivot.is_finite())
    }

    /// The solution with the matrix or its transpose, in place.
    pub fn solve(&mut self, b: &mut [f64], transposed: bool) {
        let n = self.size;
        let factors = MatRef::from_column_major_slice(&self.entries, n, n);
        let rows = PermRef::new_checked(&self.rows, &self.back, n);
        let stack = MemStack::new(&mut self.stack);
        let solve = match transposed {
            false => solve::solve_in_place_with_conj,
            true => solve::solve_transpose_in_place_with_conj,
        };
        // Both factors are in one matrix: what is above the diagonal of the first is not read, nor what is below that of the second.
        solve(factors, factors, rows, Conj::No, column(b), Par::Seq, stack);
    }
}
