//! Levenberg-Marquardt: fits with known answers, and how many residuals they take.
//!
//! Counts of SciPy 1.17.1 are those of `least_squares(method="lm", jac=..., ftol=1e-15, xtol=1e-15, gtol=1e-12)`,
//! which is MINPACK's `lmder`, on the same function from the same start, taken once by hand.

mod optimise_problems;
use optimise_problems::*;
use pullback_solve::optimise::{Bounds, Failure, Method, Objective, Reason, Run, Stopping};

/// Fits to a gradient of `tolerance`; returns z after checking that it took at most so many residuals and Jacobians.
fn fit(
    name: &str,
    objective: &mut dyn Objective,
    start: &[f64],
    bounds: Bounds,
    tolerance: f64,
    most: (usize, usize),
) -> Vec<f64> {
    let method = Method::levenberg_marquardt();
    let (run, reason) = solve(name, method, start, bounds.clone(), until(tolerance, 1000), objective);
    assert!(matches!(reason, Reason::Converged { .. }), "{name}: {reason}");
    assert!(run.counts().values <= most.0 && run.counts().jacobians <= most.1, "{name}: {:?}", run.counts());
    assert!(run.history().windows(2).all(|pair| pair[1].value < pair[0].value), "{name} descends");
    let z = run.best().0.to_vec();
    assert_kkt(objective, &bounds, &z, tolerance);
    z
}

#[test]
fn rosenbrock_takes_about_as_many_residuals_as_minpack() {
    // MINPACK: 21 residuals and 16 Jacobians, 37 and 28.
    for (dimension, most) in [(2, (25, 20)), (10, (45, 35))] {
        let start = rosenbrock_start(dimension);
        let z = fit("Rosenbrock", &mut rosenbrock(dimension), &start, Bounds::none(dimension), 1e-12, most);
        assert!(distance(&z, &vec![1.0; dimension]) < 1e-12);
    }
}

#[test]
fn beale_from_its_usual_start() {
    // MINPACK: 10 residuals and 8 Jacobians.
    let z = fit("Beale", &mut beale(), &[1.0, 1.0], Bounds::none(2), 1e-10, (12, 12));
    assert!(distance(&z, &[3.0, 0.5]) < 1e-10);
}

/// Convergence is linear where the Jacobian is singular: the residuals fall fourfold, z twofold a step.
#[test]
fn powell_singular_converges_linearly() {
    let z = fit("Powell", &mut powell_singular(), &[3.0, -1.0, 0.0, 1.0], Bounds::none(4), 1e-12, (25, 25));
    assert!(distance(&z, &[0.0; 4]) < 1e-3);
}

#[test]
fn condition_of_a_million_takes_a_few_steps() {
    let z = fit("quadratic", &mut quadratic(20, 1e6), &[0.0; 20], Bounds::none(20), 1e-9, (6, 7));
    assert!(distance(&z, &[1.0; 20]) < 1e-10);
}

/// Misra1a of the reference datasets of the National Institute of Standards and Technology (USA), with its certified
/// values. b₂ is counted in 1e-4, so that both variables have a size of about 1 to 100.
fn misra1a() -> impl Objective {
    let y =
        [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78];
    let x = [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0];
    let function = move |b: &[f64], r: &mut Vec<f64>, j: &mut Vec<f64>| {
        for (x, y) in x.iter().zip(&y) {
            let decay = (-1e-4 * b[1] * x).exp();
            r.push(b[0] * (1.0 - decay) - y);
            j.extend([1.0 - decay, b[0] * 1e-4 * x * decay]);
        }
    };
    Squares { dimension: 2, function }
}

#[test]
fn exponential_fit_has_its_certified_answer() {
    // MINPACK: 20 residuals and 17 Jacobians from the first start.
    for (start, most) in [([500.0, 1.0], (25, 20)), ([250.0, 5.0], (12, 12))] {
        let b = fit("Misra1a", &mut misra1a(), &start, Bounds::none(2), 1e-7, most);
        assert!((b[0] / 2.3894212918e2 - 1.0).abs() < 1e-9, "{b:?}");
        assert!((b[1] / 5.5015643181 - 1.0).abs() < 1e-9, "{b:?}");
        let value = misra1a().value(&b).expect("finite");
        assert!((value / 1.2455138894e-1 - 1.0).abs() < 1e-9, "{value}");
    }
}

