//! `[[solids]]` and `[[sheets]]`.

mod mesh;
mod numbers;
mod points;
mod sheet;
mod solid;

pub(super) use self::points::corners;

use self::mesh::Meshes;
use super::Fault;
use super::node::{Node, Table};
use crate::check::{MOST, too_many};
use crate::material::Material;
use crate::particles::Particles;
use crate::sheet::Sheet;
use crate::soft::Mesh;
use crate::solid::Solid;
use crate::source::Source;

/// Reads all solids and sheets; their points become groups after those that are there.
pub(super) fn all(
    root: &Table<'_>,
    materials: &[Material],
    source: &Source,
    groups: &mut Vec<Particles>,
) -> Result<(Vec<Solid>, Vec<Sheet>), Fault> {
    let points = groups.iter().map(|group| group.positions.len()).sum();
    let mut reader = Reader { materials, meshes: Meshes::new(source), groups, points, elements: 0 };
    let solids = root.sections("solids", |node| reader.solid(node))?;
    let sheets = root.sections("sheets", |node| reader.sheet(node))?;
    Ok((solids, sheets))
}

struct Reader<'r> {
    materials: &'r [Material],
    meshes: Meshes<'r>,
    groups: &'r mut Vec<Particles>,
    /// Particles and elements of all groups so far, so that no size is taken from memory unseen.
    points: usize,
    elements: usize,
}

impl Reader<'_> {
    /// Counts a mesh.
    fn count<const CORNERS: usize>(&mut self, node: &Node<'_>, mesh: &Mesh<CORNERS>) -> Result<(), Fault> {
        self.points += mesh.points.len();
        self.elements += mesh.elements.len();
        for (count, what) in [(self.points, "particles"), (self.elements, "elements")] {
            if count > MOST {
                return Err(node.moved(too_many("", count, what)).into());
            }
        }
        Ok(())
    }
}
