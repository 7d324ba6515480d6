//! Which contacts of an island feel which: the places of the blocks of its matrices, row by row.

use std::ops::Range;

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;

/// Rows of blocks; columns of a row go up, and where (i, j) is, (j, i) is too.
pub(crate) trait Pattern: Copy {
    /// How many rows.
    fn len(self) -> usize;
    /// The entries of a row.
    fn row(self, i: usize) -> Range<usize>;
    /// The column of an entry in row `i`.
    fn column(self, i: usize, entry: usize) -> usize;
    /// The entry (i, i).
    fn diagonal(self, i: usize) -> usize;
    /// The entry (i, j), which is there.
    fn entry(self, i: usize, j: usize) -> usize;
    /// Row `i` less a factor times what row `k` has right of its diagonal, as far as row `i` has entries there; `entry` is
    /// (i, k), with k < i.
    fn eliminate<L: Lane>(self, i: usize, k: usize, entry: usize, factor: Mat3<L>, blocks: &mut [Mat3<L>]);
}

/// Every contact feels every other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dense {
    pub n: usize,
}

impl Pattern for Dense {
    #[inline(always)]
    fn len(self) -> usize {
        self.n
    }
    #[inline(always)]
    fn row(self, i: usize) -> Range<usize> {
        i * self.n..(i + 1) * self.n
    }
    #[inline(always)]
    fn column(self, i: usize, entry: usize) -> usize {
        entry - i * self.n
    }
    #[inline(always)]
    fn diagonal(self, i: usize) -> usize {
        i * self.n + i
    }
    #[inline(always)]
    fn entry(self, i: usize, j: usize) -> usize {
        i * self.n + j
    }
    #[inline(always)]
    fn eliminate<L: Lane>(self, i: usize, k: usize, _: usize, factor: Mat3<L>, blocks: &mut [Mat3<L>]) {
        let n = self.n;
        let (above, below) = blocks.split_at_mut(i * n);
        let pivot = &above[k * n + k + 1..(k + 1) * n];
        for (to, from) in below[k + 1..n].iter_mut().zip(pivot) {
            *to = *to - factor * *from;
        }
    }
}

/// Contacts feel those that touch the same trees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sparse<'a> {
    /// Where the entries of rows begin among all, and where those of the last end.
    pub starts: &'a [u32],
    pub diagonals: &'a [u32],
    /// The columns of all entries.
    pub columns: &'a [u32],
}

impl Pattern for Sparse<'_> {
    #[inline(always)]
    fn len(self) -> usize {
        self.diagonals.len()
    }
    #[inline(always)]
    fn row(self, i: usize) -> Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }
    #[inline(always)]
    fn column(self, _: usize, entry: usize) -> usize {
        self.columns[entry] as usize
    }
    #[inline(always)]
    fn diagonal(self, i: usize) -> usize {
        self.diagonals[i] as usize
    }
    #[inline(always)]
    fn entry(self, i: usize, j: usize) -> usize {
        let Range { mut start, mut end } = self.row(i);
        while end - start > 1 {
            let middle = start + (end - start) / 2;
            if self.columns[middle] as usize <= j {
                start = middle;
            } else {
                end = middle;
            }
        }
        start
    }
    #[inline(always)]
    fn eliminate<L: Lane>(self, i: usize, k: usize, entry: usize, factor: Mat3<L>, blocks: &mut [Mat3<L>]) {
        let (mut at, end) = (entry + 1, self.row(i).end);
        for from in self.diagonal(k) + 1..self.row(k).end {
            let column = self.columns[from];
            while at < end && self.columns[at] < column {
                at += 1;
            }
            if at == end {
                break;
            }
            if self.columns[at] == column {
                blocks[at] = blocks[at] - factor * blocks[from];
            }
        }
    }
}
