//! What the hinges of a sheet have to do with each other, so that it bends as a plate does.
//!
//! The part of a hinge's angle that lies in one of its triangles is that of their areas A and A′. So a triangle has the curvature
//! Λ = Σ_i l_i off_i/(A + A′_i) n_i ⊗ n_i  of its three edges, with lengths l, and normals n in its plane, at rest (Grinspun, Gingold, Reisman
//! and Zorin 2006, whose triangles have half of each angle), and the energy ½ k A |Λ|² of a plate without Poisson's effect, for
//! k = E t³/(12 (1 - ν²)). In terms of hinges that is ½ Σ_ij k C_ij off_i off_j with
//!
//! C_ij = A w_i w_j (e_i·e_j)²/(l_i l_j)³,  w = l²/(A + A′),
//!
//! and Σ C_ii over both triangles of a hinge is its weight w, with which its rate is damped.
//!
//! The terms of i = j alone (Grinspun, Hirani, Desbrun and Schröder 2003) are that energy for a cylinder about an edge, but they are no
//! plate: diagonals that fold a little have less of it, and a strip is softer by a tenth or by half. With all terms Σ A Λ over a strip
//! is given by how much its ends are turned, and of all Λ with one mean the constant has the least energy: that of the cylinder.
//!
//! At a border nothing holds the angle, which takes the value of least energy (no torque there). C then is what is left without
//! that edge: C_ij - C_ib C_jb/C_bb. Where each hinge has its own stiffness, k is k_ij = 2 k_i k_j/(k_i + k_j): a hinge without any
//! folds freely, and the energy is nowhere negative.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

use crate::rest::product;

/// Which hinges are edges of which triangles. Edge i of a triangle is the one across from its corner i.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// The triangles of each hinge, and which of their edges it is.
    sides: Vec<[Side; 2]>,
    /// The hinges of each triangle; `None` at a border, or where nothing resists.
    hinges: Vec<[Option<usize>; 3]>,
}

#[derive(Clone, Copy, Debug)]
struct Side {
    triangle: usize,
    edge: usize,
}

impl Neighbours {
    /// Of triangles, and of hinges with the corners of [`hinge`](crate::hinge) and the two triangles of each.
    ///
    /// # Panics
    ///
    /// When a hinge is no edge of its triangles.
    pub fn new(triangles: &[[usize; 3]], hinges: &[[usize; 4]], of: &[[usize; 2]]) -> Self {
        let side = |triangle: usize, across: usize| {
            let edge = triangles[triangle].iter().position(|&corner| corner == across);
            Side { triangle, edge: edge.expect("a corner of the triangle") }
        };
        let sides: Vec<[Side; 2]> =
            hinges.iter().zip(of).map(|(at, of)| [side(of[0], at[2]), side(of[1], at[3])]).collect();
        let mut of_triangles = vec![[None; 3]; triangles.len()];
        for (hinge, sides) in sides.iter().enumerate() {
            sides.iter().for_each(|side| of_triangles[side.triangle][side.edge] = Some(hinge));
        }
        Neighbours { sides, hinges: of_triangles }
    }

    /// The other hinges of each hinge's triangles, two of the first and two of the second. For one that is not there it is the hinge
    /// itself, to which nothing couples it.
    pub fn beside(&self) -> Vec<[usize; 4]> {
        let others = |hinge: usize, side: Side, by: usize| {
            self.hinges[side.triangle][(side.edge + by) % 3].unwrap_or(hinge)
        };
        let of = |(hinge, sides): (usize, &[Side; 2])| {
            [(0, 1), (0, 2), (1, 1), (1, 2)].map(|(side, by)| others(hinge, sides[side], by))
        };
        self.sides.iter().enumerate().map(of).collect()
    }

    /// The hinges of each triangle, and 1 for those that are not there, for which any stands.
    fn edges(&self) -> (Vec<[usize; 3]>, Vec<Vec3>) {
        let missing = |hinge: Option<usize>| if hinge.is_none() { 1.0 } else { 0.0 };
        let of = |hinges: &[Option<usize>; 3]| {
            let any = hinges.iter().find_map(|&hinge| hinge).unwrap_or(0);
            let [x, y, z] = hinges.map(missing);
            (hinges.map(|hinge| hinge.unwrap_or(any)), vec3(x, y, z))
        };
        self.hinges.iter().map(of).unzip()
    }
}

/// C_ij - C_ib C_jb/C_bb for an edge b that is free, and C for one that is not.
#[kernel]
fn without<R: Real>(c: Mat3<R>, column: Vec3<R>, diagonal: R, free: R) -> Mat3<R> {
    c - outer(column, column) * (free / diagonal)
}

