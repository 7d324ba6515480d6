//! Robots and loose bodies of good files: every field, and the names that losses have for them.

use pullback_scene::robot::{
    Body, Frame, Geometry, Inertial, Joint, JointKind, Keyframe, Limit, Mimic, Motor, Placement, Shape,
    Tendon, Transmission,
};
use pullback_scene::{Error, LossKind, LossTerm, Part, Problem, Robot, Scene, Tracked, When};

const QUARTER: f64 = std::f64::consts::FRAC_1_SQRT_2;
const NOT_TURNED: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

fn load(file: &str) -> Problem {
    Problem::load(file).unwrap_or_else(|error| panic!("{error}"))
}

fn parse(text: &str) -> Scene {
    let text = format!("[simulation]\ndt = 0.1\nsteps = 2\n{text}");
    Scene::parse(&text, "tests/good/small.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn at(position: [f64; 3]) -> Placement {
    Placement { position, orientation: NOT_TURNED }
}

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len(), "{found:?} {wanted:?}");
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert!(found.iter().zip(wanted).all(near), "{found:?} {wanted:?}");
}

#[test]
fn bodies_of_a_robot() {
    let robot = load("tests/good/robots.toml").scene.robots.remove(0);
    assert_eq!((robot.name.as_str(), robot.loose), ("leg", false));
    let names: Vec<&str> = robot.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["trunk", "shin", "toe"]);
    assert_eq!(robot.bodies.iter().map(|body| body.parent).collect::<Vec<_>>(), [None, Some(0), Some(1)]);
    // The robot stands at (0, 0, 1), turned by a quarter about z, which takes the trunk's (0.5, 0, 0) to (0, 0.5, 0).
    close(&robot.bodies[0].placement.position, &[0.0, 0.5, 1.0]);
    close(&robot.bodies[0].placement.orientation, &[QUARTER, 0.0, 0.0, QUARTER]);
    assert_eq!(robot.bodies[1].placement, at([0.0, 0.0, -1.0]));
    // A box with sides 1, 2 and 3: m / 12 (b² + c²).
    let trunk = Inertial { mass: 12.0, center: [0.0, 0.0, 0.25], inertia: [13.0, 10.0, 5.0, 0.0, 0.0, 0.0] };
    assert_eq!(robot.bodies[0].inertial, trunk);
    let shin = Inertial { mass: 2.0, center: [0.0; 3], inertia: [0.3, 0.3, 0.2, 0.0, 0.01, 0.0] };
    assert_eq!(robot.bodies[1].inertial, shin);
    // A cylinder: π r² · 2h · density, m r² / 2 along it and m (3 r² + (2h)²) / 12 across.
    let mass = std::f64::consts::PI * 0.1 * 0.1 * 0.4 * 1000.0;
    let across = mass * (3.0 * 0.01 + 0.16) / 12.0;
    close(&[robot.bodies[2].inertial.mass], &[mass]);
    close(&robot.bodies[2].inertial.inertia, &[across, across, mass * 0.005, 0.0, 0.0, 0.0]);
}

#[test]
fn joints_and_tendons_of_a_robot() {
    let robot = load("tests/good/robots.toml").scene.robots.remove(0);
    let knee = Joint {
        name: "knee".into(),
        body: 1,
        kind: JointKind::Hinge,
        anchor: [0.0, 0.0, 0.5],
        axis: [0.0, 1.0, 0.0],
        reference: 0.1,
        range: Some([-1.5, 1.5]),
        limit: Limit { stiffness: 1000.0, damping: 10.0 },
        armature: 0.01,
        damping: 0.2,
        friction: 0.3,
        stiffness: 5.0,
        spring_reference: 0.4,
        effort: Some(50.0),
        speed: Some(3.0),
        mimic: None,
    };
    let mimic = Some(Mimic { joint: 2, multiplier: 2.0, offset: 0.5 });
    let wanted = [
        Joint::new("float", 0, JointKind::Free, [0.0, 0.0, 1.0]),
        knee,
        Joint::new("toe_out", 2, JointKind::Slide, [1.0, 0.0, 0.0]),
        Joint { mimic, ..Joint::new("toe_up", 2, JointKind::Slide, [0.0, 0.0, 1.0]) },
    ];
    assert_eq!(robot.joints, wanted);
    let cable = Tendon {
        name: "cable".into(),
        joints: vec![(1, 1.0), (2, -0.5)],
        stiffness: 7.0,
        damping: 0.7,
        spring_range: [-0.1, 0.1],
    };
    assert_eq!(robot.tendons, [cable]);
}

