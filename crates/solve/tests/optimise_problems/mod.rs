//! Problems with known solutions, shared by the tests of the optimisers.
#![allow(dead_code)] // No test uses all of them.

use pullback_solve::optimise::{Bounds, Failure, Method, Objective, Reason, Run, Stopping};

/// A sum of squares from a function that writes residuals and, row by row, their Jacobian.
pub struct Squares<F> {
    pub dimension: usize,
    pub function: F,
}

impl<F: Fn(&[f64], &mut Vec<f64>, &mut Vec<f64>)> Objective for Squares<F> {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn value(&mut self, z: &[f64]) -> Result<f64, Failure> {
        let (mut r, mut j) = (Vec::new(), Vec::new());
        (self.function)(z, &mut r, &mut j);
        Ok(r.iter().map(|r| r * r).sum())
    }

    fn gradient(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        let (mut r, mut j) = (Vec::new(), Vec::new());
        (self.function)(z, &mut r, &mut j);
        gradient.fill(0.0);
        for (row, r) in r.iter().enumerate() {
            for (column, g) in gradient.iter_mut().enumerate() {
                *g += 2.0 * r * j[row * self.dimension + column];
            }
        }
        Ok(r.iter().map(|r| r * r).sum())
    }

    fn residuals(&mut self, z: &[f64], residuals: &mut Vec<f64>) -> Result<(), Failure> {
        (self.function)(z, residuals, &mut Vec::new());
        Ok(())
    }

    fn jacobian(
        &mut self,
        z: &[f64],
        residuals: &mut Vec<f64>,
        jacobian: &mut Vec<f64>,
    ) -> Result<(), Failure> {
        (self.function)(z, residuals, jacobian);
        Ok(())
    }
}

/// Σ 100 (z_{i+1} − z_i²)² + (1 − z_i)²: least, 0, at z = 1.
pub fn rosenbrock(dimension: usize) -> impl Objective {
    let function = move |z: &[f64], r: &mut Vec<f64>, j: &mut Vec<f64>| {
        for i in 0..dimension - 1 {
            r.extend([10.0 * (z[i + 1] - z[i] * z[i]), 1.0 - z[i]]);
            let mut rows = vec![0.0; 2 * dimension];
            rows[i] = -20.0 * z[i];
            rows[i + 1] = 10.0;
            rows[dimension + i] = -1.0;
            j.extend(rows);
        }
    };
    Squares { dimension, function }
}

/// The usual start of Rosenbrock's function: −1.2, 1, −1.2, 1, ...
pub fn rosenbrock_start(dimension: usize) -> Vec<f64> {
    (0..dimension).map(|i| if i % 2 == 0 { -1.2 } else { 1.0 }).collect()
}

/// Σ c_i (z_i − 1)², with c from 1 to `condition` in equal ratios.
pub fn quadratic(dimension: usize, condition: f64) -> impl Objective {
    let function = move |z: &[f64], r: &mut Vec<f64>, j: &mut Vec<f64>| {
        for i in 0..dimension {
            let root = condition.powf(0.5 * i as f64 / (dimension - 1) as f64);
            r.push(root * (z[i] - 1.0));
            let mut row = vec![0.0; dimension];
            row[i] = root;
            j.extend(row);
        }
    };
    Squares { dimension, function }
}

/// Beale (1958): least, 0, at (3, ½).
pub fn beale() -> impl Objective {
    let function = |z: &[f64], r: &mut Vec<f64>, j: &mut Vec<f64>| {
        for (power, constant) in [(1, 1.5), (2, 2.25), (3, 2.625)] {
            r.push(constant - z[0] * (1.0 - z[1].powi(power)));
            j.extend([z[1].powi(power) - 1.0, z[0] * power as f64 * z[1].powi(power - 1)]);
        }
    };
    Squares { dimension: 2, function }
}

/// Powell's singular function (1962): least, 0, at 0, where its Jacobian has rank 2.
pub fn powell_singular() -> impl Objective {
    let function = |z: &[f64], r: &mut Vec<f64>, j: &mut Vec<f64>| {
        let (root5, root10) = (5f64.sqrt(), 10f64.sqrt());
        let (b, c) = (z[1] - 2.0 * z[2], z[0] - z[3]);
        r.extend([z[0] + 10.0 * z[1], root5 * (z[2] - z[3]), b * b, root10 * c * c]);
        j.extend([1.0, 10.0, 0.0, 0.0]);
        j.extend([0.0, 0.0, root5, -root5]);
        j.extend([0.0, 2.0 * b, -4.0 * b, 0.0]);
        j.extend([2.0 * root10 * c, 0.0, 0.0, -2.0 * root10 * c]);
    };
    Squares { dimension: 4, function }
}

/// A string under load over an obstacle: ½ h Σ ((z_{i+1} − z_i)/h)² + h Σ 8 z_i between fixed ends at 0, for n inner
/// points with h = 1/(n + 1). The obstacle is a lower bound.
pub struct Obstacle {
    pub dimension: usize,
}

