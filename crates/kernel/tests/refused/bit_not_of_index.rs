use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(k: usize, x: R) -> R {
    let j = !k;
    x
}

fn main() {}
