//! The part of a lattice tetrahedron that is inside, cut into tetrahedra.

use super::lattice::Lattice;

/// Where a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Inside,
    /// Moved onto the surface.
    On,
    Outside,
}

/// A point of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Corner {
    Node(u32),
    /// Where the edge from a node inside to one outside is cut.
    Cut(u32, u32),
}

/// The tetrahedra inside, with the winding of the whole: at least one node must be inside.
///
/// All come from one operation, which keeps the winding: an edge is cut, and one of its ends is put there, which leaves the
/// half on the side of the other end.
pub(super) fn inside(lattice: &Lattice, nodes: [u32; 4], sides: [Side; 4]) -> Vec<[Corner; 4]> {
    let (nodes, inner, outer) = sorted(nodes, sides);
    let n = |at: usize| Corner::Node(nodes[at]);
    let cut = |inside: usize, outside: usize| Corner::Cut(nodes[inside], nodes[outside]);
    match (inner, outer) {
        (_, 0) => vec![nodes.map(Corner::Node)],
        (1, _) => {
            let whole = nodes.map(Corner::Node);
            vec![std::array::from_fn(|at| if at >= 4 - outer { cut(0, at) } else { whole[at] })]
        }
        (2, 1) if before(lattice, nodes, [0, 1], 3) => {
            vec![[n(0), n(1), n(2), cut(0, 3)], [cut(0, 3), n(1), n(2), cut(1, 3)]]
        }
        (2, 1) => vec![[n(0), n(1), n(2), cut(1, 3)], [n(0), cut(1, 3), n(2), cut(0, 3)]],
        (2, _) => wedge(lattice, nodes),
        // Three inside: the edges are cut in an order, each of what the one before has left.
        _ => {
            let mut order = [0, 1, 2];
            order.sort_unstable_by(|&a, &b| {
                if before(lattice, nodes, [a, b], 3) {
                    std::cmp::Ordering::Less
                } else {
                    std::cmp::Ordering::Greater
                }
            });
            let mut left = nodes.map(Corner::Node);
            order
                .map(|at| {
                    let mut kept = left;
                    kept[3] = cut(at, 3);
                    left[at] = cut(at, 3);
                    kept
                })
                .to_vec()
        }
    }
}

/// Nodes inside first, those outside last, with the same winding; and how many are inside and outside.
fn sorted(nodes: [u32; 4], sides: [Side; 4]) -> ([u32; 4], usize, usize) {
    let mut both: [(Side, u32); 4] = std::array::from_fn(|at| (sides[at], nodes[at]));
    let mut odd = false;
    for end in (1..4).rev() {
        for at in 0..end {
            if both[at].0 > both[at + 1].0 {
                both.swap(at, at + 1);
                odd = !odd;
            }
        }
    }
    // Of four nodes on three sides, two are on the same: their exchange turns the winding back.
    if odd && let Some(at) = (0..3).find(|&at| both[at].0 == both[at + 1].0) {
        both.swap(at, at + 1);
    }
    let count = |wanted| sides.iter().filter(|&&side| side == wanted).count();
    (both.map(|(_, node)| node), count(Side::Inside), count(Side::Outside))
}

/// Two nodes inside, two outside: three tetrahedra. The diagonals of both four-sided faces never meet at one node inside:
/// either both start at the long edges' cuts, which are of different nodes, or they follow the parity rule, which
/// alternates round a long edge.
fn wedge(lattice: &Lattice, nodes: [u32; 4]) -> Vec<[Corner; 4]> {
    let first = before(lattice, nodes, [0, 1], 2);
    // With the first node and the third cut first, or mirrored.
    let [p, q] = if first { [nodes[0], nodes[1]] } else { [nodes[1], nodes[0]] };
    let [c, d] = [nodes[2], nodes[3]];
    let cut = Corner::Cut;
    let mut all = [
        [Corner::Node(p), Corner::Node(q), cut(p, c), cut(q, d)],
        [cut(p, c), Corner::Node(q), cut(q, c), cut(q, d)],
        [Corner::Node(p), cut(q, d), cut(p, c), cut(p, d)],
    ];
    if !first {
        all.iter_mut().for_each(|corners| corners.swap(2, 3));
    }
    all.to_vec()
}

/// Whether of the edges from two nodes inside to one outside the first is cut first: the diagonal of the face that is left
/// then goes from its cut to the second node. Both tetrahedra at the face must agree, so that it depends on nothing else.
fn before(lattice: &Lattice, nodes: [u32; 4], [a, b]: [usize; 2], outside: usize) -> bool {
    let [a, b, outside] = [a, b, outside].map(|at| nodes[at]);
    match (lattice.is_long(a, outside), lattice.is_long(b, outside)) {
        (true, false) => true,
        (false, true) => false,
        // Both short: the parity rule. The diagonal goes from the node that is greater than the other end in an even number
        // of coordinates: than the other node along the long edge, and than the one outside across it.
        _ => {
            let [a, b, outside] = [a, b, outside].map(|node| lattice.half(node));
            let greater = |i: usize| b[i] > if a[i] == b[i] { outside[i] } else { a[i] };
            (0..3).filter(|&i| greater(i)).count() % 2 == 0
        }
    }
}
