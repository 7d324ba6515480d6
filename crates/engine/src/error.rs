//! What can go wrong in the engine.

use pullback_kernel::program::{AccessError, BuildError, DeviceError, NonFinite};
use pullback_scene::Invalid;

use crate::names::NameError;

/// A velocity that is beyond sense.
#[derive(Clone, Debug, PartialEq)]
pub struct Fast {
    /// What it is called in a state.
    pub name: String,
    /// What it is.
    pub speed: f64,
    /// Its unit.
    pub unit: String,
}

/// An error of the engine: what, where, and what to do about it.
#[derive(thiserror::Error)]
pub enum Error {
    /// A scene that makes no sense.
    #[error("{}: {}; {}", .0.path, .0.what, .0.fix)]
    Scene(Invalid),
    /// Two things with one name.
    #[error("two things are called `{name}`: give one of them another name")]
    SameName {
        /// The name.
        name: String,
    },
    /// A force asked for what it had not declared.
    #[error("a force asked for the {what} `{key}`, which nothing declares{}", hint(.nearest))]
    NoSuchInput {
        /// `param` or `control`.
        what: &'static str,
        /// What was asked for.
        key: String,
        /// The nearest that there are.
        nearest: Vec<String>,
    },
    /// A force asked for a vector where there are scalars, or the other way round.
    #[error("a force asked for the {what} `{key}` with another type than it was declared with")]
    WrongType {
        /// `param` or `control`.
        what: &'static str,
        /// What was asked for.
        key: String,
    },
    /// A name or value that is not there, or does not fit.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A force made a program that does not fit together.
    #[error("the step cannot be built: {0}")]
    Build(#[from] BuildError),
    /// Memory was used wrongly: a bug in the engine.
    #[error("the step cannot be run: {0}")]
    Access(#[from] AccessError),
    /// A GPU that cannot do it.
    #[error(transparent)]
    Gpu(#[from] DeviceError),
    /// A time step or a number of steps that makes no sense.
    #[error("{what} is {found}: {wanted}")]
    Scheme {
        /// Which setting.
        what: &'static str,
        /// What it is.
        found: String,
        /// What it has to be.
        wanted: &'static str,
    },
    /// A body that has no consistent params.
    #[error(
        "the robot `{robot}` is `consistent`, and no distribution of mass in space has the mass and inertia of its body `{body}`; \
         mend them, or leave out `consistent`"
    )]
    Inconsistent {
        /// The robot.
        robot: String,
        /// Its body.
        body: String,
    },
    /// Impulses of contacts that have not been found well enough to be differentiated.
    #[error(
        "step {step}{}: the impulses of contacts have a residual of {residual:.1e}, and their derivative is right below {largest:.1e}; \
         raise the `regularisation` of contact, allow more `iterations`, or differentiate its sweeps", in_world(.world)
    )]
    ContactNotSolved {
        /// In which step.
        step: usize,
        /// In which world of a batch.
        world: Option<usize>,
        /// How far they are from their law.
        residual: f64,
        /// How far they may be.
        largest: f64,
    },
    /// More contacts than there is room for.
    #[error(
        "step {step}{}: there are more contacts than the {most} that there is room for, or they feel more others than usual; \
         raise `most_contacts` in `[contact]`", in_world(.world)
    )]
    TooManyContacts {
        /// In which step.
        step: usize,
        /// In which world of a batch.
        world: Option<usize>,
        /// How many there may be.
        most: usize,
    },
    /// More pairs of soft surfaces that touch than there is room for.
    #[error(
        "step {step}{}: more pairs of soft surfaces touch than the {most} that there is room for; raise `most` in `[soft_contact]`",
        in_world(.world)
    )]
    TooManySoftContacts {
        /// In which step.
        step: usize,
        /// In which world of a batch.
        world: Option<usize>,
        /// How many there may be.
        most: usize,
    },
    /// A shape that cannot touch anything.
    #[error("the shape `{name}` cannot touch anything: {why}")]
    Shape {
        /// Its name.
        name: String,
        /// Why not.
        why: String,
    },
    /// A part of a robot that is not there.
    #[error("the robot has no {what} `{name}`; there are: {known}")]
    NoSuchPart {
        /// A frame or a body.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A number that is not one was made.
    #[error("step {step}{}: {source}{}", in_world(.world), blown_up(.fast))]
    NotFinite {
        /// In which step.
        step: usize,
        /// In which world of a batch.
        world: Option<usize>,
        /// By which operation, and where.
        source: NonFinite,
        /// What was too fast before the step, which is then why.
        fast: Option<Box<Fast>>,
    },
    /// An implicit step has no solution that Newton's method found.
    #[error(
        "step {step}{}: the implicit step did not converge: residual {residual:.1e} m/s after {iterations} iterations{}; take a smaller time step or more substeps",
        in_world(.world), held_back(.held)
    )]
    NotConverged {
        /// In which step.
        step: usize,
        /// In which world of a batch.
        world: Option<usize>,
        /// How far from a solution.
        residual: f64,
        /// How often it tried.
        iterations: usize,
        /// Points of two soft surfaces that let it go no further.
        held: Option<Box<[String; 2]>>,
    },
    /// No way was found to go with what motions lead without soft surfaces going through each other.
    #[error(
        "step {step}{}: a motion leads soft surfaces towards each other, and no way was found on which they do not meet at `{a}` and `{b}`; \
         take a smaller time step or more substeps, or lead them another way", in_world(.world)
    )]
    LedThrough {
        /// In which step.
        step: usize,
        /// In which world of a batch.
        world: Option<usize>,
        /// A point of one of them.
        a: String,
        /// A point of the other.
        b: String,
    },
    /// Soft surfaces that have crossed before an implicit step, which keeps them from going through each other.
    #[error(
        "step {step}{}: soft surfaces go through each other already, at `{a}` and `{b}`, which holds an implicit step: it lets them no more out than in; \
         begin with a state in which they do not, or take an explicit integrator", in_world(.world)
    )]
    Crossed {
        /// In which step.
        step: usize,
        /// In which world of a batch.
        world: Option<usize>,
        /// A point of one of them.
        a: String,
        /// A point of the other.
        b: String,
    },
    /// More unknowns of implicit steps than there is memory for.
    #[error(
        "there is no memory for the factors of an implicit step's matrix, of {unknowns} unknowns; take a coarser mesh, or an explicit integrator"
    )]
    FactorsTooLarge {
        /// How many.
        unknowns: usize,
    },
    /// The matrix of an implicit step cannot be inverted.
    #[error("step {step}: the matrix of the implicit step is singular; take a smaller time step")]
    Singular {
        /// In which step.
        step: usize,
    },
    /// What the reversible integrator cannot do.
    #[error("{0}")]
    Reversible(String),
    /// The reversible integrator went too far.
    #[error(
        "step {step}: {value} is beyond {limit} m or m/s, where the reversible integrator keeps no bits; move the scene nearer to the origin, or take another integrator"
    )]
    OffLattice {
        /// After which step.
        step: usize,
        /// A position [m] or velocity [m/s].
        value: f64,
        /// How far it may be.
        limit: f64,
    },
    /// A derivative that is no number.
    #[error(
        "the gradient by {name} of the {what} is {value}: a loss or a force of one's own may have a pullback that is not finite"
    )]
    GradientNotFinite {
        /// By what.
        what: &'static str,
        /// Which number of it.
        index: usize,
        /// What that is called: see [`Layout::called`](crate::names::Layout::called).
        name: String,
        /// What it is.
        value: f64,
    },
    /// A budget that is too small.
    #[error(
        "{bytes} bytes do not suffice: this rollout needs at least {needed} bytes, and {all} to keep every step"
    )]
    Budget {
        /// What was given.
        bytes: usize,
        /// The least.
        needed: usize,
        /// What keeping every step needs.
        all: usize,
    },
    /// More memory than there is.
    #[error("this rollout needs {bytes} bytes, and there are not so many")]
    TooLarge {
        /// How many.
        bytes: usize,
    },
    /// Vectors of another size.
    #[error("{what}: {wanted} numbers are wanted, and {found} were given")]
    Length {
        /// Which vector.
        what: &'static str,
        /// How many it should have.
        wanted: usize,
        /// How many it has.
        found: usize,
    },
    /// A number that is not one was given.
    #[error("{what}: {name} is {value}; all must be finite")]
    StartNotFinite {
        /// Which vector.
        what: &'static str,
        /// Which of its numbers.
        index: usize,
        /// What that is called: see [`Layout::called`](crate::names::Layout::called).
        name: String,
        /// What it is.
        value: f64,
    },
    /// Someone wanted to stop.
    #[error("stopped before step {step}, as was asked for")]
    Stopped {
        /// Before which step.
        step: usize,
    },
    /// A pullback without a forward pass.
    #[error("there is nothing to pull back: run the rollout forward first")]
    NothingToPullBack,
}

