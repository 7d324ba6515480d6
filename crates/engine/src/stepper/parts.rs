//! Numbers that steps are made in.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Scalar;

/// A number with a value and, if it is a dual, a tangent.
pub trait Parts: Scalar {
    /// The value alone.
    fn value(self) -> f64;
    /// The tangent; zero if there is none.
    fn tangent(self) -> f64;
    /// From both.
    fn from_parts(value: f64, tangent: f64) -> Self;
    /// Has it a tangent?
    const DUAL: bool;
    /// The distance from 1 to the next number.
    const EPSILON: f64;
}

macro_rules! parts {
    ($($float:ident),*) => {$(
        impl Parts for $float {
            #[inline(always)]
            fn value(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn tangent(self) -> f64 {
                0.0
            }
            #[inline(always)]
            fn from_parts(value: f64, _: f64) -> Self {
                value as $float
            }
            const DUAL: bool = false;
            const EPSILON: f64 = $float::EPSILON as f64;
        }
    )*};
}
parts!(f32, f64);

impl Parts for Dual<f64> {
    #[inline(always)]
    fn value(self) -> f64 {
        self.value
    }
    #[inline(always)]
    fn tangent(self) -> f64 {
        self.tangent
    }
    #[inline(always)]
    fn from_parts(value: f64, tangent: f64) -> Self {
        Dual::new(value, tangent)
    }
    const DUAL: bool = true;
    const EPSILON: f64 = f64::EPSILON;
}
