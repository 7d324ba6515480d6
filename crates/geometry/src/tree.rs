//! [`Tree`]: which of many boxes meet a box.

/// From least to most along x, y and z.
pub(crate) type Bounds = [[f64; 2]; 3];

/// A binary tree of boxes, split at the middle of the longest side; leaves in order.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    /// The leaf's number, or `None`.
    leaf: Option<u32>,
    /// The node after all that are below this one.
    past: u32,
}

fn meet(a: &Bounds, b: &Bounds) -> bool {
    (0..3).all(|k| a[k][0] <= b[k][1] && b[k][0] <= a[k][1])
}

impl Tree {
    pub fn new(boxes: Vec<Bounds>) -> Self {
        let mut tree = Tree { nodes: Vec::with_capacity(2 * boxes.len()) };
        let mut which: Vec<u32> = (0..boxes.len() as u32).collect();
        if !which.is_empty() {
            tree.add(&boxes, &mut which);
        }
        tree
    }

    fn add(&mut self, boxes: &[Bounds], which: &mut [u32]) {
        let mut bounds = boxes[which[0] as usize];
        for &i in which.iter() {
            for k in 0..3 {
                bounds[k][0] = bounds[k][0].min(boxes[i as usize][k][0]);
                bounds[k][1] = bounds[k][1].max(boxes[i as usize][k][1]);
            }
        }
        let at = self.nodes.len();
        let leaf = (which.len() == 1).then(|| which[0]);
        self.nodes.push(Node { bounds, leaf, past: 0 });
        if leaf.is_none() {
            let side = |k: usize| bounds[k][1] - bounds[k][0];
            let longest = (1..3).fold(0, |best, k| if side(k) > side(best) { k } else { best });
            let middle = |i: &u32| boxes[*i as usize][longest].iter().sum::<f64>();
            which.sort_by(|i, j| middle(i).total_cmp(&middle(j)).then(i.cmp(j)));
            let (low, high) = which.split_at_mut(which.len() / 2);
            self.add(boxes, low);
            self.add(boxes, high);
        }
        self.nodes[at].past = self.nodes.len() as u32;
    }

    /// Calls `visit` with the number of every box that meets these bounds.
    pub fn each(&self, bounds: &Bounds, visit: &mut impl FnMut(u32)) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !meet(&node.bounds, bounds) {
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
