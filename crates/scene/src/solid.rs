//! Soft solids of tetrahedra.

use crate::elastic::{Elastic, SolidMaterial};
use crate::particles::Particles;
use crate::scene::Scene;
use crate::soft::{Mesh, SolidMesh};

/// A soft solid of tetrahedra, whose points are particles: all that moves of it is a group of
/// [`Scene::particles`](crate::Scene::particles), which has its name.
///
/// Numbers of elements are lists with one entry, for all of them, or with one for each.
///
/// ```
/// use pullback_scene::soft::SolidMesh;
/// use pullback_scene::{Elastic, Scene, Solid};
///
/// let mesh = SolidMesh::beam(1.0, 0.1, 0.1, [10, 2, 2])?;
/// let end = mesh.points_near_plane([0.0; 3], [1.0, 0.0, 0.0], 1e-9)?;
/// let beam = Solid::new("beam", &mesh, Elastic::of_young(1e6, 0.45)?, 1000.0).viscosity(20.0);
/// let points = beam.points().fix_points(&end);
///
/// let mut scene = Scene::default();
/// scene.add_solid(beam, points);
/// scene.check()?;
/// assert_eq!(scene.particle_index("beam[3]")?, 3);
/// assert!((scene.solids[0].point_masses().iter().sum::<f64>() - 10.0).abs() < 1e-12);
/// # Ok::<(), pullback_scene::Invalid>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Its name, which is also that of its group.
    pub name: String,
    /// The group of its points, as an index of [`Scene::particles`](crate::Scene::particles). Masses of the group are
    /// besides those of the elements.
    pub group: usize,
    /// The four corners of each tetrahedron, as points of the group: those of [`SolidMesh`].
    pub elements: Vec<[u32; 4]>,
    /// Where the points are without stress [m].
    pub rest: Vec<[f64; 3]>,
    /// The law that it follows.
    pub material: SolidMaterial,
    /// Shear moduli [Pa].
    pub mu: Vec<f64>,
    /// Lamé's first parameters [Pa].
    pub lambda: Vec<f64>,
    /// Densities [kg/m³].
    pub density: Vec<f64>,
    /// Actuations of the elements [1].
    pub actuation: Vec<f64>,
    /// Whether the actuations are controls; else they are params.
    pub controlled: bool,
    /// Viscosities [Pa·s]; `None`: no damping at all.
    pub viscosity: Option<Vec<f64>>,
    /// Whether the places at rest are params.
    pub rest_params: bool,
}

impl Solid {
    /// A neo-Hookean solid that is at rest as the mesh has it: its name, and for all elements stiffness and density
    /// [kg/m³]. It belongs to no group yet: [`Scene::add_solid`](crate::Scene::add_solid).
    pub fn new(name: impl Into<String>, mesh: &SolidMesh, elastic: Elastic, density: f64) -> Self {
        Self {
            name: name.into(),
            group: 0,
            elements: mesh.elements.clone(),
            rest: mesh.points.clone(),
            material: SolidMaterial::default(),
            mu: vec![elastic.mu],
            lambda: vec![elastic.lambda],
            density: vec![density],
            actuation: vec![0.0],
            controlled: false,
            viscosity: None,
            rest_params: false,
        }
    }

    /// Its points where it is at rest, without mass of their own: the group to add with it.
    pub fn points(&self) -> Particles {
        Particles::many(self.name.clone(), self.rest.clone(), 0.0)
    }

    /// The mesh that it is at rest.
    pub fn mesh(&self) -> SolidMesh {
        Mesh { points: self.rest.clone(), elements: self.elements.clone() }
    }

    /// Masses of its elements at its points [kg]: a quarter of each tetrahedron at each of its corners. Masses of the
    /// group come on top.
    ///
    /// # Panics
    ///
    /// When an element has a corner that is no point.
    pub fn point_masses(&self) -> Vec<f64> {
        let mesh = self.mesh();
        lumped(&mesh, mesh.volumes().enumerate().map(|(i, volume)| volume * value_of(&self.density, i)))
    }

    /// The same solid of another law.
    #[must_use]
    pub fn material(self, material: SolidMaterial) -> Self {
        Self { material, ..self }
    }

    /// The same solid with this viscosity of all elements [Pa·s].
    #[must_use]
    pub fn viscosity(self, viscosity: f64) -> Self {
        Self { viscosity: Some(vec![viscosity]), ..self }
    }

    /// The same solid with this actuation of all elements [1], which is a param.
    #[must_use]
    pub fn actuation(self, actuation: f64) -> Self {
        Self { actuation: vec![actuation], controlled: false, ..self }
    }

    /// The same solid with a control for each element: its actuation, which is 0 to begin with.
    #[must_use]
    pub fn controlled(self) -> Self {
        Self { actuation: vec![0.0; self.elements.len()], controlled: true, ..self }
    }

    /// The same solid, whose places at rest are params.
    #[must_use]
    pub fn rest_params(self) -> Self {
        Self { rest_params: true, ..self }
    }
}

impl Scene {
    /// Adds a solid and its points, [`Solid::points`], which may start elsewhere, move, be fixed or have masses. Returns the
    /// first of the points, counted over all groups.
    pub fn add_solid(&mut self, solid: Solid, points: Particles) -> usize {
        let first = self.particle_count();
        self.solids.push(Solid { group: self.particles.len(), ..solid });
        self.particles.push(points);
        first
    }
}

/// The value of one of many things: that of the list, or the only one there is. A list that is too short has none.
pub(crate) fn value_of(values: &[f64], at: usize) -> f64 {
    let at = if values.len() == 1 { 0 } else { at };
    values.get(at).copied().unwrap_or(f64::NAN)
}

/// Masses of elements [kg], in equal parts at their corners.
pub(crate) fn lumped<const CORNERS: usize>(
    mesh: &Mesh<CORNERS>,
    masses: impl Iterator<Item = f64>,
) -> Vec<f64> {
    let mut points = vec![0.0; mesh.points.len()];
    for (element, mass) in mesh.elements.iter().zip(masses) {
        element.iter().for_each(|&at| points[at as usize] += mass / CORNERS as f64);
    }
    points
}
