//! Ports: how a kernel's argument or result is connected to a buffer.

use super::c_text::CText;
use crate::program::layout::padded;
use crate::program::plan::{Connection, Context, TableRef};
use crate::scalar::lanes::Lane;
use crate::scalar::{Local, Real};
use crate::{Argument, Value, With, numbers, numbers_mut};

/// Ports are handles: copied whatever they are of.
macro_rules! copy_port {
    ([$($generics:tt)*] $port:ty) => {
        impl<$($generics)*> Clone for $port {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$($generics)*> Copy for $port {}
    };
}
pub(crate) use copy_port;

/// What the program must know of a port.
#[derive(Clone, Copy, Debug)]
pub struct PortInfo {
    /// The buffer's place; for indices, the place of their array.
    pub buffer: usize,
    pub reach: Reach,
    /// Whether cotangents go through it.
    pub active: bool,
    /// How many numbers a value of the buffer has.
    pub numbers: usize,
    /// How many values it reaches through a table.
    pub arity: usize,
}

/// Which values of its buffer a port reaches from an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// The element's own.
    Own,
    /// Those of the vertices that the element touches.
    At(TableRef),
    /// The only one.
    Shared,
    /// The parent's, in this forest; the root's parent is the one value of another buffer.
    Parent { forest: usize, root: usize },
    /// The children's, in this forest.
    Children { forest: usize },
    /// The element's own, and in the pullback what its children's `Parent` ports give it.
    OwnForChildren { forest: usize },
    /// The element's own, and in the pullback what its parent's `Children` port gives it.
    OwnForParent { forest: usize },
    /// The element's own index or kind.
    Index,
    /// All: the operation is written by hand.
    ByHand,
    /// The element's own cotangent, whatever the pass: where a fragment's own pullback begins and ends.
    OwnBar,
}

/// Which element, in which world.
#[derive(Clone, Copy)]
pub struct Place {
    pub element: usize,
    pub world: usize,
    /// How many of the lanes, counted from the first, stand for elements.
    pub lanes: usize,
}

/// Which of a buffer's two arrays.
#[derive(Clone, Copy, PartialEq)]
pub enum Field {
    Values,
    Bars,
}

impl<S> Context<'_, S> {
    #[inline(always)]
    pub(crate) fn field(&self, field: Field) -> *mut S {
        match field {
            Field::Values => self.values,
            Field::Bars => self.bars,
        }
    }
}

