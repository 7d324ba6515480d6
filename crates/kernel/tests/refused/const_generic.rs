use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real, const N: usize>(a: [R; N]) -> R {
    a[0]
}

fn main() {}
