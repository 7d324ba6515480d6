//! Soft solids and sheets in scenes: what files give, and what code is refused for.

use pullback_scene::robot::Placement;
use pullback_scene::soft::{Cut, Diagonals, Gear, SheetMesh, SolidMesh};
use pullback_scene::{
    Attachment, Controller, Elastic, LossKind, Part, Particles, PrescribedMotion, Problem, Scene, Sheet,
    SoftContact, Solid, SolidMaterial, Velocity,
};

const FILE: &str = "tests/good/soft.toml";

fn file() -> Scene {
    Scene::load(FILE).unwrap_or_else(|error| panic!("{error}"))
}

fn solid_mesh(file: &str) -> SolidMesh {
    let bytes = std::fs::read(file).expect("it is there");
    SolidMesh::parse(&bytes, file).unwrap_or_else(|error| panic!("{error}"))
}

fn sheet_mesh(file: &str) -> SheetMesh {
    let bytes = std::fs::read(file).expect("it is there");
    SheetMesh::parse(&bytes, file).unwrap_or_else(|error| panic!("{error}"))
}

fn of_young(young: f64, poisson: f64) -> Elastic {
    Elastic::of_young(young, poisson).expect("matter")
}

fn in_plane(young: f64, poisson: f64) -> Elastic {
    Elastic::of_young_in_plane(young, poisson).expect("matter")
}

/// The solids of the file, with their points.
fn solids() -> Vec<(Solid, Particles)> {
    let mesh = SolidMesh::beam(1.0, 0.1, 0.1, [2, 1, 1]).expect("a beam").moved([0.0, 0.0, 1.0]);
    let mut beam = Solid::new("beam", &mesh, of_young(1e6, 0.45), 1000.0)
        .material(SolidMaterial::Corotated)
        .viscosity(20.0)
        .actuation(0.1)
        .rest_params();
    beam.group = 1;
    let mut points =
        beam.points().fix_points(&[0, 3, 6, 9]).velocity([0.0, 0.0, 1.0]).radius(0.02).made_of(0);
    points.masses.fill(0.01);
    let mut all = vec![(beam, points)];
    let mut add = |solid: Solid, points: Particles| {
        let group = all.len() + 1;
        all.push((Solid { group, ..solid }, points));
    };

    let mesh = SolidMesh::block_cut([1.0; 3], [1; 3], Cut::Five).expect("a block");
    let block = Solid::new("block", &mesh, Elastic { mu: 1e5, lambda: 3e5 }, 1000.0).controlled();
    let mut points = block.points();
    points.fixed[..4].fill([true, true, false]);
    add(Solid { mu: vec![1e5, 1e5, 1e5, 1e5, 2e5], ..block }, points);

    let mesh = SolidMesh::icosphere(0.5, 0, 2).expect("a ball").scaled([1.0, 1.0, 2.0]);
    let orb = Solid::new("orb", &mesh, of_young(1e5, 0.3), 100.0).actuation(0.2);
    let points = orb.points();
    add(Solid { controlled: true, ..orb }, points);

    let gear = Gear { teeth: 3, bore: 0.2, root: 0.5, tip: 0.6, thickness: 0.1, rings: 1, layers: 1 };
    let wheel = Solid::new("wheel", &SolidMesh::gear(&gear).expect("a gear"), of_young(1e5, 0.3), 100.0);
    let points = wheel.points();
    add(wheel, points);

    let mesh = solid_mesh("tests/good/corner.msh").fixed_winding().scaled([0.001; 3]);
    let each = [of_young(1e5, 0.3), of_young(2e5, 0.4)];
    let corner = Solid::new("corner", &mesh, each[0], 0.0);
    let points = corner.points();
    let (mu, lambda) = (each.map(|it| it.mu).to_vec(), each.map(|it| it.lambda).to_vec());
    add(Solid { mu, lambda, density: vec![100.0, 200.0], ..corner }, points);

    let mesh = SolidMesh::filled(&sheet_mesh("tests/good/octahedron.obj"), 1.0).expect("a solid");
    let filled = Solid::new("filled", &mesh, of_young(1e5, 0.3), 100.0);
    let points = filled.points();
    add(filled, points);

    let mesh = SolidMesh {
        points: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        elements: vec![[0, 1, 2, 3]],
    };
    let tetrahedron = Solid::new("tetrahedron", &mesh, of_young(1e5, 0.3), 0.0);
    let mut points = tetrahedron.points().fix_points(&[0]);
    points.masses = vec![0.0, 1.0, 1.0, 1.0];
    add(tetrahedron, points);
    all
}

