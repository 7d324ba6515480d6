//! `[[robots]]`: from a file, or written out.

mod joint;
mod motor;
mod start;

use std::path::{Component, Path, PathBuf};

use super::Fault;
use super::contact::material_of;
use super::data::inside;
use super::node::{Keys, Node, Table};
use super::shape;
use crate::check;
use crate::error::{Error, Invalid};
use crate::material::Material;
use crate::names;
use crate::robot::{Base, Body, Frame, Geometry, Joint, Limit, Load, Robot, Shape};
use crate::simulation::Simulation;
use crate::source::Source;
use crate::words;

const KEYS: Keys = &[
    ("name", "name = \"arm\""),
    ("file", "file = \"arm.urdf\""),
    ("base", "base = \"fixed\""),
    ("lenient", "lenient = true"),
    ("allow", "allow = [\"../meshes\"]"),
    ("packages", "packages = { arm_description = \"../arm\" }"),
    ("position", "position = [0, 0, 1]"),
    ("orientation", "orientation = [1, 0, 0, 0]"),
    ("keyframe", "keyframe = \"home\""),
    ("positions", "positions = { elbow = 0.5 }"),
    ("velocities", "velocities = { elbow = 0.1 }"),
    ("controls", "controls = { motor = 1.0 }"),
    ("limit", "limit = { stiffness = 100, damping = 1 }"),
    ("pushed", "pushed = [\"hand\"]"),
    ("corner_params", "corner_params = [\"hand\"]"),
    ("consistent", "consistent = true"),
    ("material", "material = \"rubber\""),
    ("self_collision", "self_collision = true"),
    ("bodies", "[[robots.bodies]]"),
    ("joints", "[[robots.joints]]"),
    ("tendons", "[[robots.tendons]]"),
    ("motors", "[[robots.motors]]"),
    ("frames", "[[robots.frames]]"),
    ("shapes", "[[robots.shapes]]"),
];

const BODY_KEYS: Keys = &[
    ("name", "name = \"hand\""),
    ("parent", "parent = \"arm\""),
    ("position", "position = [0, 0, 1]"),
    ("orientation", "orientation = [1, 0, 0, 0]"),
    ("mass", "mass = 0.2"),
    ("density", "density = 1000"),
    ("center", "center = [0, 0, 0]"),
    ("inertia", "inertia = [1, 2, 3]"),
    ("shape", "shape = { box = [0.1, 0.1, 0.1] }"),
    ("collides", "collides = true"),
    ("friction", "friction = 0.5"),
    ("material", "material = \"rubber\""),
    ("color", "color = [1, 0, 0, 1]"),
];

const FRAME_KEYS: Keys = &[
    ("name", "name = \"tool\""),
    ("body", "body = \"hand\""),
    ("position", "position = [0, 0, 1]"),
    ("orientation", "orientation = [1, 0, 0, 0]"),
];

const SHAPE_KEYS: Keys = &[
    ("name", "name = \"finger\""),
    ("body", "body = \"hand\""),
    ("position", "position = [0, 0, 1]"),
    ("orientation", "orientation = [1, 0, 0, 0]"),
    ("shape", "shape = { box = [0.1, 0.1, 0.1] }"),
    ("collides", "collides = true"),
    ("friction", "friction = 0.5"),
    ("material", "material = \"rubber\""),
    ("color", "color = [1, 0, 0, 1]"),
];

/// Lists that sections of a scene add to.
const LISTS: [&str; 4] = ["tendons", "motors", "frames", "shapes"];

/// Reads a robot, and the files that it names; their warnings are added to `warnings`.
pub(super) fn read(
    node: &Node<'_>,
    simulation: &Simulation,
    materials: &[Material],
    source: &Source,
    warnings: &mut Vec<Error>,
) -> Result<Robot, Fault> {
    let table = node.table(KEYS)?;
    let mut robot = match table.need_one_of(&["file", "bodies"])? {
        "file" => from_file(&table, source, warnings)?,
        _ => inline(&table, materials)?,
    };
    if let Some(name) = table.optional("name", |it| it.text().map(str::to_owned))? {
        robot.name = name;
    }
    let before = [robot.tendons.len(), robot.motors.len(), robot.frames.len(), robot.shapes.len()];
    robot.tendons.extend(table.sections("tendons", |node| motor::tendon(node, &robot))?);
    robot.motors.extend(table.sections("motors", |node| motor::read(node, &robot))?);
    start::more_motors(&mut robot);
    robot.frames.extend(table.sections("frames", |node| frame(node, &robot))?);
    robot.self_collision = table.optional("self_collision", |it| it.yes())?;
    robot.shapes.extend(table.sections("shapes", |node| shape_of(node, materials, &robot))?);
    if let Some(material) = material_of(&table, materials)? {
        made_of(&mut robot.shapes, before[3], material, materials, table.has("file"));
    }
    robot.place(&shape::placement(&table)?);
    start::read(&table, &mut robot)?;
    if let Some(limit) = table.optional("limit", joint::limit)? {
        // A file does not say more exactly what each of its joints should have; joints of the scene itself do.
        let (file, bare) = (table.has("file"), Limit::default());
        let meant = |joint: &&mut Joint| joint.range.is_some() && (file || joint.limit == bare);
        robot.joints.iter_mut().filter(meant).for_each(|joint| joint.limit = limit);
    }
    let pushed = table.optional("pushed", |it| it.items("a list of bodies", |it| body_of(it, &robot)))?;
    robot.pushed = pushed.unwrap_or_default();
    if let Some(node) = table.get("corner_params") {
        node.items("a list of bodies", |it| corner_params(it, &mut robot))?;
    }
    robot.consistent = table.optional("consistent", |it| it.yes())?.unwrap_or(false);
    let here = |invalid: Invalid| {
        let path = format!("{}.{}", node.path(), in_file(&invalid.path, before, table.has("file")));
        invalid.at(path)
    };
    check::robot(&robot, simulation.steps).map_err(here)?;
    robot.harden_limits().map_err(here)?;
    Ok(robot)
}

