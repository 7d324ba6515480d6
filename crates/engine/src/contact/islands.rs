//! Which contacts feel each other: those on trees that touch, and that touch others.
//!
//! Contacts of an island are solved for together, and lie one after the other. Islands only save work: what is zero between
//! them is left out, and every number is the same as if all were one. So are worlds in lanes, whose contacts differ.

use pullback_kernel::program::{Lane, carve_indices};

use super::contacts::Pairs;
use super::pattern::{Dense, Sparse};
use super::rows::{OnSide, Side, Sides};

/// The order of contacts in one step.
pub(crate) struct Islands<'a> {
    /// The place of each contact among the program's contacts, and its two shapes.
    order: &'a mut [u32],
    shapes: &'a mut [u32],
    /// The number of nothing: larger ones are joints (`contacts.rs`).
    nothing: usize,
    /// Where islands begin, and where the last one ends.
    starts: &'a mut [u32],
    count: usize,
    /// Where the contacts of each robot begin among `touching`, and where those of the last end.
    robots: &'a mut [u32],
    /// Contact and side, as 2 contact + side.
    touching: &'a mut [u32],
    /// Where the blocks of matrices of each island begin, and where those of the last end.
    blocks: &'a mut [u32],
    /// Islands with more contacts than this are sparse.
    dense: usize,
    /// Of contacts of sparse islands: where their entries begin, counted from the first block of the island, and which is
    /// theirs with themselves; each island has one start more than contacts.
    entries: &'a mut [u32],
    diagonals: &'a mut [u32],
    /// Of all blocks of sparse islands: the column.
    columns: &'a mut [u32],
}

/// How much room there is for contacts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Joints included.
    pub contacts: usize,
    /// Blocks of a matrix of all contacts.
    pub blocks: usize,
    /// Islands with more contacts than this are sparse.
    pub dense: usize,
}

/// How many blocks of a sparse matrix a contact may have, all contacts together: the mean, besides joints. A box on a box has
/// four contacts, and feels those of some boxes around both.
const BLOCKS_OF_A_CONTACT: usize = 64;

impl Room {
    /// For so many contacts, of which each tree may have so many joints, in islands that are dense up to a size; without one,
    /// all are.
    pub fn new(contacts: usize, joints: &[usize], dense: Option<usize>) -> Room {
        let all = contacts * contacts;
        let Some(dense) = dense else { return Room { contacts, blocks: all, dense: usize::MAX } };
        // Joints feel all that touches their tree, which feels them.
        let among = joints.iter().map(|joints| joints * joints).sum::<usize>();
        let each = BLOCKS_OF_A_CONTACT.max(dense).saturating_add(2 * joints.iter().max().unwrap_or(&0));
        let blocks = contacts.saturating_mul(each).saturating_add(among).min(all);
        Room { contacts, blocks, dense }
    }

    /// May there be sparse islands?
    pub fn is_sparse(&self) -> bool {
        self.dense != usize::MAX
    }
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

    /// Whole robots instead of trees.
    pub fn of_robots(roots: &[Vec<usize>]) -> Trees {
        let of = roots.iter().enumerate().map(|(r, nodes)| vec![r as u32; nodes.len()]).collect();
        Trees { of, count: roots.len() }
    }

    /// The trees of a robot.
    #[inline(always)]
    pub fn of_robot(&self, robot: usize) -> std::ops::Range<usize> {
        let (mut first, mut past) = (usize::MAX, 0);
        for &tree in &self.of[robot] {
            (first, past) = (first.min(tree as usize), past.max(tree as usize + 1));
        }
        first.min(past)..past
    }

    #[inline(always)]
    pub fn tree(&self, side: Side) -> u32 {
        self.of[side.robot][side.node]
    }
}

/// The contacts of each tree, in order, and each once.
pub(crate) struct Lists<'a> {
    starts: &'a [u32],
    contacts: &'a [u32],
}

impl<'a> Lists<'a> {
    /// How many numbers it takes.
    pub fn numbers(trees: usize, contacts: usize) -> usize {
        trees + 2 + 2 * contacts
    }

    /// Those of a tree.
    #[inline(always)]
    pub fn of(&self, tree: usize) -> &'a [u32] {
        &self.contacts[self.starts[tree] as usize..self.starts[tree + 1] as usize]
    }

    #[inline(always)]
    fn of_any(&self, tree: Option<u32>) -> &'a [u32] {
        match tree {
            Some(tree) => self.of(tree as usize),
            None => &[],
        }
    }

    /// How long the longest of some is.
    #[inline(always)]
    pub fn longest(&self, trees: std::ops::Range<usize>) -> usize {
        let mut longest = 0;
        for tree in trees {
            longest = longest.max(self.of(tree).len());
        }
        longest
    }
}

