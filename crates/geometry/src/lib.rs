//! Shapes that touch: signed distance, contact points and normals, each with its pullback.
//!
//! Detection decides which features touch (a corner and a face, two edges, which end); point, normal and gap are then
//! continuous functions of poses and sizes, written as kernels. `docs/contact-shapes.md` has the table of all pairs.

mod bounds;
mod broad;
mod cells;
mod contact;
mod core;
mod corners;
mod detect;
mod feature;
mod heights;
mod hull;
mod kind;
mod pair;
mod plane;
mod round;
mod round_cells;
mod round_core;
mod rule;
mod sphere;
mod surface;
mod topology;
mod tree;

pub use bounds::Bounds;
pub use broad::Broad;
pub use contact::Contact;
pub use corners::Corners;
pub use feature::Feature;
pub use heights::Heights;
pub use hull::{Hull, HullError};
pub use kind::Kind;
pub use pair::{Pair, Placed, PlacedBar};
pub use surface::{Surface, SurfaceError};

/// The snippets of the document are tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../docs/contact-shapes.md")]
    pub struct ContactShapes;
}

#[cfg(test)]
mod tests {
    #[test]
    fn cuda_text_is_right() {
        println!("{}", pullback_kernel::cuda::check::all().expect("the kernels' CUDA text"));
    }
}
