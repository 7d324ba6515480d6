//! The builtins of the kernel language: functions, vectors, matrices, quaternions, poses, spatial vectors.
//!
//! Each is a kernel. Where mathematics gives a shorter pullback than the macro's, it is named and stands right below
//! its forward, with the formula; the macro's stays as its test.

mod articulated;
mod functions;
mod matrix;
mod pose;
mod quaternion;
mod spatial;
mod symmetric;
mod vector;

pub use articulated::*;
pub use functions::*;
pub use matrix::*;
pub use pose::*;
pub use quaternion::*;
pub use spatial::*;
pub use symmetric::*;
pub use vector::*;

use crate::Kernel;
use crate::cuda::{Definition, Source};

/// `left * right` for two types is this kernel, in Rust and in C++.
macro_rules! product {
    ($left:ident * $right:ident -> $out:ident = $kernel:ident) => {
        impl<R: Real> $crate::Times<R, $right<R>> for $left<R> {
            type Output = $out<R>;
            #[inline(always)]
            fn times(self, rhs: $right<R>) -> $out<R> {
                $kernel(self, rhs)
            }
            #[inline(always)]
            fn times_pullback(self, rhs: $right<R>, out_bar: $out<R>) -> (Self, $right<R>) {
                $kernel::pullback(self, rhs, out_bar)
            }
            #[inline(always)]
            fn times_pullback_add(
                self,
                rhs: $right<R>,
                out_bar: $out<R>,
                bars: (Self, $right<R>),
            ) -> (Self, $right<R>) {
                let (a_bar, b_bar) = $kernel::pullback(self, rhs, out_bar);
                (bars.0 + a_bar, bars.1 + b_bar)
            }
        }
        impl<R: Real> $crate::TimesAdd<R, $right<R>, $out<R>> for $left<R> {
            #[inline(always)]
            fn times_plus(self, rhs: $right<R>, c: $out<R>) -> $out<R> {
                $kernel(self, rhs) + c
            }
            #[inline(always)]
            fn times_minus(self, rhs: $right<R>, c: $out<R>) -> $out<R> {
                $kernel(self, rhs) - c
            }
            #[inline(always)]
            fn minus_times(self, rhs: $right<R>, c: $out<R>) -> $out<R> {
                c - $kernel(self, rhs)
            }
        }
        impl<R: Real> ::core::ops::Mul<$right<R>> for $left<R> {
            type Output = $out<R>;
            #[inline(always)]
            fn mul(self, rhs: $right<R>) -> $out<R> {
                $kernel(self, rhs)
            }
        }
    };
}
/// `number * value` for a type whose `value * number` is [`Linear`](crate::Linear).
macro_rules! scaled_from_left {
    ($($ty:ident),*) => {$(
        impl<R: Real> $crate::Times<R, $ty<R>> for R {
            type Output = $ty<R>;
            #[inline(always)]
            fn times(self, rhs: $ty<R>) -> $ty<R> {
                $crate::Linear::scale(rhs, self)
            }
            #[inline(always)]
            fn times_pullback(self, rhs: $ty<R>, out_bar: $ty<R>) -> (Self, $ty<R>) {
                ($crate::Linear::inner(rhs, out_bar), $crate::Linear::scale(out_bar, self))
            }
            #[inline(always)]
            fn times_pullback_add(
                self,
                rhs: $ty<R>,
                out_bar: $ty<R>,
                (s_bar, a_bar): (Self, $ty<R>),
            ) -> (Self, $ty<R>) {
                let s_bar = $crate::Linear::inner_add(rhs, out_bar, s_bar);
                (s_bar, $crate::Linear::scale_add(out_bar, self, a_bar))
            }
        }
        impl<R: Real> $crate::TimesAdd<R, $ty<R>, $ty<R>> for R {
            #[inline(always)]
            fn times_plus(self, rhs: $ty<R>, c: $ty<R>) -> $ty<R> {
                $crate::Linear::scale_add(rhs, self, c)
            }
            #[inline(always)]
            fn times_minus(self, rhs: $ty<R>, c: $ty<R>) -> $ty<R> {
                $crate::Linear::scale_add(rhs, self, -c)
            }
            #[inline(always)]
            fn minus_times(self, rhs: $ty<R>, c: $ty<R>) -> $ty<R> {
                $crate::Linear::scale_add(rhs, -self, c)
            }
        }
    )*};
}
pub(crate) use {product, scaled_from_left};

/// The products of types, for C++, where they are overloads of `*`.
/// A function, and its pullback.
type Pulled = (&'static str, fn() -> &'static Definition);

/// Functions of one number, as CUDA's duals have them: what `chain!` of scalar/dual.rs lists.
pub(crate) const PULLBACKS: &[Pulled] = &[
    ("sqrt", <sqrt_pullback as Kernel>::definition),
    ("abs", <abs_pullback as Kernel>::definition),
    ("sin", <sin_pullback as Kernel>::definition),
    ("cos", <cos_pullback as Kernel>::definition),
    ("tan", <tan_pullback as Kernel>::definition),
    ("asin", <asin_pullback as Kernel>::definition),
    ("acos", <acos_pullback as Kernel>::definition),
    ("exp", <exp_pullback as Kernel>::definition),
    ("ln", <ln_pullback as Kernel>::definition),
    ("tanh", <tanh_pullback as Kernel>::definition),
];

/// Those of two.
pub(crate) const PULLBACKS_OF_TWO: &[Pulled] =
    &[("atan2", <atan2_pullback as Kernel>::definition), ("powf", <powf_pullback as Kernel>::definition)];

pub(crate) const PRODUCTS: &[fn(&mut Source)] = &[
    matrix_products,
    symmetric_products,
    quaternion_products,
    pose_products,
    spatial_products,
    articulated_products,
];
