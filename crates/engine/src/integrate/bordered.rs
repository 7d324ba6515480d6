//! Jacobians of particles, bordered by those of robots and loose bodies:
//!
//! ```text
//! J = ( P  B )      J⁻¹ (b, c):  w = S⁻¹ (c - C P⁻¹ b),  y = P⁻¹ (b - B w),      S = R - C P⁻¹ B.
//!     ( C  R )
//! ```
//!
//! P is as sparse as meshes are, and almost symmetric (`cholesky.rs`). Bodies are few, and may feel all particles: rows and columns of LU
//! factors of J would fill with that. S is as large as they have freedoms.

use std::sync::Arc;

use faer::Mat;
use faer::linalg::solvers::{PartialPivLu, SolveCore};
use faer::{Conj, MatMut};

use super::cholesky::{Analysis, Bench, Cholesky};
use super::factors::places;
use super::sparsity::Sparsity;
use crate::step::held;

/// Factors of one world's J.
pub struct Bordered {
    /// Of P.
    particles: Cholesky,
    /// Places of entries of J; and, with a border, the entries.
    sparsity: Arc<Sparsity>,
    entries: Vec<f64>,
    /// The factors of S, if there is a border.
    schur: Option<PartialPivLu<f64>>,
    /// A vector of P's size.
    first: Vec<f64>,
}

/// The places of P among those of J: the first `n` rows and columns.
pub fn corner(sparsity: &Sparsity, n: usize) -> Sparsity {
    let mut corner = Sparsity { starts: vec![0], columns: Vec::new() };
    for i in 0..n {
        corner.columns.extend(sparsity.columns[sparsity.row(i)].iter().filter(|&&j| j < n));
        corner.starts.push(corner.columns.len());
    }
    corner
}

impl Bordered {
    /// Room for the factors of a matrix with these places, whose P is analysed.
    pub fn new(sparsity: Arc<Sparsity>, analysis: Arc<Analysis>) -> Bordered {
        let n = analysis.sparsity().size();
        let bordered = n < sparsity.size();
        Bordered {
            particles: Cholesky::new(analysis),
            entries: vec![0.0; if bordered { sparsity.columns.len() } else { 0 }],
            schur: None,
            first: vec![0.0; if bordered { n } else { 0 }],
            sparsity,
        }
    }

    /// How many numbers P has, and how many the border.
    fn sizes(&self) -> [usize; 2] {
        let n = self.particles.analysis().sparsity().size();
        [n, self.sparsity.size() - n]
    }

    /// How many bytes it holds, with the factors of its border.
    pub fn bytes(&self) -> usize {
        let [_, border] = self.sizes();
        // S, its two factors, and what permutes its rows.
        let schur = 3 * (border + 8) * (border + 8) * size_of::<f64>() + 4 * border * size_of::<usize>();
        let bordered = if border > 0 { schur } else { 0 };
        size_of::<Bordered>() + self.particles.bytes() + held(&self.entries) + held(&self.first) + bordered
    }

    /// How many bytes it shares with others of the same places.
    pub fn shared_bytes(&self) -> usize {
        let whole = if self.is_of_particles() { 0 } else { places(&self.sparsity) };
        self.particles.analysis().bytes() + whole
    }

    /// Places of entries.
    pub fn sparsity(&self) -> &Arc<Sparsity> {
        &self.sparsity
    }

    /// The entries of J that it was factorised by.
    pub fn entries(&self) -> &[f64] {
        if self.is_of_particles() { self.particles.entries() } else { &self.entries }
    }

    /// Where the masses of the numbers of particles [kg] are to be written.
    pub fn masses(&mut self) -> &mut [f64] {
        self.particles.masses()
    }

    /// Are there particles alone?
    pub fn is_of_particles(&self) -> bool {
        self.sizes()[1] == 0
    }

    /// Σ m r d of particles; none where others move.
    pub fn slope(&self, residual: impl Iterator<Item = f64>, step: &[f64]) -> Option<f64> {
        self.is_of_particles().then(|| self.particles.slope(residual, step))
    }

    /// Factorises J, by its entries. Can it be?
    pub fn factorise(&mut self, entries: &[f64], bench: &mut Bench) -> bool {
        let [n, border] = self.sizes();
        if border == 0 {
            return self.particles.factorise(entries.iter().copied(), bench);
        }
        self.entries.copy_from_slice(entries);
        let s = &self.sparsity;
        let corner = (0..n).flat_map(|i| s.row(i)).filter(|&k| s.columns[k] < n);
        self.particles.factorise(corner.map(|k| entries[k]), bench) && self.factorise_border(bench)
    }

