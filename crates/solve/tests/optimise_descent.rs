//! Gradient descent and Adam: rates of convergence, bounds, and what they say when they diverge.

mod optimise_problems;
use optimise_problems::*;
use pullback_solve::optimise::{Bounds, Method, Reason};

/// Without momentum each error of the quadratic shrinks by 1 − 2 rate c: for c from 1 to 100 and rate 1/101, the best
/// one, by at most 99/101 a step, so a gradient of 2c needs ln(200/1e-6)/ln(101/99), about 956 steps.
#[test]
fn plain_descent_converges_at_its_known_rate() {
    let method = Method::GradientDescent { rate: 1.0 / 101.0, momentum: 0.0 };
    let (run, reason) =
        solve("plain", method, &[0.0; 5], Bounds::none(5), until(1e-6, 2000), &mut quadratic(5, 100.0));
    assert!(matches!(reason, Reason::Converged { .. }));
    let iterations = run.history().len() - 1;
    let expected = (200f64 / 1e-6).ln() / (101f64 / 99.0).ln();
    assert!((iterations as f64 - expected).abs() < 2.0, "{iterations} {expected}");
    assert!(run.history().windows(2).all(|pair| pair[1].value < pair[0].value));
    assert_eq!(run.counts().gradients, iterations + 1);
}

/// Heavy ball with the best settings for curvatures 2 to 200: momentum ((√100 − 1)/(√100 + 1))² shrinks errors by 9/11
/// a step, up to a factor that grows with the number of steps.
#[test]
fn momentum_takes_the_root_of_the_steps() {
    let method = Method::GradientDescent {
        rate: 4.0 / (200f64.sqrt() + 2f64.sqrt()).powi(2),
        momentum: (9f64 / 11.0).powi(2),
    };
    let (run, reason) =
        solve("momentum", method, &[0.0; 5], Bounds::none(5), until(1e-6, 2000), &mut quadratic(5, 100.0));
    assert!(matches!(reason, Reason::Converged { .. }));
    let iterations = (run.history().len() - 1) as f64;
    let rate = (200f64 / 1e-6).ln() / (11f64 / 9.0).ln();
    assert!(iterations >= 0.9 * rate && iterations <= 1.5 * rate, "{iterations} {rate}");
}

/// The first step of Adam has the length of its rate in every variable, whatever the gradient.
#[test]
fn first_step_of_adam_is_its_rate() {
    let (run, _) =
        solve("first", Method::adam(0.25), &[0.0; 3], Bounds::none(3), until(0.0, 1), &mut quadratic(3, 1e4));
    assert!(distance(run.best().0, &[0.25; 3]) < 1e-8);
    assert!((run.history()[1].step - 0.25 * 3f64.sqrt()).abs() < 1e-8);
}

/// Numbers of the published algorithm for the gradients 2 (z − 1) from 0 with rate 0.1, worked out by hand: the second
/// gradient is −1.8; m̂ = (0.09·2 + 0.1·1.8)/0.19 and v̂ = (0.000999·4 + 0.001·3.24)/0.001999, up to signs.
#[test]
fn second_step_of_adam_is_that_of_the_paper() {
    let (run, _) =
        solve("second", Method::adam(0.1), &[0.0], Bounds::none(1), until(0.0, 2), &mut quadratic_of_one());
    let mean = (0.09 * 2.0 + 0.1 * 1.8) / 0.19;
    let mean_square: f64 = (0.000999 * 4.0 + 0.001 * 3.24) / 0.001999;
    let expected = 0.1 + 0.1 * mean / mean_square.sqrt();
    assert!((run.best().0[0] - expected).abs() < 1e-8, "{:?} {expected}", run.best());
}

fn quadratic_of_one() -> impl pullback_solve::optimise::Objective {
    let function = |z: &[f64], g: &mut [f64]| {
        g[0] = 2.0 * (z[0] - 1.0);
        (z[0] - 1.0).powi(2)
    };
    Smooth { dimension: 1, function }
}

#[test]
fn adam_solves_rosenbrock() {
    let (run, reason) = solve(
        "Adam",
        Method::adam(0.02),
        &rosenbrock_start(2),
        Bounds::none(2),
        until(1e-5, 6000),
        &mut rosenbrock(2),
    );
    assert!(matches!(reason, Reason::Converged { .. }), "{reason}");
    assert!(distance(run.best().0, &[1.0; 2]) < 1e-4);
}

#[test]
fn descent_solves_rosenbrock() {
    let method = Method::GradientDescent { rate: 1e-3, momentum: 0.9 };
    let (run, reason) = solve(
        "descent",
        method,
        &rosenbrock_start(2),
        Bounds::none(2),
        until(1e-5, 6000),
        &mut rosenbrock(2),
    );
    assert!(matches!(reason, Reason::Converged { .. }), "{reason}");
    assert!(distance(run.best().0, &[1.0; 2]) < 1e-4);
}

#[test]
fn both_stop_on_bounds() {
    let methods = [Method::GradientDescent { rate: 0.01, momentum: 0.5 }, Method::adam(0.01)];
    for method in methods {
        let mut obstacle = Obstacle { dimension: 9 };
        let bounds = obstacle.bounds();
        let (run, reason) =
            solve("bounds", method, &[0.5; 9], bounds.clone(), until(1e-5, 20_000), &mut obstacle);
        assert!(matches!(reason, Reason::Converged { .. }), "{reason}");
        assert_kkt(&mut obstacle, &bounds, run.best().0, 1.1e-5);
        assert!(run.best().0.iter().filter(|&&z| z == -0.3).count() >= 3);
    }
}

#[test]
fn divergence_is_reported_and_never_the_best() {
    let method = Method::GradientDescent { rate: 10.0, momentum: 0.9 };
    let (run, reason) =
        solve("diverging", method, &[0.5, 0.5], Bounds::none(2), until(1e-6, 10_000), &mut rosenbrock(2));
    assert!(matches!(reason, Reason::NotFinite { .. }));
    assert!(reason.to_string().contains("rate"), "{reason}");
    assert_eq!(run.best().0, [0.5, 0.5]);
    assert!(run.best().1.is_finite());
}
