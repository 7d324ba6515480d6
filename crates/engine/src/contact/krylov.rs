//! Linear equations of large islands: BiCGSTAB (van der Vorst 1992) with incomplete factors.
//!
//! The matrix F_p + F_w A is not kept: A is, which is symmetric, and its product with a vector is that of A with a factor
//! of one block for each contact. So is the transposed one, F_pᵀ + A F_wᵀ.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;
use pullback_kernel::scalar::Float;

use super::blocks;
use super::pattern::Pattern;
use super::solver::has_tangent;

/// A matrix F_p + F_w A, or its transpose, with incomplete factors.
pub(crate) struct System<'a, L: Lane, P: Pattern> {
    pub pattern: P,
    pub a: &'a [Mat3<L>],
    pub by_p: &'a [Mat3<L>],
    pub by_w: &'a [Mat3<L>],
    pub factors: &'a [Mat3<L>],
    pub transposed: bool,
    /// The most iterations, each with two products.
    pub most: usize,
    /// How often it may go on from what is truly left, from which that of the iterations drifts away.
    pub turns: usize,
}

/// Working memory, of the numbers of an island.
pub(crate) struct Krylov<'a, L: Lane> {
    pub vectors: [&'a mut [Vec3<L>]; VECTORS],
}

/// How many vectors it works with.
pub(crate) const VECTORS: usize = 9;

/// The right side of the equations, and that with tangents.
const RIGHT: usize = 7;
const MOVING: usize = 8;

/// A residual relative to the right side at which the solution is good enough. Contacts that bear one load together are told apart
/// by their compliance alone, a millionth of the rest: what is left counts a million times there.
const ENOUGH: f64 = 1e-13;

/// Without tangents: iterations converge by values, and tangents are solved for on their own.
#[inline(always)]
fn plain<L: Lane>(v: Vec3<L>) -> Vec3<L> {
    if !const { has_tangent::<L>() } {
        return v;
    }
    vec3(L::from_f64(v.x.value_in(0)), L::from_f64(v.y.value_in(0)), L::from_f64(v.z.value_in(0)))
}

#[inline(always)]
fn tangent<L: Lane>(v: Vec3<L>) -> Vec3<L> {
    vec3(L::from_f64(v.x.tangent_in(0)), L::from_f64(v.y.tangent_in(0)), L::from_f64(v.z.tangent_in(0)))
}

#[inline(always)]
fn with_tangent<L: Lane>(v: Vec3<L>, tangent: Vec3<L>) -> Vec3<L> {
    vec3(
        v.x.with_tangent(tangent.x.value_in(0)),
        v.y.with_tangent(tangent.y.value_in(0)),
        v.z.with_tangent(tangent.z.value_in(0)),
    )
}

#[inline(always)]
fn inner<L: Lane>(a: &[Vec3<L>], b: &[Vec3<L>]) -> L {
    let mut sum = L::from_f64(0.0);
    for (a, b) in a.iter().zip(b) {
        sum = sum + dot(*a, *b);
    }
    sum
}

