//! Problems with robots: values of losses by hand, gradients and Jacobians by differences, rotations as variables.

use pullback_kernel::prelude::*;
use pullback_scene as scene;
use pullback_solve::check::{Agreement, check};
use pullback_solve::loss::KernelLoss;
use pullback_solve::optimise::{Objective, Run};
use pullback_solve::{Problem, Way};
use scene::When;

/// An arm with every kind of joint below a free base, a loose nut, and a particle.
const SCENE: &str = r#"
name = "robots"

[simulation]
dt = 0.01
steps = 30
integrator = "rk4"

[[particles]]
name = "dust"
position = [0, 0, 3]
velocity = [1, 0, 0]
mass = 0.1

[[robots]]
name = "arm"
position = [0.2, 0, 1]
positions = { shoulder = 0.4, reach = 0.1, wrist = [0.9, 0.1, -0.3, 0.2] }
velocities = { shoulder = 1.0, wrist = [0.3, -0.5, 0.7], root = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6] }
controls = { lift = 0.7 }

[[robots.bodies]]
name = "base"
mass = 3
shape = { box = [0.2, 0.2, 0.1] }

[[robots.bodies]]
name = "upper"
parent = "base"
position = [0.1, 0, 0.2]
orientation = [1, 0.2, 0, 0]
mass = 1
center = [0, 0, -0.2]
shape = { capsule = { radius = 0.04, half_length = 0.2 } }

[[robots.bodies]]
name = "lower"
parent = "upper"
position = [0, 0.05, -0.4]
mass = 0.7
center = [0.02, 0, -0.1]
inertia = [0.01, 0.012, 0.008]

[[robots.bodies]]
name = "hand"
parent = "lower"
position = [0, 0, -0.3]
mass = 0.4
center = [0.05, 0.01, -0.05]
inertia = [0.004, 0.005, 0.006]

[[robots.joints]]
name = "root"
body = "base"
kind = "free"

[[robots.joints]]
name = "shoulder"
body = "upper"
kind = "hinge"
axis = [0, 1, 0.2]
damping = 0.1

[[robots.joints]]
name = "reach"
body = "lower"
kind = "slide"
axis = [0, 0, 1]
stiffness = 50

[[robots.joints]]
name = "wrist"
body = "hand"
kind = "ball"

[[robots.motors]]
name = "lift"
joint = "shoulder"
kind = "torque"

[[robots.frames]]
name = "tip"
body = "hand"
position = [0.1, 0.02, -0.2]

[[bodies]]
name = "nut"
position = [1, 0, 2]
orientation = [1, 0.1, 0.2, -0.1]
mass = 1
center = [0.1, 0, 0]
inertia = [0.1, 0.2, 0.25]
angular_velocity = [0.5, 3, 0.2]
"#;

const VARIABLES: &str = r#"
[[variables]]
name = "initial.arm.root.orientation"
[[variables]]
name = "initial.arm.wrist.orientation"
scale = 0.5
[[variables]]
name = "initial.arm.shoulder.*"
[[variables]]
name = "initial.nut.*"
[[variables]]
name = "arm.hand.mass"
[[variables]]
name = "arm.upper.placement_orientation"
[[variables]]
name = "arm.shoulder.axis"
[[variables]]
name = "control.arm.lift.control"
[[variables]]
name = "initial.dust.velocity"
"#;

const LOSSES: [&str; 7] = [
    "kind = \"position\"\nof = \"arm.tip\"\ntarget = [0.5, 0.2, 0.4]",
    "kind = \"position\"\nof = \"arm.lower\"\ntarget = [0.5, 0.2, 0.4]\naxes = [\"x\", \"z\"]\nat = \"always\"\nweight = 0.3",
    "kind = \"velocity\"\nof = \"arm.tip\"\ntarget = [0, 0.1, 0]\nat = [0, 7, 30]",
    "kind = \"velocity\"\nof = \"nut\"\ntarget = [0, 1, 0]",
    "kind = \"joint\"\nof = \"arm.shoulder\"\ntarget = 0.8\nat = \"always\"\nweight = 2",
    "kind = \"effort\"\nof = \"arm.lift\"\nweight = 0.01",
    "kind = \"position\"\nof = \"dust\"\ntarget = [0, 0, 1]",
];

