//! Scalars of the kernel language.
pub mod scalar;
