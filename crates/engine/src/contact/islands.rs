//! Which contacts feel each other: those on trees that touch, and that touch others.
//!
//! Contacts of an island are solved for together, and lie one after the other. Islands only save work: what is zero between
//! them is left out, and every number is the same as if all were one. So are worlds in lanes, whose contacts differ.

use pullback_kernel::program::{Lane, carve_indices};

use super::contacts::Pairs;
use super::rows::{Side, Sides};

/// The order of contacts in one step.
pub(crate) struct Islands<'a> {
    /// The place of each contact among the program's contacts, and its pair of shapes.
    order: &'a mut [u32],
    pairs: &'a mut [u32],
    /// How many pairs of shapes there are: those that come after are joints.
    shapes: usize,
    /// Where islands begin, and where the last one ends.
    starts: &'a mut [u32],
    count: usize,
    /// Where the contacts of each robot begin among `touching`, and where those of the last end.
    robots: &'a mut [u32],
    /// Contact and side, as 2 contact + side.
    touching: &'a mut [u32],
}

/// Trees: robots and their roots.
#[derive(Debug)]
pub(crate) struct Trees {
    /// Of each robot, and of each of its nodes: the tree it is in.
    pub of: Vec<Vec<u32>>,
    pub count: usize,
}

impl Trees {
    /// Of robots: for each of their nodes, the root that it hangs from.
    pub fn new(roots: &[Vec<usize>]) -> Trees {
        let mut count = 0;
        let number = |roots: &Vec<usize>| {
            let mut trees: Vec<u32> = Vec::new();
            for (node, &root) in roots.iter().enumerate() {
                // A root comes before what hangs from it.
                let tree = if root == node {
                    count += 1;
                    count as u32 - 1
                } else {
                    trees[root]
                };
                trees.push(tree);
            }
            trees
        };
        let of = roots.iter().map(number).collect();
        Trees { of, count }
    }

    #[inline(always)]
    fn tree(&self, side: Side) -> u32 {
        self.of[side.robot][side.node]
    }
}

impl<'a> Islands<'a> {
    /// How many numbers it takes.
    pub fn numbers(capacity: usize, robots: usize, trees: usize) -> usize {
        7 * capacity + robots + 2 + 2 * trees
    }

