//! What detection has found so far.

use pullback_kernel::prelude::*;

use super::body::{dot, length};
use crate::contact::Contact;
use crate::core::{self, Core};
use crate::feature::{Feature, Touch};
use crate::kind::Kind;

/// Candidates that detection keeps before it chooses.
const MOST: usize = 64;
/// Gaps and distances that differ by less are the same [m].
const SAME: f64 = 1e-9;

/// A feature, and where it touches.
#[derive(Clone, Copy)]
struct Candidate {
    gap: f64,
    /// The gap of the cells that stand in for a round shape; of others the same.
    of_cells: f64,
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
        let nothing = Candidate { gap: 0.0, of_cells: 0.0, point, feature: Feature(0, 0) };
        Candidates { margin, kept: [nothing; MOST], len: 0 }
    }

    /// Takes a feature if its gap is below the margin. When there is no room, the one with the largest gap goes.
    pub fn offer(&mut self, feature: Feature, gap: f64, point: Vec3) {
        self.offer_as(feature, gap, gap, point);
    }

    fn offer_as(&mut self, feature: Feature, gap: f64, of_cells: f64, point: Vec3) {
        let near = gap < self.margin;
        if !near || self.kept[..self.len].iter().any(|known| known.feature == feature) {
            return;
        }
        let candidate = Candidate { gap, of_cells, point, feature };
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
    /// How far round shapes may be from their stand-ins.
    slack: f64,
    candidates: Candidates,
}

impl<'a> Found<'a> {
    pub fn new(a: Core<'a, f64>, b: Core<'a, f64>, margin: f64) -> Self {
        let slack = a.kind.slack(a.sizes) + b.kind.slack(b.sizes);
        Found { a, b, slack, candidates: Candidates::new(margin) }
    }

    /// Forgets all if none has a gap, of cells, below this.
    pub fn unless_below(&mut self, gap: f64) {
        let candidates = &mut self.candidates;
        if !candidates.kept[..candidates.len].iter().any(|candidate| candidate.of_cells < gap) {
            candidates.len = 0;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.candidates.len == 0
    }

    /// Takes a feature if its gap is below the margin. Instead of cells of a stand-in, the round shape as it is.
    pub fn offer(&mut self, feature: Feature) {
        let cells = core::contact(feature, self.a, self.b);
        if Touch::of(feature).0 == Touch::LowestFace {
            self.candidates.offer_as(feature, cells.gap, cells.gap - self.slack, cells.point);
        } else if let Some((feature, contact)) = self.as_it_is(feature, &cells) {
            self.candidates.offer_as(feature, contact.gap, cells.gap, contact.point);
        } else {
            self.candidates.offer(feature, cells.gap, cells.point);
        }
    }

    /// The corner or the edge of a flat core that touches cells of a round one, with the round shape as it is; if that is the
    /// same place, within what the stand-in may be off.
    fn as_it_is(&self, feature: Feature, cells: &Contact) -> Option<(Feature, Contact)> {
        let (touch, i, j, swapped) = Touch::of(feature);
        let (p, q) = if swapped { (self.b, self.a) } else { (self.a, self.b) };
        if let (Touch::CornerFace, Kind::Ellipsoid, false) = (touch, p.kind, q.kind.is_round()) {
            // Beside the face, but nearer to it than the stand-in may be off.
            let feature = Touch::LowestFace.feature(0, j as u32, swapped);
            let contact = core::contact(feature, self.a, self.b);
            return ((contact.gap - cells.gap).abs() <= self.slack).then_some((feature, contact));
        }
        let (touch, cell, swapped, flat, round) = match (touch, p.kind.is_round(), q.kind.is_round()) {
            (Touch::Corners | Touch::CornerEdge | Touch::CornerFace, false, true) => {
                (Touch::CornerRound, i, swapped, p, q)
            }
            (Touch::Corners, true, false) => (Touch::CornerRound, j, !swapped, q, p),
            (Touch::Edges | Touch::EdgesBack | Touch::EdgeSide, false, true) => {
                (Touch::EdgeRound, i, swapped, p, q)
            }
            (Touch::CornerEdge | Touch::Edges | Touch::EdgesBack, true, false) => {
                (Touch::EdgeRound, j, !swapped, q, p)
            }
            _ => return None,
        };
        let feature = touch.feature(cell as u32, 0, swapped);
        let contact = core::contact(feature, self.a, self.b);
        let mut same =
            (contact.gap - cells.gap).abs() <= self.slack && dot(contact.normal, cells.normal) > 0.9;
        if touch == Touch::EdgeRound {
            // Between the ends of the edge, and of a cylinder.
            let [s, t] = flat.edge(cell);
            let along = dot(contact.point - s, t - s) / dot(t - s, t - s);
            same &= (0.0..=1.0).contains(&along);
            same &= match (round.kind, round.sizes) {
                (Kind::Cylinder, &[_, half]) => {
                    dot(round.pose.rotation.z, contact.point - round.pose.position).abs() <= half
                }
                _ => round.kind.is_shallow(round.sizes, contact.gap + flat.radius()),
            };
        }
        same.then_some((feature, contact))
    }

    /// See [`Candidates::write`].
    pub fn write(self, slots: usize, features: &mut [Feature]) -> usize {
        self.candidates.write(slots, features)
    }
}
