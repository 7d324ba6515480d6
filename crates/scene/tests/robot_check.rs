//! Robots that are built in code are checked as those of files are.

use pullback_scene::robot::{Body, Inertial, Joint, JointKind, Mimic, Motor, Placement, Transmission};
use pullback_scene::{Invalid, Robot};

const BALL: Inertial =
    Inertial { mass: 1.0, center: [0.0, 0.0, -0.5], inertia: [0.1, 0.1, 0.1, 0.0, 0.0, 0.0] };

fn body(name: &str, parent: Option<usize>, inertial: Inertial) -> Body {
    Body { name: name.into(), parent, placement: Placement::at([0.0, 0.0, -1.0]), inertial }
}

/// Two links, each with a hinge.
fn pendulum() -> Robot {
    Robot {
        name: "pendulum".into(),
        bodies: vec![body("upper", None, BALL), body("lower", Some(0), BALL)],
        joints: vec![
            Joint::new("shoulder", 0, JointKind::Hinge, [0.0, 1.0, 0.0]),
            Joint::new("elbow", 1, JointKind::Hinge, [0.0, 1.0, 0.0]),
        ],
        ..Robot::default()
    }
}

fn wrong(change: impl FnOnce(&mut Robot)) -> Invalid {
    let mut robot = pendulum();
    change(&mut robot);
    robot.check().expect_err("it is wrong")
}

#[test]
fn a_good_robot_passes() {
    assert_eq!(pendulum().check(), Ok(()));
    assert_eq!(Robot::default().check(), Ok(()));
}

#[test]
fn what_is_wrong_is_named() {
    let motor = |range| Motor {
        name: "drive".into(),
        transmission: Transmission::Joint { joint: 0, gear: vec![1.0] },
        gain: [1.0, 0.0, 0.0],
        bias: [0.0; 3],
        control_range: Some(range),
        force_range: None,
        controls: Vec::new(),
    };
    let mimic = |joint| Some(Mimic { joint, multiplier: 1.0, offset: 0.0 });
    let cases = [
        (
            wrong(|r| r.bodies[1].name = "upper".into()),
            "bodies[1].name",
            "bodies 0 and 1 are both called `upper`",
        ),
        (wrong(|r| r.joints[0].name.clear()), "joints[0].name", "a joint has no name"),
        (
            wrong(|r| r.bodies[0].parent = Some(1)),
            "bodies[0].parent",
            "the parent of `upper` comes after it, or is not there",
        ),
        (
            wrong(|r| r.bodies[1].placement.orientation = [2.0, 0.0, 0.0, 0.0]),
            "bodies[1].placement",
            "the frame of `lower` is not finite, or its orientation no unit quaternion",
        ),
        (wrong(|r| r.bodies[1].inertial.mass = -1.0), "bodies[1].inertial", "`lower`: the mass is -1"),
        (
            wrong(|r| r.bodies[1].inertial.inertia[3] = f64::NAN),
            "bodies[1].inertial",
            "`lower`: a number is not finite",
        ),
        (wrong(|r| r.joints[1].body = 2), "joints[1].body", "`elbow`: it moves a body that is not there"),
        (
            wrong(|r| r.joints[1].axis = [0.0, 2.0, 0.0]),
            "joints[1].axis",
            "`elbow`: the axis is no unit vector",
        ),
        (
            wrong(|r| r.joints[1].axis = [f64::NAN; 3]),
            "joints[1].axis",
            "`elbow`: the axis is no unit vector",
        ),
        (wrong(|r| r.joints[0].damping = -0.5), "joints[0].damping", "`shoulder`: damping is -0.5"),
        (
            wrong(|r| r.joints[0].effort = Some(f64::INFINITY)),
            "joints[0].effort",
            "`shoulder`: effort is inf",
        ),
        (
            wrong(|r| r.joints[0].anchor[1] = f64::INFINITY),
            "joints[0].anchor",
            "`shoulder`: a number of the joint is not finite",
        ),
        (
            wrong(|r| r.joints[0].range = Some([1.0, -1.0])),
            "joints[0].range",
            "`shoulder`: the range goes from 1 to -1",
        ),
        (
            wrong(|r| r.joints[0].mimic = mimic(7)),
            "joints[0].mimic",
            "`shoulder` follows a joint that is not there",
        ),
        (
            wrong(|r| (r.joints[0].mimic, r.joints[1].mimic) = (mimic(1), mimic(0))),
            "joints[0].mimic",
            "`shoulder` follows itself",
        ),
        (
            wrong(|r| r.bodies[1].inertial = Inertial::default()),
            "joints[1].body",
            "`elbow` moves `lower`, which has no mass, and neither has what hangs from it",
        ),
        (
            wrong(|r| r.motors = vec![motor([1.0, 0.0])]),
            "motors[0].control_range",
            "`drive`: the range goes from 1 to 0",
        ),
    ];
    for (found, path, what) in cases {
        assert_eq!((found.path.as_str(), found.what.as_str()), (path, what));
        assert!(!found.fix.is_empty());
    }
}

/// A point on the axis resists no turn, wherever the axis points; a rotor, or a point beside it, does.
#[test]
fn hinges_need_inertia_about_their_axes() {
    let axis = [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0];
    let with = |center: [f64; 3], armature: f64| {
        let mut robot = pendulum();
        robot.bodies[1].inertial = Inertial::point(1.0, center);
        robot.joints[1].axis = axis;
        robot.joints[1].armature = armature;
        robot.check()
    };
    assert!(with(axis.map(|x| 0.7 * x), 0.0).is_err());
    assert!(with(axis.map(|x| 0.7 * x), 0.01).is_ok());
    assert!(with([0.0, 0.0, -0.5], 0.0).is_ok());
    let slide = |mass: f64| {
        let mut robot = pendulum();
        robot.bodies[1].inertial = Inertial::point(mass, [0.0; 3]);
        robot.joints[1].kind = JointKind::Slide;
        robot.check()
    };
    assert!(slide(1.0).is_ok() && slide(0.0).is_err());
    // A massless body in between is fine: what hangs from it counts.
    let mut robot = pendulum();
    robot.bodies[0].inertial = Inertial::default();
    assert!(robot.check().is_ok());
    for kind in [JointKind::Ball, JointKind::Free] {
        let mut robot = pendulum();
        robot.joints[1].kind = kind;
        assert!(robot.check().is_ok());
        robot.bodies[1].inertial = Inertial::point(1.0, [0.0, 0.0, 1.0]);
        assert!(robot.check().is_err(), "a point resists no turn about the line to it");
    }
}

/// Long chains of joints that follow each other take no longer than they are.
#[test]
fn long_chains_are_checked_quickly() {
    let count = 100_000usize;
    let robot = Robot {
        bodies: (0..count).map(|at| body(&format!("b{at}"), at.checked_sub(1), BALL)).collect(),
        joints: (0..count)
            .map(|at| {
                let joint = Joint::new(format!("j{at}"), at, JointKind::Hinge, [0.0, 1.0, 0.0]);
                let mimic = (at + 1 < count).then_some(Mimic { joint: at + 1, multiplier: 1.0, offset: 0.0 });
                Joint { mimic, ..joint }
            })
            .collect(),
        ..Robot::default()
    };
    let before = std::time::Instant::now();
    assert_eq!(robot.check(), Ok(()));
    assert!(before.elapsed().as_secs() < 10);
}
