use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    let twice = |a| a * 2.0;
    twice(x) + y
}

fn main() {}
