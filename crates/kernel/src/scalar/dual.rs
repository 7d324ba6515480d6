//! [`Dual`]: a value and its tangent.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::{Blend, Local, Mask, Real};
use crate::math::*;

/// x + x_dot ε, ε² = 0
///
/// Comparisons, and so every choice, are by value. A dual of a dual has second derivatives, a dual of lanes
/// has a tangent in each lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Dual<S> {
    /// The value x.
    pub value: S,
    /// The tangent x_dot.
    pub tangent: S,
}

impl<S> Dual<S> {
    /// value + tangent ε
    #[inline(always)]
    pub fn new(value: S, tangent: S) -> Self {
        Dual { value, tangent }
    }
}

impl<S: Real> Dual<S> {
    /// A value that does not move.
    ///
    /// Its tangent is -0.0, because x + -0.0 is x for every x: the compiler can drop the addition (see
    /// [`Local::zero`]).
    #[inline(always)]
    pub fn constant(value: S) -> Self {
        Dual { value, tangent: S::from_f64(-0.0) }
    }
}

impl<S: Real> Add for Dual<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Dual { value: self.value + other.value, tangent: self.tangent + other.tangent }
    }
}

impl<S: Real> Sub for Dual<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Dual { value: self.value - other.value, tangent: self.tangent - other.tangent }
    }
}

// (a b)_dot = a_dot b + a b_dot
impl<S: Real> Mul for Dual<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Dual {
            value: self.value * other.value,
            tangent: self.tangent * other.value + self.value * other.tangent,
        }
    }
}

// q = a / b:  q_dot = (a_dot - q b_dot) / b
impl<S: Real> Div for Dual<S> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Dual { value, tangent: (self.tangent - value * other.tangent) / other.value }
    }
}

impl<S: Real> Neg for Dual<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Dual { value: -self.value, tangent: -self.tangent }
    }
}

// f(x)_dot = f'(x) x_dot: of one number to one number, the pullback is the pushforward, so that what is returned where
// no derivative exists is written once.
macro_rules! chain {
    ($($f:ident $pullback:ident),*) => {$(
        #[inline(always)]
        fn $f(self) -> Self {
            Dual { value: self.value.$f(), tangent: $pullback(self.value, self.tangent) }
        }
    )*};
}

// f(a, b)_dot = df/da a_dot + df/db b_dot
macro_rules! chain2 {
    ($($f:ident $pullback:ident),*) => {$(
        #[inline(always)]
        fn $f(self, b: Self) -> Self {
            let (from_a, _) = $pullback(self.value, b.value, self.tangent);
            let (_, from_b) = $pullback(self.value, b.value, b.tangent);
            Dual { value: self.value.$f(b.value), tangent: from_a + from_b }
        }
    )*};
}

impl<S: Real> Real for Dual<S> {
    type Mask = DualMask<S::Mask>;
    type Float = S::Float;

    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        Dual::constant(S::from_f64(x))
    }
    #[inline(always)]
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self {
        Dual { value: S::select(mask.0, a.value, b.value), tangent: S::select(mask.0, a.tangent, b.tangent) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        DualMask(Real::lt(self.value, other.value))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        DualMask(Real::le(self.value, other.value))
    }
    #[inline(always)]
    fn eq(self, other: Self) -> Self::Mask {
        DualMask(Real::eq(self.value, other.value))
    }

    // (a b + c)_dot = a_dot b + (a b_dot + c_dot)
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Dual {
            value: self.value.mul_add(b.value, c.value),
            tangent: self.tangent.mul_add(b.value, self.value.mul_add(b.tangent, c.tangent)),
        }
    }

    chain!(sqrt sqrt_pullback, abs abs_pullback, sin sin_pullback, cos cos_pullback, tan tan_pullback, asin asin_pullback, acos acos_pullback, exp exp_pullback, ln ln_pullback, tanh tanh_pullback);
    chain2!(atan2 atan2_pullback, powf powf_pullback);

    #[inline(always)]
    fn floor(self) -> Self {
        Dual::constant(self.value.floor())
    }
    // The chosen argument whole, rather than partials times tangents: an infinite tangent of the other one
    // stays out.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        <Self as Real>::select(Real::lt(other, self), other, self)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        <Self as Real>::select(Real::lt(self, other), other, self)
    }
}

/// The answer of a comparison of [`Dual`]s: the mask of their values.
///
/// A type of its own, because `Real` asks of `Dual<S>` a mask that is `Blend<Dual<S>>`, and nothing about a
/// generic `S::Mask` says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct DualMask<M>(pub M);

impl<M: Mask> BitAnd for DualMask<M> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        DualMask(self.0 & other.0)
    }
}

impl<M: Mask> BitOr for DualMask<M> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        DualMask(self.0 | other.0)
    }
}

impl<M: Mask> Not for DualMask<M> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        DualMask(!self.0)
    }
}

impl<M: Mask> Mask for DualMask<M> {
    #[inline(always)]
    fn splat(bit: bool) -> Self {
        DualMask(M::splat(bit))
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0.any()
    }
    #[inline(always)]
    fn all(self) -> bool {
        self.0.all()
    }
    #[inline(always)]
    fn select(self, a: Self, b: Self) -> Self {
        DualMask(self.0.select(a.0, b.0))
    }
}

// A mask has no cotangent: what is added to it is ignored.
impl<S: Real> Local<Dual<S>> for DualMask<S::Mask> {
    #[inline(always)]
    fn zero() -> Self {
        Mask::splat(false)
    }
    #[inline(always)]
    fn plus(self, _: Self) -> Self {
        self
    }
    #[inline(always)]
    fn minus(self, _: Self) -> Self {
        self
    }
    #[inline(always)]
    fn keep(self, _: Self) -> Self {
        self
    }
}

impl<S: Real> Blend<Dual<S>> for DualMask<S::Mask> {
    #[inline(always)]
    fn select(mask: Self, a: Self, b: Self) -> Self {
        Mask::select(mask, a, b)
    }
}
