//! Are the derivatives right? Checks of a function's pullback and pushforward against its own forward pass.
//!
//! Four questions, in `f64`:
//! 1. does the pullback agree with central differences of the forward pass, entry by entry?
//! 2. is ⟨v, J u⟩ = ⟨Jᵀ v, u⟩, with the pushforward on the left and the pullback on the right?
//! 3. does the derivative of the pullback (a Hessian-vector product) agree with differences of the pullback?
//! 4. could the check have failed? A gradient that is zero everywhere, or bit-equal to the differences, proves nothing.
//!
//! ```
//! use pullback_kernel::{gradcheck, prelude::*};
//!
//! #[kernel]
//! fn area<R: Real>(a: R, b: R) -> R { 0.5 * a * b }
//!
//! gradcheck::kernel::<area>(&(3.0, 4.0)).unwrap();
//! ```
//!
//! A program is checked by [`program`], at the values that a workspace holds, and anything else as a [`Function`].

// `!(error <= tolerance)` is true of NaN, which is the point.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

mod kernel;
mod program;

use std::fmt;

pub use kernel::{kernel, kernel_with};
pub use program::{ProgramAt, program};

use crate::{Argument, With};

/// A function of numbers with derivatives to check.
pub trait Function {
    /// What to call it in a report.
    fn name(&self) -> String;
    /// What to call its input `i`.
    fn input_name(&self, i: usize) -> String {
        format!("input[{i}]")
    }
    /// What to call its output `k`.
    fn output_name(&self, k: usize) -> String {
        format!("output[{k}]")
    }
    /// y = f(x)
    fn forward(&self, x: &[f64]) -> Vec<f64>;
    /// Jᵀ y_bar
    fn pullback(&self, x: &[f64], y_bar: &[f64]) -> Vec<f64>;
    /// J x_dot
    fn pushforward(&self, x: &[f64], x_dot: &[f64]) -> Vec<f64>;
    /// The derivative of `pullback(x, y_bar)` along (x_dot, 0): a Hessian-vector product. None: not checked.
    fn second_order(&self, _x: &[f64], _y_bar: &[f64], _x_dot: &[f64]) -> Option<Vec<f64>> {
        None
    }
}

/// How exact, and how far a difference steps.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The largest step of central differences, times max(1, |x|); a tenth of it, and the step times |x|, are tried as well.
    /// The error of a difference is about step² f''' + ε/step.
    pub step: f64,
    /// How far a derivative may be from its difference, relative to the largest in the same row.
    pub tolerance: f64,
    /// How far ⟨v, J u⟩ may be from ⟨Jᵀ v, u⟩, relative to the sum of the absolute products.
    pub adjoint_tolerance: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { step: 1e-5, tolerance: 1e-7, adjoint_tolerance: 1e-12 }
    }
}

/// What a check found.
#[derive(Clone)]
pub struct Report {
    /// The function's name.
    pub name: String,
    /// How many inputs and outputs it has.
    pub size: (usize, usize),
    /// The entry of the Jacobian that is worst relative to its row.
    pub worst: Entry,
    /// The entry of a Hessian-vector product that is worst; none if there is no second order.
    pub worst_second: Option<Entry>,
    /// |⟨v, J u⟩ - ⟨Jᵀ v, u⟩| relative to the sum of the absolute products.
    pub adjoint_gap: f64,
    /// Why the check fails; empty if it passes.
    pub failures: Vec<String>,
}

/// A derivative and its difference.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Which derivative: `d output[2] / d a.x`.
    pub which: String,
    /// By the pullback.
    pub derivative: f64,
    /// By central differences.
    pub difference: f64,
    /// |derivative - difference| relative to the largest derivative in its row.
    pub error: f64,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { which, derivative, difference, error } = self;
        write!(
            f,
            "{which}: derivative {derivative:.12e}, difference {difference:.12e}, relative error {error:.1e}"
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.failures.is_empty() { "passes" } else { "FAILS" };
        writeln!(
            f,
            "gradcheck of `{}` ({} inputs, {} outputs): {verdict}",
            self.name, self.size.0, self.size.1
        )?;
        for failure in &self.failures {
            writeln!(f, "  - {failure}")?;
        }
        writeln!(f, "  worst entry      {}", self.worst)?;
        if let Some(second) = &self.worst_second {
            writeln!(f, "  worst 2nd order  {second}")?;
        }
        write!(f, "  <v,Ju> - <J'v,u>  {:.1e} (relative)", self.adjoint_gap)
    }
}

