use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, n: usize) -> R {
    let a = [x; n];
    a[0]
}

fn main() {}
