use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    x * 2.0f32 + y
}

fn main() {}
