//! What the C++ of ports is made of.

use crate::cuda::Source;
use crate::program::layout::Layout;
use crate::program::plan::TableRef;
use crate::{Argument, Value};

/// What ports need to know to write their C++.
pub struct CText<'a> {
    pub source: &'a mut Source,
    pub ints: &'a Ints,
    /// Worlds side by side; 0 when there is one alone.
    pub worlds: usize,
    /// Where the value lies that stands for the parent of a root.
    pub root: Option<Layout>,
}

/// Where index tables lie in the device's array of indices.
#[derive(Clone, Debug, Default)]
pub struct Ints {
    pub tables: Vec<TableInts>,
    /// In world 0; those of world w come `list_stride` × w later.
    pub lists: Vec<TableInts>,
    pub list_stride: usize,
    pub forests: Vec<ForestInts>,
    pub indices: Vec<usize>,
    pub len: usize,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct TableInts {
    pub corners: usize,
    pub starts: usize,
    pub slots: usize,
    /// For a list: how many elements it holds.
    pub count: usize,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ForestInts {
    pub parents: usize,
    pub order: usize,
    pub starts: usize,
    pub children: usize,
}

impl CText<'_> {
    /// The type's name.
    pub fn ty<T: Argument>(&mut self) -> String {
        T::c_type(self.source)
    }

    /// Where a table lies, and what is added to that for world `w`.
    pub fn table(&self, table: TableRef) -> (TableInts, String) {
        match table {
            TableRef::Fixed(i) => (self.ints.tables[i], String::new()),
            TableRef::List(i) => (self.ints.lists[i], self.in_world(self.ints.list_stride)),
        }
    }

    /// ` + w * stride`, in a batch.
    fn in_world(&self, stride: usize) -> String {
        if self.worlds > 0 { format!(" + w * {stride}u") } else { String::new() }
    }

    /// The value at element `e` of a buffer.
    pub fn load<T: Value>(&mut self, field: &str, layout: &Layout, e: &str) -> String {
        let ty = self.ty::<T>();
        if self.in_rows::<T>(layout) {
            format!("pb_load_row<{ty}>({field} + {})", self.address(layout, e))
        } else {
            format!("pb_load<{ty}>({field} + {}, {}u)", self.address(layout, e), layout.stride)
        }
    }

    /// Sets, or adds to, the value at element `e` of a buffer.
    pub fn store<T: Value>(
        &mut self,
        field: &str,
        layout: &Layout,
        e: &str,
        value: &str,
        first: bool,
    ) -> String {
        let add = if first { "" } else { "_add" };
        if self.in_rows::<T>(layout) {
            format!("pb_store_row{add}({field} + {}, {value});\n", self.address(layout, e))
        } else {
            format!("pb_store{add}({field} + {}, {}u, {value});\n", self.address(layout, e), layout.stride)
        }
    }

    /// Rows of padded values are read and written 16 bytes at a time.
    fn in_rows<T: Value>(&self, layout: &Layout) -> bool {
        self.worlds == 0
            && layout.shift == 0
            && layout.stride == 1
            && layout.row.is_multiple_of(4)
            && layout.offset.is_multiple_of(4)
            && T::LEN > 1
    }

    /// The index of value `e` of a buffer in world `w`.
    pub fn address(&self, layout: &Layout, e: &str) -> String {
        let Layout { offset, shift, row, .. } = *layout;
        let world = if self.worlds > 0 { " + w" } else { "" };
        // 64-bit: arenas can be larger than 2^32 numbers.
        match shift {
            0 => format!("({offset}ull + (size_t)({e}) * {row}u{world})"),
            _ => format!(
                "({offset}ull + (size_t)(({e}) >> {shift}u) * {row}u + (({e}) & {}u){world})",
                (1u32 << shift) - 1
            ),
        }
    }

    /// A slot of the scratch memory as a layout of its own.
    pub fn slot(&self, scratch: usize, slot_row: usize, slot_stride: usize) -> Layout {
        Layout { offset: scratch, shift: 0, row: slot_row, stride: slot_stride }
    }
}