#[test]
fn solids_of_the_file() {
    let scene = file();
    let wanted = solids();
    assert_eq!(scene.solids.len(), wanted.len());
    for (found, (solid, points)) in scene.solids.iter().zip(&wanted) {
        assert_eq!(found, solid);
        assert_eq!(&scene.particles[found.group], points);
    }
    // One of the two tetrahedra of the file is inverted.
    assert!(scene.solids[4].mesh().volumes().all(|volume| volume > 0.0));
    assert!(solid_mesh("tests/good/corner.msh").check().is_err());
}

#[test]
fn sheets_of_the_file() {
    let scene = file();
    let names: Vec<&str> = scene.sheets.iter().map(|sheet| sheet.name.as_str()).collect();
    assert_eq!(names, ["cloth", "walker", "balloon", "paper", "triangle"]);
    assert!(scene.sheets.iter().enumerate().all(|(i, sheet)| sheet.group == 8 + i));

    let half = 1.0 / 2f64.sqrt();
    let turned = Placement { position: [0.0, 0.0, 2.0], orientation: [half, 0.0, 0.0, half] };
    let mesh = SheetMesh::sheet([1.0, 0.5], [2, 1], Diagonals::One).expect("a sheet").placed(&turned);
    let cloth = Sheet::new("cloth", &mesh, 1e-3, in_plane(1e6, 0.5), 200.0)
        .viscosity(5.0)
        .air(0.5, 0.1)
        .bending(1e-4)
        .bending_damping(1e-6)
        .fold_controlled()
        .rest_params();
    let mut points = cloth.points().made_of(0);
    let cloth = Sheet {
        group: 8,
        actuation: vec![0.0, 0.0, 0.1, 0.0],
        rest_angles: Some(vec![0.0, 0.1, 0.0]),
        ..cloth
    };
    points.velocities[3..].fill([1.0, 0.0, 0.0]);
    points.masses[0] = 0.1;
    // Turned by a quarter, x is y: points 0 and 3 are at y = -0.5, and 2 and 5 at y = 0.5.
    for at in [0, 3] {
        points.fixed[at] = [true; 3];
    }
    for at in [2, 5] {
        points.fixed[at] = [false, false, true];
    }
    points.radii = Some(vec![0.01, 0.01, 0.01, 0.02, 0.02, 0.02]);
    assert_eq!(scene.sheets[0], cloth);
    assert_eq!(scene.particles[8], points);

    let walker = Sheet::new(
        "walker",
        &SheetMesh::walker(0.1).expect("a walker"),
        0.1,
        Elastic { mu: 1e4, lambda: 1e4 },
        100.0,
    );
    assert_eq!(scene.sheets[1], Sheet { group: 9, ..walker.controlled() });
    assert!(scene.particles[9].fixed.iter().all(|&fixed| fixed == [false, true, false]));

    let ball = SheetMesh::icosphere(0.5, 0).expect("a ball");
    let balloon = Sheet::new("balloon", &ball, 1e-3, in_plane(1e6, 0.3), 1000.0);
    assert_eq!(scene.sheets[2], Sheet { group: 10, ..balloon });

    let octahedron = sheet_mesh("tests/good/octahedron.obj");
    let paper = Sheet::new("paper", &octahedron, 1e-3, in_plane(1e6, 0.3), 1000.0);
    let thickness = [[1e-3; 4], [2e-3; 4]].concat();
    assert_eq!(scene.sheets[3], Sheet { group: 11, thickness, ..paper }.bending_as_plate());
    assert_eq!(scene.sheets[3].bending.len(), 12);
    assert_eq!(scene.sheets[4].hinges.len(), 0);
}

#[test]
fn points_are_particles_as_any_others() {
    let scene = file();
    let beam = scene.particle_index("beam[11]").expect("it is there");
    assert_eq!(beam, 12);
    assert_eq!(scene.springs[0].ends, [[0, 12]]);
    let cloth = scene.particle_index("cloth[0]").expect("it is there");
    let wanted: Vec<usize> = [11, 12].into_iter().chain(cloth..cloth + 6).collect();
    assert_eq!(scene.forces[0].on, wanted);
    let problem = Problem::load(FILE).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(problem.losses[0].kind, LossKind::Position { of, .. } if of == cloth + 5));
}

