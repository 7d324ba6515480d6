//! CUDA: the text of kernels, and the device that runs it.

pub mod check;
mod source;

pub use source::{CConstant, Definition, Piece, Source, Struct};
