use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, s: String) -> R {
    x
}

fn main() {}
