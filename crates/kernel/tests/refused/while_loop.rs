use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    let mut s = x;
    while s < y {
        s *= 2.0;
    }
    s
}

fn main() {}