/// A port: it gathers a value for an element, and scatters one from it.
///
/// # Safety
/// Both stay inside the arrays that the context and the connection describe, for elements up to the padded count.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how the kernel sees a buffer",
    note = "write `b.own()`, `b.at(corners)` or `b.shared()` for a buffer `b`, and `i.own()` for indices"
)]
pub unsafe trait Input: Copy + Send + Sync + 'static {
    /// What it gives the kernel.
    type Value: Argument;
    /// Whether cotangents go through it.
    const ACTIVE: bool;
    /// Whether it is the same index in all lanes.
    const INDEX: bool = false;

    /// What the program must know.
    fn info(&self) -> PortInfo;

    /// Connects it to another buffer of the same sort.
    fn rebind(&mut self, buffer: usize);

    /// The value for the element at `place`.
    ///
    /// # Safety
    /// The connection is this port's in the context's plan, and the place is in its range.
    unsafe fn gather<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        connection: &Connection,
        field: Field,
        place: Place,
    ) -> With<Self::Value, L>;

    /// Gives the field the element's contribution.
    ///
    /// # Safety
    /// As for [`Input::gather`], and no other thread has an element of the same place.
    unsafe fn scatter<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        connection: &Connection,
        field: Field,
        place: Place,
        value: With<Self::Value, L>,
    );

    /// C++ that declares `name` with the value for element `e` in world `w`.
    fn c_gather(&self, text: &mut CText<'_>, c: &Connection, field: &str, name: &str) -> String;

    /// C++ that gives the field the contribution `name` of element `e` in world `w`.
    fn c_scatter(&self, text: &mut CText<'_>, c: &Connection, field: &str, name: &str) -> String;

    /// Is the index the same for `width` elements?
    fn uniform<S>(&self, _context: &Context<'_, S>, _element: usize, _width: usize) -> bool {
        true
    }
}

/// A port for a result.
pub trait Output: Input {}

/// The ports of a kernel's arguments, or of its results.
///
/// # Safety
/// As for [`Input`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tuple of ports",
    note = "write a tuple with one port for each argument of the kernel, also for one: `(a.own(),)`"
)]
pub unsafe trait Inputs: Copy + Send + Sync + 'static {
    /// What they give the kernel.
    type Values: Argument;
    /// Whether one of them is an index.
    const INDEX: bool;

    /// What the program must know of each.
    fn infos(&self) -> Vec<PortInfo>;

    /// Connects port `i` to another buffer of the same sort.
    fn rebind(&mut self, i: usize, buffer: usize);

    /// The values for the element at `place`.
    ///
    /// # Safety
    /// As for [`Input::gather`], with one connection per port.
    unsafe fn gather<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        connections: &[Connection],
        field: Field,
        place: Place,
    ) -> With<Self::Values, L>;

    /// Gives the fields the element's contributions: those of active ports.
    ///
    /// # Safety
    /// As for [`Input::scatter`], with one connection per port.
    unsafe fn scatter<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        connections: &[Connection],
        field: Field,
        place: Place,
        values: With<Self::Values, L>,
    );

    /// Are all indices the same for `width` elements?
    fn uniform<S>(&self, context: &Context<'_, S>, element: usize, width: usize) -> bool;

    /// C++ that declares `a0`, `a1`, ... (with `a` for `prefix`), the values for element `e` in world `w`.
    fn c_gather(&self, text: &mut CText<'_>, connections: &[Connection], field: &str, prefix: &str)
    -> String;

    /// C++ that scatters the active ones of `parts`.
    fn c_scatter(&self, text: &mut CText<'_>, connections: &[Connection], field: &str, parts: &str)
    -> String;

    /// How many ports.
    const COUNT: usize;
}

/// The ports of a kernel's results.
pub trait Outputs: Inputs {
    /// Whether the kernel's result is a tuple.
    const TUPLE: bool;
}

macro_rules! tuples {
    ($($($name:ident $i:tt),*;)*) => {$(
        // SAFETY: each port keeps its own promise.
        unsafe impl<$($name: Input),*> Inputs for ($($name,)*) {
            type Values = ($($name::Value,)*);
            const INDEX: bool = false $(|| $name::INDEX)*;

            fn infos(&self) -> Vec<PortInfo> {
                vec![$(self.$i.info()),*]
            }
            fn rebind(&mut self, i: usize, buffer: usize) {
                match i {
                    $($i => self.$i.rebind(buffer),)*
                    _ => {}
                }
            }
            #[inline(always)]
            unsafe fn gather<L: Lane, const BATCH: bool>(
                &self,
                context: &Context<'_, L::Element>,
                connections: &[Connection],
                field: Field,
                place: Place,
            ) -> With<Self::Values, L> {
                // SAFETY: the caller's promise is the same.
                unsafe { ($(self.$i.gather::<L, BATCH>(context, connections.get_unchecked($i), field, place),)*) }
            }
            #[inline(always)]
            unsafe fn scatter<L: Lane, const BATCH: bool>(
                &self,
                context: &Context<'_, L::Element>,
                connections: &[Connection],
                field: Field,
                place: Place,
                values: With<Self::Values, L>,
            ) {
                $(if $name::ACTIVE {
                    // SAFETY: the caller's promise is the same.
                    unsafe {
                        let connection = connections.get_unchecked($i);
                        if !connection.mute {
                            self.$i.scatter::<L, BATCH>(context, connection, field, place, values.$i);
                        }
                    }
                })*
            }
            fn uniform<S>(&self, context: &Context<'_, S>, element: usize, width: usize) -> bool {
                true $(&& self.$i.uniform(context, element, width))*
            }
            fn c_gather(&self, text: &mut CText<'_>, connections: &[Connection], field: &str, prefix: &str) -> String {
                let mut code = String::new();
                $(code += &self.$i.c_gather(text, &connections[$i], field, &format!("{prefix}{}", $i));)*
                code
            }
            fn c_scatter(&self, text: &mut CText<'_>, connections: &[Connection], field: &str, parts: &str) -> String {
                let mut code = String::new();
                $(if $name::ACTIVE && !connections[$i].mute {
                    code += &self.$i.c_scatter(text, &connections[$i], field, &format!("{parts}._{}", $i));
                })*
                code
            }
            const COUNT: usize = 0 $(+ { let _ = $i; 1 })*;
        }
        impl<$($name: Output),*> Outputs for ($($name,)*) {
            const TUPLE: bool = true;
        }
    )*};
}
tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, M 11;
}

/// One port that is a kernel's whole result, rather than a tuple of one.
#[derive(Clone, Copy, Debug)]
pub struct Single<P>(pub P);

// SAFETY: the port keeps its own promise.
unsafe impl<P: Output> Inputs for Single<P> {
    type Values = P::Value;
    const INDEX: bool = false;

    fn infos(&self) -> Vec<PortInfo> {
        vec![self.0.info()]
    }
    fn rebind(&mut self, _: usize, buffer: usize) {
        self.0.rebind(buffer);
    }
    #[inline(always)]
    unsafe fn gather<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        connections: &[Connection],
        field: Field,
        place: Place,
    ) -> With<P::Value, L> {
        // SAFETY: the caller's promise is the same.
        unsafe { self.0.gather::<L, BATCH>(context, connections.get_unchecked(0), field, place) }
    }
    #[inline(always)]
    unsafe fn scatter<L: Lane, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        connections: &[Connection],
        field: Field,
        place: Place,
        value: With<P::Value, L>,
    ) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.0.scatter::<L, BATCH>(context, connections.get_unchecked(0), field, place, value) }
    }
    fn uniform<S>(&self, _: &Context<'_, S>, _: usize, _: usize) -> bool {
        true
    }
    fn c_gather(
        &self,
        text: &mut CText<'_>,
        connections: &[Connection],
        field: &str,
        prefix: &str,
    ) -> String {
        self.0.c_gather(text, &connections[0], field, &format!("{prefix}0"))
    }
    fn c_scatter(
        &self,
        text: &mut CText<'_>,
        connections: &[Connection],
        field: &str,
        parts: &str,
    ) -> String {
        self.0.c_scatter(text, &connections[0], field, parts)
    }
    const COUNT: usize = 1;
}

