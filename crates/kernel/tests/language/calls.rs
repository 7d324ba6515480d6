//! Calls of other kernels, and kernels that name their own pullback.
// Paths of every form are the point.
#![allow(unused_qualifications)]

use pullback_kernel::prelude::*;
use pullback_kernel::{gradcheck, math};

use crate::check::{check, twice};

mod springs {
    use pullback_kernel::prelude::*;

    pub mod laws {
        use pullback_kernel::prelude::*;

        /// k x + c x³
        #[kernel]
        pub fn hardening<R: Real>(x: R, k: R, c: R) -> R {
            k * x + c * super::cube(x)
        }
    }

    /// x³
    #[kernel]
    pub fn cube<R: Real>(x: R) -> R {
        x * x * x
    }
}
use springs::cube as third_power;
use springs::laws;

twice! {
    fn across_modules(x: R, y: R) -> R {
        laws::hardening(x, y, 0.5) + springs::laws::hardening(y, x, x) + crate::calls::springs::cube(y) + third_power(x)
    }
}
twice! {
    fn across_crates(a: Vec3<R>, s: R) -> R {
        pullback_kernel::math::length(a) * math::sin(s) + exp(-s) * dot(a, normalize(a))
    }
}
twice! {
    fn the_same_twice(x: R) -> R {
        atan2(x, x * x) * product(x, x) + product(product(x, x), x)
    }
}
twice! {
    fn product(a: R, b: R) -> R {
        a * b
    }
}
twice! {
    fn no_arguments() -> Vec3<R> {
        vec3(1.0, 2.0, 3.0)
    }
}
twice! {
    fn one_argument(x: R) -> R {
        x * dot(no_arguments(), no_arguments() * x)
    }
}
twice! {
    fn an_argument_alone(x: R) -> R {
        x
    }
}
twice! {
    fn unused_arguments(x: R, y: R, v: Vec3<R>, k: usize) -> R {
        let unused = y * v.x;
        let _ = unused + x;
        x * x
    }
}
twice! {
    fn literals_as_arguments(x: R) -> R {
        product(2.0, x) * product(x, 0.5) + clamp(x, 0.0, 1.0)
    }
}
#[kernel(pullback = hypotenuse_pullback)]
pub fn hypotenuse<R: Real>(a: R, b: R) -> R {
    sqrt(a * a + b * b)
}
/// (a_bar, b_bar) = (a, b) h_bar / h
#[kernel]
pub fn hypotenuse_pullback<R: Real>(a: R, b: R, h_bar: R) -> (R, R) {
    let s = h_bar / hypotenuse(a, b);
    (a * s, b * s)
}
twice! {
    impl hypotenuse(a: R, b: R) -> R { (a * a + b * b).sqrt() }
}
#[kernel(pullback = springs_own::reciprocal_pullback)]
pub fn reciprocal<R: Real>(x: R) -> R {
    1.0 / x
}
mod springs_own {
    use pullback_kernel::prelude::*;

    #[kernel]
    pub fn reciprocal_pullback<R: Real>(x: R, y_bar: R) -> R {
        -(y_bar / (x * x))
    }
}
twice! {
    impl reciprocal(x: R) -> R { 1.0 / x }
}
#[kernel(pullback = element_pullback)]
pub fn element<R: Real>(k: usize, a: [R; 3]) -> R {
    a[k] * a[k]
}
#[kernel]
pub fn element_pullback<R: Real>(k: usize, a: [R; 3], y_bar: R) -> (usize, [R; 3]) {
    let mut a_bar = [0.0; 3];
    a_bar[k] = 2.0 * a[k] * y_bar;
    (k, a_bar)
}
twice! {
    impl element(k: usize, a: [R; 3]) -> R { a[k] * a[k] }
}
twice! {
    fn callers_use_it(x: R, y: R) -> R {
        hypotenuse(x, x * y) * reciprocal(y) + element(1, [x, y, x])
    }
}
#[kernel(pullback = wrong_pullback)]
pub fn wrong<R: Real>(x: R) -> R {
    x * x
}
#[kernel]
pub fn wrong_pullback<R: Real>(x: R, y_bar: R) -> R {
    x * y_bar
}

#[test]
fn calls() {
    check::<across_modules>(&[(0.7, 1.3)]);
    check::<across_crates>(&[(Vec3 { x: 0.3, y: 0.5, z: -0.7 }, 0.9)]);
    check::<the_same_twice>(&[(0.7,)]);
    check::<product>(&[(0.7, 1.3)]);
    check::<literals_as_arguments>(&[(0.7,), (1.7,), (-0.7,)]);
}

#[test]
fn numbers_of_arguments() {
    check::<no_arguments>(&[()]);
    check::<one_argument>(&[(0.7,)]);
    check::<an_argument_alone>(&[(0.7,)]);
    check::<unused_arguments>(&[(0.7, 0.3, Vec3 { x: 0.3, y: 0.5, z: -0.7 }, 2)]);
    assert_eq!(an_argument_alone::pullback::<f64>(0.7, 2.5), (2.5,));
    no_arguments::pullback::<f64>(Vec3 { x: 1.0, y: 1.0, z: 1.0 });
}

#[test]
fn named_pullbacks() {
    const { assert!(<hypotenuse as Kernel>::NAMES_ITS_PULLBACK && !<product as Kernel>::NAMES_ITS_PULLBACK) };
    check::<hypotenuse>(&[(0.7, 1.3), (-0.4, 0.3)]);
    check::<reciprocal>(&[(0.7,), (-0.4,)]);
    check::<element>(&[(0, [0.7, 0.3, 0.2]), (2, [0.7, 0.3, 0.2])]);
    check::<callers_use_it>(&[(0.7, 1.3)]);
}

#[test]
fn a_wrong_named_pullback_is_found() {
    let report = gradcheck::kernel::<wrong>(&(0.7,)).expect_err("half of the derivative");
    assert!(report.to_string().contains("disagree"), "{report}");
}
