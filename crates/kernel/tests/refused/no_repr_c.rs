use pullback_kernel::prelude::*;

#[derive(Clone, Copy, Value)]
struct Pair<R> {
    a: R,
    b: R,
}

fn main() {}
