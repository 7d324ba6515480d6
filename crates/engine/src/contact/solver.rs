//! Solving for the impulses of all contacts: F(p, A p + b) = 0.
//!
//! A semismooth Newton's method takes one or two steps where few contacts begin or cease to slide. Where it has not come to
//! the residual that is asked for, it takes detours (`detours.rs`); where none of these leads there, projected Gauss-Seidel goes on
//! from the best impulses, and Newton's method ends.

use std::ops::Range;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Apart, Lane};
use pullback_kernel::scalar::{Float, Mask};

use super::blocks;
use super::detours::{Detours, Kept};
use super::held;
use super::islands::Islands;
use super::krylov::{Krylov, System};
use super::law::{Cone, Law, choose};
use super::pattern::{Dense, Pattern, Sparse};
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
    /// By how much velocities weigh more beside impulses than ρ says; the solution is the same.
    pub weight: f64,
}

/// The most steps of Newton's method at once.
const STEPS: usize = 12;

/// The least number of iterations that linear equations may take.
const LEAST: usize = 200;

/// How often the equations of derivatives go on from what is truly left of them.
const TURNS: usize = 4;

/// Sweeps of Gauss-Seidel between looks at the residual.
const AT_ONCE: usize = 10;

/// The same of many contacts, before Newton's method is tried for the first time; then always as many as were made.
const MANY_AT_ONCE: usize = 50;

/// The numbers of an island.
pub(crate) struct Problem<'a, L: Lane, P: Pattern> {
    /// Where its blocks are.
    pub pattern: P,
    islands: &'a Islands<'a>,
    /// Its first contact.
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
    /// The best of all that was tried (`detours.rs`).
    pub kept: &'a mut [Vec3<L>],
    /// Of sparse islands.
    pub krylov: Krylov<'a, L>,
}

impl<'a, L: Lane> Problems<'a, L> {
    /// A dense island.
    #[inline(always)]
    pub fn dense(&self, i: usize) -> Problem<'a, L, Dense> {
        self.island(i, self.islands.dense(i))
    }

    /// A sparse one.
    #[inline(always)]
    pub fn sparse(&self, i: usize) -> Problem<'a, L, Sparse<'a>> {
        self.island(i, self.islands.sparse(i))
    }

    #[inline(always)]
    fn island<P: Pattern>(&self, i: usize, pattern: P) -> Problem<'a, L, P> {
        let (contacts, blocks) = (self.islands.island(i), self.islands.blocks(i));
        Problem {
            pattern,
            islands: self.islands,
            first: contacts.start,
            a: &self.a[blocks],
            b: &self.b[contacts.clone()],
            mu: &self.mu[contacts.clone()],
            rho: &self.rho[contacts],
        }
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

impl<L: Lane, P: Pattern> Problem<'_, L, P> {
    /// w = A p + b of one contact.
    #[inline(always)]
    pub fn velocity(&self, i: usize, p: &[Vec3<L>]) -> Vec3<L> {
        let mut w = self.b[i];
        for entry in self.pattern.row(i) {
            w = w + self.a[entry] * p[self.pattern.column(i, entry)];
        }
        w
    }

    /// Is it a joint?
    #[inline(always)]
    pub fn is_joint(&self, i: usize) -> bool {
        self.islands.is_joint(self.first + i)
    }

    /// F_p + F_w A becomes its factors, incomplete ones where it is sparse.
    #[inline(always)]
    pub fn factorise(&self, (by_p, by_w): (&[Mat3<L>], &[Mat3<L>]), matrix: &mut [Mat3<L>]) {
        for i in 0..self.pattern.len() {
            for entry in self.pattern.row(i) {
                matrix[entry] = by_w[i] * self.a[entry];
            }
            let own = self.pattern.diagonal(i);
            matrix[own] = matrix[own] + by_p[i];
        }
        blocks::factorise(self.pattern, matrix);
    }
}

