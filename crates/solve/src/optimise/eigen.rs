//! Eigenvalues and eigenvectors of a symmetric matrix.
//!
//! H. Bowdler, R. Martin, C. Reinsch and J. Wilkinson, Handbook for Automatic Computation II (1971), `tred2` and
//! `tql2`: Householder's reduction to tridiagonal form, then QL iterations with implicit shifts. Only the lower half of
//! the matrix is read.

use super::dense::Matrix;

/// The eigenvalues in no particular order, and the eigenvectors in the columns.
pub(super) fn eigen(matrix: &Matrix) -> (Vec<f64>, Matrix) {
    let mut vectors = matrix.clone();
    let (mut diagonal, mut beside) = tridiagonal(&mut vectors);
    iterate(&mut vectors, &mut diagonal, &mut beside);
    (diagonal, vectors)
}

/// Turns `v` into the rotation that makes the matrix tridiagonal; returns its diagonal, and the entries left of it.
fn tridiagonal(v: &mut Matrix) -> (Vec<f64>, Vec<f64>) {
    let n = v.rows();
    let mut d: Vec<f64> = (0..n).map(|j| v.get(n - 1, j)).collect();
    let mut e = vec![0.0; n];
    for i in (1..n).rev() {
        let scale: f64 = d[..i].iter().map(|x| x.abs()).sum();
        let mut h = 0.0;
        if scale == 0.0 {
            e[i] = d[i - 1];
            for j in 0..i {
                d[j] = v.get(i - 1, j);
                *v.at(i, j) = 0.0;
                *v.at(j, i) = 0.0;
            }
        } else {
            for x in &mut d[..i] {
                *x /= scale;
                h += *x * *x;
            }
            let f = d[i - 1];
            let g = if f > 0.0 { -h.sqrt() } else { h.sqrt() };
            e[i] = scale * g;
            h -= f * g;
            d[i - 1] = f - g;
            reflect(v, &mut d, &mut e, i, h);
        }
        d[i] = h;
    }
    accumulate(v, &mut d);
    e[0] = 0.0;
    (d, e)
}

/// Applies the reflection in `d[..i]` from both sides to the leading part of the matrix.
fn reflect(v: &mut Matrix, d: &mut [f64], e: &mut [f64], i: usize, h: f64) {
    e[..i].fill(0.0);
    for j in 0..i {
        let f = d[j];
        *v.at(j, i) = f;
        let column = v.column(j);
        let mut g = e[j] + column[j] * f;
        for k in j + 1..i {
            g += column[k] * d[k];
            e[k] += column[k] * f;
        }
        e[j] = g;
    }
    let mut f = 0.0;
    for j in 0..i {
        e[j] /= h;
        f += e[j] * d[j];
    }
    let half = f / (h + h);
    for j in 0..i {
        e[j] -= half * d[j];
    }
    for j in 0..i {
        let (f, g) = (d[j], e[j]);
        let column = v.column_mut(j);
        for k in j..i {
            column[k] -= f * e[k] + g * d[k];
        }
        d[j] = column[i - 1];
        column[i] = 0.0;
    }
}

/// Multiplies the reflections out.
fn accumulate(v: &mut Matrix, d: &mut [f64]) {
    let n = v.rows();
    for i in 0..n - 1 {
        *v.at(n - 1, i) = v.get(i, i);
        *v.at(i, i) = 1.0;
        let h = d[i + 1];
        if h != 0.0 {
            let reflection: Vec<f64> = v.column(i + 1)[..=i].to_vec();
            for k in 0..=i {
                d[k] = reflection[k] / h;
            }
            for j in 0..=i {
                let column = &mut v.column_mut(j)[..=i];
                let g: f64 = reflection.iter().zip(column.iter()).map(|(a, b)| a * b).sum();
                for k in 0..=i {
                    column[k] -= g * d[k];
                }
            }
        }
        v.column_mut(i + 1)[..=i].fill(0.0);
    }
    for j in 0..n {
        d[j] = v.get(n - 1, j);
        *v.at(n - 1, j) = 0.0;
    }
    *v.at(n - 1, n - 1) = 1.0;
}

