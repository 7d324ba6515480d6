//! Solids that fill closed surfaces: isosurface stuffing (Labelle and Shewchuk 2007).
//!
//! A body-centred cubic lattice of tetrahedra covers the surface. Where a lattice edge crosses it there is a cut; a node that
//! is too near to a cut is moved onto it; and what is inside of each tetrahedron is filled by one of a few stencils.

mod lattice;
mod stencil;

use std::collections::HashMap;

use self::lattice::Lattice;
use self::stencil::{Corner, Side};
use super::mesh::{SheetMesh, SolidMesh};
use super::winding::Enclosure;
use crate::check::{MOST, Number, too_many};
use crate::error::Invalid;
use crate::vector::between;

/// How near to a node a cut may be, in parts of the edge: less, and the node is moved. Those of the long edges, between
/// nodes of one kind, and of the short.
///
/// Found by search, for the largest least angle over all stencils with cuts by chance: 10.78°, with a greatest of 164.70°,
/// as the paper proves for its own pair (10.7° and 164.8°). That of 0.24999 and 0.41189 gives 9.32° and 161.64°.
const NEAR_LONG: f64 = 0.285;
const NEAR_SHORT: f64 = 0.3988;

/// Halvings of an edge that find a cut in a gap of the surface.
const HALVINGS: usize = 50;

/// What is inside.
trait Solid {
    fn contains(&self, point: [f64; 3]) -> bool;

    /// Where the way from a point inside to one outside leaves, as a part of it.
    fn leaves(&self, inside: [f64; 3], outside: [f64; 3]) -> f64;
}

impl Solid for Enclosure {
    fn contains(&self, point: [f64; 3]) -> bool {
        self.contains(point)
    }

    fn leaves(&self, inside: [f64; 3], outside: [f64; 3]) -> f64 {
        self.crossing(inside, outside).unwrap_or_else(|| {
            let (mut within, mut beyond) = (0.0, 1.0);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (within + beyond);
                if self.contains(between(inside, outside, middle)) {
                    within = middle
                } else {
                    beyond = middle
                }
            }
            0.5 * (within + beyond)
        })
    }
}

/// A border that is longer than this many times the root of a surface's area is no gap any more.
const LONGEST_GAP: f64 = 0.5;

/// The length of the longest border [m]: of edges that hang together.
fn longest_gap(surface: &SheetMesh) -> f64 {
    let mut parts: HashMap<u32, u32> = HashMap::new();
    let root = |parts: &HashMap<u32, u32>, mut point: u32| {
        while let Some(&up) = parts.get(&point).filter(|&&up| up != point) {
            point = up;
        }
        point
    };
    let border = surface.border();
    for &[a, b] in &border {
        let (a, b) = (root(&parts, a), root(&parts, b));
        parts.insert(a, a.min(b));
        parts.insert(b, a.min(b));
    }
    let mut lengths: HashMap<u32, f64> = HashMap::new();
    for &[a, b] in &border {
        let [from, to] = [a, b].map(|i| surface.points[i as usize]);
        let squared: f64 = from.iter().zip(to).map(|(x, y)| (x - y) * (x - y)).sum();
        *lengths.entry(root(&parts, a)).or_default() += squared.sqrt();
    }
    lengths.into_values().fold(0.0, f64::max)
}

