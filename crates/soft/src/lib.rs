//! Soft solids, sheets and hinges: energies of a deformation, their forces, and what is prepared of a shape at rest.
//!
//! What something is made of is an energy; forces and the derivatives of forces are made of it. A tetrahedron and a triangle
//! have one deformation gradient F each, and the energy is a density of F [J/m³] times their volume at rest; a hinge is the
//! edge between two triangles, and the energy of bending is one of the angles there.
//!
//! | file | what it adds to a program |
//! |---|---|
//! | [`rest`] | once: inverse edges, volumes, areas, angles at rest, and masses of corners, of a shape that is differentiated |
//! | [`material`](Material) | forces and energy of tetrahedra, by any [`Material`] |
//! | [`membrane`] | forces and energy of a sheet in its plane |
//! | [`plate`] | once: what the hinges of a sheet have to do with each other |
//! | [`bending`] | forces and energy of a sheet that bends |
//! | [`hinge`] | forces that damp hinges |
//! | [`air`] | lift and drag of a sheet in the wind |
//! | [`vertex`] | positions and velocities side by side, as elements read them |
//!
//! Sweeps over elements are compiled where these functions are, in this crate, and not where they are called: each is compiled for every
//! instruction set, width and number.

pub mod air;
pub mod bending;
mod density;
pub mod hinge;
mod material;
pub mod membrane;
mod neohookean;
pub mod plate;
pub mod rest;
mod strain;
pub mod vertex;

pub use bending::Plates;
pub use density::{Corotated, StVenantKirchhoff, corotated, st_venant_kirchhoff};
pub use material::{Material, Tetrahedra};
pub use membrane::Triangles;
pub use neohookean::{NeoHookean, neo_hookean};
pub use strain::{corner_forces, deformation, viscous_stress};
pub use vertex::Vertex;

#[cfg(test)]
mod tests {
    use pullback_kernel::cuda::check;

    #[test]
    fn the_cuda_text_of_the_kernels_is_right() {
        println!("{}", check::all().expect("the kernels' CUDA text"));
    }
}
