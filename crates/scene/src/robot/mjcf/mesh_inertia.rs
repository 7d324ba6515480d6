//! Mass of meshes in two ways that MuJoCo has besides the exact one.

use crate::error::Invalid;
use crate::robot::{Amount, Inertial, Triangles};

/// A triangle: its corners, centre, area and unit normal.
struct Face {
    corners: [[f64; 3]; 3],
    center: [f64; 3],
    area: f64,
    normal: [f64; 3],
}

fn faces(mesh: &Triangles) -> impl Iterator<Item = Face> {
    mesh.faces.iter().filter_map(|face| {
        let corners = face.map(|at| mesh.vertices[at as usize]);
        let [a, b, c] = corners;
        let (u, v): ([f64; 3], [f64; 3]) =
            (std::array::from_fn(|i| b[i] - a[i]), std::array::from_fn(|i| c[i] - a[i]));
        let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let length = dot(cross, cross).sqrt();
        (length > 0.0).then(|| Face {
            corners,
            center: std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0),
            area: 0.5 * length,
            normal: cross.map(|x| x / length),
        })
    })
}

/// The tetrahedra that the triangles span with one point, all taken as positive: with the area-weighted centre of the
/// surface for the centre of mass (pyramids have it at 3/4 of the base's centre + 1/4 of the tip), then with that centre
/// for volume and inertia. MuJoCo's own way, and still what it does unless told otherwise.
pub(super) fn legacy(mesh: &Triangles, amount: Amount) -> Result<Inertial, Invalid> {
    let area: f64 = faces(mesh).map(|face| face.area).sum();
    let tip = weighted(faces(mesh).map(|face| (face.area / area, face.center)));
    let pyramid = |face: &Face, tip: [f64; 3]| (height(face, tip) * face.area / 3.0).abs();
    let total: f64 = faces(mesh).map(|face| pyramid(&face, tip)).sum();
    let center = weighted(faces(mesh).map(|face| {
        let middle = std::array::from_fn(|i| 0.75 * face.center[i] + 0.25 * tip[i]);
        (pyramid(&face, tip) / total, middle)
    }));
    about(mesh, center, 20.0, amount, |face| pyramid(face, center))
}

/// The surface alone, as thick everywhere.
pub(super) fn shell(mesh: &Triangles, amount: Amount) -> Result<Inertial, Invalid> {
    let area: f64 = faces(mesh).map(|face| face.area).sum();
    let center = weighted(faces(mesh).map(|face| (face.area / area, face.center)));
    about(mesh, center, 12.0, amount, |face| face.area)
}

/// Sums ∫ x xᵀ = w / n (2 Σ p pᵀ + Σ_{p≠q} p qᵀ) over triangles with corners p and q from the centre: n = 20 for the
/// tetrahedra with their tips there, n = 12 for the triangles themselves, w their volume or area.
fn about(
    mesh: &Triangles,
    center: [f64; 3],
    divisor: f64,
    amount: Amount,
    weight: impl Fn(&Face) -> f64,
) -> Result<Inertial, Invalid> {
    let (mut total, mut second) = (0.0, [[0.0; 3]; 3]);
    for face in faces(mesh) {
        let w = weight(&face);
        total += w;
        let corners =
            face.corners.map(|corner| -> [f64; 3] { std::array::from_fn(|i| corner[i] - center[i]) });
        let sum: [f64; 3] = std::array::from_fn(|i| corners.iter().map(|corner| corner[i]).sum());
        for i in 0..3 {
            for j in 0..3 {
                let squares: f64 = corners.iter().map(|corner| corner[i] * corner[j]).sum();
                second[i][j] += w / divisor * (squares + sum[i] * sum[j]);
            }
        }
    }
    if total.is_nan() || total < 1e-14 {
        return Err(Invalid::new(
            "",
            "the mesh has no volume",
            "write inertia=\"shell\" at the mesh, mass=\"0\" at the geom, or an `<inertial>` in the body",
        ));
    }
    let density = match amount {
        Amount::Density(density) => density,
        Amount::Mass(mass) => mass / total,
    };
    let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = second.map(|row| row.map(|x| density * x));
    Ok(Inertial { mass: density * total, center, inertia: [yy + zz, xx + zz, xx + yy, -xy, -xz, -yz] })
}

fn height(face: &Face, tip: [f64; 3]) -> f64 {
    dot(std::array::from_fn(|i| face.center[i] - tip[i]), face.normal)
}

fn weighted(points: impl Iterator<Item = (f64, [f64; 3])>) -> [f64; 3] {
    points.fold([0.0; 3], |sum, (weight, point)| std::array::from_fn(|i| sum[i] + weight * point[i]))
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
