//! docs/nonsmooth.md, a test a row: what is returned where no derivative exists, in the pullback and the pushforward,
//! in `f64` and `f32`, and on lanes whose neighbours are somewhere else. And nothing is NaN where the value is finite.

use std::collections::BTreeSet;
use std::f64::consts::{FRAC_PI_2, PI};
use std::marker::PhantomData;

use pullback_kernel::gradcheck::flat;
use pullback_kernel::scalar::Local;
use pullback_kernel::scalar::lanes::{Dispatch, Driver, Isa, Lane, Width};
use pullback_kernel::{math, prelude::*};

/// The numbers that go into a kernel, and those that come out.
#[derive(Clone, Debug)]
struct At {
    x: Vec<f64>,
    x_dot: Vec<f64>,
    y_bar: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Found {
    y: Vec<f64>,
    x_bar: Vec<f64>,
    y_dot: Vec<f64>,
}

/// A value from the numbers that `number` gives, in order.
fn build<T: Argument, R: Real>(mut number: impl FnMut(usize) -> R) -> With<T, R> {
    let mut value = <With<T, R> as Local<R>>::zero();
    let mut i = 0;
    T::each::<R>(&mut value, &mut |x| {
        *x = number(i);
        i += 1;
    });
    value
}

/// Runs a kernel on lanes, alternating between two points; the answer has one entry a lane.
struct Lanes<'a, K> {
    even: &'a At,
    odd: &'a At,
    kernel: PhantomData<K>,
}

impl<K: Kernel, S: Float> Driver<S> for Lanes<'_, K> {
    type Output = Vec<Found>;
    type Home = Self;
    fn run<L: Lane<Element = S>>(self) -> Vec<Found> {
        let load = |part: fn(&At) -> &[f64], i: usize| {
            let numbers: [S; 16] = std::array::from_fn(|lane| {
                S::from_f64(part(if lane % 2 == 0 { self.even } else { self.odd })[i])
            });
            // SAFETY: a lane type has at most 16 lanes.
            unsafe { L::load(numbers.as_ptr()) }
        };
        let x = build::<K::Arguments, L>(|i| load(|at| &at.x, i));
        let x_dot = build::<K::Arguments, L>(|i| load(|at| &at.x_dot, i));
        let y_bar = build::<K::Output, L>(|i| load(|at| &at.y_bar, i));
        let (value, y_dot) = K::pushforward::<L>(x, x_dot);
        let (y, x_bar) = (K::forward::<L>(x), K::pullback::<L>(x, y_bar));
        (0..L::WIDTH)
            .map(|lane| {
                let numbers = Found {
                    y: lane_of::<K::Output, L>(y, lane),
                    x_bar: lane_of::<K::Arguments, L>(x_bar, lane),
                    y_dot: lane_of::<K::Output, L>(y_dot, lane),
                };
                let pushed = lane_of::<K::Output, L>(value, lane);
                assert!(
                    numbers.y.iter().zip(&pushed).all(|(a, b)| same(*a, *b)),
                    "{:?} {pushed:?}",
                    numbers.y
                );
                numbers
            })
            .collect()
    }
}

fn lane_of<T: Argument, L: Lane<Element: Float>>(mut value: With<T, L>, lane: usize) -> Vec<f64> {
    let mut numbers = Vec::new();
    T::each::<L>(&mut value, &mut |x| numbers.push(x.lane(lane).to_f64()));
    numbers
}

fn on<K: Kernel, S: Dispatch + Float>(even: &At, odd: &At, isa: Isa, width: Width) -> Vec<Found> {
    S::dispatch(Lanes::<K> { even, odd, kernel: PhantomData }, isa, width)
}

/// Equal as numbers, or both NaN.
fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

fn near(found: &[f64], expected: &[f64], epsilon: f64) -> bool {
    found.len() == expected.len()
        && found.iter().zip(expected).all(|(a, b)| same(*a, *b) || (a - b).abs() <= 32.0 * epsilon * b.abs())
}

