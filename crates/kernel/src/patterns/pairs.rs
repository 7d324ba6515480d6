//! `pairs`: `elements` over a list made at run time (contacts), with a capacity and a count.
//!
//! The list and the order of its sums are made when it is set, and stay for the pullback: the same list, kept. Nothing
//! is allocated then. In a batch every world has a list of its own.

use super::elements::Corners;
use crate::program::plan::TableRef;

/// A list of up to a fixed number of elements, each touching `N` vertices, made at run time.
#[derive(Clone, Copy, Debug)]
pub struct List<const N: usize> {
    pub(crate) list: usize,
}

impl<const N: usize> List<N> {
    /// To reach the vertices that the elements of the list touch: `x.at(list.corners())`.
    pub fn corners(self) -> Corners<N> {
        Corners { table: TableRef::List(self.list) }
    }
}
