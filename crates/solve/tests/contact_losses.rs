//! Losses of contacts: forces and penetration against closed forms, with their derivatives, and against differences.

use pullback_scene as scene;
use pullback_solve::Problem;
use pullback_solve::check::{Agreement, check};
use pullback_solve::optimise::Objective;

const G: f64 = 9.81;

fn problem(text: &str) -> Problem {
    let description =
        scene::Problem::parse(text, "contact.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    Problem::new(description).unwrap_or_else(|error| panic!("{error}"))
}

/// A scene with a loss (y - 0)² of contacts: y, and its derivatives by params.
fn measured(scene: &str, loss: &str, by: &[&str]) -> (f64, Vec<f64>) {
    let text = format!("{scene}[[variables]]\nname = \"{}\"\n[[loss]]\nkind = \"contact\"\n{loss}\n", by[0]);
    let mut problem = problem(&text);
    let z = problem.variables().start();
    let gradient = problem.full_gradient(&z).unwrap_or_else(|error| panic!("{error}"));
    let (y, params) = (gradient.value().sqrt(), gradient.params(0).expect("params"));
    let slope = |name: &&str| params.number(name).expect("a param") / (2.0 * y);
    (y, by.iter().map(slope).collect())
}

fn near(what: &str, found: f64, wanted: f64, error: f64) {
    assert!((found - wanted).abs() <= error, "{what}: {found}, and not {wanted} within {error:.1e}");
}

/// A box of 2 kg on the ground, with gravity that is tilted by an angle [rad].
fn on_a_slope(angle: f64, mu: f64, steps: usize) -> String {
    format!(
        "[simulation]\nsteps = {steps}\ndt = 0.001\n[world]\ngravity = [{}, 0, {}]\n[ground]\nmu = {mu}\n[contact]\nmu = {mu}\n\
         [[bodies]]\nname = \"box\"\nmass = 2\nshape = {{ box = [0.1, 0.1, 0.02] }}\nposition = [0, 0, 0.02]\n",
        G * angle.sin(),
        -G * angle.cos()
    )
}

const BY: [&str; 5] = ["box.mass", "gravity.x", "gravity.z", "ground.mu", "contact.mu"];

/// N = m g, and nothing else matters.
#[test]
fn a_box_at_rest_weighs_what_it_weighs() {
    let scene = on_a_slope(0.0, 0.5, 50);
    let (weight, slopes) = measured(&scene, "of = \"box\"\nquantity = \"normal-force\"\ntarget = 0", &BY);
    near("weight", weight, 2.0 * G, 1e-10);
    for (name, (slope, wanted)) in BY.iter().zip(slopes.iter().zip([G, 0.0, -2.0, 0.0, 0.0])) {
        near(name, *slope, wanted, 1e-8);
    }
    // The ground is all that it touches.
    let with = "of = \"box\"\nwith = \"ground\"\nquantity = \"force\"\ntarget = [0, 0, 0]";
    near("force", measured(&scene, with, &BY).0, 2.0 * G, 1e-10);
}

/// Friction holds it: N = m g cos, T = m g sin; and it slides: T = μ m g cos.
#[test]
fn a_box_on_a_slope() {
    let (sin, cos) = (0.3_f64.sin(), 0.3_f64.cos());
    let loss = |quantity: &str| format!("of = \"box\"\nquantity = \"{quantity}\"\ntarget = 0");
    let held = on_a_slope(0.3, 0.8, 200);
    let (normal, slopes) = measured(&held, &loss("normal-force"), &BY);
    near("held, normal", normal, 2.0 * G * cos, 1e-8);
    for (name, (slope, wanted)) in BY.iter().zip(slopes.iter().zip([G * cos, 0.0, -2.0, 0.0, 0.0])) {
        near(&format!("held, normal by {name}"), *slope, wanted, 1e-6);
    }
    let (friction, slopes) = measured(&held, &loss("friction-force"), &BY);
    near("held, friction", friction, 2.0 * G * sin, 1e-8);
    for (name, (slope, wanted)) in BY.iter().zip(slopes.iter().zip([G * sin, 2.0, 0.0, 0.0, 0.0])) {
        near(&format!("held, friction by {name}"), *slope, wanted, 1e-6);
    }
    let mu = 0.2;
    let slides = on_a_slope(0.3, mu, 200);
    let (friction, slopes) = measured(&slides, &loss("friction-force"), &BY);
    near("sliding, friction", friction, mu * 2.0 * G * cos, 1e-8);
    // μ is √(ground.mu contact.mu): both have half of its derivative.
    let half = 0.5 * 2.0 * G * cos;
    for (name, (slope, wanted)) in
        BY.iter().zip(slopes.iter().zip([mu * G * cos, 0.0, -2.0 * mu, half, half]))
    {
        near(&format!("sliding, friction by {name}"), *slope, wanted, 1e-6);
    }
    // Along x the ground pushes against the slope's pull.
    let along = "of = \"box\"\nquantity = \"force\"\ntarget = [-4, 0, 0]\naxes = [\"x\"]";
    let (off, _) = measured(&slides, along, &BY);
    near("sliding, along x", off, 4.0 - friction, 1e-8);
}

/// Springs: depth = m g / ke, and its derivatives; the force is m g, whatever they are.
#[test]
fn a_ball_sinks_into_springs() {
    let (mass, ke) = (1.5, 2000.0);
    let scene = format!(
        "[simulation]\nsteps = 2000\ndt = 0.001\n[ground]\nke = {ke}\nkd = 60\n\
         [contact]\nmodel = \"penalty\"\nke = {ke}\nkd = 60\nkf = 5\n\
         [[bodies]]\nname = \"ball\"\nmass = {mass}\nshape = {{ sphere = 0.1 }}\nposition = [0, 0, 0.1]\n"
    );
    let by = ["ball.mass", "gravity.z", "ground.ke", "contact.ke", "contact.kd"];
    let (depth, slopes) = measured(&scene, "of = \"ball\"\nquantity = \"penetration\"\ntarget = 0", &by);
    near("depth", depth, mass * G / ke, 1e-12);
    let half = -0.5 * mass * G / (ke * ke);
    for (name, (slope, wanted)) in by.iter().zip(slopes.iter().zip([G / ke, -mass / ke, half, half, 0.0])) {
        near(&format!("depth by {name}"), *slope, wanted, 1e-10);
    }
    let (force, slopes) = measured(&scene, "of = \"ball\"\nquantity = \"normal-force\"\ntarget = 0", &by);
    near("force", force, mass * G, 1e-9);
    for (name, (slope, wanted)) in by.iter().zip(slopes.iter().zip([G, -mass, 0.0, 0.0, 0.0])) {
        near(&format!("force by {name}"), *slope, wanted, 1e-7);
    }
}

/// The toes of a quadruped share its weight, each with its part of it, and the trunk's mass is shared in full, as far as its servos
/// have come to rest after two seconds.
#[test]
fn toes_share_the_weight() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/quadruped.toml");
    let text = std::fs::read_to_string(file).expect("it is there");
    let body = text.split("[[variables]]").next().expect("a scene").replace("duration = 0.5", "duration = 2");
    let toes = ["fr", "fl", "rr", "rl"];
    let loss =
        |of: &str| format!("of = \"{of}\"\nwith = \"ground\"\nquantity = \"normal-force\"\ntarget = 0");
    let by = ["dog.trunk.mass"];
    let found = toes.map(|toe| measured(&body, &loss(&format!("dog.{toe}_toe")), &by));
    let mass = 13.715 + 4.0 * (1.095 + 1.527 + 0.341);
    let sum = |of: fn(&(f64, Vec<f64>)) -> f64| found.iter().map(of).sum::<f64>();
    near("the weight", sum(|toe| toe.0), mass * G, 2e-3 * mass * G);
    near("by the trunk's mass", sum(|toe| toe.1[0]), G, 2e-2 * G);
    // Left and right are alike, front and rear are not.
    near("left and right", found[0].0, found[1].0, 1e-6);
    assert!((found[0].0 - found[2].0).abs() > 1.0, "{found:?}");
    // A shank has the one toe; the robot has all four.
    near("a shank", measured(&body, &loss("dog.fr_shank"), &by).0, found[0].0, 1e-12);
    near("the robot", measured(&body, &loss("dog"), &by).0, sum(|toe| toe.0), 1e-9);
}

