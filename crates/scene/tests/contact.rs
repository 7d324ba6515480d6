//! Contact of good files: every field, the rule for pairs, the ground, and what is doubtful.

use std::sync::Arc;

use pullback_scene::robot::{Geometry, Heights, Inertial, MeshShape, Placement, Shape, Triangles};
use pullback_scene::{
    Complementarity, Contact, ContactGradient, ContactModel, ContactQuantity, ContactSolver, FrictionCone,
    Ground, Integrator, JointFriction, JointLimits, LossTerm, Material, MaterialPair, Optimiser, Particles,
    Penalty, Problem, Robot, Scene, Source, Surface, Touch, Toucher, Variable,
};

fn load() -> Scene {
    Scene::load("tests/good/contact.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn parse(text: &str) -> Scene {
    let text = format!("[simulation]\ndt = 0.01\nsteps = 2\n{text}");
    Scene::parse(&text, "tests/good/small.toml").unwrap_or_else(|error| panic!("{error}"))
}

const BALL: &str = "[[bodies]]\nname = \"ball\"\nposition = [0, 0, 1]\nshape = { sphere = 0.1 }\nmass = 1\n";
const DUST: &str = "[[particles]]\nname = \"dust\"\nposition = [0, 0, 1]\nmass = 1\n";

#[test]
fn the_model_and_its_numbers() {
    let contact = Contact {
        model: ContactModel::Complementarity(Complementarity {
            gradient: ContactGradient::Reverse,
            solver: ContactSolver::GaussSeidel,
            friction_cone: FrictionCone::Box,
            iterations: 50,
            fixed_iterations: None,
            tolerance: 1e-8,
            stabilisation: 0.2,
            regularisation: 1e-5,
            margin: 0.02,
            joint_limits: JointLimits::Hard,
            joint_friction: JointFriction::Hard,
        }),
        mu: 0.6,
        restitution: 0.1,
        self_collision: false,
        most_contacts: Some(300),
    };
    assert_eq!(load().contact, Some(contact));
    assert_eq!(load().warnings, []);
}

#[test]
fn what_a_section_leaves_out() {
    let usual = Contact {
        model: ContactModel::Complementarity(Complementarity {
            gradient: ContactGradient::Implicit,
            solver: ContactSolver::Newton,
            friction_cone: FrictionCone::Circular,
            iterations: 100,
            fixed_iterations: None,
            tolerance: 1e-12,
            stabilisation: 1.0,
            regularisation: 1e-4,
            margin: 0.01,
            joint_limits: JointLimits::Soft,
            joint_friction: JointFriction::Smooth,
        }),
        mu: 0.8,
        restitution: 0.0,
        self_collision: true,
        most_contacts: None,
    };
    assert_eq!(Contact::default(), usual);
    assert_eq!(parse(&format!("[contact]\n[ground]\n{BALL}")).contact, Some(usual));
    assert_eq!(parse(&format!("[ground]\nke = 1\nkd = 1\nkf = 1\nmu = 1\n{BALL}")).contact, None);
    let soft = Penalty { ke: 1e4, kd: 100.0, kf: 100.0 };
    let penalty = parse(&format!("[contact]\nmodel = \"penalty\"\n[ground]\n{BALL}"));
    assert_eq!(penalty.contact, Some(Contact { model: ContactModel::Penalty(soft), ..usual }));
    let keys = "model = \"penalty\"\nke = 5\nkd = 6\nkf = 7\nmu = 0\nrestitution = 1";
    let all = Contact { mu: 0.0, restitution: 1.0, ..Contact::penalty(5.0, 6.0, 7.0) };
    assert_eq!(parse(&format!("[contact]\n{keys}\n[ground]\n{BALL}")).contact, Some(all));
    let fixed =
        parse(&format!("[contact]\nsolver = \"gauss-seidel\"\nfixed_iterations = 20\n[ground]\n{BALL}"));
    let Some(ContactModel::Complementarity(fixed)) = fixed.contact.map(|it| it.model) else {
        panic!("the model is complementarity");
    };
    assert_eq!((fixed.fixed_iterations, fixed.iterations), (Some(20), 100));
}

#[test]
fn materials_and_their_pairs() {
    let scene = load();
    let rubber =
        Surface { mu: Some(1.2), restitution: Some(0.7), ke: Some(2e4), kd: Some(20.0), kf: Some(30.0) };
    let wanted = [
        Material { name: "rubber".into(), surface: rubber },
        Material::new("ice", 0.03),
        Material { name: "wood".into(), surface: Surface::default() },
    ];
    assert_eq!(scene.materials, wanted);
    let on_ice =
        Surface { mu: Some(0.15), restitution: Some(0.25), ke: Some(1e3), kd: Some(2.0), kf: Some(3.0) };
    let wood = Surface { mu: Some(0.4), ..Surface::default() };
    let pairs =
        [MaterialPair { between: [0, 1], surface: on_ice }, MaterialPair { between: [2, 2], surface: wood }];
    assert_eq!(scene.material_pairs, pairs);
}

#[test]
fn what_particles_are_made_of() {
    let grit = Particles::many("grit", vec![[0.0, 0.0, 4.0], [0.1, 0.0, 4.0]], 0.01).radius(0.01).made_of(0);
    assert_eq!(load().particles, [grit]);
    assert_eq!(parse(DUST).particles, [Particles::single("dust", [0.0, 0.0, 1.0], 1.0)]);
}

#[test]
fn shapes_of_the_world() {
    let scene = load();
    let named = |name: &str, geometry| Shape::new(geometry).named(name);
    let ramp = Shape {
        placement: Placement { position: [0.0, 0.0, 0.5], orientation: [0.6, 0.0, 0.0, 0.8] },
        friction: Some([0.5, 0.01, 0.001]),
        material: Some(2),
        color: [0.0, 1.0, 0.0, 1.0],
        ..named("ramp", Geometry::Box { half_sides: [2.0, 1.0, 0.1] })
    };
    let wall = Shape {
        placement: Placement { position: [0.0; 3], orientation: [0.6, 0.0, 0.8, 0.0] },
        collides: false,
        ..named("wall", Geometry::Plane)
    };
    let hill = |scale: [f64; 3]| {
        let corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [2.0, 2.0, 1.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
        let triangles = Triangles {
            vertices: corners.map(|[x, y, z]| [x, y, z * scale[2]]).to_vec(),
            faces: vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2]],
        };
        let file = "tests/good/hill.obj".into();
        Geometry::Mesh(MeshShape { file, scale, triangles: Some(Arc::new(triangles)) })
    };
    let dunes = Heights {
        file: Some("tests/good/terrain.csv".into()),
        step: [0.5, 0.25],
        count: [4, 3],
        values: Arc::new(vec![0.0, 0.5, 1.0, 0.5, 0.25, 0.75, 1.25, 0.75, 0.0, 0.0, 0.0, -0.1]),
    };
    let pit = Heights {
        file: None,
        step: [1.0, 2.0],
        count: [3, 2],
        values: Arc::new(vec![0.0, 0.0, 0.0, 0.0, -1.0, 0.0]),
    };
    let wanted = [
        ramp,
        wall,
        named("hill", hill([1.0; 3])).with_corner_params(),
        named("peak", hill([1.0, 1.0, 3.0])),
        Shape { placement: Placement::at([10.0, 0.0, 0.0]), ..named("dunes", Geometry::Heights(dunes)) },
        named("pit", Geometry::Heights(pit)),
    ];
    assert_eq!(scene.shapes, wanted);
    assert_eq!(scene.check(), Ok(()));
}

