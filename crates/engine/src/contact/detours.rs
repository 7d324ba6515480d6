//! What is tried where Newton's method has not come to a solution, before it goes on from there; and what is kept of it.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;
use pullback_kernel::scalar::{Float, Mask};

use super::law::choose;
use super::solver::{Problems, Solver, Work};

/// A way round.
#[derive(Clone, Copy, Debug)]
pub(super) enum Detour {
    /// Shorter steps (`damped.rs`).
    Shorter,
    /// By way of softer contacts (`softened.rs`).
    Softer,
    /// Shorter steps with velocities that weigh more: where contacts share a load that little but their compliance tells apart, ρ
    /// hides how they move.
    Heavier,
    /// Shorter steps from no impulses, with velocities that weigh somewhat more.
    Anew,
}

/// The weight of velocities for [`Detour::Heavier`].
const HEAVY: f64 = 1e3;

/// The same for [`Detour::Anew`].
const ANEW: f64 = 10.0;

/// Those that are taken.
#[derive(Default)]
pub(super) struct Detours {
    /// Before the first sweep.
    pub first: &'static [Detour],
    /// After some.
    pub later: &'static [Detour],
    /// After all.
    pub last: &'static [Detour],
}

/// The most contacts of sparse equations for which a last detour is taken: of more, it takes too long.
const FEW: usize = 256;

impl Detours {
    /// Of a number of contacts.
    pub fn of(many: bool, contacts: usize) -> Self {
        use Detour::{Anew, Heavier, Shorter, Softer};
        match many {
            // A step takes as long as dozens of sweeps, which come first.
            true => Detours {
                first: &[],
                later: &[Shorter],
                last: if contacts <= FEW { &[Softer, Heavier, Anew] } else { &[] },
            },
            false => {
                Detours { first: &[Shorter, Softer, Heavier, Anew], later: &[Shorter, Heavier], last: &[] }
            }
        }
    }
}

impl Solver {
    /// Takes a detour, in lanes that are not `done`.
    #[inline(always)]
    pub(super) fn take<L: Lane>(
        &self,
        detour: Detour,
        problems: &Problems<'_, L>,
        p: &mut [Vec3<L>],
        done: L::Mask,
        work: &mut Work<'_, L>,
    ) {
        if let Detour::Softer = detour {
            self.softened(problems, p, done, work);
            return;
        }
        if let Detour::Anew = detour {
            let zero = L::from_f64(0.0);
            for p in &mut *p {
                *p = choose::<L>(done, *p, vec3(zero, zero, zero));
            }
        }
        let weight = match detour {
            Detour::Shorter | Detour::Softer => 1.0,
            Detour::Heavier => HEAVY,
            Detour::Anew => ANEW,
        };
        Solver { weight, ..*self }.damped(problems, p, done, work);
    }

    /// One more step where sweeps or shorter steps have gone no further than they had to, if it helps: derivatives are those of exact
    /// impulses.
    #[inline(always)]
    pub(super) fn polish<L: Lane>(
        &self,
        problems: &Problems<'_, L>,
        p: &mut [Vec3<L>],
        residual: L,
        work: &mut Work<'_, L>,
    ) -> L {
        let n = p.len();
        if residual.le(L::from_f64(64.0 * L::Float::EPSILON)).all() {
            return residual;
        }
        work.best[..n].copy_from_slice(p);
        self.laws(problems, p, None, work);
        self.step(problems, work);
        for i in 0..n {
            p[i] = p[i] - work.step[i];
        }
        let after = self.laws(problems, p, None, work) / problems.scale(p);
        let helps = after.lt(residual);
        for i in 0..n {
            p[i] = choose::<L>(helps, p[i], work.best[i]);
        }
        L::select(helps, after, residual)
    }
}

/// The best impulses of all that was tried, lane by lane.
pub(super) struct Kept<L> {
    /// Their residual, if anything was tried.
    least: Option<L>,
}

impl<L: Lane> Kept<L> {
    pub fn nothing() -> Self {
        Kept { least: None }
    }

    /// Keeps impulses that are better than all before.
    #[inline(always)]
    pub fn keep(&mut self, p: &[Vec3<L>], residual: L, work: &mut Work<'_, L>) {
        let Some(least) = self.least else {
            work.kept[..p.len()].copy_from_slice(p);
            self.least = Some(residual);
            return;
        };
        // Anything is better than what is no number.
        let better = residual.lt(least) | !least.le(least);
        for i in 0..p.len() {
            work.kept[i] = choose::<L>(better, p[i], work.kept[i]);
        }
        self.least = Some(L::select(better, residual, least));
    }

    /// Impulses become the best ones. Returns their residual.
    #[inline(always)]
    pub fn restore(&self, p: &mut [Vec3<L>], residual: L, work: &Work<'_, L>) -> L {
        let Some(least) = self.least else { return residual };
        p.copy_from_slice(&work.kept[..p.len()]);
        least
    }
}
