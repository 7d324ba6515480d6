//! What detection has found so far.

use crate::core::{self, Core};
use crate::feature::Feature;

/// Candidates that detection keeps before it chooses.
const MOST: usize = 64;

/// Features with their gaps, no feature twice.
pub(super) struct Found<'a> {
    a: Core<'a, f64>,
    b: Core<'a, f64>,
    margin: f64,
    features: [(f64, Feature); MOST],
    len: usize,
}

impl<'a> Found<'a> {
    pub fn new(a: Core<'a, f64>, b: Core<'a, f64>, margin: f64) -> Self {
        Found { a, b, margin, features: [(0.0, Feature(0, 0)); MOST], len: 0 }
    }

    /// Forgets all if none has a gap below this.
    pub fn unless_below(&mut self, gap: f64) {
        if !self.features[..self.len].iter().any(|found| found.0 < gap) {
            self.len = 0;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes a feature if its gap is below the margin. When there is no room, the one with the largest gap goes.
    pub fn offer(&mut self, feature: Feature) {
        let gap = core::contact(feature, self.a, self.b).gap;
        let near = gap < self.margin;
        if !near || self.features[..self.len].iter().any(|known| known.1 == feature) {
            return;
        }
        if self.len < MOST {
            self.features[self.len] = (gap, feature);
            self.len += 1;
        } else if let Some(last) = self.features.iter_mut().max_by(|x, y| x.0.total_cmp(&y.0))
            && gap < last.0
        {
            *last = (gap, feature);
        }
    }

    /// Writes the features, in their own order; of too many, those with the smallest gaps. Returns how many.
    pub fn write(mut self, slots: usize, features: &mut [Feature]) -> usize {
        let found = &mut self.features[..self.len];
        let len = found.len().min(slots).min(features.len());
        found.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        found[..len].sort_unstable_by_key(|found| found.1);
        for (to, from) in features.iter_mut().zip(&found[..len]) {
            *to = from.1;
        }
        len
    }
}
