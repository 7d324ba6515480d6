//! Meshes of solids and sheets: generated, written out, from files, or filling a surface.

use std::path::Path;

use crate::error::Invalid;
use crate::read::Fault;
use crate::read::files::{SceneFiles, elsewhere};
use crate::read::node::{Keys, Node, Table};
use crate::soft::{Cut, Diagonals, Gear, Mesh, SheetMesh, SolidMesh};
use crate::source::Source;
use crate::words;

const SOLID_KEYS: Keys = &[
    ("block", "block = [1, 1, 1]"),
    ("beam", "beam = [1, 0.1, 0.1]"),
    ("cells", "cells = [10, 2, 2]"),
    ("cut", "cut = \"six\""),
    ("icosphere", "icosphere = 0.5"),
    ("subdivisions", "subdivisions = 2"),
    ("layers", "layers = 2"),
    ("gear", "gear = { teeth = 12 }"),
    ("file", "file = \"bunny.msh\""),
    ("fill", "fill = \"bunny.obj\""),
    ("cell", "cell = 0.05"),
    ("points", "points = [[0, 0, 0], [1, 0, 0]]"),
    ("elements", "elements = [[0, 1, 2, 3]]"),
    ("scale", "scale = 0.001"),
];

const SHEET_KEYS: Keys = &[
    ("sheet", "sheet = [1, 0.5]"),
    ("cells", "cells = [10, 5]"),
    ("diagonals", "diagonals = \"alternating\""),
    ("icosphere", "icosphere = 0.5"),
    ("subdivisions", "subdivisions = 2"),
    ("walker", "walker = 0.1"),
    ("file", "file = \"shirt.obj\""),
    ("points", "points = [[0, 0, 0], [1, 0, 0]]"),
    ("elements", "elements = [[0, 1, 2]]"),
    ("scale", "scale = 0.001"),
];

const GEAR_KEYS: Keys = &[
    ("teeth", "teeth = 12"),
    ("bore", "bore = 0.4"),
    ("root", "root = 0.8"),
    ("tip", "tip = 1"),
    ("thickness", "thickness = 0.2"),
    ("rings", "rings = 4"),
    ("layers", "layers = 1"),
];