/// Gives a material to shapes that name none. What the scene says of a robot replaces the friction of the robot's file,
/// which has the first `given` shapes; not that of the scene's own shapes.
fn made_of(shapes: &mut [Shape], given: usize, material: usize, materials: &[Material], has_file: bool) {
    for (i, shape) in shapes.iter_mut().enumerate().filter(|(_, shape)| shape.material.is_none()) {
        shape.material = Some(material);
        if has_file && i < given && materials[material].surface.mu.is_some() {
            shape.friction = None;
        }
    }
}

/// Where the file has a field of a robot: its lists begin with what other files and shapes of bodies gave.
fn in_file(path: &str, before: [usize; 4], has_file: bool) -> String {
    let (list, rest) = path.split_once('[').unwrap_or((path, ""));
    let (index, rest) = rest.split_once(']').unwrap_or((rest, ""));
    let given = LISTS.iter().position(|known| *known == list).map_or(0, |at| before[at]);
    match index.parse::<usize>() {
        Ok(index) if LISTS.contains(&list) && index >= given => format!("{list}[{}]{rest}", index - given),
        Ok(_) if has_file => "file".into(),
        Ok(_) | Err(_) => path.to_owned(),
    }
}

fn from_file(table: &Table<'_>, source: &Source, warnings: &mut Vec<Error>) -> Result<Robot, Fault> {
    table.refuse("a robot of a file", &["joints"])?;
    let bases = [("fixed", Base::Fixed), ("free", Base::Free)];
    let allow = table.optional("allow", |it| it.items("a list of folders", |it| folder(it, source)))?;
    let allow = allow.unwrap_or_default();
    let node = table.need("file")?;
    let name = node.text()?.to_owned();
    let file = place_of(&node, &allow, source.folder())?;
    let packages = table.optional("packages", |it| {
        let place = |(name, node): (&str, Node<'_>)| {
            Ok((name.to_owned(), source.folder().join(folder(&node, source)?)))
        };
        it.entries()?.into_iter().map(place).collect::<Result<Vec<_>, Invalid>>()
    })?;
    let load = Load {
        packages: packages.unwrap_or_default(),
        lenient: table.optional("lenient", |it| it.yes())?.unwrap_or(false),
        allow: allow.iter().map(|folder| source.folder().join(folder)).collect(),
        base: table.optional("base", |it| it.choose("base", &bases))?.unwrap_or_default(),
        ..Load::default()
    };
    let loaded = Robot::load(&file, &load).map_err(|error| unread(&node, &name, &file, error))?;
    warnings.extend(loaded.warnings);
    if !table.has("name") && names::legal(&loaded.robot.name).is_err() {
        let what =
            format!("the file calls the robot {}, which is no name", words::quoted(&loaded.robot.name));
        return Err(table.invalid("name", what, "add `name = \"arm\"`").into());
    }
    Ok(loaded.robot)
}

/// What is wrong in a place of a robot's file is told of that place; what is wrong with the file as a whole, of the
/// scene's line that names it.
fn unread(node: &Node<'_>, name: &str, file: &Path, error: Error) -> Fault {
    if error.position.is_some() {
        return Fault::Elsewhere(error);
    }
    let shown = if error.file == file.display().to_string() { name } else { &error.file };
    let what = format!("{}: {}", words::quoted(shown), error.what);
    Fault::Here(node.invalid(what, error.fix.replace("`--lenient`", "`lenient = true`")))
}

/// A folder that is there, as the scene names it.
fn folder(node: &Node<'_>, source: &Source) -> Result<PathBuf, Invalid> {
    let name = node.text()?;
    if !source.folder().join(name).is_dir() {
        let what = format!("there is no folder {}", words::quoted(name));
        return Err(node.invalid(what, "write a path that starts at this file's folder"));
    }
    Ok(PathBuf::from(name))
}

