use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: &mut R, y: R) -> R {
    y
}

fn main() {}