#[test]
fn motors_and_the_start_of_a_robot() {
    let robot = load("tests/good/robots.toml").scene.robots.remove(0);
    let motor = |name: &str, transmission, gain, bias| Motor {
        name: name.into(),
        transmission,
        gain,
        bias,
        control_range: None,
        force_range: None,
        controls: Vec::new(),
    };
    let joint = |joint, gear| Transmission::Joint { joint, gear };
    let wanted = [
        Motor {
            control_range: Some([-1.0, 1.0]),
            force_range: Some([-50.0, 50.0]),
            ..motor("bend", joint(1, vec![2.0]), [100.0, 0.0, 0.0], [0.0, -100.0, -10.0])
        },
        Motor {
            controls: vec![0.0, 1.0, 2.0, 3.0],
            ..motor("reach", Transmission::Tendon { tendon: 0, gear: 1.0 }, [3.0, 0.0, 0.0], [0.0, 0.0, -3.0])
        },
        motor("push", joint(2, vec![1.0]), [1.0, 0.0, 0.0], [0.0; 3]),
        motor("thrust", joint(0, vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), [2.0, 0.0, 0.0], [0.1, 0.0, 0.3]),
    ];
    assert_eq!(robot.motors, wanted);
    // The free joint is where it is said to be, in the world; the toe follows: 2 · 0.125 + 0.5.
    let start = Keyframe {
        name: String::new(),
        positions: vec![0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.125, 0.75],
        velocities: vec![1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.25, 0.0, 0.0],
        controls: vec![0.75, 0.0, 0.0, 0.0],
    };
    assert_eq!(robot.start, start);
}

#[test]
fn frames_and_shapes_of_a_robot() {
    let robot = load("tests/good/robots.toml").scene.robots.remove(0);
    let placement = Placement { position: [0.0, 0.0, -0.25], orientation: [0.0, 1.0, 0.0, 0.0] };
    assert_eq!(robot.frames, [Frame { name: "tip".into(), body: Some(2), placement }]);
    let grey = |geometry, body, position| Shape {
        name: String::new(),
        body: Some(body),
        placement: at(position),
        geometry,
        collides: true,
        friction: None,
        material: None,
        corner_params: false,
        color: [0.5, 0.5, 0.5, 1.0],
    };
    let wanted = [
        grey(Geometry::Box { half_sides: [0.5, 1.0, 1.5] }, 0, [0.0, 0.0, 0.25]),
        Shape {
            collides: false,
            friction: Some([0.5, 0.01, 0.001]),
            color: [1.0, 0.0, 0.0, 0.5],
            ..grey(Geometry::Cylinder { radius: 0.1, half_length: 0.2 }, 2, [0.0; 3])
        },
        Shape {
            name: "pad".into(),
            friction: Some([0.9, 0.005, 0.0001]),
            ..grey(Geometry::Sphere { radius: 0.05 }, 2, [0.0, 0.0, -0.125])
        },
    ];
    assert_eq!(robot.shapes, wanted);
}

#[test]
fn a_robot_from_a_file() {
    let problem = load("tests/good/robots.toml");
    let robot = &problem.scene.robots[1];
    assert_eq!((robot.name.as_str(), robot.loose), ("arm", false));
    let names: Vec<&str> = robot.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["base", "upper", "lower"]);
    assert_eq!(robot.bodies[0].placement, at([2.0, 0.0, 0.0]));
    assert_eq!(robot.bodies[1].placement, at([0.0, 0.0, 0.5]));
    let joints: Vec<(&str, JointKind)> = robot.joints.iter().map(|it| (it.name.as_str(), it.kind)).collect();
    assert_eq!(
        joints,
        [("root", JointKind::Free), ("shoulder", JointKind::Hinge), ("elbow", JointKind::Hinge)]
    );
    assert_eq!(robot.start.positions, [2.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -0.5]);
    assert_eq!(robot.start.velocities, [0.0; 0]);
    let motors: Vec<&str> = robot.motors.iter().map(|motor| motor.name.as_str()).collect();
    assert_eq!(motors, ["shoulder", "elbow", "assist"]);
    assert_eq!(robot.start.controls, [0.25; 3]);
    assert_eq!(problem.scene.part("arm.hand"), Ok(Part::Frame { robot: 1, frame: 0 }));
    assert_eq!(problem.scene.warnings, []);
}

