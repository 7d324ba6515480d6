use pullback_kernel::prelude::*;

#[kernel(force = push)]
fn f<R: Real>(which: usize, x: [R; 2]) -> R {
    x[which]
}

fn main() {}
