//! `[[sheets]]`.

use super::{Reader, numbers};
use crate::elastic::Elastic;
use crate::read::Fault;
use crate::read::node::{Keys, Node};
use crate::read::shape::placement;
use crate::sheet::Sheet;

const KEYS: Keys = &[
    ("name", "name = \"flag\""),
    ("mesh", "mesh = { sheet = [1, 0.5], cells = [10, 5] }"),
    ("position", "position = [0, 0, 1]"),
    ("orientation", "orientation = [1, 0, 0, 0]"),
    ("velocity", "velocity = [1, 0, 2]"),
    ("velocities", "velocities = [[0, 0, 0], [1, 0, 0]]"),
    ("thickness", "thickness = 1e-3"),
    ("young", "young = 1e6"),
    ("poisson", "poisson = 0.3"),
    ("mu", "mu = 4e5"),
    ("lambda", "lambda = 3e5"),
    ("density", "density = 200"),
    ("viscosity", "viscosity = 10"),
    ("actuation", "actuation = \"control\""),
    ("rest_params", "rest_params = true"),
    ("bending", "bending = 1e-4"),
    ("bending_damping", "bending_damping = 1e-6"),
    ("rest_angles", "rest_angles = 0"),
    ("fold", "fold = \"control\""),
    ("drag", "drag = 0.5"),
    ("lift", "lift = 0.1"),
    ("mass", "mass = 0.1"),
    ("masses", "masses = [0.1, 0.2]"),
    ("fixed", "fixed = { box = [[-0.1, -1, -1], [0.1, 1, 1]] }"),
    ("radius", "radius = 0.05"),
    ("radii", "radii = [0.05, 0.1]"),
    ("surface", "surface = \"rubber\""),
];

impl Reader<'_> {
    /// Reads a sheet, and adds its points.
    pub(super) fn sheet(&mut self, node: &Node<'_>) -> Result<Sheet, Fault> {
        let table = node.table(KEYS)?;
        let name = table.name()?;
        let mesh = table.need("mesh")?;
        let placed = self.meshes.sheet(&mesh)?.placed(&placement(&table)?);
        self.count(&mesh, &placed)?;
        let points = self.group(&table, &name, &placed)?;
        let count = placed.elements.len();
        let [mu, lambda] = numbers::elastic(&table, count, Elastic::of_young_in_plane)?;
        let (actuation, controlled) = numbers::actuation(&table, "actuation", count)?;
        let hinges = placed.hinges();
        let (fold, fold_controlled) = numbers::actuation(&table, "fold", hinges.len())?;
        let sheet = Sheet {
            group: self.groups.len(),
            thickness: numbers::need(&table, "thickness")?,
            mu,
            lambda,
            density: numbers::need(&table, "density")?,
            actuation,
            controlled,
            viscosity: numbers::some(&table, "viscosity")?,
            rest_params: table.optional("rest_params", |it| it.yes())?.unwrap_or(false),
            hinges,
            bending: Vec::new(),
            bending_damping: numbers::some(&table, "bending_damping")?,
            rest_angles: numbers::some(&table, "rest_angles")?,
            fold,
            fold_controlled,
            drag: numbers::some(&table, "drag")?,
            lift: numbers::some(&table, "lift")?,
            name,
            elements: placed.elements,
            rest: placed.points,
        };
        self.groups.push(points);
        Ok(match numbers::some(&table, "bending")? {
            Some(bending) => Sheet { bending, ..sheet },
            None => sheet.bending_as_plate(),
        })
    }
}
