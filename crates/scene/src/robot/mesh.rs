//! Meshes: surfaces of triangles from OBJ, STL and MSH files, and the solids that they enclose.

mod msh;
mod obj;
mod stl;
mod tokens;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::Files;
use super::{Inertial, Triangles, inertial};
use crate::error::{Error, Invalid, Position};
use crate::soft::SolidMesh;
use crate::source::Unread;
use crate::vector::{cross, dot, minus};
use crate::words;

/// Most corners, and most triangles, of a mesh.
const MOST: usize = 10_000_000;

/// The endings of mesh files that are read.
const ENDINGS: [&str; 3] = ["obj", "stl", "msh"];

const DAMAGED: &str = "the file is damaged: write it again";

/// How large the sum of all area vectors may be, compared with the area: that of a closed surface is zero.
const OPEN: f64 = 1e-3;

impl Triangles {
    /// Reads what a mesh file holds; its name says what it is: `.obj`, `.stl` (binary or text), or `.msh` (Gmsh 2.2 and
    /// 4.1 as text, and MuJoCo's own binary).
    ///
    /// Polygons are cut into triangles from their first corner. Triangles without area and corners without triangles are
    /// left out. Of a `.msh` with tetrahedra it is their boundary.
    ///
    /// # Errors
    ///
    /// When it is not of that kind, is damaged, has no triangles or too many, or has numbers that are not finite.
    pub fn parse(bytes: &[u8], file: impl AsRef<Path>) -> Result<Self, Error> {
        let file = file.as_ref();
        let kind = ending(file)?;
        let read = not_empty(bytes).and_then(|()| match kind {
            "obj" => obj::read(bytes),
            "stl" => stl::read(bytes),
            _ => msh::read(bytes),
        });
        read.and_then(Self::tidied).map_err(|unread| unread.of(&file.display().to_string()))
    }

    /// Stretched along x, y and z. A mirrored surface is turned inside out again.
    pub fn scaled(&self, scale: [f64; 3]) -> Self {
        let mirrored = scale.iter().product::<f64>() < 0.0;
        Self {
            vertices: self.vertices.iter().map(|v| std::array::from_fn(|i| scale[i] * v[i])).collect(),
            faces: self.faces.iter().map(|&[a, b, c]| if mirrored { [a, c, b] } else { [a, b, c] }).collect(),
        }
    }

