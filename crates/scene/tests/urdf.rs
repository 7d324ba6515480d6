//! URDF files, number by number.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use pullback_scene::Robot;
use pullback_scene::robot::{
    Base, Geometry, Joint, JointKind, Limit, Load, Loaded, Mimic, Placement, Transmission, Triangles,
};

const ARM: &str = "tests/urdf/good/arm_description/urdf/arm.urdf";

fn load(file: &str, load: &Load) -> Loaded {
    Robot::load(file, load).expect("the file is good")
}

fn joint<'r>(robot: &'r Robot, name: &str) -> &'r Joint {
    robot.joints.iter().find(|joint| joint.name == name).expect("there is such a joint")
}

fn close(found: &[f64], wanted: &[f64]) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-14;
    assert!(found.len() == wanted.len() && found.iter().zip(wanted).all(near), "{found:?}, {wanted:?}");
}

#[test]
fn bodies_are_in_the_order_of_the_tree() {
    let Loaded { robot, .. } = load(ARM, &Load::default());
    assert_eq!(robot.name, "arm");
    let bodies: Vec<(&str, Option<usize>)> =
        robot.bodies.iter().map(|body| (body.name.as_str(), body.parent)).collect();
    let wanted = [
        ("base", None),
        ("upper", Some(0)),
        ("fore", Some(1)),
        ("right_finger", Some(2)),
        ("left_finger", Some(2)),
        ("tool", Some(2)),
    ];
    assert_eq!(bodies, wanted);
    let joints: Vec<(&str, usize)> =
        robot.joints.iter().map(|joint| (joint.name.as_str(), joint.body)).collect();
    assert_eq!(joints, [("shoulder", 1), ("elbow", 2), ("right", 3), ("left", 4)]);
}

/// Rz(0.3) Ry(-0.2) Rx(0.1), half angles multiplied out: the formula of a textbook, not that of the reader.
#[test]
fn frames_are_those_of_the_joints() {
    let Loaded { robot, .. } = load(ARM, &Load::default());
    let place = |name: &str| {
        robot.bodies.iter().find(|body| body.name == name).expect("there is such a body").placement
    };
    assert_eq!(place("base"), Placement::default());
    let (cr, sr) = (0.05f64.cos(), 0.05f64.sin());
    let (cp, sp) = ((-0.1f64).cos(), (-0.1f64).sin());
    let (cy, sy) = (0.15f64.cos(), 0.15f64.sin());
    let shoulder = place("upper");
    assert_eq!(shoulder.position, [0.0, 0.0, 0.5]);
    close(
        &shoulder.orientation,
        &[
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ],
    );
    assert_eq!(place("fore"), Placement::at([0.4, 0.0, 0.0]));
    assert_eq!(place("tool"), Placement { position: [0.0, 0.0, 0.6], orientation: [0.0, 0.0, 0.0, 1.0] });
}

#[test]
fn joints_and_motors() {
    let Loaded { robot, .. } = load(ARM, &Load::default());
    let shoulder = joint(&robot, "shoulder");
    assert_eq!((shoulder.kind, shoulder.axis), (JointKind::Hinge, [0.0, 0.0, 1.0]));
    assert_eq!((shoulder.range, shoulder.reference), (Some([-1.5, 2.0]), 0.0));
    assert_eq!((shoulder.effort, shoulder.speed), (Some(30.0), Some(3.0)));
    assert_eq!((shoulder.damping, shoulder.friction, shoulder.armature), (0.7, 0.2, 0.0));
    let elbow = joint(&robot, "elbow");
    assert_eq!((elbow.kind, elbow.axis, elbow.range), (JointKind::Hinge, [1.0, 0.0, 0.0], None));
    let left = joint(&robot, "left");
    assert_eq!((left.kind, left.range, left.mimic), (JointKind::Slide, Some([0.0, 0.05]), None));
    close(&left.axis, &[0.6, 0.8, 0.0]);
    let right = joint(&robot, "right");
    assert_eq!(right.mimic, Some(Mimic { joint: 3, multiplier: -1.0, offset: 0.01 }));

    let motors: Vec<(&str, usize, Option<[f64; 2]>)> = robot
        .motors
        .iter()
        .map(|motor| match &motor.transmission {
            Transmission::Joint { joint, gear } => {
                assert_eq!(
                    (gear.as_slice(), motor.gain, motor.bias),
                    (&[1.0][..], [1.0, 0.0, 0.0], [0.0; 3])
                );
                (motor.name.as_str(), *joint, motor.control_range)
            }
            Transmission::Tendon { .. } => panic!("URDF has no tendons"),
        })
        .collect();
    let wanted = [("shoulder", 0, Some([-30.0, 30.0])), ("elbow", 1, None), ("left", 3, Some([-5.0, 5.0]))];
    assert_eq!(motors, wanted);
}