/// Masses of elements are at their corners: together, density times volume.
#[test]
fn masses_of_points() {
    let scene = file();
    let beam: f64 = scene.solids[0].point_masses().iter().sum();
    assert!((beam - 10.0).abs() < 1e-12, "{beam}");
    let cloth: f64 = scene.sheets[0].point_masses().iter().sum();
    assert!((cloth - 0.1).abs() < 1e-12, "{cloth}");
    // Of two tetrahedra with volumes 1/6 and 1/3, in [mm].
    let corner = scene.solids[4].point_masses();
    let (first, second) = (100.0 / 6.0 * 1e-9, 200.0 / 3.0 * 1e-9);
    for (found, wanted) in corner.iter().zip([first, first + second, first + second, first + second, second])
    {
        assert!((4.0 * found / wanted - 1.0).abs() < 1e-12, "{corner:?}");
    }
}

#[test]
fn attachments_of_the_file() {
    let scene = file();
    let pole = scene.part("pole").expect("it is there");
    let paper = scene.particle_index("paper[0]").expect("it is there");
    let places = &scene.particles[11].positions;
    let near = |at: &usize| places[*at].iter().all(|&x| x <= 0.5);
    let knot: Vec<usize> = (0..places.len()).filter(near).map(|at| paper + at).collect();
    assert_eq!(knot.len(), 3);
    let band = Attachment::new("band", vec![0, 1], pole).springs(1e4, 10.0);
    assert_eq!(scene.attachments, [Attachment::new("knot", knot, pole), band]);
}

#[test]
fn controllers_of_the_file() {
    let tau = std::f64::consts::TAU;
    let legs = Controller {
        scale: 0.2,
        weights: vec![0.1, 0.2, 0.3, 0.4],
        biases: vec![0.5],
        ..Controller::new("legs", "walker.actuation", 20.0, 4)
    };
    assert_eq!(legs.sinusoids[1..3], [[20.0, tau / 4.0], [20.0, tau / 2.0]]);
    let folds = Controller {
        sinusoids: vec![[5.0, 0.0], [10.0, 1.57]],
        features: vec!["cloth[5].velocity".into()],
        gains: vec![0.1, 0.2, 0.3],
        ..Controller::new("folds", "cloth.fold", 0.0, 0)
    };
    assert_eq!(file().controllers, [legs, folds]);
}

#[test]
fn contact_of_soft_surfaces_of_the_file() {
    let wanted = SoftContact { thickness: 1e-5, ke: 1000.0, kd: 0.1, kf: 1.0, mu: 0.3, most: Some(5000) };
    assert_eq!(file().soft_contact, Some(wanted));
}

#[test]
fn motions_of_the_file() {
    let scene = file();
    let (orb, triangle) = (scene.particle_index("orb[0]"), scene.particle_index("triangle[0]"));
    let (orb, triangle) = (orb.expect("it is there"), triangle.expect("it is there"));
    let places = &scene.particles[3].positions;
    let low: Vec<usize> = (0..places.len()).filter(|&at| places[at][2] <= 0.0).map(|at| orb + at).collect();
    assert!(low.len() > 3 && low.len() < places.len(), "{low:?}");
    let shake =
        PrescribedMotion::steady("shake", low, [0.0, 0.0, 0.1]).oscillating([0.01, 0.0, 0.0], 2.0, 0.5);
    let points = (triangle..triangle + 3).collect();
    let lead = PrescribedMotion::controlled("lead", points, vec![[0.0, 0.0, 1.0]]);
    assert_eq!(lead.initial_velocity(), [0.0, 0.0, 1.0]);
    let [x, y, z] = shake.initial_velocity();
    assert!((x + 0.01 * std::f64::consts::TAU * 2.0 * 0.5f64.sin()).abs() < 1e-15, "{x}");
    assert_eq!([y, z], [0.0, 0.1]);
    assert_eq!(scene.motions, [shake, lead]);
}

