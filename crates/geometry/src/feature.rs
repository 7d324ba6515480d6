//! [`Feature`]: which parts of two shapes touch, as two whole numbers.

/// Which features of two shapes touch, in a form that can be stored.
///
/// What the numbers mean is a matter of the pair that gave them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Feature(pub u32, pub u32);

/// Which cells of two cores p and q touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// A corner of p and a corner of q.
    Corners,
    /// A corner of p and an edge of q.
    CornerEdge,
    /// A corner of p and a face of q.
    CornerFace,
    /// Edges that cross, with the normal along their cross product.
    Edges,
    /// Edges that cross, with the normal against their cross product.
    EdgesBack,
    /// An edge of p where it passes over a side of a face of q.
    EdgeSide,
    /// A face of p over the start of a side of a face of q.
    FaceSide,
    /// The lowest point of a round p over a face of q, of a cylinder that of one of its ends.
    LowestFace,
    /// A corner of p and a round q as it is.
    CornerRound,
    /// An edge of p and a round q as it is, of a cylinder its side.
    EdgeRound,
}

const TOUCHES: [Touch; 10] = [
    Touch::Corners,
    Touch::CornerEdge,
    Touch::CornerFace,
    Touch::Edges,
    Touch::EdgesBack,
    Touch::EdgeSide,
    Touch::FaceSide,
    Touch::LowestFace,
    Touch::CornerRound,
    Touch::EdgeRound,
];

/// Bits of a number that name a cell; the three above them name the touch.
const BITS: u32 = 29;
const MASK: u32 = (1 << BITS) - 1;
/// Added to a touch whose p is the second shape.
const SWAPPED: u32 = 16;

impl Touch {
    /// Cell `i` of p and `j` of q; `swapped` if p is the second shape of the pair.
    #[inline]
    pub fn feature(self, i: u32, j: u32, swapped: bool) -> Feature {
        let code = self as u32 + if swapped { SWAPPED } else { 0 };
        let (i, j) = if swapped { (j, i) } else { (i, j) };
        Feature(((code & 7) << BITS) | (i & MASK), ((code >> 3) << BITS) | (j & MASK))
    }

    /// The inverse of [`Touch::feature`]: the touch, the cells of p and q, swapped.
    #[inline]
    pub fn of(feature: Feature) -> (Touch, usize, usize, bool) {
        let code = (feature.0 >> BITS) | ((feature.1 >> BITS) << 3);
        let (i, j) = ((feature.0 & MASK) as usize, (feature.1 & MASK) as usize);
        let touch = TOUCHES[((code & (SWAPPED - 1)) as usize).min(TOUCHES.len() - 1)];
        if code & SWAPPED == 0 { (touch, i, j, false) } else { (touch, j, i, true) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_come_back() {
        for touch in TOUCHES {
            for swapped in [false, true] {
                let feature = touch.feature(77, (1 << 29) - 1, swapped);
                assert_eq!(Touch::of(feature), (touch, 77, (1 << 29) - 1, swapped));
            }
        }
        assert_eq!(Touch::Corners.feature(0, 0, false), Feature(0, 0));
    }
}