#[test]
fn materials_of_robots_and_bodies() {
    let scene = load();
    let of = |robot: usize| -> Vec<(Option<usize>, Option<[f64; 3]>)> {
        scene.robots[robot].shapes.iter().map(|shape| (shape.material, shape.friction)).collect()
    };
    assert_eq!(of(0), [(Some(2), None), (Some(2), Some([2.0, 0.005, 0.0001])), (Some(0), None)]);
    assert_eq!(of(1), [(Some(1), None)]);
    assert_eq!(of(2), [(Some(0), None)]);
    assert_eq!(of(3), [(None, Some([0.3, 0.005, 0.0001]))]);
    assert_eq!(scene.robots[0].self_collision, Some(true));
    assert_eq!(scene.robots[1].self_collision, None);
}

/// hopper.xml has friction of its own, as all MJCF has.
#[test]
fn a_material_goes_before_the_friction_of_a_file() {
    let robot = "[[robots]]\nfile = \"hopper.xml\"\nname = \"hopper\"\n";
    let materials = "[[materials]]\nname = \"ice\"\nmu = 0.1\n[[materials]]\nname = \"steel\"\n";
    let frictions = |more: &str| -> Vec<Option<[f64; 3]>> {
        let scene = parse(&format!("{materials}[world]\ngravity = [0, 0, -9.81]\n{robot}{more}"));
        scene.robots[0].shapes.iter().map(|shape| shape.friction).collect()
    };
    let own = frictions("");
    assert!(!own.is_empty() && own.iter().all(Option::is_some));
    assert!(frictions("material = \"ice\"").iter().all(Option::is_none));
    assert_eq!(frictions("material = \"steel\""), own, "a material that says nothing of friction");
    assert!(parse(robot).robots[0].touches_base);
}

