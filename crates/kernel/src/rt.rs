//! What generated code calls. Not for people: its names follow what the macro writes.

pub use crate::cuda::check::Registered;
pub use crate::cuda::{CConstant, Definition, Piece, Source, Struct};
pub use crate::kernel::{Argument, Kernel, Kind, Value, With};
pub use crate::operators::{Linear, Over, Times, TimesAdd};
pub use inventory::submit;

pub use crate::scalar::{Blend, Compare, Dual, Local, Mask, Real, accumulate, select, zero_like};

/// A constant item in a kernel: `f64` becomes the scalar, indices and kinds stay.
#[diagnostic::on_unimplemented(
    message = "a constant of type `{Self}` has no place in a kernel",
    note = "constants are `f64` numbers, `usize` indices and kinds"
)]
pub trait Constant<R: Real> {
    /// Its type in the kernel.
    type Lifted;
    /// Its value in the kernel.
    fn lift(self) -> Self::Lifted;
}

impl<R: Real> Constant<R> for f64 {
    type Lifted = R;
    #[inline(always)]
    fn lift(self) -> R {
        R::from_f64(self)
    }
}

impl<R: Real> Constant<R> for usize {
    type Lifted = usize;
    #[inline(always)]
    fn lift(self) -> usize {
        self
    }
}

#[inline(always)]
pub fn constant<R: Real, T: Constant<R>>(constant: T) -> T::Lifted {
    constant.lift()
}

#[inline(always)]
pub fn zero<R: Real, T: Local<R>>() -> T {
    T::zero()
}

/// `bar -= contribution`
#[inline(always)]
pub fn subtract<R: Real, T: Local<R>>(bar: &mut T, contribution: T) {
    *bar = bar.minus(contribution);
}

/// `value` in the lanes of the mask, zero in the others.
#[inline(always)]
pub fn keep<R: Real, T: Local<R>>(mask: R::Mask, value: T) -> T {
    value.keep(mask)
}

#[inline(always)]
pub fn not<R: Real>(a: R::Mask) -> R::Mask {
    !a
}

#[inline(always)]
pub fn and<R: Real>(a: R::Mask, b: R::Mask) -> R::Mask {
    a & b
}

#[inline(always)]
pub fn or<R: Real>(a: R::Mask, b: R::Mask) -> R::Mask {
    a | b
}

#[inline(always)]
pub fn condition<R: Real>(mask: R::Mask) -> R::Mask {
    mask
}

#[inline(always)]
pub fn bit<R: Real>(bit: bool) -> R::Mask {
    R::Mask::splat(bit)
}

#[inline(always)]
pub fn any<M: Mask>(mask: M) -> bool {
    mask.any()
}

#[inline(always)]
pub fn all<M: Mask>(mask: M) -> bool {
    mask.all()
}

#[inline(always)]
pub fn lt<R: Real, T: Compare<R>>(a: T, b: T) -> R::Mask {
    a.lt(b)
}

#[inline(always)]
pub fn le<R: Real, T: Compare<R>>(a: T, b: T) -> R::Mask {
    a.le(b)
}

#[inline(always)]
pub fn eq<R: Real, T: Compare<R>>(a: T, b: T) -> R::Mask {
    a.eq(b)
}

#[inline(always)]
pub fn ne<R: Real, T: Compare<R>>(a: T, b: T) -> R::Mask {
    !a.eq(b)
}

/// Two factors. A pair, so that rustc sees both types before it looks for the product, and says which two do not fit.
pub trait Factors<R: Real>: Sized {
    type Output;
    fn times(self) -> Self::Output;
    fn pullback_add(self, out_bar: Self::Output, bars: Self) -> Self;
}

impl<R: Real, A: Times<R, B>, B> Factors<R> for (A, B) {
    type Output = A::Output;
    #[inline(always)]
    fn times(self) -> A::Output {
        self.0.times(self.1)
    }
    #[inline(always)]
    fn pullback_add(self, out_bar: A::Output, bars: Self) -> Self {
        self.0.times_pullback_add(self.1, out_bar, bars)
    }
}

