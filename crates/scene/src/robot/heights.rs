//! Heights over a grid: terrain.

use std::path::PathBuf;
use std::sync::Arc;

use super::Triangles;
use crate::error::Invalid;

/// Heights over a grid of points; all below them is solid.
///
/// Point (i, j) is at (i step_x, j step_y, height) of the shape's frame. Each cell is two triangles, cut from (i, j) to
/// (i + 1, j + 1).
#[derive(Clone, Debug, PartialEq)]
pub struct Heights {
    /// The file that they were read from, if any.
    pub file: Option<PathBuf>,
    /// Distances of neighbours along x and y [m].
    pub step: [f64; 2],
    /// How many points there are along x and y, two or more of each.
    pub count: [usize; 2],
    /// Heights [m]: those along x for the first y, then for the next.
    pub values: Arc<Vec<f64>>,
}

impl Heights {
    /// Heights [m] in rows along x, one for each y, with steps along x and y [m].
    ///
    /// # Errors
    ///
    /// When rows differ in length, or there are fewer than two rows or columns.
    pub fn new(rows: &[Vec<f64>], step: [f64; 2]) -> Result<Self, Invalid> {
        let columns = rows.first().map_or(0, Vec::len);
        if let Some(at) = rows.iter().position(|row| row.len() != columns) {
            let what = format!("row {at} has {} heights, and row 0 has {columns}", rows[at].len());
            return Err(Invalid::new(format!("values[{at}]"), what, "give every row as many"));
        }
        if rows.len() < 2 || columns < 2 {
            let what = format!("there are {columns} x {} heights", rows.len());
            return Err(Invalid::new("values", what, "give two or more rows, with two or more heights each"));
        }
        Ok(Self { file: None, step, count: [columns, rows.len()], values: Arc::new(rows.concat()) })
    }

    /// The surface, with the corners in the order of [`Heights::values`].
    pub fn triangles(&self) -> Triangles {
        let [columns, rows] = self.count;
        let [dx, dy] = self.step;
        let corner = |at: usize| [(at % columns) as f64 * dx, (at / columns) as f64 * dy, self.values[at]];
        let cell = |at: usize| {
            let [a, b] = [at as u32, at as u32 + 1];
            let [c, d] = [a + columns as u32, b + columns as u32];
            // Anticlockwise when seen from above.
            [[a, b, d], [a, d, c]]
        };
        let cells = (0..rows - 1).flat_map(|j| (0..columns - 1).map(move |i| j * columns + i));
        Triangles {
            vertices: (0..columns * rows).map(corner).collect(),
            faces: cells.flat_map(cell).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plane z = 1 + 2 x - 3 y: all normals are along (-2, 3, 1), and the area is that of the grid times √14.
    #[test]
    fn triangles_of_a_slope() {
        let step = [0.5, 0.25];
        let height = |i: usize, j: usize| 1.0 + 2.0 * 0.5 * i as f64 - 3.0 * 0.25 * j as f64;
        let rows: Vec<Vec<f64>> = (0..3).map(|j| (0..4).map(|i| height(i, j)).collect()).collect();
        let heights = Heights::new(&rows, step).expect("a good grid");
        assert_eq!(heights.count, [4, 3]);
        let Triangles { vertices, faces } = heights.triangles();
        assert_eq!((vertices.len(), faces.len()), (12, 12));
        assert_eq!(vertices[6], [1.0, 0.25, 1.0 + 2.0 - 0.75]);
        let mut area = 0.0;
        for face in faces {
            let [a, b, c] = face.map(|at| vertices[at as usize]);
            let [u, v]: [[f64; 3]; 2] = [b, c].map(|it| std::array::from_fn(|k| it[k] - a[k]));
            let normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
            assert!(normal[2] > 0.0, "its outside is above");
            assert_eq!([normal[0] / normal[2], normal[1] / normal[2]], [-2.0, 3.0]);
            area += 0.5 * normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        }
        assert!((area - 1.5 * 0.5 * 14f64.sqrt()).abs() < 1e-12, "{area}");
    }

    #[test]
    fn grids_that_are_none() {
        for (rows, path) in [
            (vec![], "values"),
            (vec![vec![0.0; 3]], "values"),
            (vec![vec![0.0]; 3], "values"),
            (vec![vec![0.0; 3], vec![0.0; 2]], "values[1]"),
        ] {
            assert_eq!(Heights::new(&rows, [1.0; 2]).expect_err("it is none").path, path);
        }
    }
}
