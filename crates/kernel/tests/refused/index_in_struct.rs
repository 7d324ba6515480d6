use pullback_kernel::prelude::*;

#[derive(Clone, Copy, Value)]
#[repr(C)]
struct Entry<R> {
    value: R,
    index: usize,
}

fn main() {}
