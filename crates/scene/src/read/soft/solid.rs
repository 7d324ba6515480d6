//! `[[solids]]`.

use super::{Reader, numbers};
use crate::elastic::{Elastic, SolidMaterial};
use crate::error::Invalid;
use crate::material::Material;
use crate::read::Fault;
use crate::read::node::{Keys, Node};
use crate::read::shape::placement;
use crate::solid::Solid;

const KEYS: Keys = &[
    ("name", "name = \"beam\""),
    ("mesh", "mesh = { beam = [1, 0.1, 0.1], cells = [10, 2, 2] }"),
    ("position", "position = [0, 0, 1]"),
    ("orientation", "orientation = [1, 0, 0, 0]"),
    ("velocity", "velocity = [1, 0, 2]"),
    ("velocities", "velocities = [[0, 0, 0], [1, 0, 0]]"),
    ("material", "material = \"neo-hookean\""),
    ("young", "young = 1e6"),
    ("poisson", "poisson = 0.3"),
    ("mu", "mu = 4e5"),
    ("lambda", "lambda = 6e5"),
    ("density", "density = 1000"),
    ("viscosity", "viscosity = 10"),
    ("actuation", "actuation = \"control\""),
    ("rest_params", "rest_params = true"),
    ("mass", "mass = 0.1"),
    ("masses", "masses = [0.1, 0.2]"),
    ("fixed", "fixed = { box = [[-0.1, -1, -1], [0.1, 1, 1]] }"),
    ("radius", "radius = 0.05"),
    ("radii", "radii = [0.05, 0.1]"),
    ("surface", "surface = \"rubber\""),
];

impl Reader<'_> {
    /// Reads a solid, and adds its points.
    pub(super) fn solid(&mut self, node: &Node<'_>) -> Result<Solid, Fault> {
        let table = node.table(KEYS)?;
        let name = table.name()?;
        let mesh = table.need("mesh")?;
        let placed = self.meshes.solid(&mesh)?.placed(&placement(&table)?);
        self.count(&mesh, &placed)?;
        let points = self.group(&table, &name, &placed)?;
        let count = placed.elements.len();
        let [mu, lambda] = numbers::elastic(&table, count, Elastic::of_young)?;
        let (actuation, controlled) = numbers::actuation(&table, "actuation", count)?;
        let solid = Solid {
            group: self.groups.len(),
            material: table.optional("material", |it| material(it, self.materials))?.unwrap_or_default(),
            mu,
            lambda,
            density: numbers::need(&table, "density")?,
            actuation,
            controlled,
            viscosity: numbers::some(&table, "viscosity")?,
            rest_params: table.optional("rest_params", |it| it.yes())?.unwrap_or(false),
            name,
            elements: placed.elements,
            rest: placed.points,
        };
        self.groups.push(points);
        Ok(solid)
    }
}

/// The law of a solid. Who names one of `[[materials]]` means its surface.
fn material(node: &Node<'_>, materials: &[Material]) -> Result<SolidMaterial, Invalid> {
    let name = node.text()?;
    name.parse().map_err(|invalid: Invalid| {
        let invalid = node.moved(invalid);
        if !materials.iter().any(|material| material.name == name) {
            return invalid;
        }
        let fix = format!("{}; what touches is named by `surface = \"{name}\"`", invalid.fix);
        Invalid { fix, ..invalid }
    })
}
