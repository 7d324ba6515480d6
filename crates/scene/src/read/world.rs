//! `[world]`, `[[forces]]`, `[[actuators]]` and `[ground]`.

use super::contact::material_of;
use super::node::{Keys, Node, Table};
use crate::check::{MOST, too_many};
use crate::contact::{Contact, ContactModel};
use crate::error::Invalid;
use crate::material::Material;
use crate::names::Names;
use crate::scene::{Actuator, AppliedForce, Ground, Oscillation, World};
use crate::words;

const WORLD_KEYS: Keys = &[("gravity", "gravity = [0, 0, -9.81]"), ("wind", "wind = [0, 0, 0]")];

const FORCE_KEYS: Keys = &[
    ("name", "name = \"gust\""),
    ("on", "on = \"ball\""),
    ("force", "force = [1, 0, 0]"),
    ("frequency", "frequency = 2.0"),
    ("phase", "phase = 0.5"),
];

const ACTUATOR_KEYS: Keys = &[
    ("name", "name = \"thruster\""),
    ("on", "on = \"ball\""),
    ("control", "control = [0, 0, 0]"),
    ("controls", "controls = [[0, 0, 0], [1, 0, 0]]"),
];

const GROUND_KEYS: Keys = &[
    ("height", "height = 0"),
    ("ke", "ke = 1e4"),
    ("kd", "kd = 10"),
    ("kf", "kf = 10"),
    ("mu", "mu = 0.5"),
    ("material", "material = \"rubber\""),
];

pub(super) fn world(node: &Node<'_>) -> Result<World, Invalid> {
    let table = node.table(WORLD_KEYS)?;
    let usual = World::default();
    Ok(World {
        gravity: table.optional("gravity", |it| it.vector())?.unwrap_or(usual.gravity),
        wind: table.optional("wind", |it| it.vector())?.unwrap_or(usual.wind),
    })
}

/// Reads all forces. Their targets are counted over all of them, so that no size is taken from memory unseen.
pub(super) fn forces(root: &Table<'_>, names: &Names<'_>) -> Result<Vec<AppliedForce>, Invalid> {
    let mut total = 0;
    root.sections("forces", |node| force(node, names, &mut total))
}

fn force(node: &Node<'_>, names: &Names<'_>, total: &mut usize) -> Result<AppliedForce, Invalid> {
    let table = node.table(FORCE_KEYS)?;
    let name = table.name()?;
    let on = targets(&table.need("on")?, names, total)?;
    let force = table.need("force")?.vector()?;
    let phase = table.optional("phase", |it| it.number())?;
    let oscillation = table
        .optional("frequency", |it| it.number())?
        .map(|frequency| Oscillation { frequency, phase: phase.unwrap_or(0.0) });
    if oscillation.is_none() && phase.is_some() {
        let what = "a force without `frequency` has no phase";
        return Err(table.invalid("phase", what, "add `frequency = 2.0`, or leave `phase` out"));
    }
    Ok(AppliedForce { name, on, force, oscillation })
}

/// The particles of a name, a glob, or a list of them; each once, in order.
pub(super) fn targets(node: &Node<'_>, names: &Names<'_>, total: &mut usize) -> Result<Vec<usize>, Invalid> {
    let mut matching = |node: &Node<'_>| {
        let pattern = node.text()?;
        let found = names.matching(pattern);
        *total += found.len();
        if *total > MOST {
            return Err(node.moved(too_many("", *total, "targets")));
        }
        if found.is_empty() { Err(node.moved(names.unknown(pattern))) } else { Ok(found) }
    };
    let mut all = match node.len() {
        Ok(_) => node.items("a list of names", &mut matching)?.concat(),
        Err(_) if node.is_text() => matching(node)?,
        Err(_) => return Err(node.wrong("a name, a glob, or a list of them,")),
    };
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

pub(super) fn actuator(node: &Node<'_>, names: &Names<'_>) -> Result<Actuator, Invalid> {
    let table = node.table(ACTUATOR_KEYS)?;
    let on = table.need("on")?;
    Ok(Actuator {
        name: table.name()?,
        on: names.index(on.text()?).map_err(|invalid| on.moved(invalid))?,
        control: table.each(["control", "controls"], 1, |it| it.vector())?.unwrap_or(vec![[0.0; 3]]),
    })
}

/// What is around the ground.
pub(super) struct Surroundings<'s> {
    pub contact: Option<Contact>,
    pub materials: &'s [Material],
    /// Whether there are particles.
    pub particles: bool,
}

/// The ground. Its numbers stand here, or are those of its material, or of `[contact]`. They must stand somewhere when
/// there are particles, which feel them all.
pub(super) fn ground(node: &Node<'_>, around: &Surroundings<'_>) -> Result<Ground, Invalid> {
    let table = node.table(GROUND_KEYS)?;
    let material = material_of(&table, around.materials)?;
    let surface = material.map(|at| around.materials[at].surface).unwrap_or_default();
    let number = |key, of_material: Option<f64>| match (table.get(key), of_material) {
        (Some(_), Some(_)) => {
            let what = format!("the material of the ground has `{key}` too");
            Err(table.invalid(key, what, "keep one of the two"))
        }
        (Some(node), None) => node.number().map(Some),
        (None, _) => Ok(None),
    };
    let ground = Ground {
        height: table.optional("height", |it| it.number())?.unwrap_or(0.0),
        ke: number("ke", surface.ke)?,
        kd: number("kd", surface.kd)?,
        kf: number("kf", surface.kf)?,
        mu: number("mu", surface.mu)?,
        material,
    };
    let Ground { ke, kd, kf, mu, .. } = ground;
    let said = [
        ("ke", ke.or(surface.ke)),
        ("kd", kd.or(surface.kd)),
        ("kf", kf.or(surface.kf)),
        ("mu", mu.or(surface.mu)),
    ];
    let missing = |of: &[&str]| -> Vec<&str> {
        let missing = said.iter().filter(|(key, said)| said.is_none() && of.contains(key));
        missing.map(|(key, _)| *key).collect()
    };
    let missing = match (around.contact.map(|contact| contact.model), around.particles) {
        (None, true) => missing(&["ke", "kd", "kf", "mu"]),
        (Some(ContactModel::Complementarity(_)), true) => missing(&["ke", "kd", "kf"]),
        (None, false) if said.iter().any(|(_, said)| said.is_none()) => {
            let what = "there is no model of contact, without which bodies do not touch the ground";
            return Err(node.invalid(what, "add a section `[contact]`"));
        }
        (Some(ContactModel::Penalty(_)), _) | (_, false) => Vec::new(),
    };
    if missing.is_empty() {
        return Ok(ground);
    }
    let what = format!("particles touch the ground, which has no {}", words::list(&missing));
    Err(table.missing(&missing, what))
}
