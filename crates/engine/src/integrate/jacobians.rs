//! The linear algebra of implicit steps: sparse Jacobians from pullbacks, factorised once for forward and transposed solves.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{AccessError, BufferUse};

use super::cholesky::Cholesky;
use super::factors::{Factors, Lu};
use super::sparsity::Sparsity;
use crate::step::{Io, Step, Unknown, held, ranges};
use crate::stepper::Parts;

/// So many roundings of its terms are nothing.
const ROUNDINGS: f64 = 4.0;

/// J = ∂residual/∂z of every world, with its factors.
///
/// A row of J is a pullback of the residual, and rows that share no column go together: as many pullbacks as there are colours, each of
/// all worlds.
pub struct Jacobians {
    /// Of Jᵀ: its columns are rows of J.
    sparsity: Sparsity,
    io: Io,
    unknown: Arc<Unknown>,
    rows: Workspace<f64>,
    factors: Factors,
    /// The entries of one world's J after the other's.
    entries: Vec<f64>,
    /// Numbers on their way into and out of the workspace.
    numbers: Vec<f64>,
    worlds: usize,
}

/// Which values of the residual depend on each value of the unknown.
fn sparsity(program: &Program, unknown: &Unknown) -> Sparsity {
    let count = |&(buffer, len): &(BufferUse, usize)| len / buffer.numbers();
    let mut felt_by: Vec<Vec<u32>> = vec![Vec::new(); unknown.z.iter().map(count).sum()];
    let (mut numbers, mut row) = (Vec::new(), 0);
    for residual in &unknown.residual {
        let mut first = 0;
        for z in &unknown.z {
            for (i, on) in program.dependence(residual.0, z.0).into_iter().enumerate() {
                on.into_iter().for_each(|value| felt_by[first + value as usize].push(row + i as u32));
            }
            first += count(z);
        }
        row += count(residual) as u32;
        numbers.resize(row as usize, residual.0.numbers());
    }
    Sparsity::new(&felt_by, &numbers)
}

impl Jacobians {
    /// For an implicit step; none for an explicit one.
    pub fn new(step: &Step, worlds: usize) -> Option<Jacobians> {
        let unknown = step.io.implicit.clone()?;
        let sparsity = sparsity(&step.program, &unknown);
        let symmetric = step.io.mass.and_then(|_| Cholesky::new(&sparsity, worlds));
        let factors = match symmetric {
            Some(cholesky) => Factors::Cholesky(Box::new(cholesky)),
            None => Factors::Lu(Lu::new(&sparsity, worlds)?),
        };
        let options = RunOptions::default();
        let next = step.io.next.iter().map(|(_, len)| *len).max().unwrap_or(0);
        Some(Jacobians {
            rows: if worlds == 1 {
                step.program.workspace(options)
            } else {
                step.program.batch(worlds, options)
            },
            entries: vec![0.0; worlds * sparsity.rows.len()],
            numbers: vec![0.0; sparsity.size.max(next)],
            io: step.io.clone(),
            factors,
            unknown,
            sparsity,
            worlds,
        })
    }

    /// The most bytes of memory that it takes, factors included, which come with the first step.
    pub fn bytes(&self) -> usize {
        let factors = match &self.factors {
            Factors::Lu(lu) => lu.bytes(self.sparsity.size),
            Factors::Cholesky(cholesky) => size_of::<Cholesky>() + cholesky.bytes(),
        };
        self.rows.bytes()
            + self.sparsity.bytes()
            + self.io.bytes()
            + held(&self.entries)
            + held(&self.numbers)
            + factors
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
            self.rows.write_numbers(world, buffer, &values[at..at + len])?;
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
        self.rows.write_numbers(world, buffer, values)
    }

    /// Sets the control of one world.
    pub fn set_control(&mut self, world: usize, control: &[f64]) -> Result<(), AccessError> {
        self.write_all(world, |io| &io.control, control)
    }

    /// Sets the state at the start of the step, and the time, of one world.
    pub fn set_state(&mut self, world: usize, state: &[f64], time: f64) -> Result<(), AccessError> {
        self.write_all(world, |io| &io.state, state)?;
        self.rows.write_numbers(world, self.io.time, &[time])
    }

