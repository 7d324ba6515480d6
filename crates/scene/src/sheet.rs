//! Soft sheets of triangles.

use crate::elastic::Elastic;
use crate::particles::Particles;
use crate::scene::Scene;
use crate::soft::{Hinge, Mesh, SheetMesh};
use crate::solid::{lumped, value_of};

/// A soft sheet of triangles, such as cloth, whose points are particles: all that moves of it is a group of
/// [`Scene::particles`](crate::Scene::particles), which has its name.
///
/// Numbers of elements and of hinges are lists with one entry, for all of them, or with one for each.
///
/// ```
/// use pullback_scene::soft::{Diagonals, SheetMesh};
/// use pullback_scene::{Elastic, Scene, Sheet};
///
/// let mesh = SheetMesh::sheet([1.0, 0.5], [8, 4], Diagonals::Alternating)?;
/// let flag = Sheet::new("flag", &mesh, 1e-3, Elastic::of_young_in_plane(1e6, 0.3)?, 200.0).air(0.5, 0.1);
/// let points = flag.points().fix_points(&[0, 36]);
///
/// let mut scene = Scene::default();
/// scene.add_sheet(flag, points);
/// scene.check()?;
/// assert!((scene.sheets[0].point_masses().iter().sum::<f64>() - 0.1).abs() < 1e-12);
/// # Ok::<(), pullback_scene::Invalid>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Its name, which is also that of its group.
    pub name: String,
    /// The group of its points, as an index of [`Scene::particles`](crate::Scene::particles). Masses of the group are
    /// besides those of the elements.
    pub group: usize,
    /// The three corners of each triangle, as points of the group: those of [`SheetMesh`].
    pub elements: Vec<[u32; 3]>,
    /// Where the points are without stress [m]. A sheet need not be flat at rest.
    pub rest: Vec<[f64; 3]>,
    /// Thickness of the elements [m].
    pub thickness: Vec<f64>,
    /// Shear moduli [Pa].
    pub mu: Vec<f64>,
    /// Lamé's first parameters of plane stress [Pa].
    pub lambda: Vec<f64>,
    /// Densities [kg/m³].
    pub density: Vec<f64>,
    /// Actuations of the elements [1].
    pub actuation: Vec<f64>,
    /// Whether the actuations are controls; else they are params.
    pub controlled: bool,
    /// Viscosities in the plane [Pa·s]; `None`: no damping at all.
    pub viscosity: Option<Vec<f64>>,
    /// Whether the places at rest are params.
    pub rest_params: bool,
    /// The edges that it bends about: [`SheetMesh::hinges`], or some of them.
    pub hinges: Vec<Hinge>,
    /// Flexural rigidity at the hinges [N·m].
    pub bending: Vec<f64>,
    /// Damping of the bending [N·m·s]; `None`: none at all.
    pub bending_damping: Option<Vec<f64>>,
    /// Angles of the hinges without stress [rad]; `None`: those of the shape at rest.
    pub rest_angles: Option<Vec<f64>>,
    /// Actuations of the hinges [rad], which come on top of the angles at rest.
    pub fold: Vec<f64>,
    /// Whether the actuations of the hinges are controls; else they are params.
    pub fold_controlled: bool,
    /// Drag of the air on the elements [kg/m³], by area and squared speed; `None`: no drag at all.
    pub drag: Option<Vec<f64>>,
    /// Lift of the air on the elements [kg/m³], by area and squared speed; `None`: no lift at all.
    pub lift: Option<Vec<f64>>,
}

impl Sheet {
    /// A sheet that is at rest as the mesh has it: its name, and for all elements thickness [m], stiffness in the plane and
    /// density [kg/m³]. It bends as a plate of that thickness does. It belongs to no group yet:
    /// [`Scene::add_sheet`](crate::Scene::add_sheet).
    pub fn new(
        name: impl Into<String>,
        mesh: &SheetMesh,
        thickness: f64,
        elastic: Elastic,
        density: f64,
    ) -> Self {
        Self {
            name: name.into(),
            group: 0,
            elements: mesh.elements.clone(),
            rest: mesh.points.clone(),
            thickness: vec![thickness],
            mu: vec![elastic.mu],
            lambda: vec![elastic.lambda],
            density: vec![density],
            actuation: vec![0.0],
            controlled: false,
            viscosity: None,
            rest_params: false,
            hinges: mesh.hinges(),
            bending: vec![plate(elastic.mu, elastic.lambda, thickness)],
            bending_damping: None,
            rest_angles: None,
            fold: vec![0.0],
            fold_controlled: false,
            drag: None,
            lift: None,
        }
    }

    /// Its points where it is at rest, without mass of their own: the group to add with it.
    pub fn points(&self) -> Particles {
        Particles::many(self.name.clone(), self.rest.clone(), 0.0)
    }

    /// The mesh that it is at rest.
    pub fn mesh(&self) -> SheetMesh {
        Mesh { points: self.rest.clone(), elements: self.elements.clone() }
    }

    /// Masses of its elements at its points [kg]: a third of each triangle at each of its corners. Masses of the group
    /// come on top.
    ///
    /// # Panics
    ///
    /// When an element has a corner that is no point.
    pub fn point_masses(&self) -> Vec<f64> {
        let mesh = self.mesh();
        let per_area = |i| value_of(&self.density, i) * value_of(&self.thickness, i);
        lumped(&mesh, mesh.areas().enumerate().map(|(i, area)| area * per_area(i)))
    }

