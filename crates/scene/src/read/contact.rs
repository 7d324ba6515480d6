//! `[contact]`, `[[materials]]` and `[[material_pairs]]`.

use super::node::{Keys, Node, Table};
use crate::contact::{
    Complementarity, Contact, ContactGradient, ContactModel, ContactSolver, FrictionCone, JointFriction,
    JointLimits, Penalty,
};
use crate::error::Invalid;
use crate::material::{Material, MaterialPair, Surface};

const KEYS: Keys = &[
    ("model", "model = \"complementarity\""),
    ("mu", "mu = 0.8"),
    ("restitution", "restitution = 0"),
    ("self_collision", "self_collision = true"),
    ("most_contacts", "most_contacts = 1000"),
    ("gradient", "gradient = \"implicit\""),
    ("solver", "solver = \"newton\""),
    ("friction_cone", "friction_cone = \"circular\""),
    ("iterations", "iterations = 100"),
    ("fixed_iterations", "fixed_iterations = 20"),
    ("tolerance", "tolerance = 1e-12"),
    ("stabilisation", "stabilisation = 1"),
    ("regularisation", "regularisation = 1e-4"),
    ("margin", "margin = 0.01"),
    ("joint_limits", "joint_limits = \"soft\""),
    ("joint_friction", "joint_friction = \"smooth\""),
    ("ke", "ke = 1e4"),
    ("kd", "kd = 100"),
    ("kf", "kf = 100"),
];

const OF_COMPLEMENTARITY: [&str; 11] = [
    "gradient",
    "solver",
    "friction_cone",
    "iterations",
    "fixed_iterations",
    "tolerance",
    "stabilisation",
    "regularisation",
    "margin",
    "joint_limits",
    "joint_friction",
];

const OF_PENALTY: [&str; 3] = ["ke", "kd", "kf"];

const MATERIAL_KEYS: Keys = &[
    ("name", "name = \"rubber\""),
    ("mu", "mu = 0.8"),
    ("restitution", "restitution = 0.5"),
    ("ke", "ke = 1e4"),
    ("kd", "kd = 100"),
    ("kf", "kf = 100"),
];

const PAIR_KEYS: Keys = &[
    ("between", "between = [\"rubber\", \"ice\"]"),
    ("mu", "mu = 0.8"),
    ("restitution", "restitution = 0.5"),
    ("ke", "ke = 1e4"),
    ("kd", "kd = 100"),
    ("kf", "kf = 100"),
];

pub(super) fn read(node: &Node<'_>) -> Result<Contact, Invalid> {
    let table = node.table(KEYS)?;
    let usual = Contact::default();
    let hard = [("complementarity", true), ("penalty", false)];
    let model = match table.optional("model", |it| it.choose("model of contact", &hard))?.unwrap_or(true) {
        true => {
            refuse(&table, "complementarity", &OF_PENALTY, "penalty")?;
            ContactModel::Complementarity(complementarity(&table)?)
        }
        false => {
            refuse(&table, "penalty", &OF_COMPLEMENTARITY, "complementarity")?;
            ContactModel::Penalty(penalty(&table)?)
        }
    };
    Ok(Contact {
        model,
        mu: number(&table, "mu")?.unwrap_or(usual.mu),
        restitution: number(&table, "restitution")?.unwrap_or(usual.restitution),
        self_collision: table.optional("self_collision", |it| it.yes())?.unwrap_or(usual.self_collision),
        most_contacts: table.optional("most_contacts", |it| it.whole())?,
    })
}

/// Refuses keys of the other model.
fn refuse(table: &Table<'_>, model: &str, keys: &[&str], other: &str) -> Result<(), Invalid> {
    table.refuse(&format!("the model `{model}`"), keys).map_err(|invalid| Invalid {
        fix: format!("leave it out, or write `model = \"{other}\"`"),
        ..invalid
    })
}

