//! Factors of Jacobians, for solutions with them and with their transposes.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::lu::{LuRef, LuSymbolicParams, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par};

use super::cholesky::Cholesky;
use super::sparsity::Sparsity;
use crate::step::held;

/// Factors of every world's J, whose rows are the columns of a [`Sparsity`].
pub enum Factors {
    /// Of any.
    Lu(Lu),
    /// Of one that is symmetric but for masses and what is small beside the rest.
    Cholesky(Box<Cholesky>),
}

/// LU factors.
pub struct Lu {
    symbolic: SymbolicLu<usize>,
    numeric: Vec<NumericLu<usize, f64>>,
    stack: MemBuffer,
    /// The most entries of a factor.
    most_in_factor: usize,
}

impl Lu {
    /// Room for the factors of so many worlds; none if there is no memory for them.
    pub fn new(sparsity: &Sparsity, worlds: usize) -> Option<Lu> {
        let symbolic = factorize_symbolic_lu(pattern(sparsity), LuSymbolicParams::default()).ok()?;
        let factorise = symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
        let solve = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        Some(Lu {
            most_in_factor: sparsity.most_in_factor(symbolic.col_perm().arrays().0),
            stack: MemBuffer::new(factorise.or(solve)),
            numeric: (0..worlds).map(|_| NumericLu::new()).collect(),
            symbolic,
        })
    }

    /// The most bytes of memory that it takes, factors included, which come with the first step.
    pub fn bytes(&self, n: usize) -> usize {
        // Of each factor, numbers and rows, in vectors that double; where they start, and the permutations.
        let factor = 2 * (self.most_in_factor + n) * (size_of::<f64>() + size_of::<usize>());
        held(&self.numeric)
            + self.stack.len()
            // The permutation of columns, and its inverse.
            + 2 * n * size_of::<usize>()
            // A vector that doubles is there twice for a moment.
            + factor / 4
            + self.numeric.len() * (2 * factor + 4 * (n + 1) * size_of::<usize>())
    }

    /// Factorises one world's J, by its entries. Can it be?
    pub fn factorise(&mut self, sparsity: &Sparsity, world: usize, entries: &[f64]) -> bool {
        let matrix = SparseColMatRef::new(pattern(sparsity), entries);
        let stack = MemStack::new(&mut self.stack);
        let numeric = &mut self.numeric[world];
        self.symbolic.factorize_numeric_lu(numeric, matrix, Par::Seq, stack, Default::default()).is_ok()
    }

    /// J⁻¹ b, in place: columns of the factorised matrix are rows of J.
    pub fn solve(&mut self, world: usize, b: &mut [f64]) {
        let factors = LuRef::new_unchecked(&self.symbolic, &self.numeric[world]);
        let stack = MemStack::new(&mut self.stack);
        factors.solve_transpose_in_place_with_conj(Conj::No, column(b), Par::Seq, stack);
    }

    /// J⁻ᵀ b, in place, by the same factors.
    pub fn solve_transposed(&mut self, world: usize, b: &mut [f64]) {
        let factors = LuRef::new_unchecked(&self.symbolic, &self.numeric[world]);
        let stack = MemStack::new(&mut self.stack);
        factors.solve_in_place_with_conj(Conj::No, column(b), Par::Seq, stack);
    }
}

/// The places of entries, by columns.
pub fn pattern(sparsity: &Sparsity) -> SymbolicSparseColMatRef<'_, usize> {
    let n = sparsity.size;
    SymbolicSparseColMatRef::new_checked(n, n, &sparsity.starts, None, &sparsity.rows)
}

/// Numbers as a matrix of one column.
pub fn column(b: &mut [f64]) -> MatMut<'_, f64> {
    let n = b.len();
    MatMut::from_column_major_slice_mut(b, n, 1)
}
