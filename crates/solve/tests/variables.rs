//! Variables: which numbers they are, where the search starts, how bounds are kept.

use pullback_scene as scene;
use pullback_solve::optimise::Objective;
use pullback_solve::{Problem, Way};

/// A hanging chain of three, and a thruster.
const SCENE: &str = r#"
[simulation]
dt = 0.01
steps = 4

[[particles]]
name = "chain"
line = { from = [0, 0, 2], to = [2, 0, 2], count = 3 }
masses = [1, 2, 3]
drag = 0.01
fixed = [0]

[[springs]]
name = "links"
chain = "chain"
stiffness = 100

[[actuators]]
name = "thruster"
on = "chain[2]"
control = [0, 0, 5]

[[loss]]
kind = "position"
of = "chain[2]"
target = [0, 0, 0]
"#;

fn problem(variables: &str) -> Problem {
    longer(4, variables)
}

fn longer(steps: usize, variables: &str) -> Problem {
    let scene = SCENE.replace("steps = 4", &format!("steps = {steps}"));
    let description =
        scene::Problem::parse(&format!("{scene}\n{variables}"), "v.toml").expect("it is a problem");
    Problem::new(description).unwrap_or_else(|error| panic!("{error}"))
}

fn names(problem: &Problem) -> Vec<String> {
    (0..problem.variables().len()).map(|i| problem.variables().name(i).0.to_owned()).collect()
}

#[test]
fn names_and_globs() {
    let of = |name: &str| names(&problem(&format!("[[variables]]\nname = \"{name}\"")));
    assert_eq!(of("chain[1].mass"), ["chain[1].mass"]);
    assert_eq!(of("chain.mass"), ["chain[0].mass", "chain[1].mass", "chain[2].mass"]);
    assert_eq!(of("*.stiffness"), ["links[0].stiffness", "links[1].stiffness"]);
    assert_eq!(
        of("initial.chain[2].velocity"),
        ["x", "y", "z"].map(|axis| format!("initial.chain[2].velocity.{axis}"))
    );
    assert_eq!(of("initial.chain[2].velocity.y"), ["initial.chain[2].velocity.y"]);
    let controls = of("control.thruster.force");
    assert_eq!(controls.len(), 4 * 3);
    assert_eq!(
        (controls[0].as_str(), controls[11].as_str()),
        ("control[0].thruster.force.x", "control[3].thruster.force.z")
    );
}

