//! What MJCF files become, checked by hand. `mjcf_oracle.rs` compares with MuJoCo, number by number.

use std::f64::consts::PI;

use pullback_scene::Robot;
use pullback_scene::robot::{Base, Geometry, JointKind, Load, Loaded, Transmission};

fn parse(text: &str, load: &Load) -> Loaded {
    Robot::parse(text, "tests/mjcf/good/robot.xml", load).expect("the text is good")
}

/// Without warnings.
fn robot(text: &str) -> Robot {
    let loaded = parse(text, &Load::default());
    assert_eq!(loaded.warnings, []);
    loaded.robot
}

fn lenient() -> Load {
    Load { lenient: true, ..Load::default() }
}

#[track_caller]
fn close(found: &[f64], wanted: &[f64]) {
    let same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert!(found.len() == wanted.len() && found.iter().zip(wanted).all(same), "{found:?} {wanted:?}");
}

/// A pendulum: a ball of 2 kg and radius 0.1 m, 0.5 m below its hinge.
const PENDULUM: &str = r#"<mujoco model="clock">
  <worldbody>
    <body name="bob" pos="0 0 1">
      <joint name="pivot" axis="0 -3 0" range="-30 90" armature="0.05"/>
      <geom name="ball" size="0.1" pos="0 0 -0.5" mass="2" rgba="1 0 0 0.5"/>
    </body>
  </worldbody>
  <actuator>
    <motor joint="pivot"/>
  </actuator>
</mujoco>"#;

#[test]
fn a_pendulum() {
    let robot = robot(PENDULUM);
    assert_eq!(robot.name, "clock");
    let body = &robot.bodies[0];
    assert_eq!((body.name.as_str(), body.parent, body.placement.position), ("bob", None, [0.0, 0.0, 1.0]));
    close(&[body.inertial.mass], &[2.0]);
    close(&body.inertial.center, &[0.0, 0.0, -0.5]);
    close(&body.inertial.inertia, &[0.008, 0.008, 0.008, 0.0, 0.0, 0.0]);
    let joint = &robot.joints[0];
    assert_eq!((joint.kind, joint.axis), (JointKind::Hinge, [0.0, -1.0, 0.0]));
    close(&joint.range.expect("it is limited"), &[-PI / 6.0, PI / 2.0]);
    // The joint feels 0.4 m r² + m l² + armature; the limit has MuJoCo's usual time constant of 0.02 s.
    let inertia = 0.008 + 0.5 + 0.05;
    close(&[joint.limit.stiffness, joint.limit.damping], &[inertia / 4e-4, inertia / 0.01]);
    let motor = &robot.motors[0];
    assert_eq!((motor.name.as_str(), motor.control_range, motor.gain[0]), ("pivot", None, 1.0));
    let shape = &robot.shapes[0];
    assert_eq!((shape.name.as_str(), shape.collides, shape.color), ("ball", true, [1.0, 0.0, 0.0, 0.5]));
    assert_eq!((robot.options.gravity, robot.options.dt), (None, None));
    assert_eq!(robot.start, pullback_scene::robot::Keyframe::default());
}

#[test]
fn things_without_names_get_some() {
    let robot = robot(
        "<mujoco><worldbody>
           <body><joint/><geom size='1'/><body name='body2'><joint name='joint0'/><geom size='1'/></body></body>
           <body><joint/><geom size='1'/></body>
         </worldbody>
         <actuator><motor joint='joint0'/><motor joint='joint0'/></actuator></mujoco>",
    );
    let names: Vec<&str> = robot.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["body0", "body2", "body2_"]);
    let names: Vec<&str> = robot.joints.iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!(names, ["joint0_", "joint0", "joint2"]);
    let names: Vec<&str> = robot.motors.iter().map(|motor| motor.name.as_str()).collect();
    assert_eq!(names, ["joint0", "motor1"]);
    assert_eq!(robot.name, "robot");
}

/// The joints of a body come before those of the bodies in it, wherever they are written.
#[test]
fn order_of_joints() {
    let robot = robot(
        "<mujoco><worldbody><body name='a'>
           <body name='b'><joint name='second'/><geom size='1'/></body>
           <joint name='first'/><geom size='1'/>
         </body></worldbody></mujoco>",
    );
    let joints: Vec<(&str, usize)> =
        robot.joints.iter().map(|joint| (joint.name.as_str(), joint.body)).collect();
    assert_eq!(joints, [("first", 0), ("second", 1)]);
}

const CRATE: &str = r#"<mujoco>
  <worldbody>
    <body name="crate" pos="1 2 3"><freejoint name="fly"/><geom type="box" size="0.1 0.1 0.1"/>
      <body name="lid"><joint name="hinge"/><geom size="0.1"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="fly"/><muscle joint="hinge"/><motor joint="hinge"/></actuator>
  <keyframe><key name="open" qpos="4 5 6 0 0 0 2 0.7" qvel="1 2 3 4 5 6 7" ctrl="8 9 10"/></keyframe>
