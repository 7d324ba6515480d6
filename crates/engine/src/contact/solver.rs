//! Solving for the impulses of all contacts: F(p, A p + b) = 0.
//!
//! A semismooth Newton's method takes one or two steps where few contacts begin or cease to slide. Where it has not come to
//! the residual that is asked for, it goes on in shorter steps (`damped.rs`); where these do not lead there either, projected
//! Gauss-Seidel goes on from the best impulses, and Newton's method ends.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;
use pullback_kernel::scalar::{Float, Mask};

use super::blocks;
use super::held;
use super::islands::Islands;
use super::law::{Cone, Law, choose};
use super::sweeps::{Record, sweep};

/// How the impulses are solved for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solver {
    pub cone: Cone,
    /// Newton's method first?
    pub newton: bool,
    /// The most sweeps of Gauss-Seidel.
    pub sweeps: usize,
    /// Is it the sweeps that are differentiated, rather than what they solve?
    pub reverse: bool,
    /// The largest residual, relative to the impulses.
    pub tolerance: f64,
}

/// The most steps of Newton's method at once.
const STEPS: usize = 12;

/// Sweeps of Gauss-Seidel between looks at the residual.
const AT_ONCE: usize = 10;

/// The numbers of an island with `n` contacts.
pub(crate) struct Problem<'a, L: Lane> {
    pub n: usize,
    islands: &'a Islands<'a>,
    first: usize,
    /// J M⁻¹ Jᵀ, with the compliance on its diagonal.
    pub a: &'a [Mat3<L>],
    /// The relative velocities without impulses; the normal ones from the least that they may be.
    pub b: &'a [Vec3<L>],
    pub mu: &'a [L],
    /// A weight between impulses and velocities; 0 where there is no contact.
    pub rho: &'a [L],
}

/// The numbers of all islands.
pub(crate) struct Problems<'a, L: Lane> {
    pub islands: &'a Islands<'a>,
    /// Of each island, one after the other.
    pub a: &'a [Mat3<L>],
    /// Of each contact.
    pub b: &'a [Vec3<L>],
    pub mu: &'a [L],
    pub rho: &'a [L],
}

/// Working memory.
pub(crate) struct Work<'a, L: Lane> {
    pub matrix: &'a mut [Mat3<L>],
    pub by_p: &'a mut [Mat3<L>],
    pub by_w: &'a mut [Mat3<L>],
    pub step: &'a mut [Vec3<L>],
    pub best: &'a mut [Vec3<L>],
}

impl<'a, L: Lane> Problems<'a, L> {
    /// Island `i`, its contacts, and where its matrices begin; they end where the next one's do.
    #[inline(always)]
    pub fn island(
        &self,
        i: usize,
        at: &mut usize,
    ) -> (Problem<'a, L>, std::ops::Range<usize>, std::ops::Range<usize>) {
        let contacts = self.islands.island(i);
        let n = contacts.len();
        let matrices = *at..*at + n * n;
        *at += n * n;
        let problem = Problem {
            n,
            islands: self.islands,
            first: contacts.start,
            a: &self.a[matrices.clone()],
            b: &self.b[contacts.clone()],
            mu: &self.mu[contacts.clone()],
            rho: &self.rho[contacts.clone()],
        };
        (problem, contacts, matrices)
    }

    /// The largest of |p| and ρ |b|, that residuals are measured by.
    #[inline(always)]
    pub(super) fn scale(&self, p: &[Vec3<L>]) -> L {
        let mut scale = L::from_f64(f64::from(f32::MIN_POSITIVE));
        for i in 0..p.len() {
            let b = if self.islands.is_joint(i) { self.b[i].x.abs() } else { largest(self.b[i]) };
            scale = scale.max(largest(p[i])).max(b * self.rho[i]);
        }
        scale
    }
}

impl<L: Lane> Problem<'_, L> {
    /// w = A p + b of one contact.
    #[inline(always)]
    pub fn velocity(&self, i: usize, p: &[Vec3<L>]) -> Vec3<L> {
        let mut w = self.b[i];
        for j in 0..self.n {
            w = w + self.a[i * self.n + j] * p[j];
        }
        w
    }

    /// Is it a joint?
    #[inline(always)]
    pub fn is_joint(&self, i: usize) -> bool {
        self.islands.is_joint(self.first + i)
    }
}

/// F_p + F_w A of an island.
#[inline(always)]
pub(crate) fn newton_matrix<L: Lane>(
    n: usize,
    (by_p, by_w): (&[Mat3<L>], &[Mat3<L>]),
    a: &[Mat3<L>],
    matrix: &mut [Mat3<L>],
) {
    for i in 0..n {
        for j in 0..n {
            matrix[i * n + j] = by_w[i] * a[i * n + j];
        }
        matrix[i * n + i] = matrix[i * n + i] + by_p[i];
    }
}

/// Has a number a tangent?
const fn has_tangent<L: Lane>() -> bool {
    size_of::<L::Element>() > size_of::<L::Float>()
}

#[inline(always)]
fn largest<L: Lane>(v: Vec3<L>) -> L {
    v.x.abs().max(v.y.abs()).max(v.z.abs())
}

