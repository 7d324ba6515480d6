//! CMA-ES: local minima, noise, bounds, and holes in the objective.

mod optimise_problems;
use optimise_problems::*;
use pullback_solve::optimise::{Bounds, Method, Objective, Reason, Stopping};

fn until_width(width: f64, iterations: usize) -> Stopping {
    Stopping { iterations, step_tolerance: width, ..Stopping::default() }
}

#[test]
fn rosenbrock_is_solved_without_gradients() {
    for seed in 1..=5 {
        let (run, reason) = solve(
            "Rosenbrock",
            Method::cma_es(0.5, seed),
            &[0.0; 8],
            Bounds::none(8),
            until_width(1e-9, 3000),
            &mut rosenbrock(8),
        );
        assert!(matches!(reason, Reason::SmallStep { .. }), "{reason}");
        assert!(distance(run.best().0, &[1.0; 8]) < 1e-6);
        assert!(run.counts().values < 12_000 && run.counts().gradients == 0);
    }
}

/// The covariance learns the scales: after that, a condition of a million costs a few times what a sphere costs.
#[test]
fn condition_of_a_million_is_learnt() {
    let (run, _) = solve(
        "quadratic",
        Method::cma_es(0.5, 3),
        &[0.0; 10],
        Bounds::none(10),
        until_width(1e-10, 3000),
        &mut quadratic(10, 1e6),
    );
    assert!(distance(run.best().0, &[1.0; 10]) < 1e-8);
    assert!(run.counts().values < 10_000);
}

/// On a sphere the distance falls by a constant factor. The equations of the tutorial, written down once more in NumPy,
/// take 2565 evaluations in the mean of 100 seeds, with a standard deviation of 97, so 18 in the mean of 30. (pycma
/// 4.5.0, with newer constants, takes 2314.)
#[test]
fn sphere_takes_as_many_values_as_the_tutorial() {
    let evaluations: Vec<usize> = (1..=30)
        .map(|seed| {
            let stopping = Stopping { target: Some(1e-16), ..until_width(0.0, 1000) };
            let (method, mut sphere) = (Method::cma_es(0.3, seed), quadratic(10, 1.0));
            let (run, reason) = solve("sphere", method, &[0.0; 10], Bounds::none(10), stopping, &mut sphere);
            assert!(matches!(reason, Reason::Target { .. }));
            run.counts().values
        })
        .collect();
    let mean = evaluations.iter().sum::<usize>() / evaluations.len();
    println!("mean {mean}");
    assert!((2495..=2635).contains(&mean), "{evaluations:?}");
}

/// The global minimum among 10⁵ local ones is found the more often the larger the population is. The same program in
/// NumPy finds it with 55 of 100 seeds for 100 candidates, and with 89 for 200.
#[test]
fn rastrigin_is_solved_with_most_seeds() {
    let solved = |population: usize| {
        let solved = (0..40).filter(|&seed| {
            let method = Method::CmaEs { sigma: 2.0, population: Some(population), seed };
            let mut rastrigin = Rastrigin { dimension: 5 };
            let stopping = until_width(1e-8, 500);
            let (run, _) = solve("Rastrigin", method, &[3.0; 5], Bounds::none(5), stopping, &mut rastrigin);
            run.best().1 < 1e-10
        });
        solved.count()
    };
    let (few, many) = (solved(100), solved(200));
    println!("{few} and {many} of 40");
    assert!(few >= 16 && many >= 30, "{few} and {many} of 40");
}

#[test]
fn noise_of_a_tenth_leaves_a_distance_of_a_fifth() {
    // Deterministic noise: the fractional part of a large multiple of the value, between −0.05 and 0.05.
    let function = |z: &[f64]| {
        let square: f64 = z.iter().map(|z| (z - 1.0).powi(2)).sum();
        square + 0.1 * ((square * 1e6 + z[0] * 7e5).fract().abs() - 0.5)
    };
    let stopping = Stopping { patience: Some(60), ..until_width(1e-9, 400) };
    let mut noisy = Value { dimension: 5, function };
    let (run, _) = solve("noise", Method::cma_es(0.5, 4), &[4.0; 5], Bounds::none(5), stopping, &mut noisy);
    assert!(distance(run.best().0, &[1.0; 5]) < 0.2, "{:?}", run.best());
}

#[test]
fn solutions_on_bounds_are_found() {
    let mut obstacle = Obstacle { dimension: 9 };
    let bounds = obstacle.bounds();
    let (run, reason) = solve(
        "obstacle",
        Method::cma_es(0.3, 5),
        &[0.5; 9],
        bounds.clone(),
        until_width(1e-10, 5000),
        &mut obstacle,
    );
    assert!(!matches!(reason, Reason::Iterations { .. }), "{reason}");
    assert!(bounds.contain(run.best().0));
    let expected = solve("exact", Method::lbfgs(), &[0.5; 9], bounds, until(1e-10, 500), &mut obstacle).0;
    assert!(distance(run.best().0, expected.best().0) < 1e-6, "{:?} {:?}", run.best(), expected.best());
    assert_eq!(run.best().0[4], -0.3);
}

/// No candidate outside the bounds is ever evaluated.
#[test]
fn objective_is_only_asked_inside() {
    let bounds = Bounds::new(vec![0.0, -1.0], vec![0.5, 1.0]).expect("in order");
    let inside = bounds.clone();
    let function = move |z: &[f64]| {
        assert!(inside.contain(z), "{z:?}");
        z[0] * z[0] + (z[1] - 3.0).powi(2)
    };
    let mut objective = Value { dimension: 2, function };
    let (run, _) =
        solve("inside", Method::cma_es(1.0, 6), &[0.2, 0.0], bounds, until_width(1e-9, 500), &mut objective);
    assert!(distance(run.best().0, &[0.0, 1.0]) < 1e-7, "{:?}", run.best());
}

/// Half of space has no value; the minimum lies near its edge.
#[test]
fn holes_are_avoided() {
    let function = |z: &[f64]| if z[0] + z[1] < 0.0 { f64::NAN } else { (z[0] - 0.1).powi(2) + z[1].powi(2) };
    let mut holes = Value { dimension: 2, function };
    let (run, _) = solve(
        "holes",
        Method::cma_es(1.0, 8),
        &[1.0, 1.0],
        Bounds::none(2),
        until_width(1e-9, 500),
        &mut holes,
    );
    assert!(distance(run.best().0, &[0.1, 0.0]) < 1e-6);
    assert!(holes.value(run.best().0).expect("a value").is_finite());
}

#[test]
fn objective_without_any_value_is_reported() {
    let mut nothing = Value { dimension: 2, function: |_: &[f64]| f64::NAN };
    let (run, reason) = solve(
        "nothing",
        Method::cma_es(1.0, 8),
        &[1.0, 1.0],
        Bounds::none(2),
        until_width(0.0, 500),
        &mut nothing,
    );
    assert!(matches!(reason, Reason::NotFinite { .. }), "{reason}");
    assert_eq!(run.best(), (&[1.0, 1.0][..], f64::INFINITY));
}
