//! [`Lanes`]: one register of numbers as a [`Real`], whatever the register.

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::Lane;
use super::isa::{self, Apart, Isa};
use crate::scalar::atan2::atan2;
use crate::scalar::{Blend, Float, Local, Mask, Real};

/// A machine register of `WIDTH` numbers, and the instructions that [`Lanes`] is made of.
///
/// The functions look safe, but those of an x86 register are undefined on a machine without its instructions.
/// That cannot happen, because nothing outside this module can name `Lanes` of such a register: only
/// [`Dispatch`](super::Dispatch) hands them out, after it has found the instructions.
///
/// # Safety
/// The type has the size and layout of `[Self::Float; WIDTH]`, and `WIDTH` is at most 16.
pub unsafe trait Register: Copy + Debug + Send + Sync + 'static {
    /// One of its numbers.
    type Float: Float + super::Dispatch;
    /// The register of an answer: one bit, or one number full of ones or zeros, for each lane.
    type Bits: Copy + Debug + Send + Sync + 'static;
    /// How many numbers.
    const WIDTH: usize;
    /// The instructions that it takes.
    const ISA: Isa;

    fn splat(x: Self::Float) -> Self;
    fn add(a: Self, b: Self) -> Self;
    fn sub(a: Self, b: Self) -> Self;
    fn mul(a: Self, b: Self) -> Self;
    fn div(a: Self, b: Self) -> Self;
    /// a b + c with one rounding
    fn mul_add(a: Self, b: Self, c: Self) -> Self;
    /// Flips the sign bit.
    fn neg(a: Self) -> Self;
    /// Clears the sign bit.
    fn abs(a: Self) -> Self;
    fn sqrt(a: Self) -> Self;
    fn floor(a: Self) -> Self;
    /// `b < a ? b : a`
    fn min(a: Self, b: Self) -> Self;
    /// `a < b ? b : a`
    fn max(a: Self, b: Self) -> Self;

    fn lt(a: Self, b: Self) -> Self::Bits;
    fn le(a: Self, b: Self) -> Self::Bits;
    fn eq(a: Self, b: Self) -> Self::Bits;
    /// `bits ? a : b`
    fn select(bits: Self::Bits, a: Self, b: Self) -> Self;

    /// True in the first `count` lanes.
    fn bits_first(count: usize) -> Self::Bits;
    fn bits_splat(bit: bool) -> Self::Bits;
    fn bits_and(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    fn bits_or(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    fn bits_not(a: Self::Bits) -> Self::Bits;
    fn bits_any(a: Self::Bits) -> bool;
    fn bits_all(a: Self::Bits) -> bool;
    /// `bits ? a : b`
    fn bits_select(bits: Self::Bits, a: Self::Bits, b: Self::Bits) -> Self::Bits;

    /// # Safety
    /// As [`Lane::load`].
    unsafe fn load(source: *const Self::Float) -> Self;
    /// # Safety
    /// As [`Lane::store`].
    unsafe fn store(self, target: *mut Self::Float);
    /// # Safety
    /// As [`Lane::load_rows`].
    unsafe fn load_rows(source: *const Self::Float, rows: &[usize; 16]) -> [Self; 4];
    /// # Safety
    /// As [`Lane::load_differences`].
    #[inline(always)]
    unsafe fn load_differences(
        source: *const Self::Float,
        rows: &[usize; 16],
        from: &[usize; 16],
    ) -> [Self; 4] {
        // SAFETY: the caller's promise.
        let (mut turned, from) = unsafe { (Self::load_rows(source, rows), Self::load_rows(source, from)) };
        for c in 0..4 {
            turned[c] = Self::sub(turned[c], from[c]);
        }
        turned
    }

    /// As [`Lane::EIGHT`].
    const EIGHT: bool = false;
    /// # Safety
    /// As [`Lane::store_rows_of_eight`].
    #[inline(always)]
    unsafe fn store_rows_of_eight(
        [a, b, c, d, e, f, g, h]: [Self; 8],
        target: *mut Self::Float,
        rows: &[usize; 16],
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            Self::store_rows([a, b, c, d], target, rows);
            Self::store_rows([e, f, g, h], target.add(4), rows);
        }
    }

    /// # Safety
    /// As [`Lane::store_rows`].
    unsafe fn store_rows(values: [Self; 4], target: *mut Self::Float, rows: &[usize; 16]);
}

/// The numbers of one register, each in its own lane.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Lanes<T: Register>(T);

/// The answer of a comparison of [`Lanes`].
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct LaneMask<T: Register>(T::Bits);

impl<T: Register> Lanes<T> {
    /// Through memory, for what has no instruction: lane i is number i.
    #[inline(always)]
    fn to_array(self) -> [T::Float; 16] {
        let mut numbers = [T::Float::default(); 16];
        // SAFETY: WIDTH is at most 16.
        unsafe { self.0.store(numbers.as_mut_ptr()) };
        numbers
    }

    #[inline(always)]
    fn from_array(numbers: [T::Float; 16]) -> Self {
        // SAFETY: WIDTH is at most 16.
        Lanes(unsafe { T::load(numbers.as_ptr()) })
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident),*) => {$(
        impl<T: Register> $trait for Lanes<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Lanes(T::$method(self.0, other.0))
            }
        }
    )*};
}
operators!(Add add, Sub sub, Mul mul, Div div);

impl<T: Register> Neg for Lanes<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Lanes(T::neg(self.0))
    }
}