/// An arm that presses on a ball that lies on the ground, and slides over it.
fn press(model: &str, losses: &str) -> String {
    format!(
        "[simulation]\nsteps = 12\ndt = 0.005\n[ground]\nmu = 0.3\n[contact]\nmu = 0.4\n{model}\n\
         [[robots]]\nname = \"arm\"\npositions = {{ lift = -0.001 }}\nvelocities = {{ lift = -0.05, turn = 0.8 }}\n\
         controls = {{ lift = -6, turn = 0.2 }}\n\
         [[robots.bodies]]\nname = \"post\"\nposition = [-0.2, 0.02, 0.3]\nmass = 0.4\ninertia = [0.01, 0.01, 0.01]\n\
         [[robots.joints]]\nname = \"turn\"\nbody = \"post\"\nkind = \"hinge\"\naxis = [0, 0, 1]\n\
         [[robots.bodies]]\nname = \"hand\"\nparent = \"post\"\nposition = [0.2, 0, 0]\nmass = 0.7\n\
         shape = {{ sphere = 0.1 }}\n\
         [[robots.joints]]\nname = \"lift\"\nbody = \"hand\"\nkind = \"slide\"\naxis = [0, 0, 1]\n\
         [[robots.motors]]\nname = \"lift\"\njoint = \"lift\"\nkind = \"torque\"\n\
         [[robots.motors]]\nname = \"turn\"\njoint = \"turn\"\nkind = \"torque\"\n\
         [[bodies]]\nname = \"ball\"\nmass = 1.1\nshape = {{ sphere = 0.1 }}\nposition = [0.01, 0.03, 0.0995]\n\
         velocity = [0.2, 0.1, 0]\n\
         [[variables]]\nname = \"control.arm.*.control\"\n[[variables]]\nname = \"initial.*\"\n\
         [[variables]]\nname = \"*.mass\"\n[[variables]]\nname = \"*.mu\"\n[[variables]]\nname = \"*.radius\"\n{losses}"
    )
}

