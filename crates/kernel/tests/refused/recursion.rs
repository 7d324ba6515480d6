use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    f(x * 0.5, y)
}

fn main() {}
