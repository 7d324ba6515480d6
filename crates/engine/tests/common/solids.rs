//! Small soft things: of every material, with numbers for all elements or for each, with and without what makes them move.

use pullback_engine::Integrator::{self, BackwardEuler, ImplicitMidpoint, SemiImplicitEuler};
use pullback_scene::robot::JointKind::{Free, Hinge};
use pullback_scene::soft::{Diagonals, SheetMesh, SolidMesh};
use pullback_scene::{
    Attachment, Controller, Elastic, Ground, Part, Particles, PrescribedMotion, Scene, Sheet, SoftContact,
    Solid, SolidMaterial, Springs, World,
};

use super::robots;

/// Those that tests run with every integrator, and the study all of them.
pub const THOROUGH: [&str; 3] = ["a corotated viscous solid", "a sheet", "particles that an arm holds"];

/// Those whose implicit steps take minutes to difference: tests run them with an explicit integrator, and the study with all.
const LONG: [&str; 1] = ["a sheet that a body in flight carries"];

/// The integrators that tests run a world with; `None`: all.
pub fn usual(name: &str) -> Option<&'static [Integrator]> {
    match name {
        name if THOROUGH.contains(&name) => None,
        name if LONG.contains(&name) => Some(&[SemiImplicitEuler]),
        _ => Some(&[SemiImplicitEuler, BackwardEuler]),
    }
}

/// Those that derivatives are held against differences with besides: for each way in which implicit steps solve their equations, both rules.
pub fn besides(name: &str) -> &'static [Integrator] {
    match name {
        "a solid, each element its own" | "sheets that touch each other" | "a flag on a pole" => {
            &[ImplicitMidpoint]
        }
        _ => &[],
    }
}

/// Points that are bent and moving; the first is held fast.
pub fn moving(mut points: Particles) -> Particles {
    let bent = |[x, y, z]: [f64; 3]| {
        [1.1 * x + 0.1 * y, 0.9 * y - 0.1 * x + 0.05 * z, z + 0.1 * x * x + 0.07 * y * x]
    };
    points.positions.iter_mut().for_each(|x| *x = bent(*x));
    for (i, v) in points.velocities.iter_mut().enumerate() {
        *v = std::array::from_fn(|axis| ((i * 5 + axis * 3) % 7) as f64 / 7.0 - 0.4);
    }
    points.fixed[0] = [true; 3];
    points.velocities[0] = [0.0; 3];
    points
}

pub fn world() -> Scene {
    Scene { world: World { gravity: [0.3, 0.0, -9.0], wind: [1.0, -2.0, 0.5] }, ..Scene::default() }
}

/// Numbers that differ from element to element.
fn each(value: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| value * (1.0 + 0.05 * i as f64)).collect()
}

/// A cube of half a metre, of six tetrahedra, some of them of another shape.
fn cube() -> SolidMesh {
    let mut mesh = SolidMesh::block([0.5; 3], [1; 3]).expect("a cube");
    for (n, point) in mesh.points.iter_mut().enumerate() {
        let moved = |axis: usize| ((n * 7 + axis * 5) % 11) as f64 / 11.0 - 0.5;
        *point = std::array::from_fn(|axis| point[axis] + 0.1 * moved(axis));
    }
    mesh
}

pub fn solid(material: SolidMaterial) -> Solid {
    let elastic = Elastic::of_young(3e4, 0.3).expect("rubber");
    Solid { material, ..Solid::new("block", &cube(), elastic, 400.0) }
}

fn with_solid(solid: Solid, mut scene: Scene) -> Scene {
    let points = moving(solid.points());
    scene.add_solid(solid, points);
    scene
}

/// The name of each, and the scene. Elements read velocities, also where nothing is damped.
pub fn all() -> Vec<(&'static str, Scene)> {
    let plain = solid(SolidMaterial::NeoHookean);
    let count = plain.elements.len();
    let every = Solid {
        mu: each(plain.mu[0], count),
        lambda: each(plain.lambda[0], count),
        density: each(400.0, count),
        actuation: each(0.05, count),
        viscosity: Some(each(20.0, count)),
        rest_params: true,
        ..plain.clone()
    };
    let stiff = Solid { controlled: true, actuation: vec![0.07], ..solid(SolidMaterial::StVenantKirchhoff) };
    let viscous = Solid { viscosity: Some(vec![30.0]), ..solid(SolidMaterial::Corotated) };
    let mut fallen = with_solid(plain, world());
    fallen.particles[0].radii = Some(vec![0.02; 8]);
    fallen.ground = Some(Ground {
        height: 0.1,
        ke: Some(3e3),
        kd: Some(10.0),
        kf: Some(100.0),
        mu: Some(0.4),
        material: None,
    });
    let driven = Solid { controlled: true, actuation: each(0.03, count), ..solid(SolidMaterial::NeoHookean) };
    let mut steered = with_solid(driven, world());
    steered.controllers.push(Controller {
        name: "heart".into(),
        drives: "block.elements.actuation".into(),
        sinusoids: vec![[20.0, 0.3], [7.0, 1.1]],
        features: vec!["block[3].position.z".into(), "block[6].velocity".into()],
        scale: 0.2,
        weights: (0..2 * count).map(|i| 0.3 - 0.07 * i as f64).collect(),
        gains: (0..4 * count).map(|i| 0.2 - 0.03 * (i % 9) as f64).collect(),
        biases: each(0.1, count),
    });
    vec![
        ("a solid, each element its own", with_solid(every, world())),
        ("a solid of St. Venant and Kirchhoff", with_solid(stiff, world())),
        ("a corotated viscous solid", with_solid(viscous, world())),
        ("a solid on the ground", fallen),
        ("a solid with a controller", steered),
        ("a sheet", sheets(false)),
        ("a sheet in the wind, each element its own", sheets(true)),
        ("sheets that touch each other", touching()),
        ("particles that an arm holds", held()),
        ("a flag on a pole", flag_on_a_pole()),
        ("a sheet that a body in flight carries", carried()),
    ]
}

