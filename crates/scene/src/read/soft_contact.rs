//! `[soft_contact]`.

use super::node::{Keys, Node};
use crate::error::Invalid;
use crate::soft_contact::SoftContact;

const KEYS: Keys = &[
    ("thickness", "thickness = 0.005"),
    ("ke", "ke = 1000"),
    ("kd", "kd = 0.1"),
    ("kf", "kf = 1"),
    ("mu", "mu = 0.3"),
    ("most", "most = 10000"),
];

pub(super) fn read(node: &Node<'_>) -> Result<SoftContact, Invalid> {
    let table = node.table(KEYS)?;
    let number = |key| table.optional(key, |it| it.number()).map(|found| found.unwrap_or(0.0));
    Ok(SoftContact {
        thickness: table.need("thickness")?.number()?,
        ke: table.need("ke")?.number()?,
        kd: number("kd")?,
        kf: number("kf")?,
        mu: number("mu")?,
        most: table.optional("most", |it| it.whole())?,
    })
}
