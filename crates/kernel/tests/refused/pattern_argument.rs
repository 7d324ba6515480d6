use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>((x, y): (R, R)) -> R {
    x * y
}

fn main() {}
