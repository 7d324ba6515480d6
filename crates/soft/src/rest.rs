//! What is prepared once of a shape at rest: inverse edges, volumes, areas, angles, and the masses of corners.
//!
//! All of it is differentiated by the points of the shape, by density and by thickness.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

use crate::hinge::dihedral;

/// The inverse of the edges of a triangle at rest [1/m], in its own plane with the first axis along its first edge:
/// ((xx, xy), (0, yy)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct InverseEdges<R = f64> {
    /// First row, first column.
    pub xx: R,
    /// First row, second column.
    pub xy: R,
    /// Second row, second column.
    pub yy: R,
}

/// D_m⁻¹ and V = det D_m / 6, with the edges from corner 0 as the columns of D_m.
#[kernel]
fn tetrahedron_at_rest<R: Real>(points: [Vec3<R>; 4]) -> (Mat3<R>, R) {
    let edges = mat3(points[1] - points[0], points[2] - points[0], points[3] - points[0]);
    let cof = cofactors(edges);
    let d = dot(edges.x, cof.x);
    (transpose(cof / d), d / 6.0)
}

/// Inverse edges [1/m] and volume [m³] of each tetrahedron, whose corners are at these points [m] at rest. `name` is that of
/// what they are part of.
///
/// The volume of one that is inside out is negative, and nothing is finite for a flat one: refuse them before.
pub fn tetrahedra_at_rest(
    p: &mut Builder,
    name: &str,
    corners: Corners<4>,
    points: Buffer<Vec3>,
) -> (Buffer<Mat3>, Buffer<f64>) {
    p.map::<Once<tetrahedron_at_rest>>(&format!("{name} rest, {name} volume"), (points.at(corners),))
}

/// With the first edge of length l along the first axis and the second at (q, h): the inverse of ((l, q), (0, h)), and the area ½ l h.
#[kernel]
fn triangle_at_rest<R: Real>(points: [Vec3<R>; 3]) -> (InverseEdges<R>, R) {
    let (a, b) = (points[1] - points[0], points[2] - points[0]);
    let normal = cross(a, b);
    let twice = sqrt(dot(normal, normal));
    let l = sqrt(dot(a, a));
    let h = twice / l;
    let q = dot(a, b) / l;
    (InverseEdges { xx: 1.0 / l, xy: -q / twice, yy: 1.0 / h }, 0.5 * twice)
}

/// Inverse edges [1/m] and area [m²] of each triangle, whose corners are at these points [m] at rest.
pub fn triangles_at_rest(
    p: &mut Builder,
    name: &str,
    corners: Corners<3>,
    points: Buffer<Vec3>,
) -> (Buffer<InverseEdges>, Buffer<f64>) {
    p.map::<Once<triangle_at_rest>>(&format!("{name} rest, {name} area"), (points.at(corners),))
}

/// θ at rest, and |e|²/(A₀ + A₁).
#[kernel]
fn hinge_at_rest<R: Real>(points: [Vec3<R>; 4]) -> (R, R) {
    let e = points[1] - points[0];
    let a = cross(e, points[2] - points[0]);
    let b = cross(points[3] - points[0], e);
    let areas = 0.5 * (sqrt(dot(a, a)) + sqrt(dot(b, b)));
    (dihedral(points), dot(e, e) / areas)
}

/// Angle at rest [rad] and weight |e|²/(A₀ + A₁) [1] of each hinge ([`crate::hinge`]), whose corners are at these points [m] at
/// rest.
pub fn hinges_at_rest(
    p: &mut Builder,
    name: &str,
    corners: Corners<4>,
    points: Buffer<Vec3>,
) -> (Buffer<f64>, Buffer<f64>) {
    p.map::<Once<hinge_at_rest>>(&format!("{name} angle, {name} weight"), (points.at(corners),))
}

#[kernel]
fn same<R: Real>(number: R, each: R) -> R {
    number
}

#[kernel]
fn nothing<R: Real>(each: R) -> R {
    each
}

