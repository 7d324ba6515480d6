use pullback_kernel::prelude::*;

#[derive(Clone, Copy, Kind)]
enum Shape {
    Point,
    Sphere(f64),
}

fn main() {}
