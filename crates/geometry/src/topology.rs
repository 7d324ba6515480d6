//! Which corners, edges and faces a core has. Where its corners are is another matter: its sizes say.

use std::collections::HashMap;

/// No such cell.
pub(crate) const NONE: u32 = u32::MAX;

/// An edge between two corners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub ends: [u32; 2],
    /// The faces that meet in it: first the one that goes around from the first end to the second.
    pub faces: [u32; 2],
}

/// A side of a face: an edge as that face goes around it, counter-clockwise from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub start: u32,
    pub end: u32,
    pub edge: u32,
    pub face: u32,
}

/// A flat polygon.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Face {
    /// Its sides are from `first` to before `past`.
    pub first: u32,
    pub past: u32,
    /// Three of its corners, which span its plane.
    pub plane: [u32; 3],
}

/// Corners, edges and faces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topology {
    pub corners: usize,
    pub edges: Vec<Edge>,
    pub sides: Vec<Side>,
    pub faces: Vec<Face>,
    /// The first face of each corner; none where it has none.
    pub home: Vec<u32>,
    /// Where the neighbours of each corner are in `neighbours`; one entry more than corners.
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    /// The edge to each of `neighbours`.
    spokes: Vec<u32>,
}

impl Topology {
    /// A point.
    pub fn point() -> Self {
        Topology { corners: 1, starts: vec![0, 0], ..Topology::default() }
    }

    /// A segment.
    pub fn segment() -> Self {
        let edge = Edge { ends: [0, 1], faces: [NONE; 2] };
        Topology { corners: 2, edges: vec![edge], ..Topology::default() }.connected()
    }

    /// A box, whose corner i has the sign of bit 0 of i along x, bit 1 along y, bit 2 along z.
    pub fn cuboid() -> Self {
        let faces: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Topology::polygons(8, faces.iter().map(|face| &face[..]))
    }

    /// Polygons, each counter-clockwise from outside. Where more than two meet in an edge, each two share one.
    pub fn polygons<'a>(corners: usize, polygons: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut it = Topology { corners, home: vec![NONE; corners], ..Topology::default() };
        let mut open: HashMap<(u32, u32), u32> = HashMap::new();
        for polygon in polygons {
            let (face, first, count) = (it.faces.len() as u32, it.sides.len() as u32, polygon.len());
            for (i, &start) in polygon.iter().enumerate() {
                let end = polygon[(i + 1) % count];
                let edge = match open.remove(&(end, start)) {
                    Some(edge) => {
                        it.edges[edge as usize].faces[1] = face;
                        edge
                    }
                    None => {
                        it.edges.push(Edge { ends: [start, end], faces: [face, NONE] });
                        open.insert((start, end), it.edges.len() as u32 - 1);
                        it.edges.len() as u32 - 1
                    }
                };
                if it.home[start as usize] == NONE {
                    it.home[start as usize] = face;
                }
                it.sides.push(Side { start, end, edge, face });
            }
            let plane = [polygon[0], polygon[count / 3], polygon[2 * count / 3]];
            it.faces.push(Face { first, past: first + count as u32, plane });
        }
        it.connected()
    }

    /// With the neighbours of corners.
    fn connected(mut self) -> Self {
        let mut around = vec![Vec::new(); self.corners];
        for (i, edge) in self.edges.iter().enumerate() {
            let [a, b] = edge.ends;
            around[a as usize].push((b, i as u32));
            around[b as usize].push((a, i as u32));
        }
        self.starts = vec![0];
        for list in &around {
            self.neighbours.extend(list.iter().map(|spoke| spoke.0));
            self.spokes.extend(list.iter().map(|spoke| spoke.1));
            self.starts.push(self.neighbours.len() as u32);
        }
        self
    }

    /// The corners that an edge joins to this one.
    #[inline]
    pub fn neighbours(&self, corner: usize) -> &[u32] {
        &self.neighbours[self.starts[corner] as usize..self.starts[corner + 1] as usize]
    }

    /// The sides of a face, in order.
    #[inline]
    pub fn sides_of(&self, face: usize) -> &[Side] {
        let Face { first, past, .. } = self.faces[face];
        &self.sides[first as usize..past as usize]
    }

    /// The edges at a corner, in the order of its neighbours.
    #[inline]
    pub fn spokes(&self, corner: usize) -> &[u32] {
        &self.spokes[self.starts[corner] as usize..self.starts[corner + 1] as usize]
    }

    /// The edge between two corners.
    #[inline]
    pub fn edge_between(&self, a: u32, b: u32) -> Option<u32> {
        let at = self.neighbours(a as usize).iter().position(|&corner| corner == b)?;
        Some(self.spokes(a as usize)[at])
    }
}
