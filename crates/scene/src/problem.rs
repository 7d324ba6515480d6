//! A problem: a scene with what to change and what to reach.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::contact_loss::{ContactQuantity, Toucher};
use crate::error::{Error, Invalid};
use crate::scene::Scene;
use crate::source::Source;
use crate::{check, read};

/// A scene with what to change and what to reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The scene.
    pub scene: Scene,
    /// What may change.
    pub variables: Vec<Variable>,
    /// What is to be small: the sum of these.
    pub losses: Vec<LossTerm>,
    /// How it is made small.
    pub optimiser: Optimiser,
    /// Where all this was read; [`Source::default`] for a problem that was built in code.
    pub source: Source,
}

/// Something that may change: parameters, parts of the initial state, controls.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// A name or a glob: `ball.mass`, `*.stiffness`, `initial.ball.velocity`, `control.thruster.force`; of robots
    /// `arm.elbow.damping`, `initial.arm.elbow.position`, where `elbow` is the joint.
    pub name: String,
    /// Least value of each component, in the variable's unit.
    pub lower: Option<f64>,
    /// Greatest value of each component, in the variable's unit.
    pub upper: Option<f64>,
    /// How the bounds are kept.
    pub bounds: Bounds,
    /// A typical size of a change, in the variable's unit: optimisers work with value / scale.
    pub scale: Option<f64>,
    /// Where the search starts; `None`: at the scene's value.
    pub start: Option<Vec<f64>>,
    /// Whether all that the name stands for changes by the same amount, axis by axis: one variable for each axis, whatever
    /// the number of things. What is between their starts stays between them.
    pub together: bool,
}

/// How the bounds of a variable are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// `"project"`: what leaves the bounds is put back on them.
    #[default]
    Project,
    /// `"transform"`: the optimiser works with a coordinate that cannot leave them.
    Transform,
}

impl Variable {
    /// A variable without bounds, from the scene's value.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            lower: None,
            upper: None,
            bounds: Bounds::Project,
            scale: None,
            start: None,
            together: false,
        }
    }

    /// The same variable, of which all numbers change by the same amount, axis by axis: the velocity of a thing that is thrown
    /// as a whole, or a force that is the same in all steps.
    ///
    /// ```
    /// use pullback_scene::Variable;
    ///
    /// let throw = Variable::new("initial.cloth[*].velocity").together();
    /// assert!(throw.together);
    /// ```
    #[must_use]
    pub fn together(self) -> Self {
        Self { together: true, ..self }
    }
}

/// A part of the loss.
#[derive(Clone, Debug, PartialEq)]
pub struct LossTerm {
    /// What is measured.
    pub kind: LossKind,
    /// When it is measured. For a trajectory: the step of each row of its table.
    pub at: When,
    /// Its factor in the sum.
    pub weight: f64,
}

impl LossTerm {
    /// A position that a particle should have at the end [m].
    pub fn position(of: usize, target: [f64; 3]) -> Self {
        Self { kind: LossKind::Position { of, target, axes: [true; 3] }, at: When::End, weight: 1.0 }
    }

    /// A velocity that a particle should have at the end [m/s].
    pub fn velocity(of: usize, target: [f64; 3]) -> Self {
        Self { kind: LossKind::Velocity { of, target, axes: [true; 3] }, at: When::End, weight: 1.0 }
    }

    /// A position that the origin of a body or frame should have at the end [m].
    pub fn part_position(of: Part, target: [f64; 3]) -> Self {
        Self { kind: LossKind::PartPosition { of, target, axes: [true; 3] }, at: When::End, weight: 1.0 }
    }

    /// A velocity that the origin of a body or frame should have at the end [m/s].
    pub fn part_velocity(of: Part, target: [f64; 3]) -> Self {
        Self { kind: LossKind::PartVelocity { of, target, axes: [true; 3] }, at: When::End, weight: 1.0 }
    }

    /// A position that a hinge [rad] or slide [m] of a robot should have at the end.
    pub fn joint(robot: usize, joint: usize, target: f64) -> Self {
        Self { kind: LossKind::Joint { robot, joint, target }, at: When::End, weight: 1.0 }
    }

    /// What contacts should come to at the end; forces, in the last step.
    pub fn contact(of: Toucher, with: Option<Toucher>, quantity: ContactQuantity) -> Self {
        Self { kind: LossKind::Contact { of, with, quantity }, at: When::End, weight: 1.0 }
    }

    /// The forces of an actuator, or the controls of a motor, over all steps.
    pub fn effort(actuator: impl Into<String>) -> Self {
        Self { kind: LossKind::Effort { actuator: actuator.into() }, at: When::Always, weight: 1.0 }
    }
}

