//! Mass of shapes that are hollow: all of it is in their surface.

use std::f64::consts::PI;

use crate::robot::{Amount, Geometry, Inertial};

/// Mass and inertia of a surface that is as thick everywhere, in the frame of the shape. A density is that of the surface
/// [kg/m²]. Planes and meshes have none here.
pub(super) fn inertial(geometry: &Geometry, amount: Amount) -> Inertial {
    let Some((area, moments)) = area_and_moments(geometry) else {
        return Inertial::default();
    };
    let mass = match amount {
        Amount::Mass(mass) => mass,
        Amount::Density(density) => density * area,
    };
    let [x, y, z] = moments.map(|moment| mass * moment);
    Inertial { mass, center: [0.0; 3], inertia: [x, y, z, 0.0, 0.0, 0.0] }
}

/// Area [m²], and principal moments for each mass [m²].
fn area_and_moments(geometry: &Geometry) -> Option<(f64, [f64; 3])> {
    Some(match *geometry {
        Geometry::Plane | Geometry::Mesh(_) | Geometry::Heights(_) => return None,
        Geometry::Sphere { radius: r } => (4.0 * PI * r * r, [2.0 / 3.0 * r * r; 3]),
        // A tube and two half spheres, whose centres are r / 2 beyond its ends; a half sphere has
        // (2/3 - 1/4) r² = 5/12 r² about its own centre, across its axis.
        Geometry::Capsule { radius: r, half_length: h } => {
            let (tube, caps) = (4.0 * PI * r * h, 4.0 * PI * r * r);
            let away = h + 0.5 * r;
            let across = tube * (r * r / 2.0 + h * h / 3.0) + caps * (5.0 / 12.0 * r * r + away * away);
            let along = tube * r * r + caps * 2.0 / 3.0 * r * r;
            let area = tube + caps;
            (area, [across / area, across / area, along / area])
        }
        // A tube and two discs at its ends.
        Geometry::Cylinder { radius: r, half_length: h } => {
            let (tube, discs) = (4.0 * PI * r * h, 2.0 * PI * r * r);
            let across = tube * (r * r / 2.0 + h * h / 3.0) + discs * (r * r / 4.0 + h * h);
            let along = tube * r * r + discs * r * r / 2.0;
            let area = tube + discs;
            (area, [across / area, across / area, along / area])
        }
        Geometry::Box { half_sides } => {
            // The sides across each axis: ∫ x² over all six, with half sides a, b and c, is
            // 2 · 4bc · a² (the two across x) + 2 · (4ab + 4ac) · a² / 3.
            let [a, b, c] = half_sides;
            let area = 8.0 * (a * b + b * c + c * a);
            let square = |a: f64, b: f64, c: f64| 8.0 * (b * c + a * (b + c) / 3.0) * a * a / area;
            let [x, y, z] = [square(a, b, c), square(b, c, a), square(c, a, b)];
            (area, [y + z, x + z, x + y])
        }
        Geometry::Ellipsoid { half_axes } => ellipsoid(half_axes),
    })
}

/// The area by Thomsen's approximation; the moments of what a growth of all half axes by the same small length adds, as
/// MuJoCo has them. With V = 4/3 π a b c and I_x = V (b² + c²) / 5, and dV, dI for da = db = dc:
/// dV / V = 1/a + 1/b + 1/c,  dI_x / V = (dV / V (b² + c²) + 2 (b + c)) / 5.
fn ellipsoid([a, b, c]: [f64; 3]) -> (f64, [f64; 3]) {
    const POWER: f64 = 1.6075;
    let mean = ((a * b).powf(POWER) + (b * c).powf(POWER) + (c * a).powf(POWER)) / 3.0;
    let growth = 1.0 / a + 1.0 / b + 1.0 / c;
    let moment = |b: f64, c: f64| (b * b + c * c + 2.0 * (b + c) / growth) / 5.0;
    (4.0 * PI * mean.powf(1.0 / POWER), [moment(b, c), moment(a, c), moment(a, b)])
}
