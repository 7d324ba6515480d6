//! Jacobians that are almost symmetric: Cholesky factors of the symmetric part, and iterations for the rest.
//!
//! Of particles, J = 1 - h M⁻¹ (h ∂f/∂x + ∂f/∂v), so that B = M J is symmetric where forces are gradients, and positive where it is
//! worth going along -J⁻¹ r. What is fixed has a row of its own, z = v, and moves others all the same: it is solved for first.
//! Friction and viscous forces of what turns make B a little skew: GMRES (Saad & Schultz 1986) with the factors of ½ (B + Bᵀ) solves
//! with J itself, in one iteration where nothing is skew.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::{Conj, Par, Side};

use super::factors::{Lu, LuAnalysis, column, multiply, places, transposed};
use super::gmres::Gmres;
use super::sparsity::Sparsity;
use crate::step::held;

/// What is left of the right side, relative to it, when an equation counts as solved.
const SOLVED: f64 = 1e-13;
/// Where iterations end above this, LU factors are taken.
const GIVEN_UP: f64 = 1e-10;
/// How often what is added to the diagonal is made ten times more, until the matrix is positive.
const SHIFTS: usize = 14;

/// What is known of all matrices with the same places of entries.
pub struct Analysis {
    sparsity: Arc<Sparsity>,
    symbolic: SymbolicCholesky<usize>,
    /// The place of the entry on the other side of the diagonal.
    mirror: Vec<usize>,
    /// Rows' places of their diagonals.
    diagonal: Vec<usize>,
}

/// Cholesky factors of the symmetric part of one world's M J.
pub struct Cholesky {
    analysis: Arc<Analysis>,
    factors: Vec<f64>,
    /// The entries of J.
    entries: Vec<f64>,
    /// The mass of each number [kg].
    mass: Vec<f64>,
    /// Rows with nothing but the diagonal.
    alone: Vec<bool>,
    /// Are the factors those of more than the symmetric part?
    shifted: bool,
    /// For what iterations do not solve; and are these of the same entries?
    lu: Option<Lu>,
    has_lu: bool,
}

/// Memory that worlds work with one after the other.
pub struct Bench {
    /// The symmetric part.
    matrix: Vec<f64>,
    gmres: Gmres,
    stack: MemBuffer,
}

impl Analysis {
    /// None if places of entries are not symmetric, or a diagonal is missing.
    pub fn new(sparsity: Arc<Sparsity>) -> Option<Analysis> {
        let (n, mut mirror, mut diagonal) =
            (sparsity.size(), Vec::new(), Vec::with_capacity(sparsity.size()));
        for i in 0..n {
            diagonal.push(sparsity.find(i, i)?);
            for &j in &sparsity.columns[sparsity.row(i)] {
                mirror.push(sparsity.find(j, i)?);
            }
        }
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::AUTO,
            ..Default::default()
        };
        let (places, order) = (transposed(&sparsity), SymmetricOrdering::Amd);
        let symbolic = factorize_symbolic_cholesky(places, Side::Lower, order, params).ok()?;
        Some(Analysis { sparsity, symbolic, mirror, diagonal })
    }

    /// Places of entries.
    pub fn sparsity(&self) -> &Arc<Sparsity> {
        &self.sparsity
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        // The factors' places: as many rows at most as numbers, and what permutes them.
        let symbolic = (self.symbolic.len_val() + 8 * self.symbolic.nrows()) * size_of::<usize>();
        // It lies behind a counted pointer.
        let own = size_of::<Analysis>() + 2 * size_of::<usize>();
        own + symbolic + held(&self.mirror) + held(&self.diagonal) + places(&self.sparsity)
    }
}

impl Bench {
    /// For equations of `n` numbers.
    pub fn new(n: usize) -> Bench {
        Bench { matrix: Vec::new(), gmres: Gmres::new(n), stack: MemBuffer::new(Default::default()) }
    }

    /// Makes room for matrices with these places.
    pub fn fit(&mut self, analysis: &Analysis) {
        let symbolic = &analysis.symbolic;
        let factorise = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let wanted = factorise.or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        if self.stack.len() < wanted.unaligned_bytes_required() {
            self.stack = MemBuffer::new(wanted);
        }
        let count = analysis.sparsity.columns.len();
        self.matrix.resize(count.max(self.matrix.len()), 0.0);
    }

    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        held(&self.matrix) + self.gmres.bytes() + self.stack.len()
    }
}

impl Cholesky {
    /// Room for factors.
    pub fn new(analysis: Arc<Analysis>) -> Cholesky {
        let n = analysis.sparsity.size();
        Cholesky {
            factors: vec![0.0; analysis.symbolic.len_val()],
            entries: vec![0.0; analysis.sparsity.columns.len()],
            mass: vec![1.0; n],
            alone: vec![false; n],
            shifted: false,
            lu: None,
            has_lu: false,
            analysis,
        }
    }

