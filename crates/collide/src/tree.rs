//! A tree of boxes, made anew for each step: which of many boxes meet another.
//!
//! Boxes are sorted along a Morton curve through their middles, so that those that are near each other in space are near each other
//! in the list; a binary tree over blocks of the list then has its shape from the count alone, and lies in one array like a heap
//! (after Karras 2012, without his splits). Nothing is allocated once it has its room.

use pullback_kernel::prelude::*;

/// A box along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    low: [f64; 3],
    high: [f64; 3],
}

impl Bounds {
    /// Around nothing.
    pub const NONE: Bounds = Bounds { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };

    /// Around points.
    #[inline]
    pub fn of<const N: usize>(points: [Vec3; N]) -> Bounds {
        let mut bounds = Bounds::NONE;
        for Vec3 { x, y, z } in points {
            bounds.add(&Bounds { low: [x, y, z], high: [x, y, z] });
        }
        bounds
    }

    /// As much larger on all sides.
    #[inline(always)]
    pub fn grown(mut self, by: f64) -> Bounds {
        for k in 0..3 {
            self.low[k] -= by;
            self.high[k] += by;
        }
        self
    }

    /// Around both.
    #[inline]
    pub fn with(mut self, other: &Bounds) -> Bounds {
        self.add(other);
        self
    }

    #[inline]
    fn add(&mut self, other: &Bounds) {
        for k in 0..3 {
            self.low[k] = self.low[k].min(other.low[k]);
            self.high[k] = self.high[k].max(other.high[k]);
        }
    }

    /// Do they meet or touch? None does with a NaN.
    #[inline(always)]
    pub fn meets(&self, other: &Bounds) -> bool {
        // Without branches between them the six comparisons run side by side.
        let along = |k: usize| (self.low[k] <= other.high[k]) & (other.low[k] <= self.high[k]);
        along(0) & along(1) & along(2)
    }
}

/// How many boxes a leaf has.
const LEAF: usize = 4;
/// The most nodes that wait to be looked at: a level adds one.
const LEVELS: usize = 40;

/// Boxes, found by other boxes.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// Places on the curve, with the number of the box in the lower half.
    keys: Vec<u64>,
    /// In the order of their numbers, then in that of the curve.
    given: Vec<Bounds>,
    boxes: Vec<Bounds>,
    /// Node 1 is around all, node k around nodes 2 k and 2 k + 1; the last half are leaves.
    nodes: Vec<Bounds>,
}

impl Tree {
    /// With room for so many boxes.
    pub fn new(count: usize) -> Tree {
        Tree {
            keys: Vec::with_capacity(count),
            given: Vec::with_capacity(count),
            boxes: Vec::with_capacity(count),
            nodes: vec![Bounds::NONE; 2 * count.div_ceil(LEAF).next_power_of_two()],
        }
    }

    /// How many bytes it has set aside.
    pub fn bytes(&self) -> usize {
        let boxes = self.given.capacity() + self.boxes.capacity() + self.nodes.capacity();
        size_of::<u64>() * self.keys.capacity() + size_of::<Bounds>() * boxes
    }

    /// Makes it of other boxes: as many as it has room for.
    pub fn fit(&mut self, boxes: impl Iterator<Item = Bounds>) {
        self.given.clear();
        self.given.extend(boxes);
        let mut all = Bounds::NONE;
        self.given.iter().for_each(|one| all.add(one));
        let size = (0..3).map(|k| all.high[k] - all.low[k]).fold(f64::MIN_POSITIVE, f64::max);
        let place = |one: &Bounds, k: usize| {
            // What is no number, or far too large, is at an end of the curve.
            let middle = 0.5 * (one.low[k] + one.high[k]) - all.low[k];
            ((middle / size * 1023.0) as u32).min(1023)
        };
        self.keys.clear();
        self.keys.extend(self.given.iter().enumerate().map(|(i, one)| {
            let curve = spread(place(one, 0)) | spread(place(one, 1)) << 1 | spread(place(one, 2)) << 2;
            u64::from(curve) << 32 | i as u64
        }));
        self.keys.sort_unstable();
        self.boxes.clear();
        for &key in &self.keys {
            self.boxes.push(self.given[key as u32 as usize]);
        }
        let leaves = self.nodes.len() / 2;
        self.nodes[leaves..].fill(Bounds::NONE);
        for (leaf, boxes) in self.nodes[leaves..].iter_mut().zip(self.boxes.chunks(LEAF)) {
            boxes.iter().for_each(|one| leaf.add(one));
        }
        for k in (1..leaves).rev() {
            let mut both = self.nodes[2 * k];
            both.add(&self.nodes[2 * k + 1]);
            self.nodes[k] = both;
        }
    }

    /// How many leaves hold boxes.
    pub fn leaves(&self) -> usize {
        self.boxes.len().div_ceil(LEAF)
    }

    /// A box around a leaf.
    pub fn around(&self, leaf: usize) -> Bounds {
        self.nodes[self.nodes.len() / 2 + leaf]
    }

    /// The boxes of a leaf and their numbers.
    #[inline(always)]
    pub fn leaf(&self, leaf: usize) -> (&[Bounds], &[u64]) {
        let range = leaf * LEAF..self.boxes.len().min(leaf * LEAF + LEAF);
        (&self.boxes[range.clone()], &self.keys[range])
    }

    /// All leaves that meet a box, from one on.
    pub fn meeting(&self, one: Bounds, from: usize) -> Meeting<'_> {
        let mut waiting = [0; LEVELS];
        waiting[0] = 1;
        Meeting { tree: self, one, from, waiting, count: 1 }
    }
}

/// The number of a box, from its place on the curve.
#[inline(always)]
pub(crate) fn number(key: u64) -> u32 {
    key as u32
}

/// The leaves of a tree that meet a box. An iterator and not a function that visits: closures are compiled without the instructions
/// of the machine that kernels are fast with.
pub(crate) struct Meeting<'a> {
    tree: &'a Tree,
    one: Bounds,
    from: usize,
    /// Nodes to look at.
    waiting: [u32; LEVELS],
    count: usize,
}

impl Iterator for Meeting<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let Meeting { tree, one, .. } = self;
        let leaves = tree.nodes.len() / 2;
        let depth = leaves.trailing_zeros();
        while self.count > 0 {
            self.count -= 1;
            let k = self.waiting[self.count] as usize;
            // The leaf after the last one below this node.
            let past = ((k + 1) << (depth - k.ilog2())) - leaves;
            if past <= self.from || !tree.nodes[k].meets(one) {
                continue;
            }
            if k >= leaves {
                return Some(k - leaves);
            }
            self.waiting[self.count] = 2 * k as u32 + 1;
            self.waiting[self.count + 1] = 2 * k as u32;
            self.count += 2;
        }
        None
    }
}

/// Ten bits with two zeros after each.
fn spread(x: u32) -> u32 {
    let mut x = x & 0x3ff;
    x = (x | x << 16) & 0x0300_00ff;
    x = (x | x << 8) & 0x0300_f00f;
    x = (x | x << 4) & 0x030c_30c3;
    (x | x << 2) & 0x0924_9249
}
