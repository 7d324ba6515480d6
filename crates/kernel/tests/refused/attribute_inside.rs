use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> R {
    let mut s = x;
    #[cfg(debug_assertions)]
    {
        s *= 2.0;
    }
    s * y
}

fn main() {}
