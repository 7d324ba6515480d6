//! Soft bodies: solids of tetrahedra, whose corners are particles.

mod deformation;
mod material;
mod solid;

pub use deformation::{deformation, dissipation, viscous_force};
pub use material::{
    Corotated, Material, NeoHookean, StVenantKirchhoff, corotated, neo_hookean, st_venant_kirchhoff,
};
pub use solid::{Elasticity, Solid};
