use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    if x > y { x } else { y };
    x
}

fn main() {}
