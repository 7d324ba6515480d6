//! `[[robots.joints]]`.

use super::{body_of, name};
use crate::error::Invalid;
use crate::read::node::{Keys, Node, Table};
use crate::robot::{Joint, JointKind, Limit, Mimic, Robot};

const KEYS: Keys = &[
    ("name", "name = \"elbow\""),
    ("body", "body = \"forearm\""),
    ("kind", "kind = \"hinge\""),
    ("axis", "axis = [0, 1, 0]"),
    ("anchor", "anchor = [0, 0, 0]"),
    ("reference", "reference = 0"),
    ("range", "range = [-1.5, 1.5]"),
    ("limit", "limit = { stiffness = 1000, damping = 10 }"),
    ("armature", "armature = 0.01"),
    ("damping", "damping = 0.1"),
    ("friction", "friction = 0.1"),
    ("stiffness", "stiffness = 10"),
    ("spring_reference", "spring_reference = 0"),
    ("effort", "effort = 50"),
    ("speed", "speed = 3"),
    ("mimic", "mimic = { joint = \"left\", multiplier = 1, offset = 0 }"),
];

const LIMIT_KEYS: Keys = &[("stiffness", "stiffness = 1000"), ("damping", "damping = 10")];

const MIMIC_KEYS: Keys =
    &[("joint", "joint = \"left\""), ("multiplier", "multiplier = 1"), ("offset", "offset = 0")];

const KINDS: [(&str, JointKind); 4] = [
    ("hinge", JointKind::Hinge),
    ("slide", JointKind::Slide),
    ("ball", JointKind::Ball),
    ("free", JointKind::Free),
];

/// Reads all joints. A joint may follow one that stands after it, so that these are looked for when all are read.
pub(super) fn all(table: &Table<'_>, robot: &Robot) -> Result<Vec<Joint>, Invalid> {
    let mut joints = table.sections("joints", |node| read(node, robot))?;
    let names: Vec<String> = joints.iter().map(|joint| joint.name.clone()).collect();
    let mimics =
        table.sections("joints", |node| node.table(KEYS)?.optional("mimic", |node| mimic(node, &names)))?;
    for (joint, mimic) in joints.iter_mut().zip(mimics) {
        joint.mimic = mimic;
    }
    Ok(joints)
}

/// The keys that joints of a kind do not have.
fn foreign(kind: JointKind) -> (&'static str, &'static [&'static str]) {
    match kind {
        JointKind::Hinge => ("a hinge", &[]),
        JointKind::Slide => ("a slide", &[]),
        JointKind::Ball => ("a ball joint", &["axis", "reference", "spring_reference", "mimic"]),
        JointKind::Free => (
            "a free joint",
            &["axis", "anchor", "reference", "range", "limit", "stiffness", "spring_reference", "mimic"],
        ),
    }
}

fn read(node: &Node<'_>, robot: &Robot) -> Result<Joint, Invalid> {
    let table = node.table(KEYS)?;
    let name = name(&table)?;
    let body = body_of(&table.need("body")?, robot)?;
    let kind = table.need("kind")?.choose("kind of joint", &KINDS)?;
    let (word, keys) = foreign(kind);
    table.refuse(word, keys)?;
    let axis = match kind {
        JointKind::Hinge | JointKind::Slide => table.need("axis")?.direction()?,
        JointKind::Ball | JointKind::Free => [0.0, 0.0, 1.0],
    };
    let number = |key| table.optional(key, |it| it.number());
    Ok(Joint {
        anchor: table.optional("anchor", |it| it.vector())?.unwrap_or_default(),
        reference: number("reference")?.unwrap_or(0.0),
        range: table.optional("range", |it| it.array("a list of two numbers"))?,
        limit: limit_of(&table)?,
        armature: number("armature")?.unwrap_or(0.0),
        damping: number("damping")?.unwrap_or(0.0),
        friction: number("friction")?.unwrap_or(0.0),
        stiffness: number("stiffness")?.unwrap_or(0.0),
        spring_reference: number("spring_reference")?.unwrap_or(0.0),
        effort: number("effort")?,
        speed: number("speed")?,
        ..Joint::new(name, body, kind, axis)
    })
}

/// How a range is kept; if it does not say so, in the usual way.
fn limit_of(table: &Table<'_>) -> Result<Limit, Invalid> {
    if !table.has("range") {
        table.refuse("a joint without `range`", &["limit"])?;
        return Ok(Limit::default());
    }
    Ok(table.optional("limit", limit)?.unwrap_or_default())
}

/// `{ stiffness, damping }`
pub(super) fn limit(node: &Node<'_>) -> Result<Limit, Invalid> {
    let table = node.table(LIMIT_KEYS)?;
    Ok(Limit {
        stiffness: table.need("stiffness")?.number()?,
        damping: table.optional("damping", |it| it.number())?.unwrap_or(0.0),
    })
}

fn mimic(node: &Node<'_>, names: &[String]) -> Result<Mimic, Invalid> {
    let table = node.table(MIMIC_KEYS)?;
    let joint = table.need("joint")?;
    let choices: Vec<(&str, usize)> = names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    let followed = joint.choose("joint", &choices)?;
    let number =
        |key, usual: f64| Ok::<f64, Invalid>(table.optional(key, |it| it.number())?.unwrap_or(usual));
    Ok(Mimic { joint: followed, multiplier: number("multiplier", 1.0)?, offset: number("offset", 0.0)? })
}
