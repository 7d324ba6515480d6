//! Partial derivatives of the scalar functions: the one place where each is written.
//!
//! [`Dual`](super::Dual) and the pullbacks of the kernel language's builtins both call these. Where a derivative
//! does not exist, each says what it answers instead. For arguments that are not NaN, no answer is NaN where
//! the function's value is finite: a factor that would be 0/0 or 0·inf is replaced before it is used.
//!
//! A replacement is a constant, so it has no derivative of its own; that is why each is as narrow as it can be
//! (x^2 at 0 still has its second derivative).

use super::Real;

#[inline(always)]
fn zero<R: Real>() -> R {
    R::from_f64(0.0)
}

#[inline(always)]
fn one<R: Real>() -> R {
    R::from_f64(1.0)
}

/// d sqrt(x)/dx = 1 / (2 sqrt(x));  0 at x = 0
#[inline(always)]
pub fn sqrt<R: Real>(x: R) -> R {
    R::select(Real::eq(x, zero()), zero(), R::from_f64(0.5) / x.sqrt())
}

/// d |x|/dx = sign(x);  0 at x = 0
#[inline(always)]
pub fn abs<R: Real>(x: R) -> R {
    let negative = R::select(Real::lt(x, zero()), -one::<R>(), zero());
    R::select(Real::lt(zero(), x), one(), negative)
}

/// d floor(x)/dx = 0, also at the steps
#[inline(always)]
pub fn floor<R: Real>(_x: R) -> R {
    zero()
}

/// d min(a, b) = (1, 0) if a is chosen, (0, 1) if b is;  a is chosen on ties
#[inline(always)]
pub fn min<R: Real>(a: R, b: R) -> (R, R) {
    let second = Real::lt(b, a);
    (R::select(second, zero(), one()), R::select(second, one(), zero()))
}

/// d max(a, b) = (1, 0) if a is chosen, (0, 1) if b is;  a is chosen on ties
#[inline(always)]
pub fn max<R: Real>(a: R, b: R) -> (R, R) {
    let second = Real::lt(a, b);
    (R::select(second, zero(), one()), R::select(second, one(), zero()))
}

/// d sin(x)/dx = cos(x)
#[inline(always)]
pub fn sin<R: Real>(x: R) -> R {
    x.cos()
}

/// d cos(x)/dx = -sin(x)
#[inline(always)]
pub fn cos<R: Real>(x: R) -> R {
    -x.sin()
}

/// d tan(x)/dx = 1 + tan(x)²
#[inline(always)]
pub fn tan<R: Real>(x: R) -> R {
    let t = x.tan();
    one::<R>() + t * t
}

/// d asin(x)/dx = 1 / sqrt((1 - x) (1 + x));  0 at x = ±1
#[inline(always)]
pub fn asin<R: Real>(x: R) -> R {
    // The product of differences keeps its digits near ±1, where 1 - x² loses them.
    let d = (one::<R>() - x) * (one::<R>() + x);
    R::select(Real::eq(d, zero()), zero(), one::<R>() / d.sqrt())
}

/// d acos(x)/dx = -1 / sqrt((1 - x) (1 + x));  0 at x = ±1
#[inline(always)]
pub fn acos<R: Real>(x: R) -> R {
    -asin(x)
}

/// d atan2(y, x) = (x / r², -y / r²) to (y, x), r² = x² + y²;  0 where r² is 0 or infinite
#[inline(always)]
pub fn atan2<R: Real>(y: R, x: R) -> (R, R) {
    let r2 = x * x + y * y;
    let undefined = Real::eq(r2, zero()) | Real::eq(r2, R::from_f64(f64::INFINITY));
    (R::select(undefined, zero(), x / r2), R::select(undefined, zero(), -y / r2))
}

/// d exp(x)/dx = exp(x)
#[inline(always)]
pub fn exp<R: Real>(x: R) -> R {
    x.exp()
}

/// d ln(x)/dx = 1 / x;  infinite at x = 0, as ln itself
#[inline(always)]
pub fn ln<R: Real>(x: R) -> R {
    one::<R>() / x
}

/// d tanh(x)/dx = (1 - tanh(x)) (1 + tanh(x))
#[inline(always)]
pub fn tanh<R: Real>(x: R) -> R {
    let t = x.tanh();
    (one::<R>() - t) * (one::<R>() + t)
}

