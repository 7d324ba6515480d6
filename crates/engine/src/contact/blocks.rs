//! Factors of matrices of 3×3 blocks, row by row, in the places that the matrix has itself: exact for dense ones, incomplete
//! for sparse ones.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;

use super::pattern::Pattern;

/// B becomes its factors: L below the diagonal, with ones on it, U above; and the inverses of U's blocks on the diagonal.
#[inline(always)]
pub(crate) fn factorise<L: Lane>(pattern: impl Pattern, b: &mut [Mat3<L>]) {
    for i in 0..pattern.len() {
        let diagonal = pattern.diagonal(i);
        for entry in pattern.row(i).start..diagonal {
            let k = pattern.column(i, entry);
            let factor = b[entry] * b[pattern.diagonal(k)];
            b[entry] = factor;
            pattern.eliminate(i, k, entry, factor, b);
        }
        b[diagonal] = inverse(b[diagonal]);
    }
}

/// x becomes B⁻¹ x.
#[inline(always)]
pub(crate) fn solve<L: Lane>(pattern: impl Pattern, b: &[Mat3<L>], x: &mut [Vec3<L>]) {
    for i in 0..pattern.len() {
        let mut sum = x[i];
        for entry in pattern.row(i).start..pattern.diagonal(i) {
            sum = sum - b[entry] * x[pattern.column(i, entry)];
        }
        x[i] = sum;
    }
    for i in (0..pattern.len()).rev() {
        let (diagonal, mut sum) = (pattern.diagonal(i), x[i]);
        for entry in diagonal + 1..pattern.row(i).end {
            sum = sum - b[entry] * x[pattern.column(i, entry)];
        }
        x[i] = b[diagonal] * sum;
    }
}

/// x becomes B⁻ᵀ x.
#[inline(always)]
pub(crate) fn solve_transposed<L: Lane>(pattern: impl Pattern, b: &[Mat3<L>], x: &mut [Vec3<L>]) {
    for i in 0..pattern.len() {
        let diagonal = pattern.diagonal(i);
        let this = transpose_times(b[diagonal], x[i]);
        x[i] = this;
        for entry in diagonal + 1..pattern.row(i).end {
            let j = pattern.column(i, entry);
            x[j] = x[j] - transpose_times(b[entry], this);
        }
    }
    for i in (0..pattern.len()).rev() {
        let this = x[i];
        for entry in pattern.row(i).start..pattern.diagonal(i) {
            let j = pattern.column(i, entry);
            x[j] = x[j] - transpose_times(b[entry], this);
        }
    }
}
