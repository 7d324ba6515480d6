//! Soft blocks and sheets that are held at x = 0 and fall, without contact: those of `bench/peers/deformables.py`.
//!
//! Meshes, order of points, masses, gravity, time step and the semi-implicit step are the same on both sides. So are:
//!
//! * the energy of tetrahedra, with mu = 3/4 of Newton's and lambda = Newton's less 5/8 of its mu: without viscosity both
//!   sides take the same steps, and their gradients are compared;
//! * drag, with three times Newton's number, which acts at each corner;
//! * for small strains, stiffness of triangles: Newton's law is  μ F + λ (J - α) ∂J/∂F,  and ours has 1 - 1/(I + 1) in its
//!   first term.
//!
//! What differs, so that other gradients are not compared:
//!
//! * viscosity is a function of the rate of strain here, and of Ḟ, with the rate of volume from three of four corners, there;
//! * lift goes with the sine of an angle here, and with the angle there;
//! * bending: the hinges of a triangle are coupled here, as those of a plate, and each is by itself there. By itself a hinge goes
//!   with |e|²/(A₀ + A₁) here, and with |e| (and the present area) there: edges along the axes are as stiff as Newton's, diagonals
//!   √2 times.
//!
//! A pullback gives derivatives by the first state and by all params on both sides.

use std::cell::Cell;
use std::time::Instant;

use pullback_engine::rollout::{Bars, Moment};
use pullback_engine::{Integrator, Loss, Model, Scheme, Step};
use pullback_scene::soft::{Cut, Diagonals, Mesh, SheetMesh, SolidMesh};
use pullback_scene::{Elastic, Invalid, Particles, Scene, Sheet, Solid, World};

/// Edge of a cell [m].
const SPACING: f64 = 0.1;
const TIME_STEP: f64 = 1.0 / 60.0 / 32.0;
const GRAVITY: [f64; 3] = [0.0, -9.81, 0.0];

/// What falls, by cells along the axes.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Five tetrahedra a cell.
    Solid([usize; 3]),
    /// Two triangles a cell.
    Sheet([usize; 2]),
}

/// A body, and how many steps one pass has.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it is called in rows.
    pub name: &'static str,
    /// What falls.
    pub body: Body,
    /// Those of the peer.
    pub steps: usize,
}

/// The sizes that are measured.
pub const CASES: [Case; 6] = [
    Case { name: "tets-100", body: Body::Solid([5, 2, 2]), steps: 200 },
    Case { name: "tets-1000", body: Body::Solid([10, 5, 4]), steps: 200 },
    Case { name: "tets-10000", body: Body::Solid([20, 10, 10]), steps: 60 },
    Case { name: "cloth-64", body: Body::Sheet([8, 4]), steps: 200 },
    Case { name: "cloth-2048", body: Body::Sheet([32, 32]), steps: 100 },
    Case { name: "cloth-20000", body: Body::Sheet([100, 100]), steps: 30 },
];

impl Body {
    /// One step of it, with or without viscosity.
    ///
    /// # Errors
    /// When there is no such body.
    pub fn step(self, damped: bool) -> Result<Step, Box<dyn std::error::Error>> {
        self.step_of(damped, Scheme::new(Integrator::SemiImplicitEuler, TIME_STEP))
    }

    /// The same with another rule, or of another length.
    ///
    /// # Errors
    /// When there is no such body.
    pub fn step_of(self, damped: bool, scheme: Scheme) -> Result<Step, Box<dyn std::error::Error>> {
        let mut scene = Scene { world: World { gravity: GRAVITY, wind: [0.0; 3] }, ..Scene::default() };
        match self {
            Body::Solid(cells) => block(&mut scene, cells, damped)?,
            Body::Sheet(cells) => sheet(&mut scene, cells, damped)?,
        }
        Ok(Step::new(&Model::new(&scene)?, scheme)?)
    }
}

fn block(scene: &mut Scene, cells: [usize; 3], damped: bool) -> Result<(), Invalid> {
    let sides = cells.map(|count| SPACING * count as f64);
    let mesh = from_the_origin(SolidMesh::block_cut(sides, cells, Cut::Five)?, sides);
    let mut block = Solid::new("block", &mesh, Elastic { mu: 750.0, lambda: 375.0 }, 100.0);
    if damped {
        block = block.viscosity(0.5);
    }
    let points = held(block.points(), cells[0]);
    scene.add_solid(block, points);
    Ok(())
}

fn sheet(scene: &mut Scene, cells: [usize; 2], damped: bool) -> Result<(), Invalid> {
    let sides = cells.map(|count| SPACING * count as f64);
    let mesh = from_the_origin(SheetMesh::sheet(sides, cells, Diagonals::One)?, [sides[0], sides[1], 0.0]);
    let elastic = Elastic { mu: 1e5, lambda: 0.0 };
    let mut sheet = Sheet::new("sheet", &mesh, 0.01, elastic, 1000.0).bending(1e-3).air(0.3, 0.3);
    if damped {
        sheet = sheet.viscosity(50.0);
    }
    let points = held(sheet.points().velocity([0.1, 0.1, 1.0]), cells[0]);
    scene.add_sheet(sheet, points);
    Ok(())
}

/// A mesh about the origin, moved to where its least corner is there.
fn from_the_origin<const CORNERS: usize>(mut mesh: Mesh<CORNERS>, sides: [f64; 3]) -> Mesh<CORNERS> {
    for point in &mut mesh.points {
        *point = std::array::from_fn(|axis| point[axis] + 0.5 * sides[axis]);
    }
    mesh
}

/// Those at x = 0 are at rest and stay there: the first of each row.
fn held(mut points: Particles, cells: usize) -> Particles {
    for at in (0..points.positions.len()).step_by(cells + 1) {
        points.fixed[at] = [true; 3];
        points.velocities[at] = [0.0; 3];
    }
    points
}

/// Σ |x|² of the last state, which notes when the way back begins.
pub struct Squares {
    positions: usize,
    turned: Cell<Instant>,
}

impl Squares {
    /// That of a step.
    #[must_use]
    pub fn of(step: &Step) -> Self {
        Self { positions: step.model().positions(), turned: Cell::new(Instant::now()) }
    }

    /// When the last gradient's way back began.
    pub fn turned(&self) -> Instant {
        self.turned.get()
    }
}

impl Loss for Squares {
    fn looks(&self, _: usize, last: bool) -> bool {
        last
    }

    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { moment.state[..self.positions].iter().map(|x| x * x).sum() } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            self.turned.set(Instant::now());
            let all = bars.state.iter_mut().zip(moment.state).take(self.positions);
            all.for_each(|(bar, x)| *bar += 2.0 * x);
        }
    }
}
