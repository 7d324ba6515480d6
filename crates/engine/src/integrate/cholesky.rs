//! Jacobians that are almost symmetric: Cholesky factors of the symmetric part, and iterations for the rest.
//!
//! Of particles, J = 1 - h M⁻¹ (h ∂f/∂x + ∂f/∂v), so that B = M J is symmetric where forces are gradients, and positive where it is
//! worth going along -J⁻¹ r. What is fixed has a row of its own, z = v, and moves others all the same: it is solved for first.
//! Friction and viscous forces of what turns make B a little skew: GMRES (Saad & Schultz 1986) with the factors of ½ (B + Bᵀ) solves
//! with J itself, in one iteration where nothing is skew.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::{Conj, Par, Side};

use super::factors::{Lu, column, pattern};
use super::gmres::Gmres;
use super::sparsity::Sparsity;
use crate::step::held;

/// What is left of the right side, relative to it, when an equation counts as solved.
const SOLVED: f64 = 1e-13;
/// Where iterations end above this, LU factors are taken.
const GIVEN_UP: f64 = 1e-10;
/// How often what is added to the diagonal is made ten times more, until the matrix is positive.
const SHIFTS: usize = 14;

/// Cholesky factors of the symmetric part of every world's M J.
pub struct Cholesky {
    symbolic: SymbolicCholesky<usize>,
    /// The place of the entry on the other side of the diagonal.
    mirror: Vec<usize>,
    /// The symmetric part.
    matrix: Vec<f64>,
    worlds: Vec<World>,
    gmres: Gmres,
    stack: MemBuffer,
    /// For what iterations do not solve.
    lu: Option<Lu>,
}

/// What is known of one world.
struct World {
    factors: Vec<f64>,
    /// The entries of J.
    entries: Vec<f64>,
    /// The mass of each number [kg].
    mass: Vec<f64>,
    /// Rows with nothing but the diagonal.
    alone: Vec<bool>,
    /// Are the factors those of more than the symmetric part?
    shifted: bool,
    /// Are the LU factors of these entries?
    lu: bool,
}

