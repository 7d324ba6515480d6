//! What solids of every material, and sheets, meet: the ground, shapes that stand still, bodies that are hard to each other, other soft
//! things and themselves; what holds them and what leads them. One world for each of both.

use pullback_engine::Integrator::{self, BackwardEuler, ImplicitMidpoint};
use pullback_scene::robot::JointKind::Hinge;
use pullback_scene::soft::{Diagonals, SheetMesh};
use pullback_scene::{
    Attachment, Elastic, Ground, Part, PrescribedMotion, Scene, Sheet, SoftContact, Solid, SolidMaterial,
};

use super::robots;
use super::solids::{moving, solid, world};

/// A soft thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Thing {
    Solid(SolidMaterial),
    Sheet,
}

impl Thing {
    /// Every material, and a sheet.
    fn all() -> impl Iterator<Item = Thing> {
        SolidMaterial::ALL.into_iter().map(Thing::Solid).chain([Thing::Sheet])
    }

    fn name(self) -> &'static str {
        match self {
            Thing::Solid(SolidMaterial::NeoHookean) => "a neo-Hookean solid",
            Thing::Solid(SolidMaterial::StVenantKirchhoff) => "a solid of St. Venant and Kirchhoff",
            Thing::Solid(SolidMaterial::Corotated) => "a corotated solid",
            Thing::Sheet => "a sheet",
        }
    }

    /// Puts it there, bent and moving, and so fast besides. Its first point is held fast.
    fn put(self, scene: &mut Scene, name: &str, at: [f64; 3], velocity: [f64; 3]) {
        match self {
            Thing::Solid(material) => {
                let solid = Solid { name: name.into(), ..solid(material) };
                let points = moving(solid.points());
                scene.add_solid(solid, points);
            }
            Thing::Sheet => {
                let mesh = SheetMesh::sheet([0.5, 0.4], [2, 1], Diagonals::Alternating).expect("a sheet");
                let elastic = Elastic::of_young_in_plane(2e4, 0.3).expect("cloth");
                let mut sheet = Sheet::new(name, &mesh, 0.03, elastic, 1000.0);
                sheet.bending = vec![0.5];
                let points = moving(sheet.points());
                scene.add_sheet(sheet, points);
            }
        }
        let points = scene.particles.last_mut().expect("those of it");
        let add = |to: &mut [f64; 3], by: [f64; 3]| to.iter_mut().zip(by).for_each(|(x, by)| *x += by);
        points.positions.iter_mut().for_each(|x| add(x, at));
        points.velocities.iter_mut().skip(1).for_each(|v| add(v, velocity));
    }
}

/// What it meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meets {
    /// The ground.
    Ground,
    /// A box that stands still, by penalties.
    Shape,
    /// A ball and the ground, which are hard to each other.
    Hard,
    /// A block, by soft contact.
    Block,
    /// A body that it is attached to.
    Body,
    /// A motion.
    Motion,
}

impl Meets {
    const ALL: [Meets; 6] =
        [Meets::Ground, Meets::Shape, Meets::Hard, Meets::Block, Meets::Body, Meets::Motion];

    fn name(self) -> &'static str {
        match self {
            Meets::Ground => "on the ground",
            Meets::Shape => "on a box",
            Meets::Hard => "on a ball, hard",
            Meets::Block => "on a block",
            Meets::Body => "that an arm holds",
            Meets::Motion => "that is led",
        }
    }

    /// The world of it with this thing.
    fn with(self, thing: Thing) -> Scene {
        let mut scene = world();
        let slides = [0.3, -0.3, -0.3];
        // So high that it is a little in what is at this height.
        let on = |scene: &mut Scene, [x, y, z]: [f64; 3]| {
            let depth = if thing == Thing::Sheet { 0.005 } else { -0.27 };
            thing.put(scene, "it", [x, y, z - depth], slides);
        };
        match self {
            Meets::Ground => {
                on(&mut scene, [0.0, 0.0, 0.03]);
                scene.ground = Some(Ground {
                    height: 0.03,
                    ke: Some(500.0),
                    kd: Some(4.0),
                    kf: Some(4.0),
                    mu: Some(0.3),
                    material: None,
                });
            }
            Meets::Shape => {
                scene = parsed(
                    "[contact]\nmodel = \"penalty\"\nke = 500\nkd = 4\nkf = 2\nmu = 0.3\n\
                     [[shapes]]\nname = \"table\"\nshape = { box = [0.6, 0.7, 0.1] }\nposition = [0.2, 0.1, -0.08]\n\
                     orientation = [0.999, 0.02, -0.01, 0.03]\n",
                );
                // Where contact with damping begins, implicit steps need not have a solution: all of a sheet is in it.
                on(&mut scene, [0.0, 0.0, if thing == Thing::Sheet { 0.01 } else { 0.03 }]);
            }
            Meets::Hard => {
                // The ball is beside one of its corners, or under it.
                let at = if thing == Thing::Sheet { [0.3, 0.16] } else { [0.35, 0.18] };
                scene = parsed(&format!(
                    "[ground]\nheight = 0.03\nke = 500\nkd = 4\nkf = 0.7\nmu = 0.3\n[contact]\nmu = 0.4\n\
                     [[materials]]\nname = \"rubber\"\nke = 500\nkd = 4\nkf = 0.7\nmu = 0.3\n\
                     [[bodies]]\nname = \"ball\"\nshape = {{ sphere = 0.04 }}\nmass = 1.3\n\
                     inertia = [0.02, 0.025, 0.03, 0.002, -0.001, 0.0015]\nposition = [{}, {}, 0.0695]\n\
                     velocity = [0.3, 0.1, -0.3]\nangular_velocity = [-0.7, 2.4, 0.2]\nmaterial = \"rubber\"\n",
                    at[0], at[1]
                ));
                let up = if thing == Thing::Sheet { 0.03 } else { 0.05 };
                on(&mut scene, [0.0, 0.0, up]);
                scene.particles[0].material = Some(0);
            }
            Meets::Block => {
                Thing::Solid(SolidMaterial::NeoHookean).put(&mut scene, "block", [0.0; 3], [0.0; 3]);
                on(&mut scene, if thing == Thing::Sheet { [0.0, 0.1, 0.315] } else { [0.02, 0.03, 0.3] });
                scene.soft_contact =
                    Some(SoftContact { thickness: 0.06, ke: 150.0, kd: 0.5, kf: 2.0, mu: 0.3, most: None });
            }
            Meets::Body => {
                thing.put(&mut scene, "it", [0.0; 3], [0.0; 3]);
                scene.robots = vec![robots::chain("arm", &[Hinge])];
                scene.particles[0].fixed[0] = [false; 3];
                let link = Part::Body { robot: 0, body: 0 };
                scene.attachments = vec![
                    Attachment::new("knot", vec![0, 3], link),
                    Attachment::new("band", vec![1], link).springs(40.0, 0.3),
                ];
            }
            Meets::Motion => {
                thing.put(&mut scene, "it", [0.0; 3], [0.0; 3]);
                scene.particles[0].fixed[0] = [false; 3];
                let lead = PrescribedMotion::steady("lead", vec![0, 4], [0.3, -0.2, 0.1]);
                scene.motions = vec![lead.oscillating([0.05, 0.1, -0.07], 2.3, 0.4)];
            }
        }
        scene
    }
}