impl std::error::Error for Report {}

crate::debug_as_display!(Report);

/// Checks `function` at `x` with the usual tolerances.
pub fn check(function: &impl Function, x: &[f64]) -> Result<Report, Box<Report>> {
    check_with(function, x, Options::default())
}

/// Checks `function` at `x`.
pub fn check_with(function: &impl Function, x: &[f64], options: Options) -> Result<Report, Box<Report>> {
    check_any(function, x, options)
}

// Compiled once, not once for each kernel.
fn check_any(function: &dyn Function, x: &[f64], options: Options) -> Result<Report, Box<Report>> {
    let y = function.forward(x);
    let mut report = Report {
        name: function.name(),
        size: (x.len(), y.len()),
        worst: Entry::default(),
        worst_second: None,
        adjoint_gap: 0.0,
        failures: Vec::new(),
    };
    if let Some(i) = y.iter().position(|y| !y.is_finite()) {
        let name = function.output_name(i);
        report.failures.push(format!("{name} is {} here: check where the function is finite", y[i]));
        return Err(Box::new(report));
    }

    let rows: Vec<Vec<f64>> = (0..y.len())
        .map(|k| {
            let mut seed = vec![0.0; y.len()];
            seed[k] = 1.0;
            function.pullback(x, &seed)
        })
        .collect();
    if let Some(row) = rows.iter().find(|row| row.len() != x.len()) {
        let (found, wanted) = (row.len(), x.len());
        report.failures.push(format!("the pullback gives {found} cotangents for {wanted} inputs"));
        return Err(Box::new(report));
    }
    // Small inputs want small steps, and strong curvature too: each derivative is held against the nearest of three.
    let forward = |x: &[f64]| function.forward(x);
    let h = options.step;
    let columns = [
        differences(x, |x| h * x.abs().max(1.0), forward),
        differences(x, |x| 0.1 * h * x.abs().max(1.0), forward),
        differences(x, |x| if x == 0.0 { h } else { h * x.abs() }, forward),
    ];
    let mut found = Found::default();
    for (k, row) in rows.iter().enumerate() {
        let name = |i| format!("d {} / d {}", function.output_name(k), function.input_name(i));
        let nearest = |i: usize| {
            let distance = |difference: &f64| (difference - row[i]).abs();
            let all = columns.iter().map(|columns| columns[i][k]);
            all.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(f64::NAN)
        };
        found.compare(row, nearest, name);
    }
    report.worst = found.worst.clone();
    found.judge("the pullback and central differences", options.tolerance, &mut report.failures);
    report.failures.extend(found.why_vacuous());

    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3 {
        let u: Vec<f64> = x.iter().map(|_| random.next()).collect();
        let v: Vec<f64> = y.iter().map(|_| random.next()).collect();
        let (j_u, jt_v) = (function.pushforward(x, &u), function.pullback(x, &v));
        let products = |a: &[f64], b: &[f64]| -> (f64, f64) {
            a.iter().zip(b).fold((0.0, 0.0), |(sum, size), (a, b)| (sum + a * b, size + (a * b).abs()))
        };
        let ((left, size), (right, size_right)) = (products(&v, &j_u), products(&jt_v, &u));
        let gap = (left - right).abs() / (size + size_right).max(f64::MIN_POSITIVE);
        if worse(gap, report.adjoint_gap) {
            report.adjoint_gap = gap;
        }
    }
    if exceeds(report.adjoint_gap, options.adjoint_tolerance) {
        report.failures.push(format!(
            "the pushforward and the pullback are not adjoint: relative gap {:.1e}, allowed {:.1e}",
            report.adjoint_gap, options.adjoint_tolerance
        ));
    }

    let y_bar: Vec<f64> = y.iter().map(|_| random.next()).collect();
    let x_dot: Vec<f64> = x.iter().map(|_| random.next()).collect();
    if let Some(product) = function.second_order(x, &y_bar, &x_dot) {
        let along = |t: f64| -> Vec<f64> {
            let moved: Vec<f64> = x.iter().zip(&x_dot).map(|(x, d)| x + t * d).collect();
            function.pullback(&moved, &y_bar)
        };
        let (h, mut found) = (options.step, Found::default());
        let (plus, minus) = (along(h), along(-h));
        found.compare(
            &product,
            |i| (plus[i] - minus[i]) / (2.0 * h),
            |i| format!("second derivative, {}", function.input_name(i)),
        );
        found.judge(
            "the pullback's derivative and its differences",
            10.0 * options.tolerance,
            &mut report.failures,
        );
        report.worst_second = Some(found.worst);
    }

    if report.failures.is_empty() { Ok(report) } else { Err(Box::new(report)) }
}