/// Asserts what the kernel returns at a point, on every scalar; `regular` is a point where it is smooth, for the
/// lanes beside.
#[track_caller]
fn returns<K: Kernel>(at: &At, expected: &Found, regular: &[f64]) {
    returns_on::<K, f64>(at, expected, regular);
    returns_on::<K, f32>(at, expected, regular);
}

#[track_caller]
fn returns_on<K: Kernel, S: Dispatch + Float>(at: &At, expected: &Found, regular: &[f64]) {
    let beside = At { x: regular.to_vec(), ..at.clone() };
    let alone = on::<K, S>(&beside, &beside, Isa::Portable, Width::One).remove(0);
    let smooth = [&alone.y, &alone.x_bar, &alone.y_dot].into_iter().flatten().all(|x| x.is_finite());
    assert!(smooth, "not a regular point: {alone:?}");
    for isa in Isa::available() {
        for width in [Width::One, Width::Narrow, Width::Wide] {
            for (lane, found) in on::<K, S>(at, &beside, isa, width).iter().enumerate() {
                let place = format!("{} in {}, {isa:?} {width:?}, lane {lane}", K::NAME, S::C_NAME);
                if lane % 2 == 0 {
                    assert!(near(&found.y, &expected.y, S::EPSILON), "{place}: {found:?}, not {expected:?}");
                    assert!(
                        near(&found.x_bar, &expected.x_bar, S::EPSILON),
                        "{place}: {found:?}, not {expected:?}"
                    );
                    assert!(
                        near(&found.y_dot, &expected.y_dot, S::EPSILON),
                        "{place}: {found:?}, not {expected:?}"
                    );
                } else {
                    assert_eq!(found, &alone, "{place}, beside");
                }
            }
        }
    }
}

/// f(x) of one number: its value, and the slope that pullback and pushforward return.
#[track_caller]
fn slope<K: Kernel>(x: f64, y: f64, slope: f64, regular: f64) {
    let at = At { x: vec![x], x_dot: vec![-3.0], y_bar: vec![2.0] };
    let expected = Found { y: vec![y], x_bar: vec![2.0 * slope], y_dot: vec![-3.0 * slope] };
    returns::<K>(&at, &expected, &[regular]);
}

/// f(x) -> y of several numbers each: `jacobian[j][i]` = ∂y[j]/∂x[i], as returned.
#[track_caller]
fn jacobian<K: Kernel>(x: &[f64], y: &[f64], jacobian: &[&[f64]], regular: &[f64]) {
    let x_dot: Vec<f64> = (0..x.len()).map(|i| 1.0 + i as f64).collect();
    let y_bar: Vec<f64> = (0..y.len()).map(|j| 2.0 - j as f64).collect();
    // Summed where not zero: an infinite entry times zero is NaN.
    let product = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a * b };
    let x_bar = (0..x.len()).map(|i| (0..y.len()).map(|j| product(jacobian[j][i], y_bar[j])).sum()).collect();
    let y_dot = jacobian[..y.len()]
        .iter()
        .map(|row| row.iter().zip(&x_dot).map(|(a, b)| product(*a, *b)).sum())
        .collect();
    returns::<K>(&At { x: x.to_vec(), x_dot, y_bar }, &Found { y: y.to_vec(), x_bar, y_dot }, regular);
}

const ZERO: [&[f64]; 4] = [&[0.0; 4]; 4];

#[kernel]
fn divide<R: Real>(a: R, b: R) -> R {
    a / b
}

mod rows {
    use super::*;

    #[test]
    fn sqrt() {
        slope::<sqrt>(0.0, 0.0, 0.0, 4.0);
        slope::<sqrt>(-0.0, 0.0, 0.0, 4.0);
        slope::<sqrt>(f64::NAN, f64::NAN, f64::NAN, 4.0);
    }

    #[test]
    fn abs() {
        slope::<abs>(0.0, 0.0, 0.0, -2.0);
        slope::<abs>(-0.0, 0.0, 0.0, 2.0);
    }

