//! `[[loss]]`.

use super::Fault;
use super::data;
use super::node::{Keys, Node, Table};
use crate::contact_loss::ContactQuantity;
use crate::error::Invalid;
use crate::names::{Names, PartNames, Target, TouchNames};
use crate::problem::{LossKind, LossTerm, When};
use crate::simulation::Simulation;
use crate::source::Source;
use crate::words;

const KEYS: Keys = &[
    ("kind", "kind = \"position\""),
    ("of", "of = \"ball\""),
    ("with", "with = \"ground\""),
    ("quantity", "quantity = \"normal-force\""),
    ("target", "target = [5, 0, 0]"),
    ("axes", "axes = [\"x\", \"y\"]"),
    ("data", "data = \"measured.csv\""),
    ("at", "at = \"end\""),
    ("weight", "weight = 1.0"),
];

/// Those of a joint, whose target is one number.
const JOINT_KEYS: Keys = &[
    ("kind", "kind = \"joint\""),
    ("of", "of = \"arm.elbow\""),
    ("target", "target = 0.5"),
    ("at", "at = \"end\""),
    ("weight", "weight = 1.0"),
];

/// Those of a contact, whose target is one number unless it is a force.
const CONTACT_KEYS: Keys = &[
    ("kind", "kind = \"contact\""),
    ("of", "of = \"robot.foot\""),
    ("with", "with = \"ground\""),
    ("quantity", "quantity = \"normal-force\""),
    ("target", "target = 10"),
    ("at", "at = \"end\""),
    ("weight", "weight = 1.0"),
];

const AT_KEYS: Keys = &[("times", "times = [0.5, 1.0]")];

/// Kinds in files.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Position,
    Velocity,
    Joint,
    Trajectory,
    Effort,
    Contact,
}

/// Quantities of contacts in files.
#[derive(Clone, Copy, PartialEq)]
enum Quantity {
    Force,
    NormalForce,
    FrictionForce,
    Penetration,
}

const QUANTITIES: [(&str, Quantity); 4] = [
    ("force", Quantity::Force),
    ("normal-force", Quantity::NormalForce),
    ("friction-force", Quantity::FrictionForce),
    ("penetration", Quantity::Penetration),
];

const KINDS: [(&str, Kind); 6] = [
    ("position", Kind::Position),
    ("velocity", Kind::Velocity),
    ("joint", Kind::Joint),
    ("trajectory", Kind::Trajectory),
    ("effort", Kind::Effort),
    ("contact", Kind::Contact),
];

impl Kind {
    fn name(self) -> &'static str {
        KINDS[self as usize].0
    }

    /// The keys that say what is measured. A trajectory has its times in its data.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Position | Self::Velocity => &["of", "target", "axes", "at"],
            Self::Joint => &["of", "target", "at"],
            Self::Trajectory => &["data"],
            Self::Effort => &["of", "at"],
            Self::Contact => &["of", "with", "quantity", "target", "axes", "at"],
        }
    }
}

/// What a loss can name.
pub(super) struct Known<'s> {
    pub simulation: &'s Simulation,
    pub particles: Names<'s>,
    pub parts: PartNames<'s>,
    pub touchers: TouchNames<'s>,
    pub source: &'s Source,
}

/// Reads a part of the loss, and the data file that it names.
pub(super) fn read(node: &Node<'_>, known: &Known<'_>) -> Result<LossTerm, Fault> {
    let Known { simulation, particles, parts, .. } = known;
    let table = node.table(KEYS)?;
    let kind = table.need("kind")?.choose("kind of loss", &KINDS)?;
    own_keys_only(&table, kind)?;
    let weight = table.optional("weight", |it| it.number())?.unwrap_or(1.0);
    let at = table.optional("at", |node| when(node, simulation.dt))?;
    let (kind, usual) = match kind {
        Kind::Position | Kind::Velocity => (of_point(&table, kind, particles, parts)?, When::End),
        Kind::Joint => (of_joint(&node.table(JOINT_KEYS)?, parts)?, When::End),
        Kind::Trajectory => {
            let data = data::read(&table.need("data")?, known)?;
            (
                LossKind::Trajectory { data: data.table, file: data.file, tracks: data.tracks },
                When::Steps(data.steps),
            )
        }
        Kind::Contact => (of_contact(node, &table, &known.touchers)?, When::End),
        Kind::Effort => (LossKind::Effort { actuator: table.need("of")?.text()?.to_owned() }, When::Always),
    };
    Ok(LossTerm { kind, at: at.unwrap_or(usual), weight })
}

