//! Worlds in which particles touch shapes, for the factory: every kind of shape, fixed and on a link of a robot that moves, with
//! particles that stick and that slide, points and balls.

use std::sync::Arc;

use pullback_scene::robot::{Geometry, MeshShape, Triangles};
use pullback_scene::{Particles, Scene};

/// A shape, a point of its surface and the normal there, in its frame.
struct Place {
    name: &'static str,
    hard: Option<&'static str>,
    shape: &'static str,
    point: [f64; 3],
    normal: [f64; 3],
    /// Can it be on a body?
    moves: bool,
}

fn places() -> Vec<Place> {
    let egg = {
        let (axes, u) = ([0.2, 0.15, 0.1], [0.48, 0.64, 0.6]);
        let at: [f64; 3] = std::array::from_fn(|k| axes[k] * u[k]);
        (at, unit(std::array::from_fn(|k| u[k] / axes[k])))
    };
    let side = [0.6, 0.8, 0.0];
    let up = [0.0, 0.0, 1.0];
    vec![
        Place {
            name: "grains on a plane",
            hard: None,
            shape: "plane = true",
            point: [0.3, -0.2, 0.0],
            normal: up,
            moves: false,
        },
        Place {
            name: "grains on a ball",
            hard: Some("grains on a ball, hard"),
            shape: "sphere = 0.2",
            point: [0.072, 0.096, 0.16],
            normal: [0.36, 0.48, 0.8],
            moves: true,
        },
        Place {
            name: "grains on a capsule",
            hard: None,
            shape: "capsule = { radius = 0.1, half_length = 0.2 }",
            point: [0.06, 0.08, 0.07],
            normal: side,
            moves: true,
        },
        Place {
            name: "grains on a box",
            hard: Some("grains on a box, hard"),
            shape: "box = [0.2, 0.15, 0.1]",
            point: [0.03, 0.05, 0.1],
            normal: up,
            moves: true,
        },
        Place {
            name: "grains on a cylinder",
            hard: None,
            shape: "cylinder = { radius = 0.15, half_length = 0.1 }",
            point: [0.09, 0.12, 0.03],
            normal: side,
            moves: true,
        },
        Place {
            name: "grains on an ellipsoid",
            hard: None,
            shape: "ellipsoid = [0.2, 0.15, 0.1]",
            point: egg.0,
            normal: egg.1,
            moves: true,
        },
        Place {
            name: "grains on heights",
            hard: Some("grains on heights, hard"),
            shape: "heights = { values = [[0, 0, 0], [0.2, 0.2, 0.2], [0.4, 0.4, 0.4]], step = [1, 1] }",
            point: [0.7, 0.5, 0.1],
            normal: unit([0.0, -0.2, 1.0]),
            moves: false,
        },
        Place {
            name: "grains on meshes",
            hard: None,
            shape: MESH,
            point: [0.03, 0.05, 0.1],
            normal: up,
            moves: true,
        },
    ]
}

/// Stands for triangles: fixed, they are ground; on a body, their convex hull.
const MESH: &str = "box = [0.2, 0.15, 0.1]";

fn unit(v: [f64; 3]) -> [f64; 3] {
    let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.map(|x| x / length)
}