/// A change that makes a scene wrong, and where the error is.
type Change = (fn(&mut Scene), &'static str);

#[test]
fn every_field_is_checked() {
    let changes: &[Change] = &[
        (|s| s.solids[0].group = 99, "solids[0].group"),
        (|s| s.solids[1].group = 1, "solids[1].group"),
        (|s| s.sheets[0].group = 1, "sheets[0].group"),
        (|s| s.solids[0].name = "bar".into(), "solids[0].name"),
        (|s| s.solids[0].group = 0, "solids[0].name"),
        (|s| s.solids[0].rest.truncate(3), "solids[0].rest"),
        (|s| s.solids[6].rest[2][1] = f64::NAN, "solids[6].rest[2][1]"),
        (|s| s.solids[6].elements.clear(), "solids[6].elements"),
        (|s| s.solids[6].elements[0][2] = 9, "solids[6].elements[0][2]"),
        (|s| s.solids[6].elements[0].swap(0, 1), "solids[6].elements[0]"),
        (|s| s.solids[6].rest[3] = [0.5, 0.5, 0.0], "solids[6].elements[0]"),
        (|s| s.particles[7].masses[2] = 0.0, "solids[6].masses[2]"),
        (|s| s.particles[7].fixed[0] = [true, true, false], "solids[6].masses[0]"),
        (|s| s.solids[1].mu.truncate(2), "solids[1].mu"),
        (|s| s.solids[1].mu[3] = 0.0, "solids[1].mu[3]"),
        (|s| s.solids[1].lambda = vec![-1e5], "solids[1].lambda[0]"),
        (|s| s.solids[0].lambda = vec![f64::INFINITY], "solids[0].lambda[0]"),
        (|s| s.solids[0].density = vec![-1.0], "solids[0].density[0]"),
        (|s| s.solids[0].density = vec![], "solids[0].density"),
        (|s| s.solids[0].actuation = vec![f64::NAN], "solids[0].actuation[0]"),
        (|s| s.solids[0].viscosity = Some(vec![-1.0]), "solids[0].viscosity[0]"),
        (|s| s.particles[1].masses[2] = -1.0, "solids[0].masses[2]"),
        (|s| s.particles[8].radii = Some(vec![0.0; 6]), "sheets[0].radii[0]"),
        (|s| s.particles[1].positions[2][0] = f64::NAN, "solids[0].positions[2][0]"),
        (|s| s.sheets[0].elements[2][0] = 6, "sheets[0].elements[2][0]"),
        (|s| s.sheets[0].thickness = vec![0.0], "sheets[0].thickness[0]"),
        (|s| s.sheets[0].mu = vec![1.0; 3], "sheets[0].mu"),
        (|s| s.sheets[1].lambda = vec![-2e4], "sheets[1].lambda[0]"),
        (|s| s.sheets[0].density = vec![-1.0], "sheets[0].density[0]"),
        (|s| s.sheets[0].actuation = vec![0.0; 3], "sheets[0].actuation"),
        (|s| s.sheets[0].viscosity = Some(vec![-1.0]), "sheets[0].viscosity[0]"),
        (|s| s.sheets[0].drag = Some(vec![-1.0]), "sheets[0].drag[0]"),
        (|s| s.sheets[0].lift = Some(vec![0.0; 2]), "sheets[0].lift"),
        (|s| s.sheets[0].hinges[1].opposite[0] = 77, "sheets[0].hinges[1]"),
        (|s| s.sheets[0].hinges[2].triangles[1] = 77, "sheets[0].hinges[2]"),
        (|s| s.sheets[0].hinges[0].edge = [0, 0], "sheets[0].hinges[0]"),
        (|s| s.sheets[0].hinges[1] = s.sheets[0].hinges[0], "sheets[0].hinges[1]"),
        (|s| s.sheets[0].bending = vec![-1.0], "sheets[0].bending[0]"),
        (|s| s.sheets[0].bending = vec![1.0; 2], "sheets[0].bending"),
        (|s| s.sheets[0].bending_damping = Some(vec![-1.0]), "sheets[0].bending_damping[0]"),
        (|s| s.sheets[0].rest_angles = Some(vec![f64::NAN]), "sheets[0].rest_angles[0]"),
        (|s| s.sheets[0].fold = vec![0.0; 4], "sheets[0].fold"),
        (|s| s.attachments[0].name = "beam".into(), "attachments[0].name"),
        (|s| s.attachments[0].points.clear(), "attachments[0].points"),
        (|s| s.attachments[0].points[0] = 1_000_000, "attachments[0].points"),
        (|s| s.attachments[0].points[0] = 1, "attachments[0].points"),
        (
            |s| s.attachments.push(Attachment { name: "again".into(), ..s.attachments[0].clone() }),
            "attachments[2].points",
        ),
        (|s| s.attachments[0].part = Part::Body { robot: 0, body: 7 }, "attachments[0].body"),
        (|s| s.attachments[0].damping = 1.0, "attachments[0].damping"),
        (|s| s.attachments[1].damping = -1.0, "attachments[1].damping"),
        (|s| s.attachments[1].stiffness = Some(0.0), "attachments[1].stiffness"),
        (|s| s.motions[0].name = "beam".into(), "motions[0].name"),
        (|s| s.motions[0].points.clear(), "motions[0].points"),
        (|s| s.motions[0].points[0] = 1_000_000, "motions[0].points"),
        (|s| s.motions[0].points[0] = 1, "motions[0].points"),
        (|s| s.motions[1].points = s.motions[0].points.clone(), "motions[1].points"),
        (|s| s.motions[1].points = s.attachments[0].points.clone(), "motions[1].points"),
        (|s| s.motions[0].velocity = Velocity::Steady([f64::NAN; 3]), "motions[0].velocity[0]"),
        (|s| s.motions[1].velocity = Velocity::Control(vec![[0.0; 3]; 3]), "motions[1].controls"),
        (
            |s| s.motions[1].velocity = Velocity::Control(vec![[0.0, 0.0, f64::NAN]]),
            "motions[1].controls[0][2]",
        ),
        (|s| s.motions[0].swing.as_mut().expect("it swings").0[1] = f64::NAN, "motions[0].amplitude[1]"),
        (|s| s.motions[0].swing.as_mut().expect("it swings").1.frequency = 0.0, "motions[0].frequency"),
        (|s| s.motions[0].swing.as_mut().expect("it swings").1.phase = f64::NAN, "motions[0].phase"),
    ];
    let good = file();
    assert_eq!(good.check(), Ok(()));
    for (change, path) in changes {
        let mut scene = good.clone();
        change(&mut scene);
        let invalid = scene.check().expect_err(path);
        assert_eq!(invalid.path, *path, "{invalid}");
    }
}

/// Two materials: that of the elements, and that of the surface.
#[test]
fn a_surface_is_no_elastic_material() {
    let text = std::fs::read_to_string(FILE).expect("it is there");
    let wrong = text.replace("material = \"corotated\"", "material = \"rubber\"");
    let error = Scene::parse(&wrong, FILE).expect_err("no such law");
    assert!(error.fix.contains("`surface = \"rubber\"`"), "{error}");
}

/// The examples of docs/scenes.md.
#[test]
fn the_examples_of_the_docs() {
    let page = include_str!("../../../docs/scenes.md");
    for section in ["[[solids]]", "[[sheets]]"] {
        let start =
            page.find(&format!("```toml\n{section}")).expect("the example is there") + "```toml\n".len();
        let end = start + page[start..].find("```").expect("it has an end");
        let text = format!("{}\n[simulation]\ndt = 0.001\nsteps = 10\n", &page[start..end]);
        let scene = Scene::parse(&text, "page.toml").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scene.solids.len() + scene.sheets.len(), 1, "{section}");
        assert!(scene.particles[0].fixed.contains(&[true; 3]), "{section}");
    }
}

