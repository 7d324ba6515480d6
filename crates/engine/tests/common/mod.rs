//! The factory: small worlds, one for every force, and a loss that sees all of a rollout. A new force joins the gradient
//! matrix by joining [`worlds`].

#![allow(dead_code)]

pub mod cases;
pub mod contacts;
pub mod grains;
pub mod meets;
pub mod robots;
pub mod solids;
pub mod terrains;

use pullback_engine::force::{Constraint, Force, Site};
use pullback_engine::names::{Block, Quantity};
use pullback_engine::rollout::{Bars, Moment};
use pullback_engine::{Error, Integrator, Loss, Model};
use pullback_kernel::prelude::*;
use pullback_scene::robot::JointKind::{Ball, Free, Hinge, Slide};
use pullback_scene::{Actuator, AppliedForce, ContactModel, Ground, Particles, Robot, Scene, Springs};

/// A world of the factory.
pub struct World {
    /// What it is about.
    pub name: &'static str,
    /// The model.
    pub model: Model,
    /// Does a force depend on velocities? Then it cannot be run backwards.
    pub reversible: bool,
    /// Are the velocities after a step solved for, as those of hard contact? Then there is one integrator for it.
    pub hard: bool,
    /// Do shapes touch by penalties?
    pub soft: bool,
    /// Is it of solids, sheets, or what holds them?
    pub elastic: bool,
    /// The integrators that it is run with where not [`every_combination`] is wanted; `None`: all that can.
    pub usual: Option<&'static [Integrator]>,
    /// Those that its derivatives are held against differences with besides: others stand for it in what else is looked at.
    pub besides: &'static [Integrator],
    /// How far differences go, relative to numbers.
    pub difference: f64,
}

impl World {
    /// What sort of world it is.
    pub fn kind(&self) -> &'static str {
        match (self.elastic, self.hard, self.soft) {
            (true, _, _) => "Solids and sheets",
            (false, true, _) => "Hard contact",
            (false, false, true) => "Soft contact",
            (false, false, false) => "Without shapes that touch",
        }
    }

    /// The integrators that can run it.
    pub fn integrators(&self) -> Vec<Integrator> {
        self.those(|integrator| self.usual.is_none_or(|usual| usual.contains(&integrator)))
    }

    /// The integrators that its derivatives are held against differences with.
    pub fn differenced(&self) -> Vec<Integrator> {
        let usual = self.integrators();
        self.those(|integrator| usual.contains(&integrator) || self.besides.contains(&integrator))
    }

    fn those(&self, wanted: impl Fn(Integrator) -> bool) -> Vec<Integrator> {
        let can = |integrator: &Integrator| match integrator {
            Integrator::SemiImplicitEuler => true,
            Integrator::ReversibleVerlet => self.reversible && !self.hard,
            _ => !self.hard,
        };
        let all = Integrator::ALL.into_iter().filter(can);
        all.filter(|integrator| every_combination() || wanted(*integrator)).collect()
    }
}

/// Are all combinations wanted, as by `cargo xtask study gradients`? Tests leave out some that others stand for.
pub fn every_combination() -> bool {
    std::env::var_os("EVERY_COMBINATION").is_some()
}

fn ball() -> Particles {
    Particles::single("ball", [0.1, -0.2, 0.9], 0.7).velocity([1.1, 0.4, -0.6])
}

fn chain() -> Scene {
    let mut chain =
        Particles::line("chain", [0.0, 0.0, 1.0], [0.9, 0.3, 1.2], 4, 0.3).velocity([0.2, -0.4, 0.7]);
    chain.masses = vec![0.3, 0.45, 0.2, 0.6];
    chain.fixed[0] = [true; 3];
    chain.velocities[0] = [0.0; 3];
    chain.fixed[2] = [false, true, false];
    Scene { particles: vec![chain], ..Scene::default() }
}

fn springs() -> Springs {
    Springs::many("spring", vec![[0, 1], [1, 2], [2, 3], [0, 3]], 40.0, 0.25)
}