fn close(found: Touch, wanted: [f64; 5]) {
    let found = [found.mu, found.restitution, found.ke, found.kd, found.kf];
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
    assert!(found.iter().zip(&wanted).all(near), "{found:?} {wanted:?}");
}

#[test]
fn how_pairs_touch() {
    let scene = load();
    let shape = |robot: usize| scene.robots[robot].shapes.last().expect("it has one");
    let [pad, lid, ball, puck] = [0, 1, 2, 3].map(shape);
    let ground = scene.ground.expect("there is one");
    let [ramp, hill] = [&scene.shapes[0], &scene.shapes[2]];
    close(scene.touch_of(ball), [1.2, 0.7, 2e4, 20.0, 30.0]);
    close(scene.touch_of(puck), [0.3, 0.1, 1e4, 100.0, 100.0]);
    // Its own friction goes before that of wood, and wood says nothing.
    close(scene.touch_of(ramp), [0.5, 0.1, 1e4, 100.0, 100.0]);
    close(scene.touch_of(hill), [0.6, 0.1, 1e4, 100.0, 100.0]);
    close(scene.touch_of_ground(&ground), [0.03, 0.1, 1e4, 100.0, 100.0]);
    // √(1.2 · 0.3) = 0.6, √(2e4 · 1e4), √(20 · 100), √(30 · 100); the larger restitution.
    let rubber = [2e8f64.sqrt(), 2000f64.sqrt(), 3000f64.sqrt()];
    close(scene.touch_between(ball, puck), [0.6, 0.7, rubber[0], rubber[1], rubber[2]]);
    assert_eq!(scene.touch_between(puck, ball), scene.touch_between(ball, puck));
    // What is said of rubber and ice, in either order, and with the ground.
    let on_ice = [0.15, 0.25, 1e3, 2.0, 3.0];
    close(scene.touch_between(pad, lid), on_ice);
    close(scene.touch_between(lid, pad), on_ice);
    close(scene.touch_with_ground(ball, &ground), on_ice);
    close(scene.touch_with_ground(puck, &ground), [0.009f64.sqrt(), 0.1, 1e4, 100.0, 100.0]);
    // Wood on wood: only mu is said.
    let arm = &scene.robots[0].shapes[0];
    close(scene.touch_between(arm, ramp), [0.4, 0.1, 1e4, 100.0, 100.0]);
}

#[test]
fn where_the_ground_has_its_numbers_from() {
    let of = |text: &str, said: Surface, [ke, kd, kf, mu]: [f64; 4]| {
        let scene = parse(text);
        let ground = scene.ground.expect("there is one");
        assert_eq!(ground.surface(), said, "{text}");
        close(scene.touch_of_ground(&ground), [mu, 0.0, ke, kd, kf]);
        ground
    };
    let nothing = Surface::default();
    of(&format!("[contact]\nmu = 0.5\n[ground]\n{BALL}"), nothing, [1e4, 100.0, 100.0, 0.5]);
    assert_eq!(Ground::default().surface(), nothing);
    let soft = "[contact]\nmodel = \"penalty\"\nke = 1\nkd = 2\nkf = 3\n";
    let damped = Surface { kd: Some(7.0), ..nothing };
    of(&format!("{soft}[ground]\nkd = 7\n{DUST}"), damped, [1.0, 7.0, 3.0, 0.8]);
    let ice = "[[materials]]\nname = \"ice\"\nmu = 0.1\nke = 9\n";
    let icy = of(&format!("{soft}{ice}[ground]\nmaterial = \"ice\"\n{DUST}"), nothing, [9.0, 2.0, 3.0, 0.1]);
    assert_eq!(icy.material, Some(0));
    let own = "[ground]\nheight = 1\nke = 4\nkd = 5\nkf = 6\nmu = 7\n";
    let all = Surface { ke: Some(4.0), kd: Some(5.0), kf: Some(6.0), mu: Some(7.0), restitution: None };
    for with in ["", "[contact]\n", soft] {
        let ground = of(&format!("{with}{own}{DUST}"), all, [4.0, 5.0, 6.0, 7.0]);
        assert_eq!(ground.height, 1.0);
    }
    of(&format!("[contact]\n{own}{BALL}"), all, [4.0, 5.0, 6.0, 7.0]);
}

