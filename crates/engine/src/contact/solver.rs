//! Solving for the impulses of all contacts: F(p, A p + b) = 0.
//!
//! A semismooth Newton's method takes one or two steps where few contacts begin or cease to slide. Where it has not come to
//! the residual that is asked for, projected Gauss-Seidel goes on from the best impulses, and Newton's method ends.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;
use pullback_kernel::scalar::{Float, Mask};

use super::blocks;
use super::law::{Cone, Law, choose};

/// How the impulses are solved for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solver {
    pub cone: Cone,
    /// Newton's method first?
    pub newton: bool,
    /// The most sweeps of Gauss-Seidel.
    pub sweeps: usize,
    /// The largest residual, relative to the impulses.
    pub tolerance: f64,
}

/// The most steps of Newton's method at once.
const STEPS: usize = 12;

/// Sweeps of Gauss-Seidel between looks at the residual.
const AT_ONCE: usize = 10;

/// The numbers of a problem with `n` contacts.
pub(crate) struct Problem<'a, L: Lane> {
    pub n: usize,
    /// J M⁻¹ Jᵀ, with the compliance on its diagonal.
    pub a: &'a [Mat3<L>],
    /// The relative velocities without impulses; the normal ones from the least that they may be.
    pub b: &'a [Vec3<L>],
    pub mu: &'a [L],
    /// A weight between impulses and velocities; 0 where there is no contact.
    pub rho: &'a [L],
}

/// Working memory.
pub(crate) struct Work<'a, L: Lane> {
    pub matrix: &'a mut [Mat3<L>],
    pub step: &'a mut [Vec3<L>],
    pub best: &'a mut [Vec3<L>],
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

    /// The largest of |p| and ρ |b|, that residuals are measured by.
    #[inline(always)]
    fn scale(&self, p: &[Vec3<L>]) -> L {
        let mut scale = L::from_f64(f64::from(f32::MIN_POSITIVE));
        for i in 0..self.n {
            scale = scale.max(largest(p[i])).max(largest(self.b[i] * self.rho[i]));
        }
        scale
    }
}

/// Row `i` of F_p + F_w A.
#[inline(always)]
pub(crate) fn newton_row<L: Lane>(n: usize, i: usize, law: &Law<L>, a: &[Mat3<L>], matrix: &mut [Mat3<L>]) {
    for j in 0..n {
        matrix[i * n + j] = law.by_w * a[i * n + j];
    }
    matrix[i * n + i] = matrix[i * n + i] + law.by_p;
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
    /// Solves for p, which holds a first guess; the residual that is left, relative to the impulses.
    #[inline(always)]
    pub fn solve<L: Lane>(&self, problem: &Problem<'_, L>, p: &mut [Vec3<L>], work: &mut Work<'_, L>) -> L {
        let tolerance = self.tolerance::<L>();
        let mut sweep = 0;
        let residual = loop {
            let residual =
                if self.newton { self.newton(problem, p, work) } else { self.residual(problem, p) };
            if residual.le(tolerance).all() || sweep >= self.sweeps {
                break residual;
            }
            for _ in 0..AT_ONCE {
                self.gauss_seidel(problem, residual.le(tolerance), p);
            }
            sweep += AT_ONCE;
        };
        if const { has_tangent::<L>() } {
            self.tangents(problem, p, work);
        }
        residual
    }

    /// What the numbers can tell apart, at best.
    #[inline(always)]
    fn tolerance<L: Lane>(&self) -> L {
        L::from_f64(self.tolerance.max(64.0 * L::Float::EPSILON))
    }

    /// The law of one contact.
    #[inline(always)]
    pub fn law<L: Lane>(&self, problem: &Problem<'_, L>, i: usize, p: &[Vec3<L>]) -> Law<L> {
        self.cone.law(p[i], problem.velocity(i, p), problem.mu[i], problem.rho[i])
    }

    /// One more step, in which the tangents of impulses become those of the solution: they lag one step behind.
    #[inline(always)]
    fn tangents<L: Lane>(&self, problem: &Problem<'_, L>, p: &mut [Vec3<L>], work: &mut Work<'_, L>) {
        self.linearise(problem, p, work);
        blocks::factorise(problem.n, work.matrix);
        blocks::solve(problem.n, work.matrix, work.step);
        for i in 0..problem.n {
            p[i] = p[i] - work.step[i];
        }
    }

    /// Sets F, the matrix of Newton's method, F_p + F_w A; returns the largest number of F.
    #[inline(always)]
    fn linearise<L: Lane>(&self, problem: &Problem<'_, L>, p: &[Vec3<L>], work: &mut Work<'_, L>) -> L {
        let n = problem.n;
        let mut most = L::from_f64(0.0);
        for i in 0..n {
            let law = self.law(problem, i, p);
            most = most.max(largest(law.residual));
            work.step[i] = law.residual;
            newton_row(n, i, &law, problem.a, work.matrix);
        }
        most
    }

    /// |F| relative to the impulses.
    #[inline(always)]
    pub fn residual<L: Lane>(&self, problem: &Problem<'_, L>, p: &[Vec3<L>]) -> L {
        let mut most = L::from_f64(0.0);
        for i in 0..problem.n {
            most = most.max(largest(self.law(problem, i, p).residual));
        }
        most / problem.scale(p)
    }

    /// Steps of Newton's method while they help, lane by lane; also below the tolerance, because contacts that bear one load
    /// together are told apart by their compliance alone. Keeps the best impulses.
    #[inline(always)]
    fn newton<L: Lane>(&self, problem: &Problem<'_, L>, p: &mut [Vec3<L>], work: &mut Work<'_, L>) -> L {
        let n = problem.n;
        let (tolerance, floor) = (self.tolerance::<L>(), L::from_f64(64.0 * L::Float::EPSILON));
        let mut least = L::from_f64(f64::INFINITY);
        let mut done = L::first(0);
        work.best[..n].copy_from_slice(&p[..n]);
        for _ in 0..STEPS {
            let most = self.linearise(problem, p, work);
            let residual = most / problem.scale(p);
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
            blocks::factorise(n, work.matrix);
            blocks::solve(n, work.matrix, work.step);
            for i in 0..n {
                p[i] = choose::<L>(done, p[i], p[i] - work.step[i]);
            }
        }
        p[..n].copy_from_slice(&work.best[..n]);
        least
    }

    /// One sweep of projected Gauss-Seidel over all contacts, in lanes that are not `done`.
    #[inline(always)]
    fn gauss_seidel<L: Lane>(&self, problem: &Problem<'_, L>, done: L::Mask, p: &mut [Vec3<L>]) {
        for i in 0..problem.n {
            let (w, own) = (problem.velocity(i, p), problem.a[i * problem.n + i]);
            // The normal impulse first, then friction with it; 1 / trace is below the inverse of the largest eigenvalue.
            let normal = (p[i].x - w.x / own.x.x).max(L::from_f64(0.0));
            let more = normal - p[i].x;
            let rate = L::from_f64(1.0) / (own.y.y + own.z.z);
            let y = (-rate).mul_add(own.x.y.mul_add(more, w.y), p[i].y);
            let z = (-rate).mul_add(own.x.z.mul_add(more, w.z), p[i].z);
            let moved = self.cone.project(vec3(normal, y, z), problem.mu[i]);
            // Without a weight it is not there.
            p[i] = choose::<L>(done | problem.rho[i].le(L::from_f64(0.0)), p[i], moved);
        }
    }
}
