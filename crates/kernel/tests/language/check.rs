//! [`check`]: everything that must hold of a kernel, at some points.

use std::marker::PhantomData;

use pullback_kernel::scalar::lanes::{Dispatch, Driver, Isa, Lane, Width};
use pullback_kernel::scalar::{Float, Local, Real};
use pullback_kernel::{Argument, Kernel, With, gradcheck};

/// A kernel, and the same function as rustc understands it.
pub trait Feature: Kernel {
    /// The kernel's body with `R` = `f64`, compiled as plain Rust.
    fn plain(arguments: With<Self::Arguments, f64>) -> With<Self::Output, f64>;
}

/// Declares a kernel, and compiles its body as plain Rust as well: what the macro makes of it must mean the same.
macro_rules! twice {
    (fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty { $($body:tt)* }) => {
        twice! { fn $name($($arg: $ty),*) -> $out { $($body)* } plain { $($body)* } }
    };
    (fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty { $($body:tt)* } plain { $($plain:tt)* }) => {
        #[pullback_kernel::kernel]
        pub fn $name<R: Real>($($arg: $ty),*) -> $out { $($body)* }
        twice! { impl $name($($arg: $ty),*) -> $out { $($plain)* } }
    };
    (impl $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty { $($plain:tt)* }) => {
        #[allow(unused, clippy::all)]
        const _: () = {
            type R = f64;
            type S = f64;
            type T = f64;
            impl $crate::check::Feature for $name {
                fn plain(($($arg,)*): ($($ty,)*)) -> $out { $($plain)* }
            }
        };
    };
}
pub(crate) use twice;

/// Checks the kernel at each point: its value against plain Rust, its derivatives against differences and each other,
/// f32 against f64, and lanes, with the points side by side, against scalars.
pub fn check<K: Feature>(points: &[With<K::Arguments, f64>]) {
    let points = flat_points::<K>(points);
    let arguments = |point: &Point| fill::<K::Arguments, f64>(&point.numbers, &point.indices);
    Erased {
        name: K::NAME,
        plain: &|point| flat::<K::Output, f64>(K::plain(arguments(point))),
        gradcheck: &|point| gradcheck::kernel::<K>(&arguments(point)).map(|_| ()),
        f32: pass::<K, f32>,
        f64: pass::<K, f64>,
        lanes_f32: &|elements, indices, isa, width| {
            f32::dispatch(Run::<K, f32> { elements, indices, kernel: PhantomData }, isa, width)
        },
        lanes_f64: &|elements, indices, isa, width| {
            f64::dispatch(Run::<K, f64> { elements, indices, kernel: PhantomData }, isa, width)
        },
    }
    .check(&points);
}

fn flat_points<K: Kernel>(points: &[With<K::Arguments, f64>]) -> Vec<Point> {
    let flat = |&point: &With<K::Arguments, f64>| Point {
        numbers: flat::<K::Arguments, f64>(point),
        indices: indices::<K::Arguments>(point),
    };
    points.iter().map(flat).collect()
}

/// A kernel's arguments.
struct Point {
    numbers: Vec<f64>,
    indices: Vec<usize>,
}

/// The numbers of the result, and of the arguments' cotangents.
type Both<S> = (Vec<S>, Vec<S>);
/// Forward and pullback.
type Pass<L> = fn(numbers: &[L], indices: &[usize], seed: &dyn Fn(usize) -> L) -> Both<L>;
/// The same for elements side by side.
type Lanes<'a, S> = &'a dyn Fn(&[Vec<S>], &[usize], Isa, Width) -> Vec<Both<S>>;

/// A kernel without its type: what follows is compiled once, not once for each.
struct Erased<'a> {
    name: &'static str,
    plain: &'a dyn Fn(&Point) -> Vec<f64>,
    gradcheck: &'a dyn Fn(&Point) -> Result<(), Box<gradcheck::Report>>,
    f32: Pass<f32>,
    f64: Pass<f64>,
    lanes_f32: Lanes<'a, f32>,
    lanes_f64: Lanes<'a, f64>,
}