#[test]
fn what_files_of_robots_say_by_themselves() {
    let scene = parse("[[robots]]\nfile = \"arm.urdf\"\n");
    let robot = &scene.robots[0];
    assert_eq!(robot.name, "reacher");
    assert_eq!(*robot, Robot::load("tests/good/arm.urdf", &Default::default()).expect("it is good").robot);
    let fixed = parse("[[robots]]\nfile = \"../good/arm.urdf\"\nallow = [\"../good\"]\nbase = \"fixed\"\n");
    assert_eq!(fixed.robots, scene.robots);
}

/// `limit` of a scene goes before what a file means; without it, a range that is written out has the usual one.
#[test]
fn limits_of_files_and_of_scenes() {
    let limit = |more: &str| {
        let scene = parse(&format!("[[robots]]\nfile = \"arm.urdf\"\n{more}"));
        scene.robots[0].joints.iter().find(|joint| joint.name == "elbow").expect("it is there").limit
    };
    assert_eq!(limit("limit = { stiffness = 100, damping = 1 }\n"), Limit { stiffness: 100.0, damping: 1.0 });
    let usual = limit("");
    assert!(usual.stiffness > 0.0 && usual.damping > 0.0);
    let text = "[[robots]]\nname = \"arm\"\n[[robots.bodies]]\nname = \"link\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n\
                [[robots.joints]]\nname = \"hinge\"\nbody = \"link\"\nkind = \"hinge\"\naxis = [0, 1, 0]\nrange = [-1, 1]\n";
    let found = parse(text).robots[0].joints[0].limit;
    assert!(
        (found.stiffness - 0.1 / 0.0004).abs() < 1e-9 && (found.damping - 10.0).abs() < 1e-12,
        "{found:?}"
    );
}

/// The folder of a package is named in the scene: without it, its mesh is not found.
#[test]
fn packages_of_scenes() {
    let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages-of-scenes");
    for folder in ["scene", "pieces/meshes"] {
        std::fs::create_dir_all(root.join(folder)).expect("there is room");
    }
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(root.join("pieces/meshes/piece.obj"), mesh).expect("written");
    let robot = "<robot name=\"one\"><link name=\"base\"><visual><geometry>\
                 <mesh filename=\"package://parts/meshes/piece.obj\"/></geometry></visual></link></robot>";
    std::fs::write(root.join("scene/one.urdf"), robot).expect("written");
    let read = |packages: &str| {
        let text = format!("[simulation]\ndt = 0.01\nsteps = 1\n[[robots]]\nfile = \"one.urdf\"\n{packages}");
        Scene::parse(&text, root.join("scene/scene.toml"))
    };
    let scene = read("packages = { parts = \"../pieces\" }\n").expect("the mesh is found");
    assert!(matches!(scene.robots[0].shapes[0].geometry, Geometry::Mesh(_)));
    let error = read("").expect_err("no such package");
    assert!(error.fix.contains("packages = { parts = "), "{error}");
    let error = read("packages = { parts = \"nowhere\" }\n").expect_err("no such folder");
    assert!(error.path.ends_with("packages.parts") && error.what.contains("`nowhere`"), "{error}");
}

/// A root that stands by joints of its own is not freed in silence.
#[test]
fn a_base_that_cannot_be_freed() {
    let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("base-of-scenes");
    std::fs::create_dir_all(&root).expect("there is room");
    let cart = "<mujoco model=\"cart\"><worldbody><body name=\"cart\">\
                <joint name=\"rail\" type=\"slide\" axis=\"1 0 0\"/><geom size=\"0.1\"/></body></worldbody></mujoco>";
    std::fs::write(root.join("cart.xml"), cart).expect("written");
    let read = |base: &str| {
        let text = format!("[simulation]\ndt = 0.01\nsteps = 1\n[[robots]]\nfile = \"cart.xml\"\n{base}");
        Scene::parse(&text, root.join("scene.toml"))
    };
    assert!(read("").is_ok());
    let error = read("base = \"free\"\n").expect_err("it stands on a rail");
    let wanted = "`cart.xml`: a free base would change nothing: the file says how its root stands, by `rail`";
    assert_eq!((error.path.as_str(), error.what.as_str()), ("robots[0].file", wanted));
}

