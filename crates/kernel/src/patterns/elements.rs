//! `elements`: an element reads the vertices that it touches; contributions are summed per vertex in a fixed order.
//!
//! A vertex's contributions are added in the order of their slots (element × arity + corner), whoever computes them. One
//! thread adds as it goes. Of several, each does so for the vertices that only its elements touch; the others' have a row
//! for each slot, and are added up in a last phase. On a GPU every contribution has a slot, those of a vertex side by side,
//! and a second kernel sums them. In the pullback gather and sum are exchanged.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::c_text::CText;
use super::port::{
    Field, Input, Output, Place, PortInfo, Reach, copy_port, load_from_rows, load_side_by_side, plus,
    store_side_by_side,
};
use crate::program::layout::padded;
use crate::program::plan::{Connection, Context, Scatter, TableRef, VertexSum};
use crate::program::pool::Part;
use crate::program::table::ROW_UNIT;
use crate::program::{Buffer, Constant};
use crate::scalar::lanes::Lane;
use crate::scalar::{Local, Real};
use crate::{Value, With, numbers};

/// Which vertices each element touches, `N` of them.
#[derive(Clone, Copy, Debug)]
pub struct Corners<const N: usize> {
    pub(crate) table: TableRef,
}

/// The values of the vertices that the element touches.
pub struct At<T: Value, const N: usize, const ACTIVE: bool> {
    pub(crate) buffer: usize,
    pub(crate) table: TableRef,
    pub(crate) ty: PhantomData<fn() -> T>,
}

copy_port!([T: Value, const N: usize, const ACTIVE: bool] At<T, N, ACTIVE>);

impl<T: Value> Buffer<T> {
    /// As an argument: the values of the vertices that the element touches.
    pub fn at<const N: usize>(self, corners: Corners<N>) -> At<T, N, true> {
        At { buffer: self.id, table: corners.table, ty: PhantomData }
    }
}

impl<T: Value> Constant<T> {
    /// As an argument: the values of the vertices that the element touches.
    pub fn at<const N: usize>(self, corners: Corners<N>) -> At<T, N, false> {
        At { buffer: self.id, table: corners.table, ty: PhantomData }
    }
}

// SAFETY: tables hold vertices of the buffer, and are padded with vertex 0.
unsafe impl<T: Value, const N: usize, const ACTIVE: bool> Input for At<T, N, ACTIVE> {
    type Value = [T; N];
    const ACTIVE: bool = ACTIVE;