/// A spring to the origin that hardens [N]:  f = -(k + b |x|²) x
#[kernel]
fn harden<R: Real>(x: Vec3<R>, k: R, b: R) -> Vec3<R> {
    x * (-(b * dot(x, x) + k))
}

/// A force that the engine does not know.
#[derive(Clone, Debug)]
struct Hardening;

impl Force for Hardening {
    fn params(&self) -> Vec<Block> {
        vec![
            Block::scalar("trap.stiffness", 3.0, Quantity::new("N/m", "stiffness at the origin")),
            Block::scalar("trap.hardening", 1.5, Quantity::new("N/m³", "how it hardens")),
        ]
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (k, b) = (site.param::<f64>("trap.stiffness")?, site.param::<f64>("trap.hardening")?);
        let (x, name) = (site.x, site.name("trap"));
        Ok(site.program.map::<harden>(&name, (x.own(), k.shared(), b.shared())))
    }
}

/// What is left of an acceleration along a plane:  a - n (n·a)
#[kernel]
fn along<R: Real>(a: Vec3<R>, n: Vec3<R>) -> Vec3<R> {
    a - n * dot(n, a)
}

/// A constraint that the engine does not know: what starts along a plane stays on it.
#[derive(Clone, Debug)]
struct Plane {
    /// Of length 1.
    normal: Vec3<f64>,
}

impl Constraint for Plane {
    fn constrain(&self, site: &mut Site<'_>, acceleration: Buffer<Vec3>) -> Result<Buffer<Vec3>, Error> {
        let normal = site.program.constant::<Vec3>(&site.name("normal"), &[self.normal]);
        let name = site.name("along the plane");
        Ok(site.program.map::<along>(&name, (acceleration.own(), normal.shared())))
    }
}