fn problem(variables: &str, losses: &[&str]) -> Problem {
    let losses: String = losses.iter().map(|loss| format!("\n[[loss]]\n{loss}\n")).collect();
    let text = format!("{SCENE}\n{variables}\n{losses}");
    let description = scene::Problem::parse(&text, "robots.toml").unwrap_or_else(|error| panic!("{error}"));
    Problem::new(description).unwrap_or_else(|error| panic!("{error}"))
}

/// Where nothing is special.
fn point(problem: &Problem) -> Vec<f64> {
    let start = problem.variables().start();
    start.iter().enumerate().map(|(i, z)| z + 0.07 * (1.0 + i as f64 * 0.7).sin()).collect()
}

#[test]
fn gradients_are_those_of_differences() {
    for losses in LOSSES.iter().map(std::slice::from_ref).chain([&LOSSES[..]]) {
        let mut problem = problem(VARIABLES, losses);
        let z = point(&problem);
        let health = check(&mut problem, &z).expect("it can be checked");
        assert!(health.audit.iter().any(|audit| audit.derivative.abs() > 1e-4), "{losses:?}");
        for audit in health.audit {
            assert!(audit.agreement() == Agreement::Right && audit.error < 1e-6, "{losses:?}: {audit:?}");
        }
    }
}

#[test]
fn jacobians_agree_both_ways_and_with_differences() {
    let mut problem = problem(VARIABLES, &LOSSES);
    let (z, n) = (point(&problem), problem.variables().len());
    let [(residuals, forwards), (same, backwards)] =
        [Way::Forwards, Way::Backwards].map(|way| problem.jacobian_by(way, &z).expect("it has one"));
    assert_eq!(residuals, same);
    assert_eq!((residuals.len(), forwards.len()), (3 + 60 + 9 + 3 + 30 + 30 + 3, residuals.len() * n));
    let size = forwards.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
    for (i, (f, b)) in forwards.iter().zip(&backwards).enumerate() {
        assert!((f - b).abs() < 1e-10 * size, "{i}: {f} and {b}");
    }
    let mut at = |z: &[f64]| {
        let mut found = Vec::new();
        problem.residuals(z, &mut found).expect("it has values");
        found
    };
    let h = 1e-5;
    for i in 0..n {
        let (mut above, mut below) = (z.clone(), z.clone());
        above[i] += h;
        below[i] -= h;
        for (k, (above, below)) in at(&above).into_iter().zip(at(&below)).enumerate() {
            let difference = (above - below) / (2.0 * h);
            let error = (difference - forwards[k * n + i]).abs() / size;
            assert!(error < 1e-7, "residual {k}, variable {i}: {} and {difference}", forwards[k * n + i]);
        }
    }
}

