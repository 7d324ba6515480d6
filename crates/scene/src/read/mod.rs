//! Files to descriptions. Reading finds what only a file can have wrong (keys, types, names); `check` does the rest.

mod attachment;
mod body;
mod bytes;
mod contact;
mod controller;
mod data;
mod files;
mod loss;
mod motion;
mod node;
mod optimiser;
mod particles;
mod robot;
mod shape;
mod simulation;
mod soft;
mod soft_contact;
mod springs;
mod terrain;
mod variable;
mod world;

use node::{Keys, Table};
use world::Surroundings;

use crate::check;
use crate::error::{Error, Invalid};
use crate::names::{Names, PartNames, TouchNames};
use crate::problem::{LossTerm, Optimiser, Variable};
use crate::robot::Robot;
use crate::scene::Scene;
use crate::source::Source;

/// What a file can have.
pub(crate) struct Parts {
    pub scene: Scene,
    pub variables: Vec<Variable>,
    pub losses: Vec<LossTerm>,
    pub optimiser: Optimiser,
}

/// What is wrong here, or in a file that this one names.
enum Fault {
    Here(Invalid),
    Elsewhere(Error),
}

impl From<Invalid> for Fault {
    fn from(invalid: Invalid) -> Self {
        Self::Here(invalid)
    }
}

const KEYS: Keys = &[
    ("name", "name = \"throw\""),
    ("description", "description = \"A ball is thrown.\""),
    ("simulation", "[simulation]"),
    ("world", "[world]"),
    ("particles", "[[particles]]"),
    ("springs", "[[springs]]"),
    ("solids", "[[solids]]"),
    ("sheets", "[[sheets]]"),
    ("attachments", "[[attachments]]"),
    ("motions", "[[motions]]"),
    ("soft_contact", "[soft_contact]"),
    ("controllers", "[[controllers]]"),
    ("forces", "[[forces]]"),
    ("actuators", "[[actuators]]"),
    ("ground", "[ground]"),
    ("contact", "[contact]"),
    ("materials", "[[materials]]"),
    ("material_pairs", "[[material_pairs]]"),
    ("shapes", "[[shapes]]"),
    ("robots", "[[robots]]"),
    ("bodies", "[[bodies]]"),
    ("variables", "[[variables]]"),
    ("loss", "[[loss]]"),
    ("optimiser", "[optimiser]"),
];

/// Reads and checks a file.
pub(crate) fn file(source: &Source) -> Result<Parts, Error> {
    let table = source.table()?;
    if table.get_ref().is_empty() {
        let fix = "write the sections `[simulation]` and `[[particles]]`";
        return Err(source.error("", "the file is empty", fix));
    }
    let read = || -> Result<Parts, Fault> {
        let root = Table::root(table.get_ref(), KEYS)?;
        let scene = scene(&root, source)?;
        check::scene(&scene)?;
        let variables = root.sections("variables", variable::read)?;
        check::variables(&variables)?;
        let known = loss::Known {
            simulation: &scene.simulation,
            particles: Names::new(&scene.particles),
            parts: PartNames::new(&scene.robots),
            touchers: TouchNames::new(&scene),
            source,
        };
        let losses = root.sections("loss", |node| loss::read(node, &known))?;
        check::losses(&scene, &losses)?;
        let optimiser =
            root.get("optimiser").map_or(Ok(Optimiser::default()), |node| optimiser::read(&node))?;
        check::optimiser(&optimiser)?;
        Ok(Parts { scene, variables, losses, optimiser })
    };
    read().map_err(|fault| match fault {
        Fault::Here(invalid) => source.attach(invalid),
        Fault::Elsewhere(error) => error,
    })
}

fn scene(root: &Table<'_>, source: &Source) -> Result<Scene, Fault> {
    let text = |key| root.optional(key, |node| node.text().map(str::to_owned));
    let name = text("name")?.unwrap_or_else(|| stem(source));
    let description = text("description")?.unwrap_or_default();
    let simulation = root.get("simulation").ok_or_else(|| {
        let fix = "add it, with `dt = 0.01` and `steps = 100`";
        root.invalid("simulation", "the section `[simulation]` is missing", fix)
    })?;
    let simulation = simulation::read(&simulation)?;
    let world = root.get("world").map_or(Ok(Default::default()), |node| world::world(&node))?;
    let materials = root.sections("materials", contact::material)?;
    let mut total = 0;
    let mut particles = root.sections("particles", |node| particles::read(node, &materials, &mut total))?;
    let (solids, sheets) = soft::all(root, &materials, source, &mut particles)?;
    let names = Names::new(&particles);
    let springs = springs::all(root, &names, &particles)?;
    let forces = world::forces(root, &names)?;
    let soft_contact = root.get("soft_contact").map(|node| soft_contact::read(&node)).transpose()?;
    let controllers = root.sections("controllers", controller::read)?;
    let actuators = root.sections("actuators", |node| world::actuator(node, &names))?;
    let contact = root.get("contact").map(|node| contact::read(&node)).transpose()?;
    let material_pairs = root.sections("material_pairs", |node| contact::pair(node, &materials))?;
    let surroundings = Surroundings { contact, materials: &materials, particles: !particles.is_empty() };
    let ground = root.get("ground").map(|node| world::ground(&node, &surroundings)).transpose()?;
    let shapes = terrain::all(root, &materials, source)?;
    let mut warnings = Vec::new();
    let mut robots =
        root.sections("robots", |node| robot::read(node, &simulation, &materials, source, &mut warnings))?;
    for (i, robot) in robots.iter().enumerate() {
        warnings.extend(other_gravity(i, robot, world.gravity).map(|invalid| source.attach(invalid)));
    }
    let mut bodies = 0;
    robots.extend(root.sections("bodies", |node| body::read(node, &materials, &mut bodies))?);
    let attachments = attachment::all(root, &particles, &robots)?;
    let motions = motion::all(root, &particles)?;
    let mut scene = Scene {
        name,
        description,
        world,
        springs,
        solids,
        sheets,
        attachments,
        motions,
        soft_contact,
        controllers,
        forces,
        actuators,
        ground,
        contact,
        materials,
        material_pairs,
        shapes,
        robots,
        simulation,
        warnings,
        particles,
    };
    let doubts = check::doubts(&scene).map(|invalid| source.attach(invalid));
    scene.warnings.extend(doubts);
    Ok(scene)
}

/// A world has one gravity: what a robot's file says of it is left out.
fn other_gravity(i: usize, robot: &Robot, gravity: [f64; 3]) -> Option<Invalid> {
    let said = robot.options.gravity.filter(|said| *said != gravity)?;
    let what = format!("the file has the gravity {said:?}, and the scene {gravity:?}, which is taken");
    Some(Invalid::new(format!("robots[{i}].file"), what, format!("write `gravity = {said:?}` in `[world]`")))
}

/// The file's name without its ending: what a scene without a name is called.
fn stem(source: &Source) -> String {
    std::path::Path::new(source.file()).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
