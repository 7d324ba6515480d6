//! Functions of numbers. What is returned where no derivative exists is in docs/nonsmooth.md.
//!
//! A replaced derivative is chosen by `== 0.0` rather than by `> 0.0`, so that NaN stays NaN.

use crate::{kernel, scalar::Real};

/// √x
#[kernel(primitive, pullback = sqrt_pullback)]
pub fn sqrt<R: Real>(x: R) -> R {
    x.sqrt()
}

/// x_bar = y_bar / (2√x), and 0 at x = 0
#[kernel]
pub fn sqrt_pullback<R: Real>(x: R, y_bar: R) -> R {
    if x == 0.0 { 0.0 } else { y_bar * 0.5 / sqrt(x) }
}

/// |x|
#[kernel(primitive, pullback = abs_pullback)]
pub fn abs<R: Real>(x: R) -> R {
    x.abs()
}

/// x_bar = sign(x) y_bar, and 0 at x = 0
#[kernel]
pub fn abs_pullback<R: Real>(x: R, y_bar: R) -> R {
    if x > 0.0 {
        y_bar
    } else if x < 0.0 {
        -y_bar
    } else if x == 0.0 {
        0.0
    } else {
        x
    }
}

/// The largest whole number that is not above x.
#[kernel(primitive, pullback = floor_pullback)]
pub fn floor<R: Real>(x: R) -> R {
    x.floor()
}

/// x_bar = 0, at the jumps too
#[kernel]
pub fn floor_pullback<R: Real>(x: R, y_bar: R) -> R {
    0.0
}

/// The smaller of two numbers, a if they are equal.
#[kernel(primitive, pullback = min_pullback)]
pub fn min<R: Real>(a: R, b: R) -> R {
    a.min(b)
}

/// The chosen argument takes y_bar: a if they are equal.
#[kernel]
pub fn min_pullback<R: Real>(a: R, b: R, y_bar: R) -> (R, R) {
    if b < a { (0.0, y_bar) } else { (y_bar, 0.0) }
}

/// The larger of two numbers, a if they are equal.
#[kernel(primitive, pullback = max_pullback)]
pub fn max<R: Real>(a: R, b: R) -> R {
    a.max(b)
}

/// The chosen argument takes y_bar: a if they are equal.
#[kernel]
pub fn max_pullback<R: Real>(a: R, b: R, y_bar: R) -> (R, R) {
    if a < b { (0.0, y_bar) } else { (y_bar, 0.0) }
}

/// x, but not below `low` and not above `high`.
#[kernel]
pub fn clamp<R: Real>(x: R, low: R, high: R) -> R {
    min(max(x, low), high)
}

/// sin x, x in radians
#[kernel(primitive, pullback = sin_pullback)]
pub fn sin<R: Real>(x: R) -> R {
    x.sin()
}

/// x_bar = cos(x) y_bar
#[kernel]
pub fn sin_pullback<R: Real>(x: R, y_bar: R) -> R {
    cos(x) * y_bar
}

/// cos x, x in radians
#[kernel(primitive, pullback = cos_pullback)]
pub fn cos<R: Real>(x: R) -> R {
    x.cos()
}

/// x_bar = -sin(x) y_bar
#[kernel]
pub fn cos_pullback<R: Real>(x: R, y_bar: R) -> R {
    -(sin(x) * y_bar)
}

/// (sin x, cos x), x in radians, without a branch or a call: for many small loops with one angle each. To an ulp or two for
/// |x| up to 1e5, in single precision up to 1e3.
///
/// r = x - k π/2 with π/2 in two parts, of which the first has 24 bits; then polynomials on |r| <= π/4 with the
/// coefficients of fdlibm's kernels, and a quarter turn for each k.
#[kernel(pullback = sin_cos_pullback)]
pub fn sin_cos<R: Real>(x: R) -> (R, R) {
    let k = floor(x * 0.6366197723675814 + 0.5);
    let r = x - k * 1.5707963705062866;
    let r = r - k * -4.3711390001862426e-08;
    let z = r * r;
    let p = -2.5050760253406863e-08 + z * 1.58969099521155e-10;
    let p = -0.0001984126982985795 + z * (2.7557313707070068e-06 + z * p);
    let s = r + r * z * (-0.16666666666666632 + z * (0.00833333333332249 + z * p));
    let p = 2.087572321298175e-09 - z * 1.1359647557788195e-11;
    let p = 2.480158728947673e-05 + z * (-2.7557314351390663e-07 + z * p);
    let p = 0.0416666666666666 + z * (-0.001388888888887411 + z * p);
    let c = 1.0 - z * (0.5 - z * p);
    // k modulo 4: 0 (s, c), 1 (c, -s), 2 (-s, -c), 3 (-c, s)
    let turns = k - 4.0 * floor(0.25 * k);
    let odd = turns - 2.0 * floor(0.5 * turns);
    let (a, b) = if odd > 0.5 { (c, s) } else { (s, c) };
    let sine = if turns > 1.5 { -a } else { a };
    let cosine = if abs(turns - 1.5) < 1.0 { -b } else { b };
    (sine, cosine)
}

