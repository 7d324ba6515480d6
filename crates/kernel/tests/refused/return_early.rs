use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    if x < y {
        return x;
    }
    y
}

fn main() {}
