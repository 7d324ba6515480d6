use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    let i = if x > y { 1 } else { 0 };
    let a = [x, y];
    a[i]
}

fn main() {}