    #[test]
    fn length() {
        jacobian::<length>(&[0.0; 3], &[0.0], &ZERO, &[1.0, -2.0, 3.0]);
        for x in [1e-20, 1e-30, 1e25, 1e37] {
            // |(3, 0, 4)| = 5, where squares leave the range of f32.
            jacobian::<length>(&[3.0 * x, 0.0, 4.0 * x], &[5.0 * x], &[&[0.6, 0.0, 0.8]], &[1.0, -2.0, 3.0]);
        }
        let (x, m) = (f64::NAN, &[1.0, -2.0, 3.0]);
        jacobian::<length>(&[0.0, 0.0, x], &[x], &[&[0.0, 0.0, x]], m);
    }

    #[test]
    fn normalize() {
        jacobian::<normalize>(&[0.0; 3], &[0.0; 3], &ZERO, &[1.0, -2.0, 3.0]);
        for x in [1e-20, 1e-30, 1e25, 1e36] {
            let jacobian_x: [&[f64]; 3] = [&[0.0, 0.0, 0.0], &[0.0, 1.0 / x, 0.0], &[0.0, 0.0, 1.0 / x]];
            jacobian::<normalize>(&[x, 0.0, 0.0], &[1.0, 0.0, 0.0], &jacobian_x, &[1.0, -2.0, 3.0]);
        }
    }

    #[test]
    fn normalize_quat() {
        let regular = [1.0, -2.0, 3.0, 4.0];
        jacobian::<normalize_quat>(&[0.0; 4], &[1.0, 0.0, 0.0, 0.0], &ZERO, &regular);
        for x in [1e-20, 1e-30, 1e25, 1e36] {
            let k = 1.0 / x;
            let rows: [&[f64]; 4] =
                [&[k, 0.0, 0.0, 0.0], &[0.0; 4], &[0.0, 0.0, k, 0.0], &[0.0, 0.0, 0.0, k]];
            jacobian::<normalize_quat>(&[0.0, x, 0.0, 0.0], &[0.0, 1.0, 0.0, 0.0], &rows, &regular);
        }
    }

    #[test]
    fn asin() {
        slope::<asin>(1.0, FRAC_PI_2, 0.0, 0.5);
        slope::<asin>(-1.0, -FRAC_PI_2, 0.0, 0.5);
    }

    #[test]
    fn acos() {
        slope::<acos>(1.0, 0.0, 0.0, 0.5);
        slope::<acos>(-1.0, PI, 0.0, 0.5);
    }

    #[test]
    fn atan2() {
        jacobian::<atan2>(&[0.0, 0.0], &[0.0], &ZERO, &[1.0, 2.0]);
        jacobian::<atan2>(&[f64::INFINITY, 1.0], &[FRAC_PI_2], &ZERO, &[1.0, 2.0]);
        jacobian::<atan2>(&[1.0, f64::INFINITY], &[0.0], &ZERO, &[1.0, 2.0]);
        for x in [1e-30, 1e-20, 1e20, 1e30] {
            // At (x, x) the derivatives are ±1/2x, where x² leaves the range of f32.
            jacobian::<atan2>(&[x, x], &[PI / 4.0], &[&[0.5 / x, -0.5 / x]], &[1.0, 2.0]);
        }
    }

    #[test]
    fn min() {
        jacobian::<min>(&[1.5, 1.5], &[1.5], &[&[1.0, 0.0]], &[3.0, 2.0]);
        jacobian::<min>(&[0.0, -0.0], &[0.0], &[&[1.0, 0.0]], &[3.0, 2.0]);
    }

    #[test]
    fn max() {
        jacobian::<max>(&[1.5, 1.5], &[1.5], &[&[1.0, 0.0]], &[2.0, 3.0]);
        jacobian::<max>(&[-0.0, 0.0], &[0.0], &[&[1.0, 0.0]], &[2.0, 3.0]);
    }

    #[test]
    fn clamp() {
        jacobian::<clamp>(&[-1.0, -1.0, 2.0], &[-1.0], &[&[1.0, 0.0, 0.0]], &[3.0, -1.0, 2.0]);
        jacobian::<clamp>(&[2.0, -1.0, 2.0], &[2.0], &[&[1.0, 0.0, 0.0]], &[-3.0, -1.0, 2.0]);
    }

