//! Detection: which cells of two cores touch. It decides, and never says where: that is for kernels, which are
//! differentiated.

mod axes;
mod body;
mod clip;
mod convex;
mod expand;
mod found;
mod gjk;
mod ground;
mod triangles;

use pullback_kernel::prelude::*;

use crate::core::Core;
use crate::feature::Feature;
use body::Body;
use found::{Candidates, Found};

/// Features of two convex cores that are closer than a margin. Returns how many.
pub(crate) fn convex(
    a: Core<'_, f64>,
    b: Core<'_, f64>,
    margin: f64,
    slots: usize,
    features: &mut [Feature],
) -> usize {
    let mut found = Found::new(a, b, margin);
    convex::detect(&Body::new(a), &Body::new(b), margin, &mut found);
    found.write(slots, features)
}

/// The corners of a core that are closer to a plane than a margin: the lowest. Returns how many.
pub(crate) fn lowest(
    core: Core<'_, f64>,
    plane: &Pose,
    margin: f64,
    slots: usize,
    features: &mut [Feature],
) -> usize {
    let n = plane.rotation.z;
    let mut candidates = Candidates::new(margin);
    for i in 0..core.topology.corners as u32 {
        let x = core.at(i);
        candidates.offer(Feature(i, 0), dot(n, x - plane.position), x);
    }
    candidates.write(slots, features)
}

/// Features of a convex core and of the ground below it, whose corners have moved so far, that are closer than a margin.
/// Returns how many.
pub(crate) fn ground(
    a: Core<'_, f64>,
    (b, moved): (Core<'_, f64>, [f64; 3]),
    margin: f64,
    slots: usize,
    features: &mut [Feature],
) -> usize {
    let mut found = Found::new(a, b, margin);
    ground::detect(&Body::new(a), (&Body::new(b), moved), margin, &mut found);
    found.write(slots, features)
}
