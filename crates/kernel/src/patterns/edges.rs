//! `edges`: what the vertices that an element touches are off its first one.
//!
//! Inner forces are functions of edges, and what they give corner 0 holds against the others. That one difference is taken, and one sum,
//! where rows of vertices become lanes, leaves less to turn and to hold in registers than kernels that do it themselves.

use std::marker::PhantomData;

use super::c_text::CText;
use super::elements::{Corners, add_to_rows, rows};
use super::port::{
    Field, Input, Output, Place, PortInfo, Reach, copy_port, load_side_by_side, plus, store_side_by_side,
};
use crate::program::Buffer;
use crate::program::plan::{Connection, Context, TableRef};
use crate::program::table::ROW_UNIT;
use crate::scalar::Local;
use crate::scalar::lanes::Lane;
use crate::{Value, With, numbers_mut};

/// The values of the vertices that the element touches, less that of the first: `EDGES` of `N` corners, one less.
pub struct Edges<T: Value, const N: usize, const EDGES: usize> {
    pub(crate) buffer: usize,
    pub(crate) table: TableRef,
    pub(crate) ty: PhantomData<fn() -> T>,
}

copy_port!([T: Value, const N: usize, const EDGES: usize] Edges<T, N, EDGES>);

impl<T: Value> Buffer<T> {
    /// As an argument: the values of the vertices that the element touches, each less that of the first, which has none.
    pub fn edges<const N: usize, const EDGES: usize>(self, corners: Corners<N>) -> Edges<T, N, EDGES> {
        Edges::new(self, corners)
    }
}

impl<T: Value, const N: usize, const EDGES: usize> Edges<T, N, EDGES> {
    pub(crate) fn new(buffer: Buffer<T>, corners: Corners<N>) -> Self {
        const { assert!(EDGES + 1 == N, "an element has one edge less than corners: EDGES is N - 1") };
        Edges { buffer: buffer.id, table: corners.table, ty: PhantomData }
    }
}

// SAFETY: tables hold vertices of the buffer, and are padded with vertex 0.
unsafe impl<T: Value, const N: usize, const EDGES: usize> Input for Edges<T, N, EDGES> {
    type Value = [T; EDGES];
    const ACTIVE: bool = true;

    fn info(&self) -> PortInfo {
        let reach = Reach::At(self.table);
        PortInfo { buffer: self.buffer, reach, active: true, numbers: T::LEN, arity: N }
    }
    fn rebind(&mut self, buffer: usize) {
        self.buffer = buffer;
    }

    #[inline(always)]
    unsafe fn gather<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        c: &Connection,
        field: Field,
        place: Place,
    ) -> With<[T; EDGES], L> {
        let array: *const L::Element = context.field(field);
        let corners = context.table(self.table, place.world).corners.as_ptr();
        let mut values = [With::<T, L>::zero(); EDGES];
        // SAFETY: the caller's promise, and the table's padding.
        unsafe {
            if BATCH {
                let at = |k: usize| {
                    let vertex = (*corners.add(place.element * N + k) / ROW_UNIT) as usize;
                    array.add(c.layout.at(vertex) + place.world)
                };
                let first = load_side_by_side::<T, L>(at(0), c.layout.stride);
                for k in 0..EDGES {
                    values[k] = load_side_by_side::<T, L>(at(k + 1), c.layout.stride).minus(first);
                }
                return values;
            }
            let (array, first) = (array.add(c.layout.offset), rows::<T, L, N>(corners, place.element, 0));
            for k in 0..EDGES {
                let rows = rows::<T, L, N>(corners, place.element, k + 1);
                let parts = numbers_mut::<T, L>(&mut values[k]);
                let mut c = 0;
                while c < T::LEN {
                    let four = L::load_differences(array.add(c), &rows, &first);
                    let mut i = 0;
                    while i < 4 && c + i < T::LEN {
                        parts[c + i] = four[i];
                        i += 1;
                    }
                    c += 4;
                }
            }
        }
        values
    }

    #[inline(always)]
    unsafe fn scatter<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        c: &Connection,
        field: Field,
        place: Place,
        values: With<[T; EDGES], L>,
    ) {
        let array = context.field(field);
        // SAFETY: the caller's promise; rows are those of the buffer, and of this thread alone.
        unsafe {
            let rows = context.rows(self.table, place.world).add(place.element * N);
            if !BATCH {
                add_to_rows::<T, L, N, EDGES>(array.add(c.layout.offset), rows, place.lanes, &values);
                return;
            }
            let at = |k: usize| array.add(c.layout.at((*rows.add(k) / ROW_UNIT) as usize) + place.world);
            let old = |k: usize| load_side_by_side::<T, L>(at(k), c.layout.stride);
            let mut sum = values[0];
            for k in 1..EDGES {
                sum = plus::<T, L>(sum, values[k]);
            }
            store_side_by_side::<T, L>(at(0), c.layout.stride, old(0).minus(sum));
            for k in 0..EDGES {
                store_side_by_side::<T, L>(at(k + 1), c.layout.stride, plus::<T, L>(old(k + 1), values[k]));
            }
        }
    }

    fn c_gather(&self, text: &mut CText<'_>, c: &Connection, field: &str, name: &str) -> String {
        let (table, world) = text.table(self.table);
        let mut at = |k: &str| {
            let corner = format!("ints[{}u{world} + e * {N}u + {k}]", table.corners);
            text.load::<T>(field, &c.layout, &corner)
        };
        let (value, first) = (at("k + 1u"), at("0u"));
        let (ty, part) = (text.ty::<[T; EDGES]>(), text.ty::<T>());
        format!(
            "{ty} {name};\n{{ const {part} first = {first};\n\
             PB_UNROLL for (unsigned k = 0; k < {EDGES}u; ++k) {name}[k] = {value} - first; }}\n"
        )
    }
    fn c_scatter(&self, text: &mut CText<'_>, c: &Connection, _: &str, name: &str) -> String {
        let (table, world) = text.table(self.table);
        let slot = text.slot(c.scratch, c.slot_row, c.slot_stride);
        let mut to = |k: &str, value: &str| {
            let position = format!("ints[{}u{world} + e * {N}u + {k}]", table.slots);
            text.store::<T>("scratch", &slot, &position, value, true)
        };
        let (first, others) = (to("0u", "-sum"), to("k + 1u", &format!("{name}[k]")));
        let part = text.ty::<T>();
        format!(
            "{{ {part} sum = {name}[0];\n\
             PB_UNROLL for (unsigned k = 1; k < {EDGES}u; ++k) sum = sum + {name}[k];\n\
             {first}PB_UNROLL for (unsigned k = 0; k < {EDGES}u; ++k) {others} }}\n"
        )
    }
}

impl<T: Value, const N: usize, const EDGES: usize> Output for Edges<T, N, EDGES> {}