    #[test]
    fn floor() {
        slope::<floor>(3.0, 3.0, 0.0, 2.5);
        slope::<floor>(-2.0, -2.0, 0.0, -2.5);
    }

    #[test]
    fn powf_base() {
        let regular = [2.0, 3.0];
        jacobian::<powf>(&[0.0, 0.5], &[0.0], &ZERO, &regular);
        jacobian::<powf>(&[0.0, 0.0], &[1.0], &ZERO, &regular);
        jacobian::<powf>(&[0.0, 1.0], &[0.0], &[&[1.0, 0.0]], &regular);
        jacobian::<powf>(&[0.0, 2.0], &[0.0], &ZERO, &regular);
    }

    #[test]
    fn powf_exponent() {
        jacobian::<powf>(&[0.0, 3.0], &[0.0], &ZERO, &[2.0, 3.0]);
        jacobian::<powf>(&[-2.0, 3.0], &[-8.0], &[&[12.0, 0.0]], &[2.0, 3.0]);
        jacobian::<powf>(&[-2.0, -1.0], &[-0.5], &[&[-0.25, 0.0]], &[2.0, 3.0]);
    }

    #[test]
    fn ln() {
        slope::<ln>(0.0, f64::NEG_INFINITY, f64::INFINITY, 2.0);
    }

    #[test]
    fn division() {
        let infinite = f64::INFINITY;
        let at = At { x: vec![1.0, 0.0], x_dot: vec![1.0, 1.0], y_bar: vec![2.0] };
        let expected = Found { y: vec![infinite], x_bar: vec![infinite, -infinite], y_dot: vec![-infinite] };
        returns::<divide>(&at, &expected, &[1.0, 2.0]);
    }

    #[test]
    fn inverse() {
        let singular = Mat3 { x: v(1.0, 2.0, 3.0), y: v(2.0, 4.0, 6.0), z: v(0.0, 0.0, 1.0) };
        let value = math::inverse(singular);
        assert!(flat::<Mat3>(value).iter().any(|x| !x.is_finite()), "{value:?}");
        let (bar,) = inverse::pullback(singular, identity());
        assert!(flat::<Mat3>(bar).iter().any(|x| !x.is_finite()), "{bar:?}");
        // Not singular, but with determinants that leave the range of f32: x⁻¹, and -1/x².
        for x in [1e-18, 1e-15, 1e13, 1e18] {
            let scaled = [x, 0.0, 0.0, 0.0, x, 0.0, 0.0, 0.0, x];
            let value = scaled.map(|a| if a == 0.0 { 0.0 } else { 1.0 / a });
            // -(A⁻¹ dA A⁻¹) of a multiple of the identity: each entry from its own.
            let entry = |i, j| if i == j { -1.0 / (x * x) } else { 0.0 };
            let rows: Vec<Vec<f64>> = (0..9).map(|j| (0..9).map(|i| entry(i, j)).collect()).collect();
            let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
            let regular = [2.0, 0.0, 1.0, 0.0, 3.0, 0.0, 1.0, 0.0, 4.0];
            jacobian::<inverse>(&scaled, &value, &rows, &regular);
        }
    }

    const LOG_REGULAR: [f64; 4] = [0.8, 0.6, 0.0, 0.0];

    #[test]
    fn quat_log_at_one() {
        for w in [1.0, -1.0] {
            let d = 2.0 * w;
            let rows: [&[f64]; 3] = [&[0.0, d, 0.0, 0.0], &[0.0, 0.0, d, 0.0], &[0.0, 0.0, 0.0, d]];
            jacobian::<quat_log>(&[w, 0.0, 0.0, 0.0], &[0.0; 3], &rows, &LOG_REGULAR);
        }
    }

