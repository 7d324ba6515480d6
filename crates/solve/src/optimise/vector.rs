//! Sums over slices, always in the same order.

/// Σ aᵢ bᵢ, in eight partial sums, so that it runs on SIMD lanes without changing the order of a machine.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut partial = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            partial[lane] += x[lane] * y[lane];
        }
    }
    partial.iter().sum::<f64>() + tail
}

/// The Euclidean length.
pub(super) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// The largest magnitude.
pub(super) fn norm_max(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()))
}

/// a − b.
pub(super) fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

/// a += factor b.
pub(super) fn add_scaled(a: &mut [f64], factor: f64, b: &[f64]) {
    for (x, y) in a.iter_mut().zip(b) {
        *x += factor * y;
    }
}

/// The size of a step from `z`, 1 being a typical change or the size of z, whichever is larger.
pub(super) fn relative_step(step: &[f64], z: &[f64]) -> f64 {
    norm_max(step) / norm_max(z).max(1.0)
}
