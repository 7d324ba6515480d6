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
    #[inline]
    pub fn grown(mut self, by: f64) -> Bounds {
        for k in 0..3 {
            self.low[k] -= by;
            self.high[k] += by;
        }
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
    #[inline]
    fn meets(&self, other: &Bounds) -> bool {
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

    /// Visits the numbers of all boxes that meet one and are not before a place on the curve.
    #[inline]
    pub fn each(&self, one: &Bounds, from: usize, mut visit: impl FnMut(u32)) {
        let leaves = self.nodes.len() / 2;
        let depth = leaves.trailing_zeros();
        let mut waiting = [0u32; LEVELS];
        let mut count = 1;
        waiting[0] = 1;
        while count > 0 {
            count -= 1;
            let k = waiting[count] as usize;
            // The leaf after the last one below this node.
            let past = ((k + 1) << (depth - k.ilog2())) - leaves;
            if past * LEAF <= from || !self.nodes[k].meets(one) {
                continue;
            }
            if k < leaves {
                waiting[count] = 2 * k as u32 + 1;
                waiting[count + 1] = 2 * k as u32;
                count += 2;
                continue;
            }
            let first = ((k - leaves) * LEAF).max(from);
            for i in first..self.boxes.len().min((k - leaves + 1) * LEAF) {
                if self.boxes[i].meets(one) {
                    visit(self.keys[i] as u32);
                }
            }
        }
    }

    /// Visits the numbers of all two boxes that are at most so far apart along each axis, the smaller first.
    #[inline]
    pub fn each_two(&self, apart: f64, mut visit: impl FnMut(u32, u32)) {
        for (place, one) in self.boxes.iter().enumerate() {
            let i = self.keys[place] as u32;
            self.each(&one.grown(apart), place + 1, |j| visit(i.min(j), i.max(j)));
        }
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
