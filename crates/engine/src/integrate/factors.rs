//! Factors of Jacobians, for solutions with them and with their transposes.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::lu::{LuRef, LuSymbolicParams, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par};

use super::bordered::Bordered;
use super::sparsity::Sparsity;
use crate::step::held;

/// Factors of one world's J.
pub enum Factors {
    /// Of any.
    Lu(Box<Lu>),
    /// Of one that is symmetric but for masses, what is small beside the rest, and the border of robots and bodies.
    Bordered(Box<Bordered>),
}

impl Factors {
    /// The places of entries of J.
    pub fn sparsity(&self) -> &Sparsity {
        match self {
            Factors::Lu(lu) => &lu.analysis.sparsity,
            Factors::Bordered(bordered) => bordered.sparsity(),
        }
    }
}

/// LU factors.
pub struct Lu {
    analysis: Arc<LuAnalysis>,
    numeric: NumericLu<usize, f64>,
    stack: MemBuffer,
}

/// What is known of all matrices with the same places of entries.
pub struct LuAnalysis {
    sparsity: Arc<Sparsity>,
    symbolic: SymbolicLu<usize>,
}

impl LuAnalysis {
    /// None if there is no memory for it.
    pub fn new(sparsity: Arc<Sparsity>) -> Option<LuAnalysis> {
        let symbolic = factorize_symbolic_lu(transposed(&sparsity), LuSymbolicParams::default()).ok()?;
        Some(LuAnalysis { sparsity, symbolic })
    }
}

impl Lu {
    /// Room for factors.
    pub fn new(analysis: Arc<LuAnalysis>) -> Lu {
        let symbolic = &analysis.symbolic;
        let factorise = symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
        let solve = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        Lu { stack: MemBuffer::new(factorise.or(solve)), numeric: NumericLu::new(), analysis }
    }

    /// The most bytes of memory that so many take, factors included, which come with the first step.
    pub fn bytes(&self, worlds: usize) -> usize {
        let LuAnalysis { sparsity, symbolic } = &*self.analysis;
        let n = sparsity.size();
        let most_in_factor = sparsity.most_in_factor(symbolic.col_perm().arrays().0);
        // Of each factor, numbers and rows, in vectors that double; where they start, and the permutations.
        let factor = 2 * (most_in_factor + n) * (size_of::<f64>() + size_of::<usize>());
        // Analysis and places lie behind counted pointers.
        let shared = size_of::<LuAnalysis>() + places(sparsity) + 4 * size_of::<usize>();
        // The permutation of columns, and its inverse.
        shared + 2 * n * size_of::<usize>()
            // A vector that doubles is there twice for a moment.
            + factor / 4
            + worlds * (size_of::<Lu>() + self.stack.len() + 2 * factor + 4 * (n + 1) * size_of::<usize>())
    }

    /// Factorises J, by its entries. Can it be?
    pub fn factorise(&mut self, entries: &[f64]) -> bool {
        let LuAnalysis { sparsity, symbolic } = &*self.analysis;
        let matrix = SparseColMatRef::new(transposed(sparsity), entries);
        let stack = MemStack::new(&mut self.stack);
        let made =
            symbolic.factorize_numeric_lu(&mut self.numeric, matrix, Par::Seq, stack, Default::default());
        made.is_ok()
    }

    /// J⁻¹ b, or J⁻ᵀ b by the same factors, in place.
    pub fn solve(&mut self, b: &mut [f64], transposed: bool) {
        let factors = LuRef::new_unchecked(&self.analysis.symbolic, &self.numeric);
        let stack = MemStack::new(&mut self.stack);
        // Columns of the factorised matrix are rows of J.
        if transposed {
            factors.solve_in_place_with_conj(Conj::No, column(b), Par::Seq, stack);
        } else {
            factors.solve_transpose_in_place_with_conj(Conj::No, column(b), Par::Seq, stack);
        }
    }
}

/// The places of entries of the transpose, whose columns are the rows.
pub fn transposed(sparsity: &Sparsity) -> SymbolicSparseColMatRef<'_, usize> {
    let n = sparsity.size();
    SymbolicSparseColMatRef::new_checked(n, n, &sparsity.starts, None, &sparsity.columns)
}

/// Numbers as a matrix of one column.
pub fn column(b: &mut [f64]) -> MatMut<'_, f64> {
    let n = b.len();
    MatMut::from_column_major_slice_mut(b, n, 1)
}

/// out = J x, or Jᵀ x, of these entries.
pub fn multiply(sparsity: &Sparsity, entries: &[f64], x: &[f64], out: &mut [f64], transposed: bool) {
    if transposed {
        out.fill(0.0);
    }
    for i in 0..sparsity.size() {
        let row = sparsity.row(i);
        if transposed {
            row.for_each(|k| out[sparsity.columns[k]] += entries[k] * x[i]);
        } else {
            out[i] = row.map(|k| entries[k] * x[sparsity.columns[k]]).sum();
        }
    }
}

/// How many bytes the places of entries take.
pub fn places(sparsity: &Sparsity) -> usize {
    size_of::<Sparsity>() + held(&sparsity.starts) + held(&sparsity.columns)
}