#[test]
fn solutions_on_bounds_satisfy_kkt() {
    let bounds = Bounds::new(vec![1.0, 1.0], vec![300.0, 5.0]).expect("in order");
    let b = fit("bounded Misra1a", &mut misra1a(), &[50.0, 2.0], bounds, 1e-6, (30, 30));
    assert_eq!(b[1], 5.0);

    let lower = vec![-2.0; 10];
    let upper = (0..10).map(|i| if i % 2 == 0 { 0.5 } else { 2.0 }).collect();
    let bounds = Bounds::new(lower, upper).expect("in order");
    let z = fit("bounded Rosenbrock", &mut rosenbrock(10), &rosenbrock_start(10), bounds, 1e-8, (30, 30));
    // The value that SciPy's L-BFGS-B finds.
    let value = rosenbrock(10).value(&z).expect("finite");
    assert!((value - 7.594812948946874).abs() < 1e-10, "{value}");
}

/// A sum of squares of linear residuals.
fn linear(rows: [[f64; 2]; 2], constants: [f64; 2]) -> impl Objective {
    let function = move |z: &[f64], r: &mut Vec<f64>, j: &mut Vec<f64>| {
        for (row, constant) in rows.iter().zip(constants) {
            r.push(row[0] * z[0] + row[1] * z[1] + constant);
            j.extend(row);
        }
    };
    Squares { dimension: 2, function }
}

/// At 0 the Gauss-Newton step leads both variables out of their bounds, but the gradient lets the second one in. With
/// z₀ = 0, (1 − z₁/2)² + (z₁ + 0.3)² is least at z₁ = 0.16.
#[test]
fn corner_is_left_where_the_gradient_leads_inside() {
    let mut corner = linear([[1.0, -0.5], [0.0, 1.0]], [1.0, 0.3]);
    let bounds = Bounds::new(vec![0.0; 2], vec![f64::INFINITY; 2]).expect("in order");
    let z = fit("corner", &mut corner, &[0.0, 0.0], bounds, 1e-12, (5, 6));
    assert!(distance(&z, &[0.0, 0.16]) < 1e-12, "{z:?}");
}

/// Without damping to speak of, a linear problem is solved in one step, also when a bound stops a variable on its way.
#[test]
fn step_to_a_bound_takes_the_other_variables_along() {
    let mut slanted = linear([[1.0, -0.5], [0.0, 1.0]], [1.0, 0.3]);
    let bounds = Bounds::new(vec![0.0, -9.0], vec![f64::INFINITY; 2]).expect("in order");
    let method = Method::LevenbergMarquardt { damping: 1e-14 };
    let (run, reason) = solve("slanted", method, &[3.0, 2.0], bounds, until(1e-10, 10), &mut slanted);
    assert!(matches!(reason, Reason::Converged { .. }));
    assert_eq!(run.history().len(), 2);
    assert!(distance(run.best().0, &[0.0, 0.16]) < 1e-10, "{:?}", run.best());
}

/// More variables than residuals: damping picks one of many solutions.
#[test]
fn fewer_residuals_than_variables() {
    let function = |z: &[f64], r: &mut Vec<f64>, j: &mut Vec<f64>| {
        r.push(z[0] * z[1] + z[2] - 2.0);
        j.extend([z[1], z[0], 1.0]);
    };
    let mut product = Squares { dimension: 3, function };
    let z = fit("one residual", &mut product, &[1.0, 0.0, 0.0], Bounds::none(3), 1e-10, (15, 15));
    assert!((z[0] * z[1] + z[2] - 2.0).abs() < 1e-10);
}

#[test]
fn steps_into_nowhere_are_shortened() {
    // ln z = 0 from far away: the first Gauss-Newton step leads to 20 − 20 ln 20 < 0.
    let function = |z: &[f64], r: &mut Vec<f64>, j: &mut Vec<f64>| {
        r.push(z[0].ln());
        j.push(1.0 / z[0]);
    };
    let mut logarithm = Squares { dimension: 1, function };
    let z = fit("logarithm", &mut logarithm, &[20.0], Bounds::none(1), 1e-12, (40, 20));
    assert!((z[0] - 1.0).abs() < 1e-12);
}

#[test]
fn objective_without_residuals_is_refused() {
    let mut run = Run::new(Method::levenberg_marquardt(), &[1.0; 3], Bounds::none(3), Stopping::default())
        .expect("the settings are right");
    let error = run.iterate(&mut Rastrigin { dimension: 3 }).expect_err("no residuals");
    assert!(error.to_string().contains("sum of squares"), "{error}");
    assert!(matches!(error, pullback_solve::optimise::Error::Objective(Failure::NotLeastSquares)));
}