    /// Mass, centre and inertia of what the surface encloses, filled with a density [kg/m³].
    ///
    /// Exact: the sum over the signed tetrahedra that the triangles span with a point. Of one with corners 0, a, b and c,
    /// and d = a · (b × c):  volume d / 6,  ∫ x = d (a + b + c) / 24,  and with s = a + b + c
    /// ∫ x xᵀ = d (s sᵀ + a aᵀ + b bᵀ + c cᵀ) / 120  (Eberly, Polyhedral Mass Properties; Mirtich 1996).
    ///
    /// # Errors
    ///
    /// When the surface is open, or inside out.
    pub fn inertial(&self, density: f64) -> Result<Inertial, Invalid> {
        let count = self.vertices.len().max(1) as f64;
        // Near the mesh, so that little cancels.
        let origin: [f64; 3] =
            std::array::from_fn(|i| self.vertices.iter().map(|v| v[i]).sum::<f64>() / count);
        let (mut volume, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
        let (mut area, mut area_vector) = (0.0, [0.0; 3]);
        for face in &self.faces {
            let [a, b, c] = face.map(|at| {
                let vertex = self.vertices[at as usize];
                std::array::from_fn(|i| vertex[i] - origin[i])
            });
            let normal = cross(minus(b, a), minus(c, a));
            area += dot(normal, normal).sqrt();
            let d = dot(a, cross(b, c));
            volume += d / 6.0;
            for i in 0..3 {
                area_vector[i] += normal[i];
                let s_i = a[i] + b[i] + c[i];
                first[i] += d * s_i / 24.0;
                for j in 0..3 {
                    let s_j = a[j] + b[j] + c[j];
                    second[i][j] += d * (s_i * s_j + a[i] * a[j] + b[i] * b[j] + c[i] * c[j]) / 120.0;
                }
            }
        }
        let invalid = |what: &str, fix: &str| Err(Invalid::new("", what, fix));
        if dot(area_vector, area_vector).sqrt() > OPEN * area {
            return invalid(
                "the surface is open: it encloses no volume",
                "close its holes, or give mass and inertia",
            );
        }
        if volume.is_nan() || volume <= 0.0 || volume.is_infinite() {
            let fix =
                "turn its triangles round (anticlockwise when seen from outside), or give mass and inertia";
            return invalid("the surface is flat or inside out: it encloses no volume", fix);
        }
        // About the origin, I = ∫ (|x|² 1 - x xᵀ); then about the centre, by Steiner.
        let trace = second[0][0] + second[1][1] + second[2][2];
        let about_origin: [[f64; 3]; 3] =
            std::array::from_fn(|i| std::array::from_fn(|j| if i == j { trace } else { 0.0 } - second[i][j]));
        let from_origin = first.map(|x| x / volume);
        let shift = Inertial::point(volume, from_origin).about([0.0; 3]);
        let six = inertial::six(&about_origin);
        Ok(Inertial {
            mass: density * volume,
            center: std::array::from_fn(|i| origin[i] + from_origin[i]),
            inertia: std::array::from_fn(|i| density * (six[i] - shift[i])),
        })
    }

    /// Without faces that have no area by their corners, and without corners that no face has.
    fn tidied(mut self) -> Result<Self, Unread> {
        let count = self.vertices.len();
        if let Some(wrong) = self.faces.iter().flatten().find(|&&at| at as usize >= count) {
            let what = format!("a face has the corner {wrong} (from 0), and there are {count}");
            return Err(Unread::new(what, DAMAGED));
        }
        self.faces.retain(|&[a, b, c]| a != b && b != c && c != a);
        if self.faces.is_empty() {
            return Err(Unread::new(
                "the file has no triangles",
                "write it with its faces, or check its name",
            ));
        }
        let mut new_of = vec![u32::MAX; count];
        let mut kept = Vec::new();
        for at in self.faces.iter_mut().flatten() {
            let new = &mut new_of[*at as usize];
            if *new == u32::MAX {
                *new = kept.len() as u32;
                kept.push(self.vertices[*at as usize]);
            }
            *at = *new;
        }
        self.vertices = kept;
        Ok(self)
    }

    /// Adds a polygon as a fan of triangles.
    fn fan(&mut self, corners: &[u32], line: usize) -> Result<(), Unread> {
        for pair in corners.windows(2).skip(1) {
            if self.faces.len() == MOST {
                return Err(too_many(line));
            }
            self.faces.push([corners[0], pair[0], pair[1]]);
        }
        Ok(())
    }

    /// Adds a corner.
    fn corner(&mut self, corner: [f64; 3], line: usize) -> Result<u32, Unread> {
        if !corner.iter().all(|x| x.is_finite()) {
            return Err(not_finite(corner, line));
        }
        if self.vertices.len() == MOST {
            return Err(too_many(line));
        }
        self.vertices.push(corner);
        Ok(self.vertices.len() as u32 - 1)
    }
}

/// All points, and the tetrahedra, of a `.msh` file of Gmsh.
pub(crate) fn solid(bytes: &[u8], file: &Path) -> Result<SolidMesh, Error> {
    let read = if ending(file)? == "msh" {
        not_empty(bytes).and_then(|()| msh::solid(bytes))
    } else {
        let fix = "use a `.msh` of Gmsh with tetrahedra, or fill the surface: `mesh = { fill = \"FILE\", cell = 0.05 }`, `SolidMesh::filled` in code";
        Err(Unread::new("only `.msh` files have tetrahedra", fix))
    };
    let sound = read.and_then(|solid| {
        if solid.elements.is_empty() {
            let fix = "mesh its volume too: `gmsh -3`; or fill its surface: `mesh = { fill = \"FILE\", cell = 0.05 }`, `SolidMesh::filled` in code";
            return Err(Unread::new("the file has no tetrahedra", fix));
        }
        Ok(solid)
    });
    sound.map_err(|unread| unread.of(&file.display().to_string()))
}

/// Which of the endings that are read a file has.
pub(crate) fn ending(file: &Path) -> Result<&'static str, Error> {
    let found = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    ENDINGS.iter().copied().find(|ending| *ending == found).ok_or_else(|| {
        let what = match found.as_str() {
            "" => "the mesh has no ending that says what it is".into(),
            _ => format!("meshes of the kind {} are not supported", words::quoted(&format!(".{found}"))),
        };
        Unread::new(what, "convert it to OBJ or STL").of(&file.display().to_string())
    })
}

/// Meshes that were read already: robots use many of theirs several times.
#[derive(Debug, Default)]
pub(crate) struct Meshes {
    read: HashMap<(PathBuf, [u64; 3]), Arc<Triangles>>,
}

impl Meshes {
    /// The triangles of a file that [`Files::find`] returned, stretched. Errors are those of the mesh's file.
    pub fn get(&mut self, files: &mut Files, path: &Path, scale: [f64; 3]) -> Result<Arc<Triangles>, Error> {
        let key = (path.to_owned(), scale.map(f64::to_bits));
        if let Some(known) = self.read.get(&key) {
            return Ok(Arc::clone(known));
        }
        let shown = files.shown(path);
        ending(&shown)?;
        let bytes = files.bytes(path).map_err(|unread| unread.of(&shown.display().to_string()))?;
        let triangles = Triangles::parse(&bytes, &shown)?.scaled(scale);
        if !triangles.vertices.iter().flatten().all(|x| x.is_finite()) {
            let unread = Unread::new("a corner is too far away once it is scaled", "use a smaller scale");
            return Err(unread.of(&shown.display().to_string()));
        }
        let triangles = Arc::new(triangles);
        self.read.insert(key, Arc::clone(&triangles));
        Ok(triangles)
    }
}

/// An error in a line of a mesh; of a binary file, which has none, in line 0.
fn wrong(line: usize, what: impl Into<String>, fix: &str) -> Unread {
    let position = (line > 0).then_some(Position { line, column: 1 });
    Unread { position, what: what.into(), fix: fix.into() }
}

fn not_empty(bytes: &[u8]) -> Result<(), Unread> {
    match bytes.is_empty() {
        true => Err(Unread::new("the file is empty", "write the mesh again")),
        false => Ok(()),
    }
}

fn not_finite([x, y, z]: [f64; 3], line: usize) -> Unread {
    wrong(line, format!("the corner [{x}, {y}, {z}] is not finite"), DAMAGED)
}

fn too_many(line: usize) -> Unread {
    wrong(line, format!("the mesh has more than {MOST} corners or triangles"), "use a coarser mesh")
}
