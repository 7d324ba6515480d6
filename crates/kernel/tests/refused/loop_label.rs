use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    let mut s = x;
    'outer: for i in 0..3 {
        s *= y;
    }
    s
}

fn main() {}