/// A way to give a mesh, and the keys that go with it, besides `scale`.
type Kind = (&'static str, &'static [&'static str]);

const SOLIDS: [Kind; 7] = [
    ("block", &["cells", "cut"]),
    ("beam", &["cells", "cut"]),
    ("icosphere", &["subdivisions", "layers"]),
    ("gear", &[]),
    ("file", &[]),
    ("fill", &["cell"]),
    ("points", &["elements"]),
];

const SHEETS: [Kind; 5] = [
    ("sheet", &["cells", "diagonals"]),
    ("icosphere", &["subdivisions"]),
    ("walker", &[]),
    ("file", &[]),
    ("points", &["elements"]),
];

/// Reads meshes.
pub(super) struct Meshes<'s> {
    files: SceneFiles<'s>,
}

impl<'s> Meshes<'s> {
    pub fn new(source: &'s Source) -> Self {
        Self { files: SceneFiles::new(source) }
    }

    pub fn solid(&mut self, node: &Node<'_>) -> Result<SolidMesh, Fault> {
        if node.is_text() {
            return self.solid_file(node);
        }
        let table = table(node, SOLID_KEYS)?;
        let kind = kind(&table, &SOLIDS)?;
        let value = table.need(kind)?;
        let whole = |key| table.need(key)?.whole();
        let cuts = [("six", Cut::Six), ("five", Cut::Five)];
        let cut = table.optional("cut", |it| it.choose("cut", &cuts))?.unwrap_or_default();
        let mesh = match kind {
            "block" => {
                let block = SolidMesh::block_cut(value.vector()?, cells(&table, "three")?, cut);
                block.map_err(|invalid| within(node, invalid, &[("sides", "block")]))?
            }
            "beam" => {
                let beam = SolidMesh::beam_cut(value.vector()?, cells(&table, "three")?, cut);
                let sides = [("length", "beam[0]"), ("width", "beam[1]"), ("height", "beam[2]")];
                beam.map_err(|invalid| within(node, invalid, &sides))?
            }
            "icosphere" => {
                let ball = SolidMesh::icosphere(value.number()?, whole("subdivisions")?, whole("layers")?);
                ball.map_err(|invalid| within(node, invalid, &[("radius", "icosphere")]))?
            }
            "gear" => SolidMesh::gear(&gear(&value)?).map_err(|invalid| within(&value, invalid, &[]))?,
            "file" => self.solid_file(&value)?,
            "fill" => self.filled(&table, &value)?,
            _ => {
                let mesh = written_out(&table, "a list of four points")?;
                SolidMesh::check(&mesh).map_err(|invalid| within(node, invalid, &[]))?;
                mesh
            }
        };
        Ok(scaled(&table, mesh)?)
    }

    pub fn sheet(&mut self, node: &Node<'_>) -> Result<SheetMesh, Fault> {
        if node.is_text() {
            return self.sheet_file(node);
        }
        let table = table(node, SHEET_KEYS)?;
        let kind = kind(&table, &SHEETS)?;
        let value = table.need(kind)?;
        let mesh = match kind {
            "sheet" => {
                let ways = [("alternating", Diagonals::Alternating), ("one", Diagonals::One)];
                let diagonals = table.optional("diagonals", |it| it.choose("way of diagonals", &ways))?;
                let sides = value.array("a list of two numbers")?;
                let sheet = SheetMesh::sheet(sides, cells(&table, "two")?, diagonals.unwrap_or_default());
                sheet.map_err(|invalid| within(node, invalid, &[("sides", "sheet")]))?
            }
            "icosphere" => {
                let ball = SheetMesh::icosphere(value.number()?, table.need("subdivisions")?.whole()?);
                ball.map_err(|invalid| within(node, invalid, &[("radius", "icosphere")]))?
            }
            "walker" => {
                let walker = SheetMesh::walker(value.number()?);
                walker.map_err(|invalid| within(node, invalid, &[("side", "walker")]))?
            }
            "file" => self.sheet_file(&value)?,
            _ => {
                let mesh = written_out(&table, "a list of three points")?;
                SheetMesh::check(&mesh).map_err(|invalid| within(node, invalid, &[]))?;
                mesh
            }
        };
        Ok(scaled(&table, mesh)?)
    }

    /// Tetrahedra of a file. The order of their corners is nobody's wish: inverted ones are turned round.
    fn solid_file(&mut self, node: &Node<'_>) -> Result<SolidMesh, Fault> {
        let name = Path::new(node.text()?);
        if !name.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("msh")) {
            let what = format!("{}: only `.msh` files have tetrahedra", quoted(node)?);
            let fix =
                "name a `.msh` of Gmsh, or fill a surface: `mesh = { fill = \"bunny.obj\", cell = 0.05 }`";
            return Err(node.invalid(what, fix).into());
        }
        let (bytes, file) = self.files.bytes(node, "bunny.msh")?;
        let mesh = SolidMesh::parse(&bytes, &file).map_err(|error| elsewhere(node, error))?.fixed_winding();
        mesh.check().or_else(|invalid| of_file(node, invalid))?;
        Ok(mesh)
    }

    fn sheet_file(&mut self, node: &Node<'_>) -> Result<SheetMesh, Fault> {
        let (bytes, file) = self.files.bytes(node, "shirt.obj")?;
        let mesh = SheetMesh::parse(&bytes, &file).map_err(|error| elsewhere(node, error))?;
        mesh.check().or_else(|invalid| of_file(node, invalid))?;
        Ok(mesh)
    }

    /// What is inside of a surface. The cell is as large as the file's numbers: it is scaled with them.
    fn filled(&mut self, table: &Table<'_>, node: &Node<'_>) -> Result<SolidMesh, Fault> {
        let cell = table.need("cell")?;
        let (bytes, file) = self.files.bytes(node, "bunny.obj")?;
        let surface = SheetMesh::parse(&bytes, &file).map_err(|error| elsewhere(node, error))?;
        SolidMesh::filled(&surface, cell.number()?).or_else(|invalid| match invalid.path.as_str() {
            "cell" => Err(cell.moved(invalid).into()),
            _ => of_file(node, invalid),
        })
    }
}

