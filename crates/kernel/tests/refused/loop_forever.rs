use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    let mut s = x;
    loop {
        s *= 2.0;
    }
}

fn main() {}
