use pullback_kernel::prelude::*;

#[kernel(inline)]
fn f<R: Real>(x: R, y: R) -> R {
    x * y
}

fn main() {}
