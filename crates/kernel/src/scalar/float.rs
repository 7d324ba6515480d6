//! `f32` and `f64` as scalars.

use super::Real;

/// A plain floating-point number: the scalar at the bottom of every other one.
pub trait Float: Real<Mask = bool, Float = Self> + Default + PartialOrd {
    /// Its name in C: `float` or `double`.
    const C_NAME: &'static str;
    /// Its distance from 1 to the next number.
    const EPSILON: f64;
    /// The same number in double precision.
    fn to_f64(self) -> f64;
}

macro_rules! float {
    ($float:ident, $c_name:literal) => {
        impl Float for $float {
            const C_NAME: &'static str = $c_name;
            const EPSILON: f64 = $float::EPSILON as f64;
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }

        impl Real for $float {
            type Mask = bool;
            type Float = Self;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $float
            }
            #[inline(always)]
            fn select(mask: bool, a: Self, b: Self) -> Self {
                if mask { a } else { b }
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn eq(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                $float::mul_add(self, b, c)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $float::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $float::abs(self)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                $float::floor(self)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if other < self { other } else { self }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self < other { other } else { self }
            }
            #[inline(always)]
            fn sin(self) -> Self {
                $float::sin(self)
            }
            #[inline(always)]
            fn cos(self) -> Self {
                $float::cos(self)
            }
            #[inline(always)]
            fn tan(self) -> Self {
                $float::tan(self)
            }
            #[inline(always)]
            fn asin(self) -> Self {
                $float::asin(self)
            }
            #[inline(always)]
            fn acos(self) -> Self {
                $float::acos(self)
            }
            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                super::atan2::atan2(self, x)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $float::exp(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                $float::ln(self)
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                $float::tanh(self)
            }
            #[inline(always)]
            fn powf(self, exponent: Self) -> Self {
                $float::powf(self, exponent)
            }
        }
    };
}
float!(f32, "float");
float!(f64, "double");
