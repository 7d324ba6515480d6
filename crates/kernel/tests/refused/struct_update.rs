use pullback_kernel::prelude::*;

#[kernel]
fn f<R: Real>(v: Vec3<R>, s: R) -> Vec3<R> {
    Vec3 { x: s, ..v }
}

fn main() {}
