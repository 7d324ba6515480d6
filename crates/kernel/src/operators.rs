//! `*` and `/` of the kernel language, each with its pullback. (`+`, `-` and negation are linear: their pullbacks
//! need no values.)

use crate::scalar::{Local, Real};

/// A value that can be scaled: a vector of numbers, whatever it means.
#[diagnostic::on_unimplemented(
    message = "kernels cannot multiply or divide `{Self}` by a number",
    note = "numbers are written with a decimal point, `2.0`; integers are indices"
)]
pub trait Linear<R: Real>: Local<R> {
    /// s a
    fn scale(self, s: R) -> Self;
    /// s a + c, each number with one rounding
    fn scale_add(self, s: R, c: Self) -> Self;
    /// a / s
    fn divide(self, s: R) -> Self;
    /// sum + Σ aᵢ bᵢ, in order, each step with one rounding
    fn inner_add(self, other: Self, sum: R) -> R;
    /// Σ aᵢ bᵢ
    #[inline(always)]
    fn inner(self, other: Self) -> R {
        self.inner_add(other, R::zero())
    }
    /// -a
    #[inline(always)]
    fn negative(self) -> Self {
        self.scale(R::from_f64(-1.0))
    }
}

impl<R: Real> Linear<R> for R {
    #[inline(always)]
    fn scale(self, s: R) -> Self {
        self * s
    }
    #[inline(always)]
    fn divide(self, s: R) -> Self {
        self / s
    }
    #[inline(always)]
    fn scale_add(self, s: R, c: Self) -> Self {
        self.mul_add(s, c)
    }
    #[inline(always)]
    fn inner_add(self, other: Self, sum: R) -> R {
        self.mul_add(other, sum)
    }
    #[inline(always)]
    fn negative(self) -> Self {
        -self
    }
}

impl<R: Real, T: Linear<R>, const N: usize> Linear<R> for [T; N] {
    #[inline(always)]
    fn scale(mut self, s: R) -> Self {
        for i in 0..N {
            self[i] = self[i].scale(s);
        }
        self
    }
    #[inline(always)]
    fn divide(mut self, s: R) -> Self {
        for i in 0..N {
            self[i] = self[i].divide(s);
        }
        self
    }
    #[inline(always)]
    fn scale_add(mut self, s: R, c: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].scale_add(s, c[i]);
        }
        self
    }
    #[inline(always)]
    fn inner_add(self, other: Self, mut sum: R) -> R {
        for i in 0..N {
            sum = self[i].inner_add(other[i], sum);
        }
        sum
    }
}

/// `self * rhs` in kernels.
#[diagnostic::on_unimplemented(
    message = "kernels cannot multiply `{Self}` by `{Rhs}`",
    note = "numbers are written with a decimal point, `2.0`; `*` joins numbers, a number and a vector, matrix and \
            vector, matrices, quaternions; other products have names: `dot(a, b)`, `cross(a, b)`"
)]
pub trait Times<R: Real, Rhs>: Copy {
    /// The type of the product.
    type Output;
    /// a b
    fn times(self, rhs: Rhs) -> Self::Output;
    /// (a_bar, b_bar) of c = a b
    fn times_pullback(self, rhs: Rhs, out_bar: Self::Output) -> (Self, Rhs);
    /// (a_bar, b_bar) of c = a b, added to what they were
    fn times_pullback_add(self, rhs: Rhs, out_bar: Self::Output, bars: (Self, Rhs)) -> (Self, Rhs);
}

/// c = s a:  a_bar = s c_bar,  s_bar = a·c_bar
impl<R: Real, T: Linear<R>> Times<R, R> for T {
    type Output = T;
    #[inline(always)]
    fn times(self, s: R) -> T {
        self.scale(s)
    }
    #[inline(always)]
    fn times_pullback(self, s: R, out_bar: T) -> (T, R) {
        (out_bar.scale(s), self.inner(out_bar))
    }
    #[inline(always)]
    fn times_pullback_add(self, s: R, out_bar: T, (a_bar, s_bar): (T, R)) -> (T, R) {
        (out_bar.scale_add(s, a_bar), self.inner_add(out_bar, s_bar))
    }
}

/// `a * b + c`, `a * b - c` and `c - a * b` of the language: with one rounding for numbers and what they scale.
#[diagnostic::on_unimplemented(
    message = "kernels cannot add a product of `{Self}` and `{Rhs}` to a `{Addend}`"
)]
pub trait TimesAdd<R: Real, Rhs, Addend>: Times<R, Rhs> {
    /// a b + c
    fn times_plus(self, rhs: Rhs, c: Addend) -> Self::Output;
    /// a b - c
    fn times_minus(self, rhs: Rhs, c: Addend) -> Self::Output;
    /// c - a b
    fn minus_times(self, rhs: Rhs, c: Addend) -> Self::Output;
}

impl<R: Real, T: Linear<R>> TimesAdd<R, R, T> for T {
    #[inline(always)]
    fn times_plus(self, s: R, c: T) -> T {
        self.scale_add(s, c)
    }
    #[inline(always)]
    fn times_minus(self, s: R, c: T) -> T {
        self.scale_add(s, c.negative())
    }
    #[inline(always)]
    fn minus_times(self, s: R, c: T) -> T {
        self.scale_add(-s, c)
    }
}

impl<R: Real> TimesAdd<R, usize, usize> for usize {
    #[inline(always)]
    fn times_plus(self, rhs: usize, c: usize) -> usize {
        self * rhs + c
    }
    #[inline(always)]
    fn times_minus(self, rhs: usize, c: usize) -> usize {
        self * rhs - c
    }
    #[inline(always)]
    fn minus_times(self, rhs: usize, c: usize) -> usize {
        c - self * rhs
    }
}

impl<R: Real> Times<R, usize> for usize {
    type Output = usize;
    #[inline(always)]
    fn times(self, rhs: usize) -> usize {
        self * rhs
    }
    #[inline(always)]
    fn times_pullback(self, _: usize, _: usize) -> (usize, usize) {
        (0, 0)
    }
    #[inline(always)]
    fn times_pullback_add(self, _: usize, _: usize, _: (usize, usize)) -> (usize, usize) {
        (0, 0)
    }
}

/// `self / rhs` in kernels.
#[diagnostic::on_unimplemented(
    message = "kernels cannot divide `{Self}` by `{Rhs}`",
    note = "numbers are written with a decimal point, `2.0`; divide by a number, or multiply by `inverse(a)`"
)]
pub trait Over<R: Real, Rhs>: Copy {
    /// The type of the quotient.
    type Output;
    /// a / b
    fn over(self, rhs: Rhs) -> Self::Output;
    /// (a_bar, b_bar) of c = a / b
    fn over_pullback(self, rhs: Rhs, out_bar: Self::Output) -> (Self, Rhs);
}

/// c = a / s:  a_bar = c_bar / s,  s_bar = -c·c_bar / s
impl<R: Real, T: Linear<R>> Over<R, R> for T {
    type Output = T;
    #[inline(always)]
    fn over(self, s: R) -> T {
        self.divide(s)
    }
    #[inline(always)]
    fn over_pullback(self, s: R, out_bar: T) -> (T, R) {
        let a_bar = out_bar.divide(s);
        (a_bar, -self.divide(s).inner(a_bar))
    }
}

impl<R: Real> Over<R, usize> for usize {
    type Output = usize;
    #[inline(always)]
    fn over(self, rhs: usize) -> usize {
        self / rhs
    }
    #[inline(always)]
    fn over_pullback(self, _: usize, _: usize) -> (usize, usize) {
        (0, 0)
    }
}
