//! Scenes and problems: files to typed descriptions, with errors that name the line and the fix.
//!
//! A [`Scene`] says what the world is and how it is simulated; a [`Problem`] is a scene with what may change and what
//! is to be reached. Both are plain data: they come from a TOML file, or are built in code, and the engine makes a
//! model of them.
//!
//! ```
//! use pullback_scene::{Integrator, Particles, Problem, Scene, Simulation, Springs};
//!
//! let text = r#"
//! [simulation]
//! dt = 0.01
//! duration = 1.0
//! integrator = "rk4"
//!
//! [[particles]]
//! name = "anchor"
//! position = [0, 0, 2]
//! mass = 1
//! fixed = true
//!
//! [[particles]]
//! name = "ball"
//! position = [0, 0, 1]
//! mass = 0.2
//!
//! [[springs]]
//! name = "spring"
//! ends = ["anchor", "ball"]
//! stiffness = 100
//!
//! [[variables]]
//! name = "initial.ball.velocity"
//!
//! [[loss]]
//! kind = "position"
//! of = "ball"
//! target = [0, 0, 1.5]
//! "#;
//! let problem = Problem::parse(text, "bounce.toml")?;
//!
//! // The same scene in code.
//! let scene = Scene {
//!     name: "bounce".into(),
//!     particles: vec![
//!         Particles::single("anchor", [0.0, 0.0, 2.0], 1.0).fix(),
//!         Particles::single("ball", [0.0, 0.0, 1.0], 0.2),
//!     ],
//!     springs: vec![Springs::between("spring", [0, 1], 100.0, 1.0)],
//!     simulation: Simulation { steps: 100, integrator: Integrator::RungeKutta4, ..Simulation::default() },
//!     ..Scene::default()
//! };
//! assert!(scene.check().is_ok());
//! assert_eq!(problem.scene, scene);
//!
//! // Errors name the line and the fix.
//! let error = Scene::parse(&text.replace("\"ball\"]", "\"bal\"]"), "bounce.toml").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "bounce.toml:20:19: springs[0].ends[1]: there is no particle `bal`\n  \
//!      fix: did you mean `ball`? The particles are `anchor` and `ball`"
//! );
//! # Ok::<(), pullback_scene::Error>(())
//! ```
//!
//! # The format
//!
//! Every section and key, in a file that is read in the tests. Data files of trajectories have a header such as
//! `time, ball.x, ball.vz, chain[2].y` and one row for each time, which must be on a step.
//!
#![doc = concat!("```toml\n", include_str!("../tests/good/everything.toml"), "```")]
//!
//! Robots and loose bodies:
//!
#![doc = concat!("```toml\n", include_str!("../tests/good/robots.toml"), "```")]
//!
//! Soft solids and sheets:
//!
#![doc = concat!("```toml\n", include_str!("../tests/good/soft.toml"), "```")]
//!
//! Contact:
//!
#![doc = concat!("```toml\n", include_str!("../tests/good/contact.toml"), "```")]

mod attachment;
mod check;
mod contact;
mod contact_loss;
mod controller;
mod elastic;
mod error;
mod material;
mod motion;
mod names;
mod particles;
mod path;
mod problem;
mod read;
pub mod robot;
mod scene;
mod sheet;
mod simulation;
pub mod soft;
mod soft_contact;
mod solid;
mod source;
mod springs;
mod vector;
pub mod words;

pub use attachment::Attachment;
pub use contact::{
    Complementarity, Contact, ContactGradient, ContactModel, ContactSolver, FrictionCone, JointFriction,
    JointLimits, Penalty,
};
pub use contact_loss::{ContactQuantity, Toucher};
pub use controller::Controller;
pub use elastic::{Elastic, LEAST_ACTUATION, SolidMaterial};
pub use error::{Error, Invalid, Position};
pub use material::{Material, MaterialPair, Surface, Touch};
pub use motion::{PrescribedMotion, Velocity};
pub use particles::Particles;
pub use problem::{
    Bounds, LossKind, LossTerm, Method, Optimiser, Part, Problem, Table, Track, Tracked, Variable, When,
};
pub use robot::Robot;
pub use scene::{Actuator, AppliedForce, Ground, Oscillation, Scene, World};
pub use sheet::Sheet;
pub use simulation::{Integrator, Memory, Simulation, Snapshots};
pub use soft_contact::SoftContact;
pub use solid::Solid;
pub use source::{LARGEST_FILE, Source};
pub use springs::Springs;
