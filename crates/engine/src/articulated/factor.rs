//! The mass matrix M = Lᵀ D L along the branches of a tree: no fill-in (RBDA 6.5, 8.4).
//!
//! Row i has an entry for each degree of freedom on the way from the root to i, the diagonal last. Where row i ends with
//! the way to j, both rows have the same columns, side by side.

use pullback_kernel::program::Lane;

use super::tree::Tree;

/// M becomes L below the diagonal, which is one; `inverse` becomes D⁻¹ (RBDA table 6.3).
#[inline(always)]
pub(crate) fn factorise<L: Lane>(tree: &Tree, m: &mut [L], inverse: &mut [L]) {
    let one = L::from_f64(1.0);
    for i in (0..tree.dofs.len()).rev() {
        let row = tree.row(i);
        let (above, this) = m.split_at_mut(row.start);
        let depth = row.len() - 1;
        let ways = &tree.ancestors[row];
        let d = one / this[depth];
        inverse[i] = d;
        for k in (0..depth).rev() {
            let factor = this[k] * d;
            let start = tree.rows[ways[k] as usize] as usize;
            let minus = -factor;
            for (target, source) in above[start..start + k + 1].iter_mut().zip(&this[..k + 1]) {
                *target = minus.mul_add(*source, *target);
            }
            this[k] = factor;
        }
    }
}

/// x becomes M⁻¹ x (RBDA table 6.5).
#[inline(always)]
pub(crate) fn solve<L: Lane>(tree: &Tree, l: &[L], inverse: &[L], x: &mut [L]) {
    solve_up(tree, l, x);
    solve_down(tree, l, inverse, x);
}

/// x becomes L⁻ᵀ x.
#[inline(always)]
pub(crate) fn solve_up<L: Lane>(tree: &Tree, l: &[L], x: &mut [L]) {
    for i in (0..tree.dofs.len()).rev() {
        let row = tree.row(i);
        let (depth, minus) = (row.len() - 1, -x[i]);
        let (entries, ways) = (&l[row.clone()], &tree.ancestors[row]);
        for (entry, &j) in entries[..depth].iter().zip(ways) {
            x[j as usize] = minus.mul_add(*entry, x[j as usize]);
        }
    }
}

/// x becomes L⁻¹ D⁻¹ x.
#[inline(always)]
pub(crate) fn solve_down<L: Lane>(tree: &Tree, l: &[L], inverse: &[L], x: &mut [L]) {
    for i in 0..tree.dofs.len() {
        let row = tree.row(i);
        let depth = row.len() - 1;
        let (entries, ways) = (&l[row.clone()], &tree.ancestors[row]);
        let mut sum = x[i] * inverse[i];
        for (entry, &j) in entries[..depth].iter().zip(ways) {
            sum = (-*entry).mul_add(x[j as usize], sum);
        }
        x[i] = sum;
    }
}

/// Row i of `rows`, which are `width` long, becomes row i of M⁻¹ times them.
#[inline(always)]
pub(crate) fn solve_rows<L: Lane>(tree: &Tree, l: &[L], inverse: &[L], rows: &mut [L], width: usize) {
    let n = tree.dofs.len();
    for i in (0..n).rev() {
        let row = tree.row(i);
        let depth = row.len() - 1;
        let (above, this) = rows.split_at_mut(i * width);
        let this = &mut this[..width];
        for (entry, &j) in l[row.clone()][..depth].iter().zip(&tree.ancestors[row]) {
            let minus = -*entry;
            let target = &mut above[j as usize * width..(j as usize + 1) * width];
            for c in 0..width {
                target[c] = minus.mul_add(this[c], target[c]);
            }
        }
        for c in 0..width {
            this[c] = this[c] * inverse[i];
        }
    }
    for i in 0..n {
        let row = tree.row(i);
        let depth = row.len() - 1;
        let (above, this) = rows.split_at_mut(i * width);
        let this = &mut this[..width];
        for (entry, &j) in l[row.clone()][..depth].iter().zip(&tree.ancestors[row]) {
            let minus = -*entry;
            let source = &above[j as usize * width..(j as usize + 1) * width];
            for c in 0..width {
                this[c] = minus.mul_add(source[c], this[c]);
            }
        }
    }
}
