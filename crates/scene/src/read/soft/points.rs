//! Points of solids and sheets: a group of particles where the mesh is.

use super::Reader;
use crate::check::Number;
use crate::error::Invalid;
use crate::particles::Particles;
use crate::read::contact::material_at;
use crate::read::node::{Keys, Node, Table};
use crate::read::particles;
use crate::soft::{BoundingBox, Mesh};

const SELECTION_KEYS: Keys = &[
    ("box", "box = [[-0.1, -1, -1], [0.1, 1, 1]]"),
    ("plane", "plane = { through = [0, 0, 0], normal = [1, 0, 0] }"),
    ("axes", "axes = [\"x\", \"z\"]"),
];

const PLANE_KEYS: Keys =
    &[("through", "through = [0, 0, 0]"), ("normal", "normal = [1, 0, 0]"), ("distance", "distance = 0.01")];

/// How far from a plane points are of it, by the longest side of the mesh: more than rounding, less than any element.
const NEAR: f64 = 1e-6;

impl Reader<'_> {
    /// The group of a mesh, which is in its place already.
    pub(super) fn group<const CORNERS: usize>(
        &self,
        table: &Table<'_>,
        name: &str,
        mesh: &Mesh<CORNERS>,
    ) -> Result<Particles, Invalid> {
        let count = mesh.points.len();
        let usual = Particles::many(name, mesh.points.clone(), 0.0);
        Ok(Particles {
            velocities: table
                .each(["velocity", "velocities"], count, |it| it.vector())?
                .unwrap_or(usual.velocities),
            masses: table.each(["mass", "masses"], count, |it| it.number())?.unwrap_or(usual.masses),
            fixed: fixed(table, mesh)?,
            radii: table.each(["radius", "radii"], count, |it| it.number())?,
            material: material_at(table, "surface", self.materials)?,
            ..usual
        })
    }
}

/// Which points are fixed along which axes: as of any particles, or those of a box or a plane, or of several.
fn fixed<const CORNERS: usize>(table: &Table<'_>, mesh: &Mesh<CORNERS>) -> Result<Vec<[bool; 3]>, Invalid> {
    let count = mesh.points.len();
    let Some(node) = table.get("fixed") else {
        return Ok(vec![[false; 3]; count]);
    };
    let mut fixed = vec![[false; 3]; count];
    if node.is_table() {
        select(&node, mesh, &mut fixed)?;
    } else if node.first().is_some_and(|first| first.is_table()) {
        node.items("a list of boxes and planes", |it| select(it, mesh, &mut fixed))?;
    } else {
        return particles::fixed(table, count, true);
    }
    Ok(fixed)
}

/// Fixes the points of a box or a plane.
fn select<const CORNERS: usize>(
    node: &Node<'_>,
    mesh: &Mesh<CORNERS>,
    fixed: &mut [[bool; 3]],
) -> Result<(), Invalid> {
    let table = node.table(SELECTION_KEYS)?;
    let kind = table.need_one_of(&["box", "plane"])?;
    let place = table.need(kind)?;
    let axes = table.optional("axes", |it| it.axes())?.unwrap_or([true; 3]);
    let points =
        if kind == "box" { mesh.points_in_box(&corners(&place)?) } else { near_plane(&place, mesh)? };
    let Some(BoundingBox { min, max }) = mesh.bounds().filter(|_| points.is_empty()) else {
        for at in points {
            let fixed = &mut fixed[at as usize];
            *fixed = std::array::from_fn(|axis| fixed[axis] || axes[axis]);
        }
        return Ok(());
    };
    let word = if kind == "box" { "in this box" } else { "on this plane" };
    let fix = format!("the points are between {min:?} and {max:?}");
    Err(place.invalid(format!("no point is {word}"), fix))
}

/// A box along the axes, by its least and its greatest corner.
pub(in crate::read) fn corners(node: &Node<'_>) -> Result<BoundingBox, Invalid> {
    let wanted = "a list of two corners, the least and the greatest,";
    let corners: Vec<[f64; 3]> = node.items(wanted, |it| it.vector())?;
    let [min, max] = corners.try_into().map_err(|_| node.wrong(wanted))?;
    if let Some(axis) = (0..3).find(|&axis| min[axis] > max[axis]) {
        let what =
            format!("the box goes from {} to {} along {}", min[axis], max[axis], ["x", "y", "z"][axis]);
        return Err(node.invalid(what, "write the least corner first"));
    }
    Ok(BoundingBox { min, max })
}

fn near_plane<const CORNERS: usize>(node: &Node<'_>, mesh: &Mesh<CORNERS>) -> Result<Vec<u32>, Invalid> {
    let table = node.table(PLANE_KEYS)?;
    let through = table.need("through")?.vector()?;
    let normal = table.need("normal")?.direction()?;
    let distance = match table.get("distance") {
        Some(node) => {
            let distance = node.number()?;
            Number::not_negative("distance", "m").check(&node.path(), distance)?;
            distance
        }
        None => NEAR * mesh.bounds().map_or(0.0, |bounds| bounds.sides().into_iter().fold(0.0, f64::max)),
    };
    mesh.points_near_plane(through, normal, distance).map_err(|invalid| node.moved(invalid))
}