/// Turned by a quarter about z: x goes to y, and y to -x.
#[test]
fn inertia_is_turned_into_the_frame_of_the_link() {
    let Loaded { robot, .. } = load(ARM, &Load::default());
    let upper = &robot.bodies[1].inertial;
    assert_eq!((upper.mass, upper.center), (2.0, [0.1, 0.2, 0.3]));
    // (xx, yy, zz, xy, xz, yz): xx' = yy, yy' = xx, xy' = -xy, xz' = -yz, yz' = xz.
    close(&upper.inertia, &[0.03, 0.02, 0.04, -0.001, -0.003, 0.002]);
    assert_eq!(robot.bodies[0].inertial.mass, 0.0);
    assert!(robot.check().is_ok());
}

#[test]
fn shapes_colours_and_meshes() {
    let Loaded { robot, warnings } = load(ARM, &Load::default());
    let shape = |at: usize| &robot.shapes[at];
    let bodies: Vec<(Option<usize>, bool)> = robot.shapes.iter().map(|s| (s.body, s.collides)).collect();
    let wanted = [(0, false), (0, true), (1, false), (1, false), (1, true), (2, true), (4, true)];
    assert_eq!(bodies, wanted.map(|(body, collides)| (Some(body), collides)));
    assert_eq!(shape(0).geometry, Geometry::Box { half_sides: [0.1, 0.2, 0.25] });
    assert_eq!((shape(0).name.as_str(), shape(0).color), ("foot", [0.4, 0.5, 0.6, 1.0]));
    assert_eq!(shape(0).placement, Placement::at([0.0, 0.0, 0.25]));
    assert_eq!(shape(1).geometry, Geometry::Cylinder { radius: 0.3, half_length: 0.25 });
    assert_eq!((shape(2).color, shape(3).color), ([1.0, 0.0, 0.0, 0.5], [1.0, 0.0, 0.0, 0.5]));
    assert_eq!(shape(4).geometry, Geometry::Capsule { radius: 0.05, half_length: 0.2 });
    close(&shape(4).placement.orientation, &[FRAC_PI_4.cos(), FRAC_PI_4.sin(), 0.0, 0.0]);
    assert_eq!(shape(6).geometry, Geometry::Sphere { radius: 0.02 });

    let triangles = |at: usize| -> Option<&Triangles> {
        match &shape(at).geometry {
            Geometry::Mesh(mesh) => mesh.triangles.as_deref(),
            other => panic!("{other:?} is no mesh"),
        }
    };
    // The cube is mirrored, and still has its outside outside: 0.1 · 0.2 · 0.3.
    let cube = triangles(2).expect("it was read");
    assert_eq!((cube.vertices.len(), cube.faces.len()), (8, 12));
    close(&[shape(2).geometry.volume().expect("it is closed")], &[0.006]);
    let tetrahedron = triangles(5).expect("it was read");
    assert_eq!((tetrahedron.vertices.len(), tetrahedron.faces.len()), (4, 4));
    close(&[shape(5).geometry.volume().expect("it is closed")], &[1.0 / 6.0]);

    // Only the looks of the cover are missing.
    assert_eq!(triangles(3), None);
    let texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let wanted = format!(
        "{ARM}:30:33: <mesh> filename: `package://arm_description/meshes/cover.dae`: meshes of the kind `.dae` are not supported\n  \
         fix: convert it to OBJ or STL"
    );
    assert_eq!(texts, [wanted]);
}

