//! How gradients grow on their way back, against what is known of the motion.

use std::path::Path;

use pullback_scene as scene;
use pullback_solve::Problem;
use pullback_solve::check::{Growth, Verdict, check};

fn scene(name: &str, edit: impl Fn(&str) -> String) -> Problem {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    let text = std::fs::read_to_string(&file).expect("it is there");
    let description = scene::Problem::parse(&edit(&text), &file).expect("it is a problem");
    Problem::new(description).expect("it can be run")
}

fn growth(problem: &mut Problem) -> Growth {
    let z = problem.variables().start();
    check(problem, &z).expect("it can be checked").growth
}

/// The states at z, moment after moment.
fn states(problem: &mut Problem, z: &[f64]) -> Vec<Vec<f64>> {
    let mut states = Vec::new();
    problem.watch(z, |moment| states.push(moment.state.to_vec())).expect("it runs");
    states
}

/// The slope of a line through points, by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let xx: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / xx
}

/// The largest Lyapunov exponent from two trajectories that start close to each other (Benettin et al. 1980), without
/// any derivative.
fn lyapunov(problem: &mut Problem) -> f64 {
    let dt = problem.description().scene.simulation.dt;
    let z = problem.variables().start();
    let mut near = z.clone();
    near[0] += 1e-9;
    near[2] -= 1e-9;
    let (one, other) = (states(problem, &z), states(problem, &near));
    let apart = |(a, b): (&Vec<f64>, &Vec<f64>)| {
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt().ln()
    };
    let points: Vec<(f64, f64)> =
        one.iter().zip(&other).map(apart).enumerate().map(|(i, ln)| (i as f64 * dt, ln)).collect();
    slope(&points[points.len() / 5..])
}

#[test]
fn chaos_explodes_at_the_rate_of_its_lyapunov_exponent() {
    let mut problem = scene("chaos.toml", str::to_owned);
    let found = growth(&mut problem);
    let exponent = lyapunov(&mut problem);
    println!("{found}; two trajectories: {exponent:.3} 1/s");
    assert_eq!(found.verdict, Verdict::Exploding);
    assert!((found.rate / exponent - 1.0).abs() < 0.3, "{} and {exponent}", found.rate);
    let text = found.to_string();
    assert!(text.starts_with("EXPLODING gradients: +") && text.contains(" 1/s"), "{text}");
}

/// m z'' = -k z - c z': everything dies out as exp(-c/2m t).
#[test]
fn a_damped_spring_vanishes_at_the_rate_of_its_equation() {
    let exact = -8.0 / (2.0 * 0.5);
    let mut problem = scene("damped.toml", str::to_owned);
    let found = growth(&mut problem);
    println!("{found}; exact: {exact}");
    assert_eq!(found.verdict, Verdict::Vanishing);
    assert!((found.rate / exact - 1.0).abs() < 0.05, "{}", found.rate);
    assert!(found.to_string().starts_with("VANISHING gradients: -"), "{found}");
}

/// Measuring on the way hides how the end depends on the start, in the gradient of the loss, but not here.
#[test]
fn the_rate_does_not_depend_on_where_the_loss_is_measured() {
    let always = |text: &str| text.replace("axes = [\"z\"]", "axes = [\"z\"]\nat = \"always\"");
    let mut problem = scene("damped.toml", always);
    let z = problem.variables().start();
    let health = check(&mut problem, &z).expect("it can be checked");
    assert!((health.growth.rate / -8.0 - 1.0).abs() < 0.05, "{}", health.growth.rate);
    let naive = Growth::of(health.norms, 0.002);
    assert!(naive.verdict == Verdict::Steady, "this is what the loss itself would say: {naive}");

    // Measured before the end: there is less of the way, at the same rate.
    let early = |text: &str| text.replace("axes = [\"z\"]", "axes = [\"z\"]\nat = 700");
    let found = growth(&mut scene("damped.toml", early));
    assert!((found.rate / -8.0 - 1.0).abs() < 0.05, "{}", found.rate);
    assert!((found.total.ln() / (found.rate * 1.4) - 1.0).abs() < 0.01, "{}", found.total);
}

/// At a perfect fit the gradient is zero, and how it would grow is still known.
#[test]
fn a_perfect_fit_is_not_a_loss_that_nothing_reaches() {
    let still = "[simulation]\ndt = 0.01\nsteps = 100\n[world]\ngravity = [0, 0, 0]\n\
                 [[particles]]\nname = \"ball\"\nposition = [1, 2, 3]\nmass = 1\n\
                 [[particles]]\nname = \"other\"\nposition = [0, 0, 0]\nmass = 1\n\
                 [[loss]]\nkind = \"position\"\nof = \"ball\"\ntarget = [1, 2, 3]\n\
                 [[variables]]\nname = \"initial.ball.velocity\"\n";
    let of = |text: &str| {
        let description = scene::Problem::parse(text, "still.toml").expect("it is a problem");
        let mut problem = Problem::new(description).expect("it can be run");
        let z = problem.variables().start();
        check(&mut problem, &z).expect("it can be checked")
    };
    let fit = of(still);
    assert_eq!((fit.value, fit.growth.verdict), (0.0, Verdict::Steady));
    // Nothing that another body does reaches this loss.
    let other = of(&still.replace("initial.ball.velocity", "initial.other.velocity"));
    assert_eq!(other.growth.verdict, Verdict::Zero);
    assert!(other.growth.to_string().contains("nothing that may change reaches the loss"));
}

/// A norm that first jumps, and then grows at a rate: only the rate counts.
#[test]
fn transients_are_left_out() {
    let dt = 0.01;
    let norm = |back: usize| if back < 10 { 1e-8 } else { (3.0 * dt * back as f64).exp() };
    let norms: Vec<f64> = (0..=200).map(|step| norm(200 - step)).collect();
    let found = Growth::of(norms, dt);
    assert!((found.rate - 3.0).abs() < 1e-9 && (found.total.ln() - 6.0).abs() < 1e-9, "{found}");
    assert_eq!(found.verdict, Verdict::Steady);
    assert!((found.per_step.ln() - 0.03).abs() < 1e-9);
    let none = Growth::of(vec![0.0; 10], dt);
    assert_eq!((none.rate, none.total, none.verdict), (0.0, 1.0, Verdict::Steady));
}
