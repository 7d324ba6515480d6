//! [`Broad`]: which of many shapes are near each other.

use crate::Bounds;
use crate::tree::Tree;

/// Finds the pairs of shapes whose boxes meet, among thousands.
///
/// It keeps a tree of boxes from one step to the next and fits it to boxes that have moved. What it finds is the same as if it
/// were new. It allocates only where there are more shapes or pairs than ever before.
///
/// ```
/// use pullback_geometry::{Bounds, Broad};
///
/// let at = |x: f64| Bounds { low: [x, 0.0, 0.0], high: [x + 1.0, 1.0, 1.0] };
/// let mut broad = Broad::new(3, 8);
/// let pairs = broad.pairs(&[at(0.0), at(5.0), at(0.5)], |_, _| true);
/// assert_eq!(pairs, [[0, 2]]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Broad {
    tree: Tree,
    /// What the tree's nodes were worth when it was made.
    cost: f64,
    /// Boxes in the tree.
    finite: Vec<u32>,
    /// Boxes without an end, which would make a tree useless.
    endless: Vec<u32>,
    found: Vec<[u32; 2]>,
    /// In order.
    pairs: Vec<[u32; 2]>,
    /// Where the pairs of each shape start.
    starts: Vec<u32>,
}

/// A tree whose nodes have grown by more than this is made again.
const GROWN: f64 = 1.5;

impl Broad {
    /// With room for so many shapes and pairs.
    pub fn new(shapes: usize, pairs: usize) -> Broad {
        let mut broad = Broad::default();
        broad.tree.reserve(shapes);
        broad.finite.reserve(shapes);
        broad.endless.reserve(shapes);
        broad.starts.reserve(shapes + 1);
        broad.found.reserve(pairs);
        broad.pairs.reserve(pairs);
        broad
    }

    /// How many bytes it has set aside.
    pub fn bytes(&self) -> usize {
        let indices = self.finite.capacity() + self.endless.capacity() + self.starts.capacity();
        let pairs = self.found.capacity() + self.pairs.capacity();
        self.tree.bytes() + size_of::<u32>() * (indices + 2 * pairs)
    }

    /// All pairs [i, j] with i < j whose boxes meet or touch and that may do so, in the order of (i, j). Boxes may be infinite;
    /// one with a NaN is in no pair.
    ///
    /// `may_touch` is asked for pairs whose boxes meet, with i < j.
    pub fn pairs(&mut self, bounds: &[Bounds], may_touch: impl Fn(u32, u32) -> bool) -> &[[u32; 2]] {
        self.fit(bounds);
        self.found.clear();
        let found = &mut self.found;
        let mut meet = |i: u32, j: u32| {
            let (i, j) = (i.min(j), i.max(j));
            if may_touch(i, j) {
                found.push([i, j]);
            }
        };
        self.tree.each_two(&mut meet);
        for (k, &i) in self.endless.iter().enumerate() {
            let this = &bounds[i as usize];
            self.tree.each(this, &mut |j| meet(i, j));
            for &j in self.endless[k + 1..].iter().filter(|&&j| bounds[j as usize].meets(this)) {
                meet(i, j);
            }
        }
        self.sort(bounds.len());
        &self.pairs
    }

    /// Makes the tree fit the boxes, or makes a new one.
    fn fit(&mut self, bounds: &[Bounds]) {
        let before = self.finite.len();
        self.finite.clear();
        self.endless.clear();
        for (i, these) in bounds.iter().enumerate() {
            let mut numbers = these.low.iter().chain(&these.high);
            if numbers.clone().all(|x| x.is_finite()) {
                self.finite.push(i as u32);
            } else if !numbers.any(|x| x.is_nan()) {
                self.endless.push(i as u32);
            }
        }
        let is_in = |i: u32| {
            let these = bounds.get(i as usize);
            these.is_some_and(|these| these.low.iter().chain(&these.high).all(|x| x.is_finite()))
        };
        if before == self.finite.len() && self.tree.leaves().all(is_in) {
            self.tree.refit(bounds);
            if self.tree.cost() <= GROWN * self.cost {
                return;
            }
        }
        self.tree.build(bounds, &mut self.finite);
        self.cost = self.tree.cost();
    }

    /// From `found` to `pairs`: counted by their first shape, then in order of the second.
    fn sort(&mut self, shapes: usize) {
        self.starts.clear();
        self.starts.resize(shapes + 1, 0);
        for &[i, _] in &self.found {
            self.starts[i as usize + 1] += 1;
        }
        for i in 0..shapes {
            self.starts[i + 1] += self.starts[i];
        }
        self.pairs.clear();
        self.pairs.resize(self.found.len(), [0; 2]);
        for &pair in &self.found {
            let place = &mut self.starts[pair[0] as usize];
            self.pairs[*place as usize] = pair;
            *place += 1;
        }
        // Now each start is where the next shape's pairs begin.
        let mut first = 0;
        for &past in &self.starts[..shapes] {
            self.pairs[first..past as usize].sort_unstable();
            first = past as usize;
        }
    }
}
