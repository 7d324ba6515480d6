//! Where a sparse matrix is not zero, which of its rows can be computed together (Curtis, Powell & Reid 1974), and how large its factors
//! can be.

use std::ops::Range;

use crate::step::held;

/// A column that more values feel than this is computed by a tangent, if that takes fewer passes: whatever two of them are, they could
/// not go together.
const MANY: usize = 64;

/// Places of entries, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sparsity {
    /// Row i has the entries `starts[i]..starts[i + 1]`.
    pub starts: Vec<usize>,
    /// The column of each entry, those of a row in order.
    pub columns: Vec<usize>,
}

/// Passes that make all entries: pullbacks, each of rows that share no column but those that tangents make; and tangents.
#[derive(Clone, Debug)]
pub struct Passes {
    /// In which pullback each row is.
    pub of_row: Vec<usize>,
    /// How many pullbacks.
    pub pullbacks: usize,
    /// The columns that have a tangent each.
    pub tangents: Vec<usize>,
}

/// Where the numbers of each value begin, and where the last end.
fn firsts(numbers: &[usize]) -> Vec<usize> {
    let mut first = vec![0];
    numbers.iter().for_each(|count| first.push(first[first.len() - 1] + count));
    first
}

impl Sparsity {
    /// From the values that each value depends on, in order; and how many numbers each value has, of rows and of columns.
    pub fn new(depends_on: &[Vec<u32>], [rows, columns]: [&[usize]; 2]) -> Sparsity {
        let first = firsts(columns);
        let mut sparsity = Sparsity { starts: vec![0], columns: Vec::new() };
        for (on, &count) in depends_on.iter().zip(rows) {
            for _ in 0..count {
                on.iter().for_each(|&j| {
                    sparsity.columns.extend(first[j as usize]..first[j as usize + 1]);
                });
                sparsity.starts.push(sparsity.columns.len());
            }
        }
        sparsity
    }

    /// From rows and columns of entries, in any order and any number of times.
    pub fn of_entries(rows: usize, mut entries: Vec<(u32, u32)>) -> Sparsity {
        entries.sort_unstable();
        entries.dedup();
        let mut starts = vec![0; rows + 1];
        entries.iter().for_each(|&(i, _)| starts[i as usize + 1] += 1);
        (0..rows).for_each(|i| starts[i + 1] += starts[i]);
        Sparsity { starts, columns: entries.into_iter().map(|(_, j)| j as usize).collect() }
    }

    /// How many rows.
    pub fn size(&self) -> usize {
        self.starts.len() - 1
    }

    /// The entries of a row.
    pub fn row(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// The entry in a row and a column, if there is one.
    pub fn find(&self, i: usize, j: usize) -> Option<usize> {
        self.columns[self.row(i)].binary_search(&j).ok().map(|k| self.starts[i] + k)
    }

    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        held(&self.starts) + held(&self.columns)
    }

    /// The most entries that a triangular factor of the transpose can have with its columns in this order, whichever rows are
    /// the pivots (George & Ng 1987): of the rows that begin with a column one is the pivot, and the others get all columns of
    /// all of them.
    pub fn most_in_factor(&self, order: &[usize]) -> usize {
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); self.size()];
        for (place, &column) in order.iter().enumerate() {
            self.columns[self.row(column)].iter().for_each(|&i| rows[i].push(place));
        }
        // By their first column: the columns of some rows, and how many rows they are.
        let mut beginning: Vec<Vec<(Vec<usize>, usize)>> = vec![Vec::new(); self.size()];
        for row in rows.into_iter().filter(|row| !row.is_empty()) {
            beginning[row[0]].push((row, 1));
        }
        let (mut upper, mut lower) = (0, 0);
        for place in 0..self.size() {
            let together = std::mem::take(&mut beginning[place]);
            let count: usize = together.iter().map(|(_, count)| count).sum();
            let mut columns: Vec<usize> = together.into_iter().flat_map(|(columns, _)| columns).collect();
            columns.sort_unstable();
            columns.dedup();
            (upper, lower) = (upper + columns.len(), lower + count);
            if count > 1 && columns.len() > 1 {
                beginning[columns[1]].push((columns.split_off(1), count - 1));
            }
        }
        upper.max(lower)
    }
}

impl Passes {
    /// Few of them, for the matrix of [`Sparsity::new`].
    pub fn new(depends_on: &[Vec<u32>], [rows, columns]: [&[usize]; 2]) -> Passes {
        let mut felt_by: Vec<Vec<u32>> = vec![Vec::new(); columns.len()];
        for (i, on) in depends_on.iter().enumerate() {
            on.iter().for_each(|&j| felt_by[j as usize].push(i as u32));
        }
        let mut apart: Vec<bool> = felt_by.iter().map(|rows| rows.len() > MANY).collect();
        let felt = |j: usize| felt_by[j].iter().map(|&i| rows[i as usize]).sum::<usize>();
        let least = (0..columns.len()).map(felt).max().unwrap_or(0);
        let mut passes = Passes::without(depends_on, &felt_by, [rows, columns], &apart);
        if passes.pullbacks + passes.tangents.len() > least {
            apart.fill(false);
            passes = Passes::without(depends_on, &felt_by, [rows, columns], &apart);
        }
        passes
    }

    /// Where values of columns are `apart`, they have tangents.
    fn without(
        depends_on: &[Vec<u32>],
        felt_by: &[Vec<u32>],
        [rows, columns]: [&[usize]; 2],
        apart: &[bool],
    ) -> Passes {
        let colours = colour(depends_on, felt_by, apart);
        // As many pullbacks for a colour as its longest value has numbers.
        let mut longest = vec![0; colours.iter().map(|c| c + 1).max().unwrap_or(0)];
        colours.iter().zip(rows).for_each(|(&c, &count)| longest[c] = count.max(longest[c]));
        let (first, columns) = (firsts(&longest), firsts(columns));
        let of_row = colours.iter().zip(rows).flat_map(|(&c, &count)| first[c]..first[c] + count).collect();
        let tangents = (0..apart.len()).filter(|&j| apart[j]).flat_map(|j| columns[j]..columns[j + 1]);
        Passes { of_row, pullbacks: first[longest.len()], tangents: tangents.collect() }
    }

    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        held(&self.of_row) + held(&self.tangents)
    }
}

/// The least colour for each row that no row with a column in common has, but for those that are `apart`; first come, first served.
fn colour(depends_on: &[Vec<u32>], felt_by: &[Vec<u32>], apart: &[bool]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut colours = vec![NONE; depends_on.len()];
    // By which row a colour was last seen to be taken.
    let mut taken: Vec<usize> = Vec::new();
    for i in 0..depends_on.len() {
        for &j in depends_on[i].iter().filter(|&&j| !apart[j as usize]) {
            for &k in &felt_by[j as usize] {
                let colour = colours[k as usize];
                if colour != NONE {
                    taken[colour] = i;
                }
            }
        }
        let free = taken.iter().position(|&by| by != i);
        colours[i] = free.unwrap_or(taken.len());
        if free.is_none() {
            taken.push(NONE);
        }
    }
    colours
}