/// Refuses keys of other kinds.
fn own_keys_only(table: &Table<'_>, kind: Kind) -> Result<(), Invalid> {
    let foreign = |key: &&&str| table.has(key) && !kind.keys().contains(key);
    let Some(key) = KINDS.iter().flat_map(|(_, kind)| kind.keys()).find(foreign) else {
        return Ok(());
    };
    let what = format!("a loss of kind `{}` has no `{key}`", kind.name());
    let fix = match (kind, *key) {
        (Kind::Trajectory, "at") => "leave it out: the times are in the data file".into(),
        _ => format!("leave it out, or change the kind; `{}` has {}", kind.name(), words::list(kind.keys())),
    };
    Err(table.invalid(key, what, fix))
}

/// The position or velocity of a particle, a body or a frame.
fn of_point(
    table: &Table<'_>,
    kind: Kind,
    particles: &Names<'_>,
    parts: &PartNames<'_>,
) -> Result<LossKind, Invalid> {
    let name = table.need("of")?;
    let of = parts.target(particles, name.text()?).map_err(|invalid| name.moved(invalid))?;
    let target = table.need("target")?.vector()?;
    let axes = table.optional("axes", |it| it.axes())?.unwrap_or([true; 3]);
    Ok(match (of, kind == Kind::Velocity) {
        (Target::Particle(of), false) => LossKind::Position { of, target, axes },
        (Target::Particle(of), true) => LossKind::Velocity { of, target, axes },
        (Target::Part(of), false) => LossKind::PartPosition { of, target, axes },
        (Target::Part(of), true) => LossKind::PartVelocity { of, target, axes },
    })
}

fn of_joint(table: &Table<'_>, parts: &PartNames<'_>) -> Result<LossKind, Invalid> {
    let name = table.need("of")?;
    let (robot, joint) = parts.joint(name.text()?).map_err(|invalid| name.moved(invalid))?;
    Ok(LossKind::Joint { robot, joint, target: table.need("target")?.number()? })
}

/// Forces of contacts, or how deep they are.
fn of_contact(node: &Node<'_>, table: &Table<'_>, touchers: &TouchNames<'_>) -> Result<LossKind, Invalid> {
    let find = |node: &Node<'_>| touchers.find(node.text()?).map_err(|invalid| node.moved(invalid));
    let of = find(&table.need("of")?)?;
    let with = table.optional("with", find)?;
    let quantity = table.need("quantity")?.choose("quantity of contacts", &QUANTITIES)?;
    if quantity == Quantity::Force {
        let target = table.need("target")?.vector()?;
        let axes = table.optional("axes", |it| it.axes())?.unwrap_or([true; 3]);
        return Ok(LossKind::Contact { of, with, quantity: ContactQuantity::Force { target, axes } });
    }
    if table.has("axes") {
        let what = format!("the quantity `{}` has no `axes`", QUANTITIES[quantity as usize].0);
        return Err(table.invalid(
            "axes",
            what,
            "leave it out, or take the quantity `force`, which is a vector",
        ));
    }
    let table = node.table(CONTACT_KEYS)?;
    let target = table.need("target")?.number()?;
    let quantity = match quantity {
        Quantity::Force | Quantity::NormalForce => ContactQuantity::NormalForce { target },
        Quantity::FrictionForce => ContactQuantity::FrictionForce { target },
        Quantity::Penetration => ContactQuantity::Penetration { target },
    };
    Ok(LossKind::Contact { of, with, quantity })
}

/// "end", "always", a step, steps, or times that are multiples of the time step.
fn when(node: &Node<'_>, dt: f64) -> Result<When, Invalid> {
    if node.is_text() {
        const WORDS: [(&str, bool); 2] = [("always", true), ("end", false)];
        return Ok(if node.choose("time", &WORDS)? { When::Always } else { When::End });
    }
    if node.is_table() {
        let table = node.table(AT_KEYS)?;
        let steps = table.need("times")?.items("a list of times", |time| {
            step_of(time.number()?, dt).map_err(|(what, fix)| time.invalid(what, fix))
        })?;
        return Ok(When::Steps(steps));
    }
    if node.is_whole() {
        return Ok(When::Steps(vec![node.whole()?]));
    }
    if node.len().is_err() {
        return Err(node.wrong("\"end\", \"always\", a step, a list of steps or `{ times = [0.5, 1.0] }`"));
    }
    Ok(When::Steps(node.items("a list of steps", |it| it.whole())?))
}

/// The step at a time [s], or what is wrong with it and the fix.
pub(super) fn step_of(time: f64, dt: f64) -> Result<usize, (String, String)> {
    let step = (time / dt).round();
    if time < -1e-6 * dt {
        return Err((format!("the time {time} s is before the start"), "times start at 0".into()));
    }
    if (time - step * dt).abs() > 1e-6 * dt {
        let what = format!("the time {time} s is no multiple of the time step dt = {dt} s");
        return Err((what, format!("the nearest that is one is {} s", step * dt)));
    }
    Ok(step as usize)
}
