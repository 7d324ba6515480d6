//! Which of many shapes are near each other: what a broad phase keeps from step to step.

use pullback_geometry::{Bounds, Broad};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Lane, Spares, lane_of};

use super::corners::Seen;
use super::touchable::{MOST_SIZES, Touchable};
use crate::articulated::kinematics::zero;
use crate::step::held;
use pullback_kernel::{numbers, numbers_mut};

/// Boxes of shapes, and the pairs that meet.
#[derive(Debug)]
pub(crate) struct Finder {
    broad: Broad,
    bounds: Vec<Bounds>,
    /// By the second shape, then by the first.
    pairs: Vec<[usize; 2]>,
    /// How many pairs have each second shape.
    counts: Vec<u32>,
}

/// How many pairs that meet there is room for, for each shape; where there are more, it allocates.
const PAIRS: usize = 16;

impl Finder {
    /// With room for the shapes of a model.
    pub fn new(model: &Touchable) -> Finder {
        let shapes = model.shapes.len();
        Finder {
            broad: Broad::new(shapes, PAIRS * shapes),
            bounds: Vec::with_capacity(shapes),
            pairs: Vec::with_capacity(PAIRS * shapes),
            counts: Vec::with_capacity(shapes + 1),
        }
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        size_of::<Finder>() + self.broad.bytes() + held(&self.bounds) + held(&self.pairs) + held(&self.counts)
    }

    /// What was found.
    pub fn pairs(&self) -> &[[usize; 2]] {
        &self.pairs
    }
}

/// Finders of all that run at once. What they find does not depend on what they found before: a step gives the same bits
/// whichever it takes.
#[derive(Debug, Default)]
pub(crate) struct Finders(Spares<Finder>);

impl Finders {
    /// For the next step.
    pub fn give_back(&self, finder: Finder) {
        self.0.give_back(finder);
    }

    /// Pairs that may touch and whose boxes meet in any world.
    #[inline(never)]
    pub fn find<L: Lane>(
        &self,
        model: &Touchable,
        (starts, sizes): (&[usize], &[L]),
        (poses, ahead): (&[Pose<L>], &[L]),
        seen: &Seen,
    ) -> Finder {
        let mut finder = self.0.take(|| Finder::new(model));
        finder.bounds.clear();
        for (s, shape) in model.shapes.iter().enumerate() {
            let mut all = Bounds::NONE;
            for lane in 0..L::WIDTH {
                let mut plain = [0.0; MOST_SIZES];
                let of = &sizes[starts[s]..starts[s + 1]];
                for (to, from) in plain.iter_mut().zip(of) {
                    *to = from.value_in(lane);
                }
                let mut pose: Pose = zero();
                let one = lane_of::<Pose, L>(&poses[s], lane);
                for (to, from) in
                    numbers_mut::<Pose, f64>(&mut pose).iter_mut().zip(numbers::<Pose, L::Element>(&one))
                {
                    *to = from.value_in(0);
                }
                // Half of the margin on both sides, and how far they may come.
                let own = seen.sizes(shape.corners.as_ref(), lane).unwrap_or(&plain[..of.len()]);
                let bounds = shape.kind.bounds(own, &pose, 0.5 * model.margin + ahead[s].value_in(lane));
                for k in 0..3 {
                    all.low[k] = all.low[k].min(bounds.low[k]);
                    all.high[k] = all.high[k].max(bounds.high[k]);
                }
            }
            finder.bounds.push(all);
        }
        finder.look(model);
        finder
    }
}

impl Finder {
    fn look(&mut self, model: &Touchable) {
        let may_touch = |a: u32, b: u32| model.meetings.allow(a as usize, b as usize);
        let found = self.broad.pairs(&self.bounds, may_touch);
        // From the order of (first, second) to that of (second, first): counted by the second.
        self.counts.clear();
        self.counts.resize(model.shapes.len() + 1, 0);
        for pair in found {
            self.counts[pair[1] as usize + 1] += 1;
        }
        for i in 0..model.shapes.len() {
            self.counts[i + 1] += self.counts[i];
        }
        self.pairs.clear();
        self.pairs.resize(found.len(), [0; 2]);
        for &[a, b] in found {
            let place = &mut self.counts[b as usize];
            self.pairs[*place as usize] = [a as usize, b as usize];
            *place += 1;
        }
    }
}
