//! Problems as a whole: when a saved run is of the same problem, points without a value, fits that data do not determine.

use pullback_scene::{self as scene, LossKind, When};
use pullback_solve::Problem;
use pullback_solve::check::{Growth, Verdict};
use pullback_solve::optimise::{Failure, Method, Objective};

/// A mass that swings freely on a spring, and what was measured of it.
fn fit(extra: &str) -> scene::Problem {
    let text = format!(
        r#"
[simulation]
dt = 0.01
steps = 200
integrator = "rk4"
{extra}

[world]
gravity = [0, 0, 0]

[[particles]]
name = "nail"
position = [0, 0, 0]
mass = 1
fixed = true

[[particles]]
name = "bob"
position = [1.2, 0, 0]
mass = 0.7

[[springs]]
name = "spring"
ends = ["nail", "bob"]
stiffness = 40
rest_length = 1

[[variables]]
name = "bob.mass"

[[variables]]
name = "spring.stiffness"

[[loss]]
kind = "position"
of = "bob"
target = [1, 0, 0]
"#
    );
    let mut problem = scene::Problem::parse(&text, "fit.toml").expect("it is a problem");
    // x = 1 + 0.2 cos(√(k/m) t), with a noise that is no solution.
    let omega = (40.0_f64 / 0.7).sqrt();
    let steps: Vec<usize> = (1..=20).map(|i| 10 * i).collect();
    let measured = |step: &usize| {
        let t = 0.01 * *step as f64;
        vec![t, 1.0 + 0.2 * (omega * t).cos() + 1e-3 * (*step as f64 * 1.7).sin()]
    };
    let data = scene::Table {
        columns: vec!["time".into(), "bob.x".into()],
        rows: steps.iter().map(measured).collect(),
    };
    let tracks = vec![scene::Track {
        of: scene::Tracked::Particle { particle: 1, axis: 0 },
        velocity: false,
        column: 1,
    }];
    problem.losses[0].kind = LossKind::Trajectory { data, file: "bob.csv".into(), tracks };
    problem.losses[0].at = When::Steps(steps);
    problem
}

fn problem(description: scene::Problem) -> Problem {
    Problem::new(description).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_fingerprint_is_of_the_text_and_of_the_data() {
    let first = problem(fit("")).fingerprint();
    assert_eq!(problem(fit("")).fingerprint(), first);
    assert_ne!(problem(fit("substeps = 2")).fingerprint(), first);
    let mut other = fit("");
    if let LossKind::Trajectory { data, .. } = &mut other.losses[0].kind {
        data.rows[7][1] += 1e-12;
    }
    assert_ne!(problem(other).fingerprint(), first);
}

/// Of a free oscillation only k/m shows; with a known mass, k does.
#[test]
fn standard_errors_tell_what_data_determine() {
    let mut both = problem(fit(""));
    let errors = both.standard_errors(&[0.0, 0.0]).expect("it runs").expect("measurements are fitted");
    assert!(errors.iter().all(|error| *error > 1e3), "{errors:?}");

    let mut one = fit("");
    one.variables.remove(0);
    let mut one = problem(one);
    let errors = one.standard_errors(&[0.0]).expect("it runs").expect("measurements are fitted");
    // The spread of estimates over noises of this size, by one Gauss-Newton step each: δ = Jᵀ n / JᵀJ.
    let (residuals, jacobian) = one.jacobian_by(one.way(), &[0.0]).expect("least squares");
    let square: f64 = jacobian.iter().map(|j| j * j).sum();
    let noise = (residuals.iter().map(|r| r * r).sum::<f64>() / (residuals.len() - 1) as f64).sqrt();
    let slope = one.variables().slopes(&[0.0])[0];
    assert!((errors[0] - noise / square.sqrt() * slope).abs() < 1e-9 * errors[0], "{errors:?}");
    assert!(errors[0] < 1.0, "{errors:?}");

    // Nothing is fitted here.
    let mut target = fit("");
    target.losses = vec![scene::LossTerm::position(1, [1.0, 0.0, 0.0])];
    assert_eq!(problem(target).standard_errors(&[0.0, 0.0]).expect("it runs"), None);
}

/// A candidate that leaves the lattice is a point without a value, not the end of a search.
#[test]
fn leaving_the_lattice_is_no_value() {
    let text = r#"
[simulation]
dt = 0.1
steps = 20
integrator = "reversible-verlet"
memory = "reversible"
[[particles]]
name = "ball"
position = [0, 0, 0]
velocity = [1, 0, 0]
mass = 1
[[variables]]
name = "initial.ball.velocity.x"
scale = 1
[[loss]]
kind = "position"
of = "ball"
target = [3, 0, 0]
axes = ["x"]
"#;
    let mut problem = problem(scene::Problem::parse(text, "far.toml").expect("it is a problem"));
    assert!(problem.value(&[0.5]).is_ok());
    for far in [3000.0, 6000.0] {
        assert!(matches!(problem.value(&[far]), Err(Failure::NotFinite { .. })), "{far}");
        assert!(matches!(problem.gradient(&[far], &mut [0.0]), Err(Failure::NotFinite { .. })), "{far}");
    }
    let mut run = problem.begin_with(Method::cma_es(2000.0, 1)).expect("it can be begun");
    for _ in 0..30 {
        run.iterate(&mut problem).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(run.best().1.is_finite());
}

/// Whole derivatives are what Levenberg-Marquardt takes, and what growth is measured of.
#[test]
fn truncation_and_clipping() {
    for key in ["truncate = 10", "clip = 0.5"] {
        let mut cut = problem(fit(key));
        let refused = cut.begin_with(Method::levenberg_marquardt()).expect_err("it would change J");
        assert!(refused.to_string().contains("takes whole derivatives"), "{refused}");
        assert!(cut.begin_with(Method::lbfgs()).is_ok());
        let (whole, z) = (Growth::at(&mut problem(fit("")), &[0.0, 0.0]), [0.0, 0.0]);
        let (whole, cut) = (whole.expect("it runs"), Growth::at(&mut cut, &z).expect("it runs"));
        assert_eq!((whole.rate, whole.verdict), (cut.rate, cut.verdict), "{key}");
        assert_eq!(whole.verdict, Verdict::Steady);
    }
}