/// Zeros, where a buffer is wanted.
pub(crate) fn zeros(p: &mut Builder, name: &str, count: usize) -> Buffer<f64> {
    let each = p.constant::<f64>(&format!("{name} of none"), &vec![0.0; count]);
    p.map::<Once<nothing>>(name, (each.own(),))
}

/// A number for all, to each of `count` elements.
pub fn spread(p: &mut Builder, name: &str, number: Buffer<f64>, count: usize) -> Buffer<f64> {
    let each = p.constant::<f64>(&format!("each of {name}"), &vec![0.0; count]);
    p.map::<same>(name, (number.shared(), each.own()))
}

#[kernel]
pub(crate) fn product<R: Real>(a: R, b: R) -> R {
    a * b
}

/// Volume of each triangle of a sheet [m³], of its area [m²] and its thickness [m].
pub fn sheet_volumes(p: &mut Builder, name: &str, area: Buffer<f64>, thickness: Buffer<f64>) -> Buffer<f64> {
    p.map::<Once<product>>(name, (area.own(), thickness.own()))
}

#[kernel]
fn quarters<R: Real>(density: R, volume: R) -> [R; 4] {
    let m = 0.25 * density * volume;
    [m, m, m, m]
}

#[kernel]
fn thirds<R: Real>(density: R, volume: R) -> [R; 3] {
    let m = density * volume / 3.0;
    [m, m, m]
}

#[kernel]
fn sum<R: Real>(a: R, b: R) -> R {
    a + b
}

/// Mass of each vertex [kg]: a quarter of that of each tetrahedron there, by its density [kg/m³] and volume [m³], and its own where it has
/// one.
pub fn tetrahedra_masses(
    p: &mut Builder,
    name: &str,
    corners: Corners<4>,
    (density, volume): (Buffer<f64>, Buffer<f64>),
    own: Option<Buffer<f64>>,
) -> Buffer<f64> {
    with_own(p, name, own, |p, name| {
        p.elements::<quarters, f64, 4>(name, corners, (density.own(), volume.own()))
    })
}

/// Mass of each vertex [kg]: a third of that of each triangle there, by its density [kg/m³] and volume [m³] (area times thickness), and
/// its own where it has one.
pub fn triangles_masses(
    p: &mut Builder,
    name: &str,
    corners: Corners<3>,
    (density, volume): (Buffer<f64>, Buffer<f64>),
    own: Option<Buffer<f64>>,
) -> Buffer<f64> {
    with_own(p, name, own, |p, name| {
        p.elements::<thirds, f64, 3>(name, corners, (density.own(), volume.own()))
    })
}

fn with_own(
    p: &mut Builder,
    name: &str,
    own: Option<Buffer<f64>>,
    shares: impl FnOnce(&mut Builder, &str) -> Buffer<f64>,
) -> Buffer<f64> {
    match own {
        None => shares(p, name),
        Some(own) => {
            let shares = shares(p, &format!("{name} of elements"));
            p.map::<Once<sum>>(name, (shares.own(), own.own()))
        }
    }
}

#[cfg(test)]
mod tests {
    use pullback_kernel::gradcheck;

    use super::*;

    #[test]
    fn gradients_of_the_kernels() {
        let at = |k: f64| vec3((1.3 * k).sin(), (2.1 * k + 0.4).cos(), (0.7 * k).sin());
        let tetrahedron = [at(0.0), at(1.0), at(2.0), at(3.0)];
        gradcheck::kernel::<tetrahedron_at_rest>(&(tetrahedron,)).expect("a tetrahedron");
        gradcheck::kernel::<triangle_at_rest>(&([at(0.0), at(1.0), at(2.0)],)).expect("a triangle");
        gradcheck::kernel::<hinge_at_rest>(&(tetrahedron,)).expect("a hinge");
        gradcheck::kernel::<quarters>(&(2.0, 0.3)).expect("quarters");
        gradcheck::kernel::<thirds>(&(2.0, 0.3)).expect("thirds");
    }
}