impl Error {
    /// Did a rollout that could begin go wrong on its way? Another start may have a value.
    pub fn is_of_the_run(&self) -> bool {
        match self {
            Error::NotFinite { .. }
            | Error::NotConverged { .. }
            | Error::ContactNotSolved { .. }
            | Error::TooManyContacts { .. }
            | Error::TooManySoftContacts { .. }
            | Error::Singular { .. }
            | Error::LedThrough { .. }
            | Error::Crossed { .. }
            | Error::OffLattice { .. }
            | Error::GradientNotFinite { .. } => true,
            Error::Scene(_)
            | Error::SameName { .. }
            | Error::NoSuchInput { .. }
            | Error::WrongType { .. }
            | Error::Name(_)
            | Error::Build(_)
            | Error::Access(_)
            | Error::Gpu(_)
            | Error::Scheme { .. }
            | Error::NoSuchPart { .. }
            | Error::Shape { .. }
            | Error::Inconsistent { .. }
            | Error::Reversible(_)
            | Error::Budget { .. }
            | Error::TooLarge { .. }
            | Error::FactorsTooLarge { .. }
            | Error::Length { .. }
            | Error::StartNotFinite { .. }
            | Error::Stopped { .. }
            | Error::NothingToPullBack => false,
        }
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Error::Scene(invalid)
    }
}

fn hint(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; there are `{}`", names.join("`, `")),
    }
}

fn in_world(world: &Option<usize>) -> String {
    world.map_or(String::new(), |world| format!(" of world {world}"))
}

fn held_back(held: &Option<Box<[String; 2]>>) -> String {
    held.as_ref().map_or(String::new(), |held| {
        let [a, b] = &**held;
        format!(
            "; soft surfaces that meet at `{a}` and `{b}` let it go no further: raise `ke` in `[soft_contact]`, or move apart what touches at \
             the start"
        )
    })
}

fn blown_up(fast: &Option<Box<Fast>>) -> String {
    fast.as_ref().map_or(String::new(), |fast| {
        let Fast { name, speed, unit } = &**fast;
        format!("; `{name}` was {speed:.1e} {unit} before it: steps are too long for what drives that, so that it has blown up")
    })
}

/// What people should read, also where `main` returns it.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
