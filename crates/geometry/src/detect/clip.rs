//! Faces that lie on each other: what of one core is over a face of the other.

use pullback_kernel::prelude::*;

use super::body::{Body, cross, dot, normalize};
use super::found::Found;
use crate::feature::Touch;
use crate::kind::Kind;
use crate::topology::{NONE, Side, Topology};

/// Nearer to a side than this is on it [m].
const ON: f64 = 1e-9;
/// Corners of a polygon that is being clipped.
const MOST: usize = 96;

/// What a corner of the clipped polygon is.
#[derive(Clone, Copy)]
enum Tag {
    /// A corner of the core that is clipped.
    Corner(u32),
    /// Its edge over a side of the face.
    Crossing(u32, u32),
    /// A corner of the face: where this side of it starts.
    Start(u32),
}

/// What the clipped polygon follows from a corner to the next.
#[derive(Clone, Copy)]
enum Lead {
    Edge(u32),
    Side(u32),
}

#[derive(Clone, Copy)]
struct Item {
    at: Vec3,
    tag: Tag,
    lead: Lead,
}

/// A polygon without allocation.
#[derive(Clone, Copy)]
struct Polygon {
    items: [Item; MOST],
    len: usize,
}

impl Polygon {
    fn new() -> Self {
        let nothing = Item { at: Vec3 { x: 0.0, y: 0.0, z: 0.0 }, tag: Tag::Corner(0), lead: Lead::Edge(0) };
        Polygon { items: [nothing; MOST], len: 0 }
    }

    fn push(&mut self, item: Item) {
        if self.len < MOST {
            self.items[self.len] = item;
            self.len += 1;
        }
    }
}

/// Offers what of p is over a face of q; `swapped` if p is the second core of the pair.
pub(super) fn over_face(p: &Body<'_>, q: &Body<'_>, face: usize, swapped: bool, found: &mut Found<'_>) {
    let n = q.normal(face);
    if p.is_round(n) {
        return offer_lowest(p, q, n, face, swapped, found);
    }
    match (p.topology.faces.len(), p.topology.edges.len()) {
        (0, 0) => offer_corner(p, q, n, face, swapped, found),
        (0, _) => offer_segment(p, q, n, face, swapped, found),
        _ => offer_polygon(p, q, n, face, swapped, found),
    }
}

/// How far x is outside a side of a face with the normal n.
#[inline]
fn outside(q: &Body<'_>, side: &Side, n: Vec3, x: Vec3) -> f64 {
    let s = q.at(side.start);
    dot(normalize(cross(q.at(side.end) - s, n)), x - s)
}

/// The lowest points of a round core; where a cylinder is only in part over the face, also what of its stand-in is over its
/// sides.
fn offer_lowest(p: &Body<'_>, q: &Body<'_>, n: Vec3, face: usize, swapped: bool, found: &mut Found<'_>) {
    let mut all = true;
    for (place, x) in p.lowest(q.face(face)) {
        if q.topology.sides_of(face).iter().all(|side| outside(q, side, n, x) <= ON) {
            found.offer(Touch::LowestFace.feature(place, face as u32, swapped));
        } else {
            all = false;
        }
    }
    if let (Kind::Cylinder, false) = (p.kind, all) {
        offer_polygon(p, q, n, face, swapped, found);
    }
}

fn offer_corner(p: &Body<'_>, q: &Body<'_>, n: Vec3, face: usize, swapped: bool, found: &mut Found<'_>) {
    let x = p.at(0);
    if q.topology.sides_of(face).iter().all(|side| outside(q, side, n, x) <= ON) {
        found.offer(Touch::CornerFace.feature(0, face as u32, swapped));
    }
}

/// A segment over a face: its ends, or where it passes over sides.
fn offer_segment(p: &Body<'_>, q: &Body<'_>, n: Vec3, face: usize, swapped: bool, found: &mut Found<'_>) {
    let x = p.edge(0);
    let first = q.topology.faces[face].first;
    let corner = |end: usize| Touch::CornerFace.feature(p.topology.edges[0].ends[end], face as u32, swapped);
    let mut low = (0.0, corner(0));
    let mut high = (1.0, corner(1));
    for (i, side) in q.topology.sides_of(face).iter().enumerate() {
        let (d, e) = (outside(q, side, n, x[0]), outside(q, side, n, x[1]));
        let crossing = Touch::EdgeSide.feature(0, first + i as u32, swapped);
        if d > ON && e > ON {
            return;
        } else if d > ON && d / (d - e) > low.0 {
            low = (d / (d - e), crossing);
        } else if e > ON && d / (d - e) < high.0 {
            high = (d / (d - e), crossing);
        }
    }
    if low.0 <= high.0 {
        found.offer(low.1);
        found.offer(high.1);
    }
}