/// One world for every force, and one with all of them.
pub fn worlds() -> Vec<World> {
    let world = |name, reversible, scene: Scene| World {
        name,
        reversible,
        hard: false,
        soft: false,
        elastic: false,
        usual: None,
        besides: &[],
        difference: 1e-5,
        model: Model::new(&scene).expect("a scene that makes sense"),
    };
    let one = |ball: Particles| Scene { particles: vec![ball], ..Scene::default() };
    let ground =
        Ground { height: 0.9, ke: Some(900.0), kd: Some(3.0), kf: Some(2.0), mu: Some(0.4), material: None };
    // A ball that slides, one that sticks, one in the air.
    let mut on_ground =
        one(Particles::many("ball", vec![[0.0, 0.0, 0.88], [1.0, 0.0, 0.87], [2.0, 0.0, 1.5]], 0.5));
    on_ground.particles[0].velocities = vec![[2.0, -1.0, -0.3], [0.05, 0.02, -0.4], [1.0, 0.0, -1.0]];
    on_ground.ground = Some(ground);
    let pushed = |oscillating: bool| {
        let mut scene = chain();
        let push = AppliedForce::constant("gust", vec![1, 3], [0.7, -0.3, 0.5]);
        scene.forces = vec![
            if oscillating { push.oscillating(1.3, 0.4) } else { push },
            if oscillating {
                AppliedForce::constant("hum", vec![3], [0.1, 0.4, 0.2]).oscillating(3.0, -0.2)
            } else {
                AppliedForce::constant("pull", vec![3], [0.1, 0.4, 0.2])
            },
        ];
        scene
    };
    let mut actuated = chain();
    actuated.actuators = vec![
        Actuator { control: vec![[0.5, -0.2, 0.3]], ..Actuator::new("thruster", 1) },
        Actuator { control: vec![[-0.1, 0.6, 0.2]], ..Actuator::new("rotor", 3) },
    ];
    let mut everything = Scene { springs: vec![springs().damping(0.8)], ..pushed(true) };
    everything.springs.push(Springs::between("band", [0, 2], 25.0, 0.4));
    everything.forces.push(AppliedForce::constant("pull", vec![2], [0.1, 0.4, 0.2]));
    everything.actuators = actuated.actuators.clone();
    everything.particles[0].drag = Some(vec![0.05, 0.1, 0.2, 0.15]);
    everything.world.wind = [1.5, 0.2, -0.1];
    everything.ground = Some(Ground { height: 1.1, ..ground });
    // Balls and a point on the ground.
    let mut balls = on_ground.clone();
    balls.particles[0].radii = Some(vec![0.005, 0.01, 0.02]);
    let mut windy = one(ball().drag(0.3));
    windy.world.wind = [2.0, -1.0, 0.5];
    let mut worlds = vec![
        world("gravity", true, one(ball())),
        world("springs", true, Scene { springs: vec![springs()], ..chain() }),
        world("damped springs", false, Scene { springs: vec![springs().damping(0.8)], ..chain() }),
        world("drag", false, windy),
        world("pushes", true, pushed(false)),
        world("swings", true, pushed(true)),
        world("actuators", true, actuated),
        world("ground", false, on_ground),
        world("balls on the ground", false, balls),
        World {
            name: "a force of one's own",
            reversible: true,
            hard: false,
            soft: false,
            elastic: false,
            usual: None,
            besides: &[],
            difference: 1e-5,
            model: Model::new(&one(ball())).and_then(|m| m.with_force(Hardening)).expect("a new name"),
        },
        World {
            model: Model::new(&Scene { springs: vec![springs()], ..chain() })
                .expect("a chain")
                .with_constraint(Plane { normal: Vec3 { x: 0.6, y: 0.0, z: 0.8 } }),
            ..world("a constraint of one's own", true, chain())
        },
        world("everything", false, everything),
    ];
    let robot = |robot: Robot| Scene { robots: vec![robot], ..Scene::default() };
    worlds.extend([
        world("a hinge", false, robot(robots::chain("arm", &[Hinge]))),
        world("slides", false, robot(robots::chain("arm", &[Slide, Slide]))),
        world("a ball joint", false, robot(robots::chain("arm", &[Ball, Hinge]))),
        world("a free body", false, robot(robots::chain("box", &[Free]))),
        world("a chain", false, robot(robots::chain("arm", &[Hinge, Ball, Slide, Hinge]))),
        world("a free joint below a hinge", false, robot(robots::chain("arm", &[Hinge, Free]))),
        world("a tree", false, robot(robots::tree())),
        world("pushed bodies, consistent inertia", false, robot(robots::pushed())),
        world("joints that follow others", false, robot(robots::gripper())),
        world("what acts on joints", false, robot(robots::arm())),
        world(
            "robots and particles",
            false,
            Scene {
                robots: vec![robots::arm(), robots::chain("box", &[Free])],
                springs: vec![springs()],
                ..chain()
            },
        ),
    ]);
    const BRIEF: Option<&[Integrator]> = Some(&[Integrator::SemiImplicitEuler]);
    let elastic =
        |name, usual, besides, scene| World { elastic: true, usual, besides, ..world(name, false, scene) };
    let alone = |(name, scene)| elastic(name, solids::usual(name), solids::besides(name), scene);
    worlds.extend(solids::all().into_iter().map(alone));
    let meets = |(name, besides, scene): meets::Named| {
        let (hard, soft) = match scene.contact.map(|contact| contact.model) {
            Some(ContactModel::Complementarity(_)) => (true, false),
            Some(ContactModel::Penalty(_)) => (false, true),
            None => (false, false),
        };
        World { hard, soft, difference: 1e-6, ..elastic(name, BRIEF, besides, scene) }
    };
    worlds.extend(meets::all().into_iter().map(meets));
    let soft = |(name, scene)| World { soft: true, ..world(name, false, scene) };
    worlds.extend(contacts::soft().into_iter().map(soft));
    let grains = |(name, scene)| {
        let usual = if grains::THOROUGH.contains(&name) { None } else { BRIEF };
        World { usual, ..soft((name, scene)) }
    };
    worlds.extend(grains::soft().into_iter().map(grains));
    let cornered = terrains::soft().into_iter().chain(terrains::grains(grains::soft()));
    worlds.extend(cornered.map(|named| World { usual: BRIEF, ..soft(named) }));
    // What lies flat on something tilts by a ten-millionth before a corner lifts off.
    let flat = |name: &str| name == "a box on a box" || name.starts_with("a box and a ball of materials");
    let difference = |name: &str| if flat(name) { 1e-8 } else { 1e-6 };
    let hard =
        |(name, scene)| World { hard: true, difference: difference(name), ..world(name, false, scene) };
    worlds.extend(contacts::hard().into_iter().chain(grains::hard()).map(hard));
    worlds.extend(terrains::hard().into_iter().chain(terrains::grains(grains::hard())).map(hard));
    let sparse = |(name, scene)| {
        let world = hard((name, scene));
        World { model: world.model.with_sparse_contact(1), ..world }
    };
    worlds.extend(contacts::sparse().into_iter().map(sparse));
    worlds
}