/// What is allowed, and probably not meant: points that are too light for the ground, and shapes without a model of contact.
#[test]
fn doubts_about_contact() {
    let block = r#"
        [[solids]]
        name = "block"
        mesh = { block = [0.1, 0.1, 0.1], cells = [2, 2, 2] }
        young = 1e4
        poisson = 0.3
        density = 800
    "#;
    let said = |rest: &str| {
        let text = format!("[simulation]\ndt = 0.001\nsteps = 10\n{rest}\n{block}");
        let scene = Scene::parse(&text, "doubts.toml").unwrap_or_else(|error| panic!("{error}"));
        scene.warnings.iter().map(ToString::to_string).collect::<String>()
    };
    let ground = |kd: f64| format!("[ground]\nke = 500\nkd = {kd}\nkf = 1\nmu = 0.5");
    let light = said(&ground(100.0));
    assert!(
        light.contains("ground: a point of `block` of")
            && light.contains("is too light for kd = 100 N·s/m")
            && light.contains("take `kd` below"),
        "{light}"
    );
    assert_eq!(said(&ground(1.0)), "");
    let table = "[[shapes]]\nname = \"table\"\nshape = { box = [1, 1, 0.1] }";
    let through = said(table);
    assert!(through.contains("solids and sheets pass through the shapes of the world"), "{through}");
}

