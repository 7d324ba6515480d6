//! `elements`: an element reads the vertices that it touches; contributions are summed per vertex in a fixed order.
//!
//! Forward, contributions go to slots of their own (element × arity + corner), and a second phase sums the slots of
//! each vertex, lowest first. In the pullback gather and sum are exchanged. Ports of one operation over the same table
//! share their slots: a vertex's sums are read side by side.

use std::marker::PhantomData;

use super::port::{
    Field, Input, Output, Place, PortInfo, Reach, Slot, load_from_rows, load_side_by_side, store_side_by_side,
    store_to_rows,
};
use crate::program::layout::padded;
use crate::program::plan::{Connection, Context, TableRef, Target, VertexSum};
use crate::program::pool::Part;
use crate::program::{Buffer, Constant};
use crate::scalar::Local;
use crate::scalar::lanes::{Dispatch, Driver, Lane, Width};
use crate::{Value, With};

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

impl<T: Value, const N: usize, const ACTIVE: bool> Clone for At<T, N, ACTIVE> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Value, const N: usize, const ACTIVE: bool> Copy for At<T, N, ACTIVE> {}

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
    const SLOT: usize = if ACTIVE { padded(T::LEN) } else { 0 };

    fn info(&self) -> PortInfo {
        PortInfo { buffer: self.buffer, reach: Reach::At(self.table), active: ACTIVE, numbers: T::LEN, slot: Self::SLOT }
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
                    let vertex = *corners.add(place.element * N + k) as usize;
                    load_side_by_side::<T, L>(array.add(c.layout.at(vertex) + place.world), c.layout.stride)
                } else {
                    // A buffer that is reached through indices lies in rows.
                    let mut rows = [0; 16];
                    for l in 0..L::WIDTH {
                        rows[l] = *corners.add((place.element + l) * N + k) as usize * padded(T::LEN);
                    }
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
        _: Field,
        place: Place,
        slot: Slot,
        values: With<[T; N], L>,
    ) {
        for k in 0..N {
            let first = place.element * N + k;
            // SAFETY: the caller's promise: there are slots for the padded count.
            unsafe {
                if BATCH {
                    let at = c.scratch + (first * slot.row + slot.segment) * context.worlds + place.world;
                    store_side_by_side::<T, L>(context.scratch.add(at), context.worlds, values[k]);
                } else {
                    let mut rows = [0; 16];
                    for l in 0..L::WIDTH {
                        rows[l] = l * N * slot.row;
                    }
                    let at = c.scratch + first * slot.row + slot.segment;
                    store_to_rows::<T, L>(context.scratch.add(at), &rows, values[k]);
                }
            }
        }
    }
}

impl<T: Value, const N: usize> Output for At<T, N, true> {}

/// The second phase: the sums of each vertex's slots.
pub(crate) fn sum_vertices<S: Dispatch>(context: &Context<'_, S>, sum: &VertexSum, field: Field, part: Part) {
    S::dispatch(SumVertices { context, sum, field, part }, context.machine.isa, Width::One);
}

struct SumVertices<'a, S> {
    context: &'a Context<'a, S>,
    sum: &'a VertexSum,
    field: Field,
    part: Part,
}

impl<S: Dispatch> Driver<S> for SumVertices<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) {
        let Self { context, sum, field, part } = self;
        let lists = matches!(sum.table, TableRef::List(_));
        let vertices = context.table(sum.table, 0).vertices;
        for v in part.range(vertices, 32) {
            if lists && context.worlds > 0 {
                // Every world has a list of its own.
                for world in 0..context.worlds {
                    self_sum::<S>(context, sum, field, v, world, 1);
                }
            } else {
                self_sum::<S>(context, sum, field, v, 0, context.worlds.max(1));
            }
        }
    }
}

/// Sums the slots of vertex `v` for `across` worlds side by side.
#[inline(always)]
fn self_sum<S: Dispatch>(
    context: &Context<'_, S>,
    sum: &VertexSum,
    field: Field,
    v: usize,
    world: usize,
    across: usize,
) {
    let table = context.table(sum.table, world);
    // SAFETY: the table's starts and slots are its own, and slots lie in the scratch memory.
    unsafe {
        let (from, to) = (*table.starts.get_unchecked(v) as usize, *table.starts.get_unchecked(v + 1) as usize);
        let slots = table.slots.get_unchecked(from..to);
        let scratch = context.scratch.add(sum.scratch);
        if context.worlds == 0 && sum.slot_row == 4 {
            sum_rows::<S, 4>(scratch, slots, &sum.targets, context.field(field), v);
        } else if context.worlds == 0 && sum.slot_row == 8 {
            sum_rows::<S, 8>(scratch, slots, &sum.targets, context.field(field), v);
        } else {
            for target in &sum.targets {
                let to = context.field(field).add(target.layout.at(v) + world);
                // Numbers that lie side by side in slots do so in the buffer.
                let (numbers, stride) = match context.worlds {
                    0 => (target.len, 1),
                    worlds => (target.len / worlds, worlds),
                };
                for c in 0..numbers {
                    for w in 0..across {
                        let at = target.segment + c * stride + world + w;
                        let mut sums = [S::zero(); 2];
                        for (i, &slot) in slots.iter().enumerate() {
                            // Every other slot, as in `sum_rows`.
                            let k = i % 2;
                            sums[k] = sums[k] + *scratch.add(slot as usize * sum.slot_row + at);
                        }
                        let total = sums[0] + sums[1];
                        let number = to.add(c * target.layout.stride + w);
                        *number = if target.first { total } else { *number + total };
                    }
                }
            }
        }
    }
}

/// Sums whole rows of `N` numbers, and gives each target its segment.
///
/// # Safety
/// The slots' rows are readable, and the targets' rows of vertex `v` writable.
#[inline(always)]
unsafe fn sum_rows<S: Dispatch, const N: usize>(
    scratch: *const S,
    slots: &[u32],
    targets: &[Target],
    field: *mut S,
    v: usize,
) {
    // Two sums, of every other slot, so that an addition need not wait for the one before.
    let mut sums = [[S::zero(); N]; 2];
    let mut pairs = slots.chunks_exact(2);
    for pair in &mut pairs {
        for (sum, &slot) in sums.iter_mut().zip(pair) {
            // SAFETY: the caller's promise.
            let numbers = unsafe { scratch.add(slot as usize * N).cast::<[S; N]>().read() };
            for c in 0..N {
                sum[c] = sum[c] + numbers[c];
            }
        }
    }
    for &slot in pairs.remainder() {
        // SAFETY: the caller's promise.
        let numbers = unsafe { scratch.add(slot as usize * N).cast::<[S; N]>().read() };
        for c in 0..N {
            sums[0][c] = sums[0][c] + numbers[c];
        }
    }
    let mut total = sums[0];
    for c in 0..N {
        total[c] = total[c] + sums[1][c];
    }
    for target in targets {
        // SAFETY: the caller's promise.
        unsafe {
            let to = field.add(target.layout.at(v));
            if target.len == 4 {
                let to = to.cast::<[S; 4]>();
                let from = total.as_ptr().add(target.segment).cast::<[S; 4]>();
                let mut sum = *from;
                if !target.first {
                    for c in 0..4 {
                        sum[c] = (*to)[c] + sum[c];
                    }
                }
                *to = sum;
            } else {
                for c in 0..target.len {
                    let number = to.add(c * target.layout.stride);
                    let sum = total[target.segment + c];
                    *number = if target.first { sum } else { *number + sum };
                }
            }
        }
    }
}