impl Objective for Obstacle {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn value(&mut self, z: &[f64]) -> Result<f64, Failure> {
        self.gradient(z, &mut vec![0.0; z.len()])
    }

    fn gradient(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        let n = self.dimension;
        let h = 1.0 / (n + 1) as f64;
        let at = |i: usize| if i == 0 || i == n + 1 { 0.0 } else { z[i - 1] };
        let mut value = 0.0;
        gradient.fill(8.0 * h);
        for i in 0..=n {
            let slope = (at(i + 1) - at(i)) / h;
            value += 0.5 * h * slope * slope;
            if i < n {
                gradient[i] += slope;
                value += 8.0 * h * z[i];
            }
            if i > 0 {
                gradient[i - 1] -= slope;
            }
        }
        Ok(value)
    }
}

impl Obstacle {
    /// A floor at −0.3, below which the free string, z = −4 x (1 − x), would sag.
    pub fn bounds(&self) -> Bounds {
        Bounds::new(vec![-0.3; self.dimension], vec![f64::INFINITY; self.dimension]).expect("in order")
    }
}

/// 10 n + Σ z² − 10 cos(2πz): least, 0, at 0, among about 10ⁿ local minima.
pub struct Rastrigin {
    pub dimension: usize,
}

impl Objective for Rastrigin {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn value(&mut self, z: &[f64]) -> Result<f64, Failure> {
        Ok(z.iter().map(|z| 10.0 + z * z - 10.0 * (std::f64::consts::TAU * z).cos()).sum())
    }

    fn gradient(&mut self, _z: &[f64], _gradient: &mut [f64]) -> Result<f64, Failure> {
        Err(Failure::fatal("no gradient is given"))
    }
}

/// Only a value.
pub struct Value<F> {
    pub dimension: usize,
    pub function: F,
}

impl<F: FnMut(&[f64]) -> f64> Objective for Value<F> {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn value(&mut self, z: &[f64]) -> Result<f64, Failure> {
        Ok((self.function)(z))
    }

    fn gradient(&mut self, _z: &[f64], _gradient: &mut [f64]) -> Result<f64, Failure> {
        Err(Failure::fatal("no gradient is given"))
    }
}

/// A value and its gradient.
pub struct Smooth<F> {
    pub dimension: usize,
    pub function: F,
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Objective for Smooth<F> {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn value(&mut self, z: &[f64]) -> Result<f64, Failure> {
        Ok((self.function)(z, &mut vec![0.0; z.len()]))
    }

    fn gradient(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        Ok((self.function)(z, gradient))
    }
}

/// Each method with settings that suit Rosenbrock's function.
pub fn methods() -> Vec<Method> {
    vec![
        Method::GradientDescent { rate: 1e-3, momentum: 0.9 },
        Method::Adam { rate: 0.02, beta1: 0.9, beta2: 0.999 },
        Method::Lbfgs { history: 5 },
        Method::LevenbergMarquardt { damping: 1e-3 },
        Method::CmaEs { sigma: 0.3, population: None, seed: 17 },
    ]
}

/// Stops at this gradient, and for nothing else within so many iterations.
pub fn until(tolerance: f64, iterations: usize) -> Stopping {
    Stopping { tolerance, iterations, step_tolerance: 0.0, ..Stopping::default() }
}

/// Runs to the end from `start`, and prints what it took.
pub fn solve(
    name: &str,
    method: Method,
    start: &[f64],
    bounds: Bounds,
    stopping: Stopping,
    objective: &mut dyn Objective,
) -> (Run, Reason) {
    let mut run = Run::new(method, start, bounds, stopping).expect("the settings are right");
    let reason = run.finish(objective).expect("the objective does not fail").clone();
    let last = run.history().last().expect("the start has a record");
    println!("{name}: {} iterations, {:?}, value {:e}: {reason}", last.iteration, run.counts(), run.best().1);
    (run, reason)
}

/// The largest |z − expected|.
pub fn distance(z: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(z.len(), expected.len());
    z.iter().zip(expected).map(|(z, e)| (z - e).abs()).fold(0.0, f64::max)
}

/// The conditions of Karush, Kuhn and Tucker, written out: inside the bounds; where a variable is free its derivative
/// vanishes; on a bound the derivative points out of it.
pub fn assert_kkt(objective: &mut dyn Objective, bounds: &Bounds, z: &[f64], tolerance: f64) {
    let mut gradient = vec![0.0; z.len()];
    objective.gradient(z, &mut gradient).expect("finite at the solution");
    for i in 0..z.len() {
        let (lower, upper) = (bounds.lower()[i], bounds.upper()[i]);
        assert!(lower <= z[i] && z[i] <= upper, "variable {i} is {} outside {lower}..{upper}", z[i]);
        if z[i] > lower {
            assert!(gradient[i] <= tolerance, "variable {i} could fall: {} {}", z[i], gradient[i]);
        }
        if z[i] < upper {
            assert!(gradient[i] >= -tolerance, "variable {i} could rise: {} {}", z[i], gradient[i]);
        }
    }
}
