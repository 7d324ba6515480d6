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

/// Which hinges are edges of which triangles. Edge i of a triangle is the one across from its corner i.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// The hinges of each triangle; `None` at a border, or where nothing resists.
    hinges: Vec<[Option<usize>; 3]>,
    /// The corners of each triangle, and those across from its edges.
    corners: Vec<[usize; 6]>,
    count: usize,
}

impl Neighbours {
    /// Of triangles, and of hinges with the corners of [`hinge`](crate::hinge) and the two triangles of each.
    ///
    /// # Panics
    ///
    /// When a hinge is no edge of its triangles.
    pub fn new(triangles: &[[usize; 3]], hinges: &[[usize; 4]], of: &[[usize; 2]]) -> Self {
        let mut found = vec![[None; 3]; triangles.len()];
        // Where there is no other triangle, the corner across is that of the triangle itself: a hinge that is folded up.
        let mut corners: Vec<[usize; 6]> = triangles.iter().map(|&[a, b, c]| [a, b, c, a, b, c]).collect();
        for (hinge, (at, of)) in hinges.iter().zip(of).enumerate() {
            for (triangle, own, across) in [(of[0], at[2], at[3]), (of[1], at[3], at[2])] {
                let edge = triangles[triangle].iter().position(|&corner| corner == own);
                let edge = edge.expect("a corner of the triangle");
                found[triangle][edge] = Some(hinge);
                corners[triangle][3 + edge] = across;
            }
        }
        Neighbours { hinges: found, corners, count: hinges.len() }
    }

    /// The corners of each triangle, and those across from its edges.
    pub fn corners(&self) -> &[[usize; 6]] {
        &self.corners
    }

    /// Adds the hinges of each triangle, as what it touches. For those that are not there, any stands.
    pub fn edges(&self, p: &mut Builder, name: &str) -> Corners<3> {
        let of = |hinges: &[Option<usize>; 3]| {
            let any = hinges.iter().find_map(|&hinge| hinge).unwrap_or(0);
            hinges.map(|hinge| hinge.unwrap_or(any))
        };
        let all: Vec<[usize; 3]> = self.hinges.iter().map(of).collect();
        p.corners(name, &all, self.count)
    }

    /// 1 for the edges of each triangle that are free.
    fn free(&self) -> Vec<Vec3> {
        let free = |hinge: Option<usize>| if hinge.is_none() { 1.0 } else { 0.0 };
        self.hinges.iter().map(|hinges| hinges.map(free)).map(|[x, y, z]| vec3(x, y, z)).collect()
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

/// K_ij = k_ij C_ij, those of i = j first, then 12, 20 and 01. Of free edges they are zero to the last bit.
#[kernel]
fn triangle_couplings<R: Real>(
    points: [Vec3<R>; 3],
    weight: [R; 3],
    free: Vec3<R>,
    k: [R; 3],
) -> (Vec3<R>, Vec3<R>) {
    let c = plate_of_triangle(points, weight, free);
    let (a0, a1, a2) = (1.0 - free.x, 1.0 - free.y, 1.0 - free.z);
    let own = vec3(k[0] * c.x.x * a0, k[1] * c.y.y * a1, k[2] * c.z.z * a2);
    let (k12, k20, k01) = (both(k[1], k[2]), both(k[2], k[0]), both(k[0], k[1]));
    (own, vec3(k12 * c.y.z * a1 * a2, k20 * c.z.x * a2 * a0, k01 * c.x.y * a0 * a1))
}

/// Adds the couplings in each triangle [N·m]: of its edges to themselves, and to each other. Triangles have their corners at these points [m]
/// at rest; hinges have these weights [1], of [`rest::hinges_at_rest`](crate::rest::hinges_at_rest), and stiffnesses [N·m].
/// `name` is that of what they are part of.
pub fn couplings(
    p: &mut Builder,
    name: &str,
    (neighbours, edges): (&Neighbours, Corners<3>),
    (corners, points): (Corners<3>, Buffer<Vec3>),
    (weight, stiffness): (Buffer<f64>, Buffer<f64>),
) -> [Buffer<Vec3>; 2] {
    let free = p.constant::<Vec3>(&format!("{name} that are not there"), &neighbours.free());
    let (own, mixed) = p.map::<triangle_couplings>(
        &format!("{name} by themselves, {name} that are coupled"),
        (points.at(corners), weight.at(edges), free.own(), stiffness.at(edges)),
    );
    [own, mixed]
}

#[kernel]
fn rest_of_triangle<R: Real>(angle: [R; 3], actuation: [R; 3]) -> Vec3<R> {
    vec3(angle[0] + actuation[0], angle[1] + actuation[1], angle[2] + actuation[2])
}

/// Adds the angles at rest of each triangle's edges [rad], of those of hinges and what is added to them.
pub fn rest_angles(
    p: &mut Builder,
    name: &str,
    edges: Corners<3>,
    (angle, actuation): (Buffer<f64>, Buffer<f64>),
) -> Buffer<Vec3> {
    p.map::<Once<rest_of_triangle>>(name, (angle.at(edges), actuation.at(edges)))
}

#[cfg(test)]
mod tests {
    use pullback_kernel::gradcheck;

    use super::*;

    const POINTS: [Vec3; 3] =
        [Vec3 { x: 0.1, y: 0.2, z: -0.1 }, Vec3 { x: 1.2, y: 0.1, z: 0.3 }, Vec3 { x: 0.4, y: 0.9, z: 0.2 }];

    #[kernel]
    fn inside<R: Real>(points: [Vec3<R>; 3], weight: [R; 3], k: [R; 3]) -> (Vec3<R>, Vec3<R>) {
        triangle_couplings(points, weight, vec3(0.0, 0.0, 0.0), k)
    }

    #[kernel]
    fn at_a_border<R: Real>(points: [Vec3<R>; 3], weight: [R; 3], k: [R; 3]) -> (Vec3<R>, Vec3<R>) {
        triangle_couplings(points, weight, vec3(0.0, 1.0, 0.0), k)
    }

    #[kernel]
    fn at_a_corner<R: Real>(points: [Vec3<R>; 3], weight: [R; 3], k: [R; 3]) -> (Vec3<R>, Vec3<R>) {
        triangle_couplings(points, weight, vec3(1.0, 0.0, 1.0), k)
    }

    #[test]
    fn gradients_of_the_kernels() {
        let (weight, k) = ([1.2, 0.8, 1.7], [0.7, 0.2, 1.1]);
        gradcheck::kernel::<inside>(&(POINTS, weight, k)).expect("a triangle");
        gradcheck::kernel::<at_a_border>(&(POINTS, weight, k)).expect("one with an edge at a border");
        gradcheck::kernel::<at_a_corner>(&(POINTS, weight, k)).expect("one with two");
        gradcheck::kernel::<both>(&(0.7, 0.2)).expect("both");
        gradcheck::kernel::<both>(&(0.7, 0.0)).expect("one without stiffness");
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
