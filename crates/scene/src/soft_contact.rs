//! How surfaces of soft things touch themselves and each other.

/// How surfaces of soft solids and sheets touch themselves and each other: they push as they come nearer than a thickness, without bound as
/// they come together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftContact {
    /// The distance below which they push [m].
    pub thickness: f64,
    /// Stiffness at half the thickness [N/m], of each vertex and triangle, and of each two edges.
    pub ke: f64,
    /// Damping [N·s/m].
    pub kd: f64,
    /// Slope of friction at low speed [N·s/m].
    pub kf: f64,
    /// Coefficient of friction.
    pub mu: f64,
    /// The most pairs that touch at once; `None`: as many as eight for each vertex, and 256.
    pub most: Option<usize>,
}
