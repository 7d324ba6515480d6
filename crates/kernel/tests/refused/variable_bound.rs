use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R, n: usize) -> R {
    let mut s = x;
    for i in 0..n {
        s *= y;
    }
    s
}

fn main() {}
