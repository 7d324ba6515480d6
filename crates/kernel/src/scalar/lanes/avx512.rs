//! Sixteen `f32` or eight `f64` in a 512-bit register. A mask is one bit a lane, in a mask register.
//!
//! A multiply-add is fused where the kernel says so, and nowhere else: lanes give the bits of scalar arithmetic.

use std::arch::x86_64::*;

use super::avx2::intrinsics;
use super::isa::Isa;
use super::register::{Lanes, Register};

/// Sixteen `f32`.
pub type F32x16 = Lanes<__m512>;
/// Eight `f64`.
pub type F64x8 = Lanes<__m512d>;

/// Round down, raise no exception.
const FLOOR: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

/// The functions of masks: integers of one bit a lane, which the compiler keeps in mask registers.
macro_rules! bits {
    ($bits:ty) => {
        #[inline(always)]
        fn bits_first(count: usize) -> $bits {
            ((1_u32 << count.min(Self::WIDTH)) - 1) as $bits
        }
        #[inline(always)]
        fn bits_splat(bit: bool) -> $bits {
            <$bits>::from(bit).wrapping_neg()
        }
        #[inline(always)]
        fn bits_and(a: $bits, b: $bits) -> $bits {
            a & b
        }
        #[inline(always)]
        fn bits_or(a: $bits, b: $bits) -> $bits {
            a | b
        }
        #[inline(always)]
        fn bits_not(a: $bits) -> $bits {
            !a
        }
        #[inline(always)]
        fn bits_any(a: $bits) -> bool {
            a != 0
        }
        #[inline(always)]
        fn bits_all(a: $bits) -> bool {
            a == <$bits>::MAX
        }
        #[inline(always)]
        fn bits_select(bits: $bits, a: $bits, b: $bits) -> $bits {
            (bits & a) | (!bits & b)
        }
    };
}

// SAFETY: __m512 is sixteen f32, the first in the lowest bits.
unsafe impl Register for __m512 {
    type Float = f32;
    type Bits = __mmask16;
    const WIDTH: usize = 16;
    const ISA: Isa = Isa::Avx512;

