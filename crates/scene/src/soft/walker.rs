//! A walker in a plane.

use super::mesh::SheetMesh;
use super::sheet::halves;
use super::size;
use crate::error::Invalid;

/// Cells across and up, of which the body has all above its legs.
const WIDE: usize = 9;
const HIGH: usize = 8;
/// Cells of each leg, at both ends.
const LEG_WIDE: usize = 2;
const LEG_HIGH: usize = 4;

/// Whether a cell is of the body or a leg.
fn solid(i: usize, k: usize) -> bool {
    k >= LEG_HIGH || !(LEG_WIDE..WIDE - LEG_WIDE).contains(&i)
}

impl SheetMesh {
    /// A body on two legs in the x-z plane, of square cells with this side [m], each cut into two triangles.
    ///
    /// It has 74 points and 104 triangles: a body of 9 · 4 cells on legs of 2 · 4 at both its ends. Its feet stand on z = 0,
    /// and x = 0 is in its middle. Seen with x to the right and z up its triangles go anticlockwise: the front is along -y.
    /// Points and cells are in rows from the feet up, with x fastest.
    ///
    /// # Errors
    ///
    /// When the side is not above zero.
    pub fn walker(side: f64) -> Result<Self, Invalid> {
        size::lengths([("side", side)])?;
        let mut number = [[u32::MAX; WIDE + 1]; HIGH + 1];
        let mut points = Vec::new();
        for (k, row) in number.iter_mut().enumerate() {
            for (i, number) in row.iter_mut().enumerate() {
                let touches = |i: usize, k: usize| i < WIDE && k < HIGH && solid(i, k);
                let around = [
                    (i, k),
                    (i.wrapping_sub(1), k),
                    (i, k.wrapping_sub(1)),
                    (i.wrapping_sub(1), k.wrapping_sub(1)),
                ];
                if around.iter().any(|&(i, k)| touches(i, k)) {
                    *number = points.len() as u32;
                    points.push([side * (i as f64 - 0.5 * WIDE as f64), 0.0, side * k as f64]);
                }
            }
        }
        let mut elements = Vec::new();
        for k in 0..HIGH {
            for i in (0..WIDE).filter(|&i| solid(i, k)) {
                let corners = [number[k][i], number[k][i + 1], number[k + 1][i + 1], number[k + 1][i]];
                elements.extend(halves(corners, (i + k) % 2 == 1));
            }
        }
        Ok(Self { points, elements })
    }
}
