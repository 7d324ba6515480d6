use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    let (mut a, mut b) = (x, y);
    (a, b) = (b, a);
    a / b
}

fn main() {}
