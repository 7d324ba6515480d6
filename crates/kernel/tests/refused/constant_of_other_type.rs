use pullback_kernel::prelude::*;

const LIMIT: f32 = 1.0;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    x * LIMIT * y
}

fn main() {}
