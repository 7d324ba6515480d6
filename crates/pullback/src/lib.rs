//! Pullback: simulate a world, write a loss over what happened, and get the gradient of that loss by anything in the
//! world.
//!
//! This crate has no code of its own: it puts the engine's crates under one name. [`prelude`] is what most programs
//! want in scope.
//!
//! | module | what it is |
//! |---|---|
//! | [`scene`] | descriptions of worlds, robots and problems: files, or built in code |
//! | [`engine`] | model, state, step, rollout, each with its pullback |
//! | [`solve`] | losses, optimisers, problems, checks |
//! | [`report`] | tables, arrays and pages that a run leaves behind |
//! | [`kernel`] | the language in which forces and losses are written |
//!
//! # From a scene to a gradient
//!
//! A [`Scene`](scene::Scene) says what the world is. A [`Model`](engine::Model) of it knows the names of all its numbers,
//! a [`Step`](engine::Step) is one time step laid out as a program, and a [`Rollout`](engine::Rollout) is the memory in which
//! many steps run, forwards and backwards. A [`Loss`](engine::Loss) is a sum over the moments of a rollout, of which you
//! write one term and its derivative:
//!
//! ```
//! use pullback::prelude::*;
//!
//! /// The height of the first particle at the end [m].
//! struct Height;
//!
//! impl Loss for Height {
//!     fn value(&self, moment: &Moment<'_>) -> f64 {
//!         if moment.last { moment.state[2] } else { 0.0 }
//!     }
//!     fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
//!         if moment.last {
//!             bars.state[2] += 1.0;
//!         }
//!     }
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // A ball that is thrown upwards, for one second.
//!     let scene = Scene {
//!         particles: vec![Particles::single("ball", [0.0, 0.0, 1.5], 0.2).velocity([3.0, 0.0, 4.0])],
//!         simulation: Simulation { dt: 0.01, steps: 100, integrator: Integrator::RungeKutta4, ..Simulation::default() },
//!         ..Scene::default()
//!     };
//!     let step = Step::of(&scene)?;
//!     let mut rollout = Rollout::<f64>::new(&step, Options::of(&scene))?;
//!
//!     // Simulate: z(1 s) = 1.5 + 4 - 9.81/2.
//!     let (state, params) = (step.model().state(), step.model().params());
//!     let start = Start::new(&state, &[], &params);
//!     let height = rollout.value(&start, &Height)?[0];
//!     assert!((height - 0.595).abs() < 1e-12);
//!
//!     // Its gradient, by name: a second of flight for each m/s, half a second² for each m/s².
//!     let gradient = rollout.gradient(&start, &Height)?;
//!     assert!((gradient.state(0)?.number("ball.velocity.z")? - 1.0).abs() < 1e-12);
//!     assert!((gradient.params(0)?.number("gravity.z")? - 0.5).abs() < 1e-12);
//!     assert!(gradient.params(0)?.number("ball.mass")?.abs() < 1e-12);
//!     Ok(())
//! }
//! ```
//!
//! # From a file to a solution
//!
//! A problem file is a scene with what may change and what is to be reached. [`Problem`](solve::Problem) makes all of
//! the above from it, and an optimiser [`Run`](solve::optimise::Run) solves it; `pullback solve` on the command line does
//! the same, and writes a report:
//!
//! ```
//! use pullback::prelude::*;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//! #   std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//!     let mut problem = Problem::new(scene::Problem::load("scenes/throw.toml")?)?;
//!
//!     // Is the gradient right? Against finite differences, before anything is built on it.
//!     let z = problem.variables().start();
//!     let health = check::check(&mut problem, &z)?;
//!     assert!(health.audit.iter().all(|audit| audit.error < 1e-5));
//!
//!     let mut run = problem.begin()?;
//!     let reason = run.finish(&mut problem)?;
//!     println!("{reason}");
//!     let (z, loss) = run.best();
//!     for (i, value) in problem.variables().values(z).iter().enumerate() {
//!         let (name, unit) = problem.variables().name(i);
//!         println!("{name} = {value} {unit}");
//!     }
//!     assert!(loss < 1e-9);
//!     Ok(())
//! }
//! ```
//!
//! The pages in `docs/` take one idea each, in the order in which data flows: scenes, models, steps, rollouts, losses,
//! optimisers, problems. The programs in `crates/pullback/examples` are complete: `gradient`, `batch`, `checkpoints`,
//! `identify`.
//!
//! # Robots
//!
//! A scene may have robots, from URDF and MJCF files or written out, beside particles. Everything above works with them; a
//! [`Mechanism`](engine::articulated::Mechanism) is a robot on its own, for dynamics without steps:
//!
//! ```
//! use pullback::prelude::*;
//! use pullback::scene::robot::Load;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let text = r#"
//! <mujoco>
//!   <worldbody>
//!     <body name="rod" pos="0 0 2">
//!       <joint name="hinge" axis="0 1 0"/>
//!       <geom type="sphere" size="0.1" pos="0 0 -0.5" mass="2"/>
//!     </body>
//!   </worldbody>
//! </mujoco>"#;
//!     let robot = Robot::parse(text, "rod.xml", &Load::default())?.robot;
//!     let mut rod = Mechanism::<f64>::new(&robot)?;
//!     // Torque that holds it at 0.3 rad: m g l sin q.
//!     let tau = rod.inverse_dynamics(&[0.3], &[0.0], &[0.0])?;
//!     assert!((tau[0] - 2.0 * 9.81 * 0.5 * 0.3_f64.sin()).abs() < 1e-9);
//!
//!     // The same robot in a scene, with names for all its numbers.
//!     let model = Model::new(&Scene { robots: vec![Robot { name: "pendulum".into(), ..robot }], ..Scene::default() })?;
//!     assert_eq!(model.state().number("pendulum.hinge.position")?, 0.0);
//!     assert_eq!(model.params().number("pendulum.rod.mass")?, 2.0);
//!     Ok(())
//! }
//! ```
//!
//! # Forces and losses of one's own
//!
//! Kernels name the crate `pullback_kernel` in what the macro writes, so a crate with kernels of its own depends on
//! `pullback-kernel` beside `pullback`. A force is a type with [`Force`](engine::force::Force), added by
//! [`Model::with_force`](engine::Model::with_force); `crates/engine/examples/custom_force.rs` is one from end to end. A
//! loss that is a kernel of a particle's position and velocity is a [`KernelLoss`](solve::loss::KernelLoss).

