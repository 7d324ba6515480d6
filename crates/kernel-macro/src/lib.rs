//! The attribute and derives of the kernel language, as rustc wants them: a crate of their own. What they do is
//! in `pullback-kernel-codegen`.

use proc_macro::TokenStream;

/// Turns a pure function into a kernel: the function itself for any scalar, its pullback, and its CUDA text.
///
/// `#[kernel(pullback = NAME)]` names another kernel as the pullback, taking the arguments and then the
/// cotangent of the result, and returning one cotangent per argument.
#[proc_macro_attribute]
pub fn kernel(attributes: TokenStream, item: TokenStream) -> TokenStream {
    pullback_kernel_codegen::kernel(attributes.into(), item.into()).into()
}

/// Lets a struct with one scalar parameter, `struct Name<R> { .. }`, be a value in kernels and buffers.
#[proc_macro_derive(Value)]
pub fn value(item: TokenStream) -> TokenStream {
    pullback_kernel_codegen::value(item.into()).into()
}

/// Lets a fieldless enum be matched on in kernels.
#[proc_macro_derive(Kind)]
pub fn kind(item: TokenStream) -> TokenStream {
    pullback_kernel_codegen::kind(item.into()).into()
}
