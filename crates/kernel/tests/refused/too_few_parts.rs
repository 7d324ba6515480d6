use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: [R; 3]) -> R {
    let [a, b] = x;
    a * b
}

fn main() {}