</mujoco>"#;

/// What is left out is left out of keyframes too.
#[test]
fn left_out() {
    let loaded = parse(CRATE, &lenient());
    assert_eq!(loaded.warnings.len(), 1);
    assert!(loaded.warnings[0].to_string().contains(":7:"), "{}", loaded.warnings[0]);
    let robot = loaded.robot;
    assert_eq!(robot.motors.len(), 2);
    let key = &robot.keyframes[0];
    assert_eq!(key.positions, [4.0, 5.0, 6.0, 0.0, 0.0, 0.0, 1.0, 0.7]);
    assert_eq!(key.controls, [8.0, 10.0]);

    let fixed = parse(CRATE, &Load { base: Base::Fixed, ..lenient() }).robot;
    assert_eq!((fixed.joints.len(), fixed.joints[0].name.as_str(), fixed.motors.len()), (1, "hinge", 1));
    assert_eq!(fixed.bodies[0].placement.position, [1.0, 2.0, 3.0]);
    let key = &fixed.keyframes[0];
    assert_eq!((&key.positions, &key.velocities, &key.controls), (&vec![0.7], &vec![7.0], &vec![10.0]));
}

#[test]
fn a_base_that_is_set_free() {
    let text = PENDULUM
        .replace("<joint ", "<body name='inner'><joint ")
        .replace("</body>", "</body></body>")
        .replace("<actuator>", "<keyframe><key qpos='0.3'/></keyframe><actuator>");
    let free = parse(&text, &Load { base: Base::Free, ..Load::default() }).robot;
    assert_eq!(
        (free.joints[0].name.as_str(), free.joints[0].kind, free.joints[0].body),
        ("root", JointKind::Free, 0)
    );
    assert_eq!(free.keyframes[0].positions, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.3]);
    match free.motors[0].transmission {
        Transmission::Joint { joint, .. } => assert_eq!(joint, 1),
        Transmission::Tendon { .. } => panic!("it pulls at a joint"),
    }
}

/// contype and conaffinity say which bodies may touch.
#[test]
fn masks() {
    let geom = |contype: u32, conaffinity: u32| {
        format!("<body><geom size='1' contype='{contype}' conaffinity='{conaffinity}'/></body>")
    };
    let text = [geom(1, 0), geom(1, 0), geom(0, 1), geom(0, 0), geom(2, 2)].concat();
    let robot = robot(&format!("<mujoco><worldbody>{text}</worldbody></mujoco>"));
    // The first two only start contacts, the third only takes them; the fourth is only seen; the fifth is apart.
    assert_eq!(robot.contact_excludes, [[0, 1], [0, 4], [1, 4], [2, 4]]);
    let collide: Vec<bool> = robot.shapes.iter().map(|shape| shape.collides).collect();
    assert_eq!(collide, [true, true, true, false, true]);
}

/// A range of forces on a joint is that of its one motor.
#[test]
fn forces_on_a_joint() {
    let with = |actuators: &str| {
        PENDULUM
            .replace("armature=\"0.05\"", "actuatorfrcrange=\"-6 4\"")
            .replace("<motor joint=\"pivot\"/>", actuators)
    };
    let one = robot(&with("<motor joint='pivot' gear='-2' forcerange='-1 9'/>"));
    assert_eq!(one.motors[0].force_range, Some([-1.0, 3.0]));
    let two = with("<motor joint='pivot'/><motor joint='pivot'/>");
    let loaded = parse(&two, &lenient());
    assert_eq!(loaded.warnings.len(), 1);
    assert_eq!(loaded.robot.motors[0].force_range, None);
}

/// Switched off is what has no limits, no friction and no contact.
#[test]
fn flags() {
    let text = PENDULUM
        .replace(
            "<worldbody>",
            "<option gravity='0 0 -1'><flag constraint='disable' gravity='disable'/></option><worldbody>",
        )
        .replace("armature=\"0.05\"", "frictionloss=\"1\"");
    let robot = robot(&text);
    assert_eq!((robot.joints[0].range, robot.joints[0].friction), (None, 0.0));
    assert_eq!(robot.options.gravity, Some([0.0; 3]));
    assert!(!robot.shapes[0].collides);
}

const WEDGE: &str = r#"<mujoco>
  <compiler COMPILER/>
  <asset><mesh file="FILE" scale="1 2 -3"/></asset>
  <worldbody>
    <body><joint/><geom type="mesh" mesh="wedge" density="10" GEOM/></body>
  </worldbody>
</mujoco>"#;