    /// Finds them.
    #[inline(always)]
    pub fn find<L: Lane>(
        trees: &Trees,
        (sides, shapes): (&[(Sides, f64)], usize),
        pairs: &Pairs<'_, L>,
        memory: &mut &'a mut [L],
    ) -> Islands<'a> {
        let (n, robots) = (pairs.count, trees.of.len());
        let mut islands = Islands {
            order: carve_indices(memory, n),
            pairs: carve_indices(memory, n),
            shapes,
            starts: carve_indices(memory, n + 1),
            count: 0,
            robots: carve_indices(memory, robots + 1),
            touching: carve_indices(memory, 2 * n),
        };
        let of_place = carve_indices(memory, n);
        for (c, pair) in of_place.iter_mut().enumerate() {
            *pair = pairs.pair(c) as u32;
        }
        if trees.count == 1 {
            islands.one();
        } else {
            islands.join(trees, sides, of_place, memory);
        }
        for (pair, place) in islands.pairs.iter_mut().zip(&*islands.order) {
            *pair = of_place[*place as usize];
        }
        islands.by_robot(sides);
        islands
    }

    /// There is one tree.
    #[inline(always)]
    fn one(&mut self) {
        for (c, place) in self.order.iter_mut().enumerate() {
            *place = c as u32;
        }
        self.starts[0] = 0;
        if !self.order.is_empty() {
            self.starts[1] = self.order.len() as u32;
            self.count = 1;
        }
    }

    /// Trees that touch are one island.
    #[inline(always)]
    fn join<L: Lane>(
        &mut self,
        trees: &Trees,
        sides: &[(Sides, f64)],
        of_place: &[u32],
        memory: &mut &'a mut [L],
    ) {
        let (above, label) = (carve_indices(memory, trees.count), carve_indices(memory, trees.count));
        let island = carve_indices(memory, of_place.len());
        for (i, tree) in above.iter_mut().enumerate() {
            *tree = i as u32;
        }
        for &pair in of_place {
            if let [Some(a), Some(b)] = sides[pair as usize].0 {
                let (a, b) = (top(above, trees.tree(a)), top(above, trees.tree(b)));
                above[a.max(b) as usize] = a.min(b);
            }
        }
        label.fill(u32::MAX);
        self.starts.fill(0);
        for (island, &pair) in island.iter_mut().zip(of_place) {
            // One side moves, or they would not be a pair.
            let [a, b] = sides[pair as usize].0;
            let tree = a.or(b).map_or(0, |side| top(above, trees.tree(side)) as usize);
            if label[tree] == u32::MAX {
                label[tree] = self.count as u32;
                self.count += 1;
            }
            *island = label[tree];
            self.starts[label[tree] as usize + 1] += 1;
        }
        for i in 0..self.count {
            self.starts[i + 1] += self.starts[i];
        }
        for (c, island) in island.iter().enumerate() {
            let next = &mut self.starts[*island as usize];
            self.order[*next as usize] = c as u32;
            *next += 1;
        }
        // Each start has become the next one's.
        for i in (0..self.count).rev() {
            self.starts[i + 1] = self.starts[i];
        }
        self.starts[0] = 0;
    }

    #[inline(always)]
    fn by_robot(&mut self, sides: &[(Sides, f64)]) {
        self.robots.fill(0);
        for &pair in &*self.pairs {
            for side in sides[pair as usize].0.iter().flatten() {
                self.robots[side.robot + 1] += 1;
            }
        }
        for r in 1..self.robots.len() {
            self.robots[r] += self.robots[r - 1];
        }
        for (k, &pair) in self.pairs.iter().enumerate() {
            for (s, side) in sides[pair as usize].0.iter().enumerate() {
                let Some(side) = side else { continue };
                let next = &mut self.robots[side.robot];
                self.touching[*next as usize] = (2 * k + s) as u32;
                *next += 1;
            }
        }
        for r in (1..self.robots.len()).rev() {
            self.robots[r] = self.robots[r - 1];
        }
        self.robots[0] = 0;
    }

    /// How many contacts.
    #[inline(always)]
    pub fn contacts(&self) -> usize {
        self.order.len()
    }

    /// The place of contact `k` among the program's.
    #[inline(always)]
    pub fn place(&self, k: usize) -> usize {
        self.order[k] as usize
    }

    /// The pair of shapes of contact `k`.
    #[inline(always)]
    pub fn pair(&self, k: usize) -> usize {
        self.pairs[k] as usize
    }

    /// Is it a joint?
    #[inline(always)]
    pub fn is_joint(&self, k: usize) -> bool {
        self.pair(k) >= self.shapes
    }

    /// How many islands.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The contacts of an island.
    #[inline(always)]
    pub fn island(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }

    /// The island of contact `k`, and where its matrices begin.
    #[inline(always)]
    pub fn around(&self, k: usize) -> (std::ops::Range<usize>, usize) {
        let (mut i, mut start) = (0, 0);
        while self.island(i).end <= k {
            start += self.island(i).len() * self.island(i).len();
            i += 1;
        }
        (self.island(i), start)
    }

    /// How many contacts a robot has, counting both sides.
    #[inline(always)]
    pub fn touches(&self, robot: usize) -> usize {
        (self.robots[robot + 1] - self.robots[robot]) as usize
    }

    /// One of them, and the side.
    #[inline(always)]
    pub fn touch(&self, robot: usize, i: usize) -> (usize, usize) {
        let both = self.touching[self.robots[robot] as usize + i] as usize;
        (both / 2, both % 2)
    }
}

/// The first tree of those that hang together.
#[inline(always)]
fn top(above: &mut [u32], mut tree: u32) -> u32 {
    while above[tree as usize] != tree {
        above[tree as usize] = above[above[tree as usize] as usize];
        tree = above[tree as usize];
    }
    tree
}
