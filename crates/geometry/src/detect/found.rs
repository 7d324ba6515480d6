//! What detection has found so far.

use pullback_kernel::prelude::*;

use super::body::length;
use crate::core::{self, Core};
use crate::feature::{Feature, Touch};

/// Candidates that detection keeps before it chooses.
const MOST: usize = 64;
/// Gaps and distances that differ by less are the same [m].
const SAME: f64 = 1e-9;

/// A feature, and where it touches.
#[derive(Clone, Copy)]
struct Candidate {
    gap: f64,
    point: Vec3,
    feature: Feature,
}

/// Features that are closer than a margin, no feature twice.
pub(super) struct Candidates {
    margin: f64,
    kept: [Candidate; MOST],
    len: usize,
}

impl Candidates {
    pub fn new(margin: f64) -> Self {
        let point = Vec3 { x: 0.0, y: 0.0, z: 0.0 };
        let nothing = Candidate { gap: 0.0, point, feature: Feature(0, 0) };
        Candidates { margin, kept: [nothing; MOST], len: 0 }
    }

    /// Takes a feature if its gap is below the margin. When there is no room, the one with the largest gap goes.
    pub fn offer(&mut self, feature: Feature, gap: f64, point: Vec3) {
        let near = gap < self.margin;
        if !near || self.kept[..self.len].iter().any(|known| known.feature == feature) {
            return;
        }
        let candidate = Candidate { gap, point, feature };
        if self.len < MOST {
            self.kept[self.len] = candidate;
            self.len += 1;
        } else if let Some(last) = self.kept.iter_mut().max_by(|x, y| x.gap.total_cmp(&y.gap))
            && gap < last.gap
        {
            *last = candidate;
        }
    }

    /// Writes the features, in their own order; of too many, the deepest and those that carry the shape with it. Returns how
    /// many.
    pub fn write(mut self, slots: usize, features: &mut [Feature]) -> usize {
        let kept = &mut self.kept[..self.len];
        let len = kept.len().min(slots).min(features.len());
        kept.sort_unstable_by_key(|candidate| candidate.feature);
        if len < kept.len() {
            spread(kept, len);
            kept[..len].sort_unstable_by_key(|candidate| candidate.feature);
        }
        for (to, from) in features.iter_mut().zip(&kept[..len]) {
            *to = from.feature;
        }
        len
    }
}

/// Moves so many to the front: first the deepest; then, one at a time, the one that is farthest from all before, less how much
/// wider its gap is than the deepest. A round end on the ground is carried all around its rim, not by neighbours on one side.
fn spread(kept: &mut [Candidate], len: usize) {
    let deepest = kept.iter().map(|candidate| candidate.gap).fold(f64::INFINITY, f64::min);
    for at in 0..len {
        let (chosen, rest) = kept.split_at(at);
        let worth = |candidate: &Candidate| {
            let far = chosen.iter().map(|other| length(candidate.point - other.point));
            let far = if at == 0 { 0.0 } else { far.fold(f64::INFINITY, f64::min) };
            far - (candidate.gap - deepest)
        };
        let mut best = (0, f64::NEG_INFINITY);
        for (i, candidate) in rest.iter().enumerate() {
            let worth = worth(candidate);
            if worth > best.1 + SAME {
                best = (i, worth);
            }
        }
        kept[at..=at + best.0].rotate_right(1);
    }
}

/// Features of two cores.
pub(super) struct Found<'a> {
    a: Core<'a, f64>,
    b: Core<'a, f64>,
    candidates: Candidates,
}

impl<'a> Found<'a> {
    pub fn new(a: Core<'a, f64>, b: Core<'a, f64>, margin: f64) -> Self {
        Found { a, b, candidates: Candidates::new(margin) }
    }

    /// Forgets all if none has a gap below this. Round shapes may differ from their stand-ins, which say how far they are, by
    /// this slack.
    pub fn unless_below(&mut self, gap: f64, slack: f64) {
        let candidates = &mut self.candidates;
        let below = |candidate: &Candidate| {
            let round = Touch::of(candidate.feature).0 == Touch::LowestFace;
            candidate.gap < gap + if round { slack } else { 0.0 }
        };
        if !candidates.kept[..candidates.len].iter().any(below) {
            candidates.len = 0;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.candidates.len == 0
    }

    /// Takes a feature if its gap is below the margin.
    pub fn offer(&mut self, feature: Feature) {
        let contact = core::contact(feature, self.a, self.b);
        self.candidates.offer(feature, contact.gap, contact.point);
    }

    /// See [`Candidates::write`].
    pub fn write(self, slots: usize, features: &mut [Feature]) -> usize {
        self.candidates.write(slots, features)
    }
}
