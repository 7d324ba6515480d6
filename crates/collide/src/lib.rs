//! Soft surfaces that touch themselves and each other: which parts are near, and the forces between them, with their pullbacks.
//!
//! Detection decides which vertices and triangles, and which two edges, are nearer than the thickness, and which of their
//! corners, sides and faces are nearest ([`OnTriangle`], [`OnEdges`]). What is left is a continuous function of positions and
//! velocities, written as kernels: `law.rs` is the file to read first. [`surface_contact`] adds all of it to a program.
//!
//! ```
//! use std::sync::Arc;
//!
//! use pullback_collide::{Moving, Surface, Touch, surface_contact};
//! use pullback_kernel::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two triangles, 3 mm apart, with a thickness of 5 mm.
//! let surface = Arc::new(Surface::new(vec![[0, 1, 2], [3, 4, 5]], 6)?);
//! let mut p = Program::builder();
//! let moving = Moving { x: p.input("x", 6), v: p.input("v", 6) };
//! let [thickness, ke, kd, kf, mu] = ["thickness", "ke", "kd", "kf", "mu"].map(|name| p.parameter(name, 1));
//! let touch = Touch { thickness, ke, kd, kf, mu };
//! let force = surface_contact(&mut p, "contact of surfaces", &surface, moving, touch, 100);
//! p.output(force);
//! let mut w = p.finish()?.workspace::<f64>(RunOptions::default());
//!
//! let corner = |x, y, z| Vec3 { x, y, z };
//! let flat = [corner(0.0, 0.0, 0.0), corner(0.1, 0.0, 0.0), corner(0.0, 0.1, 0.0)];
//! let over = flat.map(|x| x + corner(0.01, 0.02, 0.003));
//! w.write(moving.x, &[flat, over].concat())?;
//! w.write(moving.v, &[Vec3::default(); 6])?;
//! for (number, value) in [(thickness, 0.005), (ke, 100.0), (kd, 0.0), (kf, 0.1), (mu, 0.5)] {
//!     w.write(number, &[value])?;
//! }
//! w.forward();
//! let forces = w.read(force);
//! assert!(forces[3].z > 0.0 && forces[..3].iter().all(|f| f.z <= 0.0));
//!
//! // How much more it would be pushed up if it were higher: less.
//! let mut up = [Vec3::default(); 6];
//! up[3].z = 1.0;
//! w.seed(force, &up)?;
//! w.pullback();
//! assert!(w.bars(moving.x)[3].z < 0.0 && w.bars(ke)[0] > 0.0);
//! # Ok(())
//! # }
//! ```

mod contact;
mod crossings;
mod detect;
mod distance;
mod finder;
mod friction;
mod law;
mod reach;
mod slip;
mod stiffness;
mod surface;
mod tree;

pub use contact::{Moving, Touch, surface_contact};
pub use crossings::{crossings, first_crossing};
pub use detect::{clearance, nearest_of_edges, nearest_on_triangle};
pub use distance::{OnEdges, OnTriangle, apart, edge_weights, triangle_weights};
pub use friction::friction_per_speed;
pub use law::{Law, barrier, crossing_share, edge_forces, triangle_forces};
pub use reach::{Gone, Reach, Ways};
pub use stiffness::{Matrix, PairStiffness, Stiffness};
pub use surface::{Surface, SurfaceError};

#[cfg(test)]
mod tests {
    #[test]
    fn cuda_text_is_right() {
        println!("{}", pullback_kernel::cuda::check::all().expect("the kernels' CUDA text"));
    }
}