pub use pullback_engine as engine;
pub use pullback_kernel as kernel;
pub use pullback_report as report;
pub use pullback_scene as scene;
pub use pullback_solve as solve;

/// What a program that uses the whole engine wants in scope.
///
/// [`Problem`](solve::Problem) is the one that can be solved; what a file says is `scene::Problem`.
/// [`Force`](engine::force::Force) is the trait of forces; the spatial vector of that name is `kernel::math::Force`.
pub mod prelude {
    pub use crate::scene::{
        self, Actuator, AppliedForce, Contact, ContactModel, Ground, Integrator, LossKind, LossTerm, Memory,
        Method, Optimiser, Part, Particles, Robot, Scene, Simulation, Snapshots, Springs, Variable, When,
        World,
    };
    pub use pullback_engine::articulated::{Mechanism, Watch};
    pub use pullback_engine::force::{Constraint, Force, Site};
    pub use pullback_engine::names::{Block, Group, Layout, Quantity};
    pub use pullback_engine::rollout::{Bars, Coordinate, Moment, NoLoss, Pushforward, Tangent};
    pub use pullback_engine::{
        Control, Energy, GpuRollout, Gradient, Loss, Model, Options, Params, Rollout, Scheme, Start, State,
        Step,
    };
    pub use pullback_kernel::cuda::Device;
    pub use pullback_kernel::gradcheck;
    pub use pullback_kernel::prelude::*;
    pub use pullback_solve::loss::{KernelLoss, Losses};
    pub use pullback_solve::optimise::{self, Objective, Run, Stopping};
    pub use pullback_solve::{Point, Problem, Variables, check};
}

/// The snippets of the documents are tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    pub struct Readme;
    #[doc = include_str!("../../../docs/scenes.md")]
    pub struct Scenes;
    #[doc = include_str!("../../../docs/articulated.md")]
    pub struct Articulated;
    #[doc = include_str!("../../../docs/soft.md")]
    pub struct Soft;
    #[doc = include_str!("../../../docs/models.md")]
    pub struct Models;
    #[doc = include_str!("../../../docs/steps.md")]
    pub struct Steps;
    #[doc = include_str!("../../../docs/rollouts.md")]
    pub struct Rollouts;
    #[doc = include_str!("../../../docs/gpu.md")]
    pub struct Gpu;
    #[doc = include_str!("../../../docs/losses.md")]
    pub struct Losses;
    #[doc = include_str!("../../../docs/optimisers.md")]
    pub struct Optimisers;
    #[doc = include_str!("../../../docs/problems.md")]
    pub struct Problems;
}
