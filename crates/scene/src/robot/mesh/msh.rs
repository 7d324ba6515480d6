//! MSH: Gmsh 2.2 and 4.1 as text, and MuJoCo's own binary format of the same ending.

use std::collections::HashMap;

use super::tokens::Tokens;
use super::{DAMAGED, MOST, Triangles, too_many, wrong};
use crate::soft::SolidMesh;
use crate::source::Unread;
use crate::words;

const AS_TEXT: &str = "write it as text, version 2.2 or 4.1: `gmsh -save -format msh41 -bin 0`";

pub(super) fn read(bytes: &[u8]) -> Result<Triangles, Unread> {
    if !is_gmsh(bytes) {
        return mujoco(bytes);
    }
    let Gmsh { mesh, tetrahedra, .. } = gmsh(bytes)?;
    if tetrahedra.is_empty() {
        return Ok(mesh);
    }
    let solid = SolidMesh { points: mesh.vertices, elements: tetrahedra }.fixed_winding();
    let (faces, _) = solid.outer_sides();
    Ok(Triangles { vertices: solid.points, faces })
}

/// All nodes, and the tetrahedra between them.
pub(super) fn solid(bytes: &[u8]) -> Result<SolidMesh, Unread> {
    if !is_gmsh(bytes) {
        return Err(Unread::new("this is no MSH file of Gmsh, and only those have tetrahedra", AS_TEXT));
    }
    let Gmsh { mesh, tetrahedra, .. } = gmsh(bytes)?;
    Ok(SolidMesh { points: mesh.vertices, elements: tetrahedra })
}

/// MuJoCo's files start with their number of vertices, which may read as `$` too.
fn is_gmsh(bytes: &[u8]) -> bool {
    matches!(bytes.trim_ascii_start(), [b'$', b'A'..=b'Z', b'a'..=b'z', ..])
}

/// int32 nvertex, nnormal, ntexcoord, nface;  float 3 nvertex, 3 nnormal, 2 ntexcoord;  int32 3 nface.
fn mujoco(bytes: &[u8]) -> Result<Triangles, Unread> {
    let unknown = || Unread::new("this is no MSH file, neither of Gmsh nor of MuJoCo", DAMAGED);
    let four = |at: usize| -> Option<[u8; 4]> { bytes.get(4 * at..4 * at + 4)?.try_into().ok() };
    let count = |at: usize| four(at).and_then(|bytes| usize::try_from(i32::from_le_bytes(bytes)).ok());
    let (Some(vertices), Some(normals), Some(texcoords), Some(faces)) =
        (count(0), count(1), count(2), count(3))
    else {
        return Err(unknown());
    };
    let first_face = 4 + 3 * vertices + 3 * normals + 2 * texcoords;
    if 4 * (first_face + 3 * faces) != bytes.len() {
        return Err(unknown());
    }
    if vertices > MOST || faces > MOST {
        return Err(too_many(0));
    }
    let number = |at: usize| four(at).map_or(f64::NAN, |bytes| f64::from(f32::from_le_bytes(bytes)));
    // A negative index becomes one that is not there, which is found later.
    let index = |at: usize| four(at).map_or(u32::MAX, u32::from_le_bytes);
    let mut mesh = Triangles::default();
    for v in 0..vertices {
        mesh.corner(std::array::from_fn(|i| number(4 + 3 * v + i)), 0)?;
    }
    mesh.faces = (0..faces).map(|f| std::array::from_fn(|i| index(first_face + 3 * f + i))).collect();
    Ok(mesh)
}

/// What is read of a file of Gmsh.
#[derive(Default)]
struct Gmsh {
    mesh: Triangles,
    /// Nodes by their tags.
    nodes: HashMap<u64, u32>,
    tetrahedra: Vec<[u32; 4]>,
}

fn gmsh(bytes: &[u8]) -> Result<Gmsh, Unread> {
    let mut tokens = Tokens::new(bytes);
    let mut gmsh = Gmsh::default();
    let mut version = None;
    while let Some(word) = tokens.next() {
        match (word, version) {
            ("$MeshFormat", _) => version = Some(format(&mut tokens)?),
            ("$Nodes", Some(4)) => gmsh.nodes_4(&mut tokens)?,
            ("$Nodes", Some(_)) => gmsh.nodes_2(&mut tokens)?,
            ("$Elements", Some(4)) => gmsh.elements_4(&mut tokens)?,
            ("$Elements", Some(_)) => gmsh.elements_2(&mut tokens)?,
            (section, None) => {
                let what = format!("{} comes before `$MeshFormat`", words::quoted(section));
                return Err(wrong(tokens.line, what, DAMAGED));
            }
            // Names, physical groups, values: passed over, word by word.
            (_, Some(_)) => {}
        }
    }
    Ok(gmsh)
}

