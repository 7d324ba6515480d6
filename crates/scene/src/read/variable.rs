//! `[[variables]]`.

use super::node::{Keys, Node};
use crate::error::Invalid;
use crate::problem::{Bounds, Variable};

const KEYS: Keys = &[
    ("name", "name = \"initial.ball.velocity\""),
    ("lower", "lower = -10"),
    ("upper", "upper = 10"),
    ("bounds", "bounds = \"project\""),
    ("scale", "scale = 5.0"),
    ("start", "start = [1, 0, 1]"),
    ("together", "together = true"),
];

pub(super) fn read(node: &Node<'_>) -> Result<Variable, Invalid> {
    let table = node.table(KEYS)?;
    let kinds = [("project", Bounds::Project), ("transform", Bounds::Transform)];
    Ok(Variable {
        name: table.name()?,
        lower: table.optional("lower", |it| it.number())?,
        upper: table.optional("upper", |it| it.number())?,
        bounds: table.optional("bounds", |node| node.choose("kind of bounds", &kinds))?.unwrap_or_default(),
        scale: table.optional("scale", |it| it.number())?,
        start: table.optional("start", start)?,
        together: table.optional("together", |it| it.yes())?.unwrap_or(false),
    })
}

/// A number, or a list of them.
fn start(node: &Node<'_>) -> Result<Vec<f64>, Invalid> {
    if node.len().is_ok() { node.numbers() } else { node.number().map(|value| vec![value]) }
}