/// What a part of the loss measures.
#[derive(Clone, Debug, PartialEq)]
pub enum LossKind {
    /// Squared distance of a particle from a point.
    Position {
        /// The particle.
        of: usize,
        /// The point [m].
        target: [f64; 3],
        /// The axes that count.
        axes: [bool; 3],
    },
    /// Squared difference of a particle's velocity from a given one.
    Velocity {
        /// The particle.
        of: usize,
        /// The velocity [m/s].
        target: [f64; 3],
        /// The axes that count.
        axes: [bool; 3],
    },
    /// Squared distance of the origin of a body or frame from a point, both in the world.
    PartPosition {
        /// The body or frame.
        of: Part,
        /// The point, in the world [m].
        target: [f64; 3],
        /// The axes of the world that count.
        axes: [bool; 3],
    },
    /// Squared difference of the velocity of the origin of a body or frame from a given one. The velocity is that of
    /// the point of the body that is at the origin, seen from the world and in its axes.
    PartVelocity {
        /// The body or frame.
        of: Part,
        /// The velocity, in the axes of the world [m/s].
        target: [f64; 3],
        /// The axes of the world that count.
        axes: [bool; 3],
    },
    /// Squared difference of the position of a hinge or slide from a given one. Positions of hinges are not wrapped:
    /// a whole turn is a difference of 2π.
    Joint {
        /// The robot, as an index of [`Scene::robots`].
        robot: usize,
        /// The joint, as an index of its joints.
        joint: usize,
        /// The position: [rad] for a hinge, [m] for a slide.
        target: f64,
    },
    /// Squared differences from a table of measurements.
    Trajectory {
        /// The measurements: the time [s] in the first column, one row for each step in [`LossTerm::at`].
        data: Table,
        /// The file that they were read from.
        file: PathBuf,
        /// What the other columns are.
        tracks: Vec<Track>,
    },
    /// Squared difference of what contacts do from what they should. Forces are those of the step that ends at the moment.
    Contact {
        /// What is touched.
        of: Toucher,
        /// By what; `None`: by anything.
        with: Option<Toucher>,
        /// What is measured.
        quantity: ContactQuantity,
    },
    /// Squared controls: forces of an actuator, or controls of a robot's motor.
    Effort {
        /// The actuator's name; of a motor, `arm.lift`.
        actuator: String,
    },
}

/// A body or a frame of a robot. Robots are indices of [`Scene::robots`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A body; its origin is that of its frame, which need not be its centre of mass.
    Body {
        /// The robot.
        robot: usize,
        /// The body, as an index of its bodies.
        body: usize,
    },
    /// A named frame.
    Frame {
        /// The robot.
        robot: usize,
        /// The frame, as an index of its frames.
        frame: usize,
    },
}

/// What a column of measurements is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track {
    /// What is measured.
    pub of: Tracked,
    /// Whether it is its velocity; else it is its position.
    pub velocity: bool,
    /// The column of the table.
    pub column: usize,
}

/// What a column of measurements is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tracked {
    /// A particle along an axis: [m], [m/s].
    Particle {
        /// The particle.
        particle: usize,
        /// The axis: 0, 1 or 2 for x, y or z.
        axis: usize,
    },
    /// The origin of a body or frame along an axis of the world: [m], [m/s].
    Part {
        /// The body or frame.
        of: Part,
        /// The axis: 0, 1 or 2 for x, y or z.
        axis: usize,
    },
    /// A hinge: [rad], [rad/s]; or a slide: [m], [m/s].
    Joint {
        /// The robot, as an index of [`Scene::robots`].
        robot: usize,
        /// The joint, as an index of its joints.
        joint: usize,
    },
}

/// When a loss is measured. Step 0 is the initial state, step n the state after n steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// After the last step.
    #[default]
    End,
    /// After every step.
    Always,
    /// After each of these.
    Steps(Vec<usize>),
}

/// Numbers in columns with names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The names.
    pub columns: Vec<String>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<f64>>,
}

/// How the loss is made small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimiser {
    /// The method.
    pub method: Method,
    /// Most iterations.
    pub iterations: usize,
    /// Stop when the gradient or the step, in scaled variables, is below this.
    pub tolerance: f64,
    /// Stop when the loss is below this.
    pub target: Option<f64>,
}

impl Default for Optimiser {
    /// L-BFGS, for at most 100 iterations.
    fn default() -> Self {
        Self { method: Method::default(), iterations: 100, tolerance: 1e-10, target: None }
    }
}

