//! Kernels that are minus the gradient of an energy, and pull back by its second derivatives.

use pullback_kernel::prelude::*;

use crate::check::{check, twice};

/// ½ k (|d| - rest)²
#[kernel(force = spring_force)]
fn spring_energy<R: Real>(x: [Vec3<R>; 2], k: R, rest: R) -> R {
    let stretch = length(x[1] - x[0]) - rest;
    0.5 * k * stretch * stretch
}

twice! {
    impl spring_force(x: [Vec3<R>; 2], k: R, rest: R) -> [Vec3<R>; 2] {
        let d = x[1] - x[0];
        let f = normalize(d) * (k * (length(d) - rest));
        [f, -f]
    }
}

/// ½ μ (|F|² - 3) + ½ λ (det F - α)²
#[kernel(force = stress)]
fn density<R: Real>(f: Mat3<R>, mu: R, lambda: R, alpha: R) -> R {
    let j = determinant(f) - alpha;
    0.5 * mu * (contract(f, f) - 3.0) + 0.5 * lambda * j * j
}

twice! {
    impl stress(f: Mat3<R>, mu: R, lambda: R, alpha: R) -> Mat3<R> {
        let j = determinant(f) - alpha;
        -(f * mu + cofactors(f) * (lambda * j))
    }
}

/// One argument.
#[kernel(force = cubic)]
fn quartic<R: Real>(x: R) -> R {
    0.25 * x * x * x * x
}

twice! {
    impl cubic(x: R) -> R {
        -(x * x * x)
    }
}

/// Every function that duals have, branches, a loop and an index.
#[kernel(force = all_force)]
fn all<R: Real>(x: [R; 3], which: usize, k: R) -> R {
    let a = x[which];
    let mut sum = sqrt(a) + abs(x[0]) * k + sin(a) + cos(a * k) + tan(a) + asin(0.3 * a) + acos(0.2 * a);
    sum = sum
        + exp(-a)
        + ln(a)
        + tanh(a)
        + atan2(x[0], a)
        + powf(a, k)
        + floor(a)
        + min(a, k) * max(x[2], x[0]);
    for i in 0..3 {
        sum = sum + (if x[i] > 0.5 { x[i] * x[i] * x[i] } else { x[i] * k }) / (1.0 + x[i] * x[i]);
    }
    sum
}

twice! {
    impl all_force(x: [R; 3], which: usize, k: R) -> [R; 3] {
        let (bars, _, _) = all::pullback(x, which, k, 1.0);
        [-bars[0], -bars[1], -bars[2]]
    }
}

#[test]
fn forces_of_energies() {
    let at = |x: f64, y: f64, z: f64| vec3(x, y, z);
    check::<spring_force>(&[
        ([at(0.0, 0.0, 0.0), at(3.0, 0.5, 4.0)], 10.0, 2.0),
        ([at(0.3, -1.0, 0.2), at(0.1, 0.5, 0.4)], 3.0, 0.7),
    ]);
    let turned = mat3(at(1.1, 0.2, -0.1), at(-0.3, 0.9, 0.2), at(0.05, -0.1, 1.2));
    check::<stress>(&[(turned, 3.0, 5.0, 1.0), (identity(), 2.0, 7.0, 1.3)]);
    check::<cubic>(&[(0.7,), (-1.3,)]);
    check::<all_force>(&[([0.4, 0.8, 1.2], 1, 0.9), ([0.7, 1.4, 0.3], 0, 1.7)]);
}

/// Forces are kernels: others call them.
#[kernel]
fn work<R: Real>(f: Mat3<R>, along: Mat3<R>, mu: R) -> R {
    contract(stress(f, mu, 2.0 * mu, 1.0), along)
}

twice! {
    impl work(f: Mat3<R>, along: Mat3<R>, mu: R) -> R {
        let j = determinant(f) - 1.0;
        -contract(f * mu + cofactors(f) * (2.0 * mu * j), along)
    }
}

#[test]
fn a_kernel_that_calls_a_force() {
    let f = mat3(vec3(1.1, 0.2, -0.1), vec3(-0.3, 0.9, 0.2), vec3(0.05, -0.1, 1.2));
    let along = mat3(vec3(0.3, 0.2, -0.4), vec3(0.1, -0.2, 0.6), vec3(0.5, 0.1, 0.2));
    check::<work>(&[(f, along, 3.0)]);
}
