//! Small robots, one for every joint, and one with everything that acts on joints.

use pullback_scene::robot::{
    Body, Inertial, Joint, JointKind, Keyframe, Limit, Mimic, Motor, Placement, Robot, Tendon, Transmission,
};

/// A turned quaternion that differs with `salt`.
pub fn turn(salt: f64) -> [f64; 4] {
    let q = [1.0, 0.3 * salt.sin(), -0.4 * (1.7 * salt).cos(), 0.5 * (0.6 * salt).sin()];
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.map(|x| x / length)
}

/// A body without symmetry.
pub fn body(name: &str, parent: Option<usize>, salt: f64) -> Body {
    Body {
        name: name.into(),
        parent,
        placement: Placement {
            position: [0.3 + 0.1 * salt.sin(), -0.2 * salt.cos(), 0.25],
            orientation: turn(salt),
        },
        inertial: Inertial {
            mass: 0.7 + 0.1 * salt,
            center: [0.05, -0.08 * salt.cos(), 0.11],
            inertia: [0.02, 0.031, 0.024, 0.003, -0.002, 0.004],
        },
    }
}

fn unit(axis: [f64; 3]) -> [f64; 3] {
    let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    axis.map(|x| x / length)
}

/// A joint with an axis, an anchor and armature that differ with `salt`.
pub fn joint(name: &str, body: usize, kind: JointKind, salt: f64) -> Joint {
    let axis = match kind {
        JointKind::Hinge | JointKind::Slide => unit([0.3 + salt.cos(), 0.8 * salt.sin(), 0.5]),
        JointKind::Ball | JointKind::Free => [0.0, 0.0, 1.0],
    };
    Joint {
        anchor: [0.02, 0.03 * salt.sin(), -0.04],
        reference: 0.1 * salt.sin(),
        armature: 0.01 + 0.002 * salt.cos(),
        damping: 0.05,
        ..Joint::new(name, body, kind, axis)
    }
}

/// A start in which everything moves.
fn moving(mut robot: Robot) -> Robot {
    let (mut positions, mut velocities, mut i) = (Vec::new(), Vec::new(), 1.0);
    for joint in &robot.joints {
        i += 1.0;
        match joint.kind {
            JointKind::Hinge | JointKind::Slide => positions.push(0.4 * f64::sin(i)),
            JointKind::Ball => positions.extend(turn(i)),
            JointKind::Free => {
                positions.extend([0.3, -0.1, 0.8]);
                positions.extend(turn(i));
            }
        }
        for k in 0..joint.kind.velocities() {
            velocities.push(0.9 * f64::cos(i + 1.3 * k as f64));
        }
    }
    robot.start = Keyframe { positions, velocities, ..Keyframe::default() };
    robot
}

/// A chain with one joint for each kind given.
pub fn chain(name: &str, kinds: &[JointKind]) -> Robot {
    let parent = |i: usize| i.checked_sub(1);
    let bodies = (0..kinds.len()).map(|i| body(&format!("link{i}"), parent(i), i as f64 + 1.0)).collect();
    let joints = kinds.iter().enumerate();
    let joints = joints.map(|(i, kind)| joint(&format!("joint{i}"), i, *kind, i as f64 + 0.5)).collect();
    moving(Robot { name: name.into(), bodies, joints, ..Robot::default() })
}

/// Legs on a free base, of hinges, a ball and a slide; a body that is welded on; one with three joints.
pub fn tree() -> Robot {
    use JointKind::{Ball, Free, Hinge, Slide};
    let bodies = vec![
        body("base", None, 0.4),
        body("hip", Some(0), 1.0),
        body("shin", Some(1), 2.0),
        body("foot", Some(2), 3.0),
        body("neck", Some(0), 4.0),
        body("head", Some(4), 5.0),
        body("hat", Some(5), 6.0),
        body("tail", Some(0), 7.0),
    ];
    let joints = vec![
        Joint { armature: 0.0, damping: 0.0, ..joint("root", 0, Free, 0.3) },
        joint("hip", 1, Hinge, 1.0),
        joint("knee", 2, Slide, 2.0),
        // The foot is welded to the shin, the hat to the head.
        joint("neck", 4, Ball, 3.0),
        joint("nod", 5, Hinge, 4.0),
        joint("tail_x", 7, Slide, 5.0),
        joint("tail_y", 7, Slide, 6.0),
        joint("tail_turn", 7, Hinge, 7.0),
    ];
    moving(Robot { name: "tree".into(), bodies, joints, ..Robot::default() })
}

/// A gripper: a slide that follows a hinge, and a hinge that follows the slide, one of them further up.
pub fn gripper() -> Robot {
    use JointKind::{Hinge, Slide};
    let mut gripper = chain("gripper", &[Hinge, Slide, Hinge, Hinge]);
    gripper.bodies[3].parent = Some(0);
    gripper.joints[1].mimic = Some(Mimic { joint: 3, multiplier: -0.6, offset: 0.2 });
    gripper.joints[2].mimic = Some(Mimic { joint: 1, multiplier: 1.5, offset: -0.1 });
    for joint in &mut gripper.joints {
        (joint.stiffness, joint.friction) = (2.0, 0.1);
    }
    gripper
}

/// A tree with forces from outside on two bodies, and inertia by log-Cholesky params.
pub fn pushed() -> Robot {
    let mut pushed = tree();
    // The shin, and the hat, which is welded to the head.
    pushed.pushed = vec![2, 6];
    pushed.consistent = true;
    pushed
}

/// An arm with everything that acts on joints.
pub fn arm() -> Robot {
    use JointKind::{Ball, Hinge, Slide};
    let mut arm = chain("arm", &[Hinge, Slide, Hinge, Ball]);
    for (i, joint) in arm.joints.iter_mut().enumerate() {
        let k = i as f64;
        joint.friction = 0.2 + 0.1 * k;
        if joint.kind != Ball {
            joint.stiffness = 3.0 + k;
            joint.spring_reference = 0.2 - 0.1 * k;
            // One is beyond its range, one below, one within.
            joint.range = Some([[-1.0, 0.1], [0.9, 1.2], [-2.0, 2.0]][i]);
            joint.limit = Limit { stiffness: 20.0 + k, damping: 0.7 };
        }
    }
    arm.tendons = vec![Tendon {
        name: "tendon".into(),
        joints: vec![(0, 0.7), (2, -0.4)],
        stiffness: 6.0,
        damping: 0.3,
        spring_range: [0.5, 0.6],
    }];
    let motor = |name: &str, transmission, gain, bias| Motor {
        name: name.into(),
        transmission,
        gain,
        bias,
        control_range: Some([-1.0, 1.0]),
        force_range: Some([-5.0, 5.0]),
        controls: Vec::new(),
    };
    arm.motors = vec![
        motor("torque", Transmission::Joint { joint: 0, gear: vec![1.5] }, [1.0, 0.0, 0.0], [0.0; 3]),
        motor("servo", Transmission::Joint { joint: 1, gear: vec![0.8] }, [4.0, 0.0, 0.0], [0.0, -4.0, -0.5]),
        motor("pull", Transmission::Tendon { tendon: 0, gear: 1.2 }, [2.0, 0.3, 0.1], [0.1, -0.4, -0.2]),
        motor(
            "gimbal",
            Transmission::Joint { joint: 3, gear: vec![0.5, -0.3, 0.2] },
            [1.0, 0.0, 0.2],
            [0.0; 3],
        ),
    ];
    arm.start.controls = vec![0.4, -0.3, 0.2, 0.6];
    arm
}