/// A method of optimisation. It can be saved, with the run that uses it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// `gradient-descent`, with momentum.
    GradientDescent {
        /// Factor of the gradient in a step; 0.01 by default.
        rate: f64,
        /// Part of the last step that is made again; 0 by default.
        momentum: f64,
    },
    /// `adam` (Kingma and Ba 2015).
    Adam {
        /// Size of a step; 0.01 by default.
        rate: f64,
        /// Decay of the mean of gradients; 0.9 by default.
        beta1: f64,
        /// Decay of the mean of squared gradients; 0.999 by default.
        beta2: f64,
    },
    /// `l-bfgs` (Liu and Nocedal 1989).
    Lbfgs {
        /// Steps that are remembered; 10 by default.
        history: usize,
    },
    /// `levenberg-marquardt` (Marquardt 1963).
    LevenbergMarquardt {
        /// Damping to begin with; 0.001 by default.
        damping: f64,
    },
    /// `cma-es` (Hansen 2016): needs no gradients.
    CmaEs {
        /// Spread to begin with, in scaled variables; 0.3 by default.
        sigma: f64,
        /// Points in each iteration; `None`: chosen from the number of variables.
        population: Option<usize>,
        /// Seed of the random numbers; 0 by default.
        seed: u64,
    },
}

impl Default for Method {
    fn default() -> Self {
        Self::Lbfgs { history: 10 }
    }
}

impl Method {
    /// Every method, with its defaults.
    pub const ALL: [Self; 5] = [
        Self::GradientDescent { rate: 0.01, momentum: 0.0 },
        Self::Adam { rate: 0.01, beta1: 0.9, beta2: 0.999 },
        Self::Lbfgs { history: 10 },
        Self::LevenbergMarquardt { damping: 1e-3 },
        Self::CmaEs { sigma: 0.3, population: None, seed: 0 },
    ];

    /// Gradient descent with momentum 0.9.
    pub fn gradient_descent(rate: f64) -> Self {
        Self::GradientDescent { rate, momentum: 0.9 }
    }

    /// Adam with its usual settings.
    pub fn adam(rate: f64) -> Self {
        Self::Adam { rate, beta1: 0.9, beta2: 0.999 }
    }

    /// L-BFGS that remembers ten steps.
    pub fn lbfgs() -> Self {
        Self::Lbfgs { history: 10 }
    }

    /// Levenberg-Marquardt with its usual damping.
    pub fn levenberg_marquardt() -> Self {
        Self::LevenbergMarquardt { damping: 1e-3 }
    }

    /// CMA-ES with its usual population.
    pub fn cma_es(sigma: f64, seed: u64) -> Self {
        Self::CmaEs { sigma, population: None, seed }
    }

    /// The name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::GradientDescent { .. } => "gradient-descent",
            Self::Adam { .. } => "adam",
            Self::Lbfgs { .. } => "l-bfgs",
            Self::LevenbergMarquardt { .. } => "levenberg-marquardt",
            Self::CmaEs { .. } => "cma-es",
        }
    }

    /// The keys in files that belong to it.
    pub fn keys(&self) -> &'static [&'static str] {
        match self {
            Self::GradientDescent { .. } => &["rate", "momentum"],
            Self::Adam { .. } => &["rate", "beta1", "beta2"],
            Self::Lbfgs { .. } => &["history"],
            Self::LevenbergMarquardt { .. } => &["damping"],
            Self::CmaEs { .. } => &["sigma", "population", "seed"],
        }
    }
}

impl Problem {
    /// Reads a problem file: a scene with `[[variables]]`, `[[loss]]` and, if wanted, `[optimiser]`.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with the file, with its line and the fix.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_source(Source::read(path)?)
    }

    /// A problem from the text of a file; `file_name` is what errors call it, and data files are looked for in its
    /// folder.
    ///
    /// # Errors
    ///
    /// As [`Problem::load`].
    pub fn parse(text: &str, file_name: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_source(Source::new(text, file_name))
    }

    /// A problem from a source.
    ///
    /// # Errors
    ///
    /// As [`Problem::load`].
    pub fn from_source(source: Source) -> Result<Self, Error> {
        let read::Parts { scene, variables, losses, optimiser } = read::file(&source)?;
        let problem = Self { scene, variables, losses, optimiser, source };
        match check::complete(&problem) {
            Ok(()) => Ok(problem),
            Err(invalid) => Err(problem.source.attach(invalid)),
        }
    }

    /// Whether the problem makes sense: what a file is checked for, for a problem that was built in code. Whether
    /// variables exist is known to the engine only.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with the field and the fix.
    pub fn check(&self) -> Result<(), Invalid> {
        check::scene(&self.scene)?;
        check::variables(&self.variables)?;
        check::losses(&self.scene, &self.losses)?;
        check::optimiser(&self.optimiser)?;
        check::complete(self)
    }
}
