//! What `#[kernel]` does, in the order of the data:
//!
//! 1. `signature`: the function's scalar, arguments and result;
//! 2. `lower`: its body to single assignment (`ir`), refusing what the language does not have;
//! 3. `fuse`: `a * b + c` becomes one operation;
//! 4. `rust` and `cuda`: the forward and the reverse pass in the two dialects;
//! 5. `item`: the function, its pullback and its CUDA definition as Rust items.
//!
//! There is no type inference here: rustc's traits and C++'s overloads choose the types.

mod cuda;
mod fuse;
mod ir;
mod item;
mod kind;
mod lower;
mod reads;
mod reverse;
mod rust;
mod signature;
mod text;
mod value;

use proc_macro2::TokenStream;

/// Expands `#[kernel(attributes)] item`.
pub fn kernel(attributes: TokenStream, item: TokenStream) -> TokenStream {
    item::kernel(attributes, item).unwrap_or_else(|error| error.to_compile_error())
}

/// The CUDA C++ of a kernel, with other kernels and types by their plain names: for people to read.
pub fn readable_cuda(attributes: TokenStream, item: TokenStream) -> Result<String, String> {
    item::readable_cuda(attributes, item).map_err(|error| error.to_string())
}

/// Expands `#[derive(Value)]`.
pub fn value(item: TokenStream) -> TokenStream {
    value::value(item).unwrap_or_else(|error| error.to_compile_error())
}

/// Expands `#[derive(Kind)]`.
pub fn kind(item: TokenStream) -> TokenStream {
    kind::kind(item).unwrap_or_else(|error| error.to_compile_error())
}
