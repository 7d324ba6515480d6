//! Meshes of soft things: solids of tetrahedra, sheets of triangles, where they come from, and what they stand on.
//!
//! Both are plain data, points and elements. They are made by a generator ([`SolidMesh::beam`], [`SheetMesh::sheet`],
//! ...), read from a file ([`SolidMesh::parse`], [`SheetMesh::parse`]), or, for solids, fill a closed surface
//! ([`SolidMesh::filled`]). Points and elements are counted from 0, and every order is the same from call to call.
//!
//! ```
//! use pullback_scene::soft::{Diagonals, SheetMesh, SolidMesh};
//!
//! let beam = SolidMesh::beam(1.0, 0.1, 0.1, [10, 2, 2])?;
//! assert_eq!(beam.elements.len(), 6 * 10 * 2 * 2);
//! assert!((beam.volume() - 0.01).abs() < 1e-15);
//! // What is held fast: the end at x = 0.
//! assert_eq!(beam.points_near_plane([0.0; 3], [1.0, 0.0, 0.0], 1e-9)?.len(), 9);
//!
//! let ball = SolidMesh::filled(&SheetMesh::icosphere(0.5, 3)?, 0.1)?;
//! assert!(ball.check().is_ok());
//! assert!(ball.dihedral_angles()[0].to_degrees() > 10.7);
//!
//! let sheet = SheetMesh::sheet([1.0, 1.0], [8, 8], Diagonals::Alternating)?;
//! assert_eq!(sheet.hinges().len(), sheet.edges().len() - 4 * 8);
//! # Ok::<(), pullback_scene::Invalid>(())
//! ```

mod angles;
mod ball;
mod block;
mod check;
mod doubts;
mod edges;
mod facets;
mod fill;
mod gear;
mod import;
mod joined;
mod mesh;
mod sheet;
mod size;
mod surface;
mod walker;
mod winding;

pub use block::Cut;
pub use edges::Hinge;
pub use gear::Gear;
pub use mesh::{BoundingBox, Mesh, SheetMesh, SolidMesh};
pub use sheet::Diagonals;
pub use surface::Surface;
