//! [`Corners`]: which corners of a shape with many of them a contact reads.

use crate::feature::{Feature, Touch};
use crate::pair::Pair;
use crate::rule::Rule;
use crate::topology::Topology;

/// A few corners of a hull or of ground, each once: those of the cells that a [`Feature`] names.
///
/// With them a contact is asked for with the sizes of these corners alone ([`Pair::contact_of`]), in their order: what it costs
/// does not depend on how many corners there are. None stand for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Corners {
    corners: [u32; Corners::MOST],
    len: usize,
}

impl Corners {
    /// The most corners of one shape that a feature names: three of a face's plane, and the two ends of a side.
    pub const MOST: usize = 5;

    /// All corners: sizes are given whole.
    pub const ALL: Corners = Corners { corners: [0; Corners::MOST], len: 0 };

    /// Their numbers.
    #[inline(always)]
    pub fn list(&self) -> &[u32] {
        &self.corners[..self.len]
    }

    /// The place of corner `i` among those that sizes are given of.
    #[inline(always)]
    pub(crate) fn place(&self, i: usize) -> usize {
        let mut place = if self.len == 0 { i } else { 0 };
        for (k, &corner) in self.list().iter().enumerate() {
            if corner as usize == i {
                place = k;
            }
        }
        place
    }

    fn with(mut self, corners: &[u32]) -> Self {
        for &corner in corners {
            if !self.list().contains(&corner) {
                self.corners[self.len] = corner;
                self.len += 1;
            }
        }
        self
    }

    fn of(corners: &[u32]) -> Self {
        Corners::ALL.with(corners)
    }
}

impl Pair {
    /// The corners that a feature names, of the first shape and of the second; of shapes without corners they mean nothing.
    pub fn corners(&self, feature: Feature) -> [Corners; 2] {
        let [first, second] = match self.rule {
            Rule::Convex | Rule::Ground => of_cells(feature, self.topologies()),
            _ => [Corners::ALL, Corners::of(&[feature.0])],
        };
        if self.swapped { [second, first] } else { [first, second] }
    }
}

/// What [`crate::core::contact`] reads of two cores.
fn of_cells(feature: Feature, [a, b]: [&Topology; 2]) -> [Corners; 2] {
    let (touch, i, j, swapped) = Touch::of(feature);
    let (p, q) = if swapped { (b, a) } else { (a, b) };
    let corner = |i: usize| Corners::of(&[i as u32]);
    let edge = |core: &Topology, i: usize| Corners::of(&core.edges[i].ends);
    let face = |core: &Topology, i: usize| Corners::of(&core.faces[i].plane);
    let side = |core: &Topology, i: usize| {
        let side = core.sides[i];
        face(core, side.face as usize).with(&[side.start, side.end])
    };
    let (of_p, of_q) = match touch {
        Touch::Corners => (corner(i), corner(j)),
        Touch::CornerEdge => (corner(i), edge(q, j)),
        Touch::CornerFace => (corner(i), face(q, j)),
        Touch::Edges | Touch::EdgesBack => (edge(p, i), edge(q, j)),
        Touch::EdgeSide => (edge(p, i), side(q, j)),
        Touch::FaceSide => (face(p, i), side(q, j)),
        // Of round cores, which have no corners, nothing.
        Touch::LowestFace => (Corners::ALL, face(q, j)),
        Touch::CornerRound => (corner(i), Corners::ALL),
        Touch::EdgeRound => (edge(p, i), Corners::ALL),
    };
    if swapped { [of_q, of_p] } else { [of_p, of_q] }
}
