//! [`Dual`]: a value and its tangent.
use super::Real;
/// x + x_dot ε, ε² = 0
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Dual<S> {
    /// The value x.
    pub value: S,
    /// The tangent x_dot.
    pub tangent: S,
}
