//! `[[shapes]]`: shapes of the world, and the files of meshes and heights that they name.

use super::Fault;
use super::data;
use super::files::{SceneFiles, elsewhere};
use super::node::{Keys, Node, Table};
use super::shape;
use crate::error::Invalid;
use crate::material::Material;
use crate::robot::{Geometry, Heights, MeshShape, Meshes, Shape};
use crate::source::Source;

const KEYS: Keys = &[
    ("name", "name = \"ramp\""),
    ("shape", "shape = { plane = true }"),
    ("position", "position = [0, 0, 1]"),
    ("orientation", "orientation = [1, 0, 0, 0]"),
    ("material", "material = \"rubber\""),
    ("friction", "friction = 0.5"),
    ("collides", "collides = true"),
    ("corner_params", "corner_params = true"),
    ("color", "color = [1, 0, 0, 1]"),
];

/// What shapes of bodies can be, and what only shapes of the world can.
const GEOMETRY_KEYS: Keys = &[
    ("box", "box = [0.1, 0.1, 0.1]"),
    ("sphere", "sphere = 0.1"),
    ("capsule", "capsule = { radius = 0.1, half_length = 0.3 }"),
    ("cylinder", "cylinder = { radius = 0.1, half_length = 0.3 }"),
    ("ellipsoid", "ellipsoid = [0.1, 0.2, 0.3]"),
    ("plane", "plane = true"),
    ("mesh", "mesh = \"hill.obj\""),
    ("heights", "heights = { file = \"terrain.csv\", step = [1, 1] }"),
];

const MESH_KEYS: Keys = &[("file", "file = \"hill.obj\""), ("scale", "scale = [1, 1, 1]")];

const HEIGHTS_KEYS: Keys =
    &[("file", "file = \"terrain.csv\""), ("values", "values = [[0, 0], [0, 1]]"), ("step", "step = [1, 1]")];

/// Reads all shapes of the world.
pub(super) fn all(root: &Table<'_>, materials: &[Material], source: &Source) -> Result<Vec<Shape>, Fault> {
    let mut reader = Reader { files: SceneFiles::new(source), meshes: Meshes::default() };
    root.sections("shapes", |node| reader.shape(node, materials))
}

struct Reader<'s> {
    files: SceneFiles<'s>,
    meshes: Meshes,
}

impl Reader<'_> {
    fn shape(&mut self, node: &Node<'_>, materials: &[Material]) -> Result<Shape, Fault> {
        let table = node.table(KEYS)?;
        let name = table.name()?;
        let geometry = self.geometry(&table.need("shape")?)?;
        Ok(Shape {
            name,
            placement: shape::placement(&table)?,
            corner_params: table.optional("corner_params", |it| it.yes())?.unwrap_or(false),
            ..shape::look(&table, geometry, materials)?
        })
    }

    fn geometry(&mut self, node: &Node<'_>) -> Result<Geometry, Fault> {
        let table = node.table(GEOMETRY_KEYS)?;
        let kinds = ["box", "sphere", "capsule", "cylinder", "ellipsoid", "plane", "mesh", "heights"];
        match table.need_one_of(&kinds)? {
            "plane" => plane(&table.need("plane")?).map_err(Fault::Here),
            "mesh" => self.mesh(&table.need("mesh")?),
            "heights" => self.heights(&table.need("heights")?),
            _ => shape::geometry(node).map_err(Fault::Here),
        }
    }

    /// A file, or a file that is stretched.
    fn mesh(&mut self, node: &Node<'_>) -> Result<Geometry, Fault> {
        let usual = [1.0; 3];
        if node.is_text() {
            return self.triangles(node, usual);
        }
        if !node.is_table() {
            return Err(node.wrong("the name of a file, or a table,").into());
        }
        let table = node.table(MESH_KEYS)?;
        let scale = table.optional("scale", |it| it.vector())?.unwrap_or(usual);
        if scale.contains(&0.0) {
            let what = "a mesh of no thickness touches nothing";
            return Err(table.invalid("scale", what, "write three numbers other than 0").into());
        }
        self.triangles(&table.need("file")?, scale)
    }

    fn triangles(&mut self, node: &Node<'_>, scale: [f64; 3]) -> Result<Geometry, Fault> {
        let (path, file) = self.files.find(node, "hill.obj")?;
        let files = self.files.opened()?;
        let triangles = self.meshes.get(files, &path, scale).map_err(|error| elsewhere(node, error))?;
        Ok(Geometry::Mesh(MeshShape { file, scale, triangles: Some(triangles) }))
    }

    /// Numbers, or a file of them, and how far they are apart.
    fn heights(&mut self, node: &Node<'_>) -> Result<Geometry, Fault> {
        let table = node.table(HEIGHTS_KEYS)?;
        let step = table.need("step")?.array("a list of two numbers, along x and y,")?;
        if table.need_one_of(&["file", "values"])? == "values" {
            let values = table.need("values")?;
            let rows = values.items("a list of rows", |row| row.numbers())?;
            let heights = Heights::new(&rows, step).map_err(|invalid| {
                let path = format!("{}.{}", node.path(), invalid.path);
                invalid.at(path)
            })?;
            return Ok(Geometry::Heights(heights));
        }
        let name = table.need("file")?;
        let (path, file) = self.files.find(&name, "terrain.csv")?;
        let files = self.files.opened()?;
        let text =
            files.text(&path).map_err(|unread| elsewhere(&name, unread.of(&file.display().to_string())))?;
        let rows = data::rows(&text, &file).map_err(Fault::Elsewhere)?;
        let heights = Heights::new(&rows, step).map_err(|invalid| name.moved(invalid))?;
        Ok(Geometry::Heights(Heights { file: Some(file), ..heights }))
    }
}

fn plane(node: &Node<'_>) -> Result<Geometry, Invalid> {
    match node.yes()? {
        true => Ok(Geometry::Plane),
        false => Err(node.invalid("a shape that is no plane", "write `plane = true`, or another shape")),
    }
}