    intrinsics! {
        splat(x: f32) -> Self = _mm512_set1_ps(x);
        add(a: Self, b: Self) -> Self = _mm512_add_ps(a, b);
        sub(a: Self, b: Self) -> Self = _mm512_sub_ps(a, b);
        mul(a: Self, b: Self) -> Self = _mm512_mul_ps(a, b);
        mul_add(a: Self, b: Self, c: Self) -> Self = _mm512_fmadd_ps(a, b, c);
        div(a: Self, b: Self) -> Self = _mm512_div_ps(a, b);
        neg(a: Self) -> Self = _mm512_xor_ps(a, _mm512_set1_ps(-0.0));
        abs(a: Self) -> Self = _mm512_andnot_ps(_mm512_set1_ps(-0.0), a);
        sqrt(a: Self) -> Self = _mm512_sqrt_ps(a);
        floor(a: Self) -> Self = _mm512_roundscale_ps::<FLOOR>(a);
        // The instructions answer with their second operand on ties and NaN: ours is the first.
        min(a: Self, b: Self) -> Self = _mm512_min_ps(b, a);
        max(a: Self, b: Self) -> Self = _mm512_max_ps(b, a);

        lt(a: Self, b: Self) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
        le(a: Self, b: Self) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
        eq(a: Self, b: Self) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b);
        select(bits: __mmask16, a: Self, b: Self) -> Self = _mm512_mask_blend_ps(bits, b, a);
    }
    bits!(__mmask16);

    #[inline(always)]
    unsafe fn load(source: *const f32) -> Self {
        // SAFETY: the caller gives 16 readable numbers.
        unsafe { _mm512_loadu_ps(source) }
    }
    #[inline(always)]
    unsafe fn store(self, target: *mut f32) {
        // SAFETY: the caller gives 16 writable numbers.
        unsafe { _mm512_storeu_ps(target, self) }
    }

    // Rows l, l + 4, l + 8 and l + 12 share a register, so that the transposes stay inside 128-bit quarters;
    // the upper rows come straight from memory.
    #[inline(always)]
    unsafe fn load_rows(source: *const f32, rows: &[usize; 16]) -> [Self; 4] {
        // SAFETY: the caller gives 4 readable numbers in each row.
        unsafe {
            let r0 = four_rows(source, [rows[0], rows[4], rows[8], rows[12]]);
            let r1 = four_rows(source, [rows[1], rows[5], rows[9], rows[13]]);
            let r2 = four_rows(source, [rows[2], rows[6], rows[10], rows[14]]);
            let r3 = four_rows(source, [rows[3], rows[7], rows[11], rows[15]]);
            let xy01 = _mm512_castps_pd(_mm512_unpacklo_ps(r0, r1));
            let zw01 = _mm512_castps_pd(_mm512_unpackhi_ps(r0, r1));
            let xy23 = _mm512_castps_pd(_mm512_unpacklo_ps(r2, r3));
            let zw23 = _mm512_castps_pd(_mm512_unpackhi_ps(r2, r3));
            [
                _mm512_castpd_ps(_mm512_unpacklo_pd(xy01, xy23)),
                _mm512_castpd_ps(_mm512_unpackhi_pd(xy01, xy23)),
                _mm512_castpd_ps(_mm512_unpacklo_pd(zw01, zw23)),
                _mm512_castpd_ps(_mm512_unpackhi_pd(zw01, zw23)),
            ]
        }
    }
    #[inline(always)]
    unsafe fn store_rows([x, y, z, w]: [Self; 4], target: *mut f32, rows: &[usize; 16]) {
        // SAFETY: the caller gives 4 writable numbers in each row.
        unsafe {
            let xy01 = _mm512_castps_pd(_mm512_unpacklo_ps(x, y));
            let xy23 = _mm512_castps_pd(_mm512_unpackhi_ps(x, y));
            let zw01 = _mm512_castps_pd(_mm512_unpacklo_ps(z, w));
            let zw23 = _mm512_castps_pd(_mm512_unpackhi_ps(z, w));
            let r0 = _mm512_castpd_ps(_mm512_unpacklo_pd(xy01, zw01));
            let r1 = _mm512_castpd_ps(_mm512_unpackhi_pd(xy01, zw01));
            let r2 = _mm512_castpd_ps(_mm512_unpacklo_pd(xy23, zw23));
            let r3 = _mm512_castpd_ps(_mm512_unpackhi_pd(xy23, zw23));
            // In the order of the rows: where two rows are the same, the last one stays, as in scalar code.
            _mm_storeu_ps(target.add(rows[0]), _mm512_extractf32x4_ps::<0>(r0));
            _mm_storeu_ps(target.add(rows[1]), _mm512_extractf32x4_ps::<0>(r1));
            _mm_storeu_ps(target.add(rows[2]), _mm512_extractf32x4_ps::<0>(r2));
            _mm_storeu_ps(target.add(rows[3]), _mm512_extractf32x4_ps::<0>(r3));
            _mm_storeu_ps(target.add(rows[4]), _mm512_extractf32x4_ps::<1>(r0));
            _mm_storeu_ps(target.add(rows[5]), _mm512_extractf32x4_ps::<1>(r1));
            _mm_storeu_ps(target.add(rows[6]), _mm512_extractf32x4_ps::<1>(r2));
            _mm_storeu_ps(target.add(rows[7]), _mm512_extractf32x4_ps::<1>(r3));
            _mm_storeu_ps(target.add(rows[8]), _mm512_extractf32x4_ps::<2>(r0));
            _mm_storeu_ps(target.add(rows[9]), _mm512_extractf32x4_ps::<2>(r1));
            _mm_storeu_ps(target.add(rows[10]), _mm512_extractf32x4_ps::<2>(r2));
            _mm_storeu_ps(target.add(rows[11]), _mm512_extractf32x4_ps::<2>(r3));
            _mm_storeu_ps(target.add(rows[12]), _mm512_extractf32x4_ps::<3>(r0));
            _mm_storeu_ps(target.add(rows[13]), _mm512_extractf32x4_ps::<3>(r1));
            _mm_storeu_ps(target.add(rows[14]), _mm512_extractf32x4_ps::<3>(r2));
            _mm_storeu_ps(target.add(rows[15]), _mm512_extractf32x4_ps::<3>(r3));
        }
    }
}

/// Four rows of four `f32`, one in each quarter.
///
/// # Safety
/// `source + rows[l]` is valid for reads of 4 numbers for each; the machine has AVX-512.
#[inline(always)]
unsafe fn four_rows(source: *const f32, rows: [usize; 4]) -> __m512 {
    // SAFETY: the caller gives 4 readable numbers in each row.
    unsafe {
        let r = _mm512_castps128_ps512(_mm_loadu_ps(source.add(rows[0])));
        let r = _mm512_insertf32x4::<1>(r, _mm_loadu_ps(source.add(rows[1])));
        let r = _mm512_insertf32x4::<2>(r, _mm_loadu_ps(source.add(rows[2])));
        _mm512_insertf32x4::<3>(r, _mm_loadu_ps(source.add(rows[3])))
    }
}

// SAFETY: __m512d is eight f64, the first in the lowest bits.
unsafe impl Register for __m512d {
    type Float = f64;
    type Bits = __mmask8;
    const WIDTH: usize = 8;
    const ISA: Isa = Isa::Avx512;