impl SolidMesh {
    /// Tetrahedra that fill a closed surface, by a lattice of cubes with this side [m]: about 12 for each cube.
    ///
    /// Isosurface stuffing: all angles between sides are from 10.7° to 164.8°, points of the boundary are on the surface,
    /// and the volume converges to the surface's with the square of the cell. Edges and corners of the surface are cut off
    /// within a cell, unless they are on the lattice, which is centred on the surface's box; walls thinner than about two
    /// cells may be lost. The surface may have gaps that are small against it: inside is where it goes round a point more
    /// than half a time (the generalised winding number).
    ///
    /// # Errors
    ///
    /// When the surface has numbers that are no points, places that are not finite, or neighbours that are wound against each
    /// other, or is inside out, or has a border that is longer than half the root of its area; when the cell is not above zero, or too large to have a
    /// tetrahedron inside, or so small that there are more than 10,000,000 nodes or tetrahedra.
    pub fn filled(surface: &SheetMesh, cell: f64) -> Result<Self, Invalid> {
        surface.check_winding()?;
        Number::positive("side of a cell", "m").check("cell", cell)?;
        let volume = surface.enclosed_volume();
        if volume <= 0.0 {
            let what =
                format!("the surface encloses a volume of {volume} m³: it is flat, open, or inside out");
            let fix = "close it, or turn its triangles round: anticlockwise when seen from outside";
            return Err(Invalid::new("surface", what, fix));
        }
        let gap = longest_gap(surface);
        if gap > LONGEST_GAP * surface.area().sqrt() {
            let what = format!("the surface is open: it has a border that is {gap:.3} m long");
            let fix = "close it, or use it as a sheet; gaps that are small against the surface are bridged";
            return Err(Invalid::new("surface", what, fix));
        }
        let Some(bounds) = surface.bounds() else {
            return Err(Invalid::new("surface", "the surface has no points", "give one with triangles"));
        };
        let lattice = Lattice::around(&bounds, cell)?;
        let filled = stuffed(&lattice, &Enclosure::new(surface))?;
        if filled.elements.is_empty() {
            let what = format!("no tetrahedron of cells of {cell} m fits into the surface");
            return Err(Invalid::new(
                "cell",
                what,
                "use smaller cells: a quarter of the thinnest part, or less",
            ));
        }
        Ok(filled)
    }
}

/// The nodes of a lattice after they are moved, and the cuts that are left.
struct Warped {
    sides: Vec<Side>,
    places: HashMap<u32, [f64; 3]>,
    /// Cuts by the nodes of their edges: inside, outside.
    cuts: HashMap<[u32; 2], [f64; 3]>,
}

impl Warped {
    fn new(lattice: &Lattice, solid: &impl Solid) -> Self {
        let side = |node| if solid.contains(lattice.place(node)) { Side::Inside } else { Side::Outside };
        let mut sides: Vec<Side> = (0..lattice.nodes()).map(side).collect();
        let mut parts = HashMap::new();
        for node in (0..lattice.nodes()).filter(|&node| sides[node as usize] == Side::Inside) {
            for (other, _) in lattice.neighbours(node) {
                if sides[other as usize] == Side::Outside {
                    parts.insert([node, other], solid.leaves(lattice.place(node), lattice.place(other)));
                }
            }
        }
        let cut =
            |[inside, outside]: [u32; 2], part| between(lattice.place(inside), lattice.place(outside), part);
        let mut places = HashMap::new();
        for node in 0..lattice.nodes() {
            if let Some(edge) = nearest_cut(lattice, &sides, &parts, node) {
                places.insert(node, cut(edge, parts[&edge]));
                sides[node as usize] = Side::On;
            }
        }
        let left =
            parts.into_iter().filter(|(edge, _)| edge.iter().all(|&end| sides[end as usize] != Side::On));
        let cuts = left.map(|(edge, part)| (edge, cut(edge, part))).collect();
        Self { sides, places, cuts }
    }

    fn place(&self, lattice: &Lattice, corner: Corner) -> [f64; 3] {
        match corner {
            Corner::Node(node) => self.places.get(&node).copied().unwrap_or_else(|| lattice.place(node)),
            Corner::Cut(inside, outside) => self.cuts[&[inside, outside]],
        }
    }
}

/// The nearest of the cuts that are too near to a node, on edges none of whose ends were moved yet.
fn nearest_cut(
    lattice: &Lattice,
    sides: &[Side],
    parts: &HashMap<[u32; 2], f64>,
    node: u32,
) -> Option<[u32; 2]> {
    let here = sides[node as usize];
    let mut nearest: Option<(f64, [u32; 2])> = None;
    for (other, long) in lattice.neighbours(node) {
        let edge = match (here, sides[other as usize]) {
            (Side::Inside, Side::Outside) => [node, other],
            (Side::Outside, Side::Inside) => [other, node],
            _ => continue,
        };
        let part = if here == Side::Inside { parts[&edge] } else { 1.0 - parts[&edge] };
        let (near, length) = if long { (NEAR_LONG, 1.0) } else { (NEAR_SHORT, lattice::SHORT) };
        if part < near && nearest.is_none_or(|(distance, _)| part * length < distance) {
            nearest = Some((part * length, edge));
        }
    }
    nearest.map(|(_, edge)| edge)
}

