//! `[[particles]]`.

use super::contact::material_of;
use super::node::{Keys, Node, Table};
use crate::check::{MOST, too_many};
use crate::error::Invalid;
use crate::material::Material;
use crate::particles::{Particles, on_line};
use crate::words;

const KEYS: Keys = &[
    ("name", "name = \"ball\""),
    ("position", "position = [0, 0, 1]"),
    ("positions", "positions = [[0, 0, 0], [1, 0, 0]]"),
    ("line", "line = { from = [0, 0, 0], to = [1, 0, 0], count = 10 }"),
    ("velocity", "velocity = [1, 0, 2]"),
    ("velocities", "velocities = [[0, 0, 0], [1, 0, 0]]"),
    ("mass", "mass = 0.2"),
    ("masses", "masses = [0.2, 0.3]"),
    ("drag", "drag = 0.01"),
    ("drags", "drags = [0.01, 0.02]"),
    ("fixed", "fixed = true"),
    ("radius", "radius = 0.05"),
    ("radii", "radii = [0.05, 0.1]"),
    ("material", "material = \"rubber\""),
];

const LINE_KEYS: Keys = &[("from", "from = [0, 0, 0]"), ("to", "to = [1, 0, 0]"), ("count", "count = 10")];

/// Reads a group. `total` counts the particles of all groups, so that no size is taken from memory unseen.
pub(super) fn read(node: &Node<'_>, materials: &[Material], total: &mut usize) -> Result<Particles, Invalid> {
    let table = node.table(KEYS)?;
    let name = table.name()?;
    let kind = table.need_one_of(&["position", "positions", "line"])?;
    let place = table.need(kind)?;
    let positions = match kind {
        "position" => vec![place.vector()?],
        "positions" => place.items("a list of positions", |it| it.vector())?,
        _ => line(&place, *total)?,
    };
    let count = positions.len();
    *total += count;
    let indexed = kind != "position";
    Ok(Particles {
        name,
        indexed,
        positions,
        velocities: table
            .each(["velocity", "velocities"], count, |it| it.vector())?
            .unwrap_or(vec![[0.0; 3]; count]),
        masses: table.need_each(["mass", "masses"], count, |it| it.number())?,
        drag: table.each(["drag", "drags"], count, |it| it.number())?,
        fixed: fixed(&table, count, indexed)?,
        radii: table.each(["radius", "radii"], count, |it| it.number())?,
        material: material_of(&table, materials)?,
    })
}

fn line(node: &Node<'_>, total: usize) -> Result<Vec<[f64; 3]>, Invalid> {
    let table = node.table(LINE_KEYS)?;
    let from = table.need("from")?.vector()?;
    let to = table.need("to")?.vector()?;
    let count = table.need("count")?;
    match count.whole()? {
        few @ (0 | 1) => Err(count.invalid(
            format!("a line of {few} has no two ends"),
            "write 2 or more, or `position = [0, 0, 1]`",
        )),
        many if many > MOST - total.min(MOST) => {
            Err(count.moved(too_many("", total.saturating_add(many), "particles")))
        }
        many => Ok(on_line(from, to, many)),
    }
}

/// Which particles are fixed along which axes: `true`, some axes, or the indices of those that are.
pub(super) fn fixed(table: &Table<'_>, count: usize, indexed: bool) -> Result<Vec<[bool; 3]>, Invalid> {
    let Some(node) = table.get("fixed") else {
        return Ok(vec![[false; 3]; count]);
    };
    if let Some(all) = node.flag() {
        return Ok(vec![[all; 3]; count]);
    }
    let by_index = node.first().is_some_and(|first| first.is_whole());
    if by_index && !indexed {
        let fix = "write `fixed = true`, or axes such as `fixed = [\"x\"]`";
        return Err(node.invalid("a single particle has no index", fix));
    }
    if !by_index {
        node.len().map_err(|_| node.wrong("`true`, `false` or a list"))?;
        return Ok(vec![node.axes()?; count]);
    }
    let mut fixed = vec![[false; 3]; count];
    node.items("a list of indices", |item| {
        let index = item.whole()?;
        let particle = fixed.get_mut(index).ok_or_else(|| {
            let what =
                format!("there is no particle {index} in a group of {}", words::counted(count, "particle"));
            item.invalid(what, format!("choose from 0 to {}", count.saturating_sub(1)))
        })?;
        *particle = [true; 3];
        Ok::<(), Invalid>(())
    })?;
    Ok(fixed)
}