impl<'a> Islands<'a> {
    /// How many numbers it takes.
    pub fn numbers(room: &Room, robots: usize, trees: usize) -> usize {
        let own = 3 * room.contacts + room.blocks + Lists::numbers(trees, room.contacts);
        let sparse = if room.is_sparse() { own } else { 0 };
        11 * room.contacts + robots + 8 + 2 * trees + sparse
    }

    /// Finds them; none if there is no room for their matrices.
    #[inline(always)]
    pub fn find<L: Lane>(
        trees: &Trees,
        sides: &[OnSide],
        room: &Room,
        pairs: &Pairs<'_, L>,
        memory: &mut &'a mut [L],
    ) -> Option<Islands<'a>> {
        let (n, robots) = (pairs.count, trees.of.len());
        let mut islands = Islands {
            order: carve_indices(memory, n),
            shapes: carve_indices(memory, 2 * n),
            nothing: pairs.nothing(),
            starts: carve_indices(memory, n + 1),
            count: 0,
            robots: carve_indices(memory, robots + 1),
            touching: carve_indices(memory, 2 * n),
            blocks: carve_indices(memory, n + 1),
            dense: room.dense,
            entries: &mut [],
            diagonals: &mut [],
            columns: &mut [],
        };
        let of_place = carve_indices(memory, 2 * n);
        for (c, shapes) in of_place.chunks_exact_mut(2).enumerate() {
            let [a, b] = pairs.shapes(c);
            (shapes[0], shapes[1]) = (a as u32, b as u32);
        }
        if trees.count == 1 {
            islands.one();
        } else {
            islands.join(trees, sides, of_place, memory);
        }
        for (shapes, place) in islands.shapes.chunks_exact_mut(2).zip(&*islands.order) {
            let place = *place as usize;
            shapes.copy_from_slice(&of_place[2 * place..2 * place + 2]);
        }
        islands.by_robot(sides);
        if const { L::WIDTH == 1 } && room.is_sparse() {
            islands.entries = carve_indices(memory, 2 * n);
            islands.diagonals = carve_indices(memory, n);
            islands.columns = carve_indices(memory, room.blocks);
            islands.by_tree(trees, sides, memory).then_some(islands)
        } else {
            islands.blocks[0] = 0;
            for i in 0..islands.count {
                let n = islands.island(i).len() as u32;
                islands.blocks[i + 1] = islands.blocks[i] + n * n;
            }
            Some(islands)
        }
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
    fn join<L: Lane>(&mut self, trees: &Trees, sides: &[OnSide], of_place: &[u32], memory: &mut &'a mut [L]) {
        let (above, label) = (carve_indices(memory, trees.count), carve_indices(memory, trees.count));
        let island = carve_indices(memory, of_place.len() / 2);
        for (i, tree) in above.iter_mut().enumerate() {
            *tree = i as u32;
        }
        for shapes in of_place.chunks_exact(2) {
            if let [Some(a), Some(b)] = both(sides, shapes) {
                let (a, b) = (top(above, trees.tree(a)), top(above, trees.tree(b)));
                above[a.max(b) as usize] = a.min(b);
            }
        }
        label.fill(u32::MAX);
        self.starts.fill(0);
        for (island, shapes) in island.iter_mut().zip(of_place.chunks_exact(2)) {
            // One side moves, or they would not be a pair.
            let [a, b] = both(sides, shapes);
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
    fn by_robot(&mut self, sides: &[OnSide]) {
        self.robots.fill(0);
        for shapes in self.shapes.chunks_exact(2) {
            for side in both(sides, shapes).iter().flatten() {
                self.robots[side.robot + 1] += 1;
            }
        }
        for r in 1..self.robots.len() {
            self.robots[r] += self.robots[r - 1];
        }
        for (k, shapes) in self.shapes.chunks_exact(2).enumerate() {
            for (s, side) in both(sides, shapes).iter().enumerate() {
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

    /// Which contacts of sparse islands feel each other, and where the blocks of all islands are; false if there is no room
    /// for them.
    #[inline(always)]
    fn by_tree<L: Lane>(&mut self, trees: &Trees, sides: &[OnSide], memory: &mut &'a mut [L]) -> bool {
        let lists = self.lists(trees, sides, memory);
        let mut used = 0;
        for i in 0..self.count {
            self.blocks[i] = used as u32;
            let island = self.island(i);
            let n = island.len();
            if n <= self.dense {
                used += n * n;
                continue;
            }
            let first = used;
            for (row, k) in island.clone().enumerate() {
                self.entries[island.start + i + row] = (used - first) as u32;
                let [one, other] = of_trees(trees, sides, &self.shapes[2 * k..2 * k + 2]);
                let (mut one, mut other) = (lists.of_any(one), lists.of_any(other));
                // Both lists go up; what is in both is one column.
                while let Some(&next) = one.first().into_iter().chain(other.first()).min() {
                    if used >= self.columns.len() {
                        return false;
                    }
                    one = if one.first() == Some(&next) { &one[1..] } else { one };
                    other = if other.first() == Some(&next) { &other[1..] } else { other };
                    if next as usize == k {
                        self.diagonals[k] = (used - first) as u32;
                    }
                    self.columns[used] = next - island.start as u32;
                    used += 1;
                }
            }
            self.entries[island.start + i + n] = (used - first) as u32;
        }
        self.blocks[self.count] = used as u32;
        used <= self.columns.len()
    }

    /// The contacts of each tree.
    #[inline(always)]
    pub fn lists<L: Lane>(&self, trees: &Trees, sides: &[OnSide], memory: &mut &'a mut [L]) -> Lists<'a> {
        let starts = carve_indices(memory, trees.count + 1);
        let contacts = carve_indices(memory, self.shapes.len());
        starts.fill(0);
        for shapes in self.shapes.chunks_exact(2) {
            for tree in of_trees(trees, sides, shapes).into_iter().flatten() {
                starts[tree as usize + 1] += 1;
            }
        }
        for t in 0..trees.count {
            starts[t + 1] += starts[t];
        }
        for (k, shapes) in self.shapes.chunks_exact(2).enumerate() {
            for tree in of_trees(trees, sides, shapes).into_iter().flatten() {
                let next = &mut starts[tree as usize];
                contacts[*next as usize] = k as u32;
                *next += 1;
            }
        }
        // Each start has become the next one's.
        for t in (0..trees.count).rev() {
            starts[t + 1] = starts[t];
        }
        starts[0] = 0;
        Lists { starts, contacts }
    }

    /// Where the blocks of an island's matrix are.
    #[inline(always)]
    pub fn blocks(&self, i: usize) -> std::ops::Range<usize> {
        self.blocks[i] as usize..self.blocks[i + 1] as usize
    }

    /// May islands be sparse?
    #[inline(always)]
    pub fn is_sparse(&self) -> bool {
        self.dense != usize::MAX
    }

    /// Is its matrix dense?
    #[inline(always)]
    pub fn is_dense(&self, i: usize) -> bool {
        self.island(i).len() <= self.dense
    }

    /// The pattern of a dense island.
    #[inline(always)]
    pub fn dense(&self, i: usize) -> Dense {
        Dense { n: self.island(i).len() }
    }

    /// The pattern of a sparse island.
    #[inline(always)]
    pub fn sparse(&self, i: usize) -> Sparse<'_> {
        let island = self.island(i);
        Sparse {
            starts: &self.entries[island.start + i..island.end + i + 1],
            diagonals: &self.diagonals[island.clone()],
            columns: &self.columns[self.blocks(i)],
        }
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

    /// What contact `k` is between.
    #[inline(always)]
    pub fn sides(&self, k: usize, sides: &[OnSide]) -> Sides {
        both(sides, &self.shapes[2 * k..2 * k + 2])
    }

    /// The compliance of contact `k` [1/kg].
    #[inline(always)]
    pub fn softness(&self, k: usize, sides: &[OnSide]) -> f64 {
        sides[self.shapes[2 * k] as usize].softness + sides[self.shapes[2 * k + 1] as usize].softness
    }

    /// The joint that contact `k` is, if it is one.
    #[inline(always)]
    pub fn joint(&self, k: usize) -> Option<usize> {
        let second = self.shapes[2 * k + 1] as usize;
        if second > self.nothing { Some(second - self.nothing - 1) } else { None }
    }

    /// Is it a joint?
    #[inline(always)]
    pub fn is_joint(&self, k: usize) -> bool {
        self.joint(k).is_some()
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

    /// The island of contact `k`.
    #[inline(always)]
    pub fn around(&self, k: usize) -> usize {
        self.starts[1..self.count].partition_point(|&start| start as usize <= k)
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

/// What two shapes are fixed to.
#[inline(always)]
fn both(sides: &[OnSide], shapes: &[u32]) -> Sides {
    [sides[shapes[0] as usize].side, sides[shapes[1] as usize].side]
}

/// The trees that two shapes are on, each once.
#[inline(always)]
fn of_trees(trees: &Trees, sides: &[OnSide], shapes: &[u32]) -> [Option<u32>; 2] {
    let [a, b] = both(sides, shapes);
    let (a, b) = (a.map(|side| trees.tree(side)), b.map(|side| trees.tree(side)));
    [a, if a == b { None } else { b }]
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