/// d x^p = (p x^(p-1), ln(x) x^p) to (x, p);  to x: 0 at x = 0 if p < 1;  to p: 0 unless 0 < x < inf
#[inline(always)]
pub fn powf<R: Real>(x: R, p: R) -> (R, R) {
    let infinity = R::from_f64(f64::INFINITY);
    let factor = x.powf(p - one());
    // x^0 is 1 for every x, but next to 0 its factor overflows to infinity, and 0·inf is NaN.
    let overflow = Real::eq(p, zero()) & Real::eq(factor.abs(), infinity);
    let kink = Real::eq(x, zero()) & Real::lt(p, one());
    let to_x = R::select(kink | overflow, zero(), p * factor);
    let positive = Real::lt(zero(), x) & Real::lt(x, infinity);
    let to_p = R::select(positive, x.ln() * x.powf(p), zero());
    (to_x, to_p)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFINITY: f64 = f64::INFINITY;

    #[test]
    fn where_no_derivative_exists() {
        assert_eq!(sqrt(0.0), 0.0);
        assert_eq!(sqrt(-0.0), 0.0);
        assert_eq!(abs(0.0), 0.0);
        assert_eq!(abs(-0.0), 0.0);
        assert_eq!(floor(2.0), 0.0);
        assert_eq!(min(1.0, 1.0), (1.0, 0.0));
        assert_eq!(max(1.0, 1.0), (1.0, 0.0));
        assert_eq!(min(0.0, -0.0), (1.0, 0.0));
        assert_eq!(max(-0.0, 0.0), (1.0, 0.0));
        assert_eq!((asin(1.0), asin(-1.0)), (0.0, 0.0));
        assert_eq!((acos(1.0), acos(-1.0)), (0.0, 0.0));
        assert_eq!(atan2(0.0, 0.0), (0.0, 0.0));
        assert_eq!(ln(0.0), INFINITY);
        assert_eq!(powf(0.0, 0.5), (0.0, 0.0));
        assert_eq!(powf(0.0, 0.0), (0.0, 0.0));
        assert_eq!(powf(0.0, 1.0), (1.0, 0.0));
        assert_eq!(powf(0.0, 2.0), (0.0, 0.0));
        assert_eq!(powf(-2.0, 3.0), (12.0, 0.0));
        assert_eq!(powf(-2.0, 0.0), (0.0, 0.0));
    }

    #[test]
    fn never_nan_where_the_value_is_finite() {
        let special = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -0.5,
            2.0,
            -2.0,
            3.0,
            710.0,
            -746.0,
            1e-310,
            -1e-310,
            1e-200,
            1e200,
            -1e200,
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::MIN,
            1.0 - f64::EPSILON,
            1.0 + f64::EPSILON,
            INFINITY,
            -INFINITY,
        ];
        for a in special {
            let unary = [
                (f64::sqrt(a), sqrt(a), "sqrt"),
                (f64::abs(a), abs(a), "abs"),
                (f64::floor(a), floor(a), "floor"),
                (f64::sin(a), sin(a), "sin"),
                (f64::cos(a), cos(a), "cos"),
                (f64::tan(a), tan(a), "tan"),
                (f64::asin(a), asin(a), "asin"),
                (f64::acos(a), acos(a), "acos"),
                (f64::exp(a), exp(a), "exp"),
                (f64::ln(a), ln(a), "ln"),
                (f64::tanh(a), tanh(a), "tanh"),
            ];
            for (value, partial, name) in unary {
                assert!(!value.is_finite() || !partial.is_nan(), "{name}({a})");
            }
            for b in special {
                let binary = [
                    (f64::atan2(a, b), atan2(a, b), "atan2"),
                    (f64::min(a, b), min(a, b), "min"),
                    (f64::max(a, b), max(a, b), "max"),
                    // An infinite exponent is no power that has a derivative.
                    (if b.is_finite() { f64::powf(a, b) } else { f64::NAN }, powf(a, b), "powf"),
                ];
                for (value, (to_a, to_b), name) in binary {
                    assert!(!value.is_finite() || !(to_a.is_nan() || to_b.is_nan()), "{name}({a}, {b})");
                }
            }
        }
    }
}
