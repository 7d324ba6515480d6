use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R) -> R {
    let y = x * x;
    y;
}

fn main() {}
