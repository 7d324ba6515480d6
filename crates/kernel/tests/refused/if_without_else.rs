use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    let a = if x > y { x };
    a
}

fn main() {}