#[test]
fn the_search_starts_where_the_problem_says() {
    let start = |text: &str| {
        let problem = problem(text);
        problem.variables().values(&problem.variables().start())
    };
    // Where the scene is, where one says, and with one number, or one vector, for all.
    assert_eq!(start("[[variables]]\nname = \"chain.mass\""), [1.0, 2.0, 3.0]);
    assert_eq!(start("[[variables]]\nname = \"chain.mass\"\nstart = [4, 5, 6]"), [4.0, 5.0, 6.0]);
    assert_eq!(start("[[variables]]\nname = \"chain.mass\"\nstart = 7"), [7.0; 3]);
    let controls = start("[[variables]]\nname = \"control.thruster.force\"\nstart = [1, 2, 3]");
    assert_eq!(controls, [1.0, 2.0, 3.0].repeat(4));

    let problem = problem("[[variables]]\nname = \"chain.mass\"\nstart = [4, 5, 6]");
    assert_eq!((0..3).map(|i| problem.variables().nominal(i)).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
    assert_eq!(problem.variables().name(0).1, "kg");
    assert_eq!(problem.point(&problem.variables().start()).params[..3], [4.0, 5.0, 6.0]);
}

/// x = start + size z: the size is the scale, or the largest number of the variable, or 1.
#[test]
fn scales() {
    let slopes = |text: &str| {
        let problem = problem(text);
        problem.variables().slopes(&problem.variables().start())
    };
    assert_eq!(slopes("[[variables]]\nname = \"chain.mass\""), [3.0; 3]);
    assert_eq!(slopes("[[variables]]\nname = \"chain.mass\"\nscale = 0.5"), [0.5; 3]);
    assert_eq!(slopes("[[variables]]\nname = \"initial.chain[1].velocity\""), [1.0; 3]);
    let problem = problem("[[variables]]\nname = \"chain[0].mass\"\nscale = 0.5");
    assert_eq!(problem.variables().values(&[2.0]), [2.0]);
}

/// One variable for each axis of all that is named, however many there are: they change by the same.
#[test]
fn what_changes_together() {
    let all = problem("[[variables]]\nname = \"initial.chain[*].velocity\"\ntogether = true\nscale = 2");
    assert_eq!(names(&all), ["x", "y", "z"].map(|axis| format!("initial.chain[*].velocity.{axis}")));
    assert_eq!((all.variables().name(0).1, all.variables().coordinates().len()), ("m/s", 9));
    let point = all.point(&[1.0, 0.0, -0.5]);
    assert_eq!(point.state[9..], [2.0, 0.0, -1.0].repeat(3));
    assert_eq!(
        all.variables().pull_rows(&[0.0; 3], &[[1.0; 3], [2.0; 3], [3.0; 3]].concat()),
        [6.0, 12.0, 18.0]
    );

    // What is between the starts stays, and each number is within its range.
    let masses = problem("[[variables]]\nname = \"chain.mass\"\ntogether = true\nlower = 0.5\nscale = 1");
    assert_eq!(names(&masses), ["chain.mass"]);
    assert_eq!(masses.variables().values(&[0.25]), [1.25]);
    assert_eq!(masses.point(&[0.25]).params[..3], [1.25, 2.25, 3.25]);
    assert_eq!(masses.variables().range(0), (0.5, f64::INFINITY));
    let upper = problem("[[variables]]\nname = \"chain.mass\"\ntogether = true\nupper = 4");
    assert_eq!(upper.variables().range(0).1, 2.0, "the last is 2 kg heavier than the first");
    let equal = problem("[[variables]]\nname = \"chain.mass\"\ntogether = true\nstart = 2");
    assert_eq!(equal.point(&[0.0]).params[..3], [2.0; 3]);

    // One control for all steps; what stands for one number is called by its own name.
    let force = problem("[[variables]]\nname = \"control.thruster.force\"\ntogether = true\nscale = 1");
    assert_eq!(names(&force), ["x", "y", "z"].map(|axis| format!("control.thruster.force.{axis}")));
    assert_eq!(force.point(&[1.0, 2.0, 3.0]).controls, [1.0, 2.0, 8.0].repeat(4));
    let one = problem("[[variables]]\nname = \"initial.chain[2].velocity.y\"\ntogether = true");
    assert_eq!(names(&one), ["initial.chain[2].velocity.y"]);
}

/// The gradient by what changes together is the slope of its differences, and the Jacobian is the same both ways.
#[test]
fn gradients_by_what_changes_together() {
    let text = "[[variables]]\nname = \"initial.chain[*].velocity\"\ntogether = true\n\
                [[variables]]\nname = \"*.stiffness\"\ntogether = true\nscale = 10";
    let mut problem = longer(40, text);
    let z = [0.3, -0.2, 0.1, 0.5];
    let mut gradient = [0.0; 4];
    problem.gradient(&z, &mut gradient).expect("it has one");
    for i in 0..4 {
        let mut at = |h: f64| {
            let mut z = z;
            z[i] += h;
            problem.value(&z).expect("it runs")
        };
        let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!(gradient[i] != 0.0, "{i}");
        assert!(
            (difference - gradient[i]).abs() < 1e-6 * gradient[i].abs().max(1e-3),
            "{i}: {gradient:?}, {difference}"
        );
    }
    let (residuals, forwards) = problem.jacobian_by(Way::Forwards, &z).expect("it has one");
    let (_, backwards) = problem.jacobian_by(Way::Backwards, &z).expect("it has one");
    assert_eq!(forwards.len(), 4 * residuals.len());
    for (a, b) in forwards.iter().zip(&backwards) {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a}, {b}");
    }
}

#[test]
fn what_does_not_change_together() {
    let refused = |name: &str| {
        let text = format!("{SCENE}\n[[variables]]\nname = \"{name}\"\ntogether = true");
        let description = scene::Problem::parse(&text, "v.toml").expect("it is a problem");
        Problem::new(description).err().expect("it is refused").to_string()
    };
    let found = refused("initial.chain[*].*");
    assert!(
        found.contains(": variables[0].together: `initial.chain[*].*` names things of several kinds"),
        "{found}"
    );
    assert!(found.ends_with("fix: give each kind a section of its own"), "{found}");
}