/// x_bar = cos(x) s_bar - sin(x) c_bar
#[kernel]
pub fn sin_cos_pullback<R: Real>(x: R, out_bar: (R, R)) -> R {
    let (s, c) = sin_cos(x);
    c * out_bar.0 - s * out_bar.1
}

/// tan x, x in radians
#[kernel(primitive, pullback = tan_pullback)]
pub fn tan<R: Real>(x: R) -> R {
    x.tan()
}

/// x_bar = (1 + tan²x) y_bar
#[kernel]
pub fn tan_pullback<R: Real>(x: R, y_bar: R) -> R {
    let t = tan(x);
    (1.0 + t * t) * y_bar
}

/// asin x, in radians
#[kernel(primitive, pullback = asin_pullback)]
pub fn asin<R: Real>(x: R) -> R {
    x.asin()
}

/// x_bar = y_bar / √(1 - x²), and 0 at x = ±1
#[kernel]
pub fn asin_pullback<R: Real>(x: R, y_bar: R) -> R {
    let s = (1.0 - x) * (1.0 + x);
    if s == 0.0 { 0.0 } else { y_bar / sqrt(s) }
}

/// acos x, in radians
#[kernel(primitive, pullback = acos_pullback)]
pub fn acos<R: Real>(x: R) -> R {
    x.acos()
}

/// x_bar = -y_bar / √(1 - x²), and 0 at x = ±1
#[kernel]
pub fn acos_pullback<R: Real>(x: R, y_bar: R) -> R {
    -asin_pullback(x, y_bar)
}

/// The angle of the point (x, y), in radians.
#[kernel(primitive, pullback = atan2_pullback)]
pub fn atan2<R: Real>(y: R, x: R) -> R {
    y.atan2(x)
}

/// (y_bar, x_bar) = (x, -y) / (x² + y²) a_bar, and 0 at the origin and at infinity
///
/// With (u, v) = (x, y) / m, because the squares of small and of large numbers leave the scalar's range.
#[kernel]
pub fn atan2_pullback<R: Real>(y: R, x: R, a_bar: R) -> (R, R) {
    let m = 0.5 * abs(x) + 0.5 * abs(y);
    if m == f64::INFINITY {
        (0.0, 0.0)
    } else if 64.0 / m < f64::INFINITY {
        let u = x / m;
        let v = y / m;
        let s = a_bar / (u * u + v * v);
        (u * s / m, -(v * s / m))
    } else {
        // 0, unless an argument is NaN. Where 1/m is not finite, the point counts as the origin.
        (0.0 * m, 0.0 * m)
    }
}

/// eˣ
#[kernel(primitive, pullback = exp_pullback)]
pub fn exp<R: Real>(x: R) -> R {
    x.exp()
}

/// x_bar = eˣ y_bar
#[kernel]
pub fn exp_pullback<R: Real>(x: R, y_bar: R) -> R {
    exp(x) * y_bar
}

/// Natural logarithm of x.
#[kernel(primitive, pullback = ln_pullback)]
pub fn ln<R: Real>(x: R) -> R {
    x.ln()
}

/// x_bar = y_bar / x
#[kernel]
pub fn ln_pullback<R: Real>(x: R, y_bar: R) -> R {
    y_bar / x
}

/// tanh x
#[kernel(primitive, pullback = tanh_pullback)]
pub fn tanh<R: Real>(x: R) -> R {
    x.tanh()
}

/// x_bar = (1 - tanh²x) y_bar
#[kernel]
pub fn tanh_pullback<R: Real>(x: R, y_bar: R) -> R {
    let t = tanh(x);
    (1.0 - t * t) * y_bar
}

/// x to the power p.
#[kernel(primitive, pullback = powf_pullback)]
pub fn powf<R: Real>(x: R, p: R) -> R {
    x.powf(p)
}

/// x_bar = p xᵖ⁻¹ y_bar, and 0 where that is infinite (x = 0, p < 1);  p_bar = xᵖ ln x y_bar, and 0 where x ≤ 0
///
/// The cotangent is a factor before anything can overflow (p xᵖ⁻¹ and xᵖ ln x can where xᵖ does not, and infinity times a
/// zero cotangent is NaN), and xᵖ⁻¹ is xᵖ / x for p < 1, for the same reason.
#[kernel]
pub fn powf_pullback<R: Real>(x: R, p: R, y_bar: R) -> (R, R) {
    let x_bar = if p < 1.0 {
        if x == 0.0 { 0.0 } else { p * (y_bar * powf(x, p)) / x }
    } else {
        p * (y_bar * powf(x, p - 1.0))
    };
    let p_bar = if x > 0.0 {
        ln(x) * y_bar * powf(x, p)
    } else if x <= 0.0 {
        0.0
    } else {
        x
    };
    (x_bar, p_bar)
}