/// Measurements of a frame, a loose body, a particle and a joint in one table are what losses of each of them are.
#[test]
fn measurements_of_bodies_and_frames() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("measured-bodies");
    std::fs::create_dir_all(&folder).expect("it can be made");
    let csv = "time, arm.tip.x, nut.vz, arm.lower.z, dust.y, arm.shoulder\n0.1, 0.5, -1, 0.6, 0.2, 0.8\n0.3, 0.4, -3, 0.1, 0, 0.3\n";
    std::fs::write(folder.join("seen.csv"), csv).expect("it can be written");
    let fits = |losses: &str| {
        let text = format!("{SCENE}\n{VARIABLES}\n{losses}");
        let description = scene::Problem::parse(&text, folder.join("robots.toml"))
            .unwrap_or_else(|error| panic!("{error}"));
        Problem::new(description).unwrap_or_else(|error| panic!("{error}"))
    };
    let mut measured = fits("[[loss]]\nkind = \"trajectory\"\ndata = \"seen.csv\"\nweight = 2\n");
    let mut losses = String::new();
    for (step, [tip, nut, lower, dust, shoulder]) in
        [(10, [0.5, -1.0, 0.6, 0.2, 0.8]), (30, [0.4, -3.0, 0.1, 0.0, 0.3])]
    {
        for (kind, of, target, axis) in [
            ("position", "arm.tip", [tip, 0.0, 0.0], "x"),
            ("velocity", "nut", [0.0, 0.0, nut], "z"),
            ("position", "arm.lower", [0.0, 0.0, lower], "z"),
            ("position", "dust", [0.0, dust, 0.0], "y"),
        ] {
            losses += &format!(
                "[[loss]]\nkind = \"{kind}\"\nof = \"{of}\"\ntarget = {target:?}\naxes = [\"{axis}\"]\nat = {step}\nweight = 2\n"
            );
        }
        losses += &format!(
            "[[loss]]\nkind = \"joint\"\nof = \"arm.shoulder\"\ntarget = {shoulder}\nat = {step}\nweight = 2\n"
        );
    }
    let mut apart = fits(&losses);
    let z = point(&measured);
    let [one, other] = [&mut measured, &mut apart].map(|problem| {
        let mut gradient = vec![0.0; z.len()];
        (problem.gradient(&z, &mut gradient).expect("it has one"), gradient)
    });
    assert!((one.0 - other.0).abs() < 1e-12 * one.0 && one.0 > 0.1, "{} {}", one.0, other.0);
    for (a, b) in one.1.iter().zip(&other.1) {
        assert!((a - b).abs() < 1e-10 * (1.0 + a.abs()), "{a} {b}");
    }
    let health = check(&mut measured, &z).expect("it can be checked");
    assert!(health.audit.iter().all(|audit| audit.agreement() == Agreement::Right));
    let [(residuals, forwards), (_, backwards)] =
        [Way::Forwards, Way::Backwards].map(|way| measured.jacobian_by(way, &z).expect("it has one"));
    assert_eq!(residuals.len(), 10);
    let size = forwards.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
    assert!(forwards.iter().zip(&backwards).all(|(f, b)| (f - b).abs() < 1e-10 * size));
}

/// A state in which a robot rests has the same numbers after every step: what is measured then must not be mixed up.
#[test]
fn parts_that_rest_are_not_mixed_up() {
    let text = r#"
    [simulation]
    dt = 0.01
    steps = 2
    [world]
    gravity = [0, 0, 0]
    [[bodies]]
    name = "a"
    position = [0, 0, 0]
    mass = 1
    shape = { sphere = 0.1 }
    [[bodies]]
    name = "b"
    position = [0, 0, 0]
    mass = 1
    shape = { sphere = 0.1 }
    [[variables]]
    name = "initial.*.position"
    [[loss]]
    kind = "position"
    of = "a"
    target = [1, 2, 3]
    at = 1
    [[loss]]
    kind = "position"
    of = "b"
    target = [1, 2, 3]
    at = 2
    "#;
    let description = scene::Problem::parse(text, "rest.toml").unwrap_or_else(|error| panic!("{error}"));
    let mut problem = Problem::new(description).unwrap_or_else(|error| panic!("{error}"));
    let (_, jacobian) = problem.jacobian_by(Way::Forwards, &[0.0; 6]).expect("it has one");
    let identity: Vec<f64> = (0..36).map(|k| if k % 7 == 0 { 1.0 } else { 0.0 }).collect();
    assert!(jacobian.iter().zip(&identity).all(|(a, b)| (a - b).abs() < 1e-12), "{jacobian:?}");
}