/// What is projected lies within its bounds for every z, and z has the bounds that belong to them.
#[test]
fn projected_bounds() {
    let problem = problem("[[variables]]\nname = \"chain[1].mass\"\nlower = 1.5\nupper = 4\nscale = 0.5");
    let v = problem.variables();
    assert_eq!(v.range(0), (1.5, 4.0));
    let bounds = v.bounds();
    assert_eq!((bounds.lower(), bounds.upper()), (&[-1.0][..], &[4.0][..]));
    for (z, x) in [(-100.0, 1.5), (-1.0, 1.5), (0.0, 2.0), (1.0, 2.5), (4.0, 4.0), (100.0, 4.0)] {
        assert_eq!(v.values(&[z]), [x]);
    }
}

/// A mass stays above zero, and drag does not fall below, without anyone asking for it.
#[test]
fn physics_has_bounds_of_its_own() {
    let of = |name: &str| problem(&format!("[[variables]]\nname = \"{name}\"")).variables().range(0);
    assert_eq!(of("chain[1].mass"), (2e-6, f64::INFINITY));
    assert_eq!(of("chain[1].drag"), (0.0, f64::INFINITY));
    assert_eq!(of("initial.chain[1].velocity"), (f64::NEG_INFINITY, f64::INFINITY));
    let wide = problem("[[variables]]\nname = \"chain[1].drag\"\nlower = -1");
    assert_eq!(wide.variables().range(0), (0.0, f64::INFINITY));
}

/// What is transformed lies strictly within its bounds for every z, starts where it should, and has the slope of its
/// differences.
#[test]
fn transformed_bounds() {
    for bounds in ["lower = 1.5\nupper = 4", "lower = 1.5", "upper = 4"] {
        let text = format!("[[variables]]\nname = \"chain[1].mass\"\nbounds = \"transform\"\n{bounds}");
        let problem = problem(&text);
        let v = problem.variables();
        let start = v.start();
        assert!((v.values(&start)[0] - 2.0).abs() < 1e-12, "{bounds}");
        assert!(v.bounds().are_none(), "{bounds}");
        let (lower, upper) = v.range(0);
        let mut last = f64::NEG_INFINITY;
        for k in -40..=40 {
            let z = start[0] + 0.1 * f64::from(k);
            let x = v.values(&[z])[0];
            assert!(x > lower && x < upper && x > last, "{bounds}: {x} at {z}");
            last = x;
            let h = 1e-5;
            let difference = (v.values(&[z + h])[0] - v.values(&[z - h])[0]) / (2.0 * h);
            let slope = v.slopes(&[z])[0];
            assert!((difference / slope - 1.0).abs() < 1e-6, "{bounds}: {slope} and {difference} at {z}");
        }
    }
}

/// A variable on its bound has a derivative, and one-sided differences that agree with it.
#[test]
fn audits_at_a_bound() {
    use pullback_solve::check::{Agreement, check};
    for bounds in ["lower = 2", "upper = 2", "lower = 2\nupper = 2.0001"] {
        let mut problem = longer(100, &format!("[[variables]]\nname = \"chain[1].mass\"\n{bounds}"));
        let z = problem.variables().start();
        let health = check(&mut problem, &z).expect("it can be checked");
        assert_eq!(health.audit.len(), 1, "{bounds}");
        assert!(health.audit[0].agreement() == Agreement::Right, "{bounds}: {:?}", health.audit[0]);
        assert!(health.audit[0].derivative != 0.0);
    }
    // Without room there is nothing to compare.
    let mut problem = problem("[[variables]]\nname = \"chain[1].mass\"\nlower = 2\nupper = 2");
    let z = problem.variables().start();
    assert!(check(&mut problem, &z).expect("it can be checked").audit.is_empty());
}

/// A derivative that is lost in the rounding of the loss is neither right nor wrong.
#[test]
fn audits_of_what_hardly_matters() {
    use pullback_solve::check::{Agreement, check};
    let mut problem = problem("[[variables]]\nname = \"chain[1].mass\"");
    let z = problem.variables().start();
    let audit = check(&mut problem, &z).expect("it can be checked").audit.remove(0);
    assert!(audit.derivative != 0.0 && audit.derivative.abs() < 1e-8, "{audit:?}");
    assert!(audit.agreement() != Agreement::Wrong, "{audit:?}");
}
