//! `[[springs]]`.

use super::node::{Keys, Node, Table};
use crate::check::{MOST, too_many};
use crate::error::Invalid;
use crate::names::Names;
use crate::particles::Particles;
use crate::springs::{Springs, neighbours};
use crate::words;

const KEYS: Keys = &[
    ("name", "name = \"spring\""),
    ("ends", "ends = [\"a\", \"b\"]"),
    ("chain", "chain = \"chain\""),
    ("stiffness", "stiffness = 100"),
    ("stiffnesses", "stiffnesses = [100, 200]"),
    ("damping", "damping = 0.1"),
    ("dampings", "dampings = [0.1, 0.2]"),
    ("rest_length", "rest_length = 0.5"),
    ("rest_lengths", "rest_lengths = [0.5, 0.6]"),
];

/// Reads all groups of springs.
pub(super) fn all(
    root: &Table<'_>,
    names: &Names<'_>,
    groups: &[Particles],
) -> Result<Vec<Springs>, Invalid> {
    let positions: Vec<[f64; 3]> = groups.iter().flat_map(|group| group.positions.iter().copied()).collect();
    let mut total = 0;
    root.sections("springs", |node| read(node, names, &positions, &mut total))
}

fn read(
    node: &Node<'_>,
    names: &Names<'_>,
    positions: &[[f64; 3]],
    total: &mut usize,
) -> Result<Springs, Invalid> {
    let table = node.table(KEYS)?;
    let name = table.name()?;
    let kind = table.need_one_of(&["ends", "chain"])?;
    let place = table.need(kind)?;
    let (ends, indexed) = match kind {
        "chain" => (chain(&place, names, *total)?, true),
        _ if place.first().is_some_and(|first| first.is_text()) => (vec![pair(&place, names)?], false),
        _ => (place.items("a list of two names, or of such lists,", |node| pair(node, names))?, true),
    };
    let count = ends.len();
    *total += count;
    let distances = || ends.iter().map(|&[a, b]| distance(positions[a], positions[b])).collect();
    Ok(Springs {
        name,
        indexed,
        stiffness: table.need_each(["stiffness", "stiffnesses"], count, |it| it.number())?,
        damping: table.each(["damping", "dampings"], count, |it| it.number())?,
        rest_lengths: table
            .each(["rest_length", "rest_lengths"], count, |it| it.number())?
            .unwrap_or_else(distances),
        ends,
    })
}

/// The two ends of a spring.
fn pair(node: &Node<'_>, names: &Names<'_>) -> Result<[usize; 2], Invalid> {
    let wanted = "a list of two names";
    let ends = node.items(wanted, |end| names.index(end.text()?).map_err(|invalid| end.moved(invalid)))?;
    ends.try_into().map_err(|_| node.wrong(wanted))
}

/// The neighbours of a group.
fn chain(node: &Node<'_>, names: &Names<'_>, total: usize) -> Result<Vec<[usize; 2]>, Invalid> {
    let name = node.text()?;
    let particles = names.group(name).map_err(|invalid| node.moved(invalid))?;
    if particles.len() < 2 {
        let what =
            format!("{} is a group of {}", words::quoted(name), words::counted(particles.len(), "particle"));
        return Err(node.invalid(what, "name a group of two particles or more, or use `ends`"));
    }
    if total + particles.len() - 1 > MOST {
        return Err(node.moved(too_many("", total + particles.len() - 1, "springs")));
    }
    Ok(neighbours(particles))
}

/// Distance of two points [m].
fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (b[axis] - a[axis]).powi(2)).sum::<f64>().sqrt()
}
