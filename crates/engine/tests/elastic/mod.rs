//! Meshes without a pattern, soft things of all kinds, how they move, and their stress by closed forms.

#![allow(dead_code)]

use pullback_engine::rollout::Moment;
use pullback_engine::{Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_scene::soft::{Diagonals, SheetMesh, SolidMesh};
use pullback_scene::{Elastic, Particles, Scene, Sheet, Solid, SolidMaterial, World};

pub type Point = [f64; 3];

/// Columns of a map that stretches, shears and turns.
pub const BENT: [Point; 3] = [[1.3, 0.2, -0.1], [0.15, 0.8, 0.1], [-0.05, 0.3, 1.1]];

pub fn affine([x, y, z]: Point) -> Point {
    std::array::from_fn(|a| BENT[0][a] * x + BENT[1][a] * y + BENT[2][a] * z + [0.3, -0.2, 1.5][a])
}

pub fn cross(a: Point, b: Point) -> Point {
    std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

pub fn norm(a: &[f64]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Numbers from -1 to 1 without a pattern.
pub fn noise(i: usize) -> f64 {
    ((i as f64 + 1.0) * 12.9898).sin()
}

/// A block whose points are moved by so much of a cell.
pub fn block(sides: [f64; 3], cells: [usize; 3], by: f64) -> SolidMesh {
    let mut mesh = SolidMesh::block(sides, cells).expect("a block");
    for (i, point) in mesh.points.iter_mut().enumerate() {
        for a in 0..3 {
            point[a] += by * sides[a] / cells[a] as f64 * noise(3 * i + a);
        }
    }
    mesh.check().expect("nothing is inside out");
    mesh
}

/// A sheet whose points are moved in its plane by so much of a cell.
pub fn cloth(sides: [f64; 2], cells: [usize; 2], by: f64) -> SheetMesh {
    let mut mesh = SheetMesh::sheet(sides, cells, Diagonals::Alternating).expect("a sheet");
    for (i, point) in mesh.points.iter_mut().enumerate() {
        for a in 0..2 {
            point[a] += by * sides[a] / cells[a] as f64 * noise(3 * i + a);
        }
    }
    mesh.check().expect("nothing is inside out");
    mesh
}

/// A soft thing and its points, ready to be put somewhere.
pub enum Soft {
    Solid(Solid),
    Sheet(Sheet),
}

impl Soft {
    pub fn masses(&self) -> Vec<f64> {
        match self {
            Soft::Solid(solid) => solid.point_masses(),
            Soft::Sheet(sheet) => sheet.point_masses(),
        }
    }

    /// Where its points are when nothing is stressed.
    pub fn rest(&self) -> Vec<Point> {
        match self {
            Soft::Solid(solid) => solid.rest.clone(),
            Soft::Sheet(sheet) => sheet.rest.clone(),
        }
    }

    /// Alone in a world without gravity, at rest.
    pub fn still(self) -> Scene {
        let mut scene = Scene { world: World { gravity: [0.0; 3], ..World::default() }, ..Scene::default() };
        match self {
            Soft::Solid(solid) => {
                let points = solid.points();
                scene.add_solid(solid, points)
            }
            Soft::Sheet(sheet) => {
                let points = sheet.points();
                scene.add_sheet(sheet, points)
            }
        };
        scene
    }

    /// Alone in a world without gravity, its points placed and moving as these say.
    pub fn flying(self, place: impl Fn(Point) -> Point, velocity: impl Fn(usize, Point) -> Point) -> Model {
        let mut scene = self.still();
        let Particles { positions, velocities, .. } = &mut scene.particles[0];
        positions.iter_mut().for_each(|x| *x = place(*x));
        *velocities = positions.iter().enumerate().map(|(i, &x)| velocity(i, x)).collect();
        Model::new(&scene).expect("a scene that makes sense")
    }
}

/// The states of a rollout.
pub fn run(model: &Model, integrator: Integrator, dt: f64, steps: usize) -> Vec<Vec<f64>> {
    let step = Step::new(model, Scheme::new(integrator, dt)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let mut states = Vec::new();
    let (state, params) = (model.state(), model.params());
    let see = |m: &Moment<'_>| states.push(m.state.to_vec());
    rollout.watch(&Start::new(&state, &[], &params), see).expect("it runs");
    states
}

/// The acceleration of each point: what a velocity has gained after a second of one explicit step.
pub fn accelerations(model: &Model) -> Vec<Point> {
    let states = run(model, Integrator::ExplicitEuler, 1.0, 1);
    let n = 3 * model.particles();
    (n..2 * n).step_by(3).map(|i| std::array::from_fn(|a| states[1][i + a] - states[0][i + a])).collect()
}

/// All kinds of soft things, with damping of everything or without any.
pub fn kinds(damped: bool) -> Vec<(String, Soft)> {
    let mut kinds = Vec::new();
    for material in SolidMaterial::ALL {
        let mesh = block([0.6, 0.3, 0.3], [2, 1, 1], 0.1);
        let solid = Solid::new("block", &mesh, Elastic::of_young(1e4, 0.3).expect("matter"), 1000.0);
        let solid = solid.material(material);
        kinds.push((
            material.name().to_owned(),
            Soft::Solid(if damped { solid.viscosity(20.0) } else { solid }),
        ));
    }
    // As stiff in bending as it is in its plane, so that one step is right for both.
    let mesh = cloth([0.6, 0.6], [3, 3], 0.1);
    let elastic = Elastic::of_young_in_plane(1e4, 0.3).expect("matter");
    let sheet = Sheet::new("sheet", &mesh, 0.05, elastic, 1000.0).bending(1.0);
    let sheet = if damped { sheet.viscosity(20.0).bending_damping(0.01) } else { sheet };
    kinds.push(("sheet".to_owned(), Soft::Sheet(sheet)));
    kinds
}

/// Stretched, sheared and bent.
pub fn bowed([x, y, z]: Point) -> Point {
    [1.1 * x, y + 0.1 * x, z - 0.05 * y + 0.3 * x * x]
}

/// Nominal stress along and across of a solid that is stretched by s along and by a across: the slopes of its energy.
pub fn stress(material: SolidMaterial, Elastic { mu, lambda }: Elastic, s: f64, a: f64) -> [f64; 2] {
    match material {
        SolidMaterial::NeoHookean => {
            let (m, l) = (4.0 / 3.0 * mu, lambda + 5.0 / 6.0 * mu);
            let shear = m * (1.0 - 1.0 / (s * s + 2.0 * a * a + 1.0));
            let pressure = l * (s * a * a - 1.0) - mu;
            [shear * s + pressure * a * a, shear * a + pressure * s * a]
        }
        SolidMaterial::StVenantKirchhoff => {
            let (along, across) = (0.5 * (s * s - 1.0), 0.5 * (a * a - 1.0));
            let volume = lambda * (along + 2.0 * across);
            [s * (2.0 * mu * along + volume), a * (2.0 * mu * across + volume)]
        }
        SolidMaterial::Corotated => {
            let pressure = lambda * (s * a * a - 1.0);
            [2.0 * mu * (s - 1.0) + pressure * a * a, 2.0 * mu * (a - 1.0) + pressure * s * a]
        }
    }
}

/// The same of a sheet, across in its plane.
pub fn sheet_stress(Elastic { mu, lambda }: Elastic, s: f64, a: f64) -> [f64; 2] {
    let (m, l) = (1.5 * mu, lambda + 2.0 / 3.0 * mu);
    let shear = m * (1.0 - 1.0 / (s * s + a * a + 1.0));
    let pressure = l * (s * a - 1.0) - mu;
    [shear * s + pressure * a, shear * a + pressure * s]
}

/// Where a function that rises is zero.
pub fn root(f: impl Fn(f64) -> f64, mut range: [f64; 2]) -> f64 {
    for _ in 0..100 {
        let middle = 0.5 * (range[0] + range[1]);
        range[usize::from(f(middle) > 0.0)] = middle;
    }
    range[0]
}