#[test]
fn a_model_that_nothing_needs_is_doubtful() {
    let warned = |text: &str| {
        let warnings = parse(text).warnings;
        let texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert!(texts.len() <= 1, "{texts:?}");
        texts.first().is_some_and(|text| text.contains(":4:2: contact: there is nothing that could touch"))
    };
    let two = BALL.replace("position = [0, 0, 1]", "positions = [[0, 0, 1], [1, 0, 1]]");
    let plane = "[[shapes]]\nname = \"wall\"\nshape = { plane = true }\n";
    let soft = "[contact]\nmodel = \"penalty\"\n";
    assert!(warned(&format!("[contact]\n{BALL}")));
    let held = format!("[contact]\n[ground]\nke = 1\nkd = 1\nkf = 1\nmu = 1\n{DUST}");
    assert!(
        warned(&held)
            && parse(&held).warnings[0].to_string().contains("the ground, which holds them without it")
    );
    assert!(warned(&format!("[contact]\n{DUST}{plane}collides = false\n")));
    assert!(warned(&format!("[contact]\n{BALL}{plane}collides = false\n")));
    assert!(warned(&format!("[contact]\n[ground]\nke = 1\nkd = 1\nkf = 1\n{DUST}")));
    assert!(warned(&format!("[contact]\n[ground]\n{}", BALL.replace("mass", "collides = false\nmass"))));
    assert!(!warned(&format!("[contact]\n{BALL}{plane}")));
    assert!(!warned(&format!("[contact]\n{DUST}{plane}")));
    assert!(!warned(&format!("[contact]\n{DUST}{BALL}")));
    assert!(!warned(&format!("[contact]\n[ground]\n{BALL}")));
    assert!(!warned(&format!("[contact]\nself_collision = false\n{two}")));
    assert!(!warned(&format!("[contact]\n{BALL}{}", BALL.replace("ball", "other"))));
    assert!(!warned(&format!("{soft}[ground]\n{DUST}")));
    assert!(!warned(BALL));
    let shape = |body: &str| format!("[[robots.shapes]]\nbody = \"{body}\"\nshape = {{ sphere = 1 }}\n");
    let arm = format!("[[robots]]\nfile = \"arm.urdf\"\nname = \"arm\"\n{}{}", shape("base"), shape("lower"));
    assert!(!warned(&format!("[contact]\n{arm}")));
    assert!(warned(&format!("[contact]\nself_collision = false\n{arm}")));
    assert!(!warned(&format!("[contact]\nself_collision = false\njoint_limits = \"hard\"\n{arm}")));
    assert!(warned(&format!("[contact]\nself_collision = false\njoint_friction = \"hard\"\n{arm}")));
    let with_floor = "[[robots.shapes]]\nshape = { box = [1, 1, 1] }\n";
    assert!(!warned(&format!("[contact]\nself_collision = false\n{arm}{with_floor}")));
}

/// The example of docs/scenes.md, from its file and as it says that code has it.
#[test]
fn the_example_of_the_docs() {
    let page = include_str!("../../../docs/scenes.md");
    let start = page.find("```toml\n[contact]").expect("the example is there") + "```toml\n".len();
    let end = start + page[start..].find("```").expect("it has an end");
    let scene = parse(&page[start..end]);
    assert_eq!(scene.contact, Some(Contact { mu: 0.7, ..Contact::default() }));
    assert_eq!(scene.materials, [Material::new("rubber", 1.1).restitution(0.6)]);
    assert_eq!(scene.ground, Some(Ground::default()));
    assert_eq!(scene.shapes, [Shape::new(Geometry::Box { half_sides: [0.5, 0.5, 0.1] }).named("step")]);
    let ball = Shape::new(Geometry::Sphere { radius: 0.1 }).made_of(0).around(0, [0.0; 3]);
    assert_eq!(scene.robots[0].shapes, [ball]);
}

/// A link is followed before it is checked where a file is.
#[cfg(unix)]
#[test]
fn links_that_lead_out_of_the_folder_are_not_followed() {
    use std::fs;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("links");
    let inner = folder.join("inner");
    fs::create_dir_all(&inner).expect("there is room");
    fs::copy("tests/good/hill.obj", folder.join("hill.obj")).expect("there is room");
    fs::copy("tests/good/terrain.csv", folder.join("terrain.csv")).expect("there is room");
    for file in ["hill.obj", "terrain.csv"] {
        let link = inner.join(file);
        if fs::symlink_metadata(&link).is_err() {
            std::os::unix::fs::symlink(folder.join(file), &link).expect("there is room");
        }
    }
    let read = |folder: &std::path::Path, shape: &str| {
        let text = format!(
            "[simulation]\ndt = 0.01\nsteps = 2\n{BALL}[[shapes]]\nname = \"hill\"\nshape = {{ {shape} }}\n"
        );
        Scene::parse(&text, folder.join("scene.toml"))
    };
    for shape in ["mesh = \"hill.obj\"", "heights = { file = \"terrain.csv\", step = [1, 1] }"] {
        assert!(read(&folder, shape).is_ok(), "{shape}");
        let error = read(&inner, shape).expect_err("it is outside");
        assert!(error.what.contains("is outside the folder of the scene"), "{error}");
        assert_eq!(error.fix, "move it there");
    }
}

