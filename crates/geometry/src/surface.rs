//! [`Surface`]: ground of triangles.

use std::sync::Arc;

use pullback_kernel::prelude::*;

use crate::Bounds;
use crate::topology::Topology;
use crate::tree::Tree;

/// Triangles with solid ground behind them: which corners they join. Where the corners are is in its sizes, which start as
/// [`Surface::corners`].
///
/// Triangles near a shape are found by where the corners were when the surface was made, and by how far the farthest has moved
/// since along each axis: corners that move up and down cost little, those that move far aside make more triangles be looked at.
#[derive(Clone, Debug)]
pub struct Surface {
    corners: Vec<f64>,
    pub(crate) topology: Arc<Topology>,
    pub(crate) tree: Tree,
}

/// Why there is no surface.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurfaceError {
    /// A coordinate or a height is not finite.
    #[error("corner {0} of the surface is not finite: give it finite coordinates")]
    NotFinite(usize),
    /// A triangle names a corner that is not there.
    #[error("triangle {triangle} names corner {corner}, but there are {corners} corners, counted from 0")]
    NoSuchCorner {
        /// Which triangle.
        triangle: usize,
        /// What it names.
        corner: u32,
        /// How many there are.
        corners: usize,
    },
    /// A triangle has no area.
    #[error("triangle {0} has no area: give it three corners that are not in a line")]
    NoArea(usize),
    /// There are too few corners.
    #[error(
        "{heights} heights in rows of {columns} make no grid: give at least two whole rows of at least two, with a spacing \
         above 0"
    )]
    NoCell {
        /// How many there are.
        heights: usize,
        /// How many of them along x.
        columns: usize,
    },
}

impl Surface {
    /// Triangles of these corners [m], counter-clockwise from outside, where shapes are. Triangles that share an edge
    /// have to share its corners, not copies of them.
    pub fn new(corners: &[Vec3], triangles: &[[u32; 3]]) -> Result<Surface, SurfaceError> {
        if let Some(i) = corners.iter().position(|p| ![p.x, p.y, p.z].iter().all(|x| x.is_finite())) {
            return Err(SurfaceError::NotFinite(i));
        }
        for (i, triangle) in triangles.iter().enumerate() {
            if let Some(&corner) = triangle.iter().find(|&&corner| corner as usize >= corners.len()) {
                return Err(SurfaceError::NoSuchCorner { triangle: i, corner, corners: corners.len() });
            }
            let [a, b, c] = triangle.map(|corner| corners[corner as usize]);
            if length(cross(b - a, c - a)) == 0.0 {
                return Err(SurfaceError::NoArea(i));
            }
        }
        let boxes: Vec<Bounds> = triangles
            .iter()
            .map(|triangle| Bounds::of(triangle.iter().map(|&corner| corners[corner as usize])))
            .collect();
        let tree = Tree::new(&boxes);
        let topology = Topology::polygons(corners.len(), triangles.iter().map(|t| &t[..]));
        let corners = corners.iter().flat_map(|p| [p.x, p.y, p.z]).collect();
        Ok(Surface { corners, topology: Arc::new(topology), tree })
    }

    /// The coordinates of its corners, three each [m]: the sizes that it starts with.
    pub fn corners(&self) -> &[f64] {
        &self.corners
    }
}
