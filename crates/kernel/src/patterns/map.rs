//! `map`: out[i] = f(in[i], ...). Every element has its own value; the transpose is the same.

use std::marker::PhantomData;

use super::c_text::CText;
use super::port::{
    Field, Input, Output, Place, PortInfo, Reach, copy_port, load_from_rows, load_side_by_side, plus,
    store_side_by_side, store_to_rows,
};
use crate::program::layout::{BLOCK, Layout, padded};
use crate::program::plan::{Connection, Context};
use crate::program::{Buffer, Constant, Indices};
use crate::scalar::lanes::Lane;
use crate::{Kind, Value, With};

/// The element's own value.
pub struct Own<T: Value, const ACTIVE: bool> {
    pub(crate) buffer: usize,
    pub(crate) ty: PhantomData<fn() -> T>,
}

copy_port!([T: Value, const ACTIVE: bool] Own<T, ACTIVE>);

impl<T: Value> Buffer<T> {
    /// As an argument: the element's own value.
    pub fn own(self) -> Own<T, true> {
        Own { buffer: self.id, ty: PhantomData }
    }
}

impl<T: Value> Constant<T> {
    /// As an argument: the element's own value.
    pub fn own(self) -> Own<T, false> {
        Own { buffer: self.id, ty: PhantomData }
    }
}

/// value[e]
///
/// # Safety
/// The layout lies inside `array`, and its elements up to the padded count too.
#[inline(always)]
pub(crate) unsafe fn gather_own<T: Value, L: Lane, const BATCH: bool>(
    array: *const L::Element,
    layout: &Layout,
    place: Place,
) -> With<T, L> {
    let e = place.element;
    // SAFETY: the caller's promise.
    unsafe {
        if BATCH {
            load_side_by_side::<T, L>(array.add(layout.at(e) + place.world), layout.stride)
        } else if layout.shift > 0 {
            load_side_by_side::<T, L>(array.add(layout.offset + in_block::<T>(e)), BLOCK)
        } else if T::LEN == 1 {
            load_side_by_side::<T, L>(array.add(layout.offset + e), 1)
        } else {
            load_from_rows::<T, L>(array.add(layout.offset + e * padded(T::LEN)), &own_rows::<T, L>())
        }
    }
}

/// value[e] = value, or += where something was written there before.
///
/// # Safety
/// As for [`gather_own`], and nobody else writes there.
#[inline(always)]
pub(crate) unsafe fn scatter_own<T: Value, L: Lane, const BATCH: bool>(
    array: *mut L::Element,
    layout: &Layout,
    place: Place,
    first: bool,
    mut value: With<T, L>,
) {
    let e = place.element;
    // SAFETY: the caller's promise.
    unsafe {
        if !first {
            value = plus::<T, L>(gather_own::<T, L, BATCH>(array, layout, place), value);
        }
        if BATCH {
            store_side_by_side::<T, L>(array.add(layout.at(e) + place.world), layout.stride, value);
        } else if layout.shift > 0 {
            store_side_by_side::<T, L>(array.add(layout.offset + in_block::<T>(e)), BLOCK, value);
        } else if T::LEN == 1 {
            store_side_by_side::<T, L>(array.add(layout.offset + e), 1, value);
        } else {
            store_to_rows::<T, L>(array.add(layout.offset + e * padded(T::LEN)), &own_rows::<T, L>(), value);
        }
    }
}

/// Where value `e` starts in blocks. That the layout is blocks or rows is all that run time knows: the rest are constants.
#[inline(always)]
fn in_block<T: Value>(e: usize) -> usize {
    e / BLOCK * BLOCK * T::LEN + e % BLOCK
}

/// Where the rows of `WIDTH` elements start after the first.
#[inline(always)]
fn own_rows<T: Value, L: Lane>() -> [usize; 16] {
    let mut rows = [0; 16];
    for l in 0..L::WIDTH {
        rows[l] = l * padded(T::LEN);
    }
    rows
}

// SAFETY: an element reaches its own value alone, and buffers are padded.
unsafe impl<T: Value, const ACTIVE: bool> Input for Own<T, ACTIVE> {
    type Value = T;
    const ACTIVE: bool = ACTIVE;

    fn info(&self) -> PortInfo {
        PortInfo { buffer: self.buffer, reach: Reach::Own, active: ACTIVE, numbers: T::LEN, arity: 1 }
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
        unsafe { gather_own::<T, L, BATCH>(context.field(field), &c.layout, place) }
    }
    #[inline(always)]
    unsafe fn scatter<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        c: &Connection,
        field: Field,
        place: Place,
        value: With<T, L>,
    ) {
        // SAFETY: the caller's promise.
        unsafe { scatter_own::<T, L, BATCH>(context.field(field), &c.layout, place, c.first, value) }
    }
    fn c_gather(&self, text: &mut CText<'_>, c: &Connection, field: &str, name: &str) -> String {
        let (ty, value) = (text.ty::<T>(), text.load::<T>(field, &c.layout, "e"));
        format!("{ty} {name} = {value};\n")
    }
    fn c_scatter(&self, text: &mut CText<'_>, c: &Connection, field: &str, name: &str) -> String {
        text.store::<T>(field, &c.layout, "e", name, c.first)
    }
}

impl<T: Value> Output for Own<T, true> {}

/// The element's own index or kind.
pub struct OwnIndex<K> {
    indices: usize,
    ty: PhantomData<fn() -> K>,
}

copy_port!([K] OwnIndex<K>);

impl<K> Indices<K> {
    /// As an argument: the element's own index or kind.
    pub fn own(self) -> OwnIndex<K> {
        OwnIndex { indices: self.id, ty: PhantomData }
    }
}

// SAFETY: indices are padded like buffers, and nothing is written.
unsafe impl<K: Kind> Input for OwnIndex<K> {
    type Value = K;
    const ACTIVE: bool = false;
    const INDEX: bool = true;

    fn info(&self) -> PortInfo {
        PortInfo { buffer: self.indices, reach: Reach::Index, active: false, numbers: 0, arity: 1 }
    }
    fn rebind(&mut self, buffer: usize) {
        self.indices = buffer;
    }
    #[inline(always)]
    unsafe fn gather<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        _: &Connection,
        _: Field,
        place: Place,
    ) -> With<K, L> {
        K::at::<L>(context.indices[self.indices][place.element])
    }
    #[inline(always)]
    unsafe fn scatter<L: Lane, const BATCH: bool>(
        &self,
        _: &Context<'_, L::Element>,
        _: &Connection,
        _: Field,
        _: Place,
        _: With<K, L>,
    ) {
    }
    fn c_gather(&self, text: &mut CText<'_>, _: &Connection, _: &str, name: &str) -> String {
        format!("unsigned {name} = ints[{}u + e];\n", text.ints.indices[self.indices])
    }
    fn c_scatter(&self, _: &mut CText<'_>, _: &Connection, _: &str, _: &str) -> String {
        String::new()
    }
    fn uniform<S>(&self, context: &Context<'_, S>, element: usize, width: usize) -> bool {
        let indices = &context.indices[self.indices][element..element + width];
        indices.iter().all(|&i| i == indices[0])
    }
}