/// Two factors and an addend.
pub trait Fused<R: Real> {
    type Output;
    fn times_plus(self) -> Self::Output;
    fn times_minus(self) -> Self::Output;
    fn minus_times(self) -> Self::Output;
}

impl<R: Real, A: TimesAdd<R, B, C>, B, C> Fused<R> for (A, B, C) {
    type Output = A::Output;
    #[inline(always)]
    fn times_plus(self) -> A::Output {
        self.0.times_plus(self.1, self.2)
    }
    #[inline(always)]
    fn times_minus(self) -> A::Output {
        self.0.times_minus(self.1, self.2)
    }
    #[inline(always)]
    fn minus_times(self) -> A::Output {
        self.0.minus_times(self.1, self.2)
    }
}

/// A dividend and a divisor.
pub trait Quotient<R: Real> {
    type Output;
    fn over(self) -> Self::Output;
    fn pullback(self, out_bar: Self::Output) -> Self;
}

impl<R: Real, A: Over<R, B>, B> Quotient<R> for (A, B) {
    type Output = A::Output;
    #[inline(always)]
    fn over(self) -> A::Output {
        self.0.over(self.1)
    }
    #[inline(always)]
    fn pullback(self, out_bar: A::Output) -> Self {
        self.0.over_pullback(self.1, out_bar)
    }
}

#[inline(always)]
pub fn times<R: Real, T: Factors<R>>(factors: T) -> T::Output {
    factors.times()
}

/// (a_bar, b_bar) of c = a b, added to what they were; bars that nobody needs may be zeros.
#[inline(always)]
pub fn times_pullback_add<R: Real, T: Factors<R>>(factors: T, out_bar: T::Output, bars: T) -> T {
    factors.pullback_add(out_bar, bars)
}

/// a b + c
#[inline(always)]
pub fn times_plus<R: Real, T: Fused<R>>(fused: T) -> T::Output {
    fused.times_plus()
}

/// a b - c
#[inline(always)]
pub fn times_minus<R: Real, T: Fused<R>>(fused: T) -> T::Output {
    fused.times_minus()
}

/// c - a b
#[inline(always)]
pub fn minus_times<R: Real, T: Fused<R>>(fused: T) -> T::Output {
    fused.minus_times()
}

/// The cotangent -bar.
#[inline(always)]
pub fn negate<R: Real, T: Local<R>>(bar: T) -> T {
    T::zero().minus(bar)
}

#[inline(always)]
pub fn over<R: Real, T: Quotient<R>>(quotient: T) -> T::Output {
    quotient.over()
}

#[inline(always)]
pub fn over_pullback<R: Real, T: Quotient<R>>(quotient: T, out_bar: T::Output) -> T {
    quotient.pullback(out_bar)
}

/// The sum of an array's elements: the cotangent of what `[x; N]` repeats.
#[inline(always)]
pub fn sum<R: Real, T: Local<R>, const N: usize>(elements: [T; N]) -> T {
    let mut sum = T::zero();
    for i in 0..N {
        sum = sum.plus(elements[i]);
    }
    sum
}

/// `a`, with the type of `b`.
#[inline(always)]
pub fn same_type<T>(a: T, _b: T) -> T {
    a
}

/// The pullback of minus the gradient of an energy K: the tangent of that gradient along the cotangent of the force, which is
/// the tangent of the first argument (Hessians are symmetric).
#[inline(always)]
pub fn force_pullback<K: Kernel<Output = f64>, R: Real>(
    arguments: With<K::Arguments, R>,
    along: With<K::Arguments, R>,
) -> With<K::Arguments, R> {
    let dual = <K::Arguments as Argument>::dual::<R>(arguments, along);
    let bars = K::pullback::<Dual<R>>(dual, Dual::constant(R::from_f64(-1.0)));
    <K::Arguments as Argument>::parts::<R>(bars).1
}

pub fn c_type<T: Argument>(source: &mut Source) -> String {
    T::c_type(source)
}

/// The scalar with a tangent.
pub fn c_dual(source: &mut Source) -> String {
    source.add_dual()
}

pub fn c_constant<T: CConstant>(constant: T) -> String {
    constant.c_constant()
}