impl Cholesky {
    /// Room for the factors of so many worlds; none if places of entries are not symmetric.
    pub fn new(sparsity: &Sparsity, worlds: usize) -> Option<Cholesky> {
        let Sparsity { size: n, starts, rows, .. } = sparsity;
        let mut mirror = Vec::with_capacity(rows.len());
        for i in 0..*n {
            for &j in &rows[starts[i]..starts[i + 1]] {
                mirror.push(starts[j] + rows[starts[j]..starts[j + 1]].binary_search(&i).ok()?);
            }
        }
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::AUTO,
            ..Default::default()
        };
        let symbolic =
            factorize_symbolic_cholesky(pattern(sparsity), Side::Lower, SymmetricOrdering::Amd, params)
                .ok()?;
        let factorise = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let solve = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let world = || World {
            factors: vec![0.0; symbolic.len_val()],
            entries: vec![0.0; rows.len()],
            mass: vec![1.0; *n],
            alone: vec![false; *n],
            shifted: false,
            lu: false,
        };
        Some(Cholesky {
            worlds: (0..worlds).map(|_| world()).collect(),
            matrix: vec![0.0; rows.len()],
            stack: MemBuffer::new(factorise.or(solve)),
            gmres: Gmres::new(*n),
            symbolic,
            mirror,
            lu: None,
        })
    }

    /// How many bytes it holds, without the LU factors that are rarely wanted.
    pub fn bytes(&self) -> usize {
        let world = |w: &World| held(&w.factors) + held(&w.entries) + held(&w.mass) + held(&w.alone);
        // The factors' places: as many rows at most as numbers, and what permutes them.
        let symbolic = (self.symbolic.len_val() + 8 * self.symbolic.nrows()) * size_of::<usize>();
        held(&self.mirror)
            + held(&self.matrix)
            + held(&self.worlds)
            + self.worlds.iter().map(world).sum::<usize>()
            + self.gmres.bytes()
            + self.stack.len()
            + symbolic
    }

    /// Where the masses of one world's numbers [kg] are to be written.
    pub fn masses(&mut self, world: usize) -> &mut [f64] {
        &mut self.worlds[world].mass
    }

    /// Σ m r d of one world's numbers.
    pub fn slope(&self, world: usize, residual: impl Iterator<Item = f64>, step: &[f64]) -> f64 {
        residual.zip(step).zip(&self.worlds[world].mass).map(|((r, d), m)| m * r * d).sum()
    }

    /// Factorises one world's J, by its entries. Can it be?
    pub fn factorise(&mut self, sparsity: &Sparsity, world: usize, entries: &[f64]) -> bool {
        let Sparsity { size: n, starts, rows, .. } = sparsity;
        let w = &mut self.worlds[world];
        w.entries.copy_from_slice(entries);
        (w.shifted, w.lu) = (false, false);
        let (mut scale, mut finite) = (0.0f64, true);
        for i in 0..*n {
            let row = starts[i]..starts[i + 1];
            w.alone[i] = row.clone().all(|k| rows[k] == i || entries[k] == 0.0);
            finite &= row.clone().all(|k| entries[k].is_finite());
            row.filter(|&k| rows[k] == i).for_each(|k| scale = scale.max(entries[k].abs()));
        }
        if !finite {
            return false;
        }
        for i in 0..*n {
            for k in starts[i]..starts[i + 1] {
                let j = rows[k];
                self.matrix[k] = match (i == j, w.alone[i] || w.alone[j]) {
                    (true, true) => 1.0,
                    (true, false) => w.mass[i] * entries[k],
                    (false, true) => 0.0,
                    (false, false) => 0.5 * (w.mass[i] * entries[k] + w.mass[j] * entries[self.mirror[k]]),
                };
            }
        }
        let mut shift = 1e-6 * scale;
        for attempt in 0..=SHIFTS {
            let matrix = SparseColMatRef::new(pattern(sparsity), &self.matrix[..]);
            let stack = MemStack::new(&mut self.stack);
            let made = self.symbolic.factorize_numeric_llt(
                &mut w.factors,
                matrix,
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                stack,
                Default::default(),
            );
            if made.is_ok() {
                w.shifted = attempt > 0;
                return true;
            }
            for i in (0..*n).filter(|&i| !w.alone[i]) {
                (starts[i]..starts[i + 1])
                    .filter(|&k| rows[k] == i)
                    .for_each(|k| self.matrix[k] += shift * w.mass[i]);
            }
            shift *= 10.0;
        }
        false
    }

    /// A step downhill instead of J⁻¹ b, in place, where J is not positive; J⁻¹ b where it is.
    pub fn descend(&mut self, sparsity: &Sparsity, world: usize, b: &mut [f64]) -> bool {
        if !self.worlds[world].shifted {
            return self.solve(sparsity, world, b, false);
        }
        precondition(&self.symbolic, &mut self.stack, sparsity, &self.worlds[world], b, false);
        true
    }

    /// J⁻¹ b or J⁻ᵀ b, in place. Is it found?
    pub fn solve(&mut self, sparsity: &Sparsity, world: usize, b: &mut [f64], transposed: bool) -> bool {
        let Cholesky { symbolic, worlds, gmres, stack, .. } = self;
        let w = &worlds[world];
        let times = |x: &[f64], out: &mut [f64]| multiply(sparsity, &w.entries, x, out, transposed);
        let condition = |x: &mut [f64]| precondition(symbolic, stack, sparsity, w, x, transposed);
        let left = gmres.solve(b, SOLVED, times, condition);
        if left <= GIVEN_UP {
            b.copy_from_slice(self.gmres.solution());
            return true;
        }
        self.solve_by_lu(sparsity, world, b, transposed)
    }

    fn solve_by_lu(&mut self, sparsity: &Sparsity, world: usize, b: &mut [f64], transposed: bool) -> bool {
        if self.lu.is_none() {
            self.lu = Lu::new(sparsity, self.worlds.len());
        }
        let (Some(lu), w) = (&mut self.lu, &mut self.worlds[world]) else { return false };
        if !w.lu {
            w.lu = lu.factorise(sparsity, world, &w.entries);
        }
        match transposed {
            _ if !w.lu => return false,
            true => lu.solve_transposed(world, b),
            false => lu.solve(world, b),
        }
        true
    }
}

/// x ← P⁻¹ x or P⁻ᵀ x, where P is J with the symmetric part of M J in place of M J.
fn precondition(
    symbolic: &SymbolicCholesky<usize>,
    stack: &mut MemBuffer,
    sparsity: &Sparsity,
    w: &World,
    x: &mut [f64],
    transposed: bool,
) {
    let Sparsity { size: n, starts, rows, .. } = sparsity;
    let diagonal = |i: usize| {
        let at = (starts[i]..starts[i + 1]).find(|&k| rows[k] == i);
        at.map_or(1.0, |k| w.entries[k])
    };
    if !transposed {
        // What is alone first: others feel it.
        (0..*n).filter(|&i| w.alone[i]).for_each(|i| x[i] /= diagonal(i));
        for i in (0..*n).filter(|&i| !w.alone[i]) {
            let felt: f64 = (starts[i]..starts[i + 1])
                .filter(|&k| w.alone[rows[k]])
                .map(|k| w.entries[k] * x[rows[k]])
                .sum();
            x[i] = w.mass[i] * (x[i] - felt);
        }
    }
    let factors = LltRef::new(symbolic, &w.factors);
    factors.solve_in_place_with_conj(Conj::No, column(x), Par::Seq, MemStack::new(stack));
    if transposed {
        (0..*n).filter(|&i| !w.alone[i]).for_each(|i| x[i] *= w.mass[i]);
        for i in (0..*n).filter(|&i| !w.alone[i]) {
            for k in (starts[i]..starts[i + 1]).filter(|&k| w.alone[rows[k]]) {
                x[rows[k]] -= w.entries[k] * x[i];
            }
        }
        (0..*n).filter(|&i| w.alone[i]).for_each(|i| x[i] /= diagonal(i));
    }
}

