//! Soft bodies: solids of tetrahedra, whose corners are particles.

mod elements;
mod material;
mod solid;
mod strain;

pub use elements::{Elastic, Elements, Viscous};
pub use material::{
    Corotated, Material, NeoHookean, StVenantKirchhoff, corotated, neo_hookean, st_venant_kirchhoff,
};
pub use solid::{Elasticity, Solid};
pub use strain::{deformation, dissipation, viscous_force};
