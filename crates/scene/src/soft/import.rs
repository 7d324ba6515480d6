//! Meshes from files.

use std::path::Path;

use super::mesh::{SheetMesh, SolidMesh};
use crate::error::Error;
use crate::robot::{Triangles, mesh};

impl From<Triangles> for SheetMesh {
    fn from(Triangles { vertices, faces }: Triangles) -> Self {
        Self { points: vertices, elements: faces }
    }
}

impl From<SheetMesh> for Triangles {
    fn from(SheetMesh { points, elements }: SheetMesh) -> Self {
        Self { vertices: points, faces: elements }
    }
}

impl SheetMesh {
    /// Reads what a mesh file holds; its name says what it is, as for [`Triangles::parse`]: `.obj`, `.stl` or `.msh`.
    ///
    /// Triangles are those of the file in their order, less any that have a corner twice; polygons are cut from their first
    /// corner. Points are in the order in which the triangles name them first. Corners of an STL are merged where they are
    /// exactly equal; [`welded`](Self::welded) merges those that are near.
    ///
    /// # Errors
    ///
    /// When it is not of that kind, is damaged, has no triangles or too many, or has numbers that are not finite.
    pub fn parse(bytes: &[u8], file: impl AsRef<Path>) -> Result<Self, Error> {
        Triangles::parse(bytes, file).map(Self::from)
    }
}

impl SolidMesh {
    /// Reads the tetrahedra of a `.msh` file of Gmsh, version 2.2 or 4.1 as text, in their order; of elements of higher order
    /// the corners. Points that no tetrahedron has are left out.
    ///
    /// They are wound as the file has them: [`fixed_winding`](Self::fixed_winding) mends inverted ones.
    ///
    /// # Errors
    ///
    /// When it is of another kind, is damaged, has no tetrahedra or too many, or has numbers that are not finite.
    pub fn parse(bytes: &[u8], file: impl AsRef<Path>) -> Result<Self, Error> {
        mesh::solid(bytes, file.as_ref()).map(Self::tidied)
    }
}
