use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    let a;
    a = x * y;
    a
}

fn main() {}