/// Has a number a tangent?
pub(crate) const fn has_tangent<L: Lane>() -> bool {
    size_of::<L::Element>() > size_of::<L::Float>()
}

/// Zero of a finite number; else no number, which the largest of several may hide.
#[inline(always)]
fn nothing<L: Lane>(x: L) -> L {
    x * L::from_f64(0.0)
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
        let many = const { L::WIDTH == 1 } && problems.islands.is_sparse();
        let Detours { first, later, mut last } = match self.newton {
            true => Detours::of(many, p.len()),
            false => Detours::default(),
        };
        let (mut made, mut detours, mut kept) = (0, first, Kept::nothing());
        let mut residual = L::from_f64(f64::INFINITY);
        loop {
            residual = if self.newton && !many {
                self.newton(problems, p, residual, work)
            } else {
                self.laws(problems, p, None, work) / problems.scale(p)
            };
            let done = residual.le(tolerance);
            if done.all() {
                break;
            }
            if self.newton {
                kept.keep(p, residual, work);
            }
            if detours.is_empty() {
                residual = kept.restore(p, residual, work);
                if made >= self.sweeps {
                    detours = std::mem::take(&mut last);
                    if detours.is_empty() {
                        break;
                    }
                }
            }
            if let Some((detour, rest)) = detours.split_first() {
                self.take(*detour, problems, p, done, work);
                detours = rest;
                continue;
            }
            detours = later;
            let at_once = if many && self.newton { made.max(MANY_AT_ONCE) } else { AT_ONCE };
            for _ in 0..at_once.min(self.sweeps - made) {
                record.before(p, done);
                sweep(self.cone, problems, done, p);
                made += 1;
            }
        }
        if many && self.newton {
            residual = self.polish(problems, p, residual, work);
        }
        if const { has_tangent::<L>() } && !self.reverse {
            // One more step, in which the tangents of impulses become those of the solution: they lag one step behind.
            self.laws(problems, p, None, work);
            residual = residual.max(L::from_f64(self.step(problems, work)));
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
    pub fn law<L: Lane>(&self, problem: &Problem<'_, L, impl Pattern>, i: usize, p: &[Vec3<L>]) -> Law<L> {
        self.law_at(problem, i, p, problem.velocity(i, p))
    }

    /// The same, with this velocity.
    #[inline(always)]
    fn law_at<L: Lane>(
        &self,
        problem: &Problem<'_, L, impl Pattern>,
        i: usize,
        p: &[Vec3<L>],
        w: Vec3<L>,
    ) -> Law<L> {
        let rho = problem.rho[i] * L::from_f64(self.weight);
        if problem.is_joint(i) {
            return held::law(p[i], w, problem.mu[i], rho);
        }
        self.cone.law(p[i], w, problem.mu[i], rho)
    }

    /// Sets F and its derivatives; returns the largest number of F. Contacts may be softer than they are (`softened.rs`).
    #[inline(always)]
    pub(super) fn laws<L: Lane>(
        &self,
        problems: &Problems<'_, L>,
        p: &[Vec3<L>],
        softness: Option<L>,
        work: &mut Work<'_, L>,
    ) -> L {
        L::apart(Laws { solver: self, problems, p, softness, work })
    }

    /// The same of an island, which has these contacts.
    #[inline(always)]
    fn laws_of<L: Lane>(
        &self,
        problem: &Problem<'_, L, impl Pattern>,
        contacts: Range<usize>,
        p: &[Vec3<L>],
        softness: Option<L>,
        work: &mut Work<'_, L>,
    ) -> L {
        let mut most = L::from_f64(0.0);
        let p = &p[contacts.clone()];
        for (i, c) in contacts.enumerate() {
            let (mut w, mut soft) = (problem.velocity(i, p), L::from_f64(0.0));
            if let Some(softness) = softness {
                let there = soft.lt(problem.rho[i]);
                soft = L::select(there, softness / problem.rho[i], soft);
                w = w + p[i] * soft;
            }
            let mut law = self.law_at(problem, i, p, w);
            if softness.is_some() {
                law.by_p = law.by_p + law.by_w * soft;
            }
            most =
                most.max(largest(law.residual)) + nothing(law.residual.x + law.residual.y + law.residual.z);
            (work.step[c], work.by_p[c], work.by_w[c]) = (law.residual, law.by_p, law.by_w);
        }
        most
    }

    /// F becomes the step of Newton's method. Returns the largest residual that is left of its equations.
    #[inline(always)]
    pub(super) fn step<L: Lane>(&self, problems: &Problems<'_, L>, work: &mut Work<'_, L>) -> f64 {
        let mut left: f64 = 0.0;
        for i in 0..problems.islands.count() {
            left = left.max(self.linear(problems, i, work, false));
        }
        left
    }

    /// `work.step` of an island becomes (F_p + F_w A)⁻¹ or (F_p + F_w A)⁻ᵀ times itself. Returns the residual that is left,
    /// relative to it.
    #[inline(always)]
    pub fn linear<L: Lane>(
        &self,
        problems: &Problems<'_, L>,
        i: usize,
        work: &mut Work<'_, L>,
        transposed: bool,
    ) -> f64 {
        L::apart(Linear { solver: self, problems, island: i, work, transposed })
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
            let residual = self.laws(problems, p, None, work) / problems.scale(p);
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

/// [`Solver::laws`]
struct Laws<'a, 'p, 'w, L: Lane> {
    solver: &'a Solver,
    problems: &'a Problems<'p, L>,
    p: &'a [Vec3<L>],
    softness: Option<L>,
    work: &'a mut Work<'w, L>,
}

impl<L: Lane> Apart for Laws<'_, '_, '_, L> {
    type Output = L;

    #[inline(always)]
    fn run(self) -> L {
        let Laws { solver, problems, p, softness, work } = self;
        let (islands, mut most) = (problems.islands, L::from_f64(0.0));
        for i in 0..islands.count() {
            if islands.is_dense(i) {
                let found = solver.laws_of(&problems.dense(i), islands.island(i), p, softness, work);
                most = most.max(found) + nothing(found);
            } else if const { L::WIDTH == 1 } {
                let found = solver.laws_of(&problems.sparse(i), islands.island(i), p, softness, work);
                most = most.max(found) + nothing(found);
            }
        }
        most
    }
}

/// [`Solver::linear`]
struct Linear<'a, 'p, 'w, L: Lane> {
    solver: &'a Solver,
    problems: &'a Problems<'p, L>,
    island: usize,
    work: &'a mut Work<'w, L>,
    transposed: bool,
}

impl<L: Lane> Apart for Linear<'_, '_, '_, L> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let Linear { solver, problems, island, work, transposed } = self;
        let contacts = problems.islands.island(island);
        let (by_p, by_w) = (&work.by_p[contacts.clone()], &work.by_w[contacts.clone()]);
        let factors = &mut work.matrix[problems.islands.blocks(island)];
        let x = &mut work.step[contacts];
        if problems.islands.is_dense(island) {
            let problem = problems.dense(island);
            problem.factorise((by_p, by_w), factors);
            if transposed {
                blocks::solve_transposed(problem.pattern, factors, x);
            } else {
                blocks::solve(problem.pattern, factors, x);
            }
        } else if const { L::WIDTH == 1 } {
            let problem = problems.sparse(island);
            problem.factorise((by_p, by_w), factors);
            let (pattern, a, most) = (problem.pattern, problem.a, solver.sweeps.max(LEAST));
            // Newton's method mends what a step has missed; nothing mends a derivative.
            let turns = if transposed || const { has_tangent::<L>() } { TURNS } else { 1 };
            let system = System { pattern, a, by_p, by_w, factors, transposed, most, turns };
            return system.solve(x, &mut work.krylov);
        }
        0.0
    }
}
