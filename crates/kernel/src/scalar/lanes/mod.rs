//! Lanes: several worlds, or elements, in one SIMD register.
//!
//! A lane type is a [`Real`] whose operations are elementwise, plus the loads and stores of [`Lane`]. Every
//! method is `#[inline(always)]` and straight-line: drivers under `#[target_feature]` instantiate kernels with
//! the type that fits the machine ([`Dispatch`]), and closures or calls would lose those features on the way.
//!
//! The types over x86 registers have no public name, because they may only exist on a machine that has the
//! instructions: a [`Driver`] is generic over its lanes, and `Dispatch` chooses them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod isa;
mod portable;
mod register;

pub use isa::{Apart, Dispatch, Driver, ISA_VARIABLE, Isa, Width};
pub use portable::Portable;

use super::{Dual, Mask, Real};

/// `WIDTH` numbers side by side. A plain `f32` or `f64`, or a dual of one, is one lane.
///
/// # Safety
/// The type has the size and layout of `[Self::Element; WIDTH]`.
pub unsafe trait Lane: Real {
    /// What one lane holds.
    type Element: Dispatch + Default;
    /// How many lanes.
    const WIDTH: usize;

    /// Runs a part of a loop over these lanes as a function of its own, with the best instructions of the machine.
    fn apart<A: Apart>(part: A) -> A::Output;

    /// Lane `i` from `source[i]`.
    ///
    /// # Safety
    /// `source` is valid for reads of `WIDTH` numbers (no alignment needed).
    unsafe fn load(source: *const Self::Element) -> Self;

    /// Lane `i` to `target[i]`.
    ///
    /// # Safety
    /// `target` is valid for writes of `WIDTH` numbers (no alignment needed).
    unsafe fn store(self, target: *mut Self::Element);

    /// Four consecutive numbers of `WIDTH` rows, turned so that component c of row l is lane l of result c:
    /// `result[c][l] = source[rows[l] + c]`.
    ///
    /// # Safety
    /// `rows` holds at least `WIDTH` offsets, and `source + rows[l]` is valid for reads of 4 numbers for each.
    unsafe fn load_rows(source: *const Self::Element, rows: &[usize; 16]) -> [Self; 4];

    /// The inverse of [`Lane::load_rows`]: `target[rows[l] + c] = values[c][l]`.
    ///
    /// # Safety
    /// `rows` holds at least `WIDTH` offsets, and `target + rows[l]` is valid for writes of 4 numbers for each.
    unsafe fn store_rows(values: [Self; 4], target: *mut Self::Element, rows: &[usize; 16]);

    /// The differences of rows from others, turned as by [`Lane::load_rows`]: `result[c][l] = source[rows[l] + c] - source[from[l] + c]`.
    ///
    /// # Safety
    /// As for [`Lane::load_rows`], for both.
    unsafe fn load_differences(
        source: *const Self::Element,
        rows: &[usize; 16],
        from: &[usize; 16],
    ) -> [Self; 4];

    /// Can rows of eight numbers be stored at once ([`Lane::store_rows_of_eight`])?
    const EIGHT: bool = false;

    /// [`Lane::store_rows`] for eight numbers a row, where [`Lane::EIGHT`] says so.
    ///
    /// # Safety
    /// As for [`Lane::store_rows`], with 8 numbers.
    #[inline(always)]
    unsafe fn store_rows_of_eight(values: [Self; 8], target: *mut Self::Element, rows: &[usize; 16]) {
        let [a, b, c, d, e, f, g, h] = values;
        // SAFETY: the caller's promise.
        unsafe {
            Self::store_rows([a, b, c, d], target, rows);
            Self::store_rows([e, f, g, h], target.add(4), rows);
        }
    }

    /// The same number in every lane.
    fn splat(x: Self::Element) -> Self;

    /// The number in lane `i < WIDTH`.
    fn lane(self, i: usize) -> Self::Element;

    /// Sets the number in lane `i < WIDTH`.
    #[inline(always)]
    fn set_lane(&mut self, i: usize, number: Self::Element) {
        assert!(i < Self::WIDTH, "a lane that is not there");
        // SAFETY: the type has the layout of `WIDTH` numbers, and `i` is below that.
        unsafe { std::ptr::from_mut(self).cast::<Self::Element>().add(i).write(number) }
    }

    /// The same in double precision and without a tangent, to decide by.
    fn value_in(self, i: usize) -> f64;

    /// The tangent in lane `i`; zero where numbers have none.
    #[inline(always)]
    fn tangent_in(self, _: usize) -> f64 {
        0.0
    }

    /// The same numbers with this tangent in every lane, where they have one.
    #[inline(always)]
    #[must_use]
    fn with_tangent(self, _: f64) -> Self {
        self
    }

    /// True in the first `count` lanes.
    fn first(count: usize) -> Self::Mask;
}

macro_rules! one_lane {
    ($($float:ty: $x:ident => $value:expr, $tangent:expr, $t:ident => $with:expr;)*) => {$(
        // SAFETY: a number is an array of one.
        unsafe impl Lane for $float {
            type Element = Self;
            const WIDTH: usize = 1;

            #[inline(always)]
            fn apart<A: Apart>(part: A) -> A::Output {
                isa::apart_one(part)
            }

            #[inline(always)]
            fn splat(x: Self) -> Self {
                x
            }

            #[inline(always)]
            unsafe fn load(source: *const Self) -> Self {
                // SAFETY: the caller gives one readable number.
                unsafe { source.read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store(self, target: *mut Self) {
                // SAFETY: the caller gives one writable number.
                unsafe { target.write_unaligned(self) }
            }
            #[inline(always)]
            unsafe fn load_rows(source: *const Self, rows: &[usize; 16]) -> [Self; 4] {
                // SAFETY: the caller gives 4 readable numbers in the row.
                unsafe { source.add(rows[0]).cast::<[Self; 4]>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store_rows(values: [Self; 4], target: *mut Self, rows: &[usize; 16]) {
                // SAFETY: the caller gives 4 writable numbers in the row.
                unsafe { target.add(rows[0]).cast::<[Self; 4]>().write_unaligned(values) }
            }
            #[inline(always)]
            unsafe fn load_differences(source: *const Self, rows: &[usize; 16], from: &[usize; 16]) -> [Self; 4] {
                // SAFETY: the caller gives 4 readable numbers in both rows.
                let (a, b) = unsafe { (Self::load_rows(source, rows), Self::load_rows(source, from)) };
                [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
            }
            #[inline(always)]
            fn lane(self, i: usize) -> Self {
                debug_assert!(i == 0);
                self
            }
            #[inline(always)]
            fn value_in(self, _: usize) -> f64 {
                let $x = self;
                $value
            }
            #[inline(always)]
            fn tangent_in(self, _: usize) -> f64 {
                let $x = self;
                $tangent
            }
            #[inline(always)]
            fn with_tangent(self, $t: f64) -> Self {
                let $x = self;
                $with
            }
            #[inline(always)]
            fn first(count: usize) -> Self::Mask {
                Mask::splat(count > 0)
            }
        }
    )*};
}
one_lane! {
    f32: x => f64::from(x), { let _ = x; 0.0 }, _t => x;
    f64: x => x, { let _ = x; 0.0 }, _t => x;
    Dual<f32>: x => f64::from(x.value), f64::from(x.tangent), t => Dual::new(x.value, t as f32);
    Dual<f64>: x => x.value, x.tangent, t => Dual::new(x.value, t);
}
