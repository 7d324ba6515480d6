//! Soft surfaces that touch themselves and each other: which parts are near, and the forces between them, with their pullbacks.
//!
//! Detection decides which vertices and triangles, and which two edges, are nearer than the thickness, and which of their
//! corners, sides and faces are nearest ([`OnTriangle`], [`OnEdges`]). What is left is a continuous function of positions and
//! velocities, written as kernels: `law.rs` is the file to read first. [`surface_contact`] adds all of it to a program.

mod contact;
mod crossings;
mod detect;
mod distance;
mod finder;
mod friction;
mod law;
mod pool;
mod slip;
mod surface;
mod tree;

pub use contact::{Moving, Touch, surface_contact};
pub use crossings::crossings;
pub use detect::{clearance, nearest_of_edges, nearest_on_triangle};
pub use distance::{OnEdges, OnTriangle, apart, edge_weights, triangle_weights};
pub use friction::friction_per_speed;
pub use law::{Law, barrier, crossing_share, edge_forces, triangle_forces};
pub use surface::{Surface, SurfaceError};

#[cfg(test)]
mod tests {
    #[test]
    fn cuda_text_is_right() {
        println!("{}", pullback_kernel::cuda::check::all().expect("the kernels' CUDA text"));
    }
}