/// out = J x, or Jᵀ x.
fn multiply(sparsity: &Sparsity, entries: &[f64], x: &[f64], out: &mut [f64], transposed: bool) {
    let Sparsity { size: n, starts, rows, .. } = sparsity;
    if transposed {
        out.fill(0.0);
    }
    for i in 0..*n {
        let row = starts[i]..starts[i + 1];
        if transposed {
            row.for_each(|k| out[rows[k]] += entries[k] * x[i]);
        } else {
            out[i] = row.map(|k| entries[k] * x[rows[k]]).sum();
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
        Sparsity::new(&(0..N).map(near).collect::<Vec<_>>(), &[1; N])
    }

    fn mass(i: usize) -> f64 {
        1.0 + 0.1 * i as f64
    }

    /// J = M⁻¹ B of these entries of B, but for rows that are alone.
    fn entries(sparsity: &Sparsity, alone: &[usize], of: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let Sparsity { starts, rows, .. } = sparsity;
        let entry = |i: usize, j: usize| match (alone.contains(&i), i == j) {
            (true, same) => f64::from(u8::from(same)),
            (false, _) => of(i, j) / mass(i),
        };
        (0..N).flat_map(|i| rows[starts[i]..starts[i + 1]].iter().map(move |&j| entry(i, j))).collect()
    }

    fn right_side() -> Vec<f64> {
        (0..N).map(|i| (1.3 * i as f64).sin() + 0.2).collect()
    }

    /// Factors of J, after what they find was seen to be right: J x = b, and Jᵀ x = b.
    fn factors(sparsity: &Sparsity, entries: &[f64]) -> Cholesky {
        let mut cholesky = Cholesky::new(sparsity, 1).expect("symmetric places");
        cholesky.masses(0).iter_mut().enumerate().for_each(|(i, m)| *m = mass(i));
        assert!(cholesky.factorise(sparsity, 0, entries));
        for transposed in [false, true] {
            let (b, mut image) = (right_side(), vec![0.0; N]);
            let mut x = b.clone();
            assert!(cholesky.solve(sparsity, 0, &mut x, transposed));
            multiply(sparsity, entries, &x, &mut image, transposed);
            let off = image.iter().zip(&b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            assert!(off < 1e-9, "transposed: {transposed}, off by {off}");
        }
        cholesky
    }

    #[test]
    fn what_is_symmetric_and_positive() {
        let sparsity = row();
        for alone in [&[][..], &[0, 50, 51, N - 1]] {
            let of = |i: usize, j: usize| if i == j { 2.5 } else { -1.0 };
            let found = factors(&sparsity, &entries(&sparsity, alone, of));
            assert!(!found.worlds[0].shifted && found.lu.is_none());
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
        let mut found = factors(&sparsity, &entries(&sparsity, &[5], of));
        assert!(found.worlds[0].shifted);
        let b = right_side();
        let mut down = b.clone();
        assert!(found.descend(&sparsity, 0, &mut down));
        assert!(found.slope(0, b.into_iter(), &down) > 0.0);
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
        let found = factors(&sparsity, &entries(&sparsity, &[], of));
        assert!(found.lu.is_some() && found.worlds[0].lu);
        let of = |i: usize, j: usize| if i == j { 2.5 } else { -1.0 + if i < j { 0.1 } else { -0.1 } };
        let found = factors(&sparsity, &entries(&sparsity, &[], of));
        assert!(found.lu.is_none(), "a little is solved by iterations");
    }

    #[test]
    fn what_is_no_number() {
        let sparsity = row();
        let mut entries = entries(&sparsity, &[], |i, j| if i == j { 2.5 } else { -1.0 });
        entries[7] = f64::NAN;
        assert!(!Cholesky::new(&sparsity, 1).expect("symmetric places").factorise(&sparsity, 0, &entries));
    }
}