impl Erased<'_> {
    fn check(&self, points: &[Point]) {
        let name = self.name;
        let mut with_derivatives = points[0].numbers.is_empty();
        for point in points {
            let (value, bars) = (self.f64)(&point.numbers, &point.indices, &|i| seed(i, 0));
            let plain = (self.plain)(point);
            // Not to the last bit: `a * b + c` is rounded once in a kernel, and twice in plain Rust.
            let scale = plain.iter().fold(1.0, |scale: f64, x| scale.max(x.abs()));
            let close = value.iter().zip(&plain).all(|(a, b)| (a - b).abs() <= 1e-13 * scale);
            assert!(
                close && value.len() == plain.len(),
                "`{name}` is {value:?}, but plain Rust gives {plain:?}"
            );
            self.single_precision(point, &value, &bars);
            if point.numbers.is_empty() || value.is_empty() {
                continue;
            }
            match (self.gradcheck)(point) {
                Ok(()) => with_derivatives = true,
                // Some points may be flat, but not all.
                Err(report) if report.failures.iter().all(|f| f.contains("every derivative is zero")) => {}
                Err(report) => panic!("{report}"),
            }
        }
        assert!(with_derivatives, "`{name}` is flat at every point: nothing was checked");
        lanes(name, points, self.f32, self.lanes_f32);
        lanes(name, points, self.f64, self.lanes_f64);
    }

    fn single_precision(&self, point: &Point, value: &[f64], bars: &[f64]) {
        let numbers: Vec<f32> = point.numbers.iter().map(|&x| x as f32).collect();
        let (value32, bars32) = (self.f32)(&numbers, &point.indices, &|i| seed(i, 0) as f32);
        for (pass, double, single) in [("forward", value, value32), ("pullback", bars, bars32)] {
            let scale = double.iter().fold(1.0, |scale: f64, x| scale.max(x.abs()));
            for (a, b) in double.iter().zip(&single) {
                let close = (a - f64::from(*b)).abs() <= 2e-5 * scale;
                assert!(close, "{pass} of `{}`: {double:?} but {single:?}", self.name);
            }
        }
    }
}

/// How many elements lanes are checked with: a multiple of every width.
const ELEMENTS: usize = 32;

/// Lanes give the scalar's bits, forward and pullback, whichever sides of a branch they take.
fn lanes<S: Dispatch + Float>(name: &str, points: &[Point], scalar: Pass<S>, lanes: Lanes<'_, S>) {
    let elements: Vec<Vec<S>> = (0..ELEMENTS)
        .map(|e| {
            // Repeated with other steps, so that points come side by side in several ways.
            let point = &points[(e + e / points.len()) % points.len()];
            point.numbers.iter().map(|&x| S::from_f64(x)).collect()
        })
        .collect();
    let mut indices: Vec<&Vec<usize>> = points.iter().map(|point| &point.indices).collect();
    indices.sort();
    indices.dedup();
    // An index is the same in all lanes.
    for indices in indices {
        let scalars: Vec<_> =
            (0..ELEMENTS).map(|e| scalar(&elements[e], indices, &|i| S::from_f64(seed(i, e)))).collect();
        for isa in Isa::available() {
            for width in [Width::One, Width::Narrow, Width::Wide] {
                let results = lanes(&elements, indices, isa, width);
                for (e, ((y, x_bar), (y_lane, x_bar_lane))) in scalars.iter().zip(&results).enumerate() {
                    for (pass, a, b) in [("forward", y, y_lane), ("pullback", x_bar, x_bar_lane)] {
                        let lane = format!("{} lanes of {isa:?}, {width:?}", S::C_NAME);
                        let at = &elements[e];
                        assert!(same(a, b), "{pass} of `{name}` at {at:?} is {a:?}, but {b:?} in {lane}");
                    }
                }
            }
        }
    }
}

struct Run<'a, K, S> {
    elements: &'a [Vec<S>],
    indices: &'a [usize],
    kernel: PhantomData<K>,
}

impl<K: Kernel, S: Float> Driver<S> for Run<'_, K, S> {
    /// The result and the arguments' cotangents of each element.
    type Output = Vec<Both<S>>;
    type Home = Self;

    fn run<L: Lane<Element = S>>(self) -> Self::Output {
        groups::<S, L>(self.elements, self.indices, pass::<K, L>)
    }
}

/// The elements, as many at once as there are lanes.
fn groups<S: Float, L: Lane<Element = S>>(
    elements: &[Vec<S>],
    indices: &[usize],
    pass: Pass<L>,
) -> Vec<Both<S>> {
    let mut results = Vec::new();
    for start in (0..elements.len()).step_by(L::WIDTH) {
        let (numbers, seeds) = load::<S, L>(elements, start);
        store(pass(&numbers, indices, &|i| seeds[i]), &mut results);
    }
    results
}

/// The most numbers that a result has here.
const MOST: usize = 64;

/// The numbers and the seeds of the elements from `start` on, side by side.
#[inline(never)]
fn load<S: Float, L: Lane<Element = S>>(elements: &[Vec<S>], start: usize) -> Both<L> {
    let side_by_side = |number: &dyn Fn(usize) -> S| {
        let mut row = [S::default(); 16];
        for l in 0..L::WIDTH {
            row[l] = number(l);
        }
        // SAFETY: a lane type has at most 16 lanes.
        unsafe { L::load(row.as_ptr()) }
    };
    let numbers = (0..elements[start].len()).map(|i| side_by_side(&|l| elements[start + l][i]));
    let seeds = (0..MOST).map(|i| side_by_side(&|l| S::from_f64(seed(i, start + l))));
    (numbers.collect(), seeds.collect())
}

