//! Corners of meshes and heights of ground as params: closed forms, names, what they cost, and ground that moves far.

use std::sync::Arc;

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Model, Options, Rollout, Start, Step};
use pullback_scene::Scene;
use pullback_scene::robot::{Geometry, Heights, MeshShape, Triangles};

const G: f64 = 9.81;

/// One number of the last state.
struct Last(usize);

impl Loss for Last {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { moment.state[self.0] } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state[self.0] += 1.0;
        }
    }
}

fn parse(text: &str) -> Scene {
    Scene::parse(text, "corners.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A number of the last state with these params, and its derivative by each of them.
fn run(scene: &Scene, params: Option<&[f64]>, steps: usize, of: &str) -> (f64, Vec<f64>) {
    let step = Step::of(scene).expect("a step");
    let model = step.model();
    let (state, made, controls) = (model.state(), model.params(), model.controls(steps));
    let of = model.state_layout().find(of).expect("a number of the state").start;
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let params = params.unwrap_or(made.values());
    let start = Start { states: state.values(), controls: &controls, params };
    let gradient = rollout.gradient(&start, &Last(of)).expect("a gradient");
    (gradient.value(), gradient.params.to_vec())
}

fn near(what: &str, found: f64, wanted: f64, error: f64) {
    assert!((found - wanted).abs() <= error, "{what}: {found}, and not {wanted} within {error:.1e}");
}

fn mesh(vertices: Vec<[f64; 3]>, faces: Vec<[u32; 3]>) -> Geometry {
    let (file, scale, triangles) = ("it.obj".into(), [1.0; 3], Some(Arc::new(Triangles { vertices, faces })));
    Geometry::Mesh(MeshShape { file, scale, triangles })
}

/// A ball on a slide along z.
fn lift(radius: f64, z: f64) -> String {
    format!(
        "[[robots]]\nname = \"lift\"\n[[robots.bodies]]\nname = \"ball\"\nposition = [0.4, 0.3, {z}]\nmass = 1\n\
         shape = {{ sphere = {radius} }}\n[[robots.joints]]\nname = \"z\"\nbody = \"ball\"\nkind = \"slide\"\naxis = [0, 0, 1]\n"
    )
}

const LAND: &str = "[[shapes]]\nname = \"land\"\ncorner_params = true\n\
                    shape = { heights = { values = [[0, 0], [0, 0]], step = [1, 1] } }\n";

/// A ball that can move up and down only lies on a triangle where its centre is r from the plane; by the z of a corner its
/// height has the barycentric weight of the point that it touches, by x and y that times the slope.
#[test]
fn a_ball_on_a_slope_weighs_its_corners() {
    let radius = 0.1;
    let corners = [[0.0, 0.1, 0.1], [1.1, 0.0, 0.35], [0.2, 1.2, -0.1]];
    let [a, b, c] = corners;
    let minus = |p: [f64; 3], q: [f64; 3]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    let (u, v) = (minus(b, a), minus(c, a));
    let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let length = n.iter().map(|x| x * x).sum::<f64>().sqrt();
    let n = n.map(|x| x / length);
    // n · (x - a) = r
    let height = a[2] + (radius - n[0] * (0.4 - a[0]) - n[1] * (0.3 - a[1])) / n[2];
    let at = [0.4 - radius * n[0], 0.3 - radius * n[1]];
    let twice =
        |p: [f64; 2], q: [f64; 2], r: [f64; 2]| (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
    let flat = corners.map(|p| [p[0], p[1]]);
    let area = twice(flat[0], flat[1], flat[2]);
    let weights = [
        twice(at, flat[1], flat[2]) / area,
        twice(flat[0], at, flat[2]) / area,
        twice(flat[0], flat[1], at) / area,
    ];
    let text = format!(
        "[simulation]\nsteps = 1\ndt = 0.005\n[contact]\nmu = 0.4\n{LAND}{}",
        lift(radius, height + 0.01)
    );
    let mut scene = parse(&text);
    scene.shapes[0].geometry = mesh(corners.to_vec(), vec![[0, 1, 2]]);
    let model = Model::new(&scene).expect("a model");
    let first = model.params_layout().find("land[0].corners").expect("corners").start;
    let (z, slopes) = run(&scene, None, 200, "lift.z.position");
    near("height", z + height + 0.01, height, 1e-6);
    for (k, weight) in weights.into_iter().enumerate() {
        for axis in 0..3 {
            // The plane moves along its normal by n · d(corner) times the weight.
            let found = slopes[first + 3 * k + axis];
            near(&format!("corner {k}, axis {axis}"), found, weight * n[axis] / n[2], 1e-5);
        }
    }
}

/// What rolls down a slope of heights: a = 5/7 g sin θ, so that x = 5/14 g t² sin θ cos θ; and its derivative by the heights of
/// the far side, which turn the slope and move it along its normal where the ball is.
#[test]
fn a_ball_rolls_down_heights() {
    let (fall, long, radius, x0): (f64, f64, f64, f64) = (0.3, 2.0, 0.1, 0.3);
    for dt in [2e-3, 1e-3] {
        let angle = (fall / long).atan();
        let (sin, cos) = (angle.sin(), angle.cos());
        let (x, z) = (x0 + radius * sin, -fall / long * x0 + radius * cos);
        let text = format!(
            "[simulation]\nsteps = 1\ndt = {dt}\n[contact]\nmu = 0.5\n{LAND}\
             [[bodies]]\nname = \"ball\"\nmass = 2\nshape = {{ sphere = {radius} }}\nposition = [{x:?}, 0.4, {z:?}]\n"
        );
        let mut scene = parse(&text);
        let rows = [vec![0.0, -fall], vec![0.0, -fall]];
        scene.shapes[0].geometry = Geometry::Heights(Heights::new(&rows, [long, 1.0]).expect("a grid"));
        let model = Model::new(&scene).expect("a model");
        let heights = model.params_layout().find("land.heights").expect("heights");
        let t: f64 = 0.6;
        let (found, slopes) = run(&scene, None, (t / dt).round() as usize, "ball.position.x");
        let run = 5.0 / 14.0 * G * t * t;
        near("x", found - x, run * sin * cos, 2.0 * dt);
        // tan θ = -h / L; at once the ground moves by x₀ / L along z, and takes the ball along its normal.
        let by_far = -run * (cos * cos - sin * sin) * cos * cos / long + x0 / long * cos * sin;
        let slope = |i: usize| slopes[heights.start + i];
        near("by the far heights", slope(1) + slope(3), by_far, 3.0 * dt);
        // Where all of them rise, the ball is taken along from the start.
        near("by all heights", (0..4).map(slope).sum(), cos * sin, 3.0 * dt);
    }
}

/// Ground that was made flat and is somewhere else by its params holds a ball up there.
#[test]
fn ground_that_moves_far_is_felt() {
    let grid = Heights::new(&vec![vec![0.0; 5]; 5], [0.25, 0.25]).expect("a grid");
    for triangles in [false, true] {
        let text =
            format!("[simulation]\nsteps = 1\ndt = 0.005\n[contact]\nmu = 0.4\n{LAND}{}", lift(0.1, 1.2));
        let mut scene = parse(&text);
        scene.shapes[0].geometry = match triangles {
            true => {
                let Triangles { vertices, faces } = grid.triangles();
                mesh(vertices, faces)
            }
            false => Geometry::Heights(grid.clone()),
        };
        let model = Model::new(&scene).expect("a model");
        let (name, numbers) = if triangles { ("land.corners", 3) } else { ("land.heights", 1) };
        let at = model.params_layout().find(name).expect("corners");
        let mut values = model.params().values().to_vec();
        values[at].chunks_mut(numbers).for_each(|corner| corner[numbers - 1] = 1.0);
        let (z, _) = run(&scene, Some(&values), 100, "lift.z.position");
        near("on the raised ground", z, -0.1, 1e-6);
        // It falls on, where the ground is as it was made.
        let (z, _) = run(&scene, None, 100, "lift.z.position");
        assert!(z < -0.9, "{z}");
    }
}

/// So many balls that a tree of boxes finds what they touch: ground that was raised by its params holds them as ground that was
/// made there does.
#[test]
fn many_balls_find_ground_that_has_moved() {
    let text = format!(
        "[simulation]\nsteps = 1\ndt = 0.005\n[contact]\nmu = 0.4\n{LAND}[[bodies]]\nname = \"balls\"\nmass = 1\n\
         shape = {{ sphere = 0.1 }}\ngrid = {{ from = [0.3, 0.3, 1.105], step = [0.25, 0.25, 1], count = [10, 10, 1] }}\n"
    );
    let land = |z: f64| {
        let mut scene = parse(&text);
        let grid = Heights::new(&vec![vec![z; 4]; 4], [1.0, 1.0]).expect("a grid");
        let Triangles { vertices, faces } = grid.triangles();
        scene.shapes[0].geometry = mesh(vertices, faces);
        scene
    };
    let (raised, low) = (land(1.0), land(0.0));
    let params = Model::new(&raised).expect("a model").params();
    let (z, _) = run(&raised, None, 10, "balls[57].position.z");
    let (moved, slopes) = run(&low, Some(params.values()), 10, "balls[57].position.z");
    near("on the ground", z, 1.1, 1e-5);
    assert_eq!(z.to_bits(), moved.to_bits());
    let corners = params.layout().find("land.corners").expect("corners");
    let by_z: f64 = slopes[corners].iter().skip(2).step_by(3).sum();
    near("by all heights", by_z, 1.0, 1e-3);
}

/// Without `corner_params` a model has no such params, and the same motion to the last bit.
#[test]
fn nothing_is_there_unless_asked_for() {
    let text = format!("[simulation]\nsteps = 1\ndt = 0.005\n[contact]\nmu = 0.4\n{LAND}{}", lift(0.1, 0.11));
    let with = parse(&text);
    let mut without = with.clone();
    without.shapes[0].corner_params = false;
    let names = |scene: &Scene| -> Vec<String> {
        let model = Model::new(scene).expect("a model");
        model.params_layout().parts().map(|part| part.name()).collect()
    };
    let (all, few) = (names(&with), names(&without));
    let of_land = |name: &&String| name.starts_with("land");
    assert_eq!(few.iter().filter(of_land).count(), 0);
    let found: Vec<&String> = all.iter().filter(of_land).collect();
    assert_eq!(found, ["land[0].heights", "land[1].heights", "land[2].heights", "land[3].heights"]);
    assert_eq!(all.len(), few.len() + 4);
    let [a, b] = [&with, &without].map(|scene| run(scene, None, 40, "lift.z.position").0);
    assert_eq!(a.to_bits(), b.to_bits());
}

/// A hull has the corners of its mesh that are not inside, in their order; a surface has each point once, in the order in which
/// it first appears.
#[test]
fn corners_are_in_the_order_of_the_mesh() {
    let text = "[simulation]\nsteps = 1\ndt = 0.005\n[contact]\n[[shapes]]\nname = \"land\"\ncorner_params = true\n\
                shape = { heights = { values = [[0, 0], [0, 0]], step = [1, 1] } }\n\
                [[bodies]]\nname = \"gem\"\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0, 0, 1]\n";
    let mut scene = parse(text);
    let vertices =
        vec![[0.0, 0.0, 0.3], [0.0, 0.0, 0.1], [0.3, 0.0, 0.0], [0.0, 0.3, 0.0], [-0.3, -0.3, 0.0]];
    let faces = vec![[2, 3, 0], [3, 4, 0], [4, 2, 0], [4, 3, 2], [1, 2, 3]];
    let shape = &mut scene.robots[0].shapes[0];
    (shape.geometry, shape.corner_params) = (mesh(vertices.clone(), faces), true);
    let doubled = [vertices[2], vertices[3], vertices[0], vertices[3], vertices[4], vertices[0]];
    scene.shapes[0].geometry = mesh(doubled.to_vec(), vec![[0, 1, 2], [3, 4, 5]]);
    let params = Model::new(&scene).expect("a model").params();
    let numbers = |name: &str| params.get(name).expect("corners").to_vec();
    assert_eq!(numbers("gem.corners"), [vertices[0], vertices[2], vertices[3], vertices[4]].concat());
    assert_eq!(numbers("land.corners"), [vertices[2], vertices[3], vertices[0], vertices[4]].concat());
}

/// Values that are no numbers are refused by name.
#[test]
fn corners_are_finite() {
    let text = format!("[simulation]\nsteps = 1\ndt = 0.005\n[contact]\nmu = 0.4\n{LAND}{}", lift(0.1, 0.11));
    let step = Step::of(&parse(&text)).expect("a step");
    let model = step.model();
    let error = model.params().set("land[2].heights", &[f64::NAN]).expect_err("no height");
    assert!(error.to_string().contains("`land[2].heights` cannot be NaN"), "{error}");
    let (state, controls, mut params) = (model.state(), model.controls(1), model.params().values().to_vec());
    let at = model.params_layout().find("land[2].heights").expect("a height").start;
    params[at] = f64::INFINITY;
    let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
    let start = Start { states: state.values(), controls: &controls, params: &params };
    let error = rollout.value(&start, &Last(0)).expect_err("no ground");
    assert!(error.to_string().contains("all must be finite"), "{error}");
}

/// A mesh as a body on the ground, with corners as params.
fn on_ground(vertices: Vec<[f64; 3]>, faces: Vec<[u32; 3]>, z: f64) -> Scene {
    let text = format!(
        "[simulation]\nsteps = 1\ndt = 0.005\n[ground]\n[contact]\nmu = 0.4\n[[bodies]]\nname = \"it\"\nmass = 1\n\
         inertia = [0.01, 0.01, 0.01]\nshape = {{ sphere = 0.1 }}\nposition = [0, 0, {z}]\n"
    );
    let mut scene = parse(&text);
    let shape = &mut scene.robots[0].shapes[0];
    (shape.geometry, shape.corner_params) = (mesh(vertices, faces), true);
    scene
}

/// The gradient of a number by all params, against differences of those from `first` on.
fn agrees(scene: &Scene, params: &[f64], steps: usize, of: &str, which: std::ops::Range<usize>) {
    let (_, slopes) = run(scene, Some(params), steps, of);
    assert!(slopes.iter().all(|slope| slope.is_finite()));
    for i in which {
        let at = |by: f64| {
            let mut params = params.to_vec();
            params[i] += by;
            run(scene, Some(&params), steps, of).0
        };
        let h = 1e-7;
        near(&format!("param {i}"), slopes[i], (at(h) - at(-h)) / (2.0 * h), 1e-5);
    }
}

/// An octahedron whose lowest corner is pushed in above its middle: it falls on the others.
#[test]
fn a_dented_hull() {
    let (a, b) = (0.2, 0.1);
    let vertices =
        vec![[a, 0.0, -0.01], [0.0, a, 0.0], [-a, 0.0, 0.01], [0.0, -a, 0.02], [0.0, 0.0, b], [0.0, 0.0, -b]];
    let faces = vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [1, 0, 5], [2, 1, 5], [3, 2, 5], [0, 3, 5]];
    let scene = on_ground(vertices, faces, 0.0105);
    let model = Model::new(&scene).expect("a model");
    let corners = model.params_layout().find("it.corners").expect("corners");
    let mut params = model.params().values().to_vec();
    params[corners.start + 17] = 0.05;
    let (z, _) = run(&scene, Some(&params), 3, "it.position.z");
    assert!(z > 0.009 && z < 0.011, "{z}");
    agrees(&scene, &params, 3, "it.position.z", corners);
}

/// Of two triangles of a slope one has shrunk to a line; a ball lies on the other, as before.
#[test]
fn a_triangle_without_area() {
    let text = format!("[simulation]\nsteps = 1\ndt = 0.005\n[contact]\nmu = 0.4\n{LAND}{}", lift(0.1, 0.16));
    let mut scene = parse(&text);
    let vertices = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [1.0, 1.0, 0.1], [0.0, 1.0, 0.0]];
    scene.shapes[0].geometry = mesh(vertices, vec![[0, 1, 2], [0, 2, 3]]);
    let model = Model::new(&scene).expect("a model");
    let corners = model.params_layout().find("land.corners").expect("corners");
    let mut params = model.params().values().to_vec();
    params[corners.start + 9..corners.end].copy_from_slice(&[0.5, 0.5, 0.05]);
    let wanted = 0.04 + 0.1 * 1.01_f64.sqrt() - 0.16;
    let (z, _) = run(&scene, Some(&params), 100, "lift.z.position");
    near("height", z, wanted, 1e-6);
    agrees(&scene, &params, 100, "lift.z.position", corners.start..corners.start + 9);
}

/// A box of triangles on the ground: one of its lowest corners is moved down, out of the plane of the face, and is what it stands
/// on then.
#[test]
fn a_bent_face() {
    let corner = |i: usize| std::array::from_fn(|k| if i >> k & 1 == 0 { -0.1 } else { 0.1 });
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let scene = on_ground((0..8).map(corner).collect(), faces, 0.1195);
    let model = Model::new(&scene).expect("a model");
    let corners = model.params_layout().find("it.corners").expect("corners");
    assert_eq!(corners.len(), 24);
    for lower in 0..4 {
        let mut params = model.params().values().to_vec();
        params[corners.start + 3 * lower + 2] = -0.12;
        agrees(&scene, &params, 1, "it.position.z", corners.clone());
        let (_, slopes) = run(&scene, Some(&params), 1, "it.position.z");
        assert!(slopes[corners.start + 3 * lower + 2] < -0.1, "{slopes:?}");
    }
}
