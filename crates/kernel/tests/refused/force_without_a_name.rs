use pullback_kernel::prelude::*;

#[kernel(force = 3)]
fn f<R: Real>(x: R) -> R {
    x * x
}

fn main() {}
