use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Copy>(x: R) -> R {
    x
}

fn main() {}