/// The wedge has a volume of 1 m³ before it is stretched, and a centre of mass at (2/3, 1/3, 1/2).
#[test]
fn meshes() {
    let text = |compiler: &str, file: &str, geom: &str| {
        WEDGE.replace("COMPILER", compiler).replace("FILE", file).replace("GEOM", geom)
    };
    let places = [
        ("", "parts/wedge.obj"),
        ("meshdir='parts'", "wedge.obj"),
        ("assetdir='parts' strippath='true'", "x/wedge.obj"),
    ];
    for (compiler, file) in places {
        for meshes in [true, false] {
            let load = Load { meshes, ..Load::default() };
            let robot = parse(&text(compiler, file, ""), &load).robot;
            let inertial = robot.bodies[0].inertial;
            close(&[inertial.mass], &[60.0]);
            close(&inertial.center, &[2.0 / 3.0, 2.0 / 3.0, -1.5]);
            let Geometry::Mesh(mesh) = &robot.shapes[0].geometry else { panic!("it is a mesh") };
            let triangles = mesh.triangles.as_ref().expect("the mass needs them");
            assert_eq!((triangles.vertices.len(), triangles.faces.len()), (6, 8));
            assert!(triangles.vertices.contains(&[0.0, 2.0, -3.0]));
            assert!(mesh.file.ends_with("parts/wedge.obj"));
        }
    }
    // Without a mass, triangles are read only when they are wanted.
    let unweighed = text("", "parts/wedge.obj", "")
        .replace("<joint/>", "<joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>");
    for meshes in [true, false] {
        let robot = parse(&unweighed, &Load { meshes, ..Load::default() }).robot;
        let Geometry::Mesh(mesh) = &robot.shapes[0].geometry else { panic!("it is a mesh") };
        assert_eq!(mesh.triangles.is_some(), meshes);
    }
}

/// A mesh that is missing may be left out.
#[test]
fn a_missing_mesh() {
    let text = WEDGE
        .replace("COMPILER", "")
        .replace("FILE", "wedge.stl")
        .replace("GEOM", "")
        .replace("<joint/>", "<joint/><geom size='1'/>");
    let error =
        Robot::parse(text.clone(), "tests/mjcf/good/robot.xml", &Load::default()).expect_err("it is missing");
    assert!(error.what.contains("there is no file `wedge.stl`"), "{error}");
    let loaded = parse(&text, &lenient());
    assert_eq!((loaded.warnings, loaded.robot.shapes.len()), (vec![error], 1));
}

/// Colours: the geom's, else the material's, else grey.
#[test]
fn colors() {
    let robot = robot(
        "<mujoco><asset><material name='gold' rgba='1 0.8 0 1'/><material name='plain'/></asset><worldbody>
           <geom size='1'/><geom size='1' material='gold'/><geom size='1' material='plain'/>
           <geom size='1' material='gold' rgba='0 1 0 1'/>
         </worldbody></mujoco>",
    );
    let colors: Vec<[f64; 4]> = robot.shapes.iter().map(|shape| shape.color).collect();
    let wanted = [[0.5, 0.5, 0.5, 1.0], [1.0, 0.8, 0.0, 1.0], [1.0; 4], [0.0, 1.0, 0.0, 1.0]];
    assert_eq!(colors, wanted);
}

/// A short form goes on from a class of its own kind, and starts anew from another.
#[test]
fn short_forms_of_actuators() {
    let laws = |class: &str| -> Vec<[f64; 4]> {
        let text = format!(
            "<mujoco><default>{class}</default><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>
             <actuator><position joint='j'/><velocity joint='j'/><motor joint='j'/><general joint='j'/></actuator></mujoco>"
        );
        robot(&text)
            .motors
            .iter()
            .map(|motor| [motor.gain[0], motor.bias[0], motor.bias[1], motor.bias[2]])
            .collect()
    };
    let motor = [1.0, 0.0, 0.0, 0.0];
    // Numbers that MuJoCo 4.0.0 compiles.
    assert_eq!(laws(""), [[1.0, 0.0, -1.0, 0.0], [1.0, 0.0, 0.0, -1.0], motor, motor]);
    let position = [5.0, 0.0, -5.0, -2.0];
    assert_eq!(laws("<position kp='5' kv='2'/>"), [position, [1.0, 0.0, 0.0, -1.0], motor, position]);
    let velocity = [5.0, 0.0, 0.0, -5.0];
    assert_eq!(laws("<velocity kv='5'/>"), [[1.0, 0.0, -1.0, 0.0], velocity, motor, velocity]);
    let general = "<general gainprm='50' biasprm='3 -40 -3' biastype='affine'/>";
    let wanted = [[50.0, 0.0, -50.0, -3.0], [50.0, 0.0, 0.0, -50.0], motor, [50.0, 3.0, -40.0, -3.0]];
    assert_eq!(laws(general), wanted);
}