/// C_ij = A w_i w_j (e_i·e_j)²/(l_i l_j)³ of the edges that are not free.
#[kernel]
fn plate_of_triangle<R: Real>(points: [Vec3<R>; 3], weight: [R; 3], free: Vec3<R>) -> Mat3<R> {
    let (e0, e1, e2) = (points[2] - points[1], points[0] - points[2], points[1] - points[0]);
    let normal = cross(e0, e1);
    let area = 0.5 * sqrt(dot(normal, normal));
    let (ll0, ll1, ll2) = (dot(e0, e0), dot(e1, e1), dot(e2, e2));
    let u0 = weight[0] / (ll0 * sqrt(ll0));
    let u1 = weight[1] / (ll1 * sqrt(ll1));
    let u2 = weight[2] / (ll2 * sqrt(ll2));
    let (d12, d20, d01) = (dot(e1, e2), dot(e2, e0), dot(e0, e1));
    let c12 = area * u1 * u2 * d12 * d12;
    let c20 = area * u2 * u0 * d20 * d20;
    let c01 = area * u0 * u1 * d01 * d01;
    let c00 = area * u0 * u0 * ll0 * ll0;
    let c11 = area * u1 * u1 * ll1 * ll1;
    let c22 = area * u2 * u2 * ll2 * ll2;
    let all = mat3(vec3(c00, c01, c20), vec3(c01, c11, c12), vec3(c20, c12, c22));
    let a = without(all, all.x, all.x.x, free.x);
    let b = without(a, a.y, a.y.y, free.y);
    without(b, b.z, b.z.z, free.z)
}

/// 2 k_i k_j/(k_i + k_j). Where both are 0 there is no derivative, and that of their mean is returned, which is the one for hinges that
/// become stiff together.
#[kernel]
fn both<R: Real>(a: R, b: R) -> R {
    let sum = a + b;
    if sum > 0.0 { 2.0 * a * b / sum } else { 0.5 * sum }
}

/// K_ij = k_ij C_ij
#[kernel]
fn triangle_couplings<R: Real>(points: [Vec3<R>; 3], weight: [R; 3], free: Vec3<R>, k: [R; 3]) -> Mat3<R> {
    let c = plate_of_triangle(points, weight, free);
    let (k12, k20, k01) = (both(k[1], k[2]), both(k[2], k[0]), both(k[0], k[1]));
    mat3(
        vec3(k[0] * c.x.x, k01 * c.x.y, k20 * c.x.z),
        vec3(k01 * c.y.x, k[1] * c.y.y, k12 * c.y.z),
        vec3(k20 * c.z.x, k12 * c.z.y, k[2] * c.z.z),
    )
}

/// The couplings of an edge to itself, to the next and to the one after it.
#[kernel]
fn column<R: Real>(of: Mat3<R>, edge: usize) -> Vec3<R> {
    match edge {
        0 => of.x,
        1 => vec3(of.y.y, of.y.z, of.y.x),
        _ => vec3(of.z.z, of.z.x, of.z.y),
    }
}

/// Those of a hinge, in its two triangles.
#[kernel]
fn columns<R: Real>(of: [Mat3<R>; 2], first: usize, second: usize) -> (Vec3<R>, Vec3<R>) {
    (column(of[0], first), column(of[1], second))
}

/// The couplings of each hinge in its first and in its second triangle [N·m]: to itself, and to the hinges of
/// [`Neighbours::beside`]. Triangles have their corners at these points [m] at rest; hinges have these weights [1], of
/// [`rest::hinges_at_rest`](crate::rest::hinges_at_rest), and stiffnesses [N·m]. `name` is that of what they are part of.
pub fn couplings(
    p: &mut Builder,
    name: &str,
    neighbours: &Neighbours,
    (corners, points): (Corners<3>, Buffer<Vec3>),
    (weight, stiffness): (Buffer<f64>, Buffer<f64>),
) -> [Buffer<Vec3>; 2] {
    let (hinges, free) = neighbours.edges();
    let edges = p.corners(&format!("{name} of triangles"), &hinges, neighbours.sides.len());
    let free = p.constant::<Vec3>(&format!("{name} that are not there"), &free);
    let coupled = p.map::<Once<triangle_couplings>>(
        &format!("{name} coupled in triangles"),
        (points.at(corners), weight.at(edges), free.own(), stiffness.at(edges)),
    );
    let triangles: Vec<[usize; 2]> = neighbours.sides.iter().map(|s| s.map(|side| side.triangle)).collect();
    let triangles = p.corners(&format!("triangles of {name}"), &triangles, hinges.len());
    let edge = |side: usize| -> Vec<usize> { neighbours.sides.iter().map(|s| s[side].edge).collect() };
    let (first, second) = (p.indices(&edge(0)), p.indices(&edge(1)));
    let names = format!("{name} coupled in the first triangle, {name} coupled in the second triangle");
    let (first, second) = p.map::<Once<columns>>(&names, (coupled.at(triangles), first.own(), second.own()));
    [first, second]
}

