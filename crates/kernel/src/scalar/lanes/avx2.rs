//! Eight `f32` or four `f64` in a 256-bit register. A mask is a register of ones and zeros.
//!
//! A multiply-add is fused where the kernel says so, and nowhere else: lanes give the bits of scalar arithmetic.

use std::arch::x86_64::*;

use super::isa::Isa;
use super::register::{Lanes, Register};

/// Eight `f32`.
pub type F32x8 = Lanes<__m256>;
/// Four `f64`.
pub type F64x4 = Lanes<__m256d>;

/// Functions of a [`Register`], each by the intrinsics that compute it.
macro_rules! intrinsics {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name($($arg: $type),*) -> $result {
            // SAFETY: `Dispatch` found the instructions before it handed the register out.
            unsafe { $body }
        }
    )*};
}
pub(super) use intrinsics;

// SAFETY: __m256 is eight f32, the first in the lowest bits.
unsafe impl Register for __m256 {
    type Float = f32;
    type Bits = Self;
    const WIDTH: usize = 8;
    const ISA: Isa = Isa::Avx2;

    intrinsics! {
        splat(x: f32) -> Self = _mm256_set1_ps(x);
        add(a: Self, b: Self) -> Self = _mm256_add_ps(a, b);
        sub(a: Self, b: Self) -> Self = _mm256_sub_ps(a, b);
        mul(a: Self, b: Self) -> Self = _mm256_mul_ps(a, b);
        mul_add(a: Self, b: Self, c: Self) -> Self = _mm256_fmadd_ps(a, b, c);
        div(a: Self, b: Self) -> Self = _mm256_div_ps(a, b);
        neg(a: Self) -> Self = _mm256_xor_ps(a, _mm256_set1_ps(-0.0));
        abs(a: Self) -> Self = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
        sqrt(a: Self) -> Self = _mm256_sqrt_ps(a);
        floor(a: Self) -> Self = _mm256_floor_ps(a);
        // The instructions answer with their second operand on ties and NaN: ours is the first.
        min(a: Self, b: Self) -> Self = _mm256_min_ps(b, a);
        max(a: Self, b: Self) -> Self = _mm256_max_ps(b, a);

        lt(a: Self, b: Self) -> Self = _mm256_cmp_ps::<_CMP_LT_OQ>(a, b);
        le(a: Self, b: Self) -> Self = _mm256_cmp_ps::<_CMP_LE_OQ>(a, b);
        eq(a: Self, b: Self) -> Self = _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b);
        select(bits: Self, a: Self, b: Self) -> Self = _mm256_blendv_ps(b, a, bits);

