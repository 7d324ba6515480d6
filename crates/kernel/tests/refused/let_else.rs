use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: [R; 2], y: R) -> R {
    let [a, b] = x else { return y };
    a * b
}

fn main() {}
