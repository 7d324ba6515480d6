//! `[[motions]]`.

use super::attachment::{Known, points};
use super::node::{Keys, Node, Table};
use crate::error::Invalid;
use crate::motion::{PrescribedMotion, Velocity};
use crate::particles::Particles;
use crate::scene::Oscillation;

const KEYS: Keys = &[
    ("name", "name = \"lead\""),
    ("points", "points = \"flag[0]\""),
    ("within", "within = [[-0.1, -1, -1], [0.1, 1, 1]]"),
    ("velocity", "velocity = [0, 0, 0.1]"),
    ("control", "control = [0, 0, 0]"),
    ("controls", "controls = [[0, 0, 0], [0, 0, 0.1]]"),
    ("amplitude", "amplitude = [0, 0, 0.1]"),
    ("frequency", "frequency = 2.0"),
    ("phase", "phase = 0.5"),
];

/// Reads all motions.
pub(super) fn all(root: &Table<'_>, particles: &[Particles]) -> Result<Vec<PrescribedMotion>, Invalid> {
    let known = Known::new(root, "motions", particles);
    let mut total = 0;
    root.sections("motions", |node| read(node, &known, &mut total))
}

fn read(node: &Node<'_>, known: &Known<'_>, total: &mut usize) -> Result<PrescribedMotion, Invalid> {
    let table = node.table(KEYS)?;
    let name = table.name()?;
    let points = points(&table, known, total)?;
    let velocity = match table.one_of(&["velocity", "control", "controls"])? {
        Some("velocity") => Some(Velocity::Steady(table.need("velocity")?.vector()?)),
        _ => table.each(["control", "controls"], 1, |it| it.vector())?.map(Velocity::Control),
    };
    let swing = match table.get("amplitude") {
        Some(amplitude) => {
            let frequency = table.need("frequency")?.number()?;
            let phase = table.optional("phase", |it| it.number())?.unwrap_or(0.0);
            Some((amplitude.vector()?, Oscillation { frequency, phase }))
        }
        None => {
            table.refuse("a motion without `amplitude`", &["frequency", "phase"])?;
            None
        }
    };
    if velocity.is_none() && swing.is_none() {
        let what = "a motion has neither a velocity nor an amplitude";
        return Err(table.missing(&["velocity"], what));
    }
    Ok(PrescribedMotion { name, points, velocity: velocity.unwrap_or(Velocity::Steady([0.0; 3])), swing })
}