/// What a file says besides soft things; a file wants something that moves.
fn parsed(text: &str) -> Scene {
    let some = "[[particles]]\nname = \"far\"\nposition = [-5, 0, 3]\nmass = 1\n";
    let text = format!("[simulation]\nsteps = 1\ndt = 0.01\n{text}{some}");
    let scene = Scene::parse(&text, "meets.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    Scene { world: world().world, particles: Vec::new(), ..scene }
}

/// A strip that is folded over: its last row comes down on its first.
fn folded() -> Scene {
    let mut mesh = SheetMesh::sheet([0.9, 0.3], [3, 1], Diagonals::One).expect("a strip");
    // The row that goes up is short.
    mesh.points.iter_mut().filter(|x| x[0] > 0.0).for_each(|x| x[0] -= 0.18);
    let elastic = Elastic::of_young_in_plane(2e4, 0.3).expect("cloth");
    let mut strip = Sheet::new("strip", &mesh, 0.01, elastic, 300.0);
    strip.bending = vec![0.1];
    let mut points = moving(strip.points());
    for (x, [along, across, _]) in points.positions.iter_mut().zip(&mesh.points) {
        let [there, up] = match along {
            along if *along < -0.3 => [0.0, 0.0],
            along if *along < -0.1 => [0.3, 0.0],
            along if *along < 0.1 => [0.33, 0.12],
            _ => [0.05, 0.04],
        };
        *x = [there + 0.1 * across, across * (1.0 + 0.1 * there) + 0.5 * up, up + 0.1 * there * across];
    }
    let mut scene = world();
    scene.add_sheet(strip, points);
    scene.soft_contact =
        Some(SoftContact { thickness: 0.08, ke: 150.0, kd: 0.5, kf: 2.0, mu: 0.3, most: None });
    scene
}

/// What a world is called, the integrators besides semi-implicit Euler that its derivatives are held against differences with in all tests,
/// and the scene.
pub type Named = (&'static str, &'static [Integrator], Scene);

/// All of them.
pub fn all() -> Vec<Named> {
    let mut all = Vec::new();
    for (thing, meets) in Thing::all().flat_map(|thing| Meets::ALL.map(|meets| (thing, meets))) {
        let name: &'static str = format!("{} {}", thing.name(), meets.name()).leak();
        all.push((name, implicit(thing, meets), meets.with(thing)));
    }
    all.push(("a sheet that touches itself", &[BackwardEuler, ImplicitMidpoint], folded()));
    all
}

/// Each material and each meeting with an implicit rule, and most with both: what solves their equations knows neither.
fn implicit(thing: Thing, meets: Meets) -> &'static [Integrator] {
    use SolidMaterial::{Corotated, NeoHookean, StVenantKirchhoff};
    match (meets, thing) {
        (Meets::Ground, Thing::Sheet)
        | (Meets::Shape, Thing::Solid(StVenantKirchhoff))
        | (Meets::Block, Thing::Solid(Corotated))
        | (Meets::Body, Thing::Solid(NeoHookean))
        | (Meets::Motion, Thing::Solid(StVenantKirchhoff)) => &[BackwardEuler],
        (Meets::Ground, Thing::Solid(Corotated))
        | (Meets::Shape, Thing::Sheet)
        | (Meets::Body, Thing::Solid(StVenantKirchhoff))
        | (Meets::Motion, Thing::Solid(Corotated)) => &[ImplicitMidpoint],
        _ => &[],
    }
}
