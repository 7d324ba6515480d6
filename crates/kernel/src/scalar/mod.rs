//! Scalars: what a kernel's `R` can be.
//!
//! | scalar | what a kernel computes with it |
//! |---|---|
//! | `f32`, `f64` | values |
//! | [`Dual`] | values and one tangent (pushforward); a pullback on it gives Hessian-vector products |
//! | [`lanes`] | 4, 8 or 16 worlds or elements at once, in one SIMD register |

mod atan2;
mod dual;
mod float;
pub mod lanes;
mod local;
mod real;

pub use dual::{Dual, DualMask};
pub use float::Float;
pub use local::{Blend, Local, accumulate, select, zero_like};
pub use real::{Compare, Mask, Real};
