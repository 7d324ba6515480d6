//! Worlds in which corners of meshes and heights of ground are params, for the factory: shapes on heights and on triangles, on
//! their faces, ridges and peaks, and bodies that are convex hulls.

use std::sync::Arc;

use pullback_scene::Scene;
use pullback_scene::robot::{Geometry, Heights, MeshShape, Triangles};

use super::contacts::{body, turned};

/// Heights over a grid of 1 m, of which the cells are flat triangles; its middle is at the origin.
const HILL: [[f64; 3]; 3] = [[0.0, 0.1, 0.3], [0.1, 0.2, 0.25], [0.0, 0.3, 0.2]];
/// A ridge along y.
const RIDGE: [[f64; 3]; 3] = [[0.0, 0.3, 0.05], [0.02, 0.32, 0.0], [0.0, 0.31, 0.03]];
/// A peak in the middle.
const PEAK: [[f64; 3]; 3] = [[0.0, 0.02, 0.0], [0.03, 0.3, 0.01], [0.0, 0.05, 0.02]];

const MOVES: &str = "velocity = [0.9, 0.3, -0.3]\nangular_velocity = [0.2, -0.3, 0.5]\n";

/// Where a body is so that its lowest corner is 0.5 mm below the triangle of the hill over (0.6, 0.25).
fn on_hill(corners: &[[f64; 3]], radius: f64) -> [f64; 3] {
    // z = 0.2 + 0.05 x - 0.05 y
    let slope = [-0.05, 0.05, 1.0];
    let dot = |p: &[f64; 3]| slope[0] * p[0] + slope[1] * p[1] + slope[2] * p[2];
    let length = dot(&slope).sqrt();
    let lowest = corners.iter().map(dot).fold(f64::INFINITY, f64::min);
    let (x, y) = (0.6, 0.25);
    [x, y, 0.2 + 0.05 * x - 0.05 * y - lowest + (radius - 0.0005) * length]
}

/// A point turned about an axis through the origin.
fn turn(axis: [f64; 3], angle: f64, p: [f64; 3]) -> [f64; 3] {
    let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    let [x, y, z] = axis.map(|a| a / length);
    let (cos, sin) = (angle.cos(), angle.sin());
    let along = (x * p[0] + y * p[1] + z * p[2]) * (1.0 - cos);
    [
        p[0] * cos + (y * p[2] - z * p[1]) * sin + x * along,
        p[1] * cos + (z * p[0] - x * p[2]) * sin + y * along,
        p[2] * cos + (x * p[1] - y * p[0]) * sin + z * along,
    ]
}