#[test]
fn meshes_are_not_read_when_nobody_wants_them() {
    let Loaded { robot, warnings } = load(ARM, &Load { meshes: false, ..Load::default() });
    assert_eq!(warnings, []);
    let meshes = robot.shapes.iter().filter_map(|shape| match &shape.geometry {
        Geometry::Mesh(mesh) => Some(mesh),
        _ => None,
    });
    assert_eq!(meshes.map(|mesh| assert_eq!(mesh.triangles, None)).count(), 3);
}

#[test]
fn planar_joints_are_two_slides_and_a_hinge() {
    let Loaded { robot, .. } = load("tests/urdf/good/cart.urdf", &Load::default());
    let names: Vec<&str> = robot.joints.iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!(names, ["drive.x", "drive.y", "drive.angle", "side.x", "side.y", "side.angle"]);
    let axes: Vec<[f64; 3]> = robot.joints.iter().map(|joint| joint.axis).collect();
    assert_eq!(axes[..3], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    // The normal is x when nothing is said; z goes there by a quarter turn about y.
    close(&axes[3], &[0.0, 0.0, -1.0]);
    close(&axes[4], &[0.0, 1.0, 0.0]);
    close(&axes[5], &[1.0, 0.0, 0.0]);
    let kinds: Vec<JointKind> = robot.joints[..3].iter().map(|joint| joint.kind).collect();
    assert_eq!(kinds, [JointKind::Slide, JointKind::Slide, JointKind::Hinge]);
    assert!(robot.joints[..3].iter().all(|joint| joint.body == 1 && joint.range.is_none()));
    assert_eq!(robot.motors.len(), 6);
    assert_eq!((robot.positions(), robot.velocities()), (6, 6));
}

#[test]
fn roots_are_fixed_or_free() {
    let with = |file: &str, base: Base| load(file, &Load { base, ..Load::default() }).robot;
    let kinds = |robot: &Robot| -> Vec<JointKind> { robot.joints.iter().map(|joint| joint.kind).collect() };
    let free = with(ARM, Base::Free);
    assert_eq!((free.joints[0].name.as_str(), free.joints[0].body), ("root", 0));
    assert_eq!(free.joints[0].kind, JointKind::Free);
    // Everything else moved up by one.
    assert_eq!(joint(&free, "right").mimic.map(|mimic| mimic.joint), Some(4));
    assert_eq!(free.motors[0].transmission, Transmission::Joint { joint: 1, gear: vec![1.0] });
    assert_eq!(with(ARM, Base::Fixed), with(ARM, Base::AsWritten));

    // A file that says itself how it flies: nothing is added, and it can be held.
    let drone = "tests/urdf/good/drone.urdf";
    assert_eq!(kinds(&with(drone, Base::AsWritten)), [JointKind::Free, JointKind::Ball]);
    assert_eq!(with(drone, Base::Free), with(drone, Base::AsWritten));
    assert_eq!(kinds(&with(drone, Base::Fixed)), [JointKind::Ball]);
    assert_eq!(with(drone, Base::AsWritten).motors, []);
}

/// What stops a strict reader is left out by a lenient one, with a warning each.
#[test]
fn lenient_readers_go_on() {
    let link = |name: &str, inside: &str| {
        format!(
            "<link name='{name}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>{inside}</link>"
        )
    };
    let collision = |shape: &str| format!("<collision><geometry>{shape}</geometry></collision>");
    let text = format!(
        "<robot name='r'><link name='base'/>{}<joint name='j' type='revolute'><parent link='base'/><child link='a'/>\
         <mimic joint='k'/></joint></robot>",
        link(
            "a",
            &[
                collision("<mesh filename='no.obj'/>"),
                collision("<plane/>"),
                collision("<sphere radius='0'/>")
            ]
            .concat()
        )
    );
    let strict = Robot::parse(text.as_str(), "tests/urdf/good/r.urdf", &Load::default());
    assert!(strict.is_err());
    let lenient = Load { lenient: true, ..Load::default() };
    let Loaded { robot, warnings } = Robot::parse(text, "tests/urdf/good/r.urdf", &lenient).expect("lenient");
    let whats: Vec<&str> = warnings.iter().map(|warning| warning.what.as_str()).collect();
    let wanted = [
        "there is no shape of this kind; the shapes are `box`, `cylinder`, `sphere`, `capsule` and `mesh`",
        "there is no file `no.obj`",
        "a length is 0, negative or absurd",
        "it has no `<limit>`",
        "there is no hinge or slide `k`",
    ];
    assert_eq!(whats, wanted);
    assert_eq!(robot.shapes.len(), 1);
    assert!(!robot.shapes[0].collides, "without triangles it touches nothing");
    assert_eq!((robot.joints[0].range, robot.joints[0].mimic), (None, None));
}

/// A hinge feels I + m d² of what hangs from it, if that hangs from the world: 0.05 + 1 · 0.2². With T = 0.02 s and a damping
/// ratio of 1, stiffness = inertia / T², damping = 2 inertia / T.
#[test]
fn limits_push_back_in_the_usual_way() {
    let text = std::fs::read_to_string("tests/good/arm.urdf").expect("it is there");
    let held = text.replace("type=\"continuous\"", "type=\"fixed\"");
    assert_ne!(text, held);
    let elbow = |text: &str| {
        let robot = Robot::parse(text, "tests/good/arm.urdf", &Load::default()).expect("a robot").robot;
        robot.joints.iter().find(|joint| joint.name == "elbow").expect("it is there").limit
    };
    let Limit { stiffness, damping } = elbow(&held);
    let inertia = 0.05 + 0.2 * 0.2;
    assert!((stiffness * 0.02 * 0.02 / inertia - 1.0).abs() < 1e-12, "{stiffness}");
    assert!((damping * 0.02 / (2.0 * inertia) - 1.0).abs() < 1e-12, "{damping}");
    // With a free shoulder it feels less.
    assert!(elbow(&text).stiffness < stiffness);
}

#[test]
fn doubtful_files_are_read_with_warnings() {
    let text = "<robot name='r'><link name='a' colour='red'><inertial><mass value='1'/>\
                <inertia ixx='1' iyy='1' izz='3'/></inertial><inertail/>\
                <visual><geometry><sphere radius='1'/></geometry><material name='gren'/></visual></link>\
                <material name='green'><color rgba='0 255 0 1'/></material></robot>";
    let Loaded { robot, warnings } = Robot::parse(text, "r.urdf", &Load::default()).expect("it is read");
    let texts: Vec<String> =
        warnings.iter().map(|warning| format!("{} {}", warning.what, warning.fix)).collect();
    let starts = [
        "a colour has parts from 0 to 1",
        "this attribute is not known it is not used",
        "<link name=\"a\"> has no such element did you mean `inertial`?",
        "<link name=\"a\">: no body has the principal moments 1.0000e0, 1.0000e0 and 3.0000e0",
        "this material has no colour did you mean `green`?",
    ];
    assert_eq!(texts.len(), starts.len(), "{texts:?}");
    for (text, start) in texts.iter().zip(starts) {
        assert!(text.starts_with(start), "{text}");
    }
    assert_eq!(robot.bodies[0].inertial.inertia[2], 3.0);
}

/// A quarter of a turn of the shoulder moves the tool as geometry says, through all frames in between.
#[test]
fn frames_compose_along_the_arm() {
    let text = std::fs::read_to_string(ARM).expect("it is there").replace("rpy=\"0.1 -0.2 0.3\"", "");
    let turned =
        text.replace("<origin xyz=\"0.4 0 0\"/>", &format!("<origin xyz='0.4 0 0' rpy='0 {FRAC_PI_2} 0'/>"));
    let Loaded { robot, .. } = Robot::parse(turned, ARM, &Load::default()).expect("it is good");
    let world_from_tool = [1, 2, 5]
        .iter()
        .fold(robot.bodies[0].placement, |above, &body| above.compose(&robot.bodies[body].placement));
    // Up by 0.5, along x by 0.4, then along z of a frame that is turned about y: along x again.
    close(&world_from_tool.position, &[1.0, 0.0, 0.5]);
}