    intrinsics! {
        splat(x: f64) -> Self = _mm512_set1_pd(x);
        add(a: Self, b: Self) -> Self = _mm512_add_pd(a, b);
        sub(a: Self, b: Self) -> Self = _mm512_sub_pd(a, b);
        mul(a: Self, b: Self) -> Self = _mm512_mul_pd(a, b);
        mul_add(a: Self, b: Self, c: Self) -> Self = _mm512_fmadd_pd(a, b, c);
        div(a: Self, b: Self) -> Self = _mm512_div_pd(a, b);
        neg(a: Self) -> Self = _mm512_xor_pd(a, _mm512_set1_pd(-0.0));
        abs(a: Self) -> Self = _mm512_andnot_pd(_mm512_set1_pd(-0.0), a);
        sqrt(a: Self) -> Self = _mm512_sqrt_pd(a);
        floor(a: Self) -> Self = _mm512_roundscale_pd::<FLOOR>(a);
        // The instructions answer with their second operand on ties and NaN: ours is the first.
        min(a: Self, b: Self) -> Self = _mm512_min_pd(b, a);
        max(a: Self, b: Self) -> Self = _mm512_max_pd(b, a);

        lt(a: Self, b: Self) -> __mmask8 = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
        le(a: Self, b: Self) -> __mmask8 = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b);
        eq(a: Self, b: Self) -> __mmask8 = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b);
        select(bits: __mmask8, a: Self, b: Self) -> Self = _mm512_mask_blend_pd(bits, b, a);
    }
    bits!(__mmask8);

    #[inline(always)]
    unsafe fn load(source: *const f64) -> Self {
        // SAFETY: the caller gives 8 readable numbers.
        unsafe { _mm512_loadu_pd(source) }
    }
    #[inline(always)]
    unsafe fn store(self, target: *mut f64) {
        // SAFETY: the caller gives 8 writable numbers.
        unsafe { _mm512_storeu_pd(target, self) }
    }

    // Rows l and l + 2 share a register, so that the last shuffle, which takes quarters 0 and 2 (or 1 and 3)
    // of both its operands, leaves the lanes in order.
    #[inline(always)]
    unsafe fn load_rows(source: *const f64, rows: &[usize; 16]) -> [Self; 4] {
        // SAFETY: the caller gives 4 readable numbers in each row.
        unsafe {
            let r02 = two_rows(source, [rows[0], rows[2]]);
            let r13 = two_rows(source, [rows[1], rows[3]]);
            let r46 = two_rows(source, [rows[4], rows[6]]);
            let r57 = two_rows(source, [rows[5], rows[7]]);
            let xz0123 = _mm512_unpacklo_pd(r02, r13);
            let yw0123 = _mm512_unpackhi_pd(r02, r13);
            let xz4567 = _mm512_unpacklo_pd(r46, r57);
            let yw4567 = _mm512_unpackhi_pd(r46, r57);
            [
                _mm512_shuffle_f64x2::<0b10_00_10_00>(xz0123, xz4567),
                _mm512_shuffle_f64x2::<0b10_00_10_00>(yw0123, yw4567),
                _mm512_shuffle_f64x2::<0b11_01_11_01>(xz0123, xz4567),
                _mm512_shuffle_f64x2::<0b11_01_11_01>(yw0123, yw4567),
            ]
        }
    }
    #[inline(always)]
    unsafe fn store_rows([x, y, z, w]: [Self; 4], target: *mut f64, rows: &[usize; 16]) {
        // SAFETY: the caller gives 4 writable numbers in each row.
        unsafe {
            let xy_even = _mm512_unpacklo_pd(x, y);
            let xy_odd = _mm512_unpackhi_pd(x, y);
            let zw_even = _mm512_unpacklo_pd(z, w);
            let zw_odd = _mm512_unpackhi_pd(z, w);
            // Quarters (0, 1) of both operands in turn, and quarters (2, 3): indices from 8 on are the second's.
            let lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            let upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            let r02 = _mm512_permutex2var_pd(xy_even, lower, zw_even);
            let r13 = _mm512_permutex2var_pd(xy_odd, lower, zw_odd);
            let r46 = _mm512_permutex2var_pd(xy_even, upper, zw_even);
            let r57 = _mm512_permutex2var_pd(xy_odd, upper, zw_odd);
            // In the order of the rows: where two rows are the same, the last one stays, as in scalar code.
            _mm256_storeu_pd(target.add(rows[0]), _mm512_castpd512_pd256(r02));
            _mm256_storeu_pd(target.add(rows[1]), _mm512_castpd512_pd256(r13));
            _mm256_storeu_pd(target.add(rows[2]), _mm512_extractf64x4_pd::<1>(r02));
            _mm256_storeu_pd(target.add(rows[3]), _mm512_extractf64x4_pd::<1>(r13));
            _mm256_storeu_pd(target.add(rows[4]), _mm512_castpd512_pd256(r46));
            _mm256_storeu_pd(target.add(rows[5]), _mm512_castpd512_pd256(r57));
            _mm256_storeu_pd(target.add(rows[6]), _mm512_extractf64x4_pd::<1>(r46));
            _mm256_storeu_pd(target.add(rows[7]), _mm512_extractf64x4_pd::<1>(r57));
        }
    }
}

/// Two rows of four `f64`, one in each half.
///
/// # Safety
/// `source + rows[l]` is valid for reads of 4 numbers for each; the machine has AVX-512.
#[inline(always)]
unsafe fn two_rows(source: *const f64, rows: [usize; 2]) -> __m512d {
    // SAFETY: the caller gives 4 readable numbers in each row.
    unsafe {
        let r = _mm512_castpd256_pd512(_mm256_loadu_pd(source.add(rows[0])));
        _mm512_insertf64x4::<1>(r, _mm256_loadu_pd(source.add(rows[1])))
    }
}
