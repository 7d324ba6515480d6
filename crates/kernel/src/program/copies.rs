//! Between the numbers of a buffer as they lie in an arena, and flat arrays: value by value, without padding. And what is asked of many numbers.

use super::layout::{BLOCK, Layout};
use super::operation::Scalar;

/// The numbers of a buffer, of values of `count` numbers each, from an array in which they lie so.
///
/// # Safety
/// They lie there, and nobody writes to them meanwhile.
pub unsafe fn gather<S: Scalar>(array: *const S, layout: Layout, count: usize, numbers: &mut [S]) {
    if is_rows_of_vectors(layout, count) {
        // SAFETY: the caller's promise.
        return unsafe { vectors_from_rows(array.add(layout.offset), numbers) };
    }
    // SAFETY: the caller's promise.
    each_number(layout, count, numbers.len(), |at, i| unsafe {
        *numbers.get_unchecked_mut(i) = array.add(at).read();
    });
}

/// The inverse of [`gather`].
///
/// # Safety
/// There is room for them, and nobody else uses it meanwhile.
pub unsafe fn scatter<S: Scalar>(numbers: &[S], array: *mut S, layout: Layout, count: usize) {
    if is_rows_of_vectors(layout, count) {
        // SAFETY: the caller's promise.
        return unsafe { rows_from_vectors(numbers, array.add(layout.offset)) };
    }
    // SAFETY: the caller's promise.
    each_number(layout, count, numbers.len(), |at, i| unsafe {
        array.add(at).write(*numbers.get_unchecked(i));
    });
}

/// Are all numbers finite? With wider instructions where there are some: one after the other it would take as long as a part of a step.
pub fn are_finite<S: Scalar>(numbers: &[S]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn wide<S: Scalar>(numbers: &[S]) -> bool {
            all_finite(numbers)
        }
        // SAFETY: the machine has these instructions.
        return unsafe { wide(numbers) };
    }
    all_finite(numbers)
}

#[inline(always)]
fn all_finite<S: Scalar>(numbers: &[S]) -> bool {
    numbers.chunks(64).all(|some| some.iter().fold(true, |all, x| all & x.is_finite()))
}

/// Σ x² of the numbers of a buffer, each converted by `value`.
///
/// # Safety
/// As for [`gather`].
pub unsafe fn squares<S: Scalar>(
    array: *const S,
    layout: Layout,
    [count, len]: [usize; 2],
    value: impl Fn(S) -> f64,
) -> f64 {
    if is_rows_of_vectors(layout, count) {
        // SAFETY: the caller's promise.
        let rows = unsafe { std::slice::from_raw_parts(array.add(layout.offset).cast::<[S; 4]>(), len) };
        return squares_of_rows(rows, value);
    }
    let mut sum = 0.0;
    each_number(layout, count, len * count, |at, _| {
        // SAFETY: the caller's promise.
        let x = value(unsafe { array.add(at).read() });
        sum += x * x;
    });
    sum
}

/// Calls `visit` with where each of `len` numbers lies, and its place among them, for values of `count` numbers. Many are those of vectors, in
/// blocks: with constants in place of a layout the loop is several times as fast.
#[inline(always)]
fn each_number(layout: Layout, count: usize, len: usize, mut visit: impl FnMut(usize, usize)) {
    const VECTORS: usize = BLOCK * 3;
    match (count, layout.row, layout.stride, layout.step()) {
        (1, _, _, Some(step)) => (0..len).for_each(|e| visit(layout.offset + e * step, e)),
        (3, VECTORS, BLOCK, None) => {
            for block in 0..len.div_ceil(VECTORS) {
                let first = block * VECTORS;
                let mut vector = |i: usize| {
                    (0..3).for_each(|c| visit(layout.offset + first + c * BLOCK + i, first + 3 * i + c));
                };
                match (len - first) / 3 {
                    BLOCK.. => (0..BLOCK).for_each(&mut vector),
                    rest => (0..rest).for_each(&mut vector),
                }
            }
        }
        _ => {
            for e in 0..len / count.max(1) {
                let from = layout.at(e);
                (0..count).for_each(|c| visit(from + c * layout.stride, count * e + c));
            }
        }
    }
}

/// Do vectors lie in rows of four numbers, as those of states do? Rows are then copied whole.
fn is_rows_of_vectors(layout: Layout, count: usize) -> bool {
    (count, layout.row, layout.stride, layout.shift) == (3, 4, 1, 0)
}

/// Vectors from rows of four: of each, the next one overwrites the last number.
///
/// # Safety
/// There are as many rows as vectors.
unsafe fn vectors_from_rows<S: Scalar>(rows: *const S, vectors: &mut [S]) {
    let Some(last) = (vectors.len() / 3).checked_sub(1) else { return };
    let vectors = vectors.as_mut_ptr();
    // SAFETY: the caller's promise; the last vector has no room for a fourth number.
    unsafe {
        for e in 0..last {
            vectors.add(3 * e).cast::<[S; 4]>().write(rows.add(4 * e).cast::<[S; 4]>().read());
        }
        vectors.add(3 * last).cast::<[S; 3]>().write(rows.add(4 * last).cast::<[S; 3]>().read());
    }
}

/// The inverse of [`vectors_from_rows`]; what pads the rows is zero.
///
/// # Safety
/// There are as many rows as vectors.
unsafe fn rows_from_vectors<S: Scalar>(vectors: &[S], rows: *mut S) {
    let Some(last) = (vectors.len() / 3).checked_sub(1) else { return };
    let vectors = vectors.as_ptr();
    // SAFETY: the caller's promise; after the last vector there is nothing to read.
    unsafe {
        for e in 0..last {
            let [x, y, z, _] = vectors.add(3 * e).cast::<[S; 4]>().read();
            rows.add(4 * e).cast::<[S; 4]>().write([x, y, z, S::default()]);
        }
        let [x, y, z] = vectors.add(3 * last).cast::<[S; 3]>().read();
        rows.add(4 * last).cast::<[S; 4]>().write([x, y, z, S::default()]);
    }
}

/// Σ (x² + y² + z²) of vectors in rows of four, whose last number is none of theirs, with wider instructions where there are some: the same bits
/// all the same.
fn squares_of_rows<S: Scalar>(rows: &[[S; 4]], value: impl Fn(S) -> f64) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn wide<S: Scalar>(rows: &[[S; 4]], value: impl Fn(S) -> f64) -> f64 {
            sum_of_rows(rows, value)
        }
        // SAFETY: the machine has these instructions.
        return unsafe { wide(rows, value) };
    }
    sum_of_rows(rows, value)
}

/// Many sums side by side: one would wait for itself.
#[inline(always)]
fn sum_of_rows<S: Scalar>(rows: &[[S; 4]], value: impl Fn(S) -> f64) -> f64 {
    let mut sums = [[0.0; 4]; 4];
    let (fours, rest) = rows.as_chunks::<4>();
    for four in fours {
        for (sum, row) in sums.iter_mut().zip(four) {
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += value(*x) * value(*x));
        }
    }
    let [x, y, z, _] = std::array::from_fn(|c| sums.iter().map(|sum| sum[c]).sum::<f64>());
    let last = rest.iter().flat_map(|row| &row[..3]).map(|x| value(*x) * value(*x)).sum::<f64>();
    x + y + z + last
}
