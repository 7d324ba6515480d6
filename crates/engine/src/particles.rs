//! Particles and the forces on them, one file each.

mod actuator;
mod drag;
mod gravity;
mod ground;
mod push;
mod spring;

pub use actuator::Actuators;
pub use drag::Drag;
pub(crate) use drag::wind;
pub(crate) use gravity::Gravity;
pub(crate) use ground::OwnGround;
pub use push::{Oscillating, Push};
pub use spring::Springs;

pub(crate) fn vec3([x, y, z]: [f64; 3]) -> pullback_kernel::prelude::Vec3 {
    pullback_kernel::prelude::Vec3 { x, y, z }
}
