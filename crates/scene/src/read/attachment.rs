//! `[[attachments]]`.

use super::node::{Keys, Node, Table};
use super::soft::corners;
use super::world::targets;
use crate::attachment::Attachment;
use crate::error::Invalid;
use crate::names::{Names, PartNames};
use crate::particles::Particles;
use crate::robot::Robot;

const KEYS: Keys = &[
    ("name", "name = \"grip\""),
    ("points", "points = \"flag[0]\""),
    ("within", "within = [[-0.1, -1, -1], [0.1, 1, 1]]"),
    ("body", "body = \"pole.tip\""),
    ("stiffness", "stiffness = 1e4"),
    ("damping", "damping = 10"),
];

/// The particles that sections name.
pub(super) struct Known<'a> {
    names: Names<'a>,
    /// Where they start; empty where there are no such sections.
    places: Vec<[f64; 3]>,
}

impl<'a> Known<'a> {
    pub fn new(root: &Table<'_>, sections: &str, particles: &'a [Particles]) -> Self {
        let mut places = Vec::new();
        if root.has(sections) {
            places.extend(particles.iter().flat_map(|it| it.positions.iter().copied()));
        }
        Known { names: Names::new(particles), places }
    }
}

/// The particles of `points`, as far as they start `within` a box.
pub(super) fn points(table: &Table<'_>, known: &Known<'_>, total: &mut usize) -> Result<Vec<usize>, Invalid> {
    let mut points = targets(&table.need("points")?, &known.names, total)?;
    if let Some(node) = table.get("within") {
        let within = corners(&node)?;
        points.retain(|&at| within.contains(known.places[at]));
        if points.is_empty() {
            let fix = "write a box with some of `points` where they start, or leave it out";
            return Err(node.invalid("none of the points is in this box", fix));
        }
    }
    Ok(points)
}

/// Reads all attachments.
pub(super) fn all(
    root: &Table<'_>,
    particles: &[Particles],
    robots: &[Robot],
) -> Result<Vec<Attachment>, Invalid> {
    let known = Known::new(root, "attachments", particles);
    let parts = PartNames::new(robots);
    let mut total = 0;
    root.sections("attachments", |node| read(node, &known, &parts, &mut total))
}

fn read(
    node: &Node<'_>,
    known: &Known<'_>,
    parts: &PartNames<'_>,
    total: &mut usize,
) -> Result<Attachment, Invalid> {
    let table = node.table(KEYS)?;
    let name = table.name()?;
    let points = points(&table, known, total)?;
    let body = table.need("body")?;
    let stiffness = table.optional("stiffness", |it| it.number())?;
    if stiffness.is_none() {
        table.refuse("an attachment without `stiffness`", &["damping"])?;
    }
    Ok(Attachment {
        name,
        points,
        part: parts.part(body.text()?).map_err(|invalid| body.moved(invalid))?,
        stiffness,
        damping: table.optional("damping", |it| it.number())?.unwrap_or(0.0),
    })
}
