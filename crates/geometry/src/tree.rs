//! [`Tree`]: which of many boxes meet a box.

use crate::Bounds;

/// A binary tree of boxes, split at the middle of the longest side; leaves in order. Boxes are finite.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// Each before all that are below it.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    /// The box's number, or `None`.
    leaf: Option<u32>,
    /// The node after all that are below this one.
    past: u32,
}

impl Tree {
    pub fn new(boxes: &[Bounds]) -> Self {
        let mut tree = Tree::default();
        tree.build(boxes, &mut (0..boxes.len() as u32).collect::<Vec<_>>());
        tree
    }

    pub fn reserve(&mut self, boxes: usize) {
        self.nodes.reserve(2 * boxes);
    }

    /// How many bytes it has set aside.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }

    /// A new tree of some of these boxes. It allocates only where there are more than ever.
    pub fn build(&mut self, boxes: &[Bounds], which: &mut [u32]) {
        self.nodes.clear();
        self.nodes.reserve(2 * which.len());
        if !which.is_empty() {
            self.add(boxes, which);
        }
    }

    fn add(&mut self, boxes: &[Bounds], which: &mut [u32]) {
        let of = |i: u32| &boxes[i as usize];
        let bounds = which.iter().fold(Bounds::NONE, |bounds, &i| bounds.joined(of(i)));
        let at = self.nodes.len();
        let leaf = (which.len() == 1).then(|| which[0]);
        self.nodes.push(Node { bounds, leaf, past: 0 });
        if leaf.is_none() {
            let side = |k: usize| bounds.high[k] - bounds.low[k];
            let longest = (1..3).fold(0, |best, k| if side(k) > side(best) { k } else { best });
            let middle = |i: u32| of(i).low[longest] + of(i).high[longest];
            let half = which.len() / 2;
            which.select_nth_unstable_by(half, |&i, &j| middle(i).total_cmp(&middle(j)).then(i.cmp(&j)));
            let (low, high) = which.split_at_mut(half);
            self.add(boxes, low);
            self.add(boxes, high);
        }
        self.nodes[at].past = self.nodes.len() as u32;
    }

    /// The same tree around boxes that have moved.
    pub fn refit(&mut self, boxes: &[Bounds]) {
        for at in (0..self.nodes.len()).rev() {
            let node = self.nodes[at];
            self.nodes[at].bounds = match node.leaf {
                Some(leaf) => boxes[leaf as usize],
                None => {
                    let first = &self.nodes[at + 1];
                    first.bounds.joined(&self.nodes[first.past as usize].bounds)
                }
            };
        }
    }

    /// How much there is to be looked at: the sides of all nodes together.
    pub fn cost(&self) -> f64 {
        let sides = |node: &Node| (0..3).map(|k| node.bounds.high[k] - node.bounds.low[k]).sum::<f64>();
        self.nodes.iter().map(sides).sum()
    }

    /// All boxes together.
    pub fn bounds(&self) -> Bounds {
        self.nodes.first().map_or(Bounds::NONE, |root| root.bounds)
    }

    /// The numbers of its boxes.
    pub fn leaves(&self) -> impl Iterator<Item = u32> {
        self.nodes.iter().filter_map(|node| node.leaf)
    }

    /// Calls `visit` with the number of every box that meets these bounds.
    pub fn each(&self, bounds: &Bounds, visit: &mut impl FnMut(u32)) {
        self.each_from(0, bounds, visit);
    }

    /// Calls `visit` with the numbers of all boxes that meet each other, each two once.
    pub fn each_two(&self, visit: &mut impl FnMut(u32, u32)) {
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some(leaf) = node.leaf {
                self.each_from(at + 1, &node.bounds, &mut |other| visit(leaf, other));
            }
        }
    }

    #[inline]
    fn each_from(&self, first: usize, bounds: &Bounds, visit: &mut impl FnMut(u32)) {
        let mut at = first;
        while let Some(node) = self.nodes.get(at) {
            if !node.bounds.meets(bounds) {
                at = node.past as usize;
                continue;
            }
            if let Some(leaf) = node.leaf {
                visit(leaf);
            }
            at += 1;
        }
    }
}