        bits_first(count: usize) -> Self = _mm256_castsi256_ps(_mm256_cmpgt_epi32(
            _mm256_set1_epi32(count.min(8) as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
        bits_splat(bit: bool) -> Self = _mm256_castsi256_ps(_mm256_set1_epi32(-i32::from(bit)));
        bits_and(a: Self, b: Self) -> Self = _mm256_and_ps(a, b);
        bits_or(a: Self, b: Self) -> Self = _mm256_or_ps(a, b);
        bits_not(a: Self) -> Self = _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
        bits_any(a: Self) -> bool = _mm256_movemask_ps(a) != 0;
        bits_all(a: Self) -> bool = _mm256_movemask_ps(a) == 0xff;
        bits_select(bits: Self, a: Self, b: Self) -> Self = _mm256_blendv_ps(b, a, bits);
    }

    #[inline(always)]
    unsafe fn load(source: *const f32) -> Self {
        // SAFETY: the caller gives 8 readable numbers.
        unsafe { _mm256_loadu_ps(source) }
    }
    #[inline(always)]
    unsafe fn store(self, target: *mut f32) {
        // SAFETY: the caller gives 8 writable numbers.
        unsafe { _mm256_storeu_ps(target, self) }
    }

    // Rows l and l + 4 share a register, so that the transposes stay inside 128-bit halves; the upper row
    // comes straight from memory.
    #[inline(always)]
    unsafe fn load_rows(source: *const f32, rows: &[usize; 16]) -> [Self; 4] {
        // SAFETY: the caller gives 4 readable numbers in each row.
        turn(unsafe { pairs_of_rows(source, rows) })
    }
    // What is subtracted before rows are turned need not be turned itself.
    #[inline(always)]
    unsafe fn load_differences(source: *const f32, rows: &[usize; 16], from: &[usize; 16]) -> [Self; 4] {
        // SAFETY: the caller gives 4 readable numbers in each row.
        let (mut pairs, from) = unsafe { (pairs_of_rows(source, rows), pairs_of_rows(source, from)) };
        for i in 0..4 {
            pairs[i] = Self::sub(pairs[i], from[i]);
        }
        turn(pairs)
    }
    const EIGHT: bool = true;
    #[inline(always)]
    unsafe fn store_rows_of_eight([a, b, c, d, e, f, g, h]: [Self; 8], target: *mut f32, rows: &[usize; 16]) {
        let ([l04, l15, l26, l37], [u04, u15, u26, u37]) = (turn([a, b, c, d]), turn([e, f, g, h]));
        // SAFETY: the caller gives 8 writable numbers in each row; 0x20 joins lower halves, 0x31 upper ones. In the order of the rows.
        unsafe {
            _mm256_storeu_ps(target.add(rows[0]), _mm256_permute2f128_ps::<0x20>(l04, u04));
            _mm256_storeu_ps(target.add(rows[1]), _mm256_permute2f128_ps::<0x20>(l15, u15));
            _mm256_storeu_ps(target.add(rows[2]), _mm256_permute2f128_ps::<0x20>(l26, u26));
            _mm256_storeu_ps(target.add(rows[3]), _mm256_permute2f128_ps::<0x20>(l37, u37));
            _mm256_storeu_ps(target.add(rows[4]), _mm256_permute2f128_ps::<0x31>(l04, u04));
            _mm256_storeu_ps(target.add(rows[5]), _mm256_permute2f128_ps::<0x31>(l15, u15));
            _mm256_storeu_ps(target.add(rows[6]), _mm256_permute2f128_ps::<0x31>(l26, u26));
            _mm256_storeu_ps(target.add(rows[7]), _mm256_permute2f128_ps::<0x31>(l37, u37));
        }
    }
    #[inline(always)]
    unsafe fn store_rows([x, y, z, w]: [Self; 4], target: *mut f32, rows: &[usize; 16]) {
        // SAFETY: the caller gives 4 writable numbers in each row.
        unsafe {
            let [r04, r15, r26, r37] = turn([x, y, z, w]);
            // In the order of the rows: where two rows are the same, the last one stays, as in scalar code.
            _mm_storeu_ps(target.add(rows[0]), _mm256_castps256_ps128(r04));
            _mm_storeu_ps(target.add(rows[1]), _mm256_castps256_ps128(r15));
            _mm_storeu_ps(target.add(rows[2]), _mm256_castps256_ps128(r26));
            _mm_storeu_ps(target.add(rows[3]), _mm256_castps256_ps128(r37));
            _mm_storeu_ps(target.add(rows[4]), _mm256_extractf128_ps::<1>(r04));
            _mm_storeu_ps(target.add(rows[5]), _mm256_extractf128_ps::<1>(r15));
            _mm_storeu_ps(target.add(rows[6]), _mm256_extractf128_ps::<1>(r26));
            _mm_storeu_ps(target.add(rows[7]), _mm256_extractf128_ps::<1>(r37));
        }
    }
}

/// Rows l and l + 4 of four `f32`, one in each half.
///
/// # Safety
/// `source + rows[l]` is valid for reads of 4 numbers for each of 8; the machine has AVX2.
#[inline(always)]
unsafe fn pairs_of_rows(source: *const f32, rows: &[usize; 16]) -> [__m256; 4] {
    // SAFETY: the caller gives 4 readable numbers in each row.
    unsafe {
        [
            _mm256_loadu2_m128(source.add(rows[4]), source.add(rows[0])),
            _mm256_loadu2_m128(source.add(rows[5]), source.add(rows[1])),
            _mm256_loadu2_m128(source.add(rows[6]), source.add(rows[2])),
            _mm256_loadu2_m128(source.add(rows[7]), source.add(rows[3])),
        ]
    }
}

/// Transposes the four by four numbers in each half. It is its own inverse.
#[inline(always)]
fn turn([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: registers are there only where the machine has AVX2.
    unsafe {
        let xy01 = _mm256_castps_pd(_mm256_unpacklo_ps(a, b));
        let zw01 = _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
        let xy23 = _mm256_castps_pd(_mm256_unpacklo_ps(c, d));
        let zw23 = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
        [
            _mm256_castpd_ps(_mm256_unpacklo_pd(xy01, xy23)),
            _mm256_castpd_ps(_mm256_unpackhi_pd(xy01, xy23)),
            _mm256_castpd_ps(_mm256_unpacklo_pd(zw01, zw23)),
            _mm256_castpd_ps(_mm256_unpackhi_pd(zw01, zw23)),
        ]
    }
}

// SAFETY: __m256d is four f64, the first in the lowest bits.
unsafe impl Register for __m256d {
    type Float = f64;
    type Bits = Self;
    const WIDTH: usize = 4;
    const ISA: Isa = Isa::Avx2;

    intrinsics! {
        splat(x: f64) -> Self = _mm256_set1_pd(x);
        add(a: Self, b: Self) -> Self = _mm256_add_pd(a, b);
        sub(a: Self, b: Self) -> Self = _mm256_sub_pd(a, b);
        mul(a: Self, b: Self) -> Self = _mm256_mul_pd(a, b);
        mul_add(a: Self, b: Self, c: Self) -> Self = _mm256_fmadd_pd(a, b, c);
        div(a: Self, b: Self) -> Self = _mm256_div_pd(a, b);
        neg(a: Self) -> Self = _mm256_xor_pd(a, _mm256_set1_pd(-0.0));
        abs(a: Self) -> Self = _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
        sqrt(a: Self) -> Self = _mm256_sqrt_pd(a);
        floor(a: Self) -> Self = _mm256_floor_pd(a);
        // The instructions answer with their second operand on ties and NaN: ours is the first.
        min(a: Self, b: Self) -> Self = _mm256_min_pd(b, a);
        max(a: Self, b: Self) -> Self = _mm256_max_pd(b, a);

        lt(a: Self, b: Self) -> Self = _mm256_cmp_pd::<_CMP_LT_OQ>(a, b);
        le(a: Self, b: Self) -> Self = _mm256_cmp_pd::<_CMP_LE_OQ>(a, b);
        eq(a: Self, b: Self) -> Self = _mm256_cmp_pd::<_CMP_EQ_OQ>(a, b);
        select(bits: Self, a: Self, b: Self) -> Self = _mm256_blendv_pd(b, a, bits);

        bits_first(count: usize) -> Self = _mm256_castsi256_pd(_mm256_cmpgt_epi64(
            _mm256_set1_epi64x(count.min(4) as i64), _mm256_setr_epi64x(0, 1, 2, 3)));
        bits_splat(bit: bool) -> Self = _mm256_castsi256_pd(_mm256_set1_epi64x(-i64::from(bit)));
        bits_and(a: Self, b: Self) -> Self = _mm256_and_pd(a, b);
        bits_or(a: Self, b: Self) -> Self = _mm256_or_pd(a, b);
        bits_not(a: Self) -> Self = _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)));
        bits_any(a: Self) -> bool = _mm256_movemask_pd(a) != 0;
        bits_all(a: Self) -> bool = _mm256_movemask_pd(a) == 0xf;
        bits_select(bits: Self, a: Self, b: Self) -> Self = _mm256_blendv_pd(b, a, bits);
    }

