//! Places, shapes and masses of bodies.

use super::contact::material_of;
use super::node::{Keys, Node, Table};
use crate::check::Number;
use crate::error::Invalid;
use crate::material::Material;
use crate::robot::{Amount, Geometry, Inertial, Placement, Shape};

const GEOMETRY_KEYS: Keys = &[
    ("box", "box = [0.1, 0.1, 0.1]"),
    ("sphere", "sphere = 0.1"),
    ("capsule", "capsule = { radius = 0.1, half_length = 0.3 }"),
    ("cylinder", "cylinder = { radius = 0.1, half_length = 0.3 }"),
    ("ellipsoid", "ellipsoid = [0.1, 0.2, 0.3]"),
];

const ROUND_KEYS: Keys = &[("radius", "radius = 0.1"), ("half_length", "half_length = 0.3")];

/// Where something is: `position` and `orientation`.
pub(super) fn placement(table: &Table<'_>) -> Result<Placement, Invalid> {
    let usual = Placement::default();
    Ok(Placement {
        position: table.optional("position", |it| it.vector())?.unwrap_or(usual.position),
        orientation: table.optional("orientation", |it| it.orientation())?.unwrap_or(usual.orientation),
    })
}

/// A number that is more than zero.
fn positive(node: &Node<'_>, word: &'static str, unit: &'static str) -> Result<f64, Invalid> {
    let value = node.number()?;
    Number::positive(word, unit).check("", value).map_err(|invalid| node.moved(invalid))?;
    Ok(value)
}

/// The one shape of a table.
pub(super) fn geometry(node: &Node<'_>) -> Result<Geometry, Invalid> {
    let table = node.table(GEOMETRY_KEYS)?;
    let kind = table.need_one_of(&["box", "sphere", "capsule", "cylinder", "ellipsoid"])?;
    let value = table.need(kind)?;
    let halves = |word| -> Result<[f64; 3], Invalid> {
        let halves = value.vector()?;
        Number::positive(word, "m").check_vector(&value.path(), &halves)?;
        Ok(halves)
    };
    let round = || -> Result<[f64; 2], Invalid> {
        let table = value.table(ROUND_KEYS)?;
        let number = |key, word| positive(&table.need(key)?, word, "m");
        Ok([number("radius", "radius")?, number("half_length", "half length")?])
    };
    Ok(match kind {
        "box" => Geometry::Box { half_sides: halves("half side")? },
        "sphere" => Geometry::Sphere { radius: positive(&value, "radius", "m")? },
        "ellipsoid" => Geometry::Ellipsoid { half_axes: halves("half axis")? },
        "capsule" => {
            let [radius, half_length] = round()?;
            Geometry::Capsule { radius, half_length }
        }
        _ => {
            let [radius, half_length] = round()?;
            Geometry::Cylinder { radius, half_length }
        }
    })
}

/// The `shape` of a table, and how it touches and looks; it is on no body yet.
pub(super) fn shape(table: &Table<'_>, materials: &[Material]) -> Result<Option<Shape>, Invalid> {
    let Some(geometry) = table.optional("shape", geometry)? else {
        table.refuse("a body without `shape`", &["collides", "friction", "material", "color"])?;
        return Ok(None);
    };
    look(table, geometry, materials).map(Some)
}

/// How a shape touches and looks.
pub(super) fn look(table: &Table<'_>, geometry: Geometry, materials: &[Material]) -> Result<Shape, Invalid> {
    let usual = Shape::new(geometry);
    Ok(Shape {
        collides: table.optional("collides", |it| it.yes())?.unwrap_or(usual.collides),
        friction: table.optional("friction", friction)?,
        material: material_of(table, materials)?,
        color: table.optional("color", color)?.unwrap_or(usual.color),
        ..usual
    })
}

/// Sliding friction, or sliding, torsional and rolling friction; the last two are as in MJCF when they are not given.
fn friction(node: &Node<'_>) -> Result<[f64; 3], Invalid> {
    if node.len().is_ok() {
        let friction = node.vector()?;
        Number::not_negative("friction", "").check_vector(&node.path(), &friction)?;
        return Ok(friction);
    }
    let sliding = node.number()?;
    Number::not_negative("friction", "").check(&node.path(), sliding)?;
    Ok([sliding, 0.005, 0.0001])
}

/// Red, green, blue and opacity, from 0 to 1.
fn color(node: &Node<'_>) -> Result<[f64; 4], Invalid> {
    let color: [f64; 4] = node.array("a list of four numbers: red, green, blue and opacity,")?;
    match color.iter().find(|part| !(0.0..=1.0).contains(*part)) {
        Some(part) => {
            Err(node.invalid(format!("the colour has the part {part}"), "write numbers from 0 to 1"))
        }
        None => Ok(color),
    }
}

/// The mass of a body and its shape, which is around the centre of mass.
pub(super) struct Solid {
    pub inertial: Inertial,
    pub shape: Option<Shape>,
}

/// A mass with its inertia, or a shape with its mass or density. `None`: nothing of all this is given.
pub(super) fn solid(table: &Table<'_>, materials: &[Material]) -> Result<Option<Solid>, Invalid> {
    let shape = shape(table, materials)?;
    let center = table.optional("center", |it| it.vector())?.unwrap_or_default();
    table.one_of(&["inertia", "density"])?;
    let inertial = match (&shape, table.get("inertia")) {
        (_, Some(node)) => Inertial { mass: mass(table)?, center, inertia: inertia(&node)? },
        (Some(shape), None) => Inertial { center, ..of_shape(table, &shape.geometry)? },
        (None, None) if table.has("mass") => {
            let what = "a mass alone does not say how the body turns";
            let fix = "add `shape = { sphere = 0.1 }`, or `inertia = [1, 2, 3]`, which is 0 for a point";
            return Err(table.invalid("inertia", what, fix));
        }
        (None, None) => {
            table.refuse("a body without mass", &["density", "center"])?;
            return Ok(None);
        }
    };
    Ok(Some(Solid { inertial, shape }))
}

fn mass(table: &Table<'_>) -> Result<f64, Invalid> {
    positive(&table.need("mass")?, "mass", "kg")
}

/// A shape that is filled evenly.
fn of_shape(table: &Table<'_>, geometry: &Geometry) -> Result<Inertial, Invalid> {
    let key = table.need_one_of(&["mass", "density"])?;
    let node = table.need(key)?;
    let amount = match key {
        "mass" => Amount::Mass(positive(&node, "mass", "kg")?),
        _ => Amount::Density(positive(&node, "density", "kg/m³")?),
    };
    geometry.inertial(amount).map_err(|invalid| node.moved(invalid))
}

/// Three moments about the body's axes, or six numbers.
fn inertia(node: &Node<'_>) -> Result<[f64; 6], Invalid> {
    let wanted = "a list of three numbers (xx, yy, zz), or six (xx, yy, zz, xy, xz, yz),";
    let inertia = match node.len() {
        Ok(3) => {
            let [xx, yy, zz] = node.array(wanted)?;
            [xx, yy, zz, 0.0, 0.0, 0.0]
        }
        Ok(_) => node.array(wanted)?,
        Err(_) => return Err(node.wrong(wanted)),
    };
    Inertial { mass: 1.0, center: [0.0; 3], inertia }.check().map_err(|invalid| node.moved(invalid))?;
    Ok(inertia)
}
