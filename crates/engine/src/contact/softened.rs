//! Newton's method by way of softer contacts, where neither its whole steps nor shorter ones lead to a solution: contacts of
//! one body that share a load, which little but their compliance tells apart.
//!
//! With a softness f, the velocity of a contact is w = A p + b + f p/ρ. Contacts that are as soft as all that they push is heavy
//! (f = 1) hardly feel each other, and a few steps solve for their impulses. From those, f is halved again and again until
//! little is left of it, with some steps each time; what follows is Newton's method for the contacts as they are.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;
use pullback_kernel::scalar::{Float, Mask};

use super::law::choose;
use super::solver::{Problems, Solver, Work};

/// How often contacts become half as soft.
const HALVINGS: usize = 30;

/// The most steps for each softness.
const STEPS: usize = 6;

/// How well each softness is solved for, relative to the impulses.
const TOLERANCE: f64 = 1e-6;

impl Solver {
    /// Impulses of harder and harder contacts, in lanes that are not `done`.
    #[inline(always)]
    pub(super) fn softened<L: Lane>(
        &self,
        problems: &Problems<'_, L>,
        p: &mut [Vec3<L>],
        done: L::Mask,
        work: &mut Work<'_, L>,
    ) {
        let (half, infinite) = (L::from_f64(0.5), L::from_f64(f64::INFINITY));
        let tolerance = L::from_f64(TOLERANCE.max(64.0 * L::Float::EPSILON));
        let mut softness = L::from_f64(1.0);
        for _ in 0..HALVINGS {
            for _ in 0..STEPS {
                let residual = self.laws(problems, p, Some(softness), work) / problems.scale(p);
                let done = done | residual.le(tolerance);
                if done.all() {
                    break;
                }
                self.step(problems, work);
                for i in 0..p.len() {
                    // Equations without a solution lead nowhere.
                    let step = work.step[i];
                    let goes = dot(step, step).lt(infinite) & !done;
                    p[i] = choose::<L>(goes, p[i] - step, p[i]);
                }
            }
            softness = softness * half;
        }
    }
}
