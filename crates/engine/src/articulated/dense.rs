//! The mass matrix of a robot in which joints follow others, Gᵀ M G: dense, because what follows may hang anywhere.

use pullback_kernel::program::Lane;

use super::tree::Tree;

/// Gᵀ M G from the rows of M along branches, then its factors L D Lᵀ; `inverse` becomes D⁻¹.
#[inline(always)]
pub(crate) fn factorise<L: Lane>(tree: &Tree, m: &[L], l: &mut [L], inverse: &mut [L]) {
    let n = tree.velocities;
    l.fill(L::from_f64(0.0));
    for i in 0..tree.dofs.len() {
        let row = tree.row(i);
        let (this, last) = (&tree.dofs[i], row.len() - 1);
        for (k, (entry, &j)) in m[row.clone()].iter().zip(&tree.ancestors[row]).enumerate() {
            let other = &tree.dofs[j as usize];
            let (a, b) = (this.v as usize, other.v as usize);
            let value = *entry * L::from_f64(this.scale * other.scale);
            l[a * n + b] = l[a * n + b] + value;
            if k != last {
                l[b * n + a] = l[b * n + a] + value;
            }
        }
    }
    for j in 0..n {
        inverse[j] = L::from_f64(1.0) / l[j * n + j];
        for i in j + 1..n {
            let factor = l[i * n + j] * inverse[j];
            for k in j + 1..i + 1 {
                l[i * n + k] = (-factor).mul_add(l[k * n + j], l[i * n + k]);
            }
        }
        // The column is needed whole above.
        for i in j + 1..n {
            l[i * n + j] = l[i * n + j] * inverse[j];
        }
    }
}

/// Row i of `rows`, which are `width` long, becomes row i of the inverse times them.
#[inline(always)]
pub(crate) fn solve_rows<L: Lane>(n: usize, l: &[L], inverse: &[L], rows: &mut [L], width: usize) {
    for i in 0..n {
        for j in 0..i {
            let minus = -l[i * n + j];
            for c in 0..width {
                rows[i * width + c] = minus.mul_add(rows[j * width + c], rows[i * width + c]);
            }
        }
    }
    for i in (0..n).rev() {
        for c in 0..width {
            rows[i * width + c] = rows[i * width + c] * inverse[i];
        }
        for j in i + 1..n {
            let minus = -l[j * n + i];
            for c in 0..width {
                rows[i * width + c] = minus.mul_add(rows[j * width + c], rows[i * width + c]);
            }
        }
    }
}