impl<P: Output> Outputs for Single<P> {
    const TUPLE: bool = false;
}

// ---- rows of numbers, to and from lanes ----

/// A value whose numbers lie `stride` apart, each for all lanes side by side.
///
/// # Safety
/// `source` is readable there.
#[inline(always)]
pub(crate) unsafe fn load_side_by_side<T: Value, L: Lane>(
    source: *const L::Element,
    stride: usize,
) -> With<T, L> {
    let mut value = With::<T, L>::zero();
    let parts = numbers_mut::<T, L>(&mut value);
    for c in 0..T::LEN {
        // SAFETY: the caller's promise.
        parts[c] = unsafe { L::load(source.add(c * stride)) };
    }
    value
}

/// The inverse of [`load_side_by_side`].
///
/// # Safety
/// `target` is writable there.
#[inline(always)]
pub(crate) unsafe fn store_side_by_side<T: Value, L: Lane>(
    target: *mut L::Element,
    stride: usize,
    value: With<T, L>,
) {
    let parts = numbers::<T, L>(&value);
    for c in 0..T::LEN {
        // SAFETY: the caller's promise.
        unsafe { parts[c].store(target.add(c * stride)) };
    }
}

/// A value from rows, one row for each lane.
///
/// # Safety
/// Each row of `padded(LEN)` numbers is readable (4 where that is 1).
#[inline(always)]
pub(crate) unsafe fn load_from_rows<T: Value, L: Lane>(
    source: *const L::Element,
    rows: &[usize; 16],
) -> With<T, L> {
    let mut value = With::<T, L>::zero();
    let parts = numbers_mut::<T, L>(&mut value);
    let mut c = 0;
    while c < T::LEN {
        // SAFETY: the caller's promise.
        let four = unsafe { L::load_rows(source.add(c), rows) };
        let mut k = 0;
        while k < 4 && c + k < T::LEN {
            parts[c + k] = four[k];
            k += 1;
        }
        c += 4;
    }
    value
}

/// The inverse of [`load_from_rows`]; the padding becomes zero.
///
/// # Safety
/// Each row of `padded(LEN)` numbers is writable.
#[inline(always)]
pub(crate) unsafe fn store_to_rows<T: Value, L: Lane>(
    target: *mut L::Element,
    rows: &[usize; 16],
    value: With<T, L>,
) {
    let parts = numbers::<T, L>(&value);
    if padded(T::LEN) == 1 {
        for l in 0..L::WIDTH {
            // SAFETY: the caller's promise.
            unsafe { target.add(rows[l]).write(parts[0].lane(l)) };
        }
        return;
    }
    let mut c = 0;
    while c < T::LEN {
        let mut four = [L::from_f64(0.0); 4];
        let mut k = 0;
        while k < 4 && c + k < T::LEN {
            four[k] = parts[c + k];
            k += 1;
        }
        // SAFETY: the caller's promise.
        unsafe { L::store_rows(four, target.add(c), rows) };
        c += 4;
    }
}

/// The sum of two values.
#[inline(always)]
pub(crate) fn plus<T: Argument, L: Real>(a: With<T, L>, b: With<T, L>) -> With<T, L> {
    a.plus(b)
}