    #[test]
    fn quat_log_at_half_turn() {
        // v = 2 atan2(|u|, w) u/|u|: at w = 0, u = i, ∂v/∂w = -2 i, ∂v/∂y = π j, ∂v/∂z = π k.
        let rows: [&[f64]; 3] = [&[-2.0, 0.0, 0.0, 0.0], &[0.0, 0.0, PI, 0.0], &[0.0, 0.0, 0.0, PI]];
        for w in [0.0, -0.0] {
            jacobian::<quat_log>(&[w, 1.0, 0.0, 0.0], &[PI, 0.0, 0.0], &rows, &LOG_REGULAR);
        }
    }

    #[test]
    fn quat_log_at_zero() {
        jacobian::<quat_log>(&[0.0; 4], &[0.0; 3], &ZERO, &LOG_REGULAR);
    }

    #[test]
    fn quat_exp() {
        let rows: [&[f64]; 4] = [&[0.0; 3], &[0.5, 0.0, 0.0], &[0.0, 0.5, 0.0], &[0.0, 0.0, 0.5]];
        jacobian::<quat_exp>(&[0.0; 3], &[1.0, 0.0, 0.0, 0.0], &rows, &[1.0, -2.0, 0.5]);
    }

    fn v(x: f64, y: f64, z: f64) -> Vec3 {
        Vec3 { x, y, z }
    }
}

#[test]
fn every_row_has_its_test() {
    let document = include_str!("../../../docs/nonsmooth.md");
    let rows: BTreeSet<&str> =
        document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let (_, source) =
        include_str!("nonsmooth.rs").split_once("\nmod rows {").expect("the module of the rows");
    let (source, _) = source.split_once("\n}\n").expect("the end of the module");
    let tests: BTreeSet<&str> =
        source.split("#[test]\n    fn ").skip(1).filter_map(|test| test.split('(').next()).collect();
    assert!(rows.len() >= 15, "{rows:?}");
    assert_eq!(rows, tests);
}

/// Nothing is NaN where the value is finite: from the smallest number to the largest, with cotangents and tangents
/// that are zero and not, in both precisions.
#[test]
fn no_nan_where_the_value_is_finite() {
    macro_rules! sweep {
        ($($kernel:ident)*) => { $(sweep::<$kernel, f64>(); sweep::<$kernel, f32>();)* };
    }
    sweep! { sqrt abs floor min max sin cos tan asin acos atan2 exp ln tanh powf }
    sweep! { length normalize normalize_quat quat_log }
}

fn sweep<K: Kernel, S: Dispatch + Float>() {
    let (tiny, least, most) = if S::EPSILON > 1e-10 {
        (1e-45, f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX))
    } else {
        (5e-324, f64::MIN_POSITIVE, f64::MAX)
    };
    let mut special = vec![0.0];
    for x in [tiny, 1e3 * tiny, least, least.sqrt(), 1e-3, 0.5, 1.0, 3.0, most.sqrt(), most / 8.0, most] {
        special.extend([x, -x]);
    }
    let inputs = flat::<K::Arguments>(build::<K::Arguments, f64>(|_| 0.0)).len();
    let outputs = flat::<K::Output>(build::<K::Output, f64>(|_| 0.0)).len();
    let mut finite = 0;
    for case in 0..special.len().pow(inputs.min(3) as u32) {
        // Of four numbers, the last two are the same.
        let x: Vec<f64> =
            (0..inputs).map(|i| special[case / special.len().pow(i.min(2) as u32) % special.len()]).collect();
        for (x_dot, y_bar) in [(0.0, 0.0), (1.0, 1.0), (-0.5, 2.0)] {
            let at = At {
                x: x.clone(),
                x_dot: (0..inputs).map(|i| x_dot * (1.0 + i as f64)).collect(),
                y_bar: (0..outputs).map(|j| y_bar * (1.0 - j as f64)).collect(),
            };
            let found = on::<K, S>(&at, &at, Isa::Portable, Width::One).remove(0);
            if found.y.iter().all(|y| y.is_finite()) {
                finite += 1;
                let nan = found.x_bar.iter().chain(&found.y_dot).any(|x| x.is_nan());
                assert!(!nan, "{} in {} at {at:?}: {found:?}", K::NAME, S::C_NAME);
            }
        }
    }
    assert!(finite > special.len(), "{}: the sweep is nearly empty", K::NAME);
}
