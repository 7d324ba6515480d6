//! The kernel language of Pullback.
//!
//! Physics is written as small pure functions, marked [`kernel`](macro@kernel); the macro writes their pullbacks.
// Generated code names this crate from outside; inside, it is its own outside.
extern crate self as pullback_kernel;

/// `main` prints errors by `Debug`: these say there what they say to people.
macro_rules! debug_as_display {
    ($($error:ty),*) => {$(
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )*};
}
pub(crate) use debug_as_display;

pub mod cuda;
pub mod gradcheck;
mod kernel;
pub mod math;
mod operators;
pub mod patterns;
pub mod program;
#[doc(hidden)]
#[allow(missing_docs)]
pub mod rt;
pub mod scalar;

pub use kernel::{Argument, Kernel, Kind, Once, Value, With, numbers, numbers_mut};
pub use operators::{Linear, Over, Times, TimesAdd};
pub use pullback_kernel_macro::{Kind, Value, kernel};

/// What a file of kernels wants in scope.
pub mod prelude {
    pub use crate::math::*;
    pub use crate::program::{Buffer, Constant, Program, RunOptions, Workspace};
    pub use crate::scalar::lanes::{Isa, Width};
    pub use crate::scalar::{Dual, Float, Real};
    pub use crate::{Argument, Kernel, Kind, Value, With, kernel};
}

/// The snippets of the documents are tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../docs/kernels.md")]
    pub struct Kernels;
    #[doc = include_str!("../../../docs/programs.md")]
    pub struct Programs;
}
