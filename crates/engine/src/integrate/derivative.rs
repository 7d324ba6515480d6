//! The sparse derivative of some buffers of a program by others, from few passes.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{AccessError, BufferUse};

use super::sparsity::{Passes, Sparsity};
use crate::step::{held, ranges};

/// Buffers that make up a vector, and how many numbers each has.
pub type Uses = Vec<(BufferUse, usize)>;

/// ∂outputs/∂inputs of every world.
///
/// A row is a pullback, and rows that share no column go together: as many pullbacks as there are colours, each of all worlds. Columns that
/// almost every row has, of a body that many particles can touch, would keep rows apart: each is a tangent.
pub struct Derivative {
    sparsity: Sparsity,
    passes: Passes,
    outputs: Uses,
    inputs: Uses,
    /// Other outputs of the program.
    others: Uses,
    rows: Workspace<f64>,
    columns: Option<Workspace<Dual<f64>>>,
    /// Of each tangent: the row and the place of each entry.
    places: Vec<Vec<(usize, usize)>>,
    /// Which columns are tangents.
    is_tangent: Vec<bool>,
    worlds: usize,
    /// The entries of one world's after the other's.
    entries: Vec<f64>,
    /// Numbers on their way into and out of workspaces.
    numbers: Vec<f64>,
    duals: Vec<Dual<f64>>,
}

/// Which values of inputs each value of the outputs depends on.
fn dependence(program: &Program, outputs: &Uses, inputs: &Uses) -> Vec<Vec<u32>> {
    let mut depends_on = Vec::new();
    for &(output, len) in outputs {
        let mut first = 0;
        let start = depends_on.len();
        depends_on.resize(start + len / output.numbers(), Vec::new());
        for &(input, len) in inputs {
            for (on, values) in depends_on[start..].iter_mut().zip(program.dependence(output, input)) {
                on.extend(values.into_iter().map(|value| first + value));
            }
            first += (len / input.numbers()) as u32;
        }
    }
    depends_on
}

/// How many numbers each value has.
fn numbers(uses: &Uses) -> Vec<usize> {
    let of =
        |&(buffer, len): &(BufferUse, usize)| std::iter::repeat_n(buffer.numbers(), len / buffer.numbers());
    uses.iter().flat_map(of).collect()
}

fn workspace<S: pullback_kernel::program::Scalar>(
    program: &Program,
    worlds: usize,
    run: RunOptions,
) -> Workspace<S> {
    match worlds {
        1 => program.workspace(run),
        n => program.batch(n, run),
    }
}

impl Derivative {
    /// Of a program that has no outputs but these and `others`.
    pub fn new(
        program: &Program,
        [outputs, inputs, others]: [Uses; 3],
        worlds: usize,
        run: RunOptions,
    ) -> Derivative {
        let depends_on = dependence(program, &outputs, &inputs);
        let (rows, columns) = (numbers(&outputs), numbers(&inputs));
        let sparsity = Sparsity::new(&depends_on, [&rows, &columns]);
        let passes = Passes::new(&depends_on, [&rows, &columns]);
        let mut is_tangent = vec![false; columns.iter().sum()];
        passes.tangents.iter().for_each(|&j| is_tangent[j] = true);
        let places = passes
            .tangents
            .iter()
            .map(|&j| (0..sparsity.size()).filter_map(|i| Some((i, sparsity.find(i, j)?))).collect());
        let longest = others.iter().chain(&outputs).chain(&inputs).map(|(_, len)| *len).max().unwrap_or(0);
        let most = longest.max(sparsity.size()).max(is_tangent.len());
        let with_tangents = !passes.tangents.is_empty();
        Derivative {
            places: places.collect(),
            rows: workspace(program, worlds, run),
            columns: with_tangents.then(|| workspace(program, worlds, run)),
            entries: vec![0.0; worlds * sparsity.columns.len()],
            numbers: vec![0.0; most],
            duals: vec![Dual::default(); if with_tangents { most } else { 0 }],
            sparsity,
            passes,
            outputs,
            inputs,
            others,
            is_tangent,
            worlds,
        }
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.rows.bytes()
            + self.columns.as_ref().map_or(0, Workspace::bytes)
            + self.sparsity.bytes()
            + self.passes.bytes()
            + self.places.iter().map(held).sum::<usize>()
            + held(&self.places)
            + held(&self.is_tangent)
            + held(&self.entries)
            + held(&self.numbers)
            + held(&self.duals)
            + held(&self.outputs)
            + held(&self.inputs)
            + held(&self.others)
    }

    /// Places of entries.
    pub fn sparsity(&self) -> &Sparsity {
        &self.sparsity
    }

    /// The entries of one world's.
    pub fn entries(&self, world: usize) -> &[f64] {
        let count = self.sparsity.columns.len();
        &self.entries[world * count..(world + 1) * count]
    }

