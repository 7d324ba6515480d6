//! [`Surface`]: the triangles of soft things, with their edges and vertices.

use std::collections::HashMap;

/// The surfaces of all soft things together: triangles of particles, their edges and their vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    vertices: Vec<u32>,
    particles: usize,
}

/// Why triangles are no surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceError {
    /// A corner is no particle.
    #[error(
        "triangle {triangle} has a corner {corner}, but there are only {particles} particles: they are numbered from 0"
    )]
    NoParticle {
        /// Which triangle.
        triangle: usize,
        /// What it names.
        corner: u32,
        /// How many particles there are.
        particles: usize,
    },
    /// Two corners are the same particle.
    #[error("triangle {triangle} has the corner {corner} twice: name three particles")]
    SameCorner {
        /// Which triangle.
        triangle: usize,
        /// What it names twice.
        corner: u32,
    },
    /// More edges than indices that every number is exact for.
    #[error("there are {edges} edges, and 16777216 at most can be told apart: take a coarser mesh")]
    TooMany {
        /// How many.
        edges: usize,
    },
}

/// Whole numbers up to this are exact in single precision.
const MOST: usize = 1 << 24;

impl Surface {
    /// Of triangles, each three of so many particles. Edges are in the order in which triangles name them first, with the smaller
    /// number first; vertices are in the order of their numbers.
    pub fn new(triangles: Vec<[u32; 3]>, particles: usize) -> Result<Surface, SurfaceError> {
        let mut edges: Vec<[u32; 2]> = Vec::new();
        let mut known = HashMap::new();
        let mut vertices: Vec<u32> = Vec::new();
        for (triangle, corners) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (corner, next) = (corners[k], corners[(k + 1) % 3]);
                if corner as usize >= particles {
                    return Err(SurfaceError::NoParticle { triangle, corner, particles });
                }
                if corner == next {
                    return Err(SurfaceError::SameCorner { triangle, corner });
                }
                let edge = [corner.min(next), corner.max(next)];
                known.entry(edge).or_insert_with(|| edges.push(edge));
                vertices.push(corner);
            }
        }
        if edges.len() > MOST {
            return Err(SurfaceError::TooMany { edges: edges.len() });
        }
        vertices.sort_unstable();
        vertices.dedup();
        Ok(Surface { triangles, edges, vertices, particles })
    }

    /// Three particles each.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Two particles each.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// The particles that triangles have as corners.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// How many particles there are, also those that no triangle has.
    pub fn particles(&self) -> usize {
        self.particles
    }

    /// The particles of a vertex and a triangle, by their places; none where the vertex is one of its corners.
    #[inline]
    pub(crate) fn vertex_and_triangle(&self, vertex: u32, triangle: u32) -> Option<[u32; 4]> {
        let (p, [a, b, c]) = (self.vertices[vertex as usize], self.triangles[triangle as usize]);
        if p == a || p == b || p == c { None } else { Some([p, a, b, c]) }
    }

    /// The particles of two edges, by their places; none where they share one.
    #[inline]
    pub(crate) fn two_edges(&self, first: u32, second: u32) -> Option<[u32; 4]> {
        let ([a, b], [c, d]) = (self.edges[first as usize], self.edges[second as usize]);
        if a == c || a == d || b == c || b == d { None } else { Some([a, b, c, d]) }
    }
}
