//! Projected Gauss-Seidel: one contact after the other, again and again; and the same backwards.
//!
//! A visit to contact i sets p_i to P(R(p_i, w_i, A_ii), μ_i), w_i = Σ A_ij p_j + b_i. Backwards, visit by visit, with the
//! impulses that it found: P and R are pulled back, w_bar goes to b_bar, w_bar p_jᵀ to A_bar, A_ijᵀ w_bar to p_bar.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Apart, Lane};

use super::held::visited;
use super::law::{Cone, choose, choose_matrix};
use super::pattern::Pattern;
use super::solver::{Problem, Problems};

/// The impulse by which a contact would come to rest: the normal one first, then friction with it; 1 / trace is below the
/// inverse of the largest eigenvalue.
#[kernel]
fn relaxed<R: Real>(p: Vec3<R>, w: Vec3<R>, own: Mat3<R>) -> Vec3<R> {
    let normal = max(p.x - w.x / own.x.x, 0.0);
    let more = normal - p.x;
    let rate = 1.0 / (own.y.y + own.z.z);
    vec3(normal, p.y - rate * (own.x.y * more + w.y), p.z - rate * (own.x.z * more + w.z))
}

/// Friction shortened to the circular cone.
#[kernel]
fn in_circle<R: Real>(p: Vec3<R>, mu: R) -> Vec3<R> {
    let limit = mu * p.x;
    let size = sqrt(p.y * p.y + p.z * p.z);
    let mut scale = 1.0;
    // Without a load there is none, also where nothing slides.
    if limit <= 0.0 {
        scale = 0.0;
    }
    if 0.0 < size && limit < size {
        scale = limit / size;
    }
    vec3(p.x, p.y * scale, p.z * scale)
}

/// Friction along one direction, cut off at its limit. Without a load there is none, also where nothing slides.
#[kernel]
fn cut_off<R: Real>(p: R, limit: R) -> R {
    let mut friction = 0.0;
    if abs(p) + limit > 0.0 {
        friction = clamp(p, -limit, limit);
    }
    friction
}

/// Friction cut off at the box.
#[kernel]
fn in_box<R: Real>(p: Vec3<R>, mu: R) -> Vec3<R> {
    let limit = mu * p.x;
    vec3(p.x, cut_off(p.y, limit), cut_off(p.z, limit))
}

impl Cone {
    #[inline(always)]
    fn project<L: Lane>(self, p: Vec3<L>, mu: L) -> Vec3<L> {
        match self {
            Cone::Circular => in_circle(p, mu),
            Cone::Box => in_box(p, mu),
        }
    }

    #[inline(always)]
    fn pull_project<L: Lane>(self, p: Vec3<L>, mu: L, bar: Vec3<L>) -> (Vec3<L>, L) {
        match self {
            Cone::Circular => in_circle::pullback(p, mu, bar),
            Cone::Box => in_box::pullback(p, mu, bar),
        }
    }
}

/// Does a visit leave a contact as it is? One without a weight is not there.
#[inline(always)]
fn stays<L: Lane>(problem: &Problem<'_, L, impl Pattern>, i: usize, done: L::Mask) -> L::Mask {
    done | problem.rho[i].le(L::from_f64(0.0))
}

/// One sweep over all contacts, in lanes that are not `done`.
#[inline(always)]
pub(crate) fn sweep<L: Lane>(cone: Cone, problems: &Problems<'_, L>, done: L::Mask, p: &mut [Vec3<L>]) {
    L::apart(Sweep { cone, problems, done, p });
}

/// [`sweep`]
struct Sweep<'a, 'p, L: Lane> {
    cone: Cone,
    problems: &'a Problems<'p, L>,
    done: L::Mask,
    p: &'a mut [Vec3<L>],
}

impl<L: Lane> Apart for Sweep<'_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Sweep { cone, problems, done, p } = self;
        for i in 0..problems.islands.count() {
            let p = &mut p[problems.islands.island(i)];
            if problems.islands.is_dense(i) {
                sweep_island(cone, &problems.dense(i), done, p);
            } else if const { L::WIDTH == 1 } {
                sweep_island(cone, &problems.sparse(i), done, p);
            }
        }
    }
}

#[inline(always)]
fn sweep_island<L: Lane>(
    cone: Cone,
    problem: &Problem<'_, L, impl Pattern>,
    done: L::Mask,
    p: &mut [Vec3<L>],
) {
    for i in 0..problem.pattern.len() {
        let (w, own) = (problem.velocity(i, p), problem.a[problem.pattern.diagonal(i)]);
        let moved = match problem.is_joint(i) {
            true => visited(p[i], w, own, problem.mu[i]),
            false => cone.project(relaxed(p[i], w, own), problem.mu[i]),
        };
        p[i] = choose::<L>(stays(problem, i, done), p[i], moved);
    }
}

/// What is told of every sweep: the impulses before it, and which lanes it leaves as they are.
pub(crate) trait Record<L: Lane> {
    fn before(&mut self, p: &[Vec3<L>], done: L::Mask);
}

