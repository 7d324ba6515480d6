use pullback_kernel::prelude::*;

#[derive(Clone, Copy, Value)]
#[repr(C)]
struct Pair<R>(R, R);

fn main() {}
