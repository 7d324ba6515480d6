//! L-BFGS: known minima, bounds, and how many gradients they take.
//!
//! Counts of SciPy 1.17.1 are those of `minimize(method="L-BFGS-B", jac=..., options={"maxcor": 10, "ftol": 0,
//! "gtol": 1e-6})` on the same function from the same start, taken once by hand.

mod optimise_problems;
use optimise_problems::*;
use pullback_solve::optimise::{Bounds, Method, Objective, Reason};

/// Minimises to a gradient of 1e-6; returns z after checking that it took at most so many gradients.
fn minimise(
    name: &str,
    objective: &mut dyn Objective,
    start: &[f64],
    bounds: Bounds,
    most: usize,
) -> Vec<f64> {
    let (run, reason) = solve(name, Method::lbfgs(), start, bounds.clone(), until(1e-6, 10_000), objective);
    assert!(matches!(reason, Reason::Converged { .. }), "{name}: {reason}");
    assert!(run.counts().gradients <= most, "{name}: {:?}", run.counts());
    assert_eq!((run.counts().values, run.counts().jacobians), (0, 0));
    let z = run.best().0.to_vec();
    assert_kkt(objective, &bounds, &z, 1e-6);
    z
}

#[test]
fn rosenbrock_takes_as_many_gradients_as_scipy() {
    // SciPy: 45 and 93.
    for (dimension, most) in [(2, 47), (10, 98)] {
        let start = rosenbrock_start(dimension);
        let z = minimise("Rosenbrock", &mut rosenbrock(dimension), &start, Bounds::none(dimension), most);
        assert!(distance(&z, &vec![1.0; dimension]) < 1e-6);
    }
}

#[test]
fn condition_of_a_million_is_overcome() {
    // SciPy: 4931 to 5908, depending on the last digit of the start.
    let z = minimise("quadratic", &mut quadratic(20, 1e6), &[0.0; 20], Bounds::none(20), 6000);
    assert!(distance(&z, &[1.0; 20]) < 1e-6);
}

#[test]
fn string_lies_on_the_floor() {
    let mut obstacle = Obstacle { dimension: 40 };
    let bounds = obstacle.bounds();
    // SciPy: 32.
    let z = minimise("obstacle", &mut obstacle, &[0.0; 40], bounds, 40);
    // A string under the load 8 that leaves the floor at x = a without a kink has the parabola 4 (a − x)² − 0.3 up to
    // its end: a = √(0.3/4), about 0.274. Contact is between a and 1 − a.
    let touching: Vec<usize> = (0..40).filter(|&i| z[i] == -0.3).map(|i| i + 1).collect();
    let a = (0.3f64 / 4.0).sqrt() * 41.0;
    assert!(
        (touching[0] as f64 - a).abs() <= 1.0
            && (touching[touching.len() - 1] as f64 - (41.0 - a)).abs() <= 1.0
    );
    assert_eq!(touching.len(), touching[touching.len() - 1] - touching[0] + 1);
}

#[test]
fn rosenbrock_within_bounds() {
    let lower = vec![-2.0; 10];
    let upper = (0..10).map(|i| if i % 2 == 0 { 0.5 } else { 2.0 }).collect();
    let bounds = Bounds::new(lower, upper).expect("in order");
    // SciPy: 35 gradients, to the value 7.594812948946874.
    let z = minimise("bounded Rosenbrock", &mut rosenbrock(10), &rosenbrock_start(10), bounds, 40);
    let value = rosenbrock(10).value(&z).expect("finite");
    assert!((value - 7.594812948946874).abs() < 1e-10, "{value}");
}