/// A world has one gravity, that of the scene.
#[test]
fn the_gravity_of_a_file_is_left_out_with_a_warning() {
    let robot = "[[robots]]\nfile = \"../mjcf/good/arm.xml\"\nallow = [\"../mjcf/good\"]\n";
    let of_gravity = |warning: &&Error| warning.what.contains("gravity");
    let said = |scene: &Scene| scene.warnings.iter().filter(of_gravity).count();
    let scene = parse(robot);
    let warning = scene.warnings.iter().find(of_gravity).expect("the file has a gravity of its own");
    assert_eq!(warning.path, "robots[0].file");
    assert_eq!(warning.fix, "write `gravity = [0.1, 0.0, -9.7]` in `[world]`");
    assert_eq!((said(&scene), scene.world.gravity), (1, [0.0, 0.0, -9.81]));
    assert_eq!(said(&parse(&format!("[world]\ngravity = [0.1, 0, -9.7]\n{robot}"))), 0);
}

/// The keyframe moves with the robot: a quarter turn about z takes its x velocity to y.
#[test]
fn a_robot_that_starts_from_a_keyframe() {
    let scene = parse(
        "[[robots]]\nfile = \"hopper.xml\"\nkeyframe = \"crouch\"\nposition = [5, 0, 0]\norientation = [1, 0, 0, 1]\n\
         positions = { hip = 0.75 }\n[[robots.motors]]\nname = \"lift\"\njoint = \"hip\"\nkind = \"torque\"\n",
    );
    let robot = &scene.robots[0];
    assert_eq!((robot.name.as_str(), robot.start.name.as_str()), ("hopper", "crouch"));
    close(&robot.start.positions, &[5.0, 0.0, 0.7, QUARTER, 0.0, 0.0, QUARTER, 0.75]);
    close(&robot.start.velocities, &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    assert_eq!(robot.start.controls, [0.25, 0.0]);
    close(&robot.keyframes[0].positions, &[5.0, 0.0, 0.7, QUARTER, 0.0, 0.0, QUARTER, 0.5]);
    close(&robot.bodies[0].placement.position, &[5.0, 0.0, 1.0]);
    let base = "[[robots]]\nfile = \"hopper.xml\"\nbase = \"fixed\"\n";
    assert_eq!(parse(base).robots[0].joints.len(), 1);
}

#[test]
fn loose_bodies() {
    let scene = load("tests/good/robots.toml").scene;
    let [wedge, cubes, rocks] = scene.robots.as_slice().last_chunk().expect("three of them");
    let free = |name: &str, body| Joint::new(name, body, JointKind::Free, [0.0, 0.0, 1.0]);
    let inertial = Inertial { mass: 1.5, center: [0.1, 0.0, 0.0], inertia: [1.0, 2.0, 2.5, 0.0, 0.0, 0.0] };
    let placement = Placement { position: [1.0, 2.0, 3.0], orientation: [0.0, 0.0, 0.0, 1.0] };
    let wanted = Robot {
        name: "wedge".into(),
        loose: true,
        bodies: vec![Body { name: "wedge".into(), parent: None, placement, inertial }],
        joints: vec![free("wedge", 0)],
        start: Keyframe { velocities: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0], ..Keyframe::default() },
        ..Robot::default()
    };
    assert_eq!(*wedge, wanted);

    let names: Vec<&str> = cubes.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["cubes[0]", "cubes[1]", "cubes[2]", "cubes[3]", "cubes[4]", "cubes[5]"]);
    let positions: Vec<[f64; 3]> = cubes.bodies.iter().map(|body| body.placement.position).collect();
    let grid = [
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 1.0],
        [0.0, 0.0, 4.0],
        [1.0, 0.0, 4.0],
        [0.0, 0.0, 7.0],
        [1.0, 0.0, 7.0],
    ];
    assert_eq!(positions, grid);
    assert!((0..6).all(|i| cubes.joints[i] == free(&format!("cubes[{i}]"), i)));
    assert!((0..6).all(|i| cubes.shapes[i].body == Some(i)) && cubes.shapes.len() == 6);
    assert_eq!(cubes.bodies[3].inertial.mass, 2.0);
    assert_eq!(cubes.start, Keyframe::default());

    assert_eq!(rocks.start.velocities, [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    assert_eq!(rocks.bodies[1].placement.orientation, [0.0, 1.0, 0.0, 0.0]);
    // An ellipsoid: 4/3 π a b c · density.
    close(&[rocks.bodies[0].inertial.mass], &[4.0 / 3.0 * std::f64::consts::PI * 0.006 * 2000.0]);
}

#[test]
fn losses_of_robots() {
    let problem = load("tests/good/robots.toml");
    let tip = Part::Frame { robot: 0, frame: 0 };
    let cube = Part::Body { robot: 3, body: 3 };
    let wanted = [
        LossTerm {
            kind: LossKind::PartPosition { of: tip, target: [0.0, 0.0, 1.0], axes: [false, false, true] },
            at: When::End,
            weight: 1.0,
        },
        LossTerm::part_velocity(cube, [0.0, 0.0, -1.0]),
        LossTerm { at: When::Always, ..LossTerm::joint(0, 1, 0.75) },
        LossTerm::position(0, [0.0; 3]),
        LossTerm { weight: 1e-3, ..LossTerm::effort("leg.bend") },
    ];
    assert_eq!(problem.losses, wanted);
    assert_eq!(problem.check(), Ok(()));
    let scene = &problem.scene;
    assert_eq!((scene.part_name(tip), scene.part_name(cube)), ("leg.tip".into(), "cubes[3]".into()));
    assert_eq!((scene.joint_name(0, 1), scene.joint_name(3, 3)), ("leg.knee".into(), "cubes[3]".into()));
    assert_eq!((scene.robot_section(0), scene.robot_section(3)), ("robots[0]".into(), "bodies[1]".into()));
    for part in [Part::Body { robot: 0, body: 2 }, Part::Body { robot: 2, body: 0 }, tip, cube] {
        assert_eq!(scene.part(&scene.part_name(part)), Ok(part));
    }
    assert_eq!(scene.joint("leg.toe_up"), Ok((0, 3)));
    for name in
        ["", ".", "leg", "leg.", "leg.knees", "tip", "cubes", "cubes[6]", "wedge[0]", "dust", "legs.tip"]
    {
        assert!(scene.part(name).is_err() && scene.joint(name).is_err(), "{name}");
    }
}

#[test]
fn a_body_goes_before_a_frame_and_beside_a_joint_of_its_name() {
    let mut scene = parse(
        "[[robots]]\nname = \"arm\"\n\
         bodies = [{ name = \"elbow\", mass = 1, inertia = [1, 1, 1] }]\n\
         joints = [{ name = \"elbow\", body = \"elbow\", kind = \"hinge\", axis = [1, 0, 0] }]\n",
    );
    assert_eq!(scene.part("arm.elbow"), Ok(Part::Body { robot: 0, body: 0 }));
    assert_eq!(scene.joint("arm.elbow"), Ok((0, 0)));
    let frame = |name: &str| Frame { name: name.into(), body: None, placement: Placement::default() };
    scene.robots[0].frames = vec![frame("elbow"), frame("a.b c")];
    assert_eq!(scene.part("arm.elbow"), Ok(Part::Body { robot: 0, body: 0 }));
    assert_eq!(scene.part("arm.a.b c"), Ok(Part::Frame { robot: 0, frame: 1 }));
}

/// Many bodies: their number is no matter of squares.
#[test]
fn thousands_of_bodies() {
    let scene = parse(
        "[[bodies]]\nname = \"grain\"\ngrid = { from = [0, 0, 0], step = [1, 1, 1], count = [100, 100, 10] }\n\
         shape = { sphere = 0.1 }\ndensity = 1\n",
    );
    assert_eq!(scene.robots[0].bodies.len(), 100_000);
    assert_eq!(scene.part("grain[99999]"), Ok(Part::Body { robot: 0, body: 99_999 }));
    assert_eq!(scene.robots[0].bodies[99_999].placement.position, [99.0, 99.0, 9.0]);
}

#[test]
fn loose_bodies_in_code_are_those_of_files() {
    let scene = parse(
        "[[bodies]]\nname = \"ball\"\nposition = [0, 0, 1]\nshape = { sphere = 0.5 }\nmass = 10\n\
         [[bodies]]\nname = \"balls\"\npositions = [[1, 0, 0]]\nshape = { sphere = 0.5 }\nmass = 10\n",
    );
    // 2/5 m r²
    let inertial = Inertial { mass: 10.0, center: [0.0; 3], inertia: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] };
    let shape = Shape::new(Geometry::Sphere { radius: 0.5 });
    let ball = Robot::loose_body("ball", at([0.0, 0.0, 1.0]), inertial).shaped(&shape);
    let balls = Robot::loose_bodies("balls", &[at([1.0, 0.0, 0.0])], inertial).shaped(&shape);
    assert_eq!(scene.robots, [ball, balls]);
    assert_eq!(scene.part_name(Part::Body { robot: 1, body: 0 }), "balls[0]");
}

