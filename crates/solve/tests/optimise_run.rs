//! What every method must do: repeat itself, count, stop for the right reason, and survive a failing objective.

mod optimise_problems;
use optimise_problems::*;
use pullback_solve::optimise::{Bounds, Error, Failure, Method, Objective, Reason, Run, Stopping};

fn start(method: &Method, stopping: Stopping) -> Run {
    Run::new(*method, &rosenbrock_start(2), Bounds::none(2), stopping).expect("the settings are right")
}

/// The derivatives that the other tests rely on.
#[test]
fn problems_have_the_gradients_they_say() {
    let mut problems: Vec<(Box<dyn Objective>, Vec<f64>)> = vec![
        (Box::new(rosenbrock(3)), vec![0.3, -0.7, 1.1]),
        (Box::new(quadratic(3, 100.0)), vec![0.3, -0.7, 1.1]),
        (Box::new(beale()), vec![0.8, 1.3]),
        (Box::new(powell_singular()), vec![3.0, -1.0, 0.5, 1.0]),
        (Box::new(Obstacle { dimension: 4 }), vec![0.1, -0.2, 0.3, 0.25]),
    ];
    for (problem, z) in &mut problems {
        let mut gradient = vec![0.0; z.len()];
        problem.gradient(z, &mut gradient).expect("finite");
        for i in 0..z.len() {
            let mut at = |shift: f64| {
                let mut moved = z.clone();
                moved[i] += shift;
                problem.value(&moved).expect("finite")
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!(
                (difference - gradient[i]).abs() < 1e-6 * gradient[i].abs().max(1.0),
                "{difference} {gradient:?}"
            );
        }
    }
}

/// The first step of every method that knows the gradient leads downhill, for a small enough rate.
#[test]
fn first_step_descends() {
    let methods = [
        Method::GradientDescent { rate: 1e-4, momentum: 0.9 },
        Method::adam(1e-3),
        Method::lbfgs(),
        Method::levenberg_marquardt(),
    ];
    for method in methods {
        let mut run = start(&method, Stopping::default());
        run.iterate(&mut rosenbrock(2)).expect("finite");
        let history = run.history();
        assert_eq!(history.len(), 2);
        assert!(history[1].value < history[0].value, "{method:?}");
        let mut gradient = [0.0; 2];
        let z = rosenbrock_start(2);
        rosenbrock(2).gradient(&z, &mut gradient).expect("finite");
        let slope: f64 =
            run.best().0.iter().zip(&z).zip(gradient).map(|((new, old), g)| (new - old) * g).sum();
        assert!(slope < 0.0, "{method:?}");
    }
}

#[test]
fn equal_data_give_equal_bits() {
    for method in methods() {
        let runs = [(); 2].map(|()| {
            let mut run = start(&method, until(0.0, 30));
            run.finish(&mut rosenbrock(2)).expect("finite");
            (
                serde_json::to_string(&run).expect("can be written"),
                serde_json::to_string(run.history()).expect("too"),
            )
        });
        assert_eq!(runs[0], runs[1]);
    }
}

#[test]
fn other_seeds_give_other_runs() {
    let end = |seed| {
        let mut run = start(&Method::cma_es(0.3, seed), until(0.0, 5));
        run.finish(&mut rosenbrock(2)).expect("finite");
        run.best().0.to_vec()
    };
    assert_ne!(end(1), end(2));
}

/// What the history says of the best value is what the best point has.
#[test]
fn history_counts_and_best_are_true() {
    struct Counting<O> {
        inner: O,
        asked: [usize; 3],
        least: f64,
    }
    impl<O: Objective> Objective for Counting<O> {
        fn dimension(&self) -> usize {
            self.inner.dimension()
        }
        fn value(&mut self, z: &[f64]) -> Result<f64, Failure> {
            self.asked[0] += 1;
            let value = self.inner.value(z)?;
            self.least = self.least.min(value);
            Ok(value)
        }
        fn gradient(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
            self.asked[1] += 1;
            let value = self.inner.gradient(z, gradient)?;
            self.least = self.least.min(value);
            Ok(value)
        }
        fn residuals(&mut self, z: &[f64], r: &mut Vec<f64>) -> Result<(), Failure> {
            self.asked[0] += 1;
            self.inner.residuals(z, r)?;
            self.least = self.least.min(r.iter().map(|r| r * r).sum());
            Ok(())
        }
        fn jacobian(&mut self, z: &[f64], r: &mut Vec<f64>, j: &mut Vec<f64>) -> Result<(), Failure> {
            self.asked[2] += 1;
            self.inner.jacobian(z, r, j)
        }
    }
    for method in methods() {
        let mut objective = Counting { inner: rosenbrock(2), asked: [0; 3], least: f64::INFINITY };
        let mut run = start(&method, until(0.0, 15));
        while !run.iterate(&mut objective).expect("finite").stopped {
            let (last, counts) = (run.history().last().expect("begun"), run.counts());
            assert_eq!(objective.asked, [counts.values, counts.gradients, counts.jacobians]);
            assert_eq!(last.counts, counts);
            assert_eq!(last.best, run.best().1);
            let least = objective.least.min(run.history()[0].value);
            assert!((last.best - least).abs() <= 1e-14 * least, "{method:?}");
            let at_best = rosenbrock(2).value(run.best().0).expect("finite");
            assert!((at_best - last.best).abs() <= 1e-14 * at_best);
        }
        let iterations: Vec<usize> = run.history().iter().map(|record| record.iteration).collect();
        assert_eq!(iterations, (0..iterations.len()).collect::<Vec<_>>());
    }
}

#[test]
fn runs_stop_for_the_reason_they_give() {
    for method in methods() {
        let mut run = start(&method, until(0.0, 3));
        assert_eq!(*run.finish(&mut rosenbrock(2)).expect("finite"), Reason::Iterations { limit: 3 });
        assert_eq!(run.history().len(), 4);
        // Nothing happens after the end, until the rules change.
        let before = serde_json::to_string(&run).expect("can be written");
        assert!(run.iterate(&mut rosenbrock(2)).expect("no iteration").stopped);
        assert_eq!(serde_json::to_string(&run).expect("can be written"), before);
        run.set_stopping(until(0.0, 5)).expect("right");
        run.finish(&mut rosenbrock(2)).expect("finite");
        assert_eq!(run.history().len(), 6);

        let mut run = start(&method, Stopping { target: Some(4.0), ..until(0.0, 10_000) });
        assert!(
            matches!(run.finish(&mut rosenbrock(2)).expect("finite"), Reason::Target { .. }),
            "{method:?}"
        );
        let history = run.history();
        assert!(run.best().1 <= 4.0 && history[history.len() - 2].best > 4.0);
    }
}

#[test]
fn patience_ends_a_run_that_does_not_improve() {
    let mut flat = Smooth {
        dimension: 2,
        function: |_: &[f64], g: &mut [f64]| {
            g.fill(1.0);
            5.0
        },
    };
    for method in [Method::gradient_descent(0.1), Method::adam(0.1), Method::cma_es(1.0, 1)] {
        let mut run = start(&method, Stopping { patience: Some(7), ..until(0.0, 1000) });
        let reason = run.finish(&mut flat).expect("finite").clone();
        assert!(matches!(reason, Reason::Stagnated { .. }), "{reason}");
        assert_eq!(run.history().len(), 8);
    }
}

/// Where the gradient is exactly zero on the way, and the value is not, it has not converged: what was to be hit may be missed.
#[test]
fn a_plateau_is_no_minimum() {
    let mut cliff = Smooth {
        dimension: 2,
        function: |z: &[f64], g: &mut [f64]| {
            let inside = z[0] < 1.0;
            g.copy_from_slice(&[if inside { -1.0 } else { 0.0 }, 0.0]);
            if inside { 3.0 - z[0] } else { 1.28 }
        },
    };
    for method in [Method::gradient_descent(0.3), Method::adam(0.3)] {
        let mut run = Run::new(method, &[0.0, 0.0], Bounds::none(2), Stopping::default()).expect("settings");
        let reason = run.finish(&mut cliff).expect("finite").clone();
        assert_eq!(reason, Reason::Plateau { value: 1.28 });
        let said = reason.to_string();
        assert!(said.starts_with("The gradient is exactly zero") && !said.contains("Converged"), "{said}");
    }
    // A corner of the bounds, where the gradient is held back and is not zero, is a minimum.
    let mut slope = Smooth {
        dimension: 2,
        function: |z: &[f64], g: &mut [f64]| {
            g.copy_from_slice(&[-1.0, -1.0]);
            3.0 - z[0] - z[1]
        },
    };
    let bounds = Bounds::new(vec![0.0; 2], vec![1.0; 2]).expect("in order");
    let mut run =
        Run::new(Method::gradient_descent(0.3), &[0.2, 0.2], bounds, Stopping::default()).expect("settings");
    assert!(matches!(run.finish(&mut slope).expect("finite"), Reason::Converged { norm: 0.0 }));
}

#[test]
fn start_at_the_minimum_takes_no_step() {
    for method in &methods()[..4] {
        let mut run = Run::new(*method, &[1.0, 1.0], Bounds::none(2), Stopping::default()).expect("settings");
        assert!(matches!(run.finish(&mut rosenbrock(2)).expect("finite"), Reason::Converged { .. }));
        assert_eq!(run.history().len(), 1);
    }
}

#[test]
fn starts_are_checked() {
    for method in methods() {
        for bad in [f64::NAN, f64::INFINITY] {
            let error = Run::new(method, &[0.0, bad], Bounds::none(2), Stopping::default());
            assert!(matches!(error, Err(Error::Start { index: 1, .. })));
        }
        let bounds = Bounds::new(vec![0.0, 0.0], vec![1.0, 1.0]).expect("in order");
        let run = Run::new(method, &[0.5, 3.0], bounds, Stopping::default()).expect("moved");
        assert_eq!(run.best(), (&[0.5, 1.0][..], f64::INFINITY));
        assert!(run.note().expect("a note").contains("outside the bounds"));
        assert!(start(&method, Stopping::default()).note().is_none());
    }
}

#[test]
fn settings_are_checked() {
    let bad = [
        Method::GradientDescent { rate: 0.0, momentum: 0.0 },
        Method::GradientDescent { rate: 0.1, momentum: 1.0 },
        Method::Adam { rate: f64::NAN, beta1: 0.9, beta2: 0.999 },
        Method::Adam { rate: 0.1, beta1: 0.9, beta2: 1.0 },
        Method::Lbfgs { history: 0 },
        Method::LevenbergMarquardt { damping: -1.0 },
        Method::CmaEs { sigma: 0.0, population: None, seed: 0 },
        Method::CmaEs { sigma: 1.0, population: Some(3), seed: 0 },
    ];
    for method in bad {
        assert!(matches!(
            Run::new(method, &[0.0], Bounds::none(1), Stopping::default()),
            Err(Error::Setting { .. })
        ));
    }
    let stopping = Stopping { tolerance: f64::NAN, ..Stopping::default() };
    assert!(Run::new(Method::lbfgs(), &[0.0], Bounds::none(1), stopping).is_err());
    assert!(Run::new(Method::lbfgs(), &[], Bounds::none(0), Stopping::default()).is_err());
    assert!(Run::new(Method::lbfgs(), &[0.0], Bounds::none(2), Stopping::default()).is_err());
    let mut run = start(&Method::lbfgs(), Stopping::default());
    assert!(matches!(run.iterate(&mut rosenbrock(3)), Err(Error::Dimension { found: 3, expected: 2, .. })));
}

#[test]
fn objective_that_is_not_finite_at_the_start_is_reported() {
    let function = |_: &[f64], r: &mut Vec<f64>, j: &mut Vec<f64>| {
        r.push(1.0);
        j.extend([0.0, f64::NAN]);
    };
    for method in &methods()[..4] {
        let mut run = start(method, Stopping::default());
        let reason =
            run.finish(&mut Squares { dimension: 2, function }).expect("an end, not an error").clone();
        assert!(matches!(reason, Reason::NotFinite { .. }));
        assert!(reason.to_string().contains("variable 1, at the start"), "{reason}");
        assert_eq!(run.best().1, f64::INFINITY);
    }
}

/// Fails once, at the n-th question.
struct Failing<O> {
    inner: O,
    left: usize,
}

impl<O: Objective> Failing<O> {
    fn ask(&mut self) -> Result<(), Failure> {
        self.left = self.left.wrapping_sub(1);
        if self.left == 0 { Err(Failure::fatal("the device is gone")) } else { Ok(()) }
    }
}

impl<O: Objective> Objective for Failing<O> {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }
    fn value(&mut self, z: &[f64]) -> Result<f64, Failure> {
        self.ask()?;
        self.inner.value(z)
    }
    fn gradient(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        self.ask()?;
        self.inner.gradient(z, gradient)
    }
    fn residuals(&mut self, z: &[f64], residuals: &mut Vec<f64>) -> Result<(), Failure> {
        self.ask()?;
        self.inner.residuals(z, residuals)
    }
    fn jacobian(&mut self, z: &[f64], r: &mut Vec<f64>, j: &mut Vec<f64>) -> Result<(), Failure> {
        self.ask()?;
        self.inner.jacobian(z, r, j)
    }
}

/// A fatal failure reaches the caller, and leaves the run as it was: trying again gives the run that never failed.
#[test]
fn fatal_failures_can_be_tried_again() {
    for method in methods() {
        let mut straight = start(&method, until(0.0, 8));
        straight.finish(&mut rosenbrock(2)).expect("finite");
        // The start and eight iterations ask nine times at least.
        for left in 1..=9 {
            let mut failing = Failing { inner: rosenbrock(2), left };
            let mut run = start(&method, until(0.0, 8));
            let mut failures = 0;
            loop {
                match run.iterate(&mut failing) {
                    Ok(progress) if progress.stopped => break,
                    Ok(_) => {}
                    Err(error) => {
                        assert!(error.to_string().contains("the device is gone"), "{error}");
                        failures += 1;
                    }
                }
            }
            assert_eq!(failures, 1, "{method:?} {left}");
            assert_eq!(
                serde_json::to_string(&run).expect("can be written"),
                serde_json::to_string(&straight).expect("can be written")
            );
            assert_eq!(run.history(), straight.history());
        }
    }
}
