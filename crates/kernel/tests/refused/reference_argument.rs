use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: &R) -> R {
    x * 2.0
}

fn main() {}