/// The numbers of a value.
pub fn flat<T: Argument>(mut value: With<T, f64>) -> Vec<f64> {
    let mut numbers = Vec::new();
    T::each::<f64>(&mut value, &mut |x| numbers.push(*x));
    numbers
}

/// `value` with other numbers.
pub fn unflat<T: Argument>(mut value: With<T, f64>, numbers: &[f64]) -> With<T, f64> {
    let mut numbers = numbers.iter();
    T::each::<f64>(&mut value, &mut |x| *x = numbers.next().copied().unwrap_or(0.0));
    value
}

/// Central differences along each input, with a step that may depend on it: `result[i][k]` = ∂f_k / ∂x_i.
pub fn differences(x: &[f64], step: impl Fn(f64) -> f64, f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    let mut x = x.to_vec();
    (0..x.len())
        .map(|i| {
            let (at, h) = (x[i], step(x[i]));
            x[i] = at + h;
            let plus = f(&x);
            x[i] = at - h;
            let minus = f(&x);
            x[i] = at;
            plus.iter().zip(&minus).map(|(p, m)| (p - m) / (2.0 * h)).collect()
        })
        .collect()
}

/// What comparisons of derivatives with differences have found so far.
#[derive(Default)]
struct Found {
    worst: Entry,
    count: usize,
    nonzero: usize,
    /// Derivatives that differences do not get exactly right: those that are no multiples of 1/2.
    telling: usize,
    /// Those of them that are bit-equal to the difference.
    equal: usize,
}

/// Is an error larger than allowed? NaN is.
fn exceeds(error: f64, allowed: f64) -> bool {
    error > allowed || error.is_nan()
}

/// Is an error larger than the worst so far? NaN is the largest, and stays.
fn worse(error: f64, worst: f64) -> bool {
    !worst.is_nan() && exceeds(error, worst)
}

impl Found {
    fn compare(&mut self, row: &[f64], difference: impl Fn(usize) -> f64, which: impl Fn(usize) -> String) {
        let scale = row.iter().fold(1e-6, |scale: f64, d| scale.max(d.abs()));
        for (i, &derivative) in row.iter().enumerate() {
            let difference = difference(i);
            let error = (derivative - difference).abs() / scale;
            self.count += 1;
            self.nonzero += usize::from(derivative != 0.0);
            let telling = (2.0 * derivative).fract() != 0.0;
            self.telling += usize::from(telling);
            self.equal += usize::from(telling && derivative.to_bits() == difference.to_bits());
            if worse(error, self.worst.error) {
                self.worst = Entry { which: which(i), derivative, difference, error };
            }
        }
        if self.worst.which.is_empty() && !row.is_empty() {
            self.worst = Entry { which: which(0), derivative: row[0], difference: difference(0), error: 0.0 };
        }
    }

    fn judge(&self, what: &str, tolerance: f64, failures: &mut Vec<String>) {
        if exceeds(self.worst.error, tolerance) {
            failures.push(format!("{what} disagree (allowed {tolerance:.1e}): {}", self.worst));
        }
    }

    /// Why the comparison proves nothing, if so.
    fn why_vacuous(&self) -> Option<String> {
        let why = if self.count == 0 {
            "there are no derivatives to check".to_owned()
        } else if self.nonzero == 0 {
            "every derivative is zero: a check here cannot fail".to_owned()
        } else if self.telling > 3 && self.equal == self.telling {
            // Rounding alone keeps derivatives and differences apart; one or two may meet, not all of many.
            format!(
                "all {} derivatives that are no multiples of 1/2 are bit-equal to the differences: \
                 is the pullback made of differences?",
                self.telling
            )
        } else {
            return None;
        };
        Some(why)
    }
}

/// Numbers in (-1, 1), the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
