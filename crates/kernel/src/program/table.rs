//! Which vertices an element touches, and which elements touch a vertex.

/// `arity` vertices per element, and for each vertex its slots (element × arity + corner) in increasing order.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub name: String,
    pub arity: usize,
    /// How many elements; for a list made at run time, how many it holds now.
    pub count: usize,
    /// The most elements: `count`, but for a list made at run time.
    pub capacity: usize,
    pub vertices: usize,
    /// Vertex of each slot; padded, so that whole lanes can be read.
    pub corners: Vec<u32>,
    /// Slots of vertex v: `slots[starts[v] .. starts[v + 1]]`.
    pub starts: Vec<u32>,
    pub slots: Vec<u32>,
}

impl Table {
    /// A table with room for `capacity` elements, and none in it.
    pub fn new(name: &str, arity: usize, capacity: usize, vertices: usize) -> Table {
        let padded = capacity.next_multiple_of(super::layout::BLOCK);
        Table {
            name: name.to_owned(),
            arity,
            count: 0,
            capacity,
            vertices,
            corners: vec![0; padded * arity],
            starts: vec![0; vertices + 1],
            slots: vec![0; capacity * arity],
        }
    }

    /// Takes the vertices of each element, `arity` at a time. Nothing is allocated.
    ///
    /// The caller has checked that they fit the capacity and are vertices.
    pub fn set(&mut self, corners: &[u32]) {
        self.count = corners.len() / self.arity.max(1);
        self.corners[..corners.len()].copy_from_slice(corners);
        self.corners[corners.len()..].fill(0);
        // Counting sort: slots of a vertex stay in increasing order, so that sums have one order.
        self.starts.fill(0);
        for &v in corners {
            self.starts[v as usize + 1] += 1;
        }
        for v in 0..self.vertices {
            self.starts[v + 1] += self.starts[v];
        }
        for (slot, &v) in corners.iter().enumerate() {
            let at = &mut self.starts[v as usize];
            self.slots[*at as usize] = slot as u32;
            *at += 1;
        }
        // Each start has moved to the next one's place: move them back.
        for v in (1..=self.vertices).rev() {
            self.starts[v] = self.starts[v - 1];
        }
        self.starts[0] = 0;
    }
}

/// A forest: the parent of each node, and its nodes level by level, roots first.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    pub name: String,
    pub parents: Vec<u32>,
    /// Nodes, level by level.
    pub order: Vec<u32>,
    /// Level l is `order[levels[l] .. levels[l + 1]]`.
    pub levels: Vec<u32>,
    /// Children of node i: `children[starts[i] .. starts[i + 1]]`, in increasing order.
    pub starts: Vec<u32>,
    pub children: Vec<u32>,
    /// The table whose one vertex is touched by the roots.
    pub roots: usize,
}

/// The parent of a root.
pub const NO_PARENT: u32 = u32::MAX;

impl Forest {
    /// None if the parents form a cycle or are not nodes.
    pub fn new(name: &str, parents: &[Option<usize>]) -> Option<Forest> {
        let n = parents.len();
        let mut starts = vec![0u32; n + 1];
        for parent in parents.iter().flatten() {
            *starts.get_mut(parent.checked_add(1)?)? += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut children = vec![0; starts[n] as usize];
        for (i, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[next[*parent] as usize] = i as u32;
                next[*parent] += 1;
            }
        }
        let mut order: Vec<u32> = (0..n as u32).filter(|&i| parents[i as usize].is_none()).collect();
        let mut levels = vec![0];
        let mut from = 0;
        while from < order.len() {
            let to = order.len();
            levels.push(to as u32);
            for k in from..to {
                let i = order[k] as usize;
                order.extend_from_slice(&children[starts[i] as usize..starts[i + 1] as usize]);
            }
            from = to;
        }
        let parents = parents.iter().map(|p| p.map_or(NO_PARENT, |p| p as u32)).collect();
        (order.len() == n).then(|| Forest {
            name: name.to_owned(),
            parents,
            order,
            levels,
            starts,
            children,
            roots: 0,
        })
    }

    pub fn level_count(&self) -> usize {
        self.levels.len() - 1
    }
}
