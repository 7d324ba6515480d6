//! `reduce`: one value for all elements, and the sum over all of them, which is its transpose.
//!
//! Elements are summed in chunks of [`CHUNK`], element e of a chunk into accumulator e mod 16; the accumulators of a
//! chunk are added pairwise, and the chunks in order. Lanes and threads only change who adds, never what.
//! A tree's nodes come in another order, and from several threads: each has a slot, and the slots are summed.

use std::marker::PhantomData;

use super::c_text::CText;
use super::port::{
    Field, Input, Output, Place, PortInfo, Reach, copy_port, load_side_by_side, store_side_by_side,
};
use super::tree_down::store_slot;
use crate::program::plan::{ACCUMULATORS, CHUNK, Connection, Context, Total};
use crate::program::{Buffer, Constant};
use crate::scalar::lanes::Lane;
use crate::scalar::{Local, Real};
use crate::{Value, With, numbers, numbers_mut};

/// One value for all elements.
pub struct Shared<T: Value, const ACTIVE: bool> {
    pub(crate) buffer: usize,
    pub(crate) ty: PhantomData<fn() -> T>,
}

copy_port!([T: Value, const ACTIVE: bool] Shared<T, ACTIVE>);

impl<T: Value> Buffer<T> {
    /// As an argument: the buffer's only value, for every element.
    pub fn shared(self) -> Shared<T, true> {
        Shared { buffer: self.id, ty: PhantomData }
    }
}

impl<T: Value> Constant<T> {
    /// As an argument: the buffer's only value, for every element.
    pub fn shared(self) -> Shared<T, false> {
        Shared { buffer: self.id, ty: PhantomData }
    }
}

// SAFETY: the buffer has a value, and there are accumulators for every chunk.
unsafe impl<T: Value, const ACTIVE: bool> Input for Shared<T, ACTIVE> {
    type Value = T;
    const ACTIVE: bool = ACTIVE;

    fn info(&self) -> PortInfo {
        PortInfo { buffer: self.buffer, reach: Reach::Shared, active: ACTIVE, numbers: T::LEN, arity: 1 }
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
    ) -> With<T, L> {
        // SAFETY: the caller's promise.
        unsafe {
            let source = context.field(field).add(c.layout.offset);
            if BATCH {
                return load_side_by_side::<T, L>(source.add(place.world), c.layout.stride);
            }
            let mut value = With::<T, L>::zero();
            let parts = numbers_mut::<T, L>(&mut value);
            for i in 0..T::LEN {
                parts[i] = L::splat(source.add(i * c.layout.stride).read());
            }
            value
        }
    }

    #[inline(always)]
    unsafe fn scatter<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        c: &Connection,
        _: Field,
        place: Place,
        mut value: With<T, L>,
    ) {
        if c.slot_row > 0 {
            // SAFETY: the caller's promise: there are slots for every node.
            unsafe { store_slot::<T, L>(context, c, place.element, place.world, value) };
            return;
        }
        let worlds = if BATCH { context.worlds } else { 1 };
        let (e, stride) = (place.element, ACCUMULATORS * worlds);
        if place.lanes < L::WIDTH {
            // Lanes past the last element add nothing.
            for part in numbers_mut::<T, L>(&mut value) {
                *part = <L as Real>::select(L::first(place.lanes), *part, L::zero());
            }
        }
        let at = e / CHUNK * T::LEN * stride + e % ACCUMULATORS * worlds + place.world;
        // SAFETY: the caller's promise.
        unsafe {
            let target = context.scratch.add(c.scratch + at);
            if e % CHUNK >= ACCUMULATORS {
                let sum = load_side_by_side::<T, L>(target, stride);
                let parts = numbers_mut::<T, L>(&mut value);
                for (i, &sum) in numbers::<T, L>(&sum).iter().enumerate() {
                    parts[i] = sum + parts[i];
                }
            }
            store_side_by_side::<T, L>(target, stride, value);
        }
    }
    fn c_gather(&self, text: &mut CText<'_>, c: &Connection, field: &str, name: &str) -> String {
        let (ty, value) = (text.ty::<T>(), text.load::<T>(field, &c.layout, "0u"));
        format!("{ty} {name} = {value};\n")
    }
    // Every element's contribution on its own, number by number: kernels of their own add them up.
    fn c_scatter(&self, text: &mut CText<'_>, c: &Connection, _: &str, name: &str) -> String {
        let at = if text.worlds > 0 { format!("(size_t)e * {}u + w", text.worlds) } else { "e".to_owned() };
        format!("pb_store(scratch + {}ull + {at}, {}ull, {name});\n", c.scratch, c.slot_stride)
    }
}

impl<T: Value> Output for Shared<T, true> {}

/// The second phase: the accumulators of all chunks, added up.
pub(crate) fn sum_chunks<S: Real>(
    context: &Context<'_, S>,
    total: &Total,
    field: Field,
    count: &dyn Fn(usize) -> usize,
) {
    let worlds = context.worlds.max(1);
    for c in 0..total.numbers {
        for w in 0..worlds {
            let mut sum = S::zero();
            let count = count(w);
            for chunk in 0..count.div_ceil(CHUNK) {
                let in_chunk = (count - chunk * CHUNK).min(CHUNK);
                let mut accumulators = [S::zero(); ACCUMULATORS];
                if total.slot_row > 0 {
                    for e in 0..in_chunk {
                        let at = (chunk * CHUNK + e) * total.slot_row + c * total.slot_stride + w;
                        // SAFETY: slots of this operation, that its first phases have written.
                        let slot = unsafe { context.scratch.add(total.scratch + at).read() };
                        accumulators[e % ACCUMULATORS] = accumulators[e % ACCUMULATORS] + slot;
                    }
                } else {
                    for (k, accumulator) in accumulators.iter_mut().enumerate().take(in_chunk) {
                        let at = ((chunk * total.numbers + c) * ACCUMULATORS + k) * worlds + w;
                        // SAFETY: accumulators of this operation, that its first phase has written.
                        *accumulator = unsafe { context.scratch.add(total.scratch + at).read() };
                    }
                }
                let mut half = ACCUMULATORS / 2;
                while half > 0 {
                    for k in 0..half {
                        accumulators[k] = accumulators[k] + accumulators[k + half];
                    }
                    half /= 2;
                }
                sum = sum + accumulators[0];
            }
            // SAFETY: the buffer's one value.
            unsafe {
                let number = context.field(field).add(total.layout.offset + c * total.layout.stride + w);
                *number = if total.first { sum } else { *number + sum };
            }
        }
    }
}
