//! A fragment of a program with its own pullback: operations that run in the pullback instead of the macro's.
//!
//! They are ordinary operations on ordinary buffers. At their start the cotangents of the fragment's results are copied
//! into buffers that they can read; at their end what they computed is added to the cotangents of its inputs.

use std::marker::PhantomData;

use super::c_text::CText;
use super::map::{gather_own, scatter_own};
use super::port::{Field, Input, Output, Place, PortInfo, Reach, copy_port};
use crate::cuda::Definition;
use crate::program::plan::{Connection, Context};
use crate::scalar::Real;
use crate::scalar::lanes::Lane;
use crate::{Kernel, Value, With};

/// The element's own cotangent, as a value.
pub struct OwnBar<T: Value> {
    pub(crate) buffer: usize,
    pub(crate) ty: PhantomData<fn() -> T>,
}

copy_port!([T: Value] OwnBar<T>);

// SAFETY: as for `Own`.
unsafe impl<T: Value> Input for OwnBar<T> {
    type Value = T;
    const ACTIVE: bool = true;

    fn info(&self) -> PortInfo {
        PortInfo { buffer: self.buffer, reach: Reach::OwnBar, active: true, numbers: T::LEN, arity: 1 }
    }
    fn rebind(&mut self, buffer: usize) {
        self.buffer = buffer;
    }
    #[inline(always)]
    unsafe fn gather<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        c: &Connection,
        _: Field,
        place: Place,
    ) -> With<T, L> {
        // SAFETY: the caller's promise.
        unsafe { gather_own::<T, L, BATCH>(context.bars, &c.layout, place) }
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
        unsafe { scatter_own::<T, L, BATCH>(context.bars, &c.layout, place, c.first, value) }
    }
    fn c_gather(&self, text: &mut CText<'_>, c: &Connection, _: &str, name: &str) -> String {
        let (ty, value) = (text.ty::<T>(), text.load::<T>("bars", &c.layout, "e"));
        format!("{ty} {name} = {value};\n")
    }
    fn c_scatter(&self, text: &mut CText<'_>, c: &Connection, _: &str, name: &str) -> String {
        text.store::<T>("bars", &c.layout, "e", name, c.first)
    }
}

impl<T: Value> Output for OwnBar<T> {}

/// y = x, for any value.
pub struct Identity<T>(PhantomData<fn() -> T>);

impl<T: Value> Kernel for Identity<T> {
    type Arguments = (T,);
    type Output = T;
    const NAME: &'static str = "identity";
    const ARGUMENTS: &'static [&'static str] = &["x"];

    #[inline(always)]
    fn forward<R: Real>((x,): (With<T, R>,)) -> With<T, R> {
        x
    }
    #[inline(always)]
    fn pullback<R: Real>(_: (With<T, R>,), out_bar: With<T, R>) -> (With<T, R>,) {
        (out_bar,)
    }
    fn definition() -> &'static Definition {
        static IDENTITY: Definition = Definition { name: "identity", place: "", primitive: true, texts: &[] };
        &IDENTITY
    }
}
