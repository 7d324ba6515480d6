use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    x * R::from_f64(0.5) + y
}

fn main() {}