fn complementarity(table: &Table<'_>) -> Result<Complementarity, Invalid> {
    let gradients = [("implicit", ContactGradient::Implicit), ("reverse", ContactGradient::Reverse)];
    let solvers = [("newton", ContactSolver::Newton), ("gauss-seidel", ContactSolver::GaussSeidel)];
    let cones = [("circular", FrictionCone::Circular), ("box", FrictionCone::Box)];
    let limits = [("soft", JointLimits::Soft), ("hard", JointLimits::Hard)];
    let frictions = [("smooth", JointFriction::Smooth), ("hard", JointFriction::Hard)];
    table.one_of(&["iterations", "fixed_iterations"])?;
    table.one_of(&["tolerance", "fixed_iterations"])?;
    let usual = Complementarity::default();
    Ok(Complementarity {
        gradient: table.optional("gradient", |it| it.choose("gradient", &gradients))?.unwrap_or_default(),
        solver: table.optional("solver", |it| it.choose("solver", &solvers))?.unwrap_or_default(),
        friction_cone: table.optional("friction_cone", |it| it.choose("cone", &cones))?.unwrap_or_default(),
        iterations: table.optional("iterations", |it| it.whole())?.unwrap_or(usual.iterations),
        fixed_iterations: table.optional("fixed_iterations", |it| it.whole())?,
        tolerance: number(table, "tolerance")?.unwrap_or(usual.tolerance),
        stabilisation: number(table, "stabilisation")?.unwrap_or(usual.stabilisation),
        regularisation: number(table, "regularisation")?.unwrap_or(usual.regularisation),
        margin: number(table, "margin")?.unwrap_or(usual.margin),
        joint_limits: table
            .optional("joint_limits", |it| it.choose("kind of joint limits", &limits))?
            .unwrap_or_default(),
        joint_friction: table
            .optional("joint_friction", |it| it.choose("kind of joint friction", &frictions))?
            .unwrap_or_default(),
    })
}

fn penalty(table: &Table<'_>) -> Result<Penalty, Invalid> {
    let usual = Penalty::default();
    Ok(Penalty {
        ke: number(table, "ke")?.unwrap_or(usual.ke),
        kd: number(table, "kd")?.unwrap_or(usual.kd),
        kf: number(table, "kf")?.unwrap_or(usual.kf),
    })
}

fn number(table: &Table<'_>, key: &str) -> Result<Option<f64>, Invalid> {
    table.optional(key, |it| it.number())
}

pub(super) fn material(node: &Node<'_>) -> Result<Material, Invalid> {
    let table = node.table(MATERIAL_KEYS)?;
    Ok(Material { name: table.name()?, surface: surface(&table)? })
}

pub(super) fn pair(node: &Node<'_>, materials: &[Material]) -> Result<MaterialPair, Invalid> {
    let table = node.table(PAIR_KEYS)?;
    let names = table.need("between")?;
    let wanted = "a list of two materials";
    let between = names.items(wanted, |it| index(it, materials))?;
    let between = between.try_into().map_err(|_| names.wrong(wanted))?;
    Ok(MaterialPair { between, surface: surface(&table)? })
}

fn surface(table: &Table<'_>) -> Result<Surface, Invalid> {
    Ok(Surface {
        mu: number(table, "mu")?,
        restitution: number(table, "restitution")?,
        ke: number(table, "ke")?,
        kd: number(table, "kd")?,
        kf: number(table, "kf")?,
    })
}

/// The material of a name.
fn index(node: &Node<'_>, materials: &[Material]) -> Result<usize, Invalid> {
    let names: Vec<(&str, usize)> =
        materials.iter().enumerate().map(|(i, material)| (material.name.as_str(), i)).collect();
    node.choose("material", &names)
}

/// The `material` of a table, if it names one.
pub(super) fn material_of(table: &Table<'_>, materials: &[Material]) -> Result<Option<usize>, Invalid> {
    material_at(table, "material", materials)
}

/// The material that a key of a table names, if it is there.
pub(super) fn material_at(
    table: &Table<'_>,
    key: &str,
    materials: &[Material],
) -> Result<Option<usize>, Invalid> {
    table.optional(key, |it| index(it, materials))
}
