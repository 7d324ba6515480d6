use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(x: R, y: R) -> Vec3<R> {
    Vec3::from_parts(x, y)
}

fn main() {}