fn along(a: [f64; 3], b: [f64; 3], factor: f64) -> [f64; 3] {
    std::array::from_fn(|k| a[k] + factor * b[k])
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// A vector turned by a unit quaternion.
fn turned([w, x, y, z]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let axis = [x, y, z];
    let t = cross(axis, v).map(|t| 2.0 * t);
    along(along(v, t, w), cross(axis, t), 1.0)
}

/// The axis and the rate of the joint, which the link turns about.
const AXIS: [f64; 3] = [0.0, 0.8, 0.6];
const RATE: f64 = 0.7;

/// Two particles at a place of a shape with this pose, whose body turns with this rate: one that slides, a ball, and one that
/// sticks, a point.
fn grains(name: &str, place: &Place, position: [f64; 3], turn: [f64; 4], rate: f64) -> [Particles; 2] {
    let n = turned(turn, place.normal);
    let s = along(position, turned(turn, place.point), 1.0);
    let across = unit(cross(n, [0.3, -0.5, 0.7]));
    let (radius, depth) = (0.04, 0.012);
    let moves = |x: [f64; 3]| cross(AXIS.map(|a| rate * a), along(x, position, -1.0));
    let ball = along(s, n, radius - depth);
    let fast = along(along(moves(ball), across, 2.1), n, -0.3);
    let point = along(along(s, n, -depth), across, 0.02);
    let slow = along(along(moves(point), across, 0.03), n, -0.2);
    let [fast, slow] = [(ball, fast), (point, slow)];
    [
        Particles::single(format!("{name}-ball"), fast.0, 0.4).velocity(fast.1).radius(radius).made_of(0),
        Particles::single(format!("{name}-point"), slow.0, 0.5).velocity(slow.1),
    ]
}

fn scene(place: &Place, contact: &str) -> Scene {
    let turn = {
        let [x, y, z] = unit([0.2, 0.5, -0.3]).map(|a| a * 0.3_f64.sin());
        [0.3_f64.cos(), x, y, z]
    };
    let (here, there) = ([0.1, 0.2, 1.0], [3.0, 0.3, 1.2]);
    let Place { shape, .. } = place;
    let mut text = format!(
        "[simulation]\nsteps = 1\ndt = 0.01\n[contact]\n{contact}\
         [[materials]]\nname = \"sand\"\nmu = 0.3\nke = 250\nkd = 2\nkf = 3\n\
         [[materials]]\nname = \"stone\"\nmu = 0.5\nke = 400\n\
         [[material_pairs]]\nbetween = [\"stone\", \"sand\"]\nmu = 0.25\nkd = 3\n\
         [[particles]]\nname = \"far\"\nposition = [-5, 0, 3]\nmass = 1\n\
         [[shapes]]\nname = \"fixed\"\nposition = {here:?}\norientation = {turn:?}\nmaterial = \"stone\"\n\
         shape = {{ {shape} }}\n"
    );
    if place.moves {
        text += &format!(
            "[[robots]]\nname = \"arm\"\nvelocities = {{ a = {RATE}, b = 0.4 }}\npushed = [\"link\"]\n\
             [[robots.bodies]]\nname = \"link\"\nposition = {there:?}\nmass = 1.1\ncenter = [0.02, 0.03, -0.01]\n\
             inertia = [0.1, 0.12, 0.15, 0.01, -0.01, 0.015]\nshape = {{ {shape} }}\nfriction = 0.6\n\
             [[robots.bodies]]\nname = \"tail\"\nparent = \"link\"\nposition = [0, 0, -0.5]\nmass = 0.3\n\
             inertia = [0.1, 0.12, 0.15, 0.01, -0.01, 0.015]\n\
             [[robots.joints]]\nname = \"a\"\nbody = \"link\"\nkind = \"hinge\"\naxis = {AXIS:?}\n\
             [[robots.joints]]\nname = \"b\"\nbody = \"tail\"\nkind = \"hinge\"\naxis = [1, 0, 0]\n"
        );
    }
    let mut scene = Scene::parse(&text, "grains.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    scene.particles.extend(grains("fixed", place, here, turn, 0.0));
    if place.moves {
        scene.particles.extend(grains("moving", place, there, [1.0, 0.0, 0.0, 0.0], RATE));
    }
    if place.name.contains("meshes") {
        let mesh = Geometry::Mesh(MeshShape {
            file: "brick.obj".into(),
            scale: [1.0; 3],
            triangles: Some(Arc::new(brick([0.2, 0.15, 0.1]))),
        });
        scene.shapes[0].geometry = mesh.clone();
        scene.robots[0].shapes[0].geometry = mesh;
    }
    scene
}

/// A box of triangles.
fn brick(half: [f64; 3]) -> Triangles {
    let corner = |i: usize| std::array::from_fn(|k| if i >> k & 1 == 0 { -half[k] } else { half[k] });
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    Triangles {
        vertices: (0..8).map(corner).collect(),
        faces: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

/// Those that every integrator runs; the others differ by the shape alone.
pub const THOROUGH: [&str; 2] = ["grains on a plane", "grains on a box"];

/// Every scene with penalties between bodies too.
pub fn soft() -> Vec<(&'static str, Scene)> {
    let contact = "model = \"penalty\"\nke = 300\nkd = 4\nkf = 3\nmu = 0.4\n";
    places().iter().map(|place| (place.name, scene(place, contact))).collect()
}

/// Some, with bodies that are hard to each other: a ball that rolls on the fixed shape.
pub fn hard() -> Vec<(&'static str, Scene)> {
    let hard = |place: &Place| {
        let mut scene = scene(place, "mu = 0.4\n");
        let contact = "[contact]\nmu = 0.4\n[ground]\nheight = -0.5\nmu = 0.4\nke = 1\nkd = 1\nkf = 1\n\
                       [simulation]\nsteps = 1\ndt = 0.01\n[[bodies]]\nname = \"rider\"\nmass = 0.8\n\
                       shape = { sphere = 0.1 }\nposition = [-1.5, 0.04, -0.4005]\nvelocity = [0.2, 0.1, -0.2]\n\
                       angular_velocity = [0.3, 1.4, 0.2]\n";
        let more = Scene::parse(contact, "rider.toml").unwrap_or_else(|error| panic!("{error}"));
        scene.ground = more.ground;
        scene.robots.extend(more.robots);
        // A grain that lies on it.
        let rider = Particles::single("rider-grain", [-1.52, 0.06, -0.31], 0.2).velocity([0.1, 0.3, -0.2]);
        scene.particles.push(rider);
        // What hard contact has without a material is too stiff for such steps.
        scene.particles.iter_mut().for_each(|particles| particles.material = Some(0));
        place.hard.map(|name| (name, scene))
    };
    places().iter().filter_map(hard).collect()
}
