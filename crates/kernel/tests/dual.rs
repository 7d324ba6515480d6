//! Duals against finite differences of their own values, and where no derivative exists.

use pullback_kernel::scalar::{Dual, Real};

fn moving(x: f64, x_dot: f64) -> Dual<f64> {
    Dual::new(x, x_dot)
}

/// d f(a + t a_dot, b + t b_dot)/dt at t = 0, by central differences of fourth order.
fn difference(f: impl Fn(f64, f64) -> f64, a: f64, b: f64, a_dot: f64, b_dot: f64) -> f64 {
    let h = 1e-3;
    let at = |t: f64| f(a + t * a_dot, b + t * b_dot);
    (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
}

/// An operation on values and on duals, and whether it has a derivative that is not zero.
macro_rules! operations {
    ($($name:literal $f:expr;)*) => {
        [$(($name, $f as fn(f64, f64) -> f64, $f as fn(Dual<f64>, Dual<f64>) -> Dual<f64>)),*]
    };
}

#[test]
fn tangents_are_differences() {
    let operations = operations! {
        "add" |a, b| a + b;
        "sub" |a, b| a - b;
        "mul" |a, b| a * b;
        "div" |a, b| a / b;
        "neg" |a, _| -a;
        "sqrt" |a, _| Real::sqrt(a);
        "abs" |a, b| Real::abs(a - b);
        "min" |a, b| Real::min(a, b);
        "max" |a, b| Real::max(a, b);
        "sin" |a, _| Real::sin(a);
        "cos" |a, _| Real::cos(a);
        "tan" |a, _| Real::tan(a);
        "asin" |a, _| Real::asin(a);
        "acos" |a, _| Real::acos(a);
        "atan2" |a, b| Real::atan2(a, b);
        "atan2, x" |a, b| Real::atan2(-b, -a);
        "exp" |a, _| Real::exp(a);
        "ln" |a, _| Real::ln(a);
        "tanh" |a, _| Real::tanh(a);
        "powf" |a, b| Real::powf(a, b);
        "all of it" |a, b| Real::exp(Real::sin(a * b) / Real::sqrt(a + b)) * Real::powf(b, a);
    };
    for (name, value, dual) in operations {
        for (a, b) in [(0.3, 0.7), (0.55, 0.4), (0.9, 1.5), (0.72, 2.3)] {
            for (a_dot, b_dot) in [(1.0, 0.0), (0.6, -0.8), (-0.5, 0.3)] {
                let result = dual(moving(a, a_dot), moving(b, b_dot));
                let expected = difference(value, a, b, a_dot, b_dot);
                assert_eq!(result.value, value(a, b), "{name}");
                // The difference's own error: h^4 f^(5)/30, and rounding / h.
                let error = (result.tangent - expected).abs();
                assert!(error < 1e-8 * (1.0 + expected.abs()), "{name}({a}, {b}): {result:?}, {expected}");
            }
        }
    }
}

#[test]
fn tangents_are_not_trivially_zero() {
    assert_eq!(Real::powf(moving(2.0, 1.0), moving(3.0, 0.0)).tangent, 12.0);
    assert_eq!((moving(3.0, 1.0) / moving(2.0, 1.0)).tangent, -0.25);
    assert_eq!(Real::abs(moving(-3.0, 2.0)).tangent, -2.0);
}

#[test]
fn where_no_derivative_exists() {
    let at = |x: f64| moving(x, 1.0);
    let cases = [
        ("sqrt", at(0.0).sqrt(), 0.0, 0.0),
        ("abs", at(0.0).abs(), 0.0, 0.0),
        ("abs", at(-0.0).abs(), 0.0, 0.0),
        ("floor", at(2.0).floor(), 2.0, 0.0),
        ("min tie", Real::min(at(1.0), moving(1.0, 5.0)), 1.0, 1.0),
        ("max tie", Real::max(at(1.0), moving(1.0, 5.0)), 1.0, 1.0),
        ("min, infinite tangent", Real::min(at(1.0), moving(2.0, f64::INFINITY)), 1.0, 1.0),
        ("max, infinite tangent", Real::max(at(3.0), moving(2.0, f64::INFINITY)), 3.0, 1.0),
        ("asin", at(1.0).asin(), 1.0_f64.asin(), 0.0),
        ("asin", at(-1.0).asin(), (-1.0_f64).asin(), 0.0),
        ("acos", at(1.0).acos(), 0.0, 0.0),
        ("acos", at(-1.0).acos(), std::f64::consts::PI, 0.0),
        ("atan2", at(0.0).atan2(at(0.0)), 0.0, 0.0),
        ("ln", at(0.0).ln(), f64::NEG_INFINITY, f64::INFINITY),
        ("powf 1/2", at(0.0).powf(Dual::constant(0.5)), 0.0, 0.0),
        ("powf 1", at(0.0).powf(Dual::constant(1.0)), 0.0, 1.0),
        ("powf 0", at(0.0).powf(at(0.0)), 1.0, 0.0),
        ("powf of a negative number", at(-2.0).powf(at(2.0)), 4.0, -4.0),
        ("floor of an infinite tangent", moving(0.5, f64::INFINITY).floor(), 0.0, 0.0),
    ];
    for (name, dual, value, tangent) in cases {
        assert_eq!((dual.value, dual.tangent), (value, tangent), "{name}");
    }
}

/// x + ε1 + ε2: the part of ε1 ε2 is the second derivative.
fn twice(x: f64) -> Dual<Dual<f64>> {
    Dual::new(Dual::new(x, 1.0), Dual::new(1.0, 0.0))
}

#[test]
fn duals_of_duals() {
    let second = |y: Dual<Dual<f64>>| y.tangent.tangent;
    let two = Dual::from_f64(2.0);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
    close(second(twice(3.0) * twice(3.0) * twice(3.0)), 18.0);
    close(second(twice(0.7).sin()), -0.7_f64.sin());
    close(second(twice(4.0).sqrt()), -0.25 * 4.0_f64.powf(-1.5));
    close(second(twice(1.3).exp()), 1.3_f64.exp());
    close(second(Dual::from_f64(1.0) / twice(2.0)), 0.25);
    close(second(twice(0.4).asin()), 0.4 / (1.0 - 0.16_f64).powf(1.5));
    close(second(twice(3.0).powf(two)), 2.0);
    // Replacements are narrow: x² still curves at 0, and sqrt, whose slope is replaced there, does not.
    close(second(twice(0.0).powf(two)), 2.0);
    close(second(twice(0.0).sqrt()), 0.0);
    close(second(twice(0.0).abs()), 0.0);
}

#[test]
fn comparisons_are_by_value() {
    assert!(Real::eq(moving(1.0, 2.0), moving(1.0, 3.0)).0);
    assert!(Real::lt(moving(1.0, 9.0), moving(2.0, 0.0)).0);
    assert!(!Real::le(moving(2.0, 0.0), moving(1.0, 9.0)).0);
    let chosen = <Dual<f64> as Real>::select(
        Real::lt(moving(1.0, 9.0), moving(2.0, 0.0)),
        moving(3.0, 4.0),
        moving(5.0, 6.0),
    );
    assert_eq!(chosen, moving(3.0, 4.0));
}
