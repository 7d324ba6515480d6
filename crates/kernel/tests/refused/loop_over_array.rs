use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(a: [R; 3]) -> R {
    let mut s = 0.0;
    for x in a {
        s += x;
    }
    s
}

fn main() {}