/// Torque by the rate of each hinge's angle [N·m·s]: its damping [N·m·s] times its weight [1].
pub fn damping(p: &mut Builder, name: &str, damping: Buffer<f64>, weight: Buffer<f64>) -> Buffer<f64> {
    p.map::<Once<product>>(name, (damping.own(), weight.own()))
}

#[cfg(test)]
mod tests {
    use pullback_kernel::gradcheck;

    use super::*;

    const POINTS: [Vec3; 3] =
        [Vec3 { x: 0.1, y: 0.2, z: -0.1 }, Vec3 { x: 1.2, y: 0.1, z: 0.3 }, Vec3 { x: 0.4, y: 0.9, z: 0.2 }];

    #[test]
    fn gradients_of_the_kernels() {
        let (weight, k) = ([1.2, 0.8, 1.7], [0.7, 0.2, 1.1]);
        for free in [vec3(0.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(1.0, 0.0, 1.0)] {
            gradcheck::kernel::<triangle_couplings>(&(POINTS, weight, free, k)).expect("a triangle");
        }
        gradcheck::kernel::<both>(&(0.7, 0.2)).expect("both");
        gradcheck::kernel::<both>(&(0.7, 0.0)).expect("one without stiffness");
        let of = [mat3(POINTS[0], POINTS[1], POINTS[2]), mat3(POINTS[2], POINTS[0], POINTS[1])];
        for edge in 0..3 {
            gradcheck::kernel::<columns>(&(of, edge, (edge + 1) % 3)).expect("columns");
        }
    }

    /// Hinges without stiffness that become stiff together: the couplings are then theirs.
    #[test]
    fn without_stiffness() {
        assert_eq!(both::<f64>(0.0, 0.0), 0.0);
        assert_eq!(both::pullback(0.0, 0.0, 1.0), (0.5, 0.5));
        assert_eq!(both::pullback(0.0, 3.0, 1.0), (2.0, 0.0));
    }

    /// ½ off·C off = ½ A |Λ|², by the tensors themselves; where edges are free, the least of it over their angles.
    #[test]
    fn the_energy_of_a_curvature() {
        let weight = [1.2, 0.8, 1.7];
        let edges = [POINTS[2] - POINTS[1], POINTS[0] - POINTS[2], POINTS[1] - POINTS[0]];
        let normal = cross(edges[0], edges[1]);
        let (area, up) = (0.5 * length(normal), normalize(normal));
        let energy = |off: [f64; 3]| {
            let tensor = |i: usize| {
                let n = normalize(cross(edges[i], up));
                outer(n, n) * (weight[i] * off[i] / length(edges[i]))
            };
            let curvature = tensor(0) + tensor(1) + tensor(2);
            0.5 * area * contract(curvature, curvature)
        };
        let by = |free: Vec3, off: [f64; 3]| {
            let off = vec3(off[0], off[1], off[2]);
            0.5 * dot(off, plate_of_triangle(POINTS, weight, free) * off)
        };
        let off = [0.3, -0.2, 0.5];
        assert!((by(vec3(0.0, 0.0, 0.0), off) / energy(off) - 1.0).abs() < 1e-14);
        // The least by differences, which are exact for squares.
        let least = |f: &dyn Fn(f64) -> f64| {
            let (slope, bend) = (0.5 * (f(1.0) - f(-1.0)), f(1.0) + f(-1.0) - 2.0 * f(0.0));
            f(-slope / bend)
        };
        let one = least(&|a| energy([off[0], a, off[2]]));
        assert!((by(vec3(0.0, 1.0, 0.0), off) / one - 1.0).abs() < 1e-13, "{one}");
        let two = least(&|b| least(&|a| energy([a, off[1], b])));
        assert!((by(vec3(1.0, 0.0, 1.0), off) / two - 1.0).abs() < 1e-13, "{two}");
        assert!(two < 0.9 * energy(off) && by(vec3(1.0, 1.0, 1.0), off).abs() < 1e-15);
    }
}
