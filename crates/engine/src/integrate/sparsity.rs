//! Which columns of a sparse Jacobian can be computed together (Curtis, Powell & Reid 1974), and how large its factors can be.

use crate::step::held;

/// Where a Jacobian of blocks is not zero, by columns, and which columns share no row.
#[derive(Clone, Debug)]
pub struct Sparsity {
    /// How many rows and columns.
    pub size: usize,
    /// Column j has the entries `starts[j]..starts[j + 1]`.
    pub starts: Vec<usize>,
    /// The row of each entry.
    pub rows: Vec<usize>,
    /// The direction in which each entry is seen.
    pub directions: Vec<usize>,
    /// The direction of each column: those of one direction share no row.
    pub direction_of: Vec<usize>,
    /// How many directions.
    pub count: usize,
}

impl Sparsity {
    /// From the values that each value of the residual depends on, and how many numbers each value has: the residual's as
    /// many as the unknown's.
    pub fn new(depends_on: &[Vec<u32>], numbers: &[usize]) -> Sparsity {
        let n = depends_on.len();
        let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (i, columns) in depends_on.iter().enumerate() {
            columns.iter().for_each(|&j| rows_of[j as usize].push(i));
        }
        let colours = colour(depends_on, &rows_of);
        // Where each value starts, and each colour's directions: as many as the longest value of the colour has numbers.
        let mut first = vec![0];
        numbers.iter().for_each(|count| first.push(first[first.len() - 1] + count));
        let mut longest = vec![0; colours.iter().map(|c| c + 1).max().unwrap_or(0)];
        (0..n).for_each(|j| longest[colours[j]] = numbers[j].max(longest[colours[j]]));
        let mut first_direction = vec![0];
        longest
            .iter()
            .for_each(|count| first_direction.push(first_direction[first_direction.len() - 1] + count));
        let mut sparsity = Sparsity {
            size: first[n],
            starts: vec![0],
            rows: Vec::new(),
            directions: Vec::new(),
            direction_of: Vec::new(),
            count: first_direction[longest.len()],
        };
        for j in 0..n {
            for c in 0..numbers[j] {
                let direction = first_direction[colours[j]] + c;
                sparsity.direction_of.push(direction);
                for &i in &rows_of[j] {
                    sparsity.rows.extend(first[i]..first[i + 1]);
                    sparsity.directions.extend(std::iter::repeat_n(direction, numbers[i]));
                }
                sparsity.starts.push(sparsity.rows.len());
            }
        }
        sparsity
    }

    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        held(&self.starts) + held(&self.rows) + held(&self.directions) + held(&self.direction_of)
    }

    /// The most entries that a triangular factor of the matrix can have with its columns in this order, whichever rows are
    /// the pivots (George & Ng 1987): of the rows that begin with a column one is the pivot, and the others get all columns of
    /// all of them.
    pub fn most_in_factor(&self, order: &[usize]) -> usize {
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); self.size];
        for (place, &column) in order.iter().enumerate() {
            self.rows[self.starts[column]..self.starts[column + 1]].iter().for_each(|&i| rows[i].push(place));
        }
        // By their first column: the columns of some rows, and how many rows they are.
        let mut beginning: Vec<Vec<(Vec<usize>, usize)>> = vec![Vec::new(); self.size];
        for row in rows.into_iter().filter(|row| !row.is_empty()) {
            beginning[row[0]].push((row, 1));
        }
        let (mut upper, mut lower) = (0, 0);
        for place in 0..self.size {
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

/// The least colour for each column that no column with a row in common has, first come, first served.
fn colour(depends_on: &[Vec<u32>], rows_of: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut colours = vec![NONE; rows_of.len()];
    // By which column a colour was last seen to be taken.
    let mut taken: Vec<usize> = Vec::new();
    for j in 0..rows_of.len() {
        for &i in &rows_of[j] {
            for &k in &depends_on[i] {
                let colour = colours[k as usize];
                if colour != NONE {
                    taken[colour] = j;
                }
            }
        }
        let free = taken.iter().position(|&by| by != j);
        colours[j] = free.unwrap_or(taken.len());
        if free.is_none() {
            taken.push(NONE);
        }
    }
    colours
}
