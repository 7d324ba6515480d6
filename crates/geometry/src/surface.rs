//! [`Surface`]: ground of triangles.

use std::sync::Arc;

use pullback_kernel::prelude::*;

use crate::topology::Topology;

/// Triangles with solid ground below them: which corners they join. Where the corners are is in its sizes, which start as
/// [`Surface::corners`].
#[derive(Clone, Debug)]
pub struct Surface {
    corners: Vec<f64>,
    pub(crate) topology: Arc<Topology>,
}