/// A loose ball in free fall, whose origin is not its centre of mass and which does not turn: everyone knows its path.
#[test]
fn values_by_hand() {
    let text = |loss: &str| {
        format!(
            "[simulation]\ndt = 0.1\nsteps = 10\nintegrator = \"rk4\"\n[[bodies]]\nname = \"ball\"\nmass = 2\n\
             inertia = [1, 1, 1]\ncenter = [0.3, 0, 0]\nposition = [1, 2, 3]\nvelocity = [4, 5, 6]\n\
             [[variables]]\nname = \"initial.ball.velocity\"\n[[loss]]\n{loss}\n"
        )
    };
    let value = |loss: &str| {
        let description =
            scene::Problem::parse(&text(loss), "fall.toml").unwrap_or_else(|error| panic!("{error}"));
        let mut problem = Problem::new(description).unwrap_or_else(|error| panic!("{error}"));
        problem.value(&[0.0; 3]).expect("it has a value")
    };
    let close =
        |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-10 * wanted, "{found} {wanted}");
    let z = |t: f64| 3.0 + 6.0 * t - 0.5 * 9.81 * t * t;
    close(value("kind = \"position\"\nof = \"ball\"\ntarget = [0, 0, 0]"), 25.0 + 49.0 + z(1.0).powi(2));
    close(
        value("kind = \"velocity\"\nof = \"ball\"\ntarget = [1, 5, 6]\nweight = 2"),
        2.0 * (9.0 + 9.81 * 9.81),
    );
    let always: f64 = (1..=10).map(|i| 0.1 * z(0.1 * f64::from(i)).powi(2)).sum();
    close(
        value("kind = \"position\"\nof = \"ball\"\ntarget = [0, 0, 0]\naxes = [\"z\"]\nat = \"always\""),
        always,
    );
}

#[test]
fn names_of_what_is_measured() {
    let problem = problem(VARIABLES, &LOSSES);
    let names: Vec<&str> = problem.losses().names().collect();
    let wanted = [
        "position of arm.tip",
        "position of arm.lower",
        "velocity of arm.tip",
        "velocity of nut",
        "position of arm.shoulder",
        "effort of arm.lift",
        "position of dust",
    ];
    assert_eq!(names, wanted);
    let parts = problem.losses().names().count();
    let (mut problem, z) = (problem, vec![0.0; 64]);
    let z = &z[..problem.variables().len()];
    let sums = problem.parts(z).expect("they have values");
    assert_eq!(sums.len(), parts);
    let value = problem.value(z).expect("it has a value");
    assert!((sums.iter().sum::<f64>() / value - 1.0).abs() < 1e-12);
}

/// How high the nut is, and how it hurries.
#[kernel]
fn high<R: Real>(x: Vec3<R>, v: Vec3<R>) -> R {
    x.z * x.z + 0.1 * dot(v, v)
}

#[test]
fn kernels_see_loose_bodies_beside_particles() {
    for name in ["nut", "dust"] {
        let mut problem = problem(VARIABLES, &LOSSES[6..]);
        let loss = KernelLoss::<high>::new(problem.model(), name, When::Always, 0.5).expect("it is there");
        problem.add_loss(loss);
        let z = point(&problem);
        for audit in check(&mut problem, &z).expect("it can be checked").audit {
            assert!(audit.agreement() == Agreement::Right, "{name}: {audit:?}");
        }
    }
    let problem = problem(VARIABLES, &LOSSES[..1]);
    let hinge = KernelLoss::<high>::new(problem.model(), "arm.shoulder", When::End, 1.0);
    assert!(hinge.err().is_some_and(|error| error.to_string().contains("3")), "a hinge has no vector");
}

