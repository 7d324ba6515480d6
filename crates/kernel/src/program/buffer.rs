//! Buffers: named arrays of values in a program's arena.

use std::marker::PhantomData;

use crate::Value;

/// A buffer of values of type `T` (named at `f64`), whose cotangent the pullback computes.
pub struct Buffer<T: Value> {
    pub(crate) id: usize,
    pub(crate) ty: PhantomData<fn() -> T>,
}

/// A buffer that pullbacks do not go through: nothing is computed for its cotangent.
pub struct Constant<T: Value> {
    pub(crate) id: usize,
    pub(crate) ty: PhantomData<fn() -> T>,
}

/// Indices or kinds, one per element, fixed when the program is built.
pub struct Indices<K> {
    pub(crate) id: usize,
    pub(crate) ty: PhantomData<fn() -> K>,
}

impl<T: Value> Buffer<T> {
    pub(crate) fn new(id: usize) -> Self {
        Buffer { id, ty: PhantomData }
    }

    /// The same buffer as a constant: cotangents stop here. Tangents do not: a forward pass on duals goes through, so
    /// that it is the pushforward of the whole program, not the transpose of this pullback.
    pub fn fixed(self) -> Constant<T> {
        Constant { id: self.id, ty: PhantomData }
    }
}

macro_rules! handle {
    ($($name:ident $($bound:ident)?),*) => {$(
        impl<T $(: $bound)?> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T $(: $bound)?> Copy for $name<T> {}
        impl<T $(: $bound)?> std::fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.id)
            }
        }
    )*};
}
handle!(Buffer Value, Constant Value, Indices);

/// Memory of one operation alone: what its forward pass leaves for its pullback.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    pub(crate) id: usize,
}

mod sealed {
    /// Buffers are those of this crate.
    pub trait Sealed {}
    impl<T: super::Value> Sealed for super::Buffer<T> {}
    impl<T: super::Value> Sealed for super::Constant<T> {}
}

/// A buffer of either sort.
pub trait AnyBuffer: Copy + sealed::Sealed {
    /// What it holds.
    type Item: Value;
    /// Its place in the program.
    fn id(self) -> usize;
}

impl<T: Value> AnyBuffer for Buffer<T> {
    type Item = T;
    fn id(self) -> usize {
        self.id
    }
}

impl<T: Value> AnyBuffer for Constant<T> {
    type Item = T;
    fn id(self) -> usize {
        self.id
    }
}

/// Who gives a buffer its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The caller, before each forward pass. Its cotangent is that of the last pullback.
    Input,
    /// The caller. Its cotangent adds up over pullbacks until it is cleared.
    Parameter,
    /// The caller. Nobody asks for its cotangent, and nothing is computed for it.
    Given,
    /// The builder, once.
    Constant,
    /// An operation.
    Computed,
    /// An operation, for itself: nobody else can read it.
    Memory,
}

impl Role {
    /// Does the caller set it?
    pub(crate) fn is_set(self) -> bool {
        matches!(self, Role::Input | Role::Parameter | Role::Given)
    }
}

/// What a program knows of a buffer.
#[derive(Clone, Debug)]
pub struct BufferInfo {
    /// Its name.
    pub name: String,
    /// How many values it holds.
    pub len: usize,
    /// How many numbers make a value.
    pub numbers: usize,
    /// Who gives it its values.
    pub role: Role,
    /// Elements reach it through indices: its values lie in rows.
    pub(crate) gathered: bool,
    /// Rows after the values, for what threads add in place of vertices that they share.
    pub(crate) extra_rows: usize,
    /// The values of a constant.
    pub(crate) data: Option<Vec<f64>>,
}
