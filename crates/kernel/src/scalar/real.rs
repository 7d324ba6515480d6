//! [`Real`]: the arithmetic that kernels are written in.

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::{Blend, Float};

/// The answer of a comparison: one bit for each lane of the scalar.
pub trait Mask:
    Copy + Debug + Send + Sync + 'static + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// The same answer in every lane.
    fn splat(bit: bool) -> Self;
    /// Is any lane true?
    fn any(self) -> bool;
    /// Is every lane true?
    fn all(self) -> bool;
    /// `mask ? a : b`, lane by lane.
    fn select(self, a: Self, b: Self) -> Self;
}

impl Mask for bool {
    #[inline(always)]
    fn splat(bit: bool) -> Self {
        bit
    }
    #[inline(always)]
    fn any(self) -> bool {
        self
    }
    #[inline(always)]
    fn all(self) -> bool {
        self
    }
    #[inline(always)]
    fn select(self, a: Self, b: Self) -> Self {
        if self { a } else { b }
    }
}

/// A real number, or several at once.
///
/// Everything is elementwise, so the same kernel gives the same bits lane by lane: there is no reassociation behind
/// these operators, and a multiply-add is fused ([`Real::mul_add`]) on every machine or on none: where the source has
/// `a * b + c`.
pub trait Real:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The answer of a comparison.
    type Mask: Mask + Blend<Self>;
    /// The floating-point number at the bottom: `f32` or `f64`.
    type Float: Float;

    /// The constant `x` in every lane (rounded to this precision), with no tangent.
    fn from_f64(x: f64) -> Self;
    /// `mask ? a : b`, lane by lane.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// `self < other`
    fn lt(self, other: Self) -> Self::Mask;
    /// `self <= other`
    fn le(self, other: Self) -> Self::Mask;
    /// `self == other`
    fn eq(self, other: Self) -> Self::Mask;

    /// `self * b + c` with one rounding.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The largest whole number that is not above `self`.
    fn floor(self) -> Self;
    /// `other < self ? other : self`: the first argument wins a tie.
    fn min(self, other: Self) -> Self;
    /// `self < other ? other : self`: the first argument wins a tie.
    fn max(self, other: Self) -> Self;
    /// Sine of an angle in radians.
    fn sin(self) -> Self;
    /// Cosine of an angle in radians.
    fn cos(self) -> Self;
    /// Tangent of an angle in radians.
    fn tan(self) -> Self;
    /// Inverse sine, in radians.
    fn asin(self) -> Self;
    /// Inverse cosine, in radians.
    fn acos(self) -> Self;
    /// Angle of the point (x = `x`, y = `self`), in radians.
    fn atan2(self, x: Self) -> Self;
    /// e to the power of `self`.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// `self` to the power of `exponent`.
    fn powf(self, exponent: Self) -> Self;
}

/// Comparisons as kernels see them: of scalars lane by lane, of indices the same in all lanes.
pub trait Compare<R: Real>: Copy {
    /// `self < other`
    fn lt(self, other: Self) -> R::Mask;
    /// `self <= other`
    fn le(self, other: Self) -> R::Mask;
    /// `self == other`
    fn eq(self, other: Self) -> R::Mask;
}

impl<R: Real> Compare<R> for R {
    #[inline(always)]
    fn lt(self, other: Self) -> R::Mask {
        Real::lt(self, other)
    }
    #[inline(always)]
    fn le(self, other: Self) -> R::Mask {
        Real::le(self, other)
    }
    #[inline(always)]
    fn eq(self, other: Self) -> R::Mask {
        Real::eq(self, other)
    }
}

macro_rules! compare_indices {
    ($($index:ty),*) => {$(
        impl<R: Real> Compare<R> for $index {
            #[inline(always)]
            fn lt(self, other: Self) -> R::Mask {
                R::Mask::splat(self < other)
            }
            #[inline(always)]
            fn le(self, other: Self) -> R::Mask {
                R::Mask::splat(self <= other)
            }
            #[inline(always)]
            fn eq(self, other: Self) -> R::Mask {
                R::Mask::splat(self == other)
            }
        }
    )*};
}
compare_indices!(u32, usize);
