//! What an operation needs to know to run in one workspace: where its buffers, slots and sums lie.

use super::layout::Layout;
use super::table::{Forest, Partition, Table};
use crate::scalar::lanes::{Isa, Width};

/// Elements per partial sum, and the least that a thread takes. Sums of everything are taken over chunks of this length,
/// 16 accumulators in each, so that neither threads nor lanes change their order.
pub const CHUNK: usize = 256;
/// Accumulators per chunk.
pub const ACCUMULATORS: usize = 16;

/// The pass an operation runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Inputs to outputs.
    Forward,
    /// Cotangents of outputs to cotangents of inputs.
    Pullback,
}

/// How a port is connected, in one pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Connection {
    /// Where its buffer lies.
    pub layout: Layout,
    /// Where its slots or partial sums lie in the scratch memory.
    pub scratch: usize,
    /// Numbers from one slot to the next.
    pub slot_row: usize,
    /// Numbers from one number of a value to the next, in slots and partial sums.
    pub slot_stride: usize,
    /// The first to write to its field in this pass: it sets instead of adding.
    pub first: bool,
    /// Nothing goes through it in this pass.
    pub mute: bool,
}

/// A field that elements add to, through an index table.
#[derive(Clone, Copy, Debug)]
pub struct Scatter {
    pub table: TableRef,
    pub layout: Layout,
    /// Rows of the field: vertices, and after them those that threads add to in place of a vertex that they share.
    pub rows: usize,
    /// How many numbers a value has.
    pub numbers: usize,
    pub first: bool,
}

/// A sum over the slots of each vertex, into one or more fields.
#[derive(Clone, Debug)]
pub struct VertexSum {
    pub table: TableRef,
    pub scratch: usize,
    pub slot_row: usize,
    pub targets: Vec<Target>,
}

/// Where a part of a summed row goes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Where the part starts in the row, and how long it is.
    pub segment: usize,
    pub len: usize,
    pub layout: Layout,
    pub first: bool,
}

/// A sum over all elements, into the one value of a field.
#[derive(Clone, Copy, Debug)]
pub struct Total {
    pub scratch: usize,
    /// How many numbers are summed.
    pub numbers: usize,
    /// Numbers from one element's slot to the next, and from one number to the next; 0: there are accumulators instead.
    pub slot_row: usize,
    pub slot_stride: usize,
    pub layout: Layout,
    pub first: bool,
}

/// An index table that an operation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableRef {
    /// Fixed when the program was built.
    Fixed(usize),
    /// Made at run time.
    List(usize),
}

/// What an operation does in one pass.
#[derive(Clone, Debug, Default)]
pub struct PassPlan {
    /// Which way it runs; none if it does not.
    pub run: Option<Pass>,
    /// Its ports: inputs, then outputs.
    pub connections: Vec<Connection>,
    /// How many of them are inputs.
    pub inputs: usize,
    /// Where the value lies that stands for the parent of a root.
    pub root: Option<Layout>,
    pub scatters: Vec<Scatter>,
    pub vertex_sums: Vec<VertexSum>,
    pub totals: Vec<Total>,
    /// Buffers with a value for each element of a list, and how many numbers these have: set to zero past its end.
    pub tails: Vec<(Layout, usize)>,
    /// Clearing, sweeps, sums. Between sweeps threads wait for each other.
    pub phases: usize,
    /// Do they before clearing, before the first sweep, and before sums?
    pub waits: [bool; 3],
    /// Is the first phase there to set fields to zero?
    pub clears: bool,
    /// Is the last phase there to add up sums?
    pub sums: bool,
    /// How many numbers of scratch memory.
    pub scratch: usize,
    /// For an operation written by hand: its buffers with their places and lengths, and how many numbers their values
    /// have.
    pub by_hand: Vec<(Layout, usize)>,
    pub numbers: Vec<usize>,
    /// Which of these a buffer of the program is.
    pub at: Ports,
}

impl PassPlan {
    /// Do threads wait for each other before a phase?
    pub fn waits_before(&self, phase: usize) -> bool {
        if self.clears && phase == 0 {
            self.waits[0]
        } else if self.sums && phase + 1 == self.phases {
            self.waits[2]
        } else if phase == usize::from(self.clears) {
            self.waits[1]
        } else {
            true
        }
    }
}

/// Buffers that an operation uses, to be found by their numbers in the program.
#[derive(Clone, Debug, Default)]
pub struct Ports {
    ids: Vec<u32>,
    /// By the last bits of a number, as many as tell the buffers apart.
    places: Vec<u32>,
}