/// The scenes of the repository with robots and bodies say what their comments say.
#[test]
fn scenes_of_the_repository() {
    let pendulum = load("../../scenes/pendulum.toml");
    let robot = &pendulum.scene.robots[0];
    assert_eq!(robot.start.positions, [1.0, 0.5]);
    assert_eq!(robot.bodies[0].placement, at([0.0, 0.0, 1.2]));
    // With its caps, a rod is half a metre long.
    assert_eq!(robot.shapes[1].geometry, Geometry::Capsule { radius: 0.02, half_length: 0.23 });
    assert_eq!(
        pendulum.losses,
        [LossTerm::part_position(Part::Frame { robot: 0, frame: 0 }, [0.8, 0.0, 0.8])]
    );

    let tumble = load("../../scenes/tumble.toml");
    let nut = &tumble.scene.robots[0];
    assert_eq!(nut.bodies[0].inertial.inertia, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]);
    let [vx, vy, vz, wx, wy, wz] = nut.start.velocities[..] else { panic!("one body has six") };
    // The centre of mass is at rest: v + ω × c = 0.
    let [cx, cy, cz] = nut.bodies[0].inertial.center;
    close(&[vx + wy * cz - wz * cy, vy + wz * cx - wx * cz, vz + wx * cy - wy * cx], &[0.0; 3]);
    assert_eq!(tumble.losses, [LossTerm::part_position(Part::Body { robot: 0, body: 0 }, [0.4, 0.2, -0.5])]);
}

