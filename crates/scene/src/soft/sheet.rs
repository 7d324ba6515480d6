//! Sheets of cells that are cut into triangles.

use super::mesh::SheetMesh;
use super::size;
use crate::error::Invalid;

/// Which diagonals the cells of a sheet are cut along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagonals {
    /// Every second cell along the other one, so that neither diagonal is preferred. Sheets of square cells then resist twist about twice as
    /// much as a plate; with [`Diagonals::One`] they twist as one.
    #[default]
    Alternating,
    /// All along the same, from the least corner to the greatest.
    One,
}

/// A cell, its corners anticlockwise, cut from its first corner to its third, or the other way.
pub(super) fn halves([a, b, c, d]: [u32; 4], other: bool) -> [[u32; 3]; 2] {
    if other { [[a, b, d], [b, c, d]] } else { [[a, b, c], [a, c, d]] }
}

impl SheetMesh {
    /// A sheet in the x-y plane about the origin, its front up along z, with sides along x and y [m], of nx · ny cells.
    ///
    /// It has (nx + 1) (ny + 1) points and 2 nx ny triangles, both with x fastest.
    ///
    /// # Errors
    ///
    /// When a side is not above zero, a number of cells is 0, or there are more than 10,000,000 points or triangles.
    pub fn sheet(sides: [f64; 2], cells: [usize; 2], diagonals: Diagonals) -> Result<Self, Invalid> {
        size::lengths([("sides[0]", sides[0]), ("sides[1]", sides[1])])?;
        size::cells("cells", &cells)?;
        let [nx, ny] = cells;
        let mut elements = Vec::with_capacity(size::product("cells", "triangles", &[2, nx, ny])?);
        let mut points = Vec::with_capacity(size::product("cells", "points", &[nx + 1, ny + 1])?);
        let along = |axis: usize, at: usize| sides[axis] * (at as f64 / cells[axis] as f64 - 0.5);
        for j in 0..=ny {
            points.extend((0..=nx).map(|i| [along(0, i), along(1, j), 0.0]));
        }
        for j in 0..ny {
            for i in 0..nx {
                let at = |i: usize, j: usize| (i + (nx + 1) * j) as u32;
                let other = match diagonals {
                    Diagonals::Alternating => (i + j) % 2 == 1,
                    Diagonals::One => false,
                };
                elements.extend(halves([at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)], other));
            }
        }
        Ok(Self { points, elements })
    }
}