/// The lattice's tetrahedra, as far as they are inside. Points are in the order in which tetrahedra name them first.
fn stuffed(lattice: &Lattice, solid: &impl Solid) -> Result<SolidMesh, Invalid> {
    let warped = Warped::new(lattice, solid);
    let mut mesh = SolidMesh::default();
    let mut numbers: HashMap<Corner, u32> = HashMap::new();
    for nodes in lattice.tetrahedra() {
        let sides = nodes.map(|node| warped.sides[node as usize]);
        if !sides.contains(&Side::Inside) {
            continue;
        }
        for corners in stencil::inside(lattice, nodes, sides) {
            let element = corners.map(|corner| {
                *numbers.entry(corner).or_insert_with(|| {
                    mesh.points.push(warped.place(lattice, corner));
                    mesh.points.len() as u32 - 1
                })
            });
            mesh.elements.push(element);
        }
        if mesh.elements.len() > MOST {
            return Err(too_many("cell", mesh.elements.len(), "tetrahedra"));
        }
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::BoundingBox;

    /// Nodes are inside or outside by chance, and so are cuts: every stencil, with every place of its cuts.
    struct Chance {
        seed: u64,
        inside: f64,
    }

    impl Chance {
        /// From 0 to 1, by the bits of places (splitmix64, Steele et al. 2014).
        fn of(&self, points: &[[f64; 3]]) -> f64 {
            let mut bits = self.seed;
            for x in points.iter().flatten() {
                bits = (bits ^ x.to_bits()).wrapping_add(0x9e37_79b9_7f4a_7c15);
                bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                bits ^= bits >> 31;
            }
            (bits >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    impl Solid for Chance {
        fn contains(&self, point: [f64; 3]) -> bool {
            self.of(&[point]) < self.inside
        }

        fn leaves(&self, inside: [f64; 3], outside: [f64; 3]) -> f64 {
            // Many at the very thresholds, where angles are worst.
            let part = self.of(&[inside, outside]);
            let at = [NEAR_LONG, NEAR_SHORT, 1.0 - NEAR_LONG, 1.0 - NEAR_SHORT, 0.5];
            match (part * 20.0) as usize {
                few @ 0..5 => at[few] - 1e-9,
                few @ 5..10 => at[few - 5] + 1e-9,
                _ => self.of(&[outside, inside]),
            }
        }
    }

    #[test]
    fn no_stencil_has_a_bad_angle() {
        let bounds = BoundingBox { min: [0.0; 3], max: [12.0; 3] };
        let lattice = Lattice::around(&bounds, 1.0).expect("it is small");
        let [mut least, mut most] = [180.0f64, 0.0f64];
        for seed in 0..40 {
            let chance = Chance { seed, inside: 0.3 + 0.4 * (seed as f64 / 39.0) };
            let mesh = stuffed(&lattice, &chance).expect("it is small");
            assert!(mesh.volumes().all(|volume| volume > 0.0));
            assert!(mesh.check().is_ok());
            let [a, b] = mesh.dihedral_angles().map(f64::to_degrees);
            (least, most) = (least.min(a), most.max(b));
        }
        assert!(least > 10.7 && most < 164.8, "{least}° to {most}°");
        // By chance it comes near to the bounds.
        assert!(least < 11.0 && most > 158.0, "{least}° to {most}°");
    }

    #[test]
    fn no_cut_is_left_near_a_node() {
        let chance = Chance { seed: 1, inside: 0.5 };
        let bounds = BoundingBox { min: [0.0; 3], max: [6.0; 3] };
        let lattice = Lattice::around(&bounds, 1.0).expect("it is small");
        let warped = Warped::new(&lattice, &chance);
        let moved = warped.places.len();
        let near = |[inside, outside]: [u32; 2], place: [f64; 3]| {
            let away = |node| crate::vector::length(crate::vector::minus(lattice.place(node), place));
            away(inside).min(away(outside)) < NEAR_LONG - 1e-6
        };
        assert!(moved > 0 && warped.cuts.iter().all(|(&edge, &place)| !near(edge, place)));
    }
}
