use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(k: usize, x: R) -> R {
    match k {
        0 if true => x,
        _ => x * x,
    }
}

fn main() {}