    /// Sets a buffer of one world.
    pub fn write(&mut self, world: usize, buffer: BufferUse, values: &[f64]) -> Result<(), AccessError> {
        self.rows.write_numbers(world, buffer, values)?;
        let Some(columns) = &mut self.columns else { return Ok(()) };
        self.duals.clear();
        self.duals.extend(values.iter().map(|&value| Dual { value, tangent: 0.0 }));
        columns.write_numbers(world, buffer, &self.duals)
    }

    /// The numbers of a buffer in one world.
    pub fn read(&self, world: usize, buffer: BufferUse, to: &mut [f64]) -> Result<(), AccessError> {
        self.rows.read_numbers_into(world, buffer, to)
    }

    /// Makes the outputs alone, where the inputs are.
    pub fn forward(&mut self) {
        self.rows.forward();
    }

    /// Makes all entries, where the inputs are.
    pub fn compute(&mut self) -> Result<(), AccessError> {
        self.forward();
        (0..self.passes.pullbacks).try_for_each(|pass| self.pull_rows(pass))?;
        (0..self.passes.tangents.len()).try_for_each(|k| self.push_column(k))
    }

    /// The rows of one pullback, of all worlds.
    fn pull_rows(&mut self, pass: usize) -> Result<(), AccessError> {
        let (s, rows) = (&self.sparsity, self.sparsity.size());
        for world in 0..self.worlds {
            // What the last pullback left there.
            self.numbers.fill(0.0);
            for &(buffer, len) in &self.others {
                self.rows.seed_numbers(world, buffer, &self.numbers[..len])?;
            }
            for (seed, of) in self.numbers.iter_mut().zip(&self.passes.of_row) {
                *seed = if *of == pass { 1.0 } else { 0.0 };
            }
            for (buffer, range) in ranges(&self.outputs) {
                self.rows.seed_numbers(world, buffer, &self.numbers[range])?;
            }
        }
        self.rows.pullback();
        for world in 0..self.worlds {
            for (buffer, range) in ranges(&self.inputs) {
                self.rows.bar_numbers_into(world, buffer, &mut self.numbers[range])?;
            }
            let entries = &mut self.entries[world * s.columns.len()..(world + 1) * s.columns.len()];
            for i in (0..rows).filter(|&i| self.passes.of_row[i] == pass) {
                for k in s.row(i).filter(|&k| !self.is_tangent[s.columns[k]]) {
                    entries[k] = self.numbers[s.columns[k]];
                }
            }
        }
        Ok(())
    }

    /// The column of one tangent, of all worlds.
    fn push_column(&mut self, k: usize) -> Result<(), AccessError> {
        let Some(columns) = &mut self.columns else { return Ok(()) };
        let (column, count) = (self.passes.tangents[k], self.sparsity.columns.len());
        let input = ranges(&self.inputs).find(|(_, range)| range.contains(&column));
        let Some((input, range)) = input else { return Ok(()) };
        self.duals.resize(range.len(), Dual::default());
        for world in 0..self.worlds {
            columns.read_numbers_into(world, input, &mut self.duals)?;
            self.duals[column - range.start].tangent = 1.0;
            columns.write_numbers(world, input, &self.duals)?;
        }
        columns.forward();
        for world in 0..self.worlds {
            columns.read_numbers_into(world, input, &mut self.duals)?;
            self.duals[column - range.start].tangent = 0.0;
            columns.write_numbers(world, input, &self.duals)?;
        }
        for world in 0..self.worlds {
            let entries = &mut self.entries[world * count..(world + 1) * count];
            let mut places = self.places[k].iter().peekable();
            for (buffer, range) in ranges(&self.outputs) {
                self.duals.resize(range.len(), Dual::default());
                columns.read_numbers_into(world, buffer, &mut self.duals)?;
                while let Some((row, place)) = places.next_if(|(row, _)| *row < range.end) {
                    entries[*place] = self.duals[row - range.start].tangent;
                }
            }
        }
        Ok(())
    }

    /// The cotangents of the first inputs of all worlds, one world after the other, from those of `others`: `bar` of their numbers, likewise.
    pub fn pull_others(&mut self, bar: impl Fn(usize) -> f64, to: &mut [f64]) -> Result<(), AccessError> {
        let len: usize = self.others.iter().map(|(_, len)| len).sum();
        for world in 0..self.worlds {
            for (buffer, range) in ranges(&self.others) {
                let numbers = &mut self.numbers[..range.len()];
                numbers.iter_mut().zip(range).for_each(|(to, i)| *to = bar(world * len + i));
                self.rows.seed_numbers(world, buffer, numbers)?;
            }
            self.numbers.fill(0.0);
            for (buffer, range) in ranges(&self.outputs) {
                self.rows.seed_numbers(world, buffer, &self.numbers[range])?;
            }
        }
        self.rows.pullback();
        for (world, bars) in to.chunks_exact_mut((to.len() / self.worlds).max(1)).enumerate() {
            let len = bars.len();
            for (buffer, range) in ranges(&self.inputs).filter(|(_, range)| range.end <= len) {
                self.rows.bar_numbers_into(world, buffer, &mut bars[range])?;
            }
        }
        Ok(())
    }
}