    /// The same sheet, which bends as plates of the thickness and stiffness of its elements do; a hinge, as the mean of its
    /// two triangles.
    #[must_use]
    pub fn bending_as_plate(self) -> Self {
        let numbers = [&self.mu, &self.lambda, &self.thickness];
        let rigidity = |i| {
            let [mu, lambda, thickness] = numbers.map(|list| value_of(list, i));
            plate(mu, lambda, thickness)
        };
        let bending = if numbers.iter().all(|list| list.len() == 1) {
            vec![rigidity(0)]
        } else {
            let mean = |[a, b]: [u32; 2]| 0.5 * (rigidity(a as usize) + rigidity(b as usize));
            self.hinges.iter().map(|hinge| mean(hinge.triangles)).collect()
        };
        Self { bending, ..self }
    }

    /// The same sheet with this flexural rigidity at all hinges [N·m].
    #[must_use]
    pub fn bending(self, bending: f64) -> Self {
        Self { bending: vec![bending], ..self }
    }

    /// The same sheet with this damping of the bending at all hinges [N·m·s].
    #[must_use]
    pub fn bending_damping(self, damping: f64) -> Self {
        Self { bending_damping: Some(vec![damping]), ..self }
    }

    /// The same sheet with this viscosity of all elements [Pa·s].
    #[must_use]
    pub fn viscosity(self, viscosity: f64) -> Self {
        Self { viscosity: Some(vec![viscosity]), ..self }
    }

    /// The same sheet in air: drag and lift of all elements [kg/m³].
    #[must_use]
    pub fn air(self, drag: f64, lift: f64) -> Self {
        Self { drag: Some(vec![drag]), lift: Some(vec![lift]), ..self }
    }

    /// The same sheet with this actuation of all elements [1], which is a param.
    #[must_use]
    pub fn actuation(self, actuation: f64) -> Self {
        Self { actuation: vec![actuation], controlled: false, ..self }
    }

    /// The same sheet with a control for each element: its actuation, which is 0 to begin with.
    #[must_use]
    pub fn controlled(self) -> Self {
        Self { actuation: vec![0.0; self.elements.len()], controlled: true, ..self }
    }

    /// The same sheet with a control for each hinge: its actuation, which is 0 to begin with.
    #[must_use]
    pub fn fold_controlled(self) -> Self {
        Self { fold: vec![0.0; self.hinges.len()], fold_controlled: true, ..self }
    }

    /// The same sheet, whose places at rest are params.
    #[must_use]
    pub fn rest_params(self) -> Self {
        Self { rest_params: true, ..self }
    }
}

impl Scene {
    /// Adds a sheet and its points, [`Sheet::points`], which may start elsewhere, move, be fixed or have masses. Returns the
    /// first of the points, counted over all groups.
    pub fn add_sheet(&mut self, sheet: Sheet, points: Particles) -> usize {
        let first = self.particle_count();
        self.sheets.push(Sheet { group: self.particles.len(), ..sheet });
        self.particles.push(points);
        first
    }
}

/// Flexural rigidity of a plate [N·m]:  E t³ / (12 (1 - ν²)), with E / (1 - ν²) = lambda + 2 mu of plane stress.
fn plate(mu: f64, lambda: f64, thickness: f64) -> f64 {
    (lambda + 2.0 * mu) * thickness.powi(3) / 12.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::Diagonals;

    #[test]
    fn plates_bend_as_they_should() {
        let (young, poisson, thickness): (f64, f64, f64) = (3e5, 0.3, 2e-3);
        let elastic = Elastic::of_young_in_plane(young, poisson).expect("matter");
        let wanted = young * thickness.powi(3) / (12.0 * (1.0 - poisson * poisson));
        let mesh = SheetMesh::sheet([1.0, 1.0], [2, 1], Diagonals::One).expect("a sheet");
        let sheet = Sheet::new("sheet", &mesh, thickness, elastic, 1.0);
        assert!((sheet.bending[0] / wanted - 1.0).abs() < 1e-12);
        assert_eq!(sheet.clone().bending_as_plate(), sheet);
        // A triangle of twice the thickness has eight times the rigidity, and a hinge the mean of two.
        let mut thick = vec![thickness; 4];
        thick[0] *= 2.0;
        let uneven = Sheet { thickness: thick, ..sheet }.bending_as_plate();
        assert_eq!(uneven.bending.len(), uneven.hinges.len());
        for (hinge, bending) in uneven.hinges.iter().zip(&uneven.bending) {
            let factor = if hinge.triangles.contains(&0) { 4.5 } else { 1.0 };
            assert!((bending / wanted - factor).abs() < 1e-12, "{hinge:?}: {bending}");
        }
    }

    #[test]
    fn masses_of_points_are_those_of_elements() {
        let mesh =
            SheetMesh { points: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]], elements: vec![[0, 1, 2]] };
        let elastic = Elastic { mu: 1.0, lambda: 1.0 };
        assert_eq!(Sheet::new("sheet", &mesh, 0.5, elastic, 6.0).point_masses(), [1.0; 3]);
    }
}