#[test]
fn rotations_are_three_variables_and_stay_rotations() {
    let mut problem = problem("[[variables]]\nname = \"initial.nut.orientation\"", &LOSSES[..1]);
    let variables = problem.variables();
    let names: Vec<(&str, &str)> = (0..variables.len()).map(|i| variables.name(i)).collect();
    assert_eq!(
        names,
        ["x", "y", "z"]
            .map(|axis| format!("initial.nut.orientation.turn.{axis}"))
            .each_ref()
            .map(|n| (n.as_str(), "rad"))
    );
    assert_eq!(variables.start(), [0.0; 3]);
    // At the start it is what the scene says, to the bit.
    let model = problem.model().state();
    assert_eq!(problem.point(&[0.0; 3]).state, model.values());
    let range = problem.model().state_layout().find("nut.orientation").expect("it is there");
    let z = [0.4, -1.1, 2.3];
    let state = problem.point(&z).state;
    let q = &state[range.clone()];
    assert!((q.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-14);
    // Turned by |z| radians: the angle between the two is that.
    let dot: f64 = q.iter().zip(&model.values()[range]).map(|(a, b)| a * b).sum();
    let angle = z.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!((dot - (0.5 * angle).cos()).abs() < 1e-14);
    assert_eq!(problem.variables().rotations(&z)[0], ("initial.nut.orientation", [q[0], q[1], q[2], q[3]]));
    assert!(problem.value(&z).is_ok());
}

#[test]
fn a_rotation_starts_where_it_is_told() {
    let with = |more: &str| {
        let losses = format!("[[loss]]\n{}", LOSSES[0]);
        let text = format!("{SCENE}\n[[variables]]\nname = \"initial.nut.orientation{more}\n{losses}\n");
        let description = scene::Problem::parse(&text, "r.toml").unwrap_or_else(|error| panic!("{error}"));
        Problem::new(description)
    };
    let problem = with("\"\nstart = [0, 3, 0, 4]").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(problem.variables().rotations(&[0.0; 3])[0].1, [0.0, 0.6, 0.0, 0.8]);
    // The scene's value, seen from there.
    let turn: Vec<f64> = (0..3).map(|i| problem.variables().nominal(i)).collect();
    let back = problem.variables().rotations(&turn)[0].1;
    let model = problem.model().state();
    let nominal = model.get("nut.orientation").expect("it is there");
    let dot: f64 = back.iter().zip(nominal).map(|(a, b)| a * b).sum();
    assert!((dot.abs() - 1.0).abs() < 1e-12, "{back:?} {nominal:?}");
    let error = |more: &str| with(more).err().map(|error| error.to_string()).expect("it is refused");
    let alone = error(".w\"");
    assert!(
        alone.contains("cannot change alone") && alone.contains("name `initial.nut.orientation`"),
        "{alone}"
    );
    let none = error("\"\nstart = [0, 0, 0, 0]");
    assert!(none.contains("starts at no rotation"), "{none}");
    let twice = error("\"\n[[variables]]\nname = \"initial.nut.*\"");
    assert!(twice.contains("is a variable twice"), "{twice}");
}

/// A thing that is thrown lands with its nose where it should: the search turns it, half round.
#[test]
fn a_rotation_is_found() {
    let text = r#"
    [simulation]
    dt = 0.01
    steps = 20
    [[robots]]
    name = "dart"
    [[robots.bodies]]
    name = "dart"
    mass = 1
    shape = { box = [0.1, 0.2, 0.3] }
    [[robots.joints]]
    name = "root"
    body = "dart"
    kind = "free"
    [[robots.frames]]
    name = "nose"
    body = "dart"
    position = [0, 0, 1]
    [[variables]]
    name = "initial.dart.root.orientation"
    [[loss]]
    kind = "position"
    of = "dart.nose"
    target = [0.6, 0, -0.8]
    [world]
    gravity = [0, 0, 0]
    [optimiser]
    method = "METHOD"
    "#;
    for method in ["l-bfgs", "levenberg-marquardt"] {
        let text = text.replace("METHOD", method);
        let description = scene::Problem::parse(&text, "dart.toml").unwrap_or_else(|error| panic!("{error}"));
        let mut problem = Problem::new(description).unwrap_or_else(|error| panic!("{error}"));
        let mut run: Run = problem.begin().expect("it can be begun");
        run.finish(&mut problem).expect("it can be solved");
        assert!(run.best().1 < 1e-12, "{method}: {}", run.best().1);
        let (_, q) = problem.variables().rotations(run.best().0)[0];
        let length = q.iter().map(|x| x * x).sum::<f64>();
        assert!((length - 1.0).abs() < 1e-12);
    }
}

/// Pins of particles are no part of the motion; joints are.
#[test]
fn growth_counts_robots() {
    let mut problem = problem(VARIABLES, &LOSSES[..1]);
    let z = point(&problem);
    let health = check(&mut problem, &z).expect("it can be checked");
    assert!(health.growth.norms.iter().all(|norm| *norm > 0.0));
    assert_eq!(health.growth.norms.len(), 31);
}
