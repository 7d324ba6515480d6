//! `tree_up`: contributions from the leaves to the roots: (.., message[i]) = f(Σ message[children of i], own values).
//!
//! Its transpose goes down: what a node gives back for the sum of its children's messages is the cotangent of each of
//! them.

use std::marker::PhantomData;

use super::c_text::CText;
use super::map::{gather_own, scatter_own};
use super::port::{Field, Input, Output, Place, PortInfo, Reach, copy_port, plus};
use super::tree_down::{load_slot, store_slot};
use crate::program::plan::{Connection, Context};
use crate::program::table::NO_PARENT;
use crate::scalar::Local;
use crate::scalar::lanes::Lane;
use crate::{Value, With, numbers_mut};

/// The sum of the children's messages, lowest first; zero for a leaf.
pub struct Children<T: Value> {
    pub(crate) buffer: usize,
    pub(crate) forest: usize,
    pub(crate) ty: PhantomData<fn() -> T>,
}

/// The node's message to its parent.
pub struct ForParent<T: Value> {
    pub(crate) buffer: usize,
    pub(crate) forest: usize,
    pub(crate) ty: PhantomData<fn() -> T>,
}

copy_port!([T: Value] Children<T>);
copy_port!([T: Value] ForParent<T>);

// SAFETY: children are nodes, and the level order has them written before their parent reads them.
unsafe impl<T: Value> Input for Children<T> {
    type Value = T;
    const ACTIVE: bool = true;

    fn info(&self) -> PortInfo {
        let reach = Reach::Children { forest: self.forest };
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
        let mut sum = With::<T, L>::zero();
        for number in numbers_mut::<T, L>(&mut sum) {
            *number = L::from_f64(0.0);
        }
        for &child in &forest.children[from as usize..to as usize] {
            let place = Place { element: child as usize, ..place };
            // SAFETY: the caller's promise.
            let message = unsafe { gather_own::<T, L, BATCH>(context.field(field), &c.layout, place) };
            sum = plus::<T, L>(sum, message);
        }
        sum
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
        let forest = text.ints.forests[self.forest];
        let (ty, child) = (text.ty::<T>(), text.load::<T>(field, &c.layout, "ints[j]"));
        let (starts, children) = (forest.starts, forest.children);
        format!(
            "{ty} {name}; pb_set_positive_zero<R>({name});\nfor (unsigned j = {children}u + ints[{starts}u + e]; \
             j < {children}u + ints[{starts}u + e + 1u]; ++j) pb_add({name}, {child});\n"
        )
    }
    fn c_scatter(&self, text: &mut CText<'_>, c: &Connection, _: &str, name: &str) -> String {
        let slot = text.slot(c.scratch, c.slot_row, c.slot_stride);
        text.store::<T>("scratch", &slot, "e", name, true)
    }
}

// SAFETY: parents are nodes, and the reversed level order has their slots written before this reads them.
unsafe impl<T: Value> Input for ForParent<T> {
    type Value = T;
    const ACTIVE: bool = true;

    fn info(&self) -> PortInfo {
        let reach = Reach::OwnForParent { forest: self.forest };
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
        // SAFETY: the caller's promise.
        unsafe {
            let value = gather_own::<T, L, BATCH>(context.field(field), &c.layout, place);
            if parent == NO_PARENT {
                return value;
            }
            plus::<T, L>(value, load_slot::<T, L>(context, c, parent as usize, place.world))
        }
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
        let parents = text.ints.forests[self.forest].parents;
        let slot = text.slot(c.scratch, c.slot_row, c.slot_stride);
        let (ty, own) = (text.ty::<T>(), text.load::<T>(field, &c.layout, "e"));
        let of_parent = text.load::<T>("scratch", &slot, "p");
        format!(
            "{ty} {name} = {own};\n{{ unsigned p = ints[{parents}u + e]; if (p != ~0u) pb_add({name}, {of_parent}); }}\n"
        )
    }
    fn c_scatter(&self, text: &mut CText<'_>, c: &Connection, field: &str, name: &str) -> String {
        text.store::<T>(field, &c.layout, "e", name, c.first)
    }
}

impl<T: Value> Output for ForParent<T> {}
