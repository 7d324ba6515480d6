//! [`Heights`]: ground as heights over a grid.

use std::sync::Arc;

use pullback_kernel::prelude::*;

use crate::topology::Topology;
use crate::{Bounds, SurfaceError};

/// Heights over the corners of a regular grid, with solid ground below: corner (i, j), number i + j columns, is at i and j
/// spacings along x and y, about the middle of the grid. Each cell is two triangles, which meet along the line from its
/// first corner to its last. The heights are its sizes, which start as [`Heights::heights`].
#[derive(Clone, Debug)]
pub struct Heights {
    columns: usize,
    rows: usize,
    spacing: [f64; 2],
    heights: Vec<f64>,
    pub(crate) topology: Arc<Topology>,
    pub(crate) bounds: Bounds,
}

impl Heights {
    /// Heights [m] in rows along x of so many each, at these spacings [m].
    pub fn new(heights: &[f64], columns: usize, spacing: [f64; 2]) -> Result<Heights, SurfaceError> {
        let rows = heights.len() / columns.max(1);
        let positive = |s: f64| s > 0.0 && s.is_finite();
        let whole = rows * columns == heights.len();
        if columns < 2 || rows < 2 || !whole || !positive(spacing[0]) || !positive(spacing[1]) {
            return Err(SurfaceError::NoCell { heights: heights.len(), columns });
        }
        if let Some(i) = heights.iter().position(|z| !z.is_finite()) {
            return Err(SurfaceError::NotFinite(i));
        }
        let mut triangles = Vec::with_capacity(2 * (columns - 1) * (rows - 1));
        for j in 0..rows - 1 {
            for i in 0..columns - 1 {
                let corner = |i: usize, j: usize| (i + j * columns) as u32;
                let (a, b, c, d) = (corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1));
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        let topology = Topology::polygons(columns * rows, triangles.iter().map(|t| &t[..]));
        let (heights, topology) = (heights.to_vec(), Arc::new(topology));
        let mut grid = Heights { columns, rows, spacing, heights, topology, bounds: Bounds::NONE };
        grid.bounds = Bounds::of((0..grid.heights.len()).map(|i| {
            let [x, y] = grid.place(i);
            Vec3 { x, y, z: grid.heights[i] }
        }));
        Ok(grid)
    }

    /// The sizes that it starts with [m].
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    /// Where a corner is over the grid [m].
    #[inline(always)]
    pub(crate) fn place(&self, i: usize) -> [f64; 2] {
        [
            ((i % self.columns) as f64 - 0.5 * (self.columns - 1) as f64) * self.spacing[0],
            ((i / self.columns) as f64 - 0.5 * (self.rows - 1) as f64) * self.spacing[1],
        ]
    }

    /// Calls `visit` with the number of every triangle over or under these bounds.
    pub(crate) fn each(&self, bounds: &Bounds, visit: &mut impl FnMut(u32)) {
        let range = |k: usize, count: usize| {
            let cell = |x: f64| x / self.spacing[k] + 0.5 * (count - 1) as f64;
            // Beyond the grid both ends are at its last cell, or before its first.
            let low = cell(bounds.low[k]).floor().max(0.0);
            let high = cell(bounds.high[k]).floor().min((count - 2) as f64);
            if low <= high { (low as usize, high as usize + 1) } else { (0, 0) }
        };
        let ((i0, i1), (j0, j1)) = (range(0, self.columns), range(1, self.rows));
        for j in j0..j1 {
            for i in i0..i1 {
                let cell = (i + j * (self.columns - 1)) as u32;
                visit(2 * cell);
                visit(2 * cell + 1);
            }
        }
    }
}