    fn info(&self) -> PortInfo {
        PortInfo {
            buffer: self.buffer,
            reach: Reach::At(self.table),
            active: ACTIVE,
            numbers: T::LEN,
            arity: N,
        }
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
    ) -> With<[T; N], L> {
        let array: *const L::Element = context.field(field);
        let corners = context.table(self.table, place.world).corners.as_ptr();
        let mut values = [With::<T, L>::zero(); N];
        for k in 0..N {
            // SAFETY: the caller's promise, and the table's padding.
            values[k] = unsafe {
                if BATCH {
                    let vertex = (*corners.add(place.element * N + k) / ROW_UNIT) as usize;
                    load_side_by_side::<T, L>(array.add(c.layout.at(vertex) + place.world), c.layout.stride)
                } else {
                    // A buffer that is reached through indices lies in rows.
                    let rows = rows::<T, L, N>(corners, place.element, k);
                    load_from_rows::<T, L>(array.add(c.layout.offset), &rows)
                }
            };
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
        values: With<[T; N], L>,
    ) {
        let array = context.field(field);
        let rows = context.rows(self.table, place.world);
        // SAFETY: the caller's promise; rows are those of the buffer, and of this thread alone.
        unsafe {
            if BATCH {
                for k in 0..N {
                    let row = (*rows.add(place.element * N + k) / ROW_UNIT) as usize;
                    let target = array.add(c.layout.at(row) + place.world);
                    let old = load_side_by_side::<T, L>(target, c.layout.stride);
                    store_side_by_side::<T, L>(target, c.layout.stride, plus::<T, L>(old, values[k]));
                }
                return;
            }
            add_to_rows::<T, L, N, N>(
                array.add(c.layout.offset),
                rows.add(place.element * N),
                place.lanes,
                &values,
            );
        }
    }

    fn c_gather(&self, text: &mut CText<'_>, c: &Connection, field: &str, name: &str) -> String {
        let (table, world) = text.table(self.table);
        let corner = format!("ints[{}u{world} + e * {N}u + k]", table.corners);
        let (ty, value) = (text.ty::<[T; N]>(), text.load::<T>(field, &c.layout, &corner));
        format!("{ty} {name};\nPB_UNROLL for (unsigned k = 0; k < {N}u; ++k) {name}[k] = {value};\n")
    }
    fn c_scatter(&self, text: &mut CText<'_>, c: &Connection, _: &str, name: &str) -> String {
        let (table, world) = text.table(self.table);
        let slot = text.slot(c.scratch, c.slot_row, c.slot_stride);
        let position = format!("ints[{}u{world} + e * {N}u + k]", table.slots);
        let store = text.store::<T>("scratch", &slot, &position, &format!("{name}[k]"), true);
        format!("PB_UNROLL for (unsigned k = 0; k < {N}u; ++k) {store}")
    }
}

/// Adds a value to the row of each corner, or, of edges (one value less), to those of all corners but the first, and takes their sum from
/// the first: element by element, so that a vertex's sum has one order for every lane width.
///
/// # Safety
/// `rows` holds a row of `array` for each corner of `lanes` elements, and no other thread uses them.
#[inline(always)]
pub(crate) unsafe fn add_to_rows<T: Value, L: Lane, const N: usize, const VALUES: usize>(
    array: *mut L::Element,
    rows: *const u32,
    lanes: usize,
    values: &[With<T, L>; VALUES],
) {
    let mut number = 0;
    while number < T::LEN {
        // SAFETY: the caller's promise, for numbers of its rows.
        unsafe {
            if L::EIGHT && padded(T::LEN) >= number + 8 {
                add_some::<T, L, N, VALUES, 8>(array.add(number), rows, lanes, values, number);
                number += 8;
            } else {
                add_some::<T, L, N, VALUES, 4>(array.add(number), rows, lanes, values, number);
                number += 4;
            }
        }
    }
}

/// The numbers of some lanes, turned into rows.
type Turned<S, const SOME: usize> = MaybeUninit<[[S; SOME]; 16]>;

/// [`add_to_rows`] for `SOME` numbers, 4 or 8, from number `c` on.
///
/// # Safety
/// As for [`add_to_rows`].
#[inline(always)]
unsafe fn add_some<T: Value, L: Lane, const N: usize, const VALUES: usize, const SOME: usize>(
    array: *mut L::Element,
    rows: *const u32,
    lanes: usize,
    values: &[With<T, L>; VALUES],
    c: usize,
) {
    // The lanes' rows, element by element, on the stack: turned once, and added from there.
    let mut turned = [const { Turned::<L::Element, SOME>::uninit() }; VALUES];
    let mut starts = [0; 16];
    for l in 0..L::WIDTH {
        starts[l] = SOME * l;
    }
    for k in 0..VALUES {
        let parts = numbers::<T, L>(&values[k]);
        let mut some = [L::from_f64(0.0); 8];
        let mut i = 0;
        while i < SOME && c + i < T::LEN {
            some[i] = parts[c + i];
            i += 1;
        }
        // SAFETY: SOME numbers for each of at most 16 lanes.
        unsafe {
            let target = turned[k].as_mut_ptr().cast();
            if SOME == 8 {
                L::store_rows_of_eight(some, target, &starts);
            } else {
                L::store_rows([some[0], some[1], some[2], some[3]], target, &starts);
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        if lanes == L::WIDTH {
            // A constant number of rounds: the rows stay in registers.
            let mut l = 0;
            while l < L::WIDTH {
                add_element::<T, L::Element, N, VALUES, SOME>(array, rows.add(l * N), &turned, l);
                l += 1;
            }
        } else {
            for l in 0..lanes {
                add_element::<T, L::Element, N, VALUES, SOME>(array, rows.add(l * N), &turned, l);
            }
        }
    }
}

/// Adds the rows of one element.
///
/// # Safety
/// As for [`add_to_rows`], for the element of lane `l`, whose rows have been written.
#[inline(always)]
unsafe fn add_element<T: Value, S: Real, const N: usize, const VALUES: usize, const SOME: usize>(
    array: *mut S,
    rows: *const u32,
    turned: &[Turned<S, SOME>; VALUES],
    l: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let row = |k: usize| turned[k].as_ptr().cast::<[S; SOME]>().add(l).read();
        if VALUES < N {
            let mut sum = row(0);
            let mut k = 1;
            while k < VALUES {
                let more = row(k);
                for i in 0..SOME {
                    sum[i] = sum[i] + more[i];
                }
                k += 1;
            }
            for i in 0..SOME {
                sum[i] = -sum[i];
            }
            add_row::<T, S, SOME>(array.add(row_start::<T>(*rows)), sum);
        }
        let mut k = 0;
        while k < VALUES {
            add_row::<T, S, SOME>(array.add(row_start::<T>(*rows.add(N - VALUES + k))), row(k));
            k += 1;
        }
    }
}

/// Adds numbers to a row.
///
/// # Safety
/// `target` is a row of values, used by nobody else.
#[inline(always)]
unsafe fn add_row<T: Value, S: Real, const SOME: usize>(target: *mut S, row: [S; SOME]) {
    // SAFETY: the caller's promise.
    unsafe {
        if padded(T::LEN) == 1 {
            *target = *target + row[0];
            return;
        }
        let target = target.cast::<[S; SOME]>();
        let mut sum = target.read();
        for i in 0..SOME {
            sum[i] = sum[i] + row[i];
        }
        target.write(sum);
    }
}

/// Where the rows of corner `k` of the elements in all lanes start.
///
/// # Safety
/// The table has as many elements, padding included.
#[inline(always)]
pub(crate) unsafe fn rows<T: Value, L: Lane, const N: usize>(
    corners: *const u32,
    element: usize,
    k: usize,
) -> [usize; 16] {
    let mut rows = [0; 16];
    for l in 0..L::WIDTH {
        // SAFETY: the caller's promise.
        rows[l] = row_start::<T>(unsafe { *corners.add((element + l) * N + k) });
    }
    rows
}

/// Where the row starts that a table names, in numbers: tables count in units of 4, the shortest padded row, so that
/// addresses need no shift.
#[inline(always)]
fn row_start<T: Value>(row: u32) -> usize {
    if padded(T::LEN) == 1 {
        (row / ROW_UNIT) as usize
    } else {
        row as usize * (padded(T::LEN) / ROW_UNIT as usize)
    }
}

impl<T: Value, const N: usize> Output for At<T, N, true> {}

/// The first phase: fields that the elements are the first to add to are set to zero, and so are the rows that threads
/// add to in place of vertices that they share.
pub(crate) fn clear<S: Real>(context: &Context<'_, S>, scatter: &Scatter, field: Field, part: Part) {
    let from = if scatter.first { 0 } else { context.table(scatter.table, 0).vertices };
    let range = part.range(scatter.rows - from, 32);
    let row = scatter.layout.row;
    // SAFETY: rows of the field, each in one thread's share.
    unsafe {
        let target = context.field(field).add(scatter.layout.offset + (from + range.start) * row);
        target.write_bytes(0, range.len() * row);
    }
}

/// The last phase: rows of vertices that threads share are added up, in the order of their slots.
pub(crate) fn add_shared<S: Real>(context: &Context<'_, S>, scatter: &Scatter, field: Field, part: Part) {
    let Some(partition) = context.partition(scatter.table, 0) else { return };
    let array = context.field(field);
    for i in part.range(partition.vertices.len(), 32) {
        let (v, rows) =
            (partition.vertices[i] as usize, partition.first[i] as usize..partition.first[i + 1] as usize);
        // SAFETY: rows of the field; the vertex is in this thread's share. Rows are one number, or padded to four.
        unsafe {
            let target = array.add(scatter.layout.at(v));
            let row = |row: usize| array.add(scatter.layout.at(row));
            if scatter.numbers == 1 {
                rows.for_each(|r| *target = *target + *row(r));
                continue;
            }
            for c in (0..scatter.numbers).step_by(4) {
                let target = target.add(c).cast::<[S; 4]>();
                let mut sum = *target;
                for r in rows.clone() {
                    let numbers = *row(r).add(c).cast::<[S; 4]>();
                    for i in 0..4 {
                        sum[i] = sum[i] + numbers[i];
                    }
                }
                *target = sum;
            }
        }
    }
}

/// Sums the slots of each vertex, for what goes through slots: the roots of trees.
pub(crate) fn sum_slots<S: Real>(context: &Context<'_, S>, sum: &VertexSum, field: Field, part: Part) {
    let table = context.table(sum.table, 0);
    for v in part.range(table.vertices, 32) {
        let slots = &table.slots[table.starts[v] as usize..table.starts[v + 1] as usize];
        for target in &sum.targets {
            let (numbers, stride) = match context.worlds {
                0 => (target.len, 1),
                worlds => (target.len / worlds, worlds),
            };
            for c in 0..numbers {
                for w in 0..context.worlds.max(1) {
                    // SAFETY: slots lie in the scratch memory, and the vertex is in this thread's share.
                    unsafe {
                        let number =
                            context.field(field).add(target.layout.at(v) + c * target.layout.stride + w);
                        let mut total = if target.first { S::from_f64(0.0) } else { *number };
                        for &slot in slots {
                            let at =
                                sum.scratch + slot as usize * sum.slot_row + target.segment + c * stride + w;
                            total = total + *context.scratch.add(at);
                        }
                        *number = total;
                    }
                }
            }
        }
    }
}
