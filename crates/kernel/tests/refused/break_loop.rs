use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    let mut s = x;
    for i in 0..3 {
        if s > y {
            break;
        }
        s *= 2.0;
    }
    s
}

fn main() {}
