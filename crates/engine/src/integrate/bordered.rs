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

use super::cholesky::{Analysis, Bench, Cholesky};
use super::dense::Dense;
use super::factors::{multiply, places};
use super::sparsity::Sparsity;
use crate::step::held;

/// Where more than this is left of an equation, as a part of its largest terms, it is solved once more for that; and where more than this is
/// left then, it is not solved.
const SOLVED: f64 = 1e-13;
const GIVEN_UP: f64 = 1e-10;

/// Factors of one world's J.
pub struct Bordered {
    /// Of P.
    particles: Cholesky,
    /// Places of entries of J.
    sparsity: Arc<Sparsity>,
    border: Option<Box<Border>>,
}

/// What a border adds.
struct Border {
    /// The entries of J.
    entries: Vec<f64>,
    /// S, and its factors.
    schur: Dense,
    /// A vector of P's size.
    first: Vec<f64>,
    /// The right side of an equation, and what its solution leaves of it.
    right: Vec<f64>,
    left: Vec<f64>,
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
        let (n, size) = (analysis.sparsity().size(), sparsity.size());
        let border = || Border {
            entries: vec![0.0; sparsity.columns.len()],
            schur: Dense::new(size - n),
            first: vec![0.0; n],
            right: vec![0.0; size],
            left: vec![0.0; size],
        };
        Bordered {
            particles: Cholesky::new(analysis),
            border: (n < size).then(border).map(Box::new),
            sparsity,
        }
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        let border = |border: &Border| {
            let Border { entries, schur, first, right, left } = border;
            let vectors = [entries, first, right, left].map(held);
            size_of::<Border>() + schur.bytes() + vectors.iter().sum::<usize>()
        };
        let border = self.border.as_deref().map_or(0, border);
        size_of::<Bordered>() + self.particles.bytes() + border
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
        self.border.as_ref().map_or(self.particles.entries(), |border| &border.entries)
    }

    /// Where the masses of the numbers of particles [kg] are to be written.
    pub fn masses(&mut self) -> &mut [f64] {
        self.particles.masses()
    }

    /// Are there particles alone?
    pub fn is_of_particles(&self) -> bool {
        self.border.is_none()
    }

    /// Σ m r d of particles; none where others move.
    pub fn slope(&self, residual: impl Iterator<Item = f64>, step: &[f64]) -> Option<f64> {
        self.is_of_particles().then(|| self.particles.slope(residual, step))
    }

    /// Factorises J, by its entries. Can it be?
    pub fn factorise(&mut self, entries: &[f64], bench: &mut Bench) -> bool {
        let Bordered { particles, sparsity: s, border } = self;
        let Some(border) = border else {
            return particles.factorise(entries.iter().copied(), bench);
        };
        border.entries.copy_from_slice(entries);
        let n = border.first.len();
        let corner = (0..n).flat_map(|i| s.row(i)).filter(|&k| s.columns[k] < n);
        particles.factorise(corner.map(|k| entries[k]), bench) && border.factorise(particles, s, bench)
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
        let Bordered { particles, sparsity, border } = self;
        match border {
            None => particles.solve(bench, b, transposed),
            Some(border) => border.solve(particles, sparsity, bench, (b, transposed)),
        }
    }
}

impl Border {
    /// S, a column for each number of the border, and its factors. Can they be made?
    fn factorise(&mut self, particles: &mut Cholesky, s: &Sparsity, bench: &mut Bench) -> bool {
        let Border { entries, schur, first, .. } = self;
        let n = first.len();
        for j in n..s.size() {
            for i in 0..n {
                first[i] = s.find(i, j).map_or(0.0, |k| entries[k]);
            }
            let felt = first.iter().any(|x| *x != 0.0);
            if felt && !particles.solve(bench, first, false) {
                return false;
            }
            for (i, to) in schur.column(j - n).iter_mut().enumerate() {
                let row = s.row(n + i).map(|k| match s.columns[k] {
                    at if at < n => -entries[k] * first[at],
                    at if at == j => entries[k],
                    _ => 0.0,
                });
                *to = row.sum();
            }
        }
        schur.factorise()
    }

    /// J⁻¹ b or J⁻ᵀ b, in place; what rounding leaves of the equation is solved for once more. Is it found?
    fn solve(
        &mut self,
        particles: &mut Cholesky,
        s: &Sparsity,
        bench: &mut Bench,
        (b, transposed): (&mut [f64], bool),
    ) -> bool {
        self.right.copy_from_slice(b);
        if !self.solve_once(particles, s, bench, (b, transposed)) {
            return false;
        }
        if self.leaves(s, b, transposed) <= SOLVED {
            return true;
        }
        let mut more = std::mem::take(&mut self.left);
        let found = self.solve_once(particles, s, bench, (&mut more, transposed));
        b.iter_mut().zip(&more).for_each(|(b, more)| *b += more);
        self.left = more;
        found && self.leaves(s, b, transposed) <= GIVEN_UP
    }