impl Ports {
    /// Buffers may be there twice: then it is the first.
    pub fn new(ids: Vec<u32>) -> Ports {
        let mut places = Vec::new();
        let mut size = ids.len().next_power_of_two();
        while !Self::spread(&ids, size, &mut places) {
            size *= 2;
        }
        places.shrink_to_fit();
        Ports { ids, places }
    }

    /// Do so many places tell the buffers apart?
    fn spread(ids: &[u32], size: usize, places: &mut Vec<u32>) -> bool {
        places.clear();
        places.resize(size, u32::MAX);
        ids.iter().enumerate().all(|(k, &id)| {
            let place = &mut places[id as usize & (size - 1)];
            if *place == u32::MAX {
                *place = k as u32;
            }
            ids[*place as usize] == id
        })
    }

    /// Which one it is.
    #[inline(always)]
    pub fn find(&self, id: usize) -> Option<usize> {
        let k = *self.places.get(id & self.places.len().wrapping_sub(1))? as usize;
        if k < self.ids.len() && self.ids[k] as usize == id { Some(k) } else { None }
    }

    fn bytes(&self) -> usize {
        held(&self.ids) + held(&self.places)
    }
}

impl PassPlan {
    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        held(&self.connections)
            + held(&self.scatters)
            + held(&self.vertex_sums)
            + self.vertex_sums.iter().map(|sum| held(&sum.targets)).sum::<usize>()
            + held(&self.totals)
            + held(&self.tails)
            + held(&self.by_hand)
            + held(&self.numbers)
            + self.at.bytes()
    }
}

/// How many bytes a vector has set aside.
pub fn held<T>(values: &Vec<T>) -> usize {
    values.capacity() * size_of::<T>()
}

/// What is the same for all operations of a program that runs.
#[derive(Clone, Copy)]
pub struct Machine {
    pub isa: Isa,
    pub width: Width,
}

/// A running program, as an operation sees it: raw memory that the plan divides among operations and threads.
///
/// Every buffer has one writer, threads write disjoint elements of it, and between a writer and its readers lies a barrier, or they are one
/// thread in its own share (`barriers.rs`); that is what makes the raw pointers sound.
#[derive(Clone, Copy)]
pub struct Context<'a, S> {
    pub values: *mut S,
    pub bars: *mut S,
    pub scratch: *mut S,
    pub plan: &'a PassPlan,
    pub tables: &'a [Table],
    /// How threads share the tables; empty when there is one thread.
    pub partitions: &'a [Partition],
    /// Lists made at run time: all of world 0, then all of world 1 ...
    pub lists: &'a [Table],
    pub lists_per_world: usize,
    pub forests: &'a [Forest],
    pub indices: &'a [Vec<u32>],
    /// Worlds side by side; 0 when there is one alone.
    pub worlds: usize,
    pub machine: Machine,
}

// SAFETY: see above: the plan keeps threads apart.
unsafe impl<S: Sync> Sync for Context<'_, S> {}
// SAFETY: as above.
unsafe impl<S: Send> Send for Context<'_, S> {}

impl<'a, S> Context<'a, S> {
    /// Where the elements of a table add to: the row of each slot.
    #[inline(always)]
    pub fn rows(&self, table: TableRef, world: usize) -> *const u32 {
        // SAFETY: tables, lists and worlds are numbered by the builder and the workspace.
        unsafe {
            match table {
                TableRef::Fixed(i) if !self.partitions.is_empty() => {
                    self.partitions.get_unchecked(i).rows.as_ptr()
                }
                TableRef::Fixed(i) => self.tables.get_unchecked(i).corners.as_ptr(),
                TableRef::List(i) => {
                    let list = self.lists.get_unchecked(world * self.lists_per_world + i);
                    if list.partition.rows.is_empty() {
                        list.corners.as_ptr()
                    } else {
                        list.partition.rows.as_ptr()
                    }
                }
            }
        }
    }

    /// The vertices of a table that threads share; none when there is one thread.
    pub fn partition(&self, table: TableRef, world: usize) -> Option<&'a Partition> {
        match table {
            TableRef::Fixed(i) => self.partitions.get(i),
            TableRef::List(i) => Some(&self.lists[world * self.lists_per_world + i].partition),
        }
    }

    /// The table in a world.
    #[inline(always)]
    pub fn table(&self, table: TableRef, world: usize) -> &'a Table {
        // SAFETY: tables, lists and worlds are numbered by the builder and the workspace.
        unsafe {
            match table {
                TableRef::Fixed(i) => self.tables.get_unchecked(i),
                TableRef::List(i) => self.lists.get_unchecked(world * self.lists_per_world + i),
            }
        }
    }
}
