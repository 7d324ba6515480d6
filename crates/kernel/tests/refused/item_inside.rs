use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    const TWO: f64 = 2.0;
    x * TWO * y
}

fn main() {}
