//! Newton's method in shorter steps, where its whole steps go round in circles: contacts that take turns in sticking and
//! sliding.
//!
//! A step is halved until Σ |F|² becomes smaller. Where no length helps, a short one is taken all the same if steps are cheap,
//! which leads out of corners. Of many contacts a step takes as long as dozens of sweeps, and those lead out for less: it ends.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;
use pullback_kernel::scalar::Mask;

use super::law::choose;
use super::pattern::Pattern;
use super::solver::{Problem, Problems, Solver, Work};

/// The most steps.
const STEPS: usize = 20;

/// How often a step is halved.
const HALVINGS: usize = 20;

/// The length of a step where none helps.
const SHORT: f64 = 1.0 / 64.0;

/// The part of what its length promises by which a step has to make Σ |F|² smaller.
const LEAST: f64 = 1e-4;

impl Solver {
    /// Steps in lanes that are not `done`, until the residual is no larger than the tolerance.
    #[inline(always)]
    pub(super) fn damped<L: Lane>(
        &self,
        problems: &Problems<'_, L>,
        p: &mut [Vec3<L>],
        mut done: L::Mask,
        work: &mut Work<'_, L>,
    ) {
        let (n, tolerance) = (p.len(), self.tolerance::<L>());
        let (one, half, least) = (L::from_f64(1.0), L::from_f64(0.5), L::from_f64(LEAST));
        for _ in 0..STEPS {
            // Velocities that weigh more weigh more in it.
            let scale = problems.scale(p) * L::from_f64(self.weight);
            let residual = self.laws(problems, p, None, work) / scale;
            done = done | residual.le(tolerance);
            if done.all() {
                return;
            }
            let mut before = L::from_f64(0.0);
            for f in &work.step[..n] {
                before = before + dot(*f, *f);
            }
            self.step(problems, work);
            work.best[..n].copy_from_slice(p);
            let (mut helps, mut length) = (done, one);
            for _ in 0..HALVINGS + 1 {
                for i in 0..n {
                    p[i] = choose::<L>(helps, p[i], work.best[i] - work.step[i] * length);
                }
                helps = helps | self.squares(problems, p).lt(before * (one - least * length));
                if helps.all() {
                    break;
                }
                length = length * half;
            }
            if helps.all() {
                continue;
            }
            for i in 0..n {
                p[i] = choose::<L>(helps, p[i], work.best[i] - work.step[i] * L::from_f64(SHORT));
            }
            let is_number = helps | self.squares(problems, p).lt(L::from_f64(f64::INFINITY));
            // Equations without a solution lead nowhere.
            let goes = if problems.islands.is_sparse() { helps } else { is_number };
            if !goes.all() {
                for i in 0..n {
                    p[i] = choose::<L>(goes, p[i], work.best[i]);
                }
                done = done | !goes;
            }
        }
    }

    /// Σ |F|²
    #[inline(always)]
    fn squares<L: Lane>(&self, problems: &Problems<'_, L>, p: &[Vec3<L>]) -> L {
        let mut sum = L::from_f64(0.0);
        for i in 0..problems.islands.count() {
            let p = &p[problems.islands.island(i)];
            if problems.islands.is_dense(i) {
                sum = self.add_squares(&problems.dense(i), p, sum);
            } else if const { L::WIDTH == 1 } {
                sum = self.add_squares(&problems.sparse(i), p, sum);
            }
        }
        sum
    }

    /// The same of an island, besides a sum.
    #[inline(always)]
    fn add_squares<L: Lane>(&self, problem: &Problem<'_, L, impl Pattern>, p: &[Vec3<L>], mut sum: L) -> L {
        for i in 0..p.len() {
            let f = self.law(problem, i, p).residual;
            sum = sum + dot(f, f);
        }
        sum
    }
}