impl<L: Lane, P: Pattern> System<'_, L, P> {
    /// out = M x; `spare` is used up.
    #[inline(always)]
    fn times(&self, x: &[Vec3<L>], spare: &mut [Vec3<L>], out: &mut [Vec3<L>]) {
        for i in 0..x.len() {
            spare[i] = if self.transposed { transpose_times(self.by_w[i], x[i]) } else { x[i] };
        }
        for i in 0..x.len() {
            let mut sum: Vec3<L> = crate::articulated::kinematics::zero();
            for entry in self.pattern.row(i) {
                sum = sum + self.a[entry] * spare[self.pattern.column(i, entry)];
            }
            out[i] = if self.transposed {
                transpose_times(self.by_p[i], x[i]) + sum
            } else {
                self.by_p[i] * x[i] + self.by_w[i] * sum
            };
        }
    }

    /// out = K⁻¹ x, with the incomplete factors K.
    #[inline(always)]
    fn condition(&self, x: &[Vec3<L>], out: &mut [Vec3<L>]) {
        out.copy_from_slice(x);
        if self.transposed {
            blocks::solve_transposed(self.pattern, self.factors, out);
        } else {
            blocks::solve(self.pattern, self.factors, out);
        }
        for out in out {
            *out = plain(*out);
        }
    }

    /// x becomes M⁻¹ x; returns the residual that is left, relative to x. Tangents are those of the solution:
    /// M ẋ = ḃ - Ṁ x.
    #[inline(always)]
    pub fn solve(&self, x: &mut [Vec3<L>], krylov: &mut Krylov<'_, L>) -> f64 {
        if !const { has_tangent::<L>() } {
            return self.solve_plain(x, krylov);
        }
        let n = x.len();
        krylov.vectors[MOVING][..n].copy_from_slice(x);
        for x in &mut *x {
            *x = plain(*x);
        }
        let reached = self.solve_plain(x, krylov);
        let [image, spare, .., right] = &mut krylov.vectors;
        self.times(x, &mut spare[..n], &mut image[..n]);
        for i in 0..n {
            right[i] = tangent(right[i] - image[i]);
        }
        let right = std::mem::take(&mut krylov.vectors[MOVING]);
        let also = self.solve_plain(&mut right[..n], krylov);
        for i in 0..n {
            x[i] = with_tangent(x[i], right[i]);
        }
        krylov.vectors[MOVING] = right;
        reached.max(also)
    }

    /// Of numbers without tangents.
    #[inline(always)]
    fn solve_plain(&self, x: &mut [Vec3<L>], krylov: &mut Krylov<'_, L>) -> f64 {
        let (n, size) = (x.len(), norm(x));
        if size == 0.0 {
            return 0.0;
        }
        let right = std::mem::take(&mut krylov.vectors[RIGHT]);
        // Relative to its size, so that products of small numbers are numbers. From K⁻¹ b on, which is the solution where the
        // factors are complete.
        for i in 0..n {
            right[i] = x[i] * L::from_f64(1.0 / size);
        }
        self.condition(&right[..n], x);
        let floor = 8.0 * L::Float::EPSILON;
        let (mut left, mut enough) = (f64::INFINITY, ENOUGH.max(floor));
        for turn in 0.. {
            let before = left;
            left = self.residual(&right[..n], x, krylov);
            // Also where it is no number.
            let helps = left <= 0.5 * before;
            if turn == self.turns || left <= floor || !helps {
                break;
            }
            self.iterate(x, left, enough, krylov);
            enough = floor;
        }
        for x in &mut *x {
            *x = *x * L::from_f64(size);
        }
        krylov.vectors[RIGHT] = right;
        // A breakdown is no solution.
        if left.is_finite() { left } else { f64::INFINITY }
    }

    /// The first vector becomes b - M x. Returns its size.
    #[inline(always)]
    fn residual(&self, right: &[Vec3<L>], x: &[Vec3<L>], krylov: &mut Krylov<'_, L>) -> f64 {
        let n = x.len();
        let [r, .., spare, _, _] = &mut krylov.vectors;
        let r = &mut r[..n];
        self.times(x, &mut spare[..n], r);
        for i in 0..n {
            r[i] = plain(right[i] - r[i]);
        }
        norm(r)
    }

    /// x goes on from its residual, the first vector, whose size is `left`, until what iterations leave of it is `enough`.
    #[inline(always)]
    fn iterate(&self, x: &mut [Vec3<L>], mut left: f64, enough: f64, krylov: &mut Krylov<'_, L>) {
        let n = x.len();
        let [r, shadow, p, v, y, t, spare, _, _] = &mut krylov.vectors;
        let (r, shadow, p, v) = (&mut r[..n], &mut shadow[..n], &mut p[..n], &mut v[..n]);
        let (y, t, spare) = (&mut y[..n], &mut t[..n], &mut spare[..n]);
        shadow.copy_from_slice(r);
        p.copy_from_slice(r);
        let mut rho = inner(shadow, r);
        for _ in 0..self.most {
            // Also where it is no number.
            if left <= enough || !left.is_finite() {
                break;
            }
            self.condition(p, y);
            self.times(y, spare, v);
            let alpha = rho / plain_number(inner(shadow, v));
            if !alpha.value_in(0).is_finite() {
                break;
            }
            for i in 0..n {
                v[i] = plain(v[i]);
                x[i] = x[i] + y[i] * alpha;
                r[i] = r[i] - v[i] * alpha;
            }
            left = norm(r);
            if left <= enough {
                break;
            }
            self.condition(r, y);
            self.times(y, spare, t);
            for t in &mut *t {
                *t = plain(*t);
            }
            let omega = inner(t, r) / inner(t, t);
            if !omega.value_in(0).is_finite() {
                break;
            }
            for i in 0..n {
                x[i] = x[i] + y[i] * omega;
                r[i] = r[i] - t[i] * omega;
            }
            let next = inner(shadow, r);
            let beta = (next / rho) * (alpha / omega);
            rho = next;
            for i in 0..n {
                p[i] = r[i] + (p[i] - v[i] * omega) * beta;
            }
            left = norm(r);
        }
    }
}

/// |v|
#[inline(always)]
fn norm<L: Lane>(v: &[Vec3<L>]) -> f64 {
    inner(v, v).value_in(0).sqrt()
}

#[inline(always)]
fn plain_number<L: Lane>(x: L) -> L {
    if const { has_tangent::<L>() } { L::from_f64(x.value_in(0)) } else { x }
}
