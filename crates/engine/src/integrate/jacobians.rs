//! The linear algebra of implicit steps: sparse Jacobians from pushforwards, factorised once for forward and transposed solves.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::lu::{LuRef, LuSymbolicParams, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{AccessError, BufferUse};

use super::sparsity::Sparsity;
use crate::step::{Io, Step, Unknown, held, ranges};

/// J = ∂residual/∂z of every world, with its factors.
///
/// A column of J is a pushforward of the residual. Columns that share no row go together, and all directions of all
/// worlds are one batch on dual numbers: one forward pass gives all Jacobians.
pub struct Jacobians {
    sparsity: Sparsity,
    io: Io,
    unknown: Arc<Unknown>,
    duals: Workspace<Dual<f64>>,
    symbolic: SymbolicLu<usize>,
    numeric: Vec<NumericLu<usize, f64>>,
    stack: MemBuffer,
    /// The most entries of a factor.
    most_in_factor: usize,
    entries: Vec<f64>,
    /// Numbers on their way into and out of the batch.
    numbers: Vec<Dual<f64>>,
    /// What the residual's directions are, row by row: worlds × directions × size.
    residuals: Vec<Dual<f64>>,
    worlds: usize,
}

/// What the residual depends on, value by value.
fn sparsity(program: &Program, unknown: &Unknown) -> Sparsity {
    let count = |&(buffer, len): &(BufferUse, usize)| len / buffer.numbers();
    let mut depends_on: Vec<Vec<u32>> = Vec::new();
    let mut numbers = Vec::new();
    for residual in &unknown.residual {
        let rows = depends_on.len();
        depends_on.resize(rows + count(residual), Vec::new());
        numbers.resize(depends_on.len(), residual.0.numbers());
        let mut first = 0;
        for z in &unknown.z {
            for (row, on) in depends_on[rows..].iter_mut().zip(program.dependence(residual.0, z.0)) {
                row.extend(on.into_iter().map(|value| first + value));
            }
            first += count(z) as u32;
        }
    }
    Sparsity::new(&depends_on, &numbers)
}