    /// S, a column for each number of the border, and its factors.
    fn factorise_border(&mut self, bench: &mut Bench) -> bool {
        let [n, border] = self.sizes();
        let s = &self.sparsity;
        let mut schur = Mat::<f64>::zeros(border, border);
        for j in 0..border {
            let column = &mut self.first[..];
            for i in 0..n {
                column[i] = s.find(i, n + j).map_or(0.0, |k| self.entries[k]);
            }
            let felt = column.iter().any(|x| *x != 0.0);
            if felt && !self.particles.solve(bench, column, false) {
                return false;
            }
            for i in 0..border {
                for k in s.row(n + i) {
                    let at = s.columns[k];
                    schur[(i, j)] += match at < n {
                        true => -self.entries[k] * column[at],
                        false if at == n + j => self.entries[k],
                        false => 0.0,
                    };
                }
            }
        }
        if !(0..border).all(|j| (0..border).all(|i| schur[(i, j)].is_finite())) {
            return false;
        }
        let factors = schur.partial_piv_lu();
        let singular = (0..border).any(|i| factors.U()[(i, i)] == 0.0);
        self.schur = Some(factors);
        !singular
    }

    /// A step downhill instead of J⁻¹ b, in place, where J is that of particles and not positive; J⁻¹ b otherwise. Is it found?
    pub fn descend(&mut self, bench: &mut Bench, b: &mut [f64]) -> bool {
        match self.is_of_particles() {
            true => self.particles.descend(bench, b),
            false => self.solve(bench, b, false),
        }
    }

    /// J⁻¹ b or J⁻ᵀ b, in place. Is it found?
    pub fn solve(&mut self, bench: &mut Bench, b: &mut [f64], transposed: bool) -> bool {
        let [n, border] = self.sizes();
        if border == 0 {
            return self.particles.solve(bench, b, transposed);
        }
        let (b, c) = b.split_at_mut(n);
        let first = &mut self.first[..];
        first.copy_from_slice(b);
        if !self.particles.solve(bench, first, transposed) {
            return false;
        }
        // Entries of J off the corners, by their row and column there, as they are in what is solved with.
        let s = &self.sparsity;
        let off = (0..n + border).flat_map(|i| s.row(i).map(move |k| (i, s.columns[k], k)));
        let turned = off.map(|(i, j, k)| if transposed { (j, i, k) } else { (i, j, k) });
        for (i, j, k) in turned.clone().filter(|&(i, j, _)| i >= n && j < n) {
            c[i - n] -= self.entries[k] * first[j];
        }
        let Some(schur) = &self.schur else { return false };
        let right = MatMut::from_column_major_slice_mut(&mut *c, border, 1);
        if transposed {
            schur.solve_transpose_in_place_with_conj(Conj::No, right);
        } else {
            schur.solve_in_place_with_conj(Conj::No, right);
        }
        for (i, j, k) in turned.filter(|&(i, j, _)| i < n && j >= n) {
            b[i] -= self.entries[k] * c[j - n];
        }
        self.particles.solve(bench, b, transposed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::factors::multiply;
    use super::*;

    /// A chain of numbers that a border of three feels and moves, all of it or a part of it.
    #[test]
    fn what_is_solved_is_the_whole() {
        const N: usize = 60;
        let near = |i: usize| (i.saturating_sub(1)..=(i + 1).min(N - 1)).map(|j| j as u32);
        let border = [N as u32, N as u32 + 1, N as u32 + 2];
        let mut depends_on: Vec<Vec<u32>> = (0..N).map(|i| near(i).chain(border).collect()).collect();
        depends_on.extend((0..3).map(|_| (0..N as u32 + 3).collect()));
        let s = Arc::new(Sparsity::new(&depends_on, [&[1; N + 3]; 2]));
        let analysis = Analysis::new(Arc::new(corner(&s, N))).expect("symmetric places");
        let mut bench = Bench::new(N);
        bench.fit(&analysis);
        let mut bordered = Bordered::new(s.clone(), Arc::new(analysis));
        let mut entries = vec![0.0; s.columns.len()];
        for i in 0..N + 3 {
            for k in s.row(i) {
                let j = s.columns[k];
                entries[k] = match (i, j) {
                    (i, j) if i == j => 2.5 + 0.1 * (i % 3) as f64,
                    // A little skew, and a number that is alone.
                    (7, _) => 0.0,
                    (i, j) if i < N && j < N => -1.0 + 0.02 * (i as f64 - j as f64),
                    (i, j) => 0.1 * ((3 * i + 5 * j) as f64).sin(),
                };
            }
        }
        assert!(bordered.factorise(&entries, &mut bench));
        for transposed in [false, true] {
            let b: Vec<f64> = (0..N + 3).map(|i| (1.3 * i as f64).sin() + 0.2).collect();
            let (mut x, mut image) = (b.clone(), vec![0.0; N + 3]);
            assert!(bordered.solve(&mut bench, &mut x, transposed));
            multiply(&s, &entries, &x, &mut image, transposed);
            let off = image.iter().zip(&b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            assert!(off < 1e-11, "transposed: {transposed}, off by {off}");
        }
    }
}
