use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    let n = 3;
    x * (n as f64) + y
}

fn main() {}