impl Solver {
    /// Solves for p, which holds a first guess; the residual that is left, relative to the impulses. The record is told of
    /// every sweep.
    #[inline(always)]
    pub fn solve<L: Lane>(
        &self,
        problems: &Problems<'_, L>,
        p: &mut [Vec3<L>],
        work: &mut Work<'_, L>,
        record: &mut impl Record<L>,
    ) -> L {
        let tolerance = self.tolerance::<L>();
        let (mut made, mut damped) = (0, !self.newton);
        let mut residual = L::from_f64(f64::INFINITY);
        loop {
            residual = if self.newton {
                self.newton(problems, p, residual, work)
            } else {
                self.laws(problems, p, work) / problems.scale(p)
            };
            let done = residual.le(tolerance);
            if done.all() || (damped && made >= self.sweeps) {
                break;
            }
            if !damped {
                self.damped(problems, p, done, work);
                damped = true;
                continue;
            }
            damped = !self.newton;
            for _ in 0..AT_ONCE.min(self.sweeps - made) {
                record.before(p, done);
                sweep(self.cone, problems, done, p);
                made += 1;
            }
        }
        if const { has_tangent::<L>() } && !self.reverse {
            // One more step, in which the tangents of impulses become those of the solution: they lag one step behind.
            self.laws(problems, p, work);
            self.step(problems, work);
            for i in 0..p.len() {
                p[i] = p[i] - work.step[i];
            }
        }
        residual
    }

    /// What the numbers can tell apart, at best.
    #[inline(always)]
    pub(super) fn tolerance<L: Lane>(&self) -> L {
        // Without one, all sweeps are made.
        if self.tolerance == 0.0 {
            return L::from_f64(-1.0);
        }
        L::from_f64(self.tolerance.max(64.0 * L::Float::EPSILON))
    }

    /// The law of one contact.
    #[inline(always)]
    pub fn law<L: Lane>(&self, problem: &Problem<'_, L>, i: usize, p: &[Vec3<L>]) -> Law<L> {
        let w = problem.velocity(i, p);
        if problem.is_joint(i) {
            return held::law(p[i], w, problem.mu[i], problem.rho[i]);
        }
        self.cone.law(p[i], w, problem.mu[i], problem.rho[i])
    }

    /// Sets F and its derivatives; returns the largest number of F.
    #[inline(always)]
    pub(super) fn laws<L: Lane>(
        &self,
        problems: &Problems<'_, L>,
        p: &[Vec3<L>],
        work: &mut Work<'_, L>,
    ) -> L {
        let (mut most, mut at) = (L::from_f64(0.0), 0);
        for island in 0..problems.islands.count() {
            let (problem, contacts, _) = problems.island(island, &mut at);
            let p = &p[contacts.clone()];
            for (i, c) in contacts.enumerate() {
                let law = self.law(&problem, i, p);
                most = most.max(largest(law.residual));
                (work.step[c], work.by_p[c], work.by_w[c]) = (law.residual, law.by_p, law.by_w);
            }
        }
        most
    }

    /// F becomes the step of Newton's method.
    #[inline(always)]
    pub(super) fn step<L: Lane>(&self, problems: &Problems<'_, L>, work: &mut Work<'_, L>) {
        let mut at = 0;
        for island in 0..problems.islands.count() {
            let (problem, contacts, matrices) = problems.island(island, &mut at);
            let matrix = &mut work.matrix[matrices];
            let laws = (&work.by_p[contacts.clone()], &work.by_w[contacts.clone()]);
            newton_matrix(problem.n, laws, problem.a, matrix);
            blocks::factorise(problem.n, matrix);
            blocks::solve(problem.n, matrix, &mut work.step[contacts]);
        }
    }

    /// Steps of Newton's method while they help, lane by lane; also below the tolerance, because contacts that bear one load
    /// together are told apart by their compliance alone. Keeps the best impulses; those whose residual has come to the tolerance
    /// already are left as they are.
    #[inline(always)]
    fn newton<L: Lane>(
        &self,
        problems: &Problems<'_, L>,
        p: &mut [Vec3<L>],
        residual: L,
        work: &mut Work<'_, L>,
    ) -> L {
        let n = p.len();
        let (tolerance, floor) = (self.tolerance::<L>(), L::from_f64(64.0 * L::Float::EPSILON));
        let mut done = residual.le(tolerance);
        let mut least = L::select(done, residual, L::from_f64(f64::INFINITY));
        work.best[..n].copy_from_slice(p);
        for _ in 0..STEPS {
            let residual = self.laws(problems, p, work) / problems.scale(p);
            // A lane that has come to its end goes nowhere else.
            let better = residual.lt(least) & !done;
            for i in 0..n {
                work.best[i] = choose::<L>(better, p[i], work.best[i]);
            }
            let helps = residual.lt(least * L::from_f64(0.1));
            done = done | (least.le(tolerance) & !helps);
            least = L::select(better, residual, least);
            done = done | least.le(floor);
            if done.all() {
                break;
            }
            self.step(problems, work);
            for i in 0..n {
                p[i] = choose::<L>(done, p[i], p[i] - work.step[i]);
            }
        }
        p.copy_from_slice(&work.best[..n]);
        least
    }
}