    /// What a solution leaves of the right side: itself, and how large it is beside the largest of the terms that it is a sum of.
    fn leaves(&mut self, s: &Sparsity, x: &[f64], transposed: bool) -> f64 {
        let Border { entries, right, left, .. } = self;
        multiply(s, entries, x, left, transposed);
        left.iter_mut().zip(&*right).for_each(|(left, right)| *left = right - *left);
        if !left.iter().all(|left| left.is_finite()) {
            return f64::INFINITY;
        }
        let size = right.iter().fold(0.0f64, |most, b| most.max(b.abs()));
        let term = |(i, k): (usize, usize)| (entries[k] * x[if transposed { i } else { s.columns[k] }]).abs();
        let terms = (0..s.size()).flat_map(|i| s.row(i).map(move |k| (i, k))).map(term);
        let size = terms.fold(size, f64::max);
        let most = left.iter().fold(0.0f64, |most, left| most.max(left.abs()));
        if most > 0.0 { most / size } else { most }
    }

    /// The solution as far as the factors have it.
    fn solve_once(
        &mut self,
        particles: &mut Cholesky,
        s: &Sparsity,
        bench: &mut Bench,
        (b, transposed): (&mut [f64], bool),
    ) -> bool {
        let Border { entries, schur, first, .. } = self;
        let n = first.len();
        let (b, c) = b.split_at_mut(n);
        first.copy_from_slice(b);
        if !particles.solve(bench, first, transposed) {
            return false;
        }
        // Entries of J off the corners, by their row and column there, as they are in what is solved with.
        let off = (0..s.size()).flat_map(|i| s.row(i).map(move |k| (i, s.columns[k], k)));
        let turned = off.map(|(i, j, k)| if transposed { (j, i, k) } else { (i, j, k) });
        for (i, j, k) in turned.clone().filter(|&(i, j, _)| i >= n && j < n) {
            c[i - n] -= entries[k] * first[j];
        }
        schur.solve(c, transposed);
        for (i, j, k) in turned.filter(|&(i, j, _)| i < n && j >= n) {
            b[i] -= entries[k] * c[j - n];
        }
        particles.solve(bench, b, transposed)
    }
}

#[cfg(test)]
mod tests {
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
        // A border without entries has no inverse.
        for k in (N..N + 3).flat_map(|i| s.row(i)) {
            entries[k] = 0.0;
        }
        assert!(!bordered.factorise(&entries, &mut bench));
    }

    /// What factors are wrong by is seen: a solution is the equation's, or there is none.
    #[test]
    fn what_is_left_is_looked_at() {
        const N: usize = 40;
        let near = |i: usize| (i.saturating_sub(1)..=(i + 1).min(N - 1)).map(|j| j as u32);
        let mut depends_on: Vec<Vec<u32>> = (0..N).map(|i| near(i).chain([N as u32]).collect()).collect();
        depends_on.push((0..=N as u32).collect());
        let s = Arc::new(Sparsity::new(&depends_on, [&[1; N + 1]; 2]));
        let analysis = Analysis::new(Arc::new(corner(&s, N))).expect("symmetric places");
        let mut bench = Bench::new(N);
        bench.fit(&analysis);
        let mut bordered = Bordered::new(s.clone(), Arc::new(analysis));
        let entry = |(i, j): (usize, usize)| if i == j { 3.0 } else { -1.0 / (1.0 + (i + 2 * j) as f64) };
        let entries: Vec<f64> =
            (0..=N).flat_map(|i| s.columns[s.row(i)].iter().map(move |&j| entry((i, j)))).collect();
        let b: Vec<f64> = (0..=N).map(|i| (0.7 * i as f64).cos()).collect();
        // The second time takes the square of what the first is wrong by.
        for (wrong, found) in [(0.0, true), (1e-7, true), (0.3, false)] {
            assert!(bordered.factorise(&entries, &mut bench));
            let border = bordered.border.as_mut().expect("a border");
            // As if S had been rounded by as much.
            border.schur.column(0)[0] *= 1.0 + wrong;
            let mut x = b.clone();
            let solved = bordered.solve(&mut bench, &mut x, false);
            assert_eq!(solved, found, "wrong by {wrong}");
            let mut image = vec![0.0; N + 1];
            multiply(&s, &entries, &x, &mut image, false);
            let off = image.iter().zip(&b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            assert!(!solved || off < 1e-9, "wrong by {wrong}: off by {off}");
        }
    }
}
