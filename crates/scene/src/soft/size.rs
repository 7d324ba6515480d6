//! Sizes of what generators make: lengths above zero, and counts that memory can hold.

use crate::check::{MOST, Number, too_many};
use crate::error::Invalid;

/// Lengths [m], by their names.
pub(super) fn lengths<const N: usize>(named: [(&'static str, f64); N]) -> Result<(), Invalid> {
    named.into_iter().try_for_each(|(name, value)| Number::positive("length", "m").check(name, value))
}

/// Numbers of cells: none of them is 0.
pub(super) fn cells(path: &str, cells: &[usize]) -> Result<(), Invalid> {
    match cells.iter().position(|&count| count == 0) {
        Some(at) => Err(Invalid::new(format!("{path}[{at}]"), "the number of cells is 0", "write 1 or more")),
        None => Ok(()),
    }
}

/// The product, when a mesh may have so many of something.
pub(super) fn product(path: &str, what: &str, factors: &[usize]) -> Result<usize, Invalid> {
    let count = factors.iter().fold(1usize, |product, &factor| product.saturating_mul(factor));
    if count > MOST { Err(too_many(path, count, what)) } else { Ok(count) }
}