    /// Computes J at `z`, all worlds' one after the other, and factorises it for the worlds that are `wanted`. Says which
    /// world's cannot be.
    pub fn factorise(
        &mut self,
        z: &[f64],
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Result<(), usize>, AccessError> {
        let n = self.sparsity.size;
        for (world, z) in z.chunks_exact(n).enumerate() {
            for (buffer, range) in ranges(&self.unknown.z) {
                self.rows.write_numbers(world, buffer, &z[range])?;
            }
        }
        self.rows.forward();
        for direction in 0..self.sparsity.count {
            self.pull_rows(direction)?;
        }
        for world in (0..self.worlds).filter(|world| wanted(*world)) {
            let count = self.sparsity.rows.len();
            let entries = &self.entries[world * count..(world + 1) * count];
            let made = match &mut self.factors {
                Factors::Lu(lu) => lu.factorise(&self.sparsity, world, entries),
                Factors::Cholesky(cholesky) => {
                    if let Some(mass) = self.io.mass {
                        let numbers = &mut self.numbers[..n / 3];
                        self.rows.read_numbers_into(world, mass, numbers)?;
                        let masses = cholesky.masses(world).chunks_exact_mut(3);
                        masses.zip(numbers).for_each(|(to, mass)| to.fill(*mass));
                    }
                    cholesky.factorise(&self.sparsity, world, entries)
                }
            };
            if !made {
                return Ok(Err(world));
            }
        }
        Ok(Ok(()))
    }

    /// The rows of one direction, of all worlds.
    fn pull_rows(&mut self, direction: usize) -> Result<(), AccessError> {
        let (n, s) = (self.sparsity.size, &self.sparsity);
        for world in 0..self.worlds {
            // What the last pullback left there.
            self.numbers.fill(0.0);
            for &(buffer, len) in &self.io.next {
                self.rows.seed_numbers(world, buffer, &self.numbers[..len])?;
            }
            for (seed, of) in self.numbers.iter_mut().zip(&s.direction_of) {
                *seed = if *of == direction { 1.0 } else { 0.0 };
            }
            for (buffer, range) in ranges(&self.unknown.residual) {
                self.rows.seed_numbers(world, buffer, &self.numbers[range])?;
            }
        }
        self.rows.pullback();
        for world in 0..self.worlds {
            for (buffer, range) in ranges(&self.unknown.z) {
                self.rows.bar_numbers_into(world, buffer, &mut self.numbers[range])?;
            }
            let entries = &mut self.entries[world * s.rows.len()..(world + 1) * s.rows.len()];
            for i in (0..n).filter(|&i| s.direction_of[i] == direction) {
                (s.starts[i]..s.starts[i + 1]).for_each(|k| entries[k] = self.numbers[s.rows[k]]);
            }
        }
        Ok(())
    }

    /// The cotangents of all worlds' unknowns, one after the other, from those of the states that the step ends with: where J was computed.
    pub fn pull_next<S: Parts>(&mut self, state_bar: &[S], z_bar: &mut [f64]) -> Result<(), AccessError> {
        let n = self.sparsity.size;
        for (world, bars) in state_bar.chunks_exact(state_bar.len() / self.worlds).enumerate() {
            for (buffer, range) in ranges(&self.io.next) {
                let numbers = &mut self.numbers[..range.len()];
                numbers.iter_mut().zip(&bars[range]).for_each(|(to, bar)| *to = bar.value());
                self.rows.seed_numbers(world, buffer, numbers)?;
            }
            self.numbers.fill(0.0);
            for (buffer, range) in ranges(&self.unknown.residual) {
                self.rows.seed_numbers(world, buffer, &self.numbers[range])?;
            }
        }
        self.rows.pullback();
        for (world, bars) in z_bar.chunks_exact_mut(n).enumerate() {
            for (buffer, range) in ranges(&self.unknown.z) {
                self.rows.bar_numbers_into(world, buffer, &mut bars[range])?;
            }
        }
        Ok(())
    }

    /// A step downhill instead of J⁻¹ b, in place, where J is not positive and factors can tell; J⁻¹ b otherwise. Is it found?
    pub fn descend(&mut self, world: usize, b: &mut [f64]) -> bool {
        match &mut self.factors {
            Factors::Lu(_) => self.solve(world, b),
            Factors::Cholesky(cholesky) => cholesky.descend(&self.sparsity, world, b),
        }
    }

    /// J⁻¹ b, in place. Is it found?
    pub fn solve(&mut self, world: usize, b: &mut [f64]) -> bool {
        match &mut self.factors {
            Factors::Lu(lu) => lu.solve(world, b),
            Factors::Cholesky(cholesky) => return cholesky.solve(&self.sparsity, world, b, false),
        }
        true
    }

    /// J⁻ᵀ b, in place, by the same factors. Is it found?
    pub fn solve_transposed(&mut self, world: usize, b: &mut [f64]) -> bool {
        match &mut self.factors {
            Factors::Lu(lu) => lu.solve_transposed(world, b),
            Factors::Cholesky(cholesky) => return cholesky.solve(&self.sparsity, world, b, true),
        }
        true
    }

    /// Is what is left of the equation of particles the rounding of their forces? Row i of r is a sum of ∂r_i/∂z_j (x_j/h + z_j), as
    /// far as it is linear, and each term is as good as its numbers are: |r_i| ≤ c ε Σ_j |J_ij| (|x_j|/h + |z_j|). At rest that is all
    /// there is, however stiff or slow things are.
    pub fn is_rounding<S: Parts>(&self, world: usize, [x, z, residual]: [&[S]; 3], h: f64) -> bool {
        if !matches!(self.factors, Factors::Cholesky(_)) {
            return false;
        }
        let s = &self.sparsity;
        let entries = &self.entries[world * s.rows.len()..(world + 1) * s.rows.len()];
        let size = |j: usize| x[j].value().abs() / h + z[j].value().abs();
        (0..s.size).all(|i| {
            let terms = (s.starts[i]..s.starts[i + 1]).map(|k| entries[k].abs() * size(s.rows[k]));
            residual[i].value().abs() <= ROUNDINGS * S::EPSILON * terms.sum::<f64>()
        })
    }

    /// How fast what forces do less of falls along a step, m r·d, where the residual is the gradient of something but for masses.
    pub fn slope(&self, world: usize, residual: impl Iterator<Item = f64>, step: &[f64]) -> Option<f64> {
        match &self.factors {
            Factors::Lu(_) => None,
            Factors::Cholesky(cholesky) => Some(cholesky.slope(world, residual, step)),
        }
    }
}
