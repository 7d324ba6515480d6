use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R) {
    let y = x * x;
}

fn main() {}
