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
    use JointKind::{Ball, Free, Hinge};
    let mut pushed = chain("pushed", &[Free, Hinge, Ball]);
    // The hat is welded to the last link.
    pushed.bodies.push(body("hat", Some(2), 6.0));
    pushed.pushed = vec![1, 3];
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
        joint.stiffness = 3.0 + k;
        if joint.kind == Ball {
            joint.range = Some([0.0, 0.3]);
            joint.limit = Limit { stiffness: 15.0, damping: 0.4 };
        } else {
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

/// Random numbers that are the same on every machine (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
pub struct Random(u64);

impl Random {
    /// Other numbers for every seed.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between both, all alike.
    pub fn within(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Less than `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// True in so many of all cases.
    pub fn chance(&mut self, p: f64) -> bool {
        self.within(0.0, 1.0) < p
    }

    /// Numbers between -size and size.
    pub fn numbers(&mut self, n: usize, size: f64) -> Vec<f64> {
        (0..n).map(|_| self.within(-size, size)).collect()
    }

    /// Three of them.
    pub fn vector(&mut self, size: f64) -> [f64; 3] {
        [(); 3].map(|()| self.within(-size, size))
    }

    /// A unit vector.
    pub fn direction(&mut self) -> [f64; 3] {
        let mut v = [0.0; 3];
        while !(0.1..1.0).contains(&v.iter().map(|x| x * x).sum::<f64>()) {
            v = self.vector(1.0);
        }
        unit(v)
    }

    /// A unit quaternion.
    pub fn turn(&mut self) -> [f64; 4] {
        let (axis, half) = (self.direction(), self.within(-1.5, 1.5));
        let s = half.sin();
        [half.cos(), s * axis[0], s * axis[1], s * axis[2]]
    }
}

/// What random trees are like.
#[derive(Clone, Copy, Debug)]
pub struct Wood {
    /// How many bodies.
    pub links: usize,
    /// How many of them hang from any body before, and not from the last one: 0 for a chain, 1 for a bush.
    pub bushy: f64,
    /// The least and the greatest mass [kg].
    pub masses: [f64; 2],
    /// Do all trees float, without armature at the roots?
    pub floating: bool,
    /// How many hinges and slides follow one before them.
    pub following: f64,
}

impl Wood {
    /// Trees of so many bodies.
    pub fn new(links: usize, bushy: f64, masses: [f64; 2]) -> Self {
        Wood { links, bushy, masses, floating: false, following: 0.0 }
    }
}

/// A body of a density of 1 t/m³, and its size [m]. Its inertia is that of six points on three axes, so that it can exist.
fn random_body(
    random: &mut Random,
    name: String,
    parent: Option<usize>,
    reach: f64,
    mass: f64,
) -> (Body, f64) {
    let size = (mass / 1000.0).cbrt();
    let axes = [random.vector(size), random.vector(size), random.vector(size)];
    let about = |i: usize, j: usize| -> f64 {
        let of = |a: &[f64; 3]| {
            let square = if i == j { a.iter().map(|x| x * x).sum() } else { 0.0 };
            square - a[i] * a[j]
        };
        // A ball on top: no axis is without inertia.
        mass / 3.0 * axes.iter().map(of).sum::<f64>() + if i == j { 0.1 * mass * size * size } else { 0.0 }
    };
    let inertia = [about(0, 0), about(1, 1), about(2, 2), about(0, 1), about(0, 2), about(1, 2)];
    let placement = Placement { position: random.vector(2.0 * reach), orientation: random.turn() };
    let inertial = Inertial { mass, center: random.vector(size), inertia };
    (Body { name, parent, placement, inertial }, size)
}

/// The kinds of a body's joints: none for a welded one, several for some.
fn random_kinds(random: &mut Random, first: bool) -> Vec<JointKind> {
    use JointKind::{Ball, Free, Hinge, Slide};
    let all: [&[JointKind]; 10] = [
        &[Hinge],
        &[Hinge],
        &[Hinge],
        &[Slide],
        &[Ball],
        &[Free],
        &[Slide, Hinge],
        &[Hinge, Ball],
        &[Slide, Slide, Hinge],
        &[],
    ];
    // Something must move.
    all[random.below(if first { 9 } else { 10 })].to_vec()
}

/// A random tree, or several, with a start in which everything moves.
pub fn random_tree(random: &mut Random, wood: Wood) -> Robot {
    let mut robot = Robot { name: "wood".into(), ..Robot::default() };
    let mut sizes: Vec<f64> = Vec::new();
    // Hinges and slides, and how far they move.
    let mut numbers: Vec<(usize, f64)> = Vec::new();
    let mut state = Keyframe::default();
    for b in 0..wood.links {
        let parent = match b {
            0 => None,
            // Now and then another tree begins.
            b if random.chance(wood.bushy) => Some(random.below(b)).filter(|_| !random.chance(0.1)),
            b => Some(b - 1),
        };
        let mass = (random.within(wood.masses[0].ln(), wood.masses[1].ln())).exp();
        let reach = parent.map_or(1.0, |p| sizes[p]);
        let (body, size) = random_body(random, format!("link{b}"), parent, reach, mass);
        let root = parent.is_none();
        let kinds = match root && wood.floating {
            true => vec![JointKind::Free],
            false => random_kinds(random, b == 0),
        };
        for (k, kind) in kinds.iter().enumerate() {
            let mut joint = Joint::new(format!("joint{b}_{k}"), b, *kind, random.direction());
            joint.anchor = random.vector(size);
            joint.reference = match kind {
                JointKind::Hinge => random.within(-0.5, 0.5),
                JointKind::Slide => random.within(-size, size),
                JointKind::Ball | JointKind::Free => 0.0,
            };
            // Several joints of one body may act almost along the same line.
            let rotor = kinds.len() > 1 || (!root && random.chance(0.5));
            let about = if *kind == JointKind::Slide { 1.0 } else { size * size };
            joint.armature = if rotor { random.within(0.1, 0.5) * mass * about } else { 0.0 };
            random_state(random, &joint, size, &mut state);
            let reach = if *kind == JointKind::Hinge { 1.0 } else { size };
            if matches!(kind, JointKind::Hinge | JointKind::Slide) {
                joint.mimic = random_mimic(random, &numbers, reach).filter(|_| random.chance(wood.following));
                numbers.push((robot.joints.len(), reach));
            }
            robot.joints.push(joint);
        }
        robot.bodies.push(body);
        sizes.push(size);
    }
    robot.start = state;
    robot
}

/// To follow one of the joints before.
fn random_mimic(random: &mut Random, before: &[(usize, f64)], reach: f64) -> Option<Mimic> {
    if before.is_empty() {
        return None;
    }
    let (joint, of) = before[random.below(before.len())];
    let (multiplier, offset) = (random.within(-1.5, 1.5) * reach / of, random.within(-0.5, 0.5) * reach);
    Some(Mimic { joint, multiplier, offset })
}

fn random_state(random: &mut Random, joint: &Joint, size: f64, state: &mut Keyframe) {
    let (position, turn) = (random.vector(1.0), random.turn());
    let (linear, angular) = (random.vector(2.0), random.vector(2.0));
    match joint.kind {
        JointKind::Hinge => {
            state.positions.push(position[0]);
            state.velocities.push(angular[0]);
        }
        JointKind::Slide => {
            state.positions.push(size * position[0]);
            state.velocities.push(size * linear[0]);
        }
        JointKind::Ball => {
            state.positions.extend(turn);
            state.velocities.extend(angular);
        }
        JointKind::Free => {
            state.positions.extend(position);
            state.positions.extend(turn);
            state.velocities.extend(linear);
            state.velocities.extend(angular);
        }
    }
}