const LOSSES: &str = "[[loss]]\nkind = \"contact\"\nof = \"arm.hand\"\nwith = \"ball\"\nquantity = \"force\"\ntarget = [1, 2, 3]\nat = [1, 4, 9]\n\
    [[loss]]\nkind = \"contact\"\nof = \"ball\"\nquantity = \"normal-force\"\ntarget = 7\nat = \"always\"\nweight = 3\n\
    [[loss]]\nkind = \"contact\"\nof = \"ball\"\nwith = \"ground\"\nquantity = \"friction-force\"\ntarget = 2\n\
    [[loss]]\nkind = \"contact\"\nof = \"ball\"\nquantity = \"penetration\"\ntarget = 0\nweight = 1e4\nat = [0, 5, 12]\n\
    [[loss]]\nkind = \"position\"\nof = \"arm.hand\"\ntarget = [0, 0, 0.4]\nweight = 5\n";

const MODELS: [&str; 2] = ["regularisation = 1e-3", "model = \"penalty\"\nke = 2000\nkd = 5\nkf = 3"];

/// The gradient by state, controls and params, through both models.
#[test]
fn gradients_by_differences() {
    for model in MODELS {
        let mut problem = problem(&press(model, LOSSES));
        let z = problem.variables().start();
        let health = check(&mut problem, &z).expect("it can be checked");
        assert!(health.audit.len() > 30, "{}", health.audit.len());
        for audit in &health.audit {
            assert_eq!(audit.agreement(), Agreement::Right, "{model}: {audit:?}");
        }
        let moved = health.audit.iter().filter(|audit| audit.derivative != 0.0).count();
        assert!(moved > 20, "{model}: {moved} of {}", health.audit.len());
        let parts = problem.parts(&z).expect("values");
        assert!(parts.iter().all(|part| *part > 1e-6), "{model}: {parts:?}");
        let names: Vec<&str> = problem.losses().names().collect();
        assert_eq!(names[..2], ["force of arm.hand with ball", "normal force of ball"]);
    }
}

/// Both ways to the Jacobian of the residuals, and the gradient: 2 Jᵀ r.
#[test]
fn jacobians_agree() {
    use pullback_solve::Way;
    for model in MODELS {
        let mut problem = problem(&press(model, LOSSES));
        let z = problem.variables().start();
        let (r, forwards) = problem.jacobian_by(Way::Forwards, &z).expect("a Jacobian");
        let (_, backwards) = problem.jacobian_by(Way::Backwards, &z).expect("a Jacobian");
        // Three forces of three axes, one in every step, friction, three depths, a position.
        assert_eq!(r.len(), 9 + 12 + 1 + 3 + 3);
        let scale = backwards.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        for (i, (a, b)) in forwards.iter().zip(&backwards).enumerate() {
            assert!((a - b).abs() < 1e-9 * scale, "{model}, {i}: {a} {b}");
        }
        let n = z.len();
        let mut gradient = vec![0.0; n];
        problem.gradient(&z, &mut gradient).expect("a gradient");
        for (i, g) in gradient.iter().enumerate() {
            let sum: f64 = r.iter().enumerate().map(|(k, r)| 2.0 * r * backwards[k * n + i]).sum();
            assert!((g - sum).abs() < 1e-9 * scale * r.iter().map(|r| r.abs()).sum::<f64>(), "{model}, {i}");
        }
    }
}