impl Jacobians {
    /// For an implicit step; none for an explicit one.
    pub fn new(step: &Step, worlds: usize) -> Option<Jacobians> {
        let unknown = step.io.implicit.clone()?;
        let sparsity = sparsity(&step.program, &unknown);
        let n = sparsity.size;
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &sparsity.starts, None, &sparsity.rows);
        let symbolic = factorize_symbolic_lu(pattern, LuSymbolicParams::default()).ok()?;
        let factorise = symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
        let solve = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let prepared = step.io.prepared.iter().map(|(_, len)| *len).max().unwrap_or(0);
        let most = [n, step.model().params_layout().len(), step.model().control_layout().len(), prepared, 1];
        let most_in_factor = sparsity.most_in_factor(symbolic.col_perm().arrays().0);
        Some(Jacobians {
            most_in_factor,
            duals: step.program.batch(worlds * sparsity.count, RunOptions::default()),
            stack: MemBuffer::new(factorise.or(solve)),
            numeric: (0..worlds).map(|_| NumericLu::new()).collect(),
            symbolic,
            entries: vec![0.0; sparsity.rows.len()],
            numbers: vec![Dual::default(); most.into_iter().max().unwrap_or(1)],
            residuals: vec![Dual::default(); sparsity.count * n],
            io: step.io.clone(),
            unknown,
            sparsity,
            worlds,
        })
    }

    /// The most bytes of memory that it takes, factors included, which come with the first step.
    pub fn bytes(&self) -> usize {
        let n = self.sparsity.size;
        // Of each factor, numbers and rows, in vectors that double; where they start, and the permutations.
        let factor = 2 * (self.most_in_factor + n) * (size_of::<f64>() + size_of::<usize>());
        let factors = self.worlds * (2 * factor + 4 * (n + 1) * size_of::<usize>());
        self.duals.bytes()
            + self.sparsity.bytes()
            + self.io.bytes()
            + held(&self.numeric)
            + held(&self.entries)
            + held(&self.numbers)
            + held(&self.residuals)
            + self.stack.len()
            // The permutation of columns, and its inverse.
            + 2 * n * size_of::<usize>()
            // A vector that doubles is there twice for a moment.
            + factor / 4
            + factors
    }

    fn write(&mut self, world: usize, buffer: BufferUse, values: &[f64]) -> Result<(), AccessError> {
        let numbers = &mut self.numbers[..values.len()];
        numbers.iter_mut().zip(values).for_each(|(to, from)| *to = Dual::new(*from, 0.0));
        for direction in 0..self.sparsity.count {
            let world = world * self.sparsity.count + direction;
            self.duals.write_numbers(world, buffer, &self.numbers[..values.len()])?;
        }
        Ok(())
    }

    /// Sets a flat vector of one world.
    fn write_all(
        &mut self,
        world: usize,
        of: fn(&Io) -> &Vec<(BufferUse, usize)>,
        values: &[f64],
    ) -> Result<(), AccessError> {
        let mut at = 0;
        for i in 0..of(&self.io).len() {
            let (buffer, len) = of(&self.io)[i];
            self.write(world, buffer, &values[at..at + len])?;
            at += len;
        }
        Ok(())
    }

    /// Sets the params of one world.
    pub fn set_params(&mut self, world: usize, params: &[f64]) -> Result<(), AccessError> {
        self.write_all(world, |io| &io.params, params)
    }

    /// Sets what was prepared from the params of one world.
    pub fn set_prepared(
        &mut self,
        world: usize,
        buffer: BufferUse,
        values: &[f64],
    ) -> Result<(), AccessError> {
        self.write(world, buffer, values)
    }

    /// Sets the control of one world.
    pub fn set_control(&mut self, world: usize, control: &[f64]) -> Result<(), AccessError> {
        self.write_all(world, |io| &io.control, control)
    }

    /// Sets the state at the start of the step, and the time, of one world.
    pub fn set_state(&mut self, world: usize, state: &[f64], time: f64) -> Result<(), AccessError> {
        self.write_all(world, |io| &io.state, state)?;
        self.write(world, self.io.time.into(), &[time])
    }

    /// Computes J at `z`, all worlds' one after the other, and factorises it for the worlds that are `wanted`. Says which
    /// world's cannot be.
    pub fn factorise(
        &mut self,
        z: &[f64],
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Result<(), usize>, AccessError> {
        let (n, count) = (self.sparsity.size, self.sparsity.count);
        for world in 0..self.worlds {
            for direction in 0..count {
                for j in 0..n {
                    let seed = if self.sparsity.direction_of[j] == direction { 1.0 } else { 0.0 };
                    self.numbers[j] = Dual::new(z[world * n + j], seed);
                }
                for (buffer, range) in ranges(&self.unknown.z) {
                    self.duals.write_numbers(world * count + direction, buffer, &self.numbers[range])?;
                }
            }
        }
        self.duals.forward();
        for world in (0..self.worlds).filter(|world| wanted(*world)) {
            for direction in 0..count {
                let to = &mut self.residuals[direction * n..(direction + 1) * n];
                for (buffer, range) in ranges(&self.unknown.residual) {
                    self.duals.read_numbers_into(world * count + direction, buffer, &mut to[range])?;
                }
            }
            let s = &self.sparsity;
            for (entry, (&row, &direction)) in self.entries.iter_mut().zip(s.rows.iter().zip(&s.directions)) {
                *entry = self.residuals[direction * n + row].tangent;
            }
            let pattern = SymbolicSparseColMatRef::new_checked(n, n, &s.starts, None, &s.rows);
            let matrix = SparseColMatRef::new(pattern, &self.entries);
            let stack = MemStack::new(&mut self.stack);
            let numeric = &mut self.numeric[world];
            let factors =
                self.symbolic.factorize_numeric_lu(numeric, matrix, Par::Seq, stack, Default::default());
            if factors.is_err() {
                return Ok(Err(world));
            }
        }
        Ok(Ok(()))
    }

    /// J⁻¹ b, in place.
    pub fn solve(&mut self, world: usize, b: &mut [f64]) {
        let factors = LuRef::new_unchecked(&self.symbolic, &self.numeric[world]);
        let n = b.len();
        let b = MatMut::from_column_major_slice_mut(b, n, 1);
        factors.solve_in_place_with_conj(Conj::No, b, Par::Seq, MemStack::new(&mut self.stack));
    }

    /// J⁻ᵀ b, in place, by the same factors.
    pub fn solve_transposed(&mut self, world: usize, b: &mut [f64]) {
        let factors = LuRef::new_unchecked(&self.symbolic, &self.numeric[world]);
        let n = b.len();
        let b = MatMut::from_column_major_slice_mut(b, n, 1);
        factors.solve_transpose_in_place_with_conj(Conj::No, b, Par::Seq, MemStack::new(&mut self.stack));
    }
}