/// The version: 2 or 4.
fn format(tokens: &mut Tokens<'_>) -> Result<u32, Unread> {
    let version = tokens.word()?;
    let major = match version {
        "2" | "2.0" | "2.1" | "2.2" => 2,
        "4.1" => 4,
        _ => {
            let what = format!("version {} of Gmsh's format is not supported", words::quoted(version));
            return Err(wrong(tokens.line, what, AS_TEXT));
        }
    };
    if tokens.word()? != "0" {
        return Err(wrong(tokens.line, "binary files of Gmsh are not supported", AS_TEXT));
    }
    Ok(major)
}

/// How many nodes an element has, by Gmsh's number for its type; the corners come first.
fn nodes_of(kind: u64) -> Option<usize> {
    const NODES: [usize; 19] = [2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13];
    NODES.get(usize::try_from(kind).ok()?.checked_sub(1)?).copied()
}

impl Gmsh {
    fn node(&mut self, tag: u64, tokens: &mut Tokens<'_>) -> Result<(), Unread> {
        let corner = tokens.point()?;
        let at = self.mesh.corner(corner, tokens.line)?;
        self.nodes.insert(tag, at);
        Ok(())
    }

    fn nodes_2(&mut self, tokens: &mut Tokens<'_>) -> Result<(), Unread> {
        for _ in 0..tokens.parse::<u64>()? {
            let tag = tokens.parse()?;
            self.node(tag, tokens)?;
        }
        Ok(())
    }

    /// Blocks: `dimension entity parametric count`, the tags, then the places.
    fn nodes_4(&mut self, tokens: &mut Tokens<'_>) -> Result<(), Unread> {
        let [blocks, _, _, _]: [u64; 4] = four(tokens)?;
        for _ in 0..blocks {
            let dimension: u64 = tokens.parse()?;
            let _entity: i64 = tokens.parse()?;
            let parametric: u64 = tokens.parse()?;
            let count: u64 = tokens.parse()?;
            let mut tags: Vec<u64> = Vec::new();
            for _ in 0..count {
                tags.push(tokens.parse()?);
            }
            for tag in tags {
                self.node(tag, tokens)?;
                // Coordinates on the curve or surface.
                for _ in 0..if parametric == 1 { dimension } else { 0 } {
                    tokens.parse::<f64>()?;
                }
            }
        }
        Ok(())
    }

    fn element(&mut self, kind: u64, tokens: &mut Tokens<'_>) -> Result<(), Unread> {
        let Some(count) = nodes_of(kind) else {
            let what = format!("elements of Gmsh's type {kind} are not supported");
            return Err(wrong(tokens.line, what, "write the mesh with elements of first order"));
        };
        let mut corners = Vec::with_capacity(count);
        for _ in 0..count {
            let tag: u64 = tokens.parse()?;
            let node = self.nodes.get(&tag).copied();
            corners.push(node.ok_or_else(|| wrong(tokens.line, format!("there is no node {tag}"), DAMAGED))?);
        }
        match kind {
            2 | 9 => self.mesh.fan(&corners[..3], tokens.line),
            3 | 10 | 16 => self.mesh.fan(&corners[..4], tokens.line),
            4 | 11 if self.tetrahedra.len() == MOST => Err(too_many(tokens.line)),
            4 | 11 => {
                self.tetrahedra.push(std::array::from_fn(|i| corners[i]));
                Ok(())
            }
            // Points, lines, and solids other than tetrahedra.
            _ => Ok(()),
        }
    }

    /// Each element: `number type count-of-tags tags nodes`.
    fn elements_2(&mut self, tokens: &mut Tokens<'_>) -> Result<(), Unread> {
        for _ in 0..tokens.parse::<u64>()? {
            let _number: u64 = tokens.parse()?;
            let kind = tokens.parse()?;
            for _ in 0..tokens.parse::<u64>()? {
                tokens.parse::<i64>()?;
            }
            self.element(kind, tokens)?;
        }
        Ok(())
    }

    /// Blocks: `dimension entity type count`, then `number nodes` each.
    fn elements_4(&mut self, tokens: &mut Tokens<'_>) -> Result<(), Unread> {
        let [blocks, _, _, _]: [u64; 4] = four(tokens)?;
        for _ in 0..blocks {
            let _dimension: u64 = tokens.parse()?;
            let _entity: i64 = tokens.parse()?;
            let kind = tokens.parse()?;
            for _ in 0..tokens.parse::<u64>()? {
                let _number: u64 = tokens.parse()?;
                self.element(kind, tokens)?;
            }
        }
        Ok(())
    }
}

fn four(tokens: &mut Tokens<'_>) -> Result<[u64; 4], Unread> {
    Ok([tokens.parse()?, tokens.parse()?, tokens.parse()?, tokens.parse()?])
}