/// A change that makes a robot wrong, and where the error is.
type Change = (fn(&mut Robot), &'static str);

#[test]
fn every_field_of_a_robot_is_checked() {
    let changes: &[Change] = &[
        (|r| r.name = "a b".into(), "robots[0].name"),
        (|r| r.bodies.clear(), "robots[0].bodies"),
        (|r| r.bodies[1].name = "trunk".into(), "robots[0].bodies[1].name"),
        (|r| r.bodies[1].parent = Some(2), "robots[0].bodies[1].parent"),
        (|r| r.bodies[1].placement.position[0] = f64::NAN, "robots[0].bodies[1].placement"),
        (|r| r.bodies[1].inertial.mass = -1.0, "robots[0].bodies[1].inertial"),
        (|r| r.joints[1].body = 3, "robots[0].joints[1].body"),
        (|r| r.joints[1].axis = [0.0, 2.0, 0.0], "robots[0].joints[1].axis"),
        (|r| r.joints[1].stiffness = -1.0, "robots[0].joints[1].stiffness"),
        (|r| r.joints[1].range = Some([1.0, 0.0]), "robots[0].joints[1].range"),
        (|r| r.joints[3].mimic.iter_mut().for_each(|it| it.joint = 3), "robots[0].joints[3].mimic"),
        (|r| r.joints[3].mimic.iter_mut().for_each(|it| it.joint = 0), "robots[0].joints[3].mimic"),
        (|r| r.joints[0].mimic = r.joints[3].mimic, "robots[0].joints[0].mimic"),
        (|r| r.tendons[0].joints.clear(), "robots[0].tendons[0].joints"),
        (|r| r.tendons[0].joints[0].0 = 4, "robots[0].tendons[0].joints"),
        (|r| r.tendons[0].joints[0].0 = 0, "robots[0].tendons[0].joints"),
        (|r| r.tendons[0].stiffness = -1.0, "robots[0].tendons[0].stiffness"),
        (|r| r.tendons[0].damping = -1.0, "robots[0].tendons[0].damping"),
        (|r| r.tendons[0].spring_range = [0.0, f64::NAN], "robots[0].tendons[0].spring_range"),
        (|r| r.tendons.push(r.tendons[0].clone()), "robots[0].tendons[1].name"),
        (
            |r| r.motors[0].transmission = Transmission::Joint { joint: 4, gear: vec![1.0] },
            "robots[0].motors[0].joint",
        ),
        (
            |r| r.motors[0].transmission = Transmission::Joint { joint: 1, gear: vec![] },
            "robots[0].motors[0].gear",
        ),
        (
            |r| r.motors[0].transmission = Transmission::Tendon { tendon: 1, gear: 1.0 },
            "robots[0].motors[0].tendon",
        ),
        (|r| r.motors[0].gain[1] = f64::NAN, "robots[0].motors[0].gain[1]"),
        (|r| r.motors[0].bias[2] = f64::NAN, "robots[0].motors[0].bias[2]"),
        (|r| r.motors[0].force_range = Some([1.0, 0.0]), "robots[0].motors[0].force_range"),
        (|r| r.motors[0].controls = vec![1.0; 3], "robots[0].controls.bend"),
        (|r| r.motors[0].controls = vec![f64::NAN; 4], "robots[0].controls.bend[0]"),
        (|r| r.frames[0].body = Some(3), "robots[0].frames[0].body"),
        (|r| r.frames.push(r.frames[0].clone()), "robots[0].frames[1].name"),
        (|r| r.shapes[1].body = Some(3), "robots[0].shapes[1].body"),
        (|r| r.shapes[1].friction = Some([-1.0, 0.0, 0.0]), "robots[0].shapes[1].friction[0]"),
        (|r| r.shapes[1].geometry = Geometry::Sphere { radius: 0.0 }, "robots[0].shapes[1].shape"),
        (|r| r.contact_pairs.push([0, 3]), "robots[0].contact_pairs"),
        (|r| r.contact_excludes.push([0, 3]), "robots[0].contact_excludes"),
        (|r| r.start.positions.truncate(9), "robots[0].positions"),
        (|r| r.start.velocities[2] = f64::NAN, "robots[0].velocities[2]"),
        (|r| r.start.positions[5] = 0.1, "robots[0].positions[3]"),
        (
            |r| r.keyframes.push(Keyframe { controls: vec![1.0], ..Keyframe::default() }),
            "robots[0].keyframes[0].controls",
        ),
        (|r| r.loose = true, "bodies[0].bodies"),
    ];
    let good = load("tests/good/robots.toml").scene;
    assert_eq!(good.check(), Ok(()));
    for (at, (change, path)) in changes.iter().enumerate() {
        let mut scene = good.clone();
        change(&mut scene.robots[0]);
        let invalid = scene.check().expect_err(&format!("change {at}, of {path}"));
        assert_eq!(invalid.path, *path, "{invalid}");
        assert!(!invalid.fix.is_empty(), "{invalid}");
    }
}

#[test]
fn every_field_of_loose_bodies_is_checked() {
    let changes: &[Change] = &[
        (|r| r.bodies.clear(), "bodies[1].positions"),
        (|r| r.bodies[4].parent = Some(0), "bodies[1].bodies"),
        (|r| r.bodies[4].name = "cube".into(), "bodies[1].bodies"),
        (|r| r.joints[4].body = 0, "bodies[1].bodies"),
        (|r| r.joints.truncate(3), "bodies[1].bodies"),
        (|r| r.joints[4].kind = JointKind::Ball, "bodies[1].bodies"),
        (|r| r.bodies[4].inertial.inertia[2] = 0.0, "bodies[1].inertia"),
        (|r| r.bodies[4].inertial.mass = -1.0, "bodies[1].inertial"),
        (|r| r.bodies[4].placement.orientation[0] = 2.0, "bodies[1].placement"),
        (|r| r.start.velocities = vec![1.0; 35], "bodies[1].velocities"),
    ];
    let good = load("tests/good/robots.toml").scene;
    for (at, (change, path)) in changes.iter().enumerate() {
        let mut scene = good.clone();
        change(&mut scene.robots[3]);
        let invalid = scene.check().expect_err(&format!("change {at}, of {path}"));
        assert_eq!(invalid.path, *path, "{invalid}");
    }
}

#[test]
fn losses_of_robots_are_checked() {
    let good = load("tests/good/robots.toml");
    let body = |robot, body| LossTerm::part_position(Part::Body { robot, body }, [0.0; 3]);
    let frame = |robot, frame| LossTerm::part_velocity(Part::Frame { robot, frame }, [0.0; 3]);
    let nan = LossTerm::part_position(Part::Body { robot: 0, body: 0 }, [0.0, f64::NAN, 0.0]);
    for (loss, path) in [
        (body(0, 3), "loss[0].of"),
        (body(5, 0), "loss[0].of"),
        (frame(0, 1), "loss[0].of"),
        (nan, "loss[0].target[1]"),
        (LossTerm::joint(0, 4, 0.0), "loss[0].of"),
        (LossTerm::joint(0, 0, 0.0), "loss[0].of"),
        (LossTerm::joint(5, 0, 0.0), "loss[0].of"),
        (LossTerm::joint(0, 1, f64::NAN), "loss[0].target"),
        (LossTerm::effort("leg.knee"), "loss[0].of"),
    ] {
        let problem = Problem { losses: vec![loss], ..good.clone() };
        assert_eq!(problem.check().expect_err("it is bad").path, path);
    }
    for loss in [body(0, 2), frame(0, 0), LossTerm::joint(0, 1, 0.5)] {
        assert_eq!(Problem { losses: vec![loss], ..good.clone() }.check(), Ok(()));
    }
}

/// Robots without particles are a scene, and nothing at all is none.
#[test]
fn a_scene_has_something_in_it() {
    let mut scene = load("tests/good/robots.toml").scene;
    scene.particles.clear();
    assert_eq!(scene.check(), Ok(()));
    scene.robots.clear();
    assert_eq!(scene.check().expect_err("it is empty").path, "particles");
}

/// Columns of measurements: a joint that is called as an axis is stays a joint.
#[test]
fn what_columns_are_of() {
    let scene = parse(
        r#"
        [[particles]]
        name = "ball"
        position = [0, 0, 0]
        mass = 1
        [[bodies]]
        name = "bricks"
        positions = [[1, 0, 0], [2, 0, 0]]
        mass = 1
        shape = { sphere = 0.1 }
        [[robots]]
        name = "arm"
        [[robots.bodies]]
        name = "hand"
        mass = 1
        shape = { sphere = 0.1 }
        [[robots.joints]]
        name = "x"
        body = "hand"
        kind = "slide"
        axis = [1, 0, 0]
        [[robots.frames]]
        name = "tip"
        body = "hand"
        "#,
    );
    let of = |name: &str| scene.tracked(name).unwrap_or_else(|error| panic!("{}", error.what));
    let robot = |name: &str| scene.robots.iter().position(|robot| robot.name == name).expect("it is there");
    let (arm, bricks) = (robot("arm"), robot("bricks"));
    assert_eq!(of("ball.vy"), (Tracked::Particle { particle: 0, axis: 1 }, true));
    assert_eq!(
        of("bricks[1].z"),
        (Tracked::Part { of: Part::Body { robot: bricks, body: 1 }, axis: 2 }, false)
    );
    assert_eq!(of("arm.hand.vx"), (Tracked::Part { of: Part::Body { robot: arm, body: 0 }, axis: 0 }, true));
    assert_eq!(of("arm.tip.y"), (Tracked::Part { of: Part::Frame { robot: arm, frame: 0 }, axis: 1 }, false));
    assert_eq!(of("arm.x"), (Tracked::Joint { robot: arm, joint: 0 }, false));
    assert_eq!(of("arm.x.velocity"), (Tracked::Joint { robot: arm, joint: 0 }, true));
    for (name, what) in [
        ("bal.x", "there is no particle `bal`"),
        ("arm.hant.x", "there is no body or frame `arm.hant`"),
        ("arm.y.velocity", "there is no joint `arm.y`"),
        ("bricks[2].x", "there is no body `bricks[2]`"),
        ("ball", "there is no column `ball`"),
    ] {
        assert_eq!(scene.tracked(name).expect_err(name).what, what);
    }
}
