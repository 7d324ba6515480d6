//! How a scene is simulated.

use std::fmt;
use std::str::FromStr;

use crate::error::Invalid;
use crate::names::choose;

/// Time steps, integrator, memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulation {
    /// Time of one step [s].
    pub dt: f64,
    /// Number of steps.
    pub steps: usize,
    /// Equal parts that each step is divided in.
    pub substeps: usize,
    /// How a step is computed.
    pub integrator: Integrator,
    /// How a rollout keeps what its pullback needs.
    pub memory: Memory,
    /// In which precision states are kept.
    pub snapshots: Snapshots,
    /// Cotangents are dropped at the ends of windows of so many steps, counted from the end; `None`: never.
    pub truncate: Option<usize>,
    /// The most that the norm of a state's cotangent may be on its way back; `None`: anything.
    pub clip: Option<f64>,
}

impl Default for Simulation {
    /// A hundred steps of 0.01 s, semi-implicit Euler, every state kept.
    fn default() -> Self {
        Self {
            dt: 0.01,
            steps: 100,
            substeps: 1,
            integrator: Integrator::default(),
            memory: Memory::default(),
            snapshots: Snapshots::default(),
            truncate: None,
            clip: None,
        }
    }
}

/// How a step is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Integrator {
    /// `explicit-euler`: position and velocity advance with the old velocity and acceleration.
    ExplicitEuler,
    /// `semi-implicit-euler`: the velocity first, then the position with the new velocity.
    #[default]
    SemiImplicitEuler,
    /// `rk4`: the classical Runge-Kutta method of order 4.
    RungeKutta4,
    /// `velocity-verlet`: symmetric, of order 2.
    VelocityVerlet,
    /// `reversible-verlet`: Verlet that can be run backwards to the bit.
    ReversibleVerlet,
    /// `implicit-midpoint`: symmetric, of order 2, for stiff springs.
    ImplicitMidpoint,
    /// `backward-euler`: damps what is stiff.
    BackwardEuler,
}

impl Integrator {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ExplicitEuler,
        Self::SemiImplicitEuler,
        Self::RungeKutta4,
        Self::VelocityVerlet,
        Self::ReversibleVerlet,
        Self::ImplicitMidpoint,
        Self::BackwardEuler,
    ];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExplicitEuler => "explicit-euler",
            Self::SemiImplicitEuler => "semi-implicit-euler",
            Self::RungeKutta4 => "rk4",
            Self::VelocityVerlet => "velocity-verlet",
            Self::ReversibleVerlet => "reversible-verlet",
            Self::ImplicitMidpoint => "implicit-midpoint",
            Self::BackwardEuler => "backward-euler",
        }
    }

    /// Whether each step solves equations, so that what is stiff does not blow up.
    pub fn is_implicit(self) -> bool {
        matches!(self, Self::ImplicitMidpoint | Self::BackwardEuler)
    }
}

impl fmt::Display for Integrator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Integrator {
    type Err = Invalid;

    fn from_str(name: &str) -> Result<Self, Invalid> {
        choose("integrator", name, &Self::ALL.map(|integrator| (integrator.name(), integrator)))
    }
}

/// How a rollout keeps what its pullback needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Memory {
    /// `"every-step"`: the state before each step.
    #[default]
    EveryStep,
    /// `{ binomial = 30 }`: this many states, placed so that the fewest steps are computed again.
    Binomial {
        /// States that are kept at a time.
        snapshots: usize,
    },
    /// `{ budget = "2 MB" }`: as many states as fit.
    Budget {
        /// Memory for all that the rollout sets aside, states included [bytes].
        bytes: usize,
    },
    /// `"dense"`: all that the pullback reads, of each step; nothing is computed again.
    Dense,
    /// `"reversible"`: only the last state; steps are run backwards.
    Reversible,
}

/// In which precision states are kept for the pullback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Snapshots {
    /// `"f64"`: as they are.
    #[default]
    F64,
    /// `"f32"`: in half the memory, rounded to about seven digits.
    F32,
}