    #[inline(always)]
    unsafe fn load(source: *const f64) -> Self {
        // SAFETY: the caller gives 4 readable numbers.
        unsafe { _mm256_loadu_pd(source) }
    }
    #[inline(always)]
    unsafe fn store(self, target: *mut f64) {
        // SAFETY: the caller gives 4 writable numbers.
        unsafe { _mm256_storeu_pd(target, self) }
    }

    // Halves of rows l and l + 2 share a register: loading the upper half from memory is cheaper than
    // exchanging halves between registers.
    #[inline(always)]
    unsafe fn load_rows(source: *const f64, rows: &[usize; 16]) -> [Self; 4] {
        // SAFETY: the caller gives 4 readable numbers in each row.
        unsafe {
            let (r0, r1) = (source.add(rows[0]), source.add(rows[1]));
            let (r2, r3) = (source.add(rows[2]), source.add(rows[3]));
            let xy02 = _mm256_loadu2_m128d(r2, r0);
            let xy13 = _mm256_loadu2_m128d(r3, r1);
            let zw02 = _mm256_loadu2_m128d(r2.add(2), r0.add(2));
            let zw13 = _mm256_loadu2_m128d(r3.add(2), r1.add(2));
            [
                _mm256_unpacklo_pd(xy02, xy13),
                _mm256_unpackhi_pd(xy02, xy13),
                _mm256_unpacklo_pd(zw02, zw13),
                _mm256_unpackhi_pd(zw02, zw13),
            ]
        }
    }
    #[inline(always)]
    unsafe fn store_rows([x, y, z, w]: [Self; 4], target: *mut f64, rows: &[usize; 16]) {
        // SAFETY: the caller gives 4 writable numbers in each row.
        unsafe {
            let xy02 = _mm256_unpacklo_pd(x, y);
            let xy13 = _mm256_unpackhi_pd(x, y);
            let zw02 = _mm256_unpacklo_pd(z, w);
            let zw13 = _mm256_unpackhi_pd(z, w);
            // 0x20 joins the lower halves, 0x31 the upper ones.
            _mm256_storeu_pd(target.add(rows[0]), _mm256_permute2f128_pd::<0x20>(xy02, zw02));
            _mm256_storeu_pd(target.add(rows[1]), _mm256_permute2f128_pd::<0x20>(xy13, zw13));
            _mm256_storeu_pd(target.add(rows[2]), _mm256_permute2f128_pd::<0x31>(xy02, zw02));
            _mm256_storeu_pd(target.add(rows[3]), _mm256_permute2f128_pd::<0x31>(xy13, zw13));
        }
    }
}