fn in_code() -> Scene {
    Scene {
        particles: vec![Particles::single("dust", [0.0; 3], 1.0)],
        contact: Some(Contact::default()),
        materials: vec![Material::new("rubber", 1.0).restitution(0.5), Material::new("ice", 0.1)],
        material_pairs: vec![MaterialPair { between: [0, 1], ..MaterialPair::default() }],
        ground: Some(Ground { material: Some(1), ..Ground::default() }),
        shapes: vec![
            Shape::new(Geometry::Plane).named("wall").made_of(0),
            Shape::new(Geometry::Heights(
                Heights::new(&[vec![0.0, 1.0], vec![0.0, 1.0]], [1.0, 1.0]).expect("a good grid"),
            ))
            .named("slope"),
        ],
        ..Scene::default()
    }
}

/// A change that makes a scene wrong, and where the error is.
type Change = (fn(&mut Scene), &'static str);

fn hard(scene: &mut Scene) -> &mut Complementarity {
    match scene.contact.as_mut().map(|contact| &mut contact.model) {
        Some(ContactModel::Complementarity(it)) => it,
        Some(ContactModel::Penalty(_)) | None => panic!("the scene has hard contact"),
    }
}

fn heights(scene: &mut Scene) -> &mut Heights {
    match &mut scene.shapes[1].geometry {
        Geometry::Heights(it) => it,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_field_is_checked() {
    let changes: &[Change] = &[
        (|s| s.contact = Some(Contact { mu: -0.1, ..Contact::default() }), "contact.mu"),
        (|s| s.contact = Some(Contact { mu: f64::NAN, ..Contact::default() }), "contact.mu"),
        (|s| s.contact = Some(Contact { restitution: 1.1, ..Contact::default() }), "contact.restitution"),
        (
            |s| s.contact = Some(Contact { most_contacts: Some(0), ..Contact::default() }),
            "contact.most_contacts",
        ),
        (|s| s.contact = Some(Contact::penalty(-1.0, 0.0, 0.0)), "contact.ke"),
        (|s| s.contact = Some(Contact::penalty(0.0, -1.0, 0.0)), "contact.kd"),
        (|s| s.contact = Some(Contact::penalty(0.0, 0.0, -1.0)), "contact.kf"),
        (|s| hard(s).iterations = 0, "contact.iterations"),
        (|s| hard(s).fixed_iterations = Some(0), "contact.fixed_iterations"),
        (|s| hard(s).fixed_iterations = Some(5), "contact.fixed_iterations"),
        (|s| hard(s).tolerance = 0.0, "contact.tolerance"),
        (|s| hard(s).stabilisation = 1.5, "contact.stabilisation"),
        (|s| hard(s).stabilisation = -0.5, "contact.stabilisation"),
        (|s| hard(s).stabilisation = 0.0, "contact.stabilisation"),
        (|s| hard(s).regularisation = -1e-9, "contact.regularisation"),
        (|s| hard(s).margin = -0.01, "contact.margin"),
        (|s| s.simulation.integrator = Integrator::RungeKutta4, "simulation.integrator"),
        (|s| s.materials[1].name = "rubber".into(), "materials[1].name"),
        (|s| s.materials[1].name = "dust".into(), "materials[1].name"),
        (|s| s.materials[1].name = "contact".into(), "materials[1].name"),
        (|s| s.materials[1].surface.mu = Some(-1.0), "materials[1].mu"),
        (|s| s.materials[1].surface.restitution = Some(2.0), "materials[1].restitution"),
        (|s| s.materials[1].surface.ke = Some(-1.0), "materials[1].ke"),
        (|s| s.materials[1].surface.kd = Some(-1.0), "materials[1].kd"),
        (|s| s.materials[1].surface.kf = Some(f64::NAN), "materials[1].kf"),
        (|s| s.material_pairs[0].between = [0, 2], "material_pairs[0].between"),
        (|s| s.material_pairs[0].surface.mu = Some(-1.0), "material_pairs[0].mu"),
        (
            |s| s.material_pairs.push(MaterialPair { between: [1, 0], ..MaterialPair::default() }),
            "material_pairs[1].between",
        ),
        (|s| s.ground.iter_mut().for_each(|ground| ground.material = Some(2)), "ground.material"),
        (|s| s.particles[0].material = Some(2), "particles[0].material"),
        (|s| s.particles[0].radii = Some(vec![0.0]), "particles[0].radii[0]"),
        (|s| s.particles[0].radii = Some(vec![f64::NAN]), "particles[0].radii[0]"),
        (|s| s.particles[0].radii = Some(vec![0.1, 0.1]), "particles[0].radii"),
        (|s| s.shapes[0].name = String::new(), "shapes[0].name"),
        (|s| s.shapes[0].name = "ice".into(), "shapes[0].name"),
        (|s| s.shapes[0].body = Some(0), "shapes[0].body"),
        (|s| s.shapes[0].material = Some(2), "shapes[0].material"),
        (|s| s.shapes[0].friction = Some([-1.0, 0.0, 0.0]), "shapes[0].friction[0]"),
        (|s| s.shapes[0].placement.orientation = [0.0; 4], "shapes[0].position"),
        (|s| s.shapes[0].geometry = Geometry::Sphere { radius: 0.0 }, "shapes[0].shape"),
        (
            |s| {
                let file = "hill.obj".into();
                s.shapes[0].geometry = Geometry::Mesh(MeshShape { file, scale: [1.0; 3], triangles: None });
            },
            "shapes[0].shape.mesh",
        ),
        (|s| heights(s).step = [1.0, 0.0], "shapes[1].shape.heights.step[1]"),
        (|s| heights(s).count = [2, 3], "shapes[1].shape.heights.values"),
        (|s| heights(s).count = [4, 1], "shapes[1].shape.heights.values"),
        (
            |s| heights(s).values = Arc::new(vec![0.0, f64::NAN, 0.0, 0.0]),
            "shapes[1].shape.heights.values[1]",
        ),
        (
            |s| {
                let ball = Robot::loose_body(
                    "ball",
                    Placement::default(),
                    Inertial { mass: 1.0, inertia: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0], center: [0.0; 3] },
                );
                s.robots.push(ball.shaped(&Shape::new(Geometry::Sphere { radius: 1.0 }).made_of(2)));
            },
            "bodies[0].shapes[0].material",
        ),
    ];
    assert_eq!(in_code().check(), Ok(()));
    for (at, (change, path)) in changes.iter().enumerate() {
        let mut scene = in_code();
        change(&mut scene);
        let invalid = scene.check().expect_err(&format!("change {at}, of {path}"));
        assert_eq!(invalid.path, *path, "{invalid}");
        assert!(!invalid.fix.is_empty(), "{invalid}");
    }
    let mut scene = in_code();
    scene.contact = None;
    scene.materials[1].name = "contact".into();
    assert_eq!(scene.check(), Ok(()), "the name is free where there is no such section");
    let mut scene = in_code();
    scene.contact = Some(Contact::penalty(1.0, 1.0, 1.0));
    scene.simulation.integrator = Integrator::RungeKutta4;
    assert_eq!(scene.check(), Ok(()), "springs and dampers are forces like others");
}

/// n kf dt (1/m + r²/I) = 3.5 kf dt/m of a ball, whose I is 2/5 m r²; n kd dt/m; n ke dt²/m.
#[test]
fn penalties_that_are_too_stiff_are_doubtful() {
    let warned = |more: &str, mass: f64, head: &str| {
        let ball = BALL.replace("mass = 1", &format!("mass = {mass}"));
        let text = format!(
            "[simulation]\nsteps = 2\n{head}\n[ground]\n[contact]\nmodel = \"penalty\"\n{more}\n{ball}"
        );
        let scene = Scene::parse(&text, "stiff.toml").unwrap_or_else(|error| panic!("{error}"));
        scene.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let said = warned("ke = 10\nkd = 1\nkf = 100", 0.05, "dt = 0.001");
    assert!(said.contains("contact.model: a body of 0.05 kg is too light for kf = 100 N·s/m"), "{said}");
    assert!(
        said.contains("n kf dt (1/m + r²/I) is 7.00 on n = 1 of") && said.contains("`kf` below 14.2"),
        "{said}"
    );
    let said = warned("ke = 10\nkd = 150\nkf = 1", 0.1, "dt = 0.001");
    assert!(said.contains("kd = 150 N·s/m: n kd dt/m is 1.50") && said.contains("`kd` below 100"), "{said}");
    let said = warned("ke = 1e5\nkd = 1\nkf = 1", 0.2, "dt = 0.002");
    assert!(said.contains("ke = 100000 N/m: n ke dt²/m is 2.00"), "{said}");
    // A box lies on four corners.
    let cube = BALL.replace("sphere = 0.1", "box = [0.1, 0.1, 0.1]");
    let text = format!(
        "[simulation]\nsteps = 2\ndt = 0.001\n[ground]\n[contact]\nmodel = \"penalty\"\nke = 10\nkd = 500\nkf = 1\n{cube}"
    );
    let scene = Scene::parse(&text, "stiff.toml").unwrap_or_else(|error| panic!("{error}"));
    let said = scene.warnings[0].to_string();
    assert!(said.contains("n kd dt/m is 2.00 on n = 4") && said.contains("`kd` below 250"), "{said}");
    // Within their range, in parts of a step, or with implicit steps there is nothing to say.
    assert_eq!(warned("ke = 10\nkd = 1\nkf = 14", 0.05, "dt = 0.001"), "");
    assert_eq!(warned("ke = 10\nkd = 1\nkf = 100", 0.05, "dt = 0.001\nsubsteps = 8"), "");
    assert_eq!(warned("ke = 10\nkd = 1\nkf = 100", 0.05, "dt = 0.001\nintegrator = \"backward-euler\""), "");
}

/// Points of soft things touch by springs, whatever the model of contact is; and the lightest of them has a mass of which digits are seen.
#[test]
fn points_that_are_too_light_are_doubtful() {
    let said = |contact: &str, height: &str| {
        let text = format!(
            "[simulation]\nsteps = 2\ndt = 0.001\n{contact}\n[[sheets]]\nname = \"cloth\"\n\
             mesh = {{ sheet = [1, 1], cells = [10, 10] }}\nposition = [0, 0, {height}]\nthickness = 1e-3\nyoung = 1e5\npoisson = 0.3\n\
             density = 200\n"
        );
        let scene = Scene::parse(&text, "light.toml").unwrap_or_else(|error| panic!("{error}"));
        scene.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let ball = "[[shapes]]\nname = \"ball\"\nshape = { sphere = 0.3 }\n";
    let (hard, soft) = (
        said(&format!("[contact]\n{ball}"), "1"),
        said(&format!("[contact]\nmodel = \"penalty\"\n{ball}"), "1"),
    );
    for said in [&hard, &soft] {
        assert!(said.contains("a point of `cloth` of 0.000666 kg is too light for kf = 100 N·s/m"), "{said}");
        // All numbers at once: whoever mends one need not come back for the next.
        assert!(said.contains("take `kf` below 0.666, `kd` below 0.666, `ke` below 666,"), "{said}");
    }
    assert!(
        hard.contains("in a material of `[[materials]]` that both the shape and the points have"),
        "{hard}"
    );
    assert!(!soft.contains("[[materials]]"), "{soft}");
    // Ground that suits them hides no shape that does not, be it of the world or of a body; and a material that both have goes first.
    let gentle = "[ground]\nke = 100\nkd = 0.1\nkf = 0.1\nmu = 0.5\nheight = -5\n";
    let loose = "[[bodies]]\nname = \"ball\"\nposition = [0, 0, 0]\nmass = 1\nshape = { sphere = 0.3 }\n";
    for shape in [ball, loose] {
        let said = said(&format!("{gentle}[contact]\nmodel = \"penalty\"\n{shape}"), "1");
        assert!(said.contains("contact: a point of `cloth` of 0.000666 kg is too light for kf"), "{said}");
    }
    let silk = "[[materials]]\nname = \"silk\"\nke = 300\nkd = 0.1\nkf = 0.1\n";
    let of_silk = ball.replace("shape =", "material = \"silk\"\nshape =");
    let mixed = said(&format!("[contact]\nmodel = \"penalty\"\n{silk}{of_silk}"), "1");
    assert!(mixed.contains("too light for kf = 3.16"), "the mean of 0.1 and 100: {mixed}");
    let both = said(
        &format!("[contact]\nmodel = \"penalty\"\n{silk}{of_silk}"),
        "1]\nsurface = \"silk\"\nvelocity = [0, 0, 0",
    );
    assert_eq!(both, "");
    // The ground is the same with and without a model of contact.
    for contact in ["", "[contact]\n", "[contact]\nmodel = \"penalty\"\n"] {
        let said = said(&format!("[ground]\nke = 1e4\nkd = 10\nkf = 10\nmu = 0.5\n{contact}"), "1");
        assert!(said.contains("ground: a point of `cloth` of 0.000666 kg is too light for k"), "{said}");
    }
}

/// Bodies do not stand on ground that they do not touch.
#[test]
fn bodies_that_fall_through_the_ground_are_doubtful() {
    let said =
        |text: &str| parse(text).warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let plane = "[[shapes]]\nname = \"wall\"\nshape = { plane = true }\n";
    let stiff = "[ground]\nke = 1\nkd = 1\nkf = 1\nmu = 1\n";
    let through = said(&format!("{stiff}{BALL}"));
    assert!(
        through.contains("ground: bodies pass through the ground") && through.contains("[contact]"),
        "{through}"
    );
    let through = said(&format!("{plane}{BALL}"));
    assert!(through.contains("shapes[0]: bodies pass through the shapes of the world"), "{through}");
    for nothing in [
        format!("[contact]\n[ground]\n{BALL}"),
        format!("{stiff}{}", BALL.replace("mass", "collides = false\nmass")),
        format!("{plane}collides = false\n{BALL}"),
        format!("{stiff}{DUST}"),
        BALL.to_owned(),
    ] {
        assert_eq!(said(&nothing), "", "{nothing}");
    }
}

#[test]
fn what_touches_has_a_name() {
    let scene = load();
    let names = ["ground", "box", "box.lid", "ball", "puck"];
    let found =
        names.map(|name| scene.toucher(name).unwrap_or_else(|error| panic!("{name}: {}", error.what)));
    assert_eq!(found.map(|toucher| scene.toucher_name(toucher)), names);
    assert!(matches!(found[1], Toucher::Robot(_)) && matches!(found[2], Toucher::Body { body: 0, .. }));
    for (i, shape) in scene.shapes.iter().enumerate() {
        assert_eq!(scene.toucher(&shape.name), Ok(Toucher::Fixed(i)));
        assert_eq!(scene.toucher_name(Toucher::Fixed(i)), shape.name);
    }
    let two = BALL.replace("position = [0, 0, 1]", "positions = [[0, 0, 1], [1, 0, 1]]");
    let two = parse(&two);
    assert_eq!(two.toucher("ball"), Ok(Toucher::Robot(0)));
    assert_eq!(two.toucher("ball[1]"), Ok(Toucher::Body { robot: 0, body: 1 }));
    assert!(two.toucher("ball[2]").is_err() && two.toucher("ground").is_err());
    for name in ["dust", "dust[0]"] {
        let said = parse(DUST).toucher(name).expect_err("particles").what;
        assert!(said.contains(name) && said.contains("whose contacts are not seen"), "{said}");
    }
    let arm = "[[robots]]\nfile = \"arm.urdf\"\nname = \"arm\"\n[[robots.shapes]]\nname = \"tip\"\nbody = \"lower\"\nshape = { sphere = 1 }\n";
    let arm = parse(arm);
    let Ok(Toucher::Shape { robot: 0, shape }) = arm.toucher("arm.tip") else { panic!("a shape") };
    assert_eq!(arm.robots[0].shapes[shape].name, "tip");
    assert_eq!(arm.toucher_name(Toucher::Shape { robot: 0, shape }), "arm.tip");
}

/// In code indices can be wrong as well.
#[test]
fn losses_of_contacts_are_checked_in_code() {
    let scene = load();
    let problem = |of: Toucher, with: Option<Toucher>| {
        let quantity = ContactQuantity::Penetration { target: 0.0 };
        let losses = vec![LossTerm::contact(of, with, quantity)];
        let variables = vec![Variable::new("initial.ball.velocity")];
        let (scene, optimiser, source) = (scene.clone(), Optimiser::default(), Source::default());
        Problem { scene, variables, losses, optimiser, source }.check().err().map(|error| error.to_string())
    };
    let ball = scene.toucher("ball").expect("a ball");
    assert_eq!(problem(ball, Some(Toucher::Ground)), None);
    let wrong = [
        Toucher::Fixed(99),
        Toucher::Robot(99),
        Toucher::Body { robot: 0, body: 99 },
        Toucher::Shape { robot: 9, shape: 0 },
    ];
    for toucher in wrong {
        let of = problem(toucher, None).expect("it is not there");
        assert!(of.starts_with("loss[0].of: there is no "), "{of}");
        let with = problem(ball, Some(toucher)).expect("it is not there");
        assert!(with.starts_with("loss[0].with: there is no "), "{with}");
    }
}