/// Two sheets, nearer to each other than the thickness at some places: vertices on triangles and edges on edges, with friction.
fn touching() -> Scene {
    let mesh = SheetMesh::sheet([0.6, 0.4], [1, 1], Diagonals::One).expect("a sheet");
    let elastic = Elastic::of_young_in_plane(2e4, 0.3).expect("cloth");
    let mut scene = world();
    for (name, at) in [("low", [0.0; 3]), ("high", [0.11, 0.07, 0.03])] {
        let mut sheet = Sheet::new(name, &mesh.moved(at), 0.01, elastic, 300.0);
        sheet.bending = vec![0.5];
        let points = moving(sheet.points());
        scene.add_sheet(sheet, points);
    }
    scene.soft_contact =
        Some(SoftContact { thickness: 0.06, ke: 150.0, kd: 0.5, kf: 3.0, mu: 0.4, most: None });
    scene
}

/// Three particles with springs between them: one is held fast to an arm, one by a spring, and one is moved.
fn held() -> Scene {
    let places = vec![[0.4, 0.1, 0.2], [0.7, 0.0, 0.3], [0.5, 0.3, 0.6]];
    let mut scene = Scene { robots: vec![robots::chain("arm", &[Hinge])], ..world() };
    scene.particles = vec![Particles::many("bead", places, 0.3).velocity([0.2, -0.1, 0.4])];
    scene.springs = vec![Springs::many("string", vec![[0, 1], [1, 2], [0, 2]], 30.0, 0.3).damping(0.2)];
    let link = Part::Body { robot: 0, body: 0 };
    scene.attachments = vec![
        Attachment::new("knot", vec![0], link),
        Attachment::new("band", vec![1], link).springs(40.0, 0.3),
    ];
    let lead = PrescribedMotion::steady("lead", vec![2], [0.3, -0.2, 0.1]);
    scene.motions = vec![lead.oscillating([0.05, 0.1, -0.07], 2.3, 0.4)];
    scene
}

/// A sheet on an arm: two points are held fast, one by a spring, and one is moved.
fn flag_on_a_pole() -> Scene {
    let mut scene = Scene { robots: vec![robots::chain("pole", &[Hinge, Hinge])], ..sheets(false) };
    scene.particles[0].fixed[0] = [false; 3];
    let link = |body| Part::Body { robot: 0, body };
    scene.attachments = vec![
        Attachment::new("knot", vec![0, 3], link(1)),
        Attachment::new("band", vec![1], link(0)).springs(40.0, 0.3),
    ];
    let lead = PrescribedMotion::steady("lead", vec![5], [0.3, -0.2, 0.1]);
    scene.motions = vec![lead.oscillating([0.05, 0.1, -0.07], 2.3, 0.4)];
    scene
}

/// A sheet between a body in flight, which holds and pulls, and the world; two controls drive the rest of it.
fn carried() -> Scene {
    let mut scene = Scene { robots: vec![robots::pushed(), robots::chain("box", &[Free])], ..sheets(false) };
    scene.particles[0].fixed[0] = [false; 3];
    let body = |robot| Part::Body { robot, body: 0 };
    scene.attachments = vec![
        Attachment::new("glue", vec![0, 1], body(0)),
        Attachment::new("band", vec![2, 0], body(1)).springs(30.0, 0.0),
        Attachment::new("string", vec![3], body(0)).springs(20.0, 0.2),
    ];
    scene.motions = vec![
        PrescribedMotion::controlled("left", vec![5], vec![[0.1, 0.2, -0.3]]),
        PrescribedMotion::controlled("right", vec![4], vec![[0.0, -0.2, 0.1]]).oscillating(
            [0.02, 0.0, 0.03],
            5.0,
            1.0,
        ),
    ];
    scene.controllers.push(Controller {
        weights: (0..6).map(|i| 0.4 - 0.2 * i as f64).collect(),
        ..Controller::new("hands", "*.velocity", 15.0, 1).scale(0.5)
    });
    scene
}

/// A sheet of two by one cells.
fn sheets(all: bool) -> Scene {
    let mesh = SheetMesh::sheet([0.6, 0.4], [2, 1], Diagonals::Alternating).expect("a sheet");
    let elastic = Elastic::of_young_in_plane(2e4, 0.3).expect("cloth");
    let mut flag = Sheet::new("flag", &mesh, 0.01, elastic, 300.0);
    flag.bending = vec![0.5];
    let (triangles, hinges) = (flag.elements.len(), flag.hinges.len());
    if all {
        flag = Sheet {
            thickness: each(0.01, triangles),
            mu: each(flag.mu[0], triangles),
            lambda: each(flag.lambda[0], triangles),
            density: each(300.0, triangles),
            actuation: each(0.05, triangles),
            viscosity: Some(each(5.0, triangles)),
            rest_params: true,
            bending: each(0.5, hinges),
            bending_damping: Some(vec![0.01]),
            rest_angles: Some(each(0.1, hinges)),
            fold: each(0.2, hinges),
            fold_controlled: true,
            drag: Some(each(0.4, triangles)),
            lift: Some(each(0.3, triangles)),
            ..flag
        };
    }
    let mut scene = world();
    let points = moving(flag.points());
    scene.add_sheet(flag, points);
    scene
}
