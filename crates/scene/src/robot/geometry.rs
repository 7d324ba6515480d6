//! Volume and inertia of shapes.

use std::f64::consts::PI;

use super::{Geometry, Inertial};
use crate::error::Invalid;

/// How much of a material a shape is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So much mass, evenly distributed [kg].
    Mass(f64),
    /// So much mass in each volume [kg/m³].
    Density(f64),
}

impl Geometry {
    /// Volume [m³]; `None` for planes and heights, for meshes without triangles, and for meshes that are open or inside out.
    pub fn volume(&self) -> Option<f64> {
        Some(match *self {
            Geometry::Plane | Geometry::Heights(_) => return None,
            Geometry::Sphere { radius: r } => 4.0 / 3.0 * PI * r.powi(3),
            Geometry::Capsule { radius: r, half_length: h } => PI * r * r * (2.0 * h + 4.0 / 3.0 * r),
            Geometry::Cylinder { radius: r, half_length: h } => 2.0 * PI * r * r * h,
            Geometry::Box { half_sides: [x, y, z] } => 8.0 * x * y * z,
            Geometry::Ellipsoid { half_axes: [x, y, z] } => 4.0 / 3.0 * PI * x * y * z,
            Geometry::Mesh(ref mesh) => mesh.triangles.as_ref()?.inertial(1.0).ok()?.mass,
        })
    }

    /// The lengths that it is made of [m]; none of planes, meshes and heights.
    pub(crate) fn lengths(&self) -> Vec<f64> {
        match *self {
            Geometry::Plane | Geometry::Mesh(_) | Geometry::Heights(_) => Vec::new(),
            Geometry::Sphere { radius } => vec![radius],
            Geometry::Capsule { radius, half_length } | Geometry::Cylinder { radius, half_length } => {
                vec![radius, half_length]
            }
            Geometry::Box { half_sides: three } | Geometry::Ellipsoid { half_axes: three } => three.to_vec(),
        }
    }

    /// Mass, centre and inertia of the shape in its own frame, when it is filled evenly.
    ///
    /// # Errors
    ///
    /// When it has no volume that could be filled.
    pub fn inertial(&self, amount: Amount) -> Result<Inertial, Invalid> {
        let empty = || {
            Invalid::new(
                "",
                "the shape has no volume",
                "give the mass and inertia themselves, or use another shape (of a mesh, a closed one with its triangles)",
            )
        };
        if let Geometry::Mesh(mesh) = self {
            let unit = mesh.triangles.as_ref().ok_or_else(empty)?.inertial(1.0)?;
            let density = match amount {
                Amount::Density(density) => density,
                Amount::Mass(mass) => mass / unit.mass,
            };
            let inertia = unit.inertia.map(|moment| density * moment);
            return Ok(Inertial { mass: density * unit.mass, center: unit.center, inertia });
        }
        let volume = self.volume().ok_or_else(empty)?;
        let mass = match amount {
            Amount::Mass(mass) => mass,
            Amount::Density(density) => density * volume,
        };
        let [x, y, z] = self.unit_moments().ok_or_else(empty)?.map(|moment| mass * moment);
        Ok(Inertial { mass, center: [0.0; 3], inertia: [x, y, z, 0.0, 0.0, 0.0] })
    }

    /// Principal moments for each mass [m²], textbook formulas of solids.
    fn unit_moments(&self) -> Option<[f64; 3]> {
        Some(match *self {
            Geometry::Plane | Geometry::Mesh(_) | Geometry::Heights(_) => return None,
            Geometry::Sphere { radius: r } => [0.4 * r * r; 3],
            Geometry::Cylinder { radius: r, half_length: h } => {
                let across = r * r / 4.0 + h * h / 3.0;
                [across, across, r * r / 2.0]
            }
            // The cylinder and two half balls, whose centres are 3/8 r beyond its ends; a half ball has
            // (2/5 - 9/64) r² = 83/320 r² about its own centre, across its axis.
            Geometry::Capsule { radius: r, half_length: h } => {
                let (cylinder, balls) = (2.0 * h, 4.0 / 3.0 * r);
                let all = cylinder + balls;
                if all == 0.0 {
                    return Some([0.0; 3]);
                }
                let away = h + 0.375 * r;
                let across =
                    cylinder * (r * r / 4.0 + h * h / 3.0) + balls * (83.0 / 320.0 * r * r + away * away);
                let along = cylinder * r * r / 2.0 + balls * 0.4 * r * r;
                [across / all, across / all, along / all]
            }
            Geometry::Box { half_sides: [x, y, z] } => {
                [(y * y + z * z) / 3.0, (x * x + z * z) / 3.0, (x * x + y * y) / 3.0]
            }
            Geometry::Ellipsoid { half_axes: [x, y, z] } => {
                [(y * y + z * z) / 5.0, (x * x + z * z) / 5.0, (x * x + y * y) / 5.0]
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ over slices z = const of a body of revolution with radius(z), by the midpoint rule: volume and moments.
    fn by_slices(top: f64, radius: impl Fn(f64) -> f64) -> [f64; 3] {
        let count = 200_000;
        let dz = 2.0 * top / f64::from(count);
        (0..count).map(|i| -top + (f64::from(i) + 0.5) * dz).fold([0.0; 3], |[volume, across, along], z| {
            let r2 = radius(z).powi(2);
            let slice = PI * r2 * dz;
            [volume + slice, across + slice * (r2 / 4.0 + z * z), along + slice * r2 / 2.0]
        })
    }

    fn check(geometry: &Geometry, slices: [f64; 3]) {
        let density = 700.0;
        let found = geometry.inertial(Amount::Density(density)).expect("it has a volume");
        let [volume, across, along] = slices.map(|x| density * x);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-7 * b.abs();
        assert!(close(found.mass, volume), "{geometry:?}: {found:?}, {volume}");
        assert!(close(found.inertia[0], across) && close(found.inertia[1], across), "{found:?}, {across}");
        assert!(close(found.inertia[2], along), "{found:?}, {along}");
        let weighed = geometry.inertial(Amount::Mass(volume)).expect("it has a volume");
        assert!(close(weighed.inertia[0], across), "{weighed:?}");
    }

    #[test]
    fn bodies_of_revolution_are_sums_of_slices() {
        let (r, h) = (0.3, 0.5);
        check(&Geometry::Sphere { radius: r }, by_slices(r, |z| (r * r - z * z).sqrt()));
        check(&Geometry::Cylinder { radius: r, half_length: h }, by_slices(h, |_| r));
        check(
            &Geometry::Capsule { radius: r, half_length: h },
            by_slices(h + r, |z| {
                let beyond = (z.abs() - h).max(0.0);
                (r * r - beyond * beyond).sqrt()
            }),
        );
        let half_axes = [r, r, h];
        check(&Geometry::Ellipsoid { half_axes }, by_slices(h, |z| r * (1.0 - (z / h).powi(2)).sqrt()));
    }

    #[test]
    fn boxes_and_planes() {
        let found =
            Geometry::Box { half_sides: [0.5, 1.0, 1.5] }.inertial(Amount::Mass(12.0)).expect("a volume");
        // m / 12 (b² + c²) with sides 1, 2 and 3.
        assert_eq!(found.inertia, [13.0, 10.0, 5.0, 0.0, 0.0, 0.0]);
        assert_eq!(Geometry::Plane.volume(), None);
        assert!(Geometry::Plane.inertial(Amount::Density(1.0)).is_err());
    }
}