/// What can never touch is refused, with the names.
#[test]
fn what_cannot_touch_is_refused() {
    let loss = "[[loss]]\nkind = \"contact\"\nof = \"arm.post\"\nwith = \"ground\"\nquantity = \"normal-force\"\ntarget = 1\n";
    let description = scene::Problem::parse(&press("", loss), "contact.toml").expect("a problem");
    let error = Problem::new(description).err().expect("nothing to measure").to_string();
    assert!(error.contains("loss[0].of") && error.contains("`arm.post` can touch `ground`"), "{error}");
}

/// Why friction, restitution and sizes have no effect: nothing touches, what touches sticks, nothing bounces.
#[test]
fn zeros_have_reasons() {
    let ball = |z: f64, more: &str| {
        format!(
            "[simulation]\nsteps = 20\ndt = 0.002\n[ground]\nmu = 0.5\n[contact]\nmu = 0.5\n{more}\n\
             [[bodies]]\nname = \"ball\"\nmass = 1\nshape = {{ sphere = 0.1 }}\nposition = [0, 0, {z}]\nvelocity = [0.3, 0, 0]\n\
             angular_velocity = [0, 3, 0]\n\
             [[variables]]\nname = \"contact.*\"\n[[variables]]\nname = \"ball.radius\"\n[[variables]]\nname = \"ball.mass\"\n\
             [[variables]]\nname = \"initial.ball.velocity\"\n\
             [[loss]]\nkind = \"position\"\nof = \"ball\"\ntarget = [0, 0, 0]\n"
        )
    };
    let zeros = |text: &str| {
        let mut problem = problem(text);
        let z = problem.variables().start();
        let health = check(&mut problem, &z).expect("it can be checked");
        assert!(health.audit.iter().all(|audit| audit.agreement() == Agreement::Right), "{:?}", health.audit);
        health.zeros
    };
    let touches_nothing = "nothing that it belongs to touches";
    let in_the_air = zeros(&ball(0.5, ""));
    let names: Vec<&str> = in_the_air.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["contact.mu", "contact.restitution", "ball.radius"]);
    assert!(in_the_air.iter().all(|(_, why)| why == touches_nothing), "{in_the_air:?}");
    // It rolls: friction is inside its cone. Nothing is said of the radius, which matters, nor of the mass, which contacts do not read.
    let rolls = zeros(&ball(0.1, ""));
    let wanted = [
        ("contact.mu", "what touches sticks: friction is nowhere at its limit"),
        ("contact.restitution", "it is 0, and at 0 nothing bounces: start from a little more"),
    ];
    assert_eq!(rolls, wanted.map(|(name, why)| (name.to_owned(), why.to_owned())));
    let slides =
        zeros(&ball(0.1, "").replace("angular_velocity = [0, 3, 0]", "angular_velocity = [0, -9, 0]"));
    assert_eq!(slides.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["contact.restitution"]);
}

/// A ball that is thrown far is straight in its speed; with a floor of bounces in the way the gradient is soon of no use.
#[test]
fn reach_tells_straight_from_crooked() {
    let text = |ground: &str, position: f64| {
        format!(
            "[simulation]\nsteps = 400\ndt = 0.002\n{ground}\n\
             [[bodies]]\nname = \"ball\"\nmass = 1\nshape = {{ sphere = 0.1 }}\nposition = [0, 0, {position}]\nvelocity = [1, 0, 0]\n\
             [[variables]]\nname = \"initial.ball.position\"\nscale = 0.01\n\
             [[loss]]\nkind = \"position\"\nof = \"ball\"\ntarget = [100, 0, 0]\n"
        )
    };
    let reach = |text: &str| {
        let mut problem = problem(text);
        let z = problem.variables().start();
        check(&mut problem, &z).expect("it can be checked").reach
    };
    let free = reach(&text("", 1.0));
    assert_eq!(free.of_use(), Some(1.0));
    assert!(free.steps.iter().all(|(_, part)| (part - 1.0).abs() < 1e-6), "{free}");
    assert!(free.to_string().starts_with("of use for steps up to 1 of the scale"), "{free}");
    assert_eq!(free.steps.len(), 4);
}