/// Forgets them.
impl<L: Lane> Record<L> for () {
    #[inline(always)]
    fn before(&mut self, _: &[Vec3<L>], _: L::Mask) {}
}

/// All sweeps, one after the other.
pub(crate) struct History<'a, L: Lane> {
    pub before: &'a mut [Vec3<L>],
    /// 1 where a lane is left as it is, 0 elsewhere.
    pub done: &'a mut [L],
    pub count: usize,
}

impl<L: Lane> Record<L> for History<'_, L> {
    #[inline(always)]
    fn before(&mut self, p: &[Vec3<L>], done: L::Mask) {
        self.before[self.count * p.len()..(self.count + 1) * p.len()].copy_from_slice(p);
        self.done[self.count] = L::select(done, L::from_f64(1.0), L::from_f64(0.0));
        self.count += 1;
    }
}

impl<L: Lane> History<'_, L> {
    /// Through all sweeps, last one first. `p` are the impulses after them, `p_bar` their cotangents; both are used up.
    #[inline(always)]
    pub fn pull(
        &self,
        cone: Cone,
        problems: &Problems<'_, L>,
        p: &mut [Vec3<L>],
        p_bar: &mut [Vec3<L>],
        bars: &mut Bars<'_, L>,
    ) {
        for s in (0..self.count).rev() {
            let before = &self.before[s * p.len()..(s + 1) * p.len()];
            let done = L::from_f64(0.5).lt(self.done[s]);
            sweep_back(cone, problems, done, (p, before), p_bar, bars);
        }
    }
}

/// The cotangents of what sweeps read, in the order of contacts; of A island by island.
pub(crate) struct Bars<'a, L: Lane> {
    pub a: &'a mut [Mat3<L>],
    pub b: &'a mut [Vec3<L>],
    pub mu: &'a mut [L],
}

/// The pullback of [`sweep`]: `p` are the impulses after it, and become those before it, which `before` holds. `p_bar` becomes
/// the cotangent of those.
#[inline(always)]
fn sweep_back<L: Lane>(
    cone: Cone,
    problems: &Problems<'_, L>,
    done: L::Mask,
    (p, before): (&mut [Vec3<L>], &[Vec3<L>]),
    p_bar: &mut [Vec3<L>],
    bars: &mut Bars<'_, L>,
) {
    for i in 0..problems.islands.count() {
        let (contacts, blocks) = (problems.islands.island(i), problems.islands.blocks(i));
        let impulses = (&mut p[contacts.clone()], &before[contacts.clone()]);
        let p_bar = &mut p_bar[contacts.clone()];
        let mut bars =
            Bars { a: &mut bars.a[blocks], b: &mut bars.b[contacts.clone()], mu: &mut bars.mu[contacts] };
        if problems.islands.is_dense(i) {
            sweep_island_back(cone, &problems.dense(i), done, impulses, p_bar, &mut bars);
        } else if const { L::WIDTH == 1 } {
            sweep_island_back(cone, &problems.sparse(i), done, impulses, p_bar, &mut bars);
        }
    }
}

#[inline(always)]
fn sweep_island_back<L: Lane>(
    cone: Cone,
    problem: &Problem<'_, L, impl Pattern>,
    done: L::Mask,
    (p, before): (&mut [Vec3<L>], &[Vec3<L>]),
    p_bar: &mut [Vec3<L>],
    bars: &mut Bars<'_, L>,
) {
    let zero = L::from_f64(0.0);
    let none = vec3(zero, zero, zero);
    let (zeros, pattern) = (diagonal(none), problem.pattern);
    for i in (0..pattern.len()).rev() {
        p[i] = before[i];
        let diagonal = pattern.diagonal(i);
        let own = problem.a[diagonal];
        let w = problem.velocity(i, p);
        let stays = stays(problem, i, done);
        let moved_bar = choose::<L>(stays, none, p_bar[i]);
        let (old_bar, w_bar, own_bar, mu) = match problem.is_joint(i) {
            true => visited::pullback(p[i], w, own, problem.mu[i], moved_bar),
            false => {
                let relaxed = relaxed(p[i], w, own);
                let (relaxed_bar, mu) = cone.pull_project(relaxed, problem.mu[i], moved_bar);
                let (old_bar, w_bar, own_bar) = relaxed::pullback(p[i], w, own, relaxed_bar);
                (old_bar, w_bar, own_bar, mu)
            }
        };
        // Of one that is not there, or whose lane is done, they may be no numbers.
        let (w_bar, own_bar) = (choose::<L>(stays, none, w_bar), choose_matrix::<L>(stays, zeros, own_bar));
        bars.mu[i] = bars.mu[i] + L::select(stays, zero, mu);
        bars.b[i] = bars.b[i] + w_bar;
        p_bar[i] = choose::<L>(stays, p_bar[i], old_bar);
        bars.a[diagonal] = bars.a[diagonal] + own_bar;
        for entry in pattern.row(i) {
            let j = pattern.column(i, entry);
            bars.a[entry] = bars.a[entry] + outer(w_bar, p[j]);
            p_bar[j] = p_bar[j] + transpose_times(problem.a[entry], w_bar);
        }
    }
}
