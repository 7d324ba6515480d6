//! Points and elements, and everything that solids and sheets have in common.

use crate::error::Invalid;
use crate::robot::{Placement, orientation};
use crate::vector::{cross, dot, length, minus, plus};

/// A mesh of elements with so many corners each: [`SolidMesh`] and [`SheetMesh`].
///
/// It may be built in code from any numbers; [`SolidMesh::check`] and [`SheetMesh::check`] say whether they make a mesh.
/// Methods panic where an element has a corner that is no point, which is among what they find.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh<const CORNERS: usize> {
    /// Places of the points [m].
    pub points: Vec<[f64; 3]>,
    /// The corners of each element, as numbers of points.
    pub elements: Vec<[u32; CORNERS]>,
}

/// A solid of tetrahedra: seen from the last corner, the first three go anticlockwise, so that the volume is positive,
/// V = (b - a) · ((c - a) × (d - a)) / 6.
pub type SolidMesh = Mesh<4>;

/// A sheet, or a closed surface, of triangles: they go anticlockwise when seen from its front, or from outside.
pub type SheetMesh = Mesh<3>;

/// A box along the axes, its borders included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundingBox {
    /// Least coordinates [m].
    pub min: [f64; 3],
    /// Greatest coordinates [m].
    pub max: [f64; 3],
}

impl BoundingBox {
    /// Lengths along x, y and z [m].
    pub fn sides(&self) -> [f64; 3] {
        minus(self.max, self.min)
    }

    /// Whether a point is in it, or on its border.
    pub fn contains(&self, point: [f64; 3]) -> bool {
        (0..3).all(|i| self.min[i] <= point[i] && point[i] <= self.max[i])
    }

    /// The least box around points; `None` without points.
    pub(crate) fn around(points: impl IntoIterator<Item = [f64; 3]>) -> Option<Self> {
        points.into_iter().fold(None, |seen, point| {
            let BoundingBox { min, max } = seen.unwrap_or(BoundingBox { min: point, max: point });
            Some(BoundingBox {
                min: std::array::from_fn(|i| min[i].min(point[i])),
                max: std::array::from_fn(|i| max[i].max(point[i])),
            })
        })
    }
}

impl<const CORNERS: usize> Mesh<CORNERS> {
    /// The places of an element's corners [m].
    pub fn corners(&self, element: usize) -> [[f64; 3]; CORNERS] {
        self.elements[element].map(|at| self.points[at as usize])
    }

    /// The least box around all points; `None` without points.
    pub fn bounds(&self) -> Option<BoundingBox> {
        BoundingBox::around(self.points.iter().copied())
    }

    /// The same mesh elsewhere [m].
    #[must_use]
    pub fn moved(&self, by: [f64; 3]) -> Self {
        self.mapped(|point| plus(point, by))
    }

    /// The same mesh, turned about the origin by a unit quaternion (w, x, y, z).
    #[must_use]
    pub fn turned(&self, turn: [f64; 4]) -> Self {
        self.mapped(|point| orientation::rotate(turn, point))
    }

    /// The same mesh in the frame that it is placed in: turned, then moved.
    #[must_use]
    pub fn placed(&self, world_from_mesh: &Placement) -> Self {
        self.mapped(|point| world_from_mesh.apply(point))
    }

    /// Stretched along x, y and z from the origin. Elements of a mirrored mesh are wound the other way round, so that
    /// volumes stay positive and closed surfaces face outwards.
    #[must_use]
    pub fn scaled(&self, scale: [f64; 3]) -> Self {
        let mut scaled = self.mapped(|point| std::array::from_fn(|i| scale[i] * point[i]));
        if scale.iter().product::<f64>() < 0.0 {
            scaled.elements.iter_mut().for_each(mirror);
        }
        scaled
    }

    fn mapped(&self, place: impl Fn([f64; 3]) -> [f64; 3]) -> Self {
        Self {
            points: self.points.iter().map(|&point| place(point)).collect(),
            elements: self.elements.clone(),
        }
    }

    /// Points at most so far [m] from a plane, on both sides, in ascending order. The plane goes through a point [m],
    /// square to a normal of any length.
    ///
    /// # Errors
    ///
    /// When the normal has no direction.
    pub fn points_near_plane(
        &self,
        through: [f64; 3],
        normal: [f64; 3],
        distance: f64,
    ) -> Result<Vec<u32>, Invalid> {
        let Some(unit) = orientation::unit(normal) else {
            let what = format!("the normal {normal:?} has no direction");
            return Err(Invalid::new("normal", what, "give one such as [0, 0, 1]"));
        };
        Ok(self.points_where(|point| dot(minus(point, through), unit).abs() <= distance))
    }

    /// Points in a box, or on its border, in ascending order.
    pub fn points_in_box(&self, within: &BoundingBox) -> Vec<u32> {
        self.points_where(|point| within.contains(point))
    }

    fn points_where(&self, wanted: impl Fn([f64; 3]) -> bool) -> Vec<u32> {
        (0u32..).zip(&self.points).filter(|(_, point)| wanted(**point)).map(|(at, _)| at).collect()
    }
}

impl SolidMesh {
    /// Volume of each tetrahedron [m³], negative where it is inverted.
    pub fn volumes(&self) -> impl ExactSizeIterator<Item = f64> {
        (0..self.elements.len()).map(|element| tetrahedron_volume(self.corners(element)))
    }

    /// Sum of the volumes [m³].
    pub fn volume(&self) -> f64 {
        self.volumes().sum()
    }
}

impl SheetMesh {
    /// Area of each triangle [m²].
    pub fn areas(&self) -> impl ExactSizeIterator<Item = f64> {
        (0..self.elements.len()).map(|element| 0.5 * length(area_normal(self.corners(element))))
    }

    /// Sum of the areas [m²].
    pub fn area(&self) -> f64 {
        self.areas().sum()
    }

    /// Volume that a closed surface encloses [m³], negative when it is inside out:  ∫ dV = ⅓ ∮ x · dA.
    pub fn enclosed_volume(&self) -> f64 {
        // Near the mesh, so that little cancels.
        let origin =
            self.bounds().map_or([0.0; 3], |BoundingBox { min, max }| plus(min, max).map(|x| 0.5 * x));
        let volume_to = |element| {
            let [a, b, c] = self.corners(element).map(|corner| minus(corner, origin));
            dot(a, cross(b, c)) / 6.0
        };
        (0..self.elements.len()).map(volume_to).sum()
    }
}

/// Twice the area of a triangle, square to it.
pub(super) fn area_normal([a, b, c]: [[f64; 3]; 3]) -> [f64; 3] {
    cross(minus(b, a), minus(c, a))
}

/// Volume of a tetrahedron [m³].
pub(super) fn tetrahedron_volume([a, b, c, d]: [[f64; 3]; 4]) -> f64 {
    dot(minus(b, a), cross(minus(c, a), minus(d, a))) / 6.0
}

/// The same element, wound the other way round.
pub(super) fn mirror<const CORNERS: usize>(element: &mut [u32; CORNERS]) {
    element.swap(CORNERS - 2, CORNERS - 1);
}
