//! [`Local`]: what a variable inside a kernel can be, and how its cotangent adds up.

use super::Real;

/// A value that a kernel on the scalar `R` can hold in a variable.
///
/// A cotangent has the type of its value. Indices, masks and kinds have none: theirs is ignored.
pub trait Local<R: Real>: Copy {
    /// The zero that cotangents start from: -0.0, because x + -0.0 is x for every x, so that the
    /// compiler can drop the first addition (it may not drop x + 0.0).
    fn zero() -> Self;
    /// `self + contribution`, for cotangents.
    fn plus(self, contribution: Self) -> Self;
    /// `self - contribution`, for cotangents.
    fn minus(self, contribution: Self) -> Self;
    /// `self` in the lanes of the mask, zero in the others, for cotangents.
    fn keep(self, mask: R::Mask) -> Self;
}

/// A value that an `if` can choose: lanes may take different sides, so that both are computed and blended.
#[diagnostic::on_unimplemented(
    message = "`if` cannot choose a value of type `{Self}`",
    label = "an index is the same in all lanes, but a condition on numbers is not",
    note = "write `match` on an index to choose an index"
)]
pub trait Blend<R: Real>: Local<R> {
    /// `mask ? a : b`, lane by lane.
    fn select(mask: R::Mask, a: Self, b: Self) -> Self;
}

/// The zero cotangent of `value`.
#[inline(always)]
pub fn zero_like<R: Real, T: Local<R>>(_value: T) -> T {
    T::zero()
}

/// `bar += contribution`
#[inline(always)]
pub fn accumulate<R: Real, T: Local<R>>(bar: &mut T, contribution: T) {
    *bar = bar.plus(contribution);
}

/// `mask ? a : b`, lane by lane.
#[inline(always)]
pub fn select<R: Real, T: Blend<R>>(mask: R::Mask, a: T, b: T) -> T {
    T::select(mask, a, b)
}

impl<R: Real> Local<R> for R {
    #[inline(always)]
    fn zero() -> Self {
        R::from_f64(-0.0)
    }
    #[inline(always)]
    fn plus(self, contribution: Self) -> Self {
        self + contribution
    }
    #[inline(always)]
    fn minus(self, contribution: Self) -> Self {
        self - contribution
    }
    #[inline(always)]
    fn keep(self, mask: R::Mask) -> Self {
        <R as Real>::select(mask, self, <R as Local<R>>::zero())
    }
}

impl<R: Real> Blend<R> for R {
    #[inline(always)]
    fn select(mask: R::Mask, a: Self, b: Self) -> Self {
        <R as Real>::select(mask, a, b)
    }
}

// Loops rather than `array::map`: closures do not inherit the target features of their caller.
impl<R: Real, T: Local<R>, const N: usize> Local<R> for [T; N] {
    #[inline(always)]
    fn zero() -> Self {
        [T::zero(); N]
    }
    #[inline(always)]
    fn plus(mut self, contribution: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].plus(contribution[i]);
        }
        self
    }
    #[inline(always)]
    fn minus(mut self, contribution: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].minus(contribution[i]);
        }
        self
    }
    #[inline(always)]
    fn keep(mut self, mask: R::Mask) -> Self {
        for i in 0..N {
            self[i] = self[i].keep(mask);
        }
        self
    }
}

impl<R: Real, T: Blend<R>, const N: usize> Blend<R> for [T; N] {
    #[inline(always)]
    fn select(mask: R::Mask, mut a: Self, b: Self) -> Self {
        for i in 0..N {
            a[i] = T::select(mask, a[i], b[i]);
        }
        a
    }
}

macro_rules! uniform {
    ($($index:ty = $zero:expr),*) => {$(
        impl<R: Real> Local<R> for $index {
            #[inline(always)]
            fn zero() -> Self {
                $zero
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
            fn keep(self, _: R::Mask) -> Self {
                self
            }
        }
    )*};
}
uniform!(u32 = 0, usize = 0);

impl<R: Real<Mask = bool>> Local<R> for bool {
    #[inline(always)]
    fn zero() -> Self {
        false
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
    fn keep(self, _: bool) -> Self {
        self
    }
}

impl<R: Real<Mask = bool>> Blend<R> for bool {
    #[inline(always)]
    fn select(mask: bool, a: Self, b: Self) -> Self {
        if mask { a } else { b }
    }
}

impl<R: Real> Local<R> for () {
    #[inline(always)]
    fn zero() -> Self {}
    #[inline(always)]
    fn plus(self, _: Self) -> Self {}
    #[inline(always)]
    fn minus(self, _: Self) -> Self {}
    #[inline(always)]
    fn keep(self, _: R::Mask) -> Self {}
}

macro_rules! tuples {
    ($($($name:ident $i:tt),+;)*) => {$(
        impl<R: Real, $($name: Local<R>),+> Local<R> for ($($name,)+) {
            #[inline(always)]
            fn zero() -> Self {
                ($($name::zero(),)+)
            }
            #[inline(always)]
            fn plus(self, contribution: Self) -> Self {
                ($(self.$i.plus(contribution.$i),)+)
            }
            #[inline(always)]
            fn minus(self, contribution: Self) -> Self {
                ($(self.$i.minus(contribution.$i),)+)
            }
            #[inline(always)]
            fn keep(self, mask: R::Mask) -> Self {
                ($(self.$i.keep(mask),)+)
            }
        }

        impl<R: Real, $($name: Blend<R>),+> Blend<R> for ($($name,)+) {
            #[inline(always)]
            fn select(mask: R::Mask, a: Self, b: Self) -> Self {
                ($($name::select(mask, a.$i, b.$i),)+)
            }
        }
    )*};
}
tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11;
}