    /// How many bytes it holds beyond itself, without the LU factors that are rarely wanted.
    pub fn bytes(&self) -> usize {
        held(&self.factors) + held(&self.entries) + held(&self.mass) + held(&self.alone)
    }

    /// What is known of its matrices.
    pub fn analysis(&self) -> &Arc<Analysis> {
        &self.analysis
    }

    /// The entries of J that it was factorised by.
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    /// Where the masses of numbers [kg] are to be written.
    pub fn masses(&mut self) -> &mut [f64] {
        &mut self.mass
    }

    /// Σ m r d.
    pub fn slope(&self, residual: impl Iterator<Item = f64>, step: &[f64]) -> f64 {
        residual.zip(step).zip(&self.mass).map(|((r, d), m)| m * r * d).sum()
    }

    /// Factorises J, by its entries. Can it be?
    pub fn factorise(&mut self, entries: impl Iterator<Item = f64>, bench: &mut Bench) -> bool {
        self.entries.iter_mut().zip(entries).for_each(|(to, from)| *to = from);
        let Analysis { sparsity: s, symbolic, mirror, diagonal } = &*self.analysis;
        let (n, entries) = (s.size(), &self.entries);
        (self.shifted, self.has_lu) = (false, false);
        if !entries.iter().all(|entry| entry.is_finite()) {
            return false;
        }
        for i in 0..n {
            self.alone[i] = s.row(i).all(|k| s.columns[k] == i || entries[k] == 0.0);
        }
        let matrix = &mut bench.matrix[..entries.len()];
        for i in 0..n {
            for k in s.row(i) {
                let j = s.columns[k];
                matrix[k] = match (i == j, self.alone[i] || self.alone[j]) {
                    (true, true) => 1.0,
                    (true, false) => self.mass[i] * entries[k],
                    (false, true) => 0.0,
                    (false, false) => 0.5 * (self.mass[i] * entries[k] + self.mass[j] * entries[mirror[k]]),
                };
            }
        }
        let largest = diagonal.iter().fold(0.0f64, |most, &k| most.max(entries[k].abs()));
        let mut shift = 1e-6 * largest;
        for attempt in 0..=SHIFTS {
            let made = symbolic.factorize_numeric_llt(
                &mut self.factors,
                SparseColMatRef::new(transposed(s), &*matrix),
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut bench.stack),
                Default::default(),
            );
            if made.is_ok() {
                self.shifted = attempt > 0;
                return true;
            }
            for i in (0..n).filter(|&i| !self.alone[i]) {
                matrix[diagonal[i]] += shift * self.mass[i];
            }
            shift *= 10.0;
        }
        false
    }

    /// A step downhill instead of J⁻¹ b, in place, where J is not positive; J⁻¹ b where it is.
    pub fn descend(&mut self, bench: &mut Bench, b: &mut [f64]) -> bool {
        if !self.shifted {
            return self.solve(bench, b, false);
        }
        self.precondition(&mut bench.stack, b, false);
        true
    }

    /// J⁻¹ b or J⁻ᵀ b, in place. Is it found?
    pub fn solve(&mut self, bench: &mut Bench, b: &mut [f64], transposed: bool) -> bool {
        let Bench { gmres, stack, .. } = bench;
        let sparsity = &self.analysis.sparsity;
        let times = |x: &[f64], out: &mut [f64]| multiply(sparsity, &self.entries, x, out, transposed);
        let left = gmres.solve(b, SOLVED, times, |x| self.precondition(stack, x, transposed));
        if left <= GIVEN_UP {
            b.copy_from_slice(gmres.solution());
            return true;
        }
        self.solve_by_lu(b, transposed)
    }

    fn solve_by_lu(&mut self, b: &mut [f64], transposed: bool) -> bool {
        if self.lu.is_none() {
            let analysis = LuAnalysis::new(self.analysis.sparsity.clone());
            self.lu = analysis.map(|analysis| Lu::new(Arc::new(analysis)));
        }
        let Some(lu) = &mut self.lu else { return false };
        if !self.has_lu {
            self.has_lu = lu.factorise(&self.entries);
        }
        if self.has_lu {
            lu.solve(b, transposed);
        }
        self.has_lu
    }

    /// x ← P⁻¹ x or P⁻ᵀ x, where P is J with the symmetric part of M J in place of M J.
    fn precondition(&self, stack: &mut MemBuffer, x: &mut [f64], transposed: bool) {
        let Analysis { sparsity: s, symbolic, diagonal, .. } = &*self.analysis;
        let n = s.size();
        let felt = |i: usize| s.row(i).filter(|&k| self.alone[s.columns[k]]);
        if !transposed {
            // What is alone first: others feel it.
            (0..n).filter(|&i| self.alone[i]).for_each(|i| x[i] /= self.entries[diagonal[i]]);
            for i in (0..n).filter(|&i| !self.alone[i]) {
                let by: f64 = felt(i).map(|k| self.entries[k] * x[s.columns[k]]).sum();
                x[i] = self.mass[i] * (x[i] - by);
            }
        }
        let factors = LltRef::new(symbolic, &self.factors);
        factors.solve_in_place_with_conj(Conj::No, column(x), Par::Seq, MemStack::new(stack));
        if transposed {
            (0..n).filter(|&i| !self.alone[i]).for_each(|i| x[i] *= self.mass[i]);
            for i in (0..n).filter(|&i| !self.alone[i]) {
                for k in felt(i) {
                    x[s.columns[k]] -= self.entries[k] * x[i];
                }
            }
            (0..n).filter(|&i| self.alone[i]).for_each(|i| x[i] /= self.entries[diagonal[i]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 120;

    /// Numbers in a row, each of which feels its neighbours.
    fn row() -> Sparsity {
        let near = |i: usize| (i.saturating_sub(1)..=(i + 1).min(N - 1)).map(|j| j as u32).collect();
        Sparsity::new(&(0..N).map(near).collect::<Vec<_>>(), [&[1; N]; 2])
    }

    fn mass(i: usize) -> f64 {
        1.0 + 0.1 * i as f64
    }

    /// J = M⁻¹ B of these entries of B, but for rows that are alone.
    fn entries(sparsity: &Sparsity, alone: &[usize], of: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let entry = |i: usize, j: usize| match (alone.contains(&i), i == j) {
            (true, same) => f64::from(u8::from(same)),
            (false, _) => of(i, j) / mass(i),
        };
        (0..N).flat_map(|i| sparsity.columns[sparsity.row(i)].iter().map(move |&j| entry(i, j))).collect()
    }

    fn right_side() -> Vec<f64> {
        (0..N).map(|i| (1.3 * i as f64).sin() + 0.2).collect()
    }

    /// Factors of J, after what they find was seen to be right: J x = b, and Jᵀ x = b.
    fn factors(sparsity: &Sparsity, entries: &[f64]) -> (Cholesky, Bench) {
        let (mut cholesky, mut bench) = made(sparsity);
        assert!(cholesky.factorise(entries.iter().copied(), &mut bench));
        for transposed in [false, true] {
            let (b, mut image) = (right_side(), vec![0.0; N]);
            let mut x = b.clone();
            assert!(cholesky.solve(&mut bench, &mut x, transposed));
            multiply(sparsity, entries, &x, &mut image, transposed);
            let off = image.iter().zip(&b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            assert!(off < 1e-9, "transposed: {transposed}, off by {off}");
        }
        (cholesky, bench)
    }

    /// What is to be factorised.
    fn made(sparsity: &Sparsity) -> (Cholesky, Bench) {
        let analysis = Analysis::new(Arc::new(sparsity.clone())).expect("symmetric places");
        let mut bench = Bench::new(N);
        bench.fit(&analysis);
        let mut cholesky = Cholesky::new(Arc::new(analysis));
        cholesky.masses().iter_mut().enumerate().for_each(|(i, m)| *m = mass(i));
        (cholesky, bench)
    }

    #[test]
    fn what_is_symmetric_and_positive() {
        let sparsity = row();
        for alone in [&[][..], &[0, 50, 51, N - 1]] {
            let of = |i: usize, j: usize| if i == j { 2.5 } else { -1.0 };
            let (found, _) = factors(&sparsity, &entries(&sparsity, alone, of));
            assert!(!found.shifted && found.lu.is_none());
        }
    }

    /// Newton's step would go uphill along some directions: the step that is taken goes down, and equations are solved as ever.
    #[test]
    fn what_is_not_positive() {
        let sparsity = row();
        let of = |i: usize, j: usize| match i == j {
            true if i % 7 == 3 => -3.0,
            true => 2.5,
            false => -1.0,
        };
        let (mut found, mut bench) = factors(&sparsity, &entries(&sparsity, &[5], of));
        assert!(found.shifted);
        let b = right_side();
        let mut down = b.clone();
        assert!(found.descend(&mut bench, &mut down));
        assert!(found.slope(b.into_iter(), &down) > 0.0);
    }

    /// Iterations give up where almost everything is skew, and LU factors are taken.
    #[test]
    fn what_is_skew() {
        let sparsity = row();
        let of = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Equal => 0.01,
            std::cmp::Ordering::Less => 30.0,
            std::cmp::Ordering::Greater => -30.0,
        };
        let (found, _) = factors(&sparsity, &entries(&sparsity, &[], of));
        assert!(found.lu.is_some() && found.has_lu);
        let of = |i: usize, j: usize| if i == j { 2.5 } else { -1.0 + if i < j { 0.1 } else { -0.1 } };
        let (found, _) = factors(&sparsity, &entries(&sparsity, &[], of));
        assert!(found.lu.is_none(), "a little is solved by iterations");
    }

    #[test]
    fn what_is_no_number() {
        let sparsity = row();
        let mut entries = entries(&sparsity, &[], |i, j| if i == j { 2.5 } else { -1.0 });
        entries[7] = f64::NAN;
        let (mut cholesky, mut bench) = made(&sparsity);
        assert!(!cholesky.factorise(entries.into_iter(), &mut bench));
    }
}
