//! Lanes in an array, for machines without a register that we know.

use super::isa::Isa;
use super::register::{Lanes, Register};
use crate::scalar::{Float, Real};

/// `N` (at most 16) numbers of type `S` in an array: correct on any machine, fast on none.
pub type Portable<S, const N: usize> = Lanes<[S; N]>;

// Loops rather than `array::map` or `from_fn`: closures do not inherit the target features of their caller.
macro_rules! loops {
    ($($name:ident($($arg:ident),+) = $each:expr;)*) => {$(
        #[inline(always)]
        fn $name($($arg: Self),+) -> Self {
            let mut result = [S::default(); N];
            for i in 0..N {
                $(let $arg = $arg[i];)+
                result[i] = $each;
            }
            result
        }
    )*};
}

macro_rules! bit_loops {
    ($($name:ident($($arg:ident: $type:ty),+) = $each:expr;)*) => {$(
        #[inline(always)]
        fn $name($($arg: $type),+) -> [bool; N] {
            let mut bits = [false; N];
            for i in 0..N {
                $(let $arg = $arg[i];)+
                bits[i] = $each;
            }
            bits
        }
    )*};
}

// SAFETY: it is the array that `Register` asks for, and a wider one does not compile.
unsafe impl<S: Float + super::Dispatch, const N: usize> Register for [S; N] {
    type Float = S;
    type Bits = [bool; N];
    const WIDTH: usize = {
        assert!(N <= 16, "rows are given for 16 lanes");
        N
    };
    const ISA: Isa = Isa::Portable;

    #[inline(always)]
    fn splat(x: S) -> Self {
        [x; N]
    }
    loops! {
        add(a, b) = a + b;
        sub(a, b) = a - b;
        mul(a, b) = a * b;
        div(a, b) = a / b;
        mul_add(a, b, c) = Real::mul_add(a, b, c);
        neg(a) = -a;
        abs(a) = Real::abs(a);
        sqrt(a) = Real::sqrt(a);
        floor(a) = Real::floor(a);
        min(a, b) = Real::min(a, b);
        max(a, b) = Real::max(a, b);
    }
    bit_loops! {
        lt(a: Self, b: Self) = a < b;
        le(a: Self, b: Self) = a <= b;
        eq(a: Self, b: Self) = a == b;
        bits_and(a: [bool; N], b: [bool; N]) = a & b;
        bits_or(a: [bool; N], b: [bool; N]) = a | b;
        bits_not(a: [bool; N]) = !a;
        bits_select(bits: [bool; N], a: [bool; N], b: [bool; N]) = (bits & a) | (!bits & b);
    }
    #[inline(always)]
    fn select(bits: [bool; N], a: Self, b: Self) -> Self {
        let mut result = b;
        for i in 0..N {
            result[i] = S::select(bits[i], a[i], b[i]);
        }
        result
    }

    #[inline(always)]
    fn bits_first(count: usize) -> [bool; N] {
        let mut bits = [false; N];
        for i in 0..N {
            bits[i] = i < count;
        }
        bits
    }
    #[inline(always)]
    fn bits_splat(bit: bool) -> [bool; N] {
        [bit; N]
    }
    #[inline(always)]
    fn bits_any(a: [bool; N]) -> bool {
        let mut any = false;
        for i in 0..N {
            any |= a[i];
        }
        any
    }
    #[inline(always)]
    fn bits_all(a: [bool; N]) -> bool {
        let mut all = true;
        for i in 0..N {
            all &= a[i];
        }
        all
    }

    #[inline(always)]
    unsafe fn load(source: *const S) -> Self {
        // SAFETY: the caller gives N readable numbers; `read_unaligned` asks for nothing else.
        unsafe { source.cast::<Self>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(self, target: *mut S) {
        // SAFETY: the caller gives N writable numbers; `write_unaligned` asks for nothing else.
        unsafe { target.cast::<Self>().write_unaligned(self) }
    }
    #[inline(always)]
    unsafe fn load_rows(source: *const S, rows: &[usize; 16]) -> [Self; 4] {
        let mut result = [[S::default(); N]; 4];
        for l in 0..N {
            for c in 0..4 {
                // SAFETY: the caller gives 4 readable numbers in each row.
                result[c][l] = unsafe { source.add(rows[l] + c).read_unaligned() };
            }
        }
        result
    }
    #[inline(always)]
    unsafe fn store_rows(values: [Self; 4], target: *mut S, rows: &[usize; 16]) {
        for l in 0..N {
            for c in 0..4 {
                // SAFETY: the caller gives 4 writable numbers in each row.
                unsafe { target.add(rows[l] + c).write_unaligned(values[c][l]) };
            }
        }
    }
}
