use pullback_kernel::prelude::*;

#[kernel(force = push)]
fn f<R: Real>(x: Vec3<R>, k: R) -> Vec3<R> {
    x * k
}

fn main() {}
