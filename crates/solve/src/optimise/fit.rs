//! How well a fit determines its variables.

use super::dense::Matrix;
use super::eigen::eigen;

/// Combinations of variables whose squared effect is below this part of the largest are not determined.
const UNDETERMINED: f64 = 1e-14;

/// The standard error of each variable of a least-squares fit: √ of the diagonal of s² (JᵀJ)⁻¹ with
/// s² = Σ r² / (residuals - variables). Infinite where the residuals do not determine it; `None` if there are not more
/// residuals than variables.
pub fn standard_errors(residuals: &[f64], jacobian: &[f64], variables: usize) -> Option<Vec<f64>> {
    let free = residuals.len().checked_sub(variables).filter(|free| *free > 0 && variables > 0)?;
    let variance = residuals.iter().map(|r| r * r).sum::<f64>() / free as f64;
    let mut normal = Matrix::zeros(variables, variables);
    for row in jacobian.chunks_exact(variables) {
        for i in 0..variables {
            for k in 0..=i {
                *normal.at(i, k) += row[i] * row[k];
            }
        }
    }
    let (values, vectors) = eigen(&normal);
    let largest = values.iter().copied().fold(0.0, f64::max);
    let error = |i: usize| {
        let term = |k: usize| {
            let share = vectors.get(i, k) * vectors.get(i, k);
            match values[k] > UNDETERMINED * largest {
                true => share / values[k],
                // A variable that has no part in it does not mind.
                false if share < f64::EPSILON => 0.0,
                false => f64::INFINITY,
            }
        };
        (variance * (0..variables).map(term).sum::<f64>()).sqrt()
    };
    Some((0..variables).map(error).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line y = a + b x through five points: the textbook's standard errors (Draper and Smith, 1.4).
    #[test]
    fn of_a_line() {
        let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0], [2.1, 3.9, 6.2, 7.8, 10.1]);
        // Least squares by hand: b = 1.99, a = 0.05.
        let residuals: Vec<f64> = x.iter().zip(y).map(|(x, y)| 0.05 + 1.99 * x - y).collect();
        let jacobian: Vec<f64> = x.iter().flat_map(|x| [1.0, *x]).collect();
        let found = standard_errors(&residuals, &jacobian, 2).expect("more points than variables");
        let s = (residuals.iter().map(|r| r * r).sum::<f64>() / 3.0).sqrt();
        // Σ (x - 3)² = 10, Σ x² = 55.
        assert!((found[1] - s / 10_f64.sqrt()).abs() < 1e-12, "{found:?}");
        assert!((found[0] - s * (55.0 / 50.0_f64).sqrt()).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn what_is_not_determined_is_infinite() {
        // Only a + b shows, and c.
        let jacobian = [1.0, 1.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        let found = standard_errors(&[0.1, -0.1, 0.1, 0.2], &jacobian, 3).expect("more residuals");
        assert!(found[0].is_infinite() && found[1].is_infinite() && found[2].is_finite(), "{found:?}");
        assert_eq!(standard_errors(&[0.1, 0.2], &[1.0, 0.0, 0.0, 1.0], 2), None);
    }
}
