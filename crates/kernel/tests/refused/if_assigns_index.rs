use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(k: usize, x: R, y: R) -> R {
    let mut i = k;
    if x > y {
        i = 2;
    }
    x * [y, x, x][i]
}

fn main() {}