/// The face of a core that faces most against a direction. Of a large core, it is sought from the corner that is farthest there.
pub(super) fn facing(core: &Body<'_>, n: Vec3) -> usize {
    if !core.is_large() {
        return most_against(core, n, 0..core.topology.faces.len());
    }
    let mut best = facing_at(core, core.farthest(-n), n);
    loop {
        let sides = core.topology.sides_of(best).iter();
        let beside = sides.flat_map(|side| core.topology.edges[side.edge as usize].faces);
        let next = most_against(core, n, faces(beside).chain([best]));
        if next == best || dot(core.normal(next), n) >= dot(core.normal(best), n) {
            return best;
        }
        best = next;
    }
}

/// Of the faces at a corner, the one that faces most against a direction.
fn facing_at(core: &Body<'_>, corner: u32, n: Vec3) -> usize {
    let spokes = core.topology.spokes(corner as usize).iter();
    most_against(core, n, faces(spokes.flat_map(|&edge| core.topology.edges[edge as usize].faces)))
}

/// Those of these faces that there are.
fn faces(of: impl Iterator<Item = u32>) -> impl Iterator<Item = usize> {
    of.filter(|&face| face != NONE).map(|face| face as usize)
}

fn most_against(core: &Body<'_>, n: Vec3, faces: impl Iterator<Item = usize>) -> usize {
    let mut best = (0, f64::INFINITY);
    for face in faces {
        let s = dot(core.normal(face), n);
        // Later faces must be better by more than rounding.
        if s < best.1 - 1e-12 {
            best = (face, s);
        }
    }
    best.0
}

/// The face of p that faces the face of q, clipped by its sides (Sutherland and Hodgman 1974).
fn offer_polygon(p: &Body<'_>, q: &Body<'_>, n: Vec3, face: usize, swapped: bool, found: &mut Found<'_>) {
    let other = facing_at(p, p.farthest(-n), n);
    let mut polygon = Polygon::new();
    for side in p.topology.sides_of(other) {
        polygon.push(Item {
            at: p.at(side.start),
            tag: Tag::Corner(side.start),
            lead: Lead::Edge(side.edge),
        });
    }
    let first = q.topology.faces[face].first;
    for (i, side) in q.topology.sides_of(face).iter().enumerate() {
        polygon = clip(&polygon, q.topology, first + i as u32, |x| outside(q, side, n, x));
    }
    let round = p.is_round(n);
    for item in &polygon.items[..polygon.len] {
        found.offer(match item.tag {
            Tag::Corner(_) if round => continue,
            Tag::Corner(corner) => Touch::CornerFace.feature(corner, face as u32, swapped),
            Tag::Crossing(edge, side) => Touch::EdgeSide.feature(edge, side, swapped),
            Tag::Start(side) => Touch::FaceSide.feature(other as u32, side, swapped),
        });
    }
}

fn clip(polygon: &Polygon, topology: &Topology, side: u32, outside: impl Fn(Vec3) -> f64) -> Polygon {
    let mut kept = Polygon::new();
    for i in 0..polygon.len {
        let (item, next) = (polygon.items[i], polygon.items[(i + 1) % polygon.len]);
        let (d, e) = (outside(item.at), outside(next.at));
        let meeting = |lead| Item {
            at: item.at + (next.at - item.at) * (d / (d - e)),
            tag: match item.lead {
                Lead::Edge(edge) => Tag::Crossing(edge, side),
                Lead::Side(before) => Tag::Start(start_between(topology, before, side)),
            },
            lead,
        };
        if d <= ON {
            // A corner on the side that is left here is where the polygon turns along it.
            let turns = d >= -ON && e > ON;
            kept.push(if turns { Item { lead: Lead::Side(side), ..item } } else { item });
            if d < -ON && e > ON {
                kept.push(meeting(Lead::Side(side)));
            }
        } else if e < -ON {
            kept.push(meeting(item.lead));
        }
    }
    kept
}

/// Of two sides that meet in a corner, the one that starts there.
fn start_between(topology: &Topology, before: u32, side: u32) -> u32 {
    let (a, b) = (topology.sides[before as usize], topology.sides[side as usize]);
    if b.end == a.start { before } else { side }
}