#[inline(never)]
fn store<S: Float, L: Lane<Element = S>>((values, bars): Both<L>, results: &mut Vec<Both<S>>) {
    for l in 0..L::WIDTH {
        let lane = |numbers: &[L]| numbers.iter().map(|x| x.lane(l)).collect();
        results.push((lane(&values), lane(&bars)));
    }
}

/// Not inlined, so that it is compiled once for each type of lanes, and not once more for each instruction set:
/// [`check_in_line`] has the instructions in line, as simulations do.
#[inline(never)]
fn pass<K: Kernel, L: Real>(numbers: &[L], indices: &[usize], seed: &dyn Fn(usize) -> L) -> Both<L> {
    pass_in_line::<K, L>(numbers, indices, seed)
}

#[inline(always)]
fn pass_in_line<K: Kernel, L: Real>(numbers: &[L], indices: &[usize], seed: &dyn Fn(usize) -> L) -> Both<L> {
    let arguments = fill::<K::Arguments, L>(numbers, indices);
    let out = K::forward::<L>(arguments);
    let values = flat::<K::Output, L>(out);
    let mut out_bar = out;
    let seeds: Vec<L> = (0..values.len()).map(seed).collect();
    set::<K::Output, L>(&mut out_bar, &seeds);
    (values, flat::<K::Arguments, L>(K::pullback::<L>(arguments, out_bar)))
}

/// Lanes against scalars, with the kernel in the function that has the instruction set's features.
pub fn check_in_line<K: Kernel>(points: &[With<K::Arguments, f64>]) {
    let points = flat_points::<K>(points);
    lanes(K::NAME, &points, pass::<K, f32>, &|elements, indices, isa, width| {
        f32::dispatch(RunInLine(Run::<K, f32> { elements, indices, kernel: PhantomData }), isa, width)
    });
    lanes(K::NAME, &points, pass::<K, f64>, &|elements, indices, isa, width| {
        f64::dispatch(RunInLine(Run::<K, f64> { elements, indices, kernel: PhantomData }), isa, width)
    });
}

struct RunInLine<'a, K, S>(Run<'a, K, S>);

impl<K: Kernel, S: Float> Driver<S> for RunInLine<'_, K, S> {
    type Output = Vec<Both<S>>;
    type Home = Self;

    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) -> Self::Output {
        let mut results = Vec::new();
        for start in (0..self.0.elements.len()).step_by(L::WIDTH) {
            let (numbers, seeds) = load::<S, L>(self.0.elements, start);
            store(pass_in_line::<K, L>(&numbers, self.0.indices, &|i| seeds[i]), &mut results);
        }
        results
    }
}

/// A cotangent for number `i` of the result, for each element another one.
fn seed(i: usize, element: usize) -> f64 {
    0.7 - 0.31 * i as f64 + 0.013 * element as f64
}

#[inline(never)]
fn each<T: Argument, R: Real>(value: &mut With<T, R>, visit: &mut dyn FnMut(&mut R)) {
    T::each::<R>(value, &mut |x| visit(x));
}

fn flat<T: Argument, R: Real>(mut value: With<T, R>) -> Vec<R> {
    let mut numbers = Vec::new();
    each::<T, R>(&mut value, &mut |x| numbers.push(*x));
    numbers
}

fn indices<T: Argument>(mut value: With<T, f64>) -> Vec<usize> {
    let mut indices = Vec::new();
    T::each_index::<f64>(&mut value, &mut |_, index| {
        indices.push(index);
        index
    });
    indices
}

fn set<T: Argument, R: Real>(value: &mut With<T, R>, numbers: &[R]) {
    let mut numbers = numbers.iter();
    each::<T, R>(value, &mut |x| *x = *numbers.next().expect("as many numbers as the value has"));
}

fn fill<T: Argument, R: Real>(numbers: &[R], indices: &[usize]) -> With<T, R> {
    let mut value = <With<T, R> as Local<R>>::zero();
    set::<T, R>(&mut value, numbers);
    let mut indices = indices.iter();
    T::each_index::<R>(&mut value, &mut |_, _| *indices.next().expect("as many indices"));
    value
}

/// The same bits; two NaN are the same.
fn same<S: Float>(a: &[S], b: &[S]) -> bool {
    let bits = |x: &S| if x.to_f64().is_nan() { f64::NAN.to_bits() } else { x.to_f64().to_bits() };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| bits(a) == bits(b))
}
