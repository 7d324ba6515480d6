//! [`Heights`]: ground as heights over a grid.

use std::sync::Arc;

use crate::topology::Topology;

/// Heights over the corners of a regular grid, with solid ground below: corner (i, j), number i + j `columns`, is at
/// x = i spacing, y = j spacing about the middle of the grid. Each cell is two triangles. The heights are its sizes.
#[derive(Clone, Debug)]
pub struct Heights {
    columns: usize,
    rows: usize,
    spacing: [f64; 2],
    pub(crate) topology: Arc<Topology>,
}

impl Heights {
    /// Where a corner is over the grid [m].
    #[inline(always)]
    pub(crate) fn place(&self, i: usize) -> [f64; 2] {
        let middle = |n: usize| 0.5 * (n.max(1) - 1) as f64;
        [
            ((i % self.columns) as f64 - middle(self.columns)) * self.spacing[0],
            ((i / self.columns) as f64 - middle(self.rows)) * self.spacing[1],
        ]
    }
}