/// QL iterations until nothing is left beside the diagonal.
fn iterate(v: &mut Matrix, d: &mut [f64], e: &mut [f64]) {
    let n = d.len();
    e.rotate_left(1);
    let (mut shift, mut size) = (0.0, 0.0f64);
    for l in 0..n {
        size = size.max(d[l].abs() + e[l].abs());
        let negligible = f64::EPSILON * size;
        // The last entry of e is 0, so that an m is always found.
        let m = (l..n).find(|&m| e[m].abs() <= negligible).unwrap_or(n - 1);
        // A handful of sweeps is usual; the limit is for matrices that are not finite.
        for _ in 0..60 {
            if m == l || e[l].abs() <= negligible {
                break;
            }
            shift += sweep(v, d, e, l, m);
        }
        d[l] += shift;
        e[l] = 0.0;
    }
}

/// One QL sweep over rows l to m; returns what it has shifted the diagonal by.
fn sweep(v: &mut Matrix, d: &mut [f64], e: &mut [f64], l: usize, m: usize) -> f64 {
    let g = d[l];
    let p = (d[l + 1] - g) / (2.0 * e[l]);
    let r = if p < 0.0 { -p.hypot(1.0) } else { p.hypot(1.0) };
    d[l] = e[l] / (p + r);
    d[l + 1] = e[l] * (p + r);
    let (d_next, e_next, shift) = (d[l + 1], e[l + 1], g - d[l]);
    for x in &mut d[l + 2..] {
        *x -= shift;
    }

    let mut p = d[m];
    let (mut c, mut c2, mut c3) = (1.0, 1.0, 1.0);
    let (mut s, mut s2) = (0.0, 0.0);
    for i in (l..m).rev() {
        (c3, c2, s2) = (c2, c, s);
        let (g, h) = (c * e[i], c * p);
        let r = p.hypot(e[i]);
        e[i + 1] = s * r;
        s = e[i] / r;
        c = p / r;
        p = c * d[i] - s * g;
        d[i + 1] = h + s * (c * g + s * d[i]);
        for k in 0..v.rows() {
            let (low, high) = (v.get(k, i), v.get(k, i + 1));
            *v.at(k, i + 1) = s * low + c * high;
            *v.at(k, i) = c * low - s * high;
        }
    }
    p = -s * s2 * c3 * e_next * e[l] / d_next;
    e[l] = s * p;
    d[l] = c * p;
    shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimise::random::Random;
    use crate::optimise::vector::{difference, dot, norm_max};

    fn symmetric(n: usize, entry: impl Fn(usize, usize) -> f64) -> Matrix {
        let mut matrix = Matrix::zeros(n, n);
        for i in 0..n {
            for j in 0..n {
                *matrix.at(i, j) = entry(i.max(j), i.min(j));
            }
        }
        matrix
    }

    fn check(matrix: &Matrix) -> Vec<f64> {
        let (values, vectors) = eigen(matrix);
        let size = values.iter().fold(1e-300f64, |size, x| size.max(x.abs()));
        for i in 0..values.len() {
            let expected: Vec<f64> = vectors.column(i).iter().map(|x| values[i] * x).collect();
            assert!(norm_max(&difference(&matrix.times(vectors.column(i)), &expected)) < 1e-13 * size);
            for j in 0..values.len() {
                let unit = if i == j { 1.0 } else { 0.0 };
                assert!((dot(vectors.column(i), vectors.column(j)) - unit).abs() < 1e-13);
            }
        }
        values
    }

    #[test]
    fn vectors_are_orthogonal_and_stretched_by_their_values() {
        let mut random = Random::new(2);
        let numbers: Vec<f64> = (0..400).map(|_| random.normal()).collect();
        check(&symmetric(20, |i, j| numbers[20 * i + j]));
        check(&symmetric(3, |i, j| if i == j { 1.0 } else { 0.0 }));
        check(&symmetric(1, |_, _| -4.0));
        check(&symmetric(4, |_, _| 0.0));
        // A covariance matrix with variances from 1e-12 to 1.
        check(&symmetric(6, |i, j| numbers[6 * i + j] * 10f64.powi(-((i + j) as i32))));
    }

    /// The second difference has the eigenvalues 2 − 2 cos(kπ/(n+1)).
    #[test]
    fn values_of_the_second_difference_are_known() {
        let n = 12;
        let mut values = check(&symmetric(n, |i, j| match i - j {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        }));
        values.sort_by(f64::total_cmp);
        for (k, value) in values.iter().enumerate() {
            let angle = (k + 1) as f64 * std::f64::consts::PI / (n + 1) as f64;
            assert!((value - (2.0 - 2.0 * angle.cos())).abs() < 1e-13);
        }
    }
}
