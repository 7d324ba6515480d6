//! Soft solids and sheets: forces of elements between particles.
//!
//! What elements do is in `pullback_soft`; here it becomes forces of a model, with params that have names.

mod bending;
mod numbers;
mod sail;
mod sheet;
mod solid;
mod touching;

pub use bending::Bending;
pub use pullback_soft::{Corotated, Material, NeoHookean, StVenantKirchhoff, material};
pub use sail::Sail;
pub use sheet::Sheet;
pub use solid::Solid;
pub use touching::{SOFT_CONTACT, Touching};
