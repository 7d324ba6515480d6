//! The angle of a point, in arithmetic that lanes have instructions for: a library's function would be called for one lane after the
//! other. CUDA's text has the same (`cuda/numbers.cuh`).

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::{Float, Real};

/// Cephes' rational function for atan(t) = t + t z P(z)/Q(z), z = t², |t| ≤ 0.66 (Moshier 1989): P from its highest power on, and Q
/// behind z⁵.
const P: [f64; 5] = [
    -0.875_060_860_003_190_4,
    -16.157_537_187_333_652,
    -75.008_557_923_147_05,
    -122.886_668_449_013_61,
    -64.850_219_049_420_25,
];
const Q: [f64; 5] = [
    24.858_464_901_423_062,
    165.027_009_831_698_85,
    432.881_060_491_290_27,
    485.390_399_635_913_7,
    194.550_657_148_261_4,
];
/// The same in single precision, atan(t) = t + t z P(z) for |t| ≤ tan(π/8).
const P_SINGLE: [f64; 4] = [0.080_537_445, -0.138_776_86, 0.199_777_11, -0.333_329_5];

/// tan(3π/8)
const STEEP: f64 = 2.414_213_562_373_095;
const FLAT: f64 = 0.66;
const FLAT_SINGLE: f64 = 0.414_213_56;
/// π/2 less its nearest number.
const REST: f64 = 6.123_233_995_736_766e-17;

/// atan2(y, x), to within two units in the last place, three in single precision. With t = |y|/|x| it is atan t where that is below 0.66,
/// π/4 + atan((t - 1)/(t + 1)), or π/2 - atan(1/t) where it is above tan(3π/8); then by the signs. At the origin it is 0.
#[inline(always)]
pub fn atan2<R: Real>(y: R, x: R) -> R {
    let single = const { <R::Float as Float>::EPSILON > 1e-10 };
    let (c, zero) = (R::from_f64, R::from_f64(0.0));
    let (ay, ax) = (y.abs(), x.abs());
    let most = if single { FLAT_SINGLE } else { FLAT };
    let (steep, flat) = (R::lt(ax * c(STEEP), ay), R::le(ay, ax * c(most)));
    let by_range = |a: R, b: R, d: R| R::select(steep, a, R::select(flat, b, d));
    let above = by_range(-ax, ay, ay - ax);
    let below = by_range(ay, ax, ay + ax);
    let t = above / R::select(R::eq(below, zero), c(1.0), below);
    let start = by_range(c(FRAC_PI_2), zero, c(FRAC_PI_4));
    let angle = if single {
        let angle = start + small_single(t);
        R::select(R::lt(x, zero), c(PI) - angle, angle)
    } else {
        let angle = start + (by_range(c(REST), zero, c(0.5 * REST)) + small(t));
        R::select(R::lt(x, zero), c(PI) - (angle - c(2.0 * REST)), angle)
    };
    R::select(R::lt(y, zero), -angle, angle)
}

#[inline(always)]
fn small<R: Real>(t: R) -> R {
    let (c, z) = (R::from_f64, t * t);
    let mut p = c(P[0]);
    let mut q = z + c(Q[0]);
    for i in 1..5 {
        p = p.mul_add(z, c(P[i]));
        q = q.mul_add(z, c(Q[i]));
    }
    t.mul_add(z * p / q, t)
}

#[inline(always)]
fn small_single<R: Real>(t: R) -> R {
    let z = t * t;
    let p = P_SINGLE[1..].iter().fold(R::from_f64(P_SINGLE[0]), |p, &next| p.mul_add(z, R::from_f64(next)));
    t.mul_add(z * p, t)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In all eight octants, at their borders, and far out: as the library's, to 2 units in the last place, and 3 in single precision.
    #[test]
    fn as_the_library() {
        let mut numbers = vec![0.0, FLAT, FLAT_SINGLE, STEEP, 1.0, 1e-9, 1e-300, 1e300, f64::MIN_POSITIVE];
        numbers.extend((0..200).map(|i| 1.07_f64.powi(i - 100)));
        let signed: Vec<f64> = numbers.iter().flat_map(|x| [*x, -*x]).collect();
        let mut worst = (0.0, 0.0_f32);
        for &y in signed.iter().filter(|y| **y != 0.0 || y.is_sign_positive()) {
            for &x in &signed {
                let wanted = f64::atan2(y, if x == 0.0 { 0.0 } else { x });
                let unit = f64::EPSILON * wanted.abs();
                worst.0 = f64::max(worst.0, (atan2(y, x) - wanted).abs() / unit.max(f64::MIN_POSITIVE));
                let (y, x) = (y as f32, x as f32);
                if (y != 0.0 && x != 0.0) && y.is_finite() && x.is_finite() {
                    let wanted = f32::atan2(y, x);
                    worst.1 = worst.1.max((atan2(y, x) - wanted).abs() / (f32::EPSILON * wanted.abs()));
                }
            }
        }
        assert!(worst.0 > 0.1 && worst.0 < 2.0 && worst.1 < 3.0, "{worst:?}");
        assert!(atan2(f64::NAN, 1.0).is_nan() && atan2(1.0, f64::NAN).is_nan());
        assert_eq!(atan2(0.0, 0.0), 0.0);
    }
}