/// A mesh with eight faces, no two alike; its hull has all of its corners.
fn gem() -> Triangles {
    let vertices = vec![
        [0.12, 0.01, 0.0],
        [-0.1, 0.02, 0.01],
        [0.01, 0.11, -0.01],
        [0.0, -0.13, 0.02],
        [0.02, -0.01, 0.1],
        [-0.01, 0.015, -0.12],
    ];
    let faces = vec![[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    Triangles { vertices, faces }
}

fn mesh(triangles: Triangles) -> Geometry {
    let (file, scale, triangles) = ("it.obj".into(), [1.0; 3], Some(Arc::new(triangles)));
    Geometry::Mesh(MeshShape { file, scale, triangles })
}

fn parse(head: &str, text: &str) -> Scene {
    Scene::parse(&format!("{head}{text}"), "terrain.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// How shapes touch.
const HARD: &str = "[simulation]\nsteps = 1\ndt = 0.01\n[contact]\nmu = 0.3\n";
const SOFT: &str = "[simulation]\nsteps = 1\ndt = 0.01\n[contact]\nmodel = \"penalty\"\nke = 200\nkd = 4\nkf = 3\nmu = 0.4\n";

/// A body on ground with these heights, as heights or as triangles.
fn on(head: &str, heights: [[f64; 3]; 3], triangles: bool, body: &str) -> Scene {
    let terrain = "[[shapes]]\nname = \"land\"\nposition = [-1, -1, 0]\ncorner_params = true\n\
                   shape = { heights = { values = [[0, 0], [0, 0]], step = [1, 1] } }\n";
    let mut scene = parse(head, &format!("{terrain}{body}"));
    let rows: Vec<Vec<f64>> = heights.iter().map(|row| row.to_vec()).collect();
    let heights = Heights::new(&rows, [1.0, 1.0]).expect("a grid");
    scene.shapes[0].geometry = match triangles {
        true => mesh(heights.triangles()),
        false => Geometry::Heights(heights),
    };
    scene
}

/// With a body that is the gem's hull, and its corners.
fn cut(mut scene: Scene) -> Scene {
    let shape = &mut scene.robots[0].shapes[0];
    (shape.geometry, shape.corner_params) = (mesh(gem()), true);
    scene
}

/// Every scene with this way of touching.
fn all(head: &str, names: [&'static str; 9]) -> Vec<(&'static str, Scene)> {
    let (ball, brick) = ("sphere = 0.1", "box = [0.1, 0.15, 0.03]");
    let pill = "capsule = { radius = 0.05, half_length = 0.2 }";
    let (axis, angle) = ([1.0, 0.3, 0.2], 0.7);
    let corners = (0..8).map(|i| {
        let side = |k: usize, half: f64| if i >> k & 1 == 0 { -half } else { half };
        turn(axis, angle, [side(0, 0.1), side(1, 0.15), side(2, 0.03)])
    });
    let corners: Vec<[f64; 3]> = corners.collect();
    let ball_on = body("it", ball, on_hill(&[[0.0; 3]], 0.1), MOVES);
    let box_on = body("it", brick, on_hill(&corners, 0.0), &(turned(axis, angle) + MOVES));
    // Nearly level, across the ridge; beside its middle, so that it starts to tip over.
    let across = turned([0.0, 1.0, 0.0], 1.55) + MOVES;
    let pill_on = body("it", pill, [0.03, 0.4, 0.3138 + 0.05 - 0.0015], &across);
    let peak_on = body("it", ball, [0.02, 0.01, 0.3 + 0.0966], "velocity = [0.1, 0.05, -0.3]\n");
    let gem_on = |position: [f64; 3]| body("it", ball, position, MOVES);
    let ground = "[ground]\nmu = 0.3\nke = 300\nkd = 3\nkf = 2\n";
    let table = "[[shapes]]\nname = \"table\"\nshape = { box = [0.6, 0.6, 0.1] }\nposition = [0.2, 0.1, -0.1]\n\
                 orientation = [0.999, 0.02, -0.01, 0.03]\n";
    let scenes = [
        on(head, HILL, false, &ball_on),
        on(head, HILL, false, &box_on),
        on(head, RIDGE, false, &pill_on),
        on(head, HILL, true, &ball_on),
        on(head, HILL, true, &box_on),
        on(head, PEAK, true, &peak_on),
        cut(parse(head, &format!("{ground}{}", gem_on([0.3, 0.2, 0.1195])))),
        cut(on(head, HILL, false, &gem_on(on_hill(&gem().vertices, 0.0)))),
        cut(parse(head, &format!("{table}{}", gem_on([0.2, 0.1, 0.1195])))),
    ];
    names.into_iter().zip(scenes).collect()
}

/// Hard contact.
pub fn hard() -> Vec<(&'static str, Scene)> {
    let names = [
        "a ball on heights as params",
        "a box on heights as params",
        "a capsule on a ridge as params",
        "a ball on triangles as params",
        "a box on triangles as params",
        "a ball on a peak as params",
        "a hull on the ground as params",
        "a hull on heights, both as params",
        "a hull on a table as params",
    ];
    all(HARD, names)
}

/// Penalties.
pub fn soft() -> Vec<(&'static str, Scene)> {
    let names = [
        "a soft ball on heights as params",
        "a soft box on heights as params",
        "a soft capsule on a ridge as params",
        "a soft ball on triangles as params",
        "a soft box on triangles as params",
        "a soft ball on a peak as params",
        "a soft hull on the ground as params",
        "a soft hull on heights, both as params",
        "a soft hull on a table as params",
    ];
    all(SOFT, names)
}

/// Particles on what has corners, which are params.
pub fn grains(scenes: Vec<(&'static str, Scene)>) -> Vec<(&'static str, Scene)> {
    let names = [
        ("grains on heights", "grains on heights as params"),
        ("grains on meshes", "grains on meshes as params"),
        ("grains on heights, hard", "grains on heights as params, hard"),
    ];
    let with = |(name, mut scene): (&'static str, Scene)| {
        let (_, new) = names.iter().find(|(of, _)| *of == name)?;
        let of_robots = scene.robots.iter_mut().flat_map(|robot| &mut robot.shapes);
        for shape in scene.shapes.iter_mut().chain(of_robots) {
            shape.corner_params = matches!(shape.geometry, Geometry::Mesh(_) | Geometry::Heights(_));
        }
        Some((*new, scene))
    };
    scenes.into_iter().filter_map(with).collect()
}
