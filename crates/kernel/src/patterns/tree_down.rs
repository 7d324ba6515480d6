//! `tree_down`: y[i] = f(y[parent i], own values), from the roots to the leaves.
//!
//! Its transpose goes up: what a node's children give back for their parent is kept in a slot for each child, and
//! added to the node's own cotangent, lowest child first.

use std::marker::PhantomData;

use super::c_text::CText;
use super::map::{gather_own, scatter_own};
use super::port::{
    Field, Input, Output, Place, PortInfo, Reach, copy_port, load_side_by_side, plus, store_side_by_side,
};
use crate::program::plan::{Connection, Context};
use crate::program::table::NO_PARENT;
use crate::scalar::lanes::Lane;
use crate::{Value, With};

/// The parent's result; for a root, the one value of another buffer.
pub struct Parent<T: Value> {
    pub(crate) buffer: usize,
    pub(crate) root: usize,
    pub(crate) forest: usize,
    pub(crate) ty: PhantomData<fn() -> T>,
}

/// The node's result, which its children read.
pub struct ForChildren<T: Value> {
    pub(crate) buffer: usize,
    pub(crate) forest: usize,
    pub(crate) ty: PhantomData<fn() -> T>,
}

copy_port!([T: Value] Parent<T>);
copy_port!([T: Value] ForChildren<T>);

/// The slot of node `i`: what it gives to, or gets from, its parent.
///
/// # Safety
/// There are slots for every node, and this one has been written.
#[inline(always)]
pub(super) unsafe fn load_slot<T: Value, L: Lane>(
    context: &Context<'_, L::Element>,
    c: &Connection,
    i: usize,
    world: usize,
) -> With<T, L> {
    // SAFETY: the caller's promise.
    unsafe {
        load_side_by_side::<T, L>(context.scratch.add(c.scratch + i * c.slot_row + world), c.slot_stride)
    }
}

/// # Safety
/// There are slots for every node.
#[inline(always)]
pub(super) unsafe fn store_slot<T: Value, L: Lane>(
    context: &Context<'_, L::Element>,
    c: &Connection,
    i: usize,
    world: usize,
    value: With<T, L>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        store_side_by_side::<T, L>(
            context.scratch.add(c.scratch + i * c.slot_row + world),
            c.slot_stride,
            value,
        )
    }
}

// SAFETY: parents are nodes, and the level order has a parent written before its children read it.
unsafe impl<T: Value> Input for Parent<T> {
    type Value = T;
    const ACTIVE: bool = true;

    fn info(&self) -> PortInfo {
        let reach = Reach::Parent { forest: self.forest, root: self.root };
        PortInfo { buffer: self.buffer, reach, active: true, numbers: T::LEN, arity: 1 }
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
        let parent = context.forests[self.forest].parents[place.element];
        let array = context.field(field);
        // SAFETY: the caller's promise.
        unsafe {
            if parent == NO_PARENT {
                let root = context.plan.root.unwrap_or_default();
                load_side_by_side::<T, L>(array.add(root.offset + place.world), root.stride)
            } else {
                let place = Place { element: parent as usize, ..place };
                gather_own::<T, L, BATCH>(array, &c.layout, place)
            }
        }
    }
    #[inline(always)]
    unsafe fn scatter<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        c: &Connection,
        _: Field,
        place: Place,
        value: With<T, L>,
    ) {
        // SAFETY: the caller's promise.
        unsafe { store_slot::<T, L>(context, c, place.element, place.world, value) }
    }
    fn c_gather(&self, text: &mut CText<'_>, c: &Connection, field: &str, name: &str) -> String {
        let parents = text.ints.forests[self.forest].parents;
        let root = text.root.unwrap_or_default();
        let (ty, of_root) = (text.ty::<T>(), text.load::<T>(field, &root, "0u"));
        let of_parent = text.load::<T>(field, &c.layout, "p");
        format!(
            "{ty} {name}; {{ unsigned p = ints[{parents}u + e]; {name} = p == ~0u ? {of_root} : {of_parent}; }}\n"
        )
    }
    fn c_scatter(&self, text: &mut CText<'_>, c: &Connection, _: &str, name: &str) -> String {
        let slot = text.slot(c.scratch, c.slot_row, c.slot_stride);
        text.store::<T>("scratch", &slot, "e", name, true)
    }
}

// SAFETY: children are nodes, and the reversed level order has their slots written before this reads them.
unsafe impl<T: Value> Input for ForChildren<T> {
    type Value = T;
    const ACTIVE: bool = true;

    fn info(&self) -> PortInfo {
        let reach = Reach::OwnForChildren { forest: self.forest };
        PortInfo { buffer: self.buffer, reach, active: true, numbers: T::LEN, arity: 1 }
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
        let forest = &context.forests[self.forest];
        let (from, to) = (forest.starts[place.element], forest.starts[place.element + 1]);
        // SAFETY: the caller's promise.
        let mut value = unsafe { gather_own::<T, L, BATCH>(context.field(field), &c.layout, place) };
        for &child in &forest.children[from as usize..to as usize] {
            // SAFETY: the caller's promise.
            value =
                plus::<T, L>(value, unsafe { load_slot::<T, L>(context, c, child as usize, place.world) });
        }
        value
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
        let forest = text.ints.forests[self.forest];
        let slot = text.slot(c.scratch, c.slot_row, c.slot_stride);
        let (ty, own) = (text.ty::<T>(), text.load::<T>(field, &c.layout, "e"));
        let child = text.load::<T>("scratch", &slot, "ints[j]");
        let (starts, children) = (forest.starts, forest.children);
        format!(
            "{ty} {name} = {own};\nfor (unsigned j = {children}u + ints[{starts}u + e]; \
             j < {children}u + ints[{starts}u + e + 1u]; ++j) pb_add({name}, {child});\n"
        )
    }
    fn c_scatter(&self, text: &mut CText<'_>, c: &Connection, field: &str, name: &str) -> String {
        text.store::<T>(field, &c.layout, "e", name, c.first)
    }
}

impl<T: Value> Output for ForChildren<T> {}