/// The path of a robot's file: in the folder of the scene or below it, or in a folder that the scene allows.
fn place_of(node: &Node<'_>, allow: &[PathBuf], folder: &Path) -> Result<PathBuf, Invalid> {
    let name = node.text()?;
    let rest = allow.iter().find_map(|allowed| Path::new(name).strip_prefix(allowed).ok());
    let down = |part: Component<'_>| matches!(part, Component::Normal(_));
    match rest {
        Some(rest) if rest.components().all(down) => Ok(folder.join(name)),
        Some(_) | None => inside(node, name, folder, "arm.urdf").map_err(|invalid| Invalid {
            fix: format!("{}; or add its folder to `allow`", invalid.fix),
            ..invalid
        }),
    }
}

fn inline(table: &Table<'_>, materials: &[Material]) -> Result<Robot, Invalid> {
    table.refuse("a robot without `file`", &["base", "lenient", "allow", "packages", "keyframe"])?;
    let mut robot = Robot { name: table.name()?, ..Robot::default() };
    table.sections("bodies", |node| body(node, materials, &mut robot))?;
    robot.joints = joint::all(table, &robot)?;
    Ok(robot)
}

/// The name of a part of a robot, which is behind the robot's name and a dot.
fn name(table: &Table<'_>) -> Result<String, Invalid> {
    let name = table.name()?;
    names::legal(&name).map_err(|invalid| table.invalid("name", invalid.what, invalid.fix))?;
    Ok(name)
}

/// Adds a body, and its shape.
fn body(node: &Node<'_>, materials: &[Material], robot: &mut Robot) -> Result<(), Invalid> {
    let table = node.table(BODY_KEYS)?;
    let name = name(&table)?;
    let parent = table.optional("parent", |it| parent(it, robot))?;
    let placement = shape::placement(&table)?;
    let solid = shape::solid(&table, materials)?;
    let inertial = solid.as_ref().map(|solid| solid.inertial).unwrap_or_default();
    if let Some(shape) = solid.and_then(|solid| solid.shape) {
        robot.shapes.push(shape.around(robot.bodies.len(), inertial.center));
    }
    robot.bodies.push(Body { name, parent, placement, inertial });
    Ok(())
}

/// The parent of a body is one that stands before it.
fn parent(node: &Node<'_>, robot: &Robot) -> Result<usize, Invalid> {
    let name = node.text()?;
    robot.bodies.iter().position(|body| body.name == name).ok_or_else(|| {
        let names: Vec<&str> = robot.bodies.iter().map(|body| body.name.as_str()).collect();
        let what = format!("there is no body {} before this one", words::quoted(name));
        let fix = match names.as_slice() {
            [] => "write the parent's section first; a body without `parent` hangs from the world".into(),
            names => words::suggest(name, names, format!("the bodies before it are {}", words::list(names))),
        };
        node.invalid(what, fix)
    })
}

/// The body of a name.
fn body_of(node: &Node<'_>, robot: &Robot) -> Result<usize, Invalid> {
    let bodies: Vec<(&str, usize)> =
        robot.bodies.iter().enumerate().map(|(i, it)| (it.name.as_str(), i)).collect();
    node.choose("body", &bodies)
}

/// Makes the corners of a body's meshes params.
fn corner_params(node: &Node<'_>, robot: &mut Robot) -> Result<(), Invalid> {
    let body = body_of(node, robot)?;
    let is_mesh = |shape: &&mut Shape| {
        shape.body == Some(body) && shape.collides && matches!(shape.geometry, Geometry::Mesh(_))
    };
    let mut any = false;
    for shape in robot.shapes.iter_mut().filter(is_mesh) {
        shape.corner_params = true;
        any = true;
    }
    match any {
        true => Ok(()),
        false => {
            let what = format!("{} has no mesh that collides", words::quoted(&robot.bodies[body].name));
            Err(node.invalid(what, "leave it out: only meshes have corners that can be params"))
        }
    }
}

/// The joint of a name.
fn joint_of(node: &Node<'_>, robot: &Robot) -> Result<usize, Invalid> {
    let joints: Vec<(&str, usize)> =
        robot.joints.iter().enumerate().map(|(i, it)| (it.name.as_str(), i)).collect();
    node.choose("joint", &joints)
}

fn frame(node: &Node<'_>, robot: &Robot) -> Result<Frame, Invalid> {
    let table = node.table(FRAME_KEYS)?;
    let name = name(&table)?;
    if robot.bodies.iter().any(|body| body.name == name) {
        let what = format!("the name {} is taken by a body of the robot", words::quoted(&name));
        return Err(table.invalid("name", what, "give the frame a name of its own"));
    }
    Ok(Frame {
        name,
        body: table.optional("body", |it| body_of(it, robot))?,
        placement: shape::placement(&table)?,
    })
}

fn shape_of(node: &Node<'_>, materials: &[Material], robot: &Robot) -> Result<Shape, Invalid> {
    let table = node.table(SHAPE_KEYS)?;
    let name = table.optional("name", |it| it.text().map(str::to_owned))?.unwrap_or_default();
    let body = table.optional("body", |it| body_of(it, robot))?;
    let placement = shape::placement(&table)?;
    table.need("shape")?;
    let shape = shape::shape(&table, materials)?.ok_or_else(|| node.wrong("a shape"))?;
    Ok(Shape { name, body, placement, ..shape })
}
