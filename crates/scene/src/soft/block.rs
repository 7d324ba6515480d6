//! Blocks and beams of cells that are cut into tetrahedra.

use super::mesh::SolidMesh;
use super::size;
use crate::error::Invalid;

/// How each cell of a block is cut; faces of neighbours agree either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// Into six tetrahedra of equal volume along one diagonal (Kuhn 1960). All cells are cut alike.
    #[default]
    Six,
    /// Into one large and four small tetrahedra; every second cell is mirrored.
    Five,
}

/// Corners of a cell are numbered by bits: 1 for x, 2 for y, 4 for z. Each of the six goes from corner 0 to corner 7 along
/// the axes, in one of their orders.
const SIX: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 3, 2, 7], [0, 6, 4, 7], [0, 5, 1, 7]];

/// The large one has the corners with an even number of bits.
const FIVE: [[usize; 4]; 5] = [[0, 5, 3, 6], [1, 3, 0, 5], [2, 0, 3, 6], [4, 6, 5, 0], [7, 5, 6, 3]];

/// The tetrahedra of a cell with these corners, cut into six.
fn six(corners: [u32; 8]) -> [[u32; 4]; 6] {
    SIX.map(|tetrahedron| tetrahedron.map(|at| corners[at]))
}

/// The tetrahedra of a cell with these corners, cut into five, mirrored in x where it is odd.
fn five(corners: [u32; 8], odd: bool) -> [[u32; 4]; 5] {
    FIVE.map(|[a, b, c, d]| {
        if odd { [a ^ 1, c ^ 1, b ^ 1, d ^ 1] } else { [a, b, c, d] }.map(|at| corners[at])
    })
}

impl SolidMesh {
    /// A block about the origin with sides along x, y and z [m], of nx · ny · nz cells, each cut into six tetrahedra.
    ///
    /// It has (nx + 1) (ny + 1) (nz + 1) points and 6 nx ny nz tetrahedra, both with x fastest and z slowest.
    ///
    /// # Errors
    ///
    /// When a side is not above zero, a number of cells is 0, or there are more than 10,000,000 points or tetrahedra.
    pub fn block(sides: [f64; 3], cells: [usize; 3]) -> Result<Self, Invalid> {
        Self::block_cut(sides, cells, Cut::Six)
    }

    /// A [`block`](Self::block) whose cells are cut otherwise: into five, it has 5 nx ny nz tetrahedra.
    ///
    /// # Errors
    ///
    /// As for a [`block`](Self::block).
    pub fn block_cut(sides: [f64; 3], cells: [usize; 3], cut: Cut) -> Result<Self, Invalid> {
        let [x, y, z] = sides;
        size::lengths([("sides[0]", x), ("sides[1]", y), ("sides[2]", z)])?;
        size::cells("cells", &cells)?;
        let each = match cut {
            Cut::Six => 6,
            Cut::Five => 5,
        };
        let [nx, ny, nz] = cells;
        let count = size::product("cells", "tetrahedra", &[each, nx, ny, nz])?;
        let [px, py, pz] = cells.map(|count| count + 1);
        let mut points = Vec::with_capacity(size::product("cells", "points", &[px, py, pz])?);
        let along = |axis: usize, at: usize| sides[axis] * (at as f64 / cells[axis] as f64 - 0.5);
        for k in 0..pz {
            for j in 0..py {
                points.extend((0..px).map(|i| [along(0, i), along(1, j), along(2, k)]));
            }
        }
        let mut elements = Vec::with_capacity(count);
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let corners = std::array::from_fn(|bits| {
                        let (i, j, k) = (i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2));
                        (i + px * (j + py * k)) as u32
                    });
                    match cut {
                        Cut::Six => elements.extend(six(corners)),
                        Cut::Five => elements.extend(five(corners, (i + j + k) % 2 == 1)),
                    }
                }
            }
        }
        Ok(Self { points, elements })
    }

    /// A beam along x from the origin to its length [m], with its width along y and its height along z [m] about the x
    /// axis, of cells along each. Counts and order are those of a [`block`](Self::block).
    ///
    /// # Errors
    ///
    /// As for a [`block`](Self::block).
    pub fn beam(length: f64, width: f64, height: f64, cells: [usize; 3]) -> Result<Self, Invalid> {
        Self::beam_cut([length, width, height], cells, Cut::Six)
    }

    /// A [`beam`](Self::beam) of this length, width and height [m] whose cells are cut otherwise.
    ///
    /// # Errors
    ///
    /// As for a [`block`](Self::block).
    pub fn beam_cut(sides: [f64; 3], cells: [usize; 3], cut: Cut) -> Result<Self, Invalid> {
        let [length, width, height] = sides;
        size::lengths([("length", length), ("width", width), ("height", height)])?;
        let mut beam = Self::block_cut(sides, cells, cut)?;
        // Not moved: so that the end is at 0 to the last bit.
        let along = cells[0] + 1;
        for (at, point) in beam.points.iter_mut().enumerate() {
            point[0] = length * ((at % along) as f64 / cells[0] as f64);
        }
        Ok(beam)
    }
}
