//! What bodies look like in a playback.

use pullback_report::Solid;
use pullback_scene::Scene;
use pullback_scene::robot::{Geometry, Inertial, Robot, Shape, Triangles, orientation};

use super::seen::Seen;

/// The colour of shapes whose files give none.
const GREY: [f64; 4] = [0.5, 0.5, 0.5, 1.0];

/// What is drawn of a plane that is not level: half sides [m].
const SLAB: [f32; 3] = [2.0, 2.0, 1e-3];

/// The shapes of the world and of all robots, on the bodies of [`Seen`]. Where a robot has shapes that are only seen, those that touch
/// are left out.
pub fn all(scene: &Scene) -> Vec<Solid> {
    let world: usize = scene.robots.iter().map(|robot| robot.bodies.len()).sum();
    let of_world = scene.shapes.iter().filter_map(solid);
    let mut solids: Vec<Solid> = of_world.map(|solid| solid.on(world)).collect();
    let mut first = 0;
    for robot in &scene.robots {
        for shape in shown(robot) {
            let body = shape.body.map_or(world, |body| first + body);
            solids.extend(solid(shape).map(|solid| solid.on(body)));
        }
        for (b, body) in robot.bodies.iter().enumerate() {
            let bare = !robot.shapes.iter().any(|shape| shape.body == Some(b));
            let alone = body.parent.is_none() && robot.bodies.iter().all(|other| other.parent != Some(b));
            if bare && alone {
                solids.extend(axes(&body.inertial).map(|solid| solid.on(first + b)));
            }
        }
        first += robot.bodies.len();
    }
    solids
}

/// Is a shape fixed to the world that is drawn as a solid?
pub fn has_world(scene: &Scene) -> bool {
    let of_robots = scene.robots.iter().flat_map(shown).filter(|shape| shape.body.is_none());
    scene.shapes.iter().chain(of_robots).any(|shape| solid(shape).is_some())
}

/// The axes of a body that has no shape: x red, y green, z blue, as long as its centre of mass is away, or else its radius
/// of gyration.
fn axes(inertial: &Inertial) -> [Solid; 3] {
    let away = inertial.center.iter().map(|x| x * x).sum::<f64>().sqrt();
    let gyration = (inertial.inertia[..3].iter().copied().fold(0.0, f64::max) / inertial.mass).sqrt();
    let length = if away > 1e-3 * gyration { away } else { gyration } as f32;
    std::array::from_fn(|axis| {
        let (mut sides, mut middle) = ([0.02 * length; 3], [0.0; 3]);
        (sides[axis], middle[axis]) = (0.5 * length, 0.5 * length);
        let color = [[0.85, 0.25, 0.2, 1.0], [0.2, 0.6, 0.25, 1.0], [0.2, 0.4, 0.85, 1.0]][axis];
        Solid { color: Some(color), ..Solid::cuboid(sides) }.placed(middle, [1.0, 0.0, 0.0, 0.0])
    })
}

/// The shapes of a robot that are drawn: of each body those that are only seen, or else those that touch.
fn shown(robot: &Robot) -> impl Iterator<Item = &Shape> {
    let only_seen = |body: Option<usize>| {
        robot.shapes.iter().any(|shape| shape.body == body && !shape.collides && solid(shape).is_some())
    };
    robot.shapes.iter().filter(move |shape| !shape.collides || !only_seen(shape.body))
}

fn mesh_of(triangles: &Triangles) -> Solid {
    let corners: Vec<[f32; 3]> = triangles.vertices.iter().map(|v| v.map(|x| x as f32)).collect();
    Solid::mesh(&corners, &triangles.faces)
}

fn solid(shape: &Shape) -> Option<Solid> {
    let (position, turn) = (shape.placement.position, shape.placement.orientation);
    let solid = match &shape.geometry {
        Geometry::Plane if is_level(shape) => return None,
        Geometry::Plane => Solid::cuboid(SLAB),
        Geometry::Sphere { radius } => Solid::ellipsoid([*radius as f32; 3]),
        Geometry::Capsule { radius, half_length } => Solid::capsule(*radius as f32, *half_length as f32),
        Geometry::Cylinder { radius, half_length } => Solid::cylinder(*radius as f32, *half_length as f32),
        Geometry::Box { half_sides } => Solid::cuboid(half_sides.map(|x| x as f32)),
        Geometry::Ellipsoid { half_axes } => Solid::ellipsoid(half_axes.map(|x| x as f32)),
        Geometry::Mesh(mesh) => mesh_of(mesh.triangles.as_ref()?),
        Geometry::Heights(heights) => mesh_of(&heights.triangles()),
    };
    let color = (shape.color != GREY).then(|| shape.color.map(|x| x as f32));
    Some(Solid { color, ..solid }.placed(position.map(|x| x as f32), turn.map(|x| x as f32)))
}

/// Lines from bodies to their parents, for robots that have no shapes.
pub fn bones(scene: &Scene, seen: &Seen) -> Vec<[usize; 2]> {
    let mut lines = Vec::new();
    let mut first = 0;
    for robot in &scene.robots {
        if shown(robot).all(|shape| solid(shape).is_none()) {
            let line = |(b, body): (usize, &pullback_scene::robot::Body)| {
                Some([seen.bodies[first + b], seen.bodies[first + body.parent?]])
            };
            lines.extend(robot.bodies.iter().enumerate().filter_map(line));
        }
        first += robot.bodies.len();
    }
    lines
}

/// The height of a plane that is fixed to the world and level [m].
pub fn floor(scene: &Scene) -> Option<f64> {
    let level = |shape: &&Shape| shape.body.is_none() && shape.geometry == Geometry::Plane && is_level(shape);
    let shapes = scene.shapes.iter().chain(scene.robots.iter().flat_map(|robot| &robot.shapes));
    shapes.filter(level).map(|shape| shape.placement.position[2]).reduce(f64::max)
}

/// Is its z axis up, as that of the playback's own ground is?
fn is_level(shape: &Shape) -> bool {
    orientation::rotate(shape.placement.orientation, [0.0, 0.0, 1.0])[2] > 0.999
}