/// Problems 4 and 5 of W. Hock and K. Schittkowski, "Test examples for nonlinear programming codes" (1981).
#[test]
fn hock_schittkowski() {
    let mut fourth = Smooth {
        dimension: 2,
        function: |z: &[f64], g: &mut [f64]| {
            g.copy_from_slice(&[(z[0] + 1.0).powi(2), 1.0]);
            (z[0] + 1.0).powi(3) / 3.0 + z[1]
        },
    };
    let bounds = Bounds::new(vec![1.0, 0.0], vec![f64::INFINITY; 2]).expect("in order");
    assert_eq!(minimise("HS4", &mut fourth, &[1.125, 0.125], bounds, 5), [1.0, 0.0]);

    let mut fifth = Smooth {
        dimension: 2,
        function: |z: &[f64], g: &mut [f64]| {
            let (cos, difference) = ((z[0] + z[1]).cos(), z[0] - z[1]);
            g.copy_from_slice(&[cos + 2.0 * difference - 1.5, cos - 2.0 * difference + 2.5]);
            (z[0] + z[1]).sin() + difference * difference - 1.5 * z[0] + 2.5 * z[1] + 1.0
        },
    };
    let bounds = Bounds::new(vec![-1.5, -3.0], vec![4.0, 3.0]).expect("in order");
    let z = minimise("HS5", &mut fifth, &[0.0, 0.0], bounds, 15);
    let third = std::f64::consts::FRAC_PI_3;
    assert!(distance(&z, &[0.5 - third, -0.5 - third]) < 1e-6);
}

#[test]
fn held_variables_stay() {
    let bounds = Bounds::new(vec![0.3, -9.0], vec![0.3, 9.0]).expect("in order");
    let z = minimise("held", &mut rosenbrock(2), &[0.3, 5.0], bounds, 10);
    assert!(z[0] == 0.3 && (z[1] - 0.09).abs() < 1e-8);
}

/// z − ln z has no value for z ≤ 0, where the first steps from 1e-3 or with a large gradient lead.
#[test]
fn steps_into_nowhere_are_shortened() {
    for start in [1e-3, 30.0] {
        let mut barrier = Smooth {
            dimension: 2,
            function: |z: &[f64], g: &mut [f64]| {
                g.copy_from_slice(&[40.0 - 40.0 / z[0], 2.0 * z[1]]);
                40.0 * (z[0] - z[0].ln()) + z[1] * z[1]
            },
        };
        let z = minimise("barrier", &mut barrier, &[start, 1.0], Bounds::none(2), 60);
        assert!(distance(&z, &[1.0, 0.0]) < 1e-6);
    }
}

/// Where the function curves down, the steps end on bounds, and the pairs that they give are not remembered.
#[test]
fn concave_directions_end_on_bounds() {
    let mut saddle = Smooth {
        dimension: 6,
        function: |z: &[f64], g: &mut [f64]| {
            let curvatures = [-1.0, 3.0, -0.1, 20.0, -5.0, 1.0];
            for i in 0..6 {
                g[i] = curvatures[i] * z[i] + 0.05 * z[(i + 1) % 6] + 0.05 * z[(i + 5) % 6];
            }
            0.5 * z.iter().zip(g).map(|(z, g)| z * *g).sum::<f64>()
        },
    };
    let bounds = Bounds::new(vec![-1.0; 6], vec![2.0; 6]).expect("in order");
    // SciPy: 28, to the value -4.707979166666667.
    let z = minimise("saddle", &mut saddle, &[0.1, 1.0, 0.1, 1.0, -0.1, 1.0], bounds, 34);
    assert!((saddle.value(&z).expect("finite") + 4.707979166666667).abs() < 1e-12);
    assert!([z[0], z[2], z[4]].iter().all(|&z| z == -1.0 || z == 2.0), "{z:?}");
}

#[test]
fn every_iteration_descends() {
    let (run, _) = solve(
        "descent",
        Method::lbfgs(),
        &rosenbrock_start(10),
        Bounds::none(10),
        until(1e-6, 1000),
        &mut rosenbrock(10),
    );
    assert!(run.history().windows(2).all(|pair| pair[1].value < pair[0].value));
}

#[test]
fn wrong_gradient_is_reported() {
    let mut wrong = Smooth {
        dimension: 1,
        function: |z: &[f64], g: &mut [f64]| {
            g[0] = -2.0 * z[0];
            z[0] * z[0]
        },
    };
    let (run, reason) =
        solve("wrong", Method::lbfgs(), &[1.0], Bounds::none(1), until(1e-6, 100), &mut wrong);
    assert!(matches!(reason, Reason::Stagnated { .. }));
    assert!(reason.to_string().contains("gradient"), "{reason}");
    assert_eq!(run.best(), (&[1.0][..], 1.0));
}