/// The name of a file, in words.
fn quoted(node: &Node<'_>) -> Result<String, Invalid> {
    node.text().map(words::quoted)
}

/// What is wrong with the mesh of a file, at the key that names it.
fn of_file<T>(node: &Node<'_>, invalid: Invalid) -> Result<T, Fault> {
    let what = format!("{}: {}", quoted(node)?, invalid.what);
    Err(node.invalid(what, invalid.fix).into())
}

/// A mesh that is no text.
fn table<'n>(node: &'n Node<'_>, keys: Keys) -> Result<Table<'n>, Invalid> {
    if node.is_table() { node.table(keys) } else { Err(node.wrong("a table, or the name of a file,")) }
}

/// Which way the mesh is given; keys of others contradict it.
fn kind(table: &Table<'_>, kinds: &[Kind]) -> Result<&'static str, Invalid> {
    let names: Vec<&'static str> = kinds.iter().map(|(name, _)| *name).collect();
    let kind = table.need_one_of(&names)?;
    let of = |name: &str| kinds.iter().find(|(other, _)| *other == name).map_or(&[][..], |(_, keys)| *keys);
    let foreign = names.iter().flat_map(|name| of(name)).copied().filter(|key| !of(kind).contains(key));
    table.refuse(&format!("a mesh by `{kind}`"), &foreign.collect::<Vec<_>>())?;
    Ok(kind)
}

fn cells<const N: usize>(table: &Table<'_>, count: &str) -> Result<[usize; N], Invalid> {
    let node = table.need("cells")?;
    let wanted = format!("a list of {count} whole numbers");
    node.items(&wanted, |it| it.whole())?.try_into().map_err(|_| node.wrong(&wanted))
}

fn gear(node: &Node<'_>) -> Result<Gear, Invalid> {
    let table = node.table(GEAR_KEYS)?;
    let usual = Gear::default();
    let number = |key, usual| Ok::<f64, Invalid>(table.optional(key, |it| it.number())?.unwrap_or(usual));
    let whole = |key, usual| Ok::<usize, Invalid>(table.optional(key, |it| it.whole())?.unwrap_or(usual));
    Ok(Gear {
        teeth: whole("teeth", usual.teeth)?,
        bore: number("bore", usual.bore)?,
        root: number("root", usual.root)?,
        tip: number("tip", usual.tip)?,
        thickness: number("thickness", usual.thickness)?,
        rings: whole("rings", usual.rings)?,
        layers: whole("layers", usual.layers)?,
    })
}

/// Points and elements, as they stand in the scene.
fn written_out<const CORNERS: usize>(table: &Table<'_>, wanted: &str) -> Result<Mesh<CORNERS>, Invalid> {
    let points = table.need("points")?.items("a list of points", |it| it.vector())?;
    let corner = |it: &Node<'_>| {
        let at = it.whole()?;
        u32::try_from(at)
            .map_err(|_| it.invalid(format!("there is no point {at}"), "points are counted from 0"))
    };
    let elements = table.need("elements")?.items("a list of elements", |it| {
        it.items(wanted, corner)?.try_into().map_err(|_| it.wrong(wanted))
    })?;
    Ok(Mesh { points, elements })
}

/// A mesh by the `scale` of its table: a number, or one for each axis.
fn scaled<const CORNERS: usize>(table: &Table<'_>, mesh: Mesh<CORNERS>) -> Result<Mesh<CORNERS>, Invalid> {
    let Some(node) = table.get("scale") else {
        return Ok(mesh);
    };
    let scale = if node.len().is_ok() { node.vector()? } else { [node.number()?; 3] };
    if scale.contains(&0.0) {
        return Err(node.invalid("a scale of 0 leaves nothing of the mesh", "write numbers other than 0"));
    }
    Ok(mesh.scaled(scale))
}

/// What is wrong with a mesh, at the key that has it: those of generators go by other names.
fn within(node: &Node<'_>, invalid: Invalid, renamed: &[(&str, &str)]) -> Invalid {
    let other = |(from, to): &(&str, &str)| invalid.path.strip_prefix(from).map(|rest| format!("{to}{rest}"));
    let key = renamed.iter().find_map(other).unwrap_or_else(|| invalid.path.clone());
    invalid.at(format!("{}.{key}", node.path()))
}
