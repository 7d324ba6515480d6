//! Dense matrices of 3×3 blocks, row by row.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;

/// B becomes its factors: L below the diagonal, with ones on it, U above; and the inverses of U's blocks on the diagonal.
#[inline(always)]
pub(crate) fn factorise<L: Lane>(n: usize, b: &mut [Mat3<L>]) {
    for k in 0..n {
        let inverted = inverse(b[k * n + k]);
        b[k * n + k] = inverted;
        let (above, below) = b.split_at_mut((k + 1) * n);
        let pivot = &above[k * n..];
        for row in below.chunks_exact_mut(n) {
            let factor = row[k] * inverted;
            row[k] = factor;
            for j in k + 1..n {
                row[j] = row[j] - factor * pivot[j];
            }
        }
    }
}

/// x becomes B⁻¹ x.
#[inline(always)]
pub(crate) fn solve<L: Lane>(n: usize, b: &[Mat3<L>], x: &mut [Vec3<L>]) {
    for i in 0..n {
        let mut sum = x[i];
        for j in 0..i {
            sum = sum - b[i * n + j] * x[j];
        }
        x[i] = sum;
    }
    for i in (0..n).rev() {
        let mut sum = x[i];
        for j in i + 1..n {
            sum = sum - b[i * n + j] * x[j];
        }
        x[i] = b[i * n + i] * sum;
    }
}

/// x becomes B⁻ᵀ x.
#[inline(always)]
pub(crate) fn solve_transposed<L: Lane>(n: usize, b: &[Mat3<L>], x: &mut [Vec3<L>]) {
    for i in 0..n {
        let mut sum = x[i];
        for j in 0..i {
            sum = sum - transpose_times(b[j * n + i], x[j]);
        }
        x[i] = transpose_times(b[i * n + i], sum);
    }
    for i in (0..n).rev() {
        let mut sum = x[i];
        for j in i + 1..n {
            sum = sum - transpose_times(b[j * n + i], x[j]);
        }
        x[i] = sum;
    }
}
