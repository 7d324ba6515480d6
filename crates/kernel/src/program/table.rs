//! Which vertices an element touches, and which elements touch a vertex.

use super::error::AccessError;
use super::plan::{CHUNK, held};
use super::pool::Part;

/// Rows are named by their number times this, the length of the shortest padded row.
pub const ROW_UNIT: u32 = 4;

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
    /// Vertex of each slot, times [`ROW_UNIT`]; padded, so that whole lanes can be read.
    pub corners: Vec<u32>,
    /// Slots of vertex v: `slots[starts[v] .. starts[v + 1]]`.
    pub starts: Vec<u32>,
    pub slots: Vec<u32>,
    /// For a list: how threads share it.
    pub partition: Partition,
}

/// How threads share a table. A vertex that the elements of one thread touch is added to directly, in the order of its
/// slots; one that several touch has a row of its own for each slot, and these are added in the same order afterwards.
#[derive(Clone, Debug, Default)]
pub struct Partition {
    /// The row of each slot, times [`ROW_UNIT`]: its vertex, or one after all vertices. Empty when there is one thread.
    pub rows: Vec<u32>,
    /// The vertices that threads share, and where their rows begin: row `first[i]` up to `first[i + 1]`.
    pub vertices: Vec<u32>,
    pub first: Vec<u32>,
}

impl Partition {
    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        held(&self.rows) + held(&self.vertices) + held(&self.first)
    }
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
            partition: Partition::default(),
        }
    }

    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        let lists = held(&self.corners) + held(&self.starts) + held(&self.slots);
        self.name.capacity() + lists + self.partition.bytes()
    }

    /// A partition with room for every element.
    pub fn room_for_partition(&self) -> Partition {
        Partition {
            rows: vec![0; self.corners.len()],
            vertices: Vec::with_capacity(self.vertices),
            first: Vec::with_capacity(self.vertices + 1),
        }
    }

    /// Shares the elements among `threads`. Nothing is allocated.
    pub fn share(&self, threads: usize, partition: &mut Partition) {
        partition.vertices.clear();
        partition.first.clear();
        let mut next = self.vertices as u32;
        for v in 0..self.vertices {
            let slots = &self.slots[self.starts[v] as usize..self.starts[v + 1] as usize];
            let thread =
                |slot: &u32| Part::of_element(*slot as usize / self.arity, self.count, CHUNK, threads);
            let alone = match (slots.first(), slots.last()) {
                (Some(first), Some(last)) => thread(first) == thread(last),
                _ => true,
            };
            if alone {
                slots.iter().for_each(|slot| partition.rows[*slot as usize] = v as u32 * ROW_UNIT);
                continue;
            }
            partition.vertices.push(v as u32);
            partition.first.push(next);
            for slot in slots {
                partition.rows[*slot as usize] = next * ROW_UNIT;
                next += 1;
            }
        }
        partition.first.push(next);
    }

    /// Takes the elements of a list, if they fit. Nothing is allocated.
    pub fn check_and_set<const N: usize>(&mut self, elements: &[[u32; N]]) -> Result<(), AccessError> {
        if elements.len() > self.capacity {
            let (list, capacity, found) = (self.name.clone(), self.capacity, elements.len());
            return Err(AccessError::Full { list, capacity, found });
        }
        let flat = elements.as_flattened();
        if let Some(slot) = flat.iter().position(|v| *v as usize >= self.vertices) {
            let (list, element, vertex) = (self.name.clone(), slot / N, flat[slot]);
            return Err(AccessError::NoVertex { list, element, vertex, vertices: self.vertices });
        }
        self.set(flat);
        Ok(())
    }

    /// Takes the vertices of each element, `arity` at a time. Nothing is allocated.
    ///
    /// The caller has checked that they fit the capacity and are vertices.
    pub fn set(&mut self, corners: &[u32]) {
        self.count = corners.len() / self.arity.max(1);
        for (scaled, vertex) in self.corners.iter_mut().zip(corners) {
            *scaled = vertex * ROW_UNIT;
        }
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