/// A loss over all states and controls of a rollout, Σ w (x + ½ x²), and a little of its params, with weights that differ
/// everywhere.
pub struct Everywhere;

/// The weight of params: small beside what they do through the motion.
const DIRECT: f64 = 1e-6;

fn weight(step: usize, i: usize, salt: usize) -> f64 {
    ((step * 31 + i * 17 + salt * 7) % 13) as f64 / 6.0 - 1.0
}

impl Loss for Everywhere {
    fn value(&self, m: &Moment<'_>) -> f64 {
        let sum = |numbers: &[f64], salt| -> f64 {
            numbers.iter().enumerate().map(|(i, x)| weight(m.step, i, salt) * (x + 0.5 * x * x)).sum()
        };
        let direct = |(i, p): (usize, &f64)| DIRECT * weight(m.step, i, 3) * p;
        let params = if m.last { m.params.iter().enumerate().map(direct).sum() } else { 0.0 };
        sum(m.state, 1) + sum(m.control, 2) + params
    }

    fn pullback(&self, m: &Moment<'_>, bars: &mut Bars<'_>) {
        let add = |numbers: &[f64], bars: &mut [f64], salt| {
            for (i, (x, bar)) in numbers.iter().zip(bars).enumerate() {
                *bar += weight(m.step, i, salt) * (1.0 + x);
            }
        };
        add(m.state, bars.state, 1);
        add(m.control, bars.control, 2);
        if m.last {
            bars.params.iter_mut().enumerate().for_each(|(i, bar)| *bar += DIRECT * weight(m.step, i, 3));
        }
    }
}

/// A loss of two moments, which says so or is asked at all of them.
pub struct Seldom {
    /// Does it say so?
    pub says_so: bool,
}

impl Loss for Seldom {
    fn looks(&self, step: usize, last: bool) -> bool {
        !self.says_so || step == 2 || last
    }
    fn value(&self, moment: &Moment<'_>) -> f64 {
        assert!(self.looks(moment.step, moment.last), "asked where it does not look");
        if moment.step == 2 || moment.last { Everywhere.value(moment) } else { 0.0 }
    }
    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        assert!(self.looks(moment.step, moment.last), "asked where it does not look");
        if moment.step == 2 || moment.last {
            Everywhere.pullback(moment, bars);
        }
    }
}

/// The controls of a world over some steps, different in each.
pub fn controls(world: &World, steps: usize) -> Vec<f64> {
    let mut controls = world.model.controls(steps);
    controls.iter_mut().enumerate().for_each(|(i, u)| *u += 0.01 * (i % 7) as f64);
    controls
}

/// Numbers of many worlds, a little different in each.
pub fn varied(numbers: &[f64], worlds: usize) -> Vec<f64> {
    let vary = |w: usize| {
        numbers.iter().enumerate().map(move |(i, x)| x * (1.0 + 0.001 * ((w * 5 + i) % 11) as f64))
    };
    (0..worlds).flat_map(vary).collect()
}
