//! Kinds of shapes from what files say of them.

use std::collections::HashMap;
use std::sync::Arc;

use pullback_geometry::{Heights, Hull, Kind, Surface};
use pullback_kernel::prelude::*;
use pullback_scene::robot::{self, Geometry, Triangles};

/// The convex hull of a mesh, or why there is none.
pub(crate) fn hull(triangles: &Triangles) -> Result<Kind, String> {
    let points: Vec<Vec3> = triangles.vertices.iter().map(|[x, y, z]| vec3(*x, *y, *z)).collect();
    let hull = Hull::new(&points).map_err(|error| error.to_string())?;
    Ok(Kind::Hull(Arc::new(hull)))
}

/// A mesh as ground: its triangles share corners that are at one point, and those without an area are left out.
pub(crate) fn surface(triangles: &Triangles) -> Result<Kind, String> {
    let mut corners: Vec<Vec3> = Vec::new();
    let mut known = HashMap::new();
    let mut weld = |&[x, y, z]: &[f64; 3]| {
        // -0 and 0 are one point.
        let key = [x, y, z].map(|x| (x + 0.0).to_bits());
        *known.entry(key).or_insert_with(|| {
            corners.push(vec3(x, y, z));
            corners.len() as u32 - 1
        })
    };
    let welded: Vec<u32> = triangles.vertices.iter().map(&mut weld).collect();
    let faces = triangles.faces.iter().map(|face| face.map(|corner| welded[corner as usize]));
    let has_area = |face: &[u32; 3]| {
        let [a, b, c] = face.map(|corner| corners[corner as usize]);
        length(cross(b - a, c - a)) > 0.0
    };
    let faces: Vec<[u32; 3]> = faces.filter(has_area).collect();
    if faces.is_empty() {
        return Err("its triangles have no area".to_owned());
    }
    let surface = Surface::new(&corners, &faces).map_err(|error| error.to_string())?;
    Ok(Kind::Surface(Arc::new(surface)))
}

/// Heights over a grid.
pub(crate) fn heights(heights: &robot::Heights) -> Result<Kind, String> {
    let grid =
        Heights::new(&heights.values, heights.count[0], heights.step).map_err(|error| error.to_string())?;
    Ok(Kind::Heights(Arc::new(grid)))
}

/// Where the middle of a shape is, in its frame: heights begin at a corner.
pub(crate) fn middle(geometry: &Geometry) -> Pose {
    let mut middle = vec3(0.0, 0.0, 0.0);
    if let Geometry::Heights(heights) = geometry {
        let half = |axis: usize| 0.5 * (heights.count[axis] - 1) as f64 * heights.step[axis];
        middle = vec3(half(0), half(1), 0.0);
    }
    Pose { rotation: identity(), position: middle }
}
