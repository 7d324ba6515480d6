//! `[[bodies]]`: loose rigid bodies.

use super::node::{Keys, Node, Table};
use super::shape;
use crate::check::{MOST_BODIES, more_than};
use crate::error::Invalid;
use crate::material::Material;
use crate::robot::{Placement, Robot};

const KEYS: Keys = &[
    ("name", "name = \"cube\""),
    ("shape", "shape = { box = [0.1, 0.1, 0.1] }"),
    ("density", "density = 1000"),
    ("mass", "mass = 0.2"),
    ("center", "center = [0, 0, 0]"),
    ("inertia", "inertia = [1, 2, 3]"),
    ("collides", "collides = true"),
    ("friction", "friction = 0.5"),
    ("material", "material = \"rubber\""),
    ("color", "color = [1, 0, 0, 1]"),
    ("position", "position = [0, 0, 1]"),
    ("positions", "positions = [[0, 0, 0], [1, 0, 0]]"),
    ("grid", "grid = { from = [0, 0, 1], step = [1, 1, 1], count = [4, 4, 1] }"),
    ("orientation", "orientation = [1, 0, 0, 0]"),
    ("orientations", "orientations = [[1, 0, 0, 0], [1, 0, 1, 0]]"),
    ("velocity", "velocity = [1, 0, 2]"),
    ("velocities", "velocities = [[0, 0, 0], [1, 0, 0]]"),
    ("angular_velocity", "angular_velocity = [0, 0, 1]"),
    ("angular_velocities", "angular_velocities = [[0, 0, 0], [0, 0, 1]]"),
];

const GRID_KEYS: Keys =
    &[("from", "from = [0, 0, 1]"), ("step", "step = [1, 1, 1]"), ("count", "count = [4, 4, 1]")];

/// Reads a body, or many of a kind. `total` counts those of all sections, so that no size is taken from memory unseen.
pub(super) fn read(node: &Node<'_>, materials: &[Material], total: &mut usize) -> Result<Robot, Invalid> {
    let table = node.table(KEYS)?;
    let name = table.name()?;
    let kind = table.need_one_of(&["position", "positions", "grid"])?;
    let place = table.need(kind)?;
    let positions = match kind {
        "position" => vec![place.vector()?],
        "positions" => place.items("a list of positions", |it| it.vector())?,
        _ => grid(&place, *total)?,
    };
    *total += positions.len();
    if *total > MOST_BODIES {
        return Err(place.moved(more_than(MOST_BODIES, *total, "bodies")));
    }
    let Some(solid) = shape::solid(&table, materials)? else {
        return Err(table.invalid(
            "mass",
            "the body has no mass",
            "add `shape = { sphere = 0.1 }` and `density = 1000`, or `mass = 1` and `inertia = [1, 2, 3]`",
        ));
    };
    let placements = placements(&table, &positions)?;
    let robot = match kind {
        "position" => Robot::loose_body(name, placements[0], solid.inertial),
        _ => Robot::loose_bodies(name, &placements, solid.inertial),
    };
    let mut robot = match &solid.shape {
        Some(shape) => robot.shaped(shape),
        None => robot,
    };
    robot.start.velocities = velocities(&table, positions.len())?;
    Ok(robot)
}

fn placements(table: &Table<'_>, positions: &[[f64; 3]]) -> Result<Vec<Placement>, Invalid> {
    let keys = ["orientation", "orientations"];
    let orientations = each(table, keys, positions.len(), |it| it.orientation())?;
    let orientations =
        orientations.unwrap_or_else(|| vec![Placement::default().orientation; positions.len()]);
    let placed = positions.iter().zip(orientations);
    Ok(placed.map(|(&position, orientation)| Placement { position, orientation }).collect())
}

/// Linear in the axes of the world, then angular in those of the body, for each; none when all are at rest.
fn velocities(table: &Table<'_>, count: usize) -> Result<Vec<f64>, Invalid> {
    let of = |keys| each(table, keys, count, |it| it.vector());
    let linear = of(["velocity", "velocities"])?;
    let angular = of(["angular_velocity", "angular_velocities"])?;
    if linear.is_none() && angular.is_none() {
        return Ok(Vec::new());
    }
    let rest = || vec![[0.0; 3]; count];
    let both = linear.unwrap_or_else(rest).into_iter().zip(angular.unwrap_or_else(rest));
    Ok(both.flat_map(|(linear, angular)| [linear, angular].concat()).collect())
}

/// A value for each body, of which there must be as many.
fn each<T: Clone>(
    table: &Table<'_>,
    keys: [&'static str; 2],
    count: usize,
    read: impl Fn(&Node<'_>) -> Result<T, Invalid>,
) -> Result<Option<Vec<T>>, Invalid> {
    let values = table.each(keys, count, read)?;
    if let (Some(values), Some(node)) = (&values, table.get(keys[1])) {
        crate::check::length(node.path(), values.len(), count, "body")?;
    }
    Ok(values)
}

/// Points of a grid: x is counted first, then y, then z.
fn grid(node: &Node<'_>, total: usize) -> Result<Vec<[f64; 3]>, Invalid> {
    let table = node.table(GRID_KEYS)?;
    let from = table.need("from")?.vector()?;
    let step = table.need("step")?.vector()?;
    let counts = table.need("count")?;
    let wanted = "a list of three whole numbers";
    let [nx, ny, nz]: [usize; 3] =
        counts.items(wanted, |it| it.whole())?.try_into().map_err(|_| counts.wrong(wanted))?;
    let count = nx.saturating_mul(ny).saturating_mul(nz);
    if count > MOST_BODIES - total.min(MOST_BODIES) {
        return Err(counts.moved(more_than(MOST_BODIES, total.saturating_add(count), "bodies")));
    }
    let point = |at: [usize; 3]| std::array::from_fn(|axis| from[axis] + at[axis] as f64 * step[axis]);
    let plane = |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z]));
    Ok((0..nz).flat_map(plane).map(point).collect())
}