/// Meshes that can be simulated, and are probably not what was meant: one warning for each kind.
#[test]
fn doubts_about_meshes() {
    let square = "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [9, 0, 0]]";
    let sheet = |name: &str, elements: &str| {
        format!(
            "[[sheets]]\nname = \"{name}\"\nmesh = {{ points = {square}, elements = {elements} }}\nthickness = 0.1\nyoung = 1\npoisson = 0\ndensity = 1\n"
        )
    };
    let said = |rest: &str| {
        let text = format!("[simulation]\ndt = 0.001\nsteps = 10\n{rest}");
        let scene = Scene::parse(&text, "doubts.toml").unwrap_or_else(|error| panic!("{error}"));
        scene.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let pinched = sheet("bow", "[[0, 1, 2], [0, 3, 4]]") + "mass = 0.1\n";
    assert_eq!(
        said(&pinched),
        [
            "doubts.toml:6:1: sheets[0].mesh: `bow`: 1 point is in no element: 5\n  \
             fix: leave out what is in no element; in code, `tidied()` does",
            "doubts.toml:6:1: sheets[0].mesh: `bow`: triangles hang together by 1 point: 0 (triangles 0 and 1)\n  \
             fix: let them share an edge, or give each a point of its own, unless they are to turn about that point",
        ]
    );
    // Of several that are alike the first is told, and the names of the others.
    let text: String = ["a", "b", "c"].map(|name| sheet(name, "[[0, 1, 2], [0, 3, 4], [5, 2, 1]]")).concat();
    let found = said(&text);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains(
        "`a`: triangles hang together by 1 point: 0 (triangles 0 and 1); so it is with `b` and `c`\n"
    ));
    assert_eq!(said(&sheet("whole", "[[0, 1, 2], [0, 2, 3], [0, 3, 4], [5, 2, 1]]")), Vec::<String>::new());
    let solid = |mesh: &str| {
        format!("[[solids]]\nname = \"block\"\nmesh = {mesh}\nyoung = 1\npoisson = 0\ndensity = 1\n")
    };
    let points = "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 0], [0, 0, -1], [-1, 0, 0]]";
    let at_edge =
        said(&solid(&format!("{{ points = {points}, elements = [[0, 1, 2, 3], [0, 1, 4, 5]] }}\nmass = 1")));
    assert!(at_edge[1].contains(
        "solids[0].mesh: `block`: the surface touches itself at 1 edge: [0, 1] (tetrahedra 0 and 1)\n"
    ));
    let parts = said(&solid(&format!("{{ points = {points}, elements = [[0, 1, 2, 3], [0, 6, 5, 4]] }}")));
    assert!(
        parts[0].contains("`block`: the surface touches itself at 1 point: 0 (tetrahedra 0 and 1)\n"),
        "{parts:?}"
    );
    // Nothing that is made here, or given with the tests, is doubted.
    assert_eq!(said(&solid("{ icosphere = 1, subdivisions = 1, layers = 2 }")), Vec::<String>::new());
}

/// What is filled is closed, but for small gaps.
#[test]
fn open_surfaces_are_not_filled() {
    let mut surface = SolidMesh::block([0.2; 3], [4; 3]).expect("a box").surface().mesh;
    assert!(SolidMesh::filled(&surface, 0.05).is_ok());
    surface.elements.pop();
    assert!(SolidMesh::filled(&surface, 0.05).is_ok(), "one triangle of 192 is a small gap");
    surface.elements.truncate(160);
    let error = SolidMesh::filled(&surface, 0.05).expect_err("a sixth of it is missing").to_string();
    assert!(error.contains("the surface is open: it has a border") && error.contains("close it"), "{error}");
}
