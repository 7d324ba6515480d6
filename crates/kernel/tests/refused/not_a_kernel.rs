use pullback_kernel::prelude::*;

fn helper<R: Real>(x: R) -> R {
    x * x
}

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    helper(x) * y
}

fn main() {}