macro_rules! by_instruction {
    ($($method:ident($($other:ident)?)),*) => {$(
        #[inline(always)]
        fn $method(self $(, $other: Self)?) -> Self {
            Lanes(T::$method(self.0 $(, $other.0)?))
        }
    )*};
}

macro_rules! compare {
    ($($method:ident),*) => {$(
        #[inline(always)]
        fn $method(self, other: Self) -> LaneMask<T> {
            LaneMask(T::$method(self.0, other.0))
        }
    )*};
}

// The scalar's own function for each lane, so that lanes and scalars give the same bits.
macro_rules! lane_by_lane {
    ($($method:ident($($other:ident)?)),*) => {$(
        #[inline(always)]
        fn $method(self $(, $other: Self)?) -> Self {
            let mut numbers = self.to_array();
            $(let $other = $other.to_array();)?
            for i in 0..T::WIDTH {
                numbers[i] = Real::$method(numbers[i] $(, $other[i])?);
            }
            Self::from_array(numbers)
        }
    )*};
}

impl<T: Register> Real for Lanes<T> {
    type Mask = LaneMask<T>;
    type Float = T::Float;

    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        Lanes(T::splat(<T::Float as Real>::from_f64(x)))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Lanes(T::mul_add(self.0, b.0, c.0))
    }
    #[inline(always)]
    fn select(mask: LaneMask<T>, a: Self, b: Self) -> Self {
        Lanes(T::select(mask.0, a.0, b.0))
    }
    compare!(lt, le, eq);
    by_instruction!(sqrt(), abs(), floor(), min(other), max(other));
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        atan2(self, x)
    }
    lane_by_lane!(sin(), cos(), tan(), asin(), acos(), exp(), ln(), tanh(), powf(exponent));
}

// SAFETY: transparent over a register, which promises the layout.
unsafe impl<T: Register> Lane for Lanes<T> {
    type Element = T::Float;
    const WIDTH: usize = T::WIDTH;

    #[inline(always)]
    fn apart<A: Apart>(part: A) -> A::Output {
        isa::apart::<T, A>(part)
    }

    #[inline(always)]
    fn splat(x: T::Float) -> Self {
        Lanes(T::splat(x))
    }

    #[inline(always)]
    unsafe fn load(source: *const T::Float) -> Self {
        // SAFETY: the caller's promise is the same.
        Lanes(unsafe { T::load(source) })
    }
    #[inline(always)]
    unsafe fn store(self, target: *mut T::Float) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.0.store(target) }
    }
    #[inline(always)]
    unsafe fn load_rows(source: *const T::Float, rows: &[usize; 16]) -> [Self; 4] {
        // SAFETY: the caller's promise is the same.
        let [x, y, z, w] = unsafe { T::load_rows(source, rows) };
        [Lanes(x), Lanes(y), Lanes(z), Lanes(w)]
    }
    #[inline(always)]
    unsafe fn store_rows([x, y, z, w]: [Self; 4], target: *mut T::Float, rows: &[usize; 16]) {
        // SAFETY: the caller's promise is the same.
        unsafe { T::store_rows([x.0, y.0, z.0, w.0], target, rows) }
    }
    #[inline(always)]
    unsafe fn load_differences(source: *const T::Float, rows: &[usize; 16], from: &[usize; 16]) -> [Self; 4] {
        // SAFETY: the caller's promise is the same.
        let [x, y, z, w] = unsafe { T::load_differences(source, rows, from) };
        [Lanes(x), Lanes(y), Lanes(z), Lanes(w)]
    }
    const EIGHT: bool = T::EIGHT;
    #[inline(always)]
    unsafe fn store_rows_of_eight(
        [a, b, c, d, e, f, g, h]: [Self; 8],
        target: *mut T::Float,
        rows: &[usize; 16],
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe { T::store_rows_of_eight([a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0], target, rows) }
    }
    #[inline(always)]
    fn lane(self, i: usize) -> T::Float {
        debug_assert!(i < T::WIDTH);
        self.to_array()[i]
    }
    #[inline(always)]
    fn value_in(self, i: usize) -> f64 {
        self.lane(i).to_f64()
    }
    #[inline(always)]
    fn first(count: usize) -> LaneMask<T> {
        LaneMask(T::bits_first(count))
    }
}

impl<T: Register> BitAnd for LaneMask<T> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        LaneMask(T::bits_and(self.0, other.0))
    }
}

impl<T: Register> BitOr for LaneMask<T> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        LaneMask(T::bits_or(self.0, other.0))
    }
}

impl<T: Register> Not for LaneMask<T> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        LaneMask(T::bits_not(self.0))
    }
}

impl<T: Register> Mask for LaneMask<T> {
    #[inline(always)]
    fn splat(bit: bool) -> Self {
        LaneMask(T::bits_splat(bit))
    }
    #[inline(always)]
    fn any(self) -> bool {
        T::bits_any(self.0)
    }
    #[inline(always)]
    fn all(self) -> bool {
        T::bits_all(self.0)
    }
    #[inline(always)]
    fn select(self, a: Self, b: Self) -> Self {
        LaneMask(T::bits_select(self.0, a.0, b.0))
    }
}

// A mask has no cotangent: what is added to it is ignored.
impl<T: Register> Local<Lanes<T>> for LaneMask<T> {
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

impl<T: Register> Blend<Lanes<T>> for LaneMask<T> {
    #[inline(always)]
    fn select(mask: Self, a: Self, b: Self) -> Self {
        Mask::select(mask, a, b)
    }
}
